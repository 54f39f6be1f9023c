//! A runtime: one sandbox, with its options, its limits and its programs.
//!
//! A runtime is plain data until a program starts: a new runtime maps no memory and starts no
//! thread. The other files of this folder are the parts of a runtime that the embedder uses. Next:
//! `registry.rs`, the state that all runtimes share.

mod budget;
mod child_sink;
mod containment;
mod embedder;
mod files;
mod freeze;
mod handles;
mod launch;
mod memberships;
mod network;
mod outside;
mod permissions;
mod process;
mod processes;
mod program_list;
mod registry;
mod snapshots;
mod usage;

pub use files::Files;
pub use handles::ArchiveUse;
pub use network::Network;
pub use outside::OutsideConnections;
pub use permissions::Permissions;
pub use process::Process;
pub use processes::Processes;
pub(crate) use registry::Registry;
pub use snapshots::{AssignSinks, Carryover, Held, RestoreOptions, RestoredRuntime, SnapshotOptions, Starting};

use crate::budget::{BudgetUse, RuntimeBudget};
use crate::checks::{check_cwd, check_env, check_size, env_bytes, failed, login_env};
use crate::installation::ImageKind;
use crate::options::{Dispatch, Mode, ProcessOptions, RuntimeOptions, Streams};
use crate::outcome::Sink;
use crate::outside::with_variables;
use crate::program::{Home, Launch, Membership, Origin, Parts, Program, Quiesce, run};
use crate::sched::{Alarm, Freeze, Task, TaskFlow};
use crate::snapshot::SnapshotUse;
use budget::check_weight;
use child_sink::ChildSink;
use coldframe_edge_link::Options as OutsideOptions;
use coldframe_error::{Errno, Error};
use coldframe_fair::DEFAULT_WEIGHT;
use coldframe_ids::Pid;
use coldframe_kernel::processes::Child;
use coldframe_kernel::usage::{Charge, Resource};
use coldframe_kernel::{Kernel, Limits, Owner, Process as KernelProcess};
use coldframe_panics::Health;
use coldframe_panics::runtime::{Mutex, RwLock};
use launch::{prepare, title};
use outside::OutsideSlot;
use program_list::ProgramList;
use registry::RuntimeCharge;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// The default working directory of programs.
const DEFAULT_CWD: &str = "/workspace";

/// One sandbox. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

/// The state of a runtime. All clones of [`Runtime`] share one `Inner`.
pub(crate) struct Inner {
    registry: Arc<Registry>,
    /// The runtime's number among all runtimes of the process, for the log.
    ordinal: u64,
    env: Vec<(String, String)>,
    cwd: String,
    limits: Limits,
    /// The tasks of the programs, in the scheduler's queue.
    flow: Arc<TaskFlow>,
    /// The use of the limits of the whole runtime.
    budget: Arc<RuntimeBudget>,
    /// Whether a panic has broken the runtime.
    health: Arc<Health>,
    /// Whether the runtime is frozen.
    freeze: Arc<Freeze>,
    /// The next alarm of the limit of wall-clock time.
    wall_alarm: Mutex<Option<Alarm>>,
    /// The present generation, which a rollback replaces.
    generation: RwLock<Generation>,
    programs: Mutex<ProgramList>,
    /// Files, archives and watches that the embedder has open.
    handles: Mutex<handles::HandleTable>,
    latest: Mutex<LatestSnapshot>,
    /// The connections out of the runtime. Empty until the embedder sets options.
    outside: OutsideSlot,
    /// Held while a rollback replaces the state and passes on the sinks. Another rollback would
    /// find restored programs that have no sink yet.
    rollbacks: coldframe_panics::process::Mutex<()>,
    _charge: RuntimeCharge,
}

/// The state of a runtime that does not come from its kernel.
struct InnerOptions {
    env: Vec<(String, String)>,
    cwd: String,
    weight: u64,
    /// The time that the runtime used before it was paused.
    budget: BudgetUse,
    /// The validated options of connections out of the runtime.
    outside: Option<OutsideOptions>,
}

/// A kernel and the quiescing of its programs.
#[derive(Clone)]
struct Generation {
    kernel: Arc<Kernel>,
    quiesce: Arc<Quiesce>,
}

/// The latest snapshot of a runtime.
#[derive(Default)]
struct LatestSnapshot {
    /// The id of the snapshot that was taken last, or that the runtime was restored from or rolled
    /// back to since.
    id: Option<String>,
    /// Marks the snapshot that the runtime was restored from or rolled back to as used.
    restored_from: Option<SnapshotUse>,
}

impl Runtime {
    pub(crate) fn create(registry: Arc<Registry>, options: RuntimeOptions) -> Result<Self, Error> {
        let charge = registry.charge()?;
        let cwd = options.cwd.unwrap_or_else(|| DEFAULT_CWD.to_owned());
        check_cwd(&cwd)?;
        check_env(&options.env)?;
        check_weight(options.weight)?;
        options.limits.check(registry.installation().image_len())?;
        let env = with_variables(login_env(options.env), options.outside.as_ref());
        check_size("env", env_bytes(&env), options.limits.env_bytes)?;
        let kernel = Arc::new(Kernel::with_library(&options.limits, registry.installation().library()));
        outside::prepare(&kernel, options.permissions, options.outside.as_ref())?;
        if let Some(listener) = options.warnings {
            kernel.usage.warnings.listen(listener);
        }
        kernel.has_app_file_systems.store(!options.file_systems.is_empty(), Ordering::Relaxed);
        kernel.embedder_files().furnish(&options.mounts, &options.file_systems, &options.files, &cwd)?;
        let weight = options.weight.unwrap_or(DEFAULT_WEIGHT);
        let inner = InnerOptions { env, cwd, weight, budget: BudgetUse::default(), outside: options.outside };
        Ok(Self { inner: Inner::new(registry, charge, kernel, inner) })
    }

    #[cfg(test)]
    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Starts a program or a resident runner. With an inline `dispatch`, `sink` may be called
    /// before this call returns.
    pub fn start(&self, options: ProcessOptions, sink: Arc<dyn Sink>, dispatch: Dispatch) -> Result<Process, Error> {
        let inner = &self.inner;
        let mut limits = *inner.limits();
        options.limits.iter().try_for_each(|(name, value)| limits.lower(name, *value))?;
        limits.check(inner.image_len())?;
        let mut launch = inner.launch(&options)?;
        let Generation { kernel, quiesce } = inner.generation();
        // No snapshot is taken until the program is complete, because a snapshot must contain the
        // whole program or no part of the program.
        let no_snapshot = quiesce.hold_off();
        if options.stdin.len() as u64 > limits.stdin_bytes {
            return Err(Error::ResourceExhausted { resource: "stdin bytes of a process", limit: limits.stdin_bytes });
        }
        let memory = Charge::of(&kernel.usage, Resource::Memory, inner.image_len());
        let memory = memory
            .ok_or(Error::ResourceExhausted { resource: "memory bytes in the runtime", limit: limits.total_memory_bytes })?;
        if options.cwd.is_some() {
            // A missing working directory is made, like the runtime's default working directory. If
            // the directory cannot be made, the start reports the missing directory.
            let _ = kernel.embedder_files().owned_by(options.user.unwrap_or(Owner::GUEST)).mkdir(&launch.cwd, true);
        }
        // The process table, the files and the list of programs each get a part of the program.
        let _change = inner.health.change();
        let pid = kernel
            .processes
            .enter_root()
            .map_err(|_| Error::ResourceExhausted { resource: "processes in the runtime", limit: limits.processes })?;
        let mut process = KernelProcess::for_user(kernel.clone(), pid, &launch.cwd, options.user.unwrap_or(Owner::GUEST));
        process.limits = limits;
        if options.keeps_session {
            process.keep_session();
        }
        let title = match options.mode {
            Mode::File | Mode::Command | Mode::Resident => title(&launch.argv),
            _ => launch.argv.first().map_or_else(String::new, |name| name.to_string()),
        };
        kernel.permissions.filter_env(Some(pid), &mut launch.env, None);
        let prepared = prepare(&process, &options, &mut launch).map_err(|error| match error {
            Errno::ENOSPC if options.terminal.is_some() => {
                Error::ResourceExhausted { resource: "terminals", limit: limits.terminals }
            }
            error => failed(error, "spawn", &options.code),
        });
        if let Err(error) = prepared.and_then(|()| inner.registry.installation().check(ImageKind::of(&launch.kind))) {
            process.close();
            kernel.processes.remove(pid);
            return Err(error);
        }
        let program = Program::new(Parts {
            command: title,
            ppid: Pid::INIT,
            mode: options.mode,
            streams: options.streams,
            stdin: if options.live { Vec::new() } else { options.stdin },
            scheduler: inner.registry.scheduler().clone(),
            sink: sink.clone(),
            home: inner.downgrade(),
            quiesce: quiesce.clone(),
            process,
            budget: inner.budget.clone(),
            health: inner.health.clone(),
            freeze: inner.freeze.clone(),
        });
        let membership = inner.enter(&program).inspect_err(|_| {
            program.process.close();
            kernel.processes.remove(pid);
        })?;
        drop(no_snapshot);
        if let Some(timeout) = options.timeout.or_else(|| inner.limits().wall().filter(|_| options.mode != Mode::Resident)) {
            program.end_after(timeout);
        }
        sink.started(pid);
        program.process.facts.set(&launch.kind, &launch.argv, &launch.env);
        inner.begin(&program, Origin::Launch(launch, memory), membership, dispatch);
        Ok(Process { program })
    }

    /// Returns whether a program lives.
    pub fn has_programs(&self) -> bool {
        !self.inner.programs.lock().live.is_empty()
    }

    /// Ends all processes. Later starts fail with `ERR_RUNTIME_DISPOSED`.
    pub fn dispose(&self) {
        self.inner.dispose();
    }

    /// Returns the kernel, which a rollback replaces.
    #[cfg(test)]
    pub(crate) fn kernel(&self) -> Arc<Kernel> {
        self.inner.kernel()
    }

    /// Begins [`Runtime::dispose`]: ends all processes, and does not wait for a guest. The caller
    /// must call `dispose` afterwards.
    pub fn begin_dispose(&self) {
        self.inner.end_programs(&Error::RuntimeDisposed);
    }
}

impl Inner {
    fn new(registry: Arc<Registry>, charge: RuntimeCharge, kernel: Arc<Kernel>, options: InnerOptions) -> Arc<Self> {
        let InnerOptions { env, cwd, weight, budget, outside } = options;
        kernel.crypto_share.set_weight(weight);
        let inner = Arc::new(Self {
            limits: kernel.usage.limits,
            env,
            cwd,
            flow: TaskFlow::new(weight),
            budget: Arc::new(RuntimeBudget::new(&kernel.usage.limits, budget)),
            health: Arc::default(),
            freeze: Arc::default(),
            wall_alarm: Mutex::default(),
            generation: RwLock::new(Generation { kernel, quiesce: Quiesce::new(registry.scheduler().clone()) }),
            programs: Mutex::default(),
            handles: Mutex::default(),
            latest: Mutex::default(),
            outside: OutsideSlot::default(),
            rollbacks: coldframe_panics::process::Mutex::default(),
            ordinal: registry.next_ordinal(),
            registry,
            _charge: charge,
        });
        outside.map(|options| inner.set_outside(options));
        inner.registry.add(&inner);
        inner.watch_wall_time(false);
        log::debug!(target: "runtime", "{} created", inner.ordinal);
        inner
    }

    /// Returns the kernel, which a rollback replaces.
    pub(crate) fn kernel(&self) -> Arc<Kernel> {
        self.generation.read().kernel.clone()
    }

    /// Returns the kernel and the quiescing of its programs, which a rollback replaces.
    fn generation(&self) -> Generation {
        self.generation.read().clone()
    }

    fn downgrade(self: &Arc<Self>) -> Weak<dyn Home> {
        let this: Arc<dyn Home> = self.clone();
        Arc::downgrade(&this)
    }

    /// Adds a program to the live programs. Fails if the runtime was disposed, or was rolled back
    /// after the program's process was made.
    fn enter(self: &Arc<Self>, program: &Arc<Program>) -> Result<Membership, Error> {
        let mut programs = self.programs.lock();
        if programs.disposed {
            return Err(Error::RuntimeDisposed);
        }
        if let Some(reason) = self.budget.exceeded() {
            return Err(reason.clone());
        }
        if !Arc::ptr_eq(&program.process.kernel, &self.generation.read().kernel) {
            return Err(Error::RolledBack);
        }
        programs.live.insert(program.pid, program.clone());
        drop(programs);
        Ok(Membership::new(self.clone(), program.clone()))
    }

    /// Starts a program that is already in the list of live programs.
    fn begin(self: &Arc<Self>, program: &Arc<Program>, origin: Origin, membership: Membership, dispatch: Dispatch) {
        let scheduler = self.registry.scheduler();
        let future = run(program.clone(), self.registry.installation().clone(), origin, membership);
        let task = Task::new(program.clone(), Box::pin(future), self.flow.clone(), self.freeze.clone(), scheduler);
        program.set_task(&task);
        match dispatch {
            Dispatch::Worker => scheduler.enqueue(task),
            Dispatch::Inline(budget) => scheduler.run_inline(&task, budget),
        }
    }

    pub(crate) fn dispose(&self) {
        self.end(&Error::RuntimeDisposed);
    }

    /// Ends all processes for this reason. Later starts fail.
    fn end(&self, reason: &Error) {
        log::debug!(target: "runtime", "{} ends: {}", self.ordinal, reason.code());
        self.end_programs(reason);
        self.end_rest();
    }

    /// Completes the end after [`Inner::end_programs`].
    fn end_rest(&self) {
        self.forget_wall_time();
        self.contain_end(|| self.close_handles());
        self.latest.lock().restored_from = None;
    }

    /// Ends all processes for this reason, and refuses later starts. Does not wait for a guest.
    /// Returns whether this call is the first.
    fn end_programs(&self, reason: &Error) -> bool {
        let (is_first, live, kernel) = {
            let mut programs = self.programs.lock();
            let is_first = !std::mem::replace(&mut programs.disposed, true);
            (is_first, programs.all().cloned().collect::<Vec<_>>(), self.kernel())
        };
        self.contain_end(|| kernel.sockets.detach(reason));
        self.outside.end();
        self.contain_end(|| self.registry.scheduler().freed(kernel.held_bytes()));
        for program in live {
            program.end(reason.clone());
        }
        is_first
    }

    /// Returns the numbers of processes in the process table, of live programs, and of sockets.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        self.kernel().counts()
    }

    /// Returns the number of pending host calls, and their bytes.
    #[cfg(test)]
    pub(crate) fn host_calls(&self) -> (usize, usize) {
        self.kernel().host_calls.count()
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the number of output bytes that wait for their readers.
    pub(crate) fn buffered(&self) -> u64 {
        self.programs.lock().all().map(|program| program.buffered()).sum()
    }
}

impl Home for Inner {
    fn programs(&self) -> Vec<Arc<Program>> {
        self.programs.lock().live.values().cloned().collect()
    }

    fn program(&self, pid: Pid) -> Option<Arc<Program>> {
        self.programs.lock().live.get(&pid).cloned()
    }

    fn ordinal(&self) -> u64 {
        self.ordinal
    }

    fn image_len(&self) -> u64 {
        self.registry.installation().image_len()
    }

    fn start_child(self: Arc<Self>, child: Child) -> Result<(), Box<KernelProcess>> {
        let Child { process, parent: ppid, command, cwd, memory } = child;
        if self.programs.lock().disposed {
            return Err(Box::new(process));
        }
        // After a rollback, the process belongs to an earlier kernel, and `enter` fails below.
        let quiesce = self.generation().quiesce;
        let mut launch = Launch::of(command, cwd);
        if let Err(error) = self.registry.installation().check(ImageKind::of(&launch.kind)) {
            launch = launch.without_python(&error);
        }
        let program = Program::new(Parts {
            command: title(&launch.argv),
            ppid,
            mode: Mode::File,
            streams: Streams::default(),
            stdin: Vec::new(),
            scheduler: self.registry.scheduler().clone(),
            sink: Arc::new(ChildSink),
            home: self.downgrade(),
            quiesce,
            process,
            budget: self.budget.clone(),
            health: self.health.clone(),
            freeze: self.freeze.clone(),
        });
        let Ok(membership) = self.enter(&program) else {
            // The runtime was disposed or rolled back since the system call. The parent is also
            // ending and receives no error.
            program.process.close();
            program.process.kernel.processes.remove(program.pid);
            return Ok(());
        };
        program.process.facts.set(&launch.kind, &launch.argv, &launch.env);
        self.begin(&program, Origin::Launch(launch, memory), membership, Dispatch::Worker);
        Ok(())
    }

    fn end_all(&self, reason: &Error) {
        self.exhaust(reason);
    }

    fn end_broken(self: Arc<Self>) {
        Inner::end_broken(&self);
    }

    fn joined(&self) {
        self.registry.program_joined();
    }

    fn remove(&self, program: &Arc<Program>) {
        let removed = {
            let mut programs = self.programs.lock();
            // A rollback may have replaced the program by a restored program with an equal pid.
            let is_it = programs.live.get(&program.pid).is_some_and(|live| Arc::ptr_eq(live, program));
            if is_it { programs.live.remove(&program.pid) } else { None }
        };
        drop(removed);
        self.registry.scheduler().freed(program.process.kernel.usage.take_returned_bytes());
        self.registry.program_left();
    }

    fn output_is_open(&self, program: &Arc<Program>) {
        self.add_open_output(program);
    }

    fn output_ended(&self, program: &Program) {
        self.remove_open_output(program);
    }
}
