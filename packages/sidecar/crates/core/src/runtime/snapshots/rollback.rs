//! Rollback: the snapshot's state is made beside the present state, and then replaces the present
//! state in one step. The programs of the replaced state end afterwards, in the background. A
//! program whose sink was passed to a restored program reports nothing more. The memory of a
//! program is freed when the program's task has ended.
//!
//! The embedder's settings stay unchanged: limits, permissions, bindings, mounts, listeners.
//! Inbound connections end, and the embedder's handles are closed, because their objects no longer
//! exist. Next: `snapshot/`.

use super::restore::{AssignSinks, begin, build, handles};
use crate::program::{Program, ProgramInfo, Quiesce};
use crate::runtime::{Generation, LatestSnapshot, Process, Runtime};
use crate::snapshot::Snapshot;
use coldframe_error::Error;
use coldframe_ids::Lineage;
use coldframe_kernel::Kernel;
use coldframe_kernel::snapshot::{RestoreInputs, RestoredKernel};
use std::collections::HashMap;
use std::sync::Arc;

impl Runtime {
    /// Rolls the runtime back to a snapshot of this runtime or of another runtime. Fails if the
    /// snapshot's state exceeds this runtime's limits.
    ///
    /// A restored program replaces the live program of its lineage, and `assign` receives that
    /// program's sink. All other programs end, and their sinks receive `ERR_ROLLED_BACK`. All
    /// present evaluations also end with `ERR_ROLLED_BACK`. If the rollback fails, the runtime is
    /// unchanged.
    pub fn rollback(&self, snapshot: &Arc<Snapshot>, assign: &mut AssignSinks<'_>) -> Result<Vec<(ProgramInfo, Process)>, Error> {
        let inner = &self.inner;
        let before = inner.generation();
        let (mounts, file_systems) = before.kernel.reattach();
        let with = RestoreInputs {
            limits: inner.limits,
            // `take_over` copies the present permissions.
            permissions: None,
            mounts: &mounts,
            file_systems: &file_systems,
            warnings: None,
        };
        if let Some(reason) = inner.budget.exceeded() {
            return Err(reason.clone());
        }
        let RestoredKernel { kernel, processes } = Kernel::restore(&snapshot.kernel, with)?;
        kernel.crypto_share.set_weight(inner.flow.weight());
        let quiesce = Quiesce::new(inner.registry.scheduler().clone());
        let built = build(inner, &quiesce, snapshot, processes, &[])?;
        let old = {
            let mut programs = inner.programs.lock();
            let switched = if programs.disposed {
                Err(Error::RuntimeDisposed)
            } else if !Arc::ptr_eq(&before.kernel, &inner.generation.read().kernel) {
                // A concurrent rollback has replaced the kernel.
                Err(Error::RolledBack)
            } else {
                kernel.take_over(&before.kernel, &Error::RolledBack)
            };
            if let Err(error) = switched {
                drop(programs);
                built.iter().for_each(|built| built.program.process.close());
                return Err(error);
            }
            let live = built.iter().map(|built| (built.program.pid, built.program.clone())).collect();
            let old = std::mem::replace(&mut programs.live, live);
            inner.replace_generation(Generation { kernel, quiesce });
            old
        };
        *inner.latest.lock() = LatestSnapshot::of(snapshot);
        let by_lineage: HashMap<Lineage, &Arc<Program>> = old.values().map(|program| (program.lineage, program)).collect();
        for (program, saved) in built.iter().map(|built| &built.program).zip(&snapshot.programs) {
            if !saved.is_root() {
                continue;
            }
            let replaced = by_lineage.get(&saved.lineage);
            let sink = replaced.and_then(|replaced| replaced.take_sink(Some(&Error::RolledBack)));
            if let (Some(replaced), Some(_)) = (replaced, &sink) {
                program.stream_as(replaced);
            }
            program.sink.replace(assign(&saved.info(), sink));
        }
        log::debug!(target: "snapshot", "{} replaces the state of {}: {} programs", snapshot.info.id, inner.ordinal, built.len());
        let programs = handles(snapshot, &built);
        begin(inner, snapshot, built, false);
        before.quiesce.close(&Error::RolledBack);
        inner.registry.scheduler().freed(before.kernel.held_bytes());
        old.values().for_each(|program| program.end(Error::RolledBack));
        Ok(programs)
    }
}
