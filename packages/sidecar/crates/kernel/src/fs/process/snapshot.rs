//! A process's files in a snapshot. Descriptors are indexes into the open descriptions of the
//! snapshot (`descriptors/snapshot.rs`).

use super::{PathContext, ProcessFiles, held};
use crate::descriptors::Descriptors;
use crate::descriptors::{DescriptionCollector, RestoredDescriptions};
use crate::encoding::damaged;
use crate::fs::tree::FileSystem;
use crate::fs::walk::Location;
use crate::permissions::Permissions;
use crate::processes::Credentials;
use coldframe_error::Error;
use coldframe_panics::runtime::Mutex;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The descriptors, the working directory, the umask and the ids of one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessFilesSnapshot {
    pub(in crate::fs) slots: Vec<Option<u32>>,
    pub(in crate::fs) directory: Option<Location>,
    #[serde(with = "serde_bytes")]
    path: Vec<u8>,
    umask: u32,
    pub(in crate::fs) credentials: Credentials,
}

impl ProcessFiles {
    pub(crate) fn snapshot(&self, descriptions: &mut DescriptionCollector) -> ProcessFilesSnapshot {
        let mut index = |slot: &Option<_>| slot.as_ref().map(|description| descriptions.index_of(description));
        let slots = self.descriptors.lock().slots().iter().map(&mut index).collect();
        let PathContext { directory, path, umask, credentials } = &*self.context.lock();
        ProcessFilesSnapshot { slots, directory: directory.clone(), path: path.clone(), umask: *umask, credentials: *credentials }
    }
}

impl ProcessFilesSnapshot {
    /// Restores the process's files. `open` has the restored open descriptions. `limit` is the
    /// maximum number of descriptors. Fails if the snapshot exceeds `limit` or names a missing
    /// description.
    pub(crate) fn restore(
        &self,
        tree: &mut FileSystem,
        open: &RestoredDescriptions,
        permissions: &Arc<Permissions>,
        limit: usize,
    ) -> Result<ProcessFiles, Error> {
        if self.slots.len() > limit {
            return Err(Error::ResourceExhausted { resource: "descriptors of a process", limit: limit as u64 });
        }
        let description = |slot: &Option<u32>| match slot {
            Some(at) => open.get(*at).map(Some).ok_or_else(|| damaged("a descriptor without a description")),
            None => Ok(None),
        };
        let slots = self.slots.iter().map(description).collect::<Result<_, Error>>()?;
        if let Some(ino) = held(self.directory.as_ref()) {
            tree.hold(ino);
        }
        let context = PathContext {
            directory: self.directory.clone(),
            path: self.path.clone(),
            umask: self.umask & 0o777,
            credentials: self.credentials,
        };
        let descriptors = Mutex::new(Descriptors::inherited(slots, limit));
        Ok(ProcessFiles { descriptors, context: Mutex::new(context), permissions: permissions.clone() })
    }
}
