//! Watches in snapshots. A program's watch continues in every restored runtime. In the restored
//! runtime, a waiting operation waits for the next change, and the next operation receives the
//! stored changes. The embedder's watches stay with the original runtime. Next:
//! `mounts/watching/snapshot.rs`.

use super::{MAX_KEPT, Subscriber, Watcher, Watchers};
use crate::fs::node::Ino;
use crate::fs::snapshot::RestoreContext;
use crate::fs::tree::FileSystem;
use crate::ids::MAX_ID;
use crate::ids::OperationId;
use crate::permissions::Permissions;
use crate::usage::Footprint;
use coldframe_error::Error;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The watch of one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WatchSnapshot {
    pid: Pid,
    operation: Option<OperationId>,
    /// The watched inode. `None` in a watch of a mounted folder.
    pub(in crate::fs) node: Option<Ino>,
    #[serde(with = "serde_bytes")]
    name: Box<[u8]>,
    recursive: bool,
    armed: bool,
    #[serde(with = "serde_bytes")]
    kept: Vec<u8>,
    #[serde(with = "serde_bytes")]
    last: Vec<u8>,
}

impl Watcher {
    /// Returns a snapshot of the watch. Returns `None` for a watch of the embedder.
    pub(in crate::fs) fn snapshot(&self) -> Option<WatchSnapshot> {
        let Subscriber::Program(operations) = &self.subscriber else { return None };
        Some(WatchSnapshot {
            pid: operations.pid(),
            operation: self.operation,
            node: self.node,
            name: self.name.clone(),
            recursive: self.recursive,
            armed: self.armed,
            kept: self.kept.clone(),
            last: self.last.clone(),
        })
    }

    /// Returns the process and the operation that the next change completes.
    pub(in crate::fs) fn waiter(&self) -> Option<(Pid, OperationId)> {
        let Subscriber::Program(operations) = &self.subscriber else { return None };
        Some((operations.pid(), self.operation.filter(|_| self.armed)?))
    }
}

impl Watchers {
    pub(in crate::fs) fn snapshot(&self) -> Vec<WatchSnapshot> {
        self.0.iter().filter_map(Watcher::snapshot).collect()
    }

    pub(in crate::fs) fn waiters(&self) -> impl Iterator<Item = (Pid, OperationId)> {
        self.0.iter().filter_map(Watcher::waiter)
    }
}

impl WatchSnapshot {
    /// Restores the watch for its program. Returns `None` if the program has ended. Fails if the
    /// watch exceeds the limits.
    pub(in crate::fs) fn restore(
        &self,
        around: &RestoreContext<'_>,
        permissions: Option<Arc<Permissions>>,
    ) -> Result<Option<Watcher>, Error> {
        let Some(operations) = around.operations.get(&self.pid) else { return Ok(None) };
        let mut made = Watcher::new(self.node, self.name.clone(), self.recursive, Subscriber::Program(operations.clone()));
        (made.operation, made.permissions) = (self.operation, permissions);
        // The watch may have reported a change since its snapshot. The operation's result then
        // contains the change.
        made.armed = self.armed && self.operation.is_some_and(|operation| operations.is_pending(operation));
        let (kept, last) = (self.kept.clone(), self.last.clone());
        let cost = kept.footprint() + last.footprint();
        if made.charge.as_mut().is_some_and(|charge| !charge.raise_to(cost)) {
            let limit = around.usage.limits.kernel_bytes;
            return Err(Error::ResourceExhausted { resource: "kernel bytes", limit });
        }
        (made.kept, made.last) = (kept, last);
        Ok(Some(made))
    }

    pub(in crate::fs) fn bytes(&self) -> usize {
        size_of::<Self>() + self.name.len() + self.kept.len() + self.last.len()
    }

    /// Returns whether a program's watch can have this state.
    pub(in crate::fs) fn is_sound(&self) -> bool {
        let entry = 4 + usize::from(u16::MAX);
        self.operation.is_none_or(|operation| operation.get() <= MAX_ID)
            && self.name.len() <= super::super::node::MAX_NAME
            && self.kept.len() <= MAX_KEPT
            && self.last.len() <= entry
            && (!self.armed || (self.kept.is_empty() && self.operation.is_some()))
    }
}

/// Fails if the limit does not allow `count` watches. Records `count` as the peak.
pub(in crate::fs) fn check_count(count: usize, around: &RestoreContext<'_>) -> Result<(), Error> {
    let limit = around.usage.limits.watches;
    if count as u64 > limit {
        return Err(Error::ResourceExhausted { resource: "watches", limit });
    }
    if count > 0 {
        around.usage.peaks.watches.record(count as u64);
    }
    Ok(())
}

impl FileSystem {
    /// Restores the watches of files in memory for the running programs.
    pub(in crate::fs) fn restore_watches(
        &mut self,
        snapshots: &[WatchSnapshot],
        around: &RestoreContext<'_>,
    ) -> Result<(), Error> {
        let lives = |watch: &&WatchSnapshot| around.operations.contains_key(&watch.pid);
        check_count(snapshots.iter().filter(lives).count(), around)?;
        for watch in snapshots {
            if let Some(watcher) = watch.restore(around, Some(around.permissions.clone()))? {
                if let Some(node) = watcher.node {
                    self.hold(node);
                }
                self.watchers.0.push(watcher);
            }
        }
        Ok(())
    }
}
