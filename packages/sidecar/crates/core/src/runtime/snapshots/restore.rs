//! A runtime out of a snapshot: all of it or nothing. The kernel first, then every program's VM, and only then does anything of it run. The first thing
//! that a program hears is that it lives again. Whoever makes many copies lets all of them begin at the end ([`Starting`]): what is being made and what
//! runs would else wait for each other's mappings. Next: `rollback.rs`.

use super::{Bygone, Snapshot};
use crate::core::{Core, Shared};
use crate::error::Error;
use crate::host::{BindingOptions, Host};
use crate::kernel::Process as KernelProcess;
use crate::kernel::saved::{Reattach, Revived};
use crate::kernel::usage::{Charge, Resource};
use crate::limits::Limits;
use crate::options::{Dispatch, FileSystemOptions, MountOptions, WarningListener};
use crate::outcome::Sink;
use crate::policy::PermissionPolicy;
use crate::program::{Beginning, Copy, Place, Program, SavedProgram};
use crate::runtime::checks::{check_cwd, check_env, check_size, env_bytes, lay_over};
use crate::runtime::{Inner, Nobody, Process, ProgramInfo, Runtime};
use crate::vm::Vm;
use crate::vm::abi::Restore;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// What the caller brings to a restored runtime.
#[derive(Clone, Default)]
pub struct RestoreOptions {
    /// Instead of the snapshot's. What does not fit into narrower ones is an error that names the limit.
    pub limits: Option<Limits>,
    /// Instead of the snapshot's.
    pub permissions: Option<PermissionPolicy>,
    /// Laid over the snapshot's: for new programs, and in those that are restored.
    pub env: Option<Vec<(String, String)>>,
    /// Where new programs start.
    pub cwd: Option<String>,
    /// The folders that its tree has, by their guest paths, and more.
    pub mounts: Vec<MountOptions>,
    /// The same of the caller's own file systems.
    pub file_systems: Vec<FileSystemOptions>,
    /// The functions that its programs can call. None: those of the snapshot, by their names.
    pub bindings: Option<Vec<BindingOptions>>,
    /// Told when the use of a limit passes 80 %; must not block.
    pub warnings: Option<WarningListener>,
    /// Takes what the sandbox asks of the caller.
    pub host: Option<Arc<dyn Host>>,
    /// The copies take the places of programs that vanished: their evaluations, under way and queued, are told to the sinks.
    pub resume: Option<Bygone>,
}

/// Whom a copy speaks to. The second argument is the sink of the program whose place it takes.
pub type Cast<'a> = dyn FnMut(&ProgramInfo, Option<Arc<dyn Sink>>) -> Arc<dyn Sink> + 'a;

/// A restored runtime, and its programs with their handles.
pub type RestoredRuntime = (Runtime, Vec<(ProgramInfo, Process)>);

/// The programs of a restored runtime, which have not begun. They do when this is dropped.
#[must_use = "they begin when it is dropped"]
pub struct Starting {
    home: Arc<Inner>,
    snapshot: Arc<Snapshot>,
    built: Vec<Built>,
    awake: bool,
}

impl Drop for Starting {
    fn drop(&mut self) {
        begin(&self.home, &self.snapshot, std::mem::take(&mut self.built), self.awake);
    }
}

/// A program that can begin.
pub(super) struct Built {
    pub(super) program: Arc<Program>,
    copy: Box<Copy>,
}

impl Core {
    /// Makes a runtime out of a snapshot. `cast` is asked for each program that the caller outside had started; the list has all of them, and
    /// `ready` is told of none. They begin when the [`Starting`] is dropped. On an error nothing is left of it.
    pub fn restore(
        &self,
        snapshot: &Arc<Snapshot>,
        options: RestoreOptions,
        cast: &mut Cast<'_>,
    ) -> Result<(RestoredRuntime, Starting), Error> {
        let shared = self.shared();
        let seat = shared.seat()?;
        let limits = options.limits.unwrap_or(snapshot.limits);
        let cwd = options.cwd.unwrap_or_else(|| snapshot.cwd.clone());
        let over = options.env.unwrap_or_default();
        let mut env = snapshot.env.clone();
        check_cwd(&cwd)?;
        check_env(&over)?;
        lay_over(&mut env, &over);
        limits.check(shared.image_len())?;
        check_size("env", env_bytes(&env), limits.env_bytes)?;
        let Revived { kernel, processes } = crate::kernel::Kernel::revive(
            &snapshot.kernel,
            Reattach {
                limits,
                permissions: options.permissions.as_ref(),
                mounts: &options.mounts,
                file_systems: &options.file_systems,
                warnings: options.warnings,
            },
        )?;
        if let Some(bindings) = options.bindings {
            kernel.set_bindings(bindings)?;
        }
        let inner = Inner::new(shared.clone(), seat, kernel, env, cwd);
        let resume = options.resume.is_some();
        if let Some(bygone) = options.resume {
            bygone.give(&inner, &inner.kernel());
        }
        let runtime = Runtime { inner: inner.clone() };
        if let Some(host) = options.host {
            runtime.attach(host);
        }
        let built = build(shared, &inner, snapshot, processes, &over)?;
        *inner.ancestor.lock() = Some(snapshot.info.id.clone());
        *inner.heir.lock() = Some(snapshot.heirs.clone());
        inner.programs.lock().live.extend(built.iter().map(|built| (built.program.pid, built.program.clone())));
        for (Built { program, .. }, saved) in built.iter().zip(&snapshot.programs) {
            if saved.is_root() {
                program.voice.give(cast(&saved.info(), None));
            }
        }
        if resume {
            // Who waits for an evaluation may end it before the copy begins.
            built.iter().zip(&snapshot.programs).for_each(|(built, saved)| built.program.awaken(saved, true));
        }
        log::debug!(target: "snapshot", "{} restored as {}: {} programs", snapshot.info.id, inner.ordinal, built.len());
        let programs = handles(snapshot, &built);
        Ok(((runtime, programs), Starting { home: inner, snapshot: snapshot.clone(), built, awake: resume }))
    }
}

/// Makes the programs of a snapshot, which do not run yet. When one of them cannot be made, none is.
pub(super) fn build(
    core: &Shared,
    home: &Arc<Inner>,
    snapshot: &Snapshot,
    processes: Vec<KernelProcess>,
    env: &[(String, String)],
) -> Result<Vec<Built>, Error> {
    let mut built = Vec::with_capacity(processes.len());
    for (saved, process) in snapshot.programs.iter().zip(processes) {
        debug_assert_eq!(saved.pid, process.pid, "both are in the order of their numbers");
        match build_one(core, home, saved, process, env) {
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
    core: &Shared,
    home: &Arc<Inner>,
    saved: &SavedProgram,
    process: KernelProcess,
    env: &[(String, String)],
) -> Result<Built, Error> {
    let factory = core.factory_of(saved.vm.is_shell)?;
    let (scheduler, home) = (core.scheduler().clone(), Arc::downgrade(home));
    let program = saved.revive(Place { scheduler, home, process, sink: Arc::new(Nobody) })?;
    let usage = &program.process.kernel.usage;
    let limit = usage.limits.total_memory_bytes;
    let memory = Charge::of(usage, Resource::Memory, core.image_len());
    let memory = memory.ok_or(Error::ResourceExhausted { resource: "memory bytes in the runtime", limit });
    let restore = Restore {
        pid: saved.pid,
        ppid: saved.ppid,
        env: env.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect(),
        ..Restore::default()
    };
    let made = memory.and_then(|memory| {
        // Faults on this thread count as its own, as when a worker makes it.
        program.meter().begin();
        let made = at_once(Vm::restore(&factory, &saved.vm.saved, &program, memory, restore));
        program.meter().end();
        program.go_on_from(saved.cpu_ns);
        made
    });
    let (vm, cost) = made.inspect_err(|_| program.process.close())?;
    Ok(Built { program, copy: Box::new(Copy { vm, cost, is_shell: saved.vm.is_shell }) })
}

/// What the caller gets of them.
pub(super) fn handles(snapshot: &Snapshot, built: &[Built]) -> Vec<(ProgramInfo, Process)> {
    let handle = |(saved, built): (&SavedProgram, &Built)| (saved.info(), Process { program: built.program.clone() });
    snapshot.programs.iter().zip(built).map(handle).collect()
}

/// Has all of them begin. They are among those that live already. `awake`: their time runs already.
pub(super) fn begin(home: &Arc<Inner>, snapshot: &Snapshot, built: Vec<Built>, awake: bool) {
    let places: Vec<_> = built.iter().map(|built| home.admit(&built.program)).collect();
    for (built, saved) in built.iter().zip(&snapshot.programs).filter(|_| !awake) {
        built.program.awaken(saved, false);
    }
    for (Built { program, copy }, place) in built.into_iter().zip(places) {
        home.begin(&program, Beginning::Copy(copy), place, Dispatch::Worker);
    }
}

/// The result of a future that has nothing to wait for.
fn at_once<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(Error::EngineFault { reason: "making an instance waits for something".to_owned() }),
    }
}
