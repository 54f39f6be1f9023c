//! A cache of the heads of files. Listing snapshots reads a file's head only if the file is new or
//! has changed. Next: `needed_files.rs`.

use super::SnapshotInfo;
use super::content::Source;
use super::folder::{Found, Stamp};
use crate::installation::Installation;
use coldframe_error::Error;
use coldframe_ids::Digest;
use coldframe_panics::process::Mutex;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The cached heads.
#[derive(Default)]
pub(super) struct Index {
    seen: Mutex<HashMap<PathBuf, (Stamp, Head)>>,
}

/// The facts in a file, or the error of a file that is no snapshot.
pub(super) type Head = Result<Arc<Indexed>, Error>;

/// The facts in a file's head.
#[derive(Debug)]
pub(super) struct Indexed {
    pub(super) info: SnapshotInfo,
    pub(super) digest: Digest,
}

impl Index {
    /// Returns the head of a file of `tenant`, from the cache or from the file. Returns `None` if
    /// the file was removed.
    pub(super) fn read(&self, installation: &Installation, tenant: &str, found: &Found) -> Option<Head> {
        if let Some((_, head)) = self.seen.lock().get(&found.path).filter(|(stamp, _)| *stamp == found.stamp) {
            return Some(head.clone());
        }
        let head = Source::open_own(&found.path, tenant, &found.id).and_then(|source| {
            source.check_image(installation)?;
            Ok(Arc::new(Indexed { digest: source.head.digest(), info: source.head.info }))
        });
        if is_absent(&head) {
            return None;
        }
        // An error of reading is not cached, because a later attempt may succeed.
        if !matches!(head, Err(Error::SnapshotFile { .. } | Error::ResourceExhausted { .. })) {
            self.seen.lock().insert(found.path.clone(), (found.stamp, head.clone()));
        }
        Some(head)
    }

    /// Stores the error of a file whose body was read and is damaged.
    pub(super) fn mark(&self, path: &Path, stamp: Stamp, error: &Error) {
        self.seen.lock().insert(path.to_owned(), (stamp, Err(error.clone())));
    }

    /// Removes the heads of removed files of a tenant. `is_own` returns whether a file belongs to
    /// the tenant.
    pub(super) fn prune(&self, found: &[Found], is_own: impl Fn(&Path) -> bool) {
        let present: HashSet<&Path> = found.iter().map(|found| found.path.as_path()).collect();
        self.seen.lock().retain(|path, _| !is_own(path) || present.contains(path.as_path()));
    }
}

/// Returns whether the file did not exist when it was opened.
pub(super) fn is_absent<T>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::SnapshotFile { errno: "ENOENT", .. }))
}
