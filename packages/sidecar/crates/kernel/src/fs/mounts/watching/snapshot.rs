//! Watches of mounted folders in snapshots. A watched file is stored as its mount and path, and a
//! restored runtime watches the file at that path. A file that was removed after the snapshot is no
//! longer watched. An operation that waits for changes of a removed file is cancelled
//! (`Operations::cancel_orphans`).

use super::super::super::node::Type;
use super::super::super::snapshot::RestoreContext;
use super::super::super::watch::{WatchSnapshot, Watcher, check_count};
use super::super::Mount;
use super::{HostWatchers, Shared, Watch, hold};
use crate::ids::OperationId;
use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A program's watch of a file in a mounted folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::fs) struct HostWatchSnapshot {
    pub(in crate::fs) mount: usize,
    #[serde(with = "serde_bytes")]
    pub(in crate::fs) path: Box<[u8]>,
    is_directory: bool,
    pub(in crate::fs) watch: WatchSnapshot,
}

impl HostWatchers {
    pub(in crate::fs) fn snapshot(&self) -> Vec<HostWatchSnapshot> {
        let Some(shared) = &self.0 else { return Vec::new() };
        let of = |watch: &Watch| {
            let Watch { mount, path, is_directory, .. } = watch;
            let (mount, path, is_directory) = (*mount, path.clone(), *is_directory);
            Some(HostWatchSnapshot { mount, path, is_directory, watch: watch.watcher.snapshot()? })
        };
        shared.watches.lock().iter().filter_map(of).collect()
    }

    pub(in crate::fs) fn waiters(&self) -> Vec<(Pid, OperationId)> {
        let Some(shared) = &self.0 else { return Vec::new() };
        shared.watches.lock().iter().filter_map(|watch| watch.watcher.waiter()).collect()
    }

    pub(in crate::fs) fn restore(
        snapshots: &[HostWatchSnapshot],
        mounts: &[Arc<Mount>],
        around: &RestoreContext<'_>,
    ) -> Result<Self, Error> {
        let mut watchers = Vec::new();
        for watch in snapshots {
            if let Some(watcher) = watch.watch.restore(around, None)? {
                watchers.push((watch, watcher));
            }
        }
        check_count(watchers.len(), around)?;
        let mut made = Self::default();
        if watchers.is_empty() {
            return Ok(made);
        }
        // The host machine's limit on watches may be reached. The restored runtime then watches no
        // file in a mounted folder.
        let Ok(shared) = Shared::begin(Some(around.usage)) else { return Ok(made) };
        made.0 = Some(shared.clone());
        for (snapshot, watcher) in watchers {
            let _ = shared.resume(mounts, snapshot, watcher);
        }
        made.end_if_idle();
        Ok(made)
    }
}

impl Shared {
    fn resume(&self, mounts: &[Arc<Mount>], snapshot: &HostWatchSnapshot, watcher: Watcher) -> Result<(), Errno> {
        let mount = mounts.get(snapshot.mount).ok_or(Errno::ENOENT)?;
        let held = hold(mount, &snapshot.path, if snapshot.is_directory { Type::Directory } else { Type::File })?;
        let mut watches = self.watches.lock();
        let descriptor = self.listen(&held)?;
        let (path, is_directory) = (snapshot.path.clone(), snapshot.is_directory);
        watches.push(Watch { descriptor, watcher, mount: snapshot.mount, path, is_directory });
        Ok(())
    }
}
