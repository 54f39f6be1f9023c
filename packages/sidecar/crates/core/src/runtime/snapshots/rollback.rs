//! Rollback: the snapshot's state is made beside the present state, and then replaces the present
//! state in one step. The programs of the replaced state end afterwards, in the background. A
//! program whose sink was passed to a restored program reports nothing more. The memory of a
//! program is freed when the program's task has ended.
//!
//! The embedder's settings stay unchanged: limits, permissions, bindings, mounts, listeners.
//! Inbound connections end, and the embedder's handles are closed, because their objects no longer
//! exist. Next: `snapshot/`.

use super::restore::{AssignSinks, Built, begin, build, handles};
use crate::containment::contained;
use crate::program::{Program, ProgramInfo, Quiesce};
use crate::runtime::{Generation, LatestSnapshot, Process, Runtime};
use crate::snapshot::Snapshot;
use coldframe_error::Error;
use coldframe_ids::Lineage;
use coldframe_kernel::Kernel;
use coldframe_kernel::snapshot::{RestoreInputs, RestoredKernel};
use coldframe_panics::outside;
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
        self.inner.contain(|| self.roll_back(snapshot, assign))
    }

    fn roll_back(&self, snapshot: &Arc<Snapshot>, assign: &mut AssignSinks<'_>) -> Result<Vec<(ProgramInfo, Process)>, Error> {
        let inner = &self.inner;
        let before = inner.generation();
        let (mounts, file_systems) = before.kernel.reattach();
        let with = RestoreInputs {
            limits: inner.limits,
            // `take_over` copies the permissions of the present kernel.
            permissions: None,
            mounts: &mounts,
            file_systems: &file_systems,
            library: inner.registry.installation().library(),
            warnings: None,
        };
        if let Some(reason) = inner.budget.exceeded() {
            return Err(reason.clone());
        }
        let quiesce = Quiesce::new(inner.registry.scheduler().clone());
        // A panic while the state is made leaves the present state unchanged.
        let (kernel, built) = contained(|| {
            let RestoredKernel { kernel, processes } = Kernel::restore(&snapshot.kernel, with)?;
            kernel.crypto_share.set_weight(inner.flow.weight());
            let built = build(inner, &quiesce, snapshot, processes, &[])?;
            if let Err(error) = kernel.take_over_bindings(&before.kernel) {
                built.iter().for_each(|built| built.program.process.close());
                return Err(error);
            }
            Ok((kernel, built))
        })?;
        // The sinks of the replaced programs belong to the restored programs afterwards, or report
        // the end. So a panic in the rest of the rollback aborts the process, except for its part
        // in the kernels.
        outside(|| {
            let _alone = inner.rollbacks.lock();
            self.replace(snapshot, assign, &before, Generation { kernel, quiesce }, built)
        })
    }

    /// Puts the restored state in place of the state `before`.
    fn replace(
        &self,
        snapshot: &Arc<Snapshot>,
        assign: &mut AssignSinks<'_>,
        before: &Generation,
        after: Generation,
        built: Vec<Built>,
    ) -> Result<Vec<(ProgramInfo, Process)>, Error> {
        let inner = &self.inner;
        let kernel = after.kernel.clone();
        let (old, handles_of_old) = {
            let mut programs = inner.programs.lock();
            let refused = if programs.disposed {
                Some(Error::RuntimeDisposed)
            } else if !Arc::ptr_eq(&before.kernel, &inner.generation.read().kernel) {
                // A concurrent rollback has replaced the kernel.
                Some(Error::RolledBack)
            } else {
                None
            };
            if let Some(error) = refused {
                drop(programs);
                built.iter().for_each(|built| built.program.process.close());
                return Err(error);
            }
            let live = built.iter().map(|built| (built.program.pid, built.program.clone())).collect();
            let mut old: Vec<_> = std::mem::replace(&mut programs.live, live).into_values().collect();
            old.extend(programs.with_open_output.values().cloned());
            (old, inner.replace_generation(after))
        };
        // A program that waits for the end of its output must not report the ends of the processes
        // that had the output. The restored programs take over the sinks of the others.
        let is_restored =
            |program: &Program| snapshot.programs.iter().any(|saved| saved.is_root() && saved.lineage == program.lineage);
        for program in old.iter().filter(|program| program.waits_for_output() && !is_restored(program)) {
            program.end(Error::RolledBack);
        }
        // The following calls wait for guests of the old kernel, so they run without the lock of
        // the programs, which control threads take.
        // A panic breaks the runtime, whose restored programs then end.
        let _ = inner.contain_change(|| {
            kernel.take_over(&before.kernel, &Error::RolledBack);
            handles_of_old.close();
            Ok(())
        });
        if inner.programs.lock().disposed {
            // The runtime was disposed meanwhile, and the embedder receives no further events.
            kernel.sockets.detach(&Error::RuntimeDisposed);
        }
        *inner.latest.lock() = LatestSnapshot::of(snapshot);
        let by_lineage: HashMap<Lineage, &Arc<Program>> = old.iter().map(|program| (program.lineage, program)).collect();
        for (program, saved) in built.iter().map(|built| &built.program).zip(&snapshot.programs) {
            if !saved.is_root() {
                continue;
            }
            let taken = by_lineage.get(&saved.lineage).and_then(|replaced| {
                // The replaced program may end after `take_sink`, and then streams nothing.
                let streams = replaced.streams();
                Some((replaced.take_sink(Some(&Error::RolledBack))?, streams))
            });
            if let Some((_, streams)) = &taken {
                program.stream_as(*streams);
            }
            program.sink.replace(assign(&saved.info(), taken.map(|(sink, _)| sink)));
        }
        log::debug!(target: "snapshot", "{} replaces the state of {}: {} programs", snapshot.info.id, inner.ordinal, built.len());
        let programs = handles(snapshot, &built);
        begin(inner, snapshot, built, false);
        before.quiesce.close(&Error::RolledBack);
        inner.registry.scheduler().freed(before.kernel.held_bytes());
        old.iter().for_each(|program| program.end(Error::RolledBack));
        Ok(programs)
    }
}
