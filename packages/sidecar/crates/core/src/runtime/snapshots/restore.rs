//! Restores a runtime from a snapshot. After a failure, no part of the runtime exists.
//!
//! The kernel is restored first, then the VM of every program. The programs run only afterwards.
//! The first event of each program is RESTORE. An embedder that restores many runtimes drops all
//! [`Starting`] values after the last restore. Otherwise each restore would wait for running
//! programs that change the process's mappings, and those programs would wait for the restore.
//! Next: `rollback.rs`.

use super::Carryover;
use crate::checks::{check_cwd, check_env, check_size, env_bytes, lay_over};
use crate::options::Dispatch;
use crate::outcome::Sink;
use crate::outside::{restored, validate, with_outside, with_variables};
use crate::program::{Membership, Origin, Program, ProgramInfo, ProgramSnapshot, Quiesce, RestoreTarget, RestoredVm};
use crate::runtime::{ChildSink, Inner, InnerOptions, LatestSnapshot, Process, Registry, Runtime, check_weight};
use crate::snapshot::Snapshot;
use coldframe_edge_link::Options as OutsideOptions;
use coldframe_error::Error;
use coldframe_fair::DEFAULT_WEIGHT;
use coldframe_kernel::snapshot::{RestoreInputs, RestoredKernel};
use coldframe_kernel::usage::WarningListener;
use coldframe_kernel::usage::{Charge, Resource};
use coldframe_kernel::{
    BindingOptions, Embedder, FileSystemOptions, Kernel, Limits, MountOptions, PermissionPolicy, Process as KernelProcess,
};
use coldframe_vm::abi::Restore;
use coldframe_vm::{Owner, Vm};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The embedder's options for a restored runtime.
#[derive(Clone, Default)]
pub struct RestoreOptions {
    /// The limits. `None` means the snapshot's limits. If the state exceeds a limit, the restore
    /// fails with an error that names the limit.
    pub limits: Option<Limits>,
    /// The permissions. `None` means the snapshot's permissions.
    pub permissions: Option<PermissionPolicy>,
    /// Variables that extend or replace the snapshot's environment, for new programs and restored
    /// programs.
    pub env: Option<Vec<(String, String)>>,
    /// The default working directory. `None` means the snapshot's default working directory.
    pub cwd: Option<String>,
    /// The mounted folders: the snapshot's folders, by their guest paths, and further folders.
    pub mounts: Vec<MountOptions>,
    /// The app file systems: the snapshot's app file systems, by their guest paths, and further app
    /// file systems.
    pub file_systems: Vec<FileSystemOptions>,
    /// The bindings. `None` keeps the names of the snapshot's bindings.
    pub bindings: Option<Vec<BindingOptions>>,
    /// The listener that is called when the use of a limit reaches 80 %. The listener must not
    /// block.
    pub warnings: Option<WarningListener>,
    /// The embedder that receives host calls and network events.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The weight, as in [`crate::RuntimeOptions`].
    pub weight: Option<u64>,
    /// The carryover of a paused runtime that this runtime resumes. The outcomes of the paused
    /// runtime's running and queued evaluations are sent to the sinks.
    pub resume: Option<Carryover>,
    /// The options of connections out of the runtime. A snapshot has none.
    pub outside: Option<OutsideOptions>,
}

/// Assigns a sink to a restored program. The second argument is the sink of the replaced program,
/// if the restored program replaces a program.
pub type AssignSinks<'a> = dyn FnMut(&ProgramInfo, Option<Arc<dyn Sink>>) -> Arc<dyn Sink> + 'a;

/// A restored runtime, and its programs with their handles.
pub type RestoredRuntime = (Runtime, Vec<(ProgramInfo, Process)>);

/// The programs of a restored runtime, which start when this value is dropped.
#[must_use = "the programs start when it is dropped"]
pub struct Starting {
    home: Arc<Inner>,
    snapshot: Arc<Snapshot>,
    built: Vec<Built>,
    time_runs: bool,
}

impl Drop for Starting {
    fn drop(&mut self) {
        begin(&self.home, &self.snapshot, std::mem::take(&mut self.built), self.time_runs);
    }
}

/// A restored program that can start.
pub(super) struct Built {
    pub(super) program: Arc<Program>,
    vm: Box<RestoredVm>,
}

impl LatestSnapshot {
    /// Returns the state of a runtime that was just restored from `snapshot`.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Self { id: Some(snapshot.info.id.clone()), restored_from: Some(snapshot.users.clone()) }
    }
}

impl Runtime {
    /// Restores a runtime, as [`crate::Core::restore`] describes.
    pub(crate) fn restore(
        registry: &Arc<Registry>,
        snapshot: &Arc<Snapshot>,
        options: RestoreOptions,
        assign: &mut AssignSinks<'_>,
    ) -> Result<(RestoredRuntime, Starting), Error> {
        let charge = registry.charge()?;
        let limits = options.limits.unwrap_or(snapshot.limits);
        let cwd = options.cwd.unwrap_or_else(|| snapshot.cwd.clone());
        let outside = options.outside.map(|outside| restored(outside, &snapshot.secrets));
        let over = with_variables(options.env.unwrap_or_default(), outside.as_ref());
        let mut env = snapshot.env.clone();
        check_cwd(&cwd)?;
        check_env(&over)?;
        lay_over(&mut env, &over);
        check_weight(options.weight)?;
        limits.check(registry.installation().image_len())?;
        check_size("env", env_bytes(&env), limits.env_bytes)?;
        outside.as_ref().map_or(Ok(()), validate)?;
        let has_outside = outside.is_some();
        // Without a change, the kernel shares the compiled policy of the snapshot.
        let given = options.permissions.or_else(|| has_outside.then(|| snapshot.permissions()));
        let permissions = given.map(|policy| with_outside(policy, has_outside).into_owned());
        let RestoredKernel { kernel, processes } = Kernel::restore(
            &snapshot.kernel,
            RestoreInputs {
                limits,
                permissions: permissions.as_ref(),
                mounts: &options.mounts,
                file_systems: &options.file_systems,
                library: registry.installation().library(),
                warnings: options.warnings,
            },
        )?;
        if let Some(bindings) = options.bindings {
            kernel.set_bindings(bindings)?;
        }
        let weight = options.weight.or_else(|| options.resume.as_ref().and_then(Carryover::weight)).unwrap_or(DEFAULT_WEIGHT);
        let before = options.resume.as_ref().map(Carryover::budget).unwrap_or_default();
        let inner = Inner::new(registry.clone(), charge, kernel, InnerOptions { env, cwd, weight, budget: before, outside });
        if !has_outside {
            inner.outside.restored_secrets.lock().clone_from(&snapshot.secrets);
        }
        let resume = options.resume.is_some();
        if let Some(carryover) = options.resume {
            carryover.apply(&inner, &inner.kernel());
        }
        let runtime = Self { inner: inner.clone() };
        if let Some(embedder) = options.embedder {
            runtime.attach(embedder);
        }
        let built = build(&inner, &inner.generation().quiesce, snapshot, processes, &over)?;
        *inner.latest.lock() = LatestSnapshot::of(snapshot);
        inner.programs.lock().live.extend(built.iter().map(|built| (built.program.pid, built.program.clone())));
        for (Built { program, .. }, saved) in built.iter().zip(&snapshot.programs) {
            if saved.is_root() {
                program.sink.replace(assign(&saved.info(), None));
            }
        }
        if resume {
            // The embedder may cancel an evaluation before the program starts.
            built.iter().zip(&snapshot.programs).for_each(|(built, saved)| built.program.start_time(saved, true));
        }
        log::debug!(target: "snapshot", "{} restored as {}: {} programs", snapshot.info.id, inner.ordinal, built.len());
        let programs = handles(snapshot, &built);
        Ok(((runtime, programs), Starting { home: inner, snapshot: snapshot.clone(), built, time_runs: resume }))
    }
}

/// Makes the programs of a snapshot, which do not run yet. If one program cannot be made, the
/// processes of all made programs are closed.
pub(super) fn build(
    home: &Arc<Inner>,
    quiesce: &Arc<Quiesce>,
    snapshot: &Snapshot,
    processes: Vec<KernelProcess>,
    env: &[(String, String)],
) -> Result<Vec<Built>, Error> {
    let mut built = Vec::with_capacity(processes.len());
    for (saved, process) in snapshot.programs.iter().zip(processes) {
        debug_assert_eq!(saved.pid, process.pid, "both lists are in the order of the pids");
        match build_one(home, quiesce, saved, process, env) {
            Ok(one) => built.push(one),
            Err(error) => {
                built.iter().for_each(|Built { program, .. }| program.process.close());
                return Err(error);
            }
        }
    }
    Ok(built)
}

fn build_one(
    home: &Arc<Inner>,
    quiesce: &Arc<Quiesce>,
    saved: &ProgramSnapshot,
    process: KernelProcess,
    env: &[(String, String)],
) -> Result<Built, Error> {
    let installation = home.registry.installation();
    let factory = installation.factory(saved.vm.image)?;
    let program = saved.restore(RestoreTarget {
        scheduler: home.registry.scheduler().clone(),
        home: home.downgrade(),
        quiesce: quiesce.clone(),
        process,
        budget: home.budget.clone(),
        health: home.health.clone(),
        freeze: home.freeze.clone(),
        sink: Arc::new(ChildSink),
    })?;
    let usage = &program.process.kernel.usage;
    let limit = usage.limits.total_memory_bytes;
    let memory = Charge::of(usage, Resource::Memory, installation.image_len());
    let memory = memory.ok_or(Error::ResourceExhausted { resource: "memory bytes in the runtime", limit });
    let restore = Restore {
        pid: saved.pid.get(),
        ppid: saved.ppid.get(),
        env: env.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect(),
        ..Restore::default()
    };
    let made = memory.and_then(|memory| {
        // The page faults of the restore on this thread count for the program's usage, as they do
        // when a worker makes the VM.
        program.meter().begin();
        let made = at_once(Vm::restore(&factory, &saved.vm.snapshot, program.clone(), memory, restore));
        program.meter().end();
        program.continue_cpu(saved.cpu_ns);
        made
    });
    let (vm, cost) = made.inspect_err(|_| program.process.close())?;
    Ok(Built { program, vm: Box::new(RestoredVm { vm, cost, image: saved.vm.image }) })
}

/// Returns the embedder's handles of the programs.
pub(super) fn handles(snapshot: &Snapshot, built: &[Built]) -> Vec<(ProgramInfo, Process)> {
    let handle = |(saved, built): (&ProgramSnapshot, &Built)| (saved.info(), Process { program: built.program.clone() });
    snapshot.programs.iter().zip(built).map(handle).collect()
}

/// Starts all programs, which are already in the list of live programs. `time_runs` states that the
/// programs' timeouts have been started.
pub(super) fn begin(home: &Arc<Inner>, snapshot: &Snapshot, built: Vec<Built>, time_runs: bool) {
    for (one, saved) in built.iter().zip(&snapshot.programs) {
        if let Some(root) = &saved.ended_root {
            one.program.continue_tree(root, built.iter().map(|other| &other.program));
        }
    }
    let membership = |built: &Built| Membership::new(home.clone(), built.program.clone());
    let memberships: Vec<_> = built.iter().map(membership).collect();
    for (built, saved) in built.iter().zip(&snapshot.programs).filter(|_| !time_runs) {
        built.program.start_time(saved, false);
    }
    for (Built { program, vm }, membership) in built.into_iter().zip(memberships) {
        home.begin(&program, Origin::Restored(vm), membership, Dispatch::Worker);
    }
}

/// Returns the result of a future that never waits.
fn at_once<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(Error::EngineFault { reason: "making an instance waits for something".to_owned() }),
    }
}
