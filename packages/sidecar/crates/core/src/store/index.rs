//! What the heads of files say, remembered for as long as the files are the same ones. A list of a thousand snapshots reads no file twice.

use super::SnapshotInfo;
use super::content::Source;
use super::folder::{Found, Stamp};
use crate::core::Core;
use coldframe_error::Error;
use coldframe_ids::Digest;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// See the module.
#[derive(Default)]
pub(super) struct Index {
    seen: Mutex<HashMap<PathBuf, (Stamp, Look)>>,
}

/// What a file is: a snapshot, or why it is none.
pub(super) type Look = Result<Arc<Known>, Error>;

/// What a head says.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) info: SnapshotInfo,
    pub(super) digest: Digest,
}

impl Index {
    /// What a file of `tenant` is. `None`: it has vanished.
    pub(super) fn look(&self, core: &Core, tenant: &str, found: &Found) -> Option<Look> {
        if let Some((_, look)) = self.seen.lock().get(&found.path).filter(|(stamp, _)| *stamp == found.stamp) {
            return Some(look.clone());
        }
        let look = Source::open_own(&found.path, tenant, &found.id).and_then(|source| {
            source.check_image(core)?;
            Ok(Arc::new(Known { digest: source.head.digest(), info: source.head.info }))
        });
        if is_absent(&look) {
            return None;
        }
        // What could not be read now may be read later.
        if !matches!(look, Err(Error::SnapshotFile { .. } | Error::ResourceExhausted { .. })) {
            self.seen.lock().insert(found.path.clone(), (found.stamp, look.clone()));
        }
        Some(look)
    }

    /// Remembers that a file turned out to be no good when all of it was read.
    pub(super) fn mark(&self, path: &Path, stamp: Stamp, error: &Error) {
        self.seen.lock().insert(path.to_owned(), (stamp, Err(error.clone())));
    }

    /// Forgets files of a tenant that are not there any more. `is_its`: whether a file is one of the tenant's.
    pub(super) fn prune(&self, found: &[Found], is_its: impl Fn(&Path) -> bool) {
        let there: HashSet<&Path> = found.iter().map(|found| found.path.as_path()).collect();
        self.seen.lock().retain(|path, _| !is_its(path) || there.contains(path.as_path()));
    }
}

/// Whether the file was gone when it was opened.
pub(super) fn is_absent<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::SnapshotFile { errno: "ENOENT", .. }))
}
