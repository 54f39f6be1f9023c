//! Going back in place: the snapshot's state is made beside the present one, and then put in its place in one step. What was ends afterwards, off the
//! caller's path: nothing of it is heard any more, and its memory goes back when its programs have noticed.
//!
//! What is the caller's stays as it is now: limits, permissions, bindings, mounted folders, who is asked and told. Connections from outside end, and files and
//! watches that the caller has open are closed, because what they meant is gone.

use super::Snapshot;
use super::restore::{Cast, begin, build, handles};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::kernel::saved::{Reattach, Revived};
use crate::program::Program;
use crate::runtime::{Process, ProgramInfo, Runtime};
use std::collections::HashMap;
use std::sync::Arc;

impl Runtime {
    /// Goes back to a snapshot, of its own or of another runtime with the same limits or narrower ones. A program that is in it takes the place of the one
    /// that it is a copy of: `cast` is given that one's sink. All others end, and their sinks hear `ERR_ROLLED_BACK`, as do all evaluations of now.
    /// On an error nothing has changed.
    pub fn rollback(&self, snapshot: &Arc<Snapshot>, cast: &mut Cast<'_>) -> Result<Vec<(ProgramInfo, Process)>, Error> {
        let inner = &self.inner;
        let before = inner.kernel();
        let (mounts, file_systems) = before.reattach();
        let with = Reattach {
            limits: inner.limits,
            // `follow` has those of now.
            permissions: None,
            mounts: &mounts,
            file_systems: &file_systems,
            warnings: None,
        };
        let Revived { kernel, processes } = Kernel::revive(&snapshot.kernel, with)?;
        let built = build(&inner.core, inner, snapshot, processes, &[])?;
        let old = {
            let mut programs = inner.programs.lock();
            let switched = if programs.disposed {
                Err(Error::RuntimeDisposed)
            } else if !Arc::ptr_eq(&before, &inner.kernel.read()) {
                // Somebody else was faster.
                Err(Error::RolledBack)
            } else {
                kernel.follow(&before, &Error::RolledBack)
            };
            if let Err(error) = switched {
                drop(programs);
                built.iter().for_each(|built| built.program.process.close());
                return Err(error);
            }
            let live = built.iter().map(|built| (built.program.pid, built.program.clone())).collect();
            let old = std::mem::replace(&mut programs.live, live);
            inner.exchange(kernel);
            old
        };
        *inner.ancestor.lock() = Some(snapshot.info.id.clone());
        *inner.heir.lock() = Some(snapshot.heirs.clone());
        let by_lineage: HashMap<u64, &Arc<Program>> = old.values().map(|program| (program.lineage, program)).collect();
        for (program, saved) in built.iter().map(|built| &built.program).zip(&snapshot.programs) {
            if !saved.is_root() {
                continue;
            }
            let replaced = by_lineage.get(&saved.lineage);
            let sink = replaced.and_then(|replaced| replaced.hand_over(Some(&Error::RolledBack)));
            if let (Some(replaced), Some(_)) = (replaced, &sink) {
                program.stream_as(replaced);
            }
            program.voice.give(cast(&saved.info(), sink));
        }
        log::debug!(target: "snapshot", "{} replaces the state of {}: {} programs", snapshot.info.id, inner.ordinal, built.len());
        let programs = handles(snapshot, &built);
        begin(inner, snapshot, built, false);
        before.moment.close(&Error::RolledBack);
        old.values().for_each(|program| program.end(Error::RolledBack));
        Ok(programs)
    }
}
