//! A runtime: one sandbox. Its options, its walls and the programs that run in it.
//!
//! It is plain data until something runs: making one maps and starts nothing. Next: `runtime/`, other faces of it.

mod checks;
mod files;
mod host;
mod membership;
mod network;
mod opened;
mod permissions;
mod process;
mod processes;
mod snapshots;
mod usage;

pub use files::Files;
pub(crate) use membership::Membership;
pub use network::Network;
pub use opened::ArchiveUse;
pub use permissions::Permissions;
pub use process::{Process, ProgramInfo};
pub use processes::Processes;
use snapshots::Heir;
pub(crate) use snapshots::is_id;
pub use snapshots::{Bygone, Cast, Held, RestoreOptions, RestoredRuntime, Snapshot, SnapshotInfo, SnapshotOptions, Starting};

use crate::core::{Seat, Shared};
use crate::error::Error;
use crate::kernel::processes::{Child, Image, find};
use crate::kernel::usage::{Charge, Resource};
use crate::kernel::{Errno, INIT, Kernel, Process as KernelProcess};
use crate::limits::Limits;
use crate::options::{Dispatch, Mode, ProcessOptions, RuntimeOptions, Streams};
use crate::outcome::{Outcome, Sink, Timings};
use crate::policy::PermissionPolicy;
use crate::program::{Beginning, Launch, Parts, Program, run};
use crate::sched::{Task, Timers};
use checks::{check_cwd, check_env, check_size, env_bytes, failed, lay_over};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Where programs start unless told otherwise.
const DEFAULT_CWD: &str = "/workspace";

/// One sandbox. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    core: Arc<Shared>,
    /// Names the runtime among all runtimes that this core had.
    ordinal: u64,
    env: Vec<(String, String)>,
    cwd: String,
    limits: Limits,
    /// Another one after a rollback.
    kernel: RwLock<Arc<Kernel>>,
    programs: Mutex<Programs>,
    /// Files and watches that the caller outside has open.
    opened: Mutex<opened::Table>,
    /// The snapshot that it came from, or last gave.
    ancestor: Mutex<Option<String>>,
    /// That of the snapshot that it came from.
    heir: Mutex<Option<Heir>>,
    _seat: Seat,
}

#[derive(Default)]
struct Programs {
    live: HashMap<u32, Arc<Program>>,
    disposed: bool,
}

impl Runtime {
    pub(crate) fn create(core: Arc<Shared>, options: RuntimeOptions) -> Result<Self, Error> {
        let seat = core.seat()?;
        let cwd = options.cwd.unwrap_or_else(|| DEFAULT_CWD.to_owned());
        check_cwd(&cwd)?;
        check_env(&options.env)?;
        options.limits.check(core.image_len())?;
        check_size("env", env_bytes(&options.env), options.limits.env_bytes)?;
        let kernel = Arc::new(Kernel::new(&options.limits));
        if options.permissions != PermissionPolicy::default() {
            kernel.permissions.set(&options.permissions)?;
        }
        if let Some(listener) = options.warnings {
            kernel.usage.warnings.listen(listener);
        }
        kernel.asks.store(!options.file_systems.is_empty(), Ordering::Relaxed);
        kernel.outside().furnish(&options.mounts, &options.file_systems, &options.files, &cwd)?;
        Ok(Self { inner: Inner::new(core, seat, kernel, options.env, cwd) })
    }

    #[cfg(test)]
    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Starts a program (or a resident runner). `sink` may be called before this returns when `dispatch` is inline.
    pub fn start(&self, options: ProcessOptions, sink: Arc<dyn Sink>, dispatch: Dispatch) -> Result<Process, Error> {
        let inner = &self.inner;
        let limits = inner.limits();
        let mut launch = inner.launch(&options)?;
        let kernel = inner.kernel();
        // A snapshot has the program whole or not at all.
        let pass = kernel.moment.pass();
        if options.stdin.len() as u64 > limits.stdin_bytes {
            return Err(Error::ResourceExhausted { resource: "stdin bytes of a process", limit: limits.stdin_bytes });
        }
        let memory = Charge::of(&kernel.usage, Resource::Memory, inner.image_len());
        let memory = memory
            .ok_or(Error::ResourceExhausted { resource: "memory bytes in the runtime", limit: limits.total_memory_bytes })?;
        if options.cwd.is_some() {
            // As for the runtime's own: a directory that is not there is made, and where it cannot be made, it is missing.
            let _ = kernel.outside().mkdir(&launch.cwd, true);
        }
        let pid = kernel
            .processes
            .enter_root()
            .map_err(|_| Error::ResourceExhausted { resource: "processes in the runtime", limit: limits.processes })?;
        let process = KernelProcess::new(kernel.clone(), pid, &launch.cwd);
        let title = match options.mode {
            Mode::File | Mode::Command => title(&launch.argv),
            _ => "node".to_owned(),
        };
        kernel.permissions.filter_env(Some(pid), &mut launch.env, None);
        let prepared = prepare(&process, &options, &mut launch);
        if let Err(error) = prepared {
            process.close();
            kernel.processes.remove(pid);
            return Err(failed(error, "spawn", &options.code));
        }
        let program = Program::new(Parts {
            command: title,
            ppid: INIT,
            mode: options.mode,
            streams: options.streams,
            stdin: if options.live { Vec::new() } else { options.stdin },
            scheduler: inner.core.scheduler().clone(),
            sink: sink.clone(),
            home: Arc::downgrade(inner),
            process,
        });
        let place = inner.enter(&program).inspect_err(|_| {
            program.process.close();
            kernel.processes.remove(pid);
        })?;
        drop(pass);
        if let Some(timeout) = options.timeout.or_else(|| inner.limits().wall().filter(|_| options.mode != Mode::Resident)) {
            program.end_after(timeout);
        }
        sink.started(pid);
        program.process.facts.tell(&launch.image, &launch.argv, &launch.env);
        inner.begin(&program, Beginning::Launch(launch, memory), place, dispatch);
        Ok(Process { program })
    }

    /// Ends all its processes. Later starts fail with `ERR_RUNTIME_DISPOSED`.
    pub fn dispose(&self) {
        self.inner.dispose();
    }
}

impl Inner {
    fn new(core: Arc<Shared>, seat: Seat, kernel: Arc<Kernel>, env: Vec<(String, String)>, cwd: String) -> Arc<Self> {
        let inner = Arc::new(Self {
            limits: kernel.usage.limits,
            env,
            cwd,
            kernel: RwLock::new(kernel),
            programs: Mutex::default(),
            opened: Mutex::default(),
            ancestor: Mutex::default(),
            heir: Mutex::default(),
            ordinal: core.next_ordinal(),
            core,
            _seat: seat,
        });
        inner.core.adopt(&inner);
        log::debug!(target: "runtime", "{} created", inner.ordinal);
        inner
    }

    /// Names the runtime among all runtimes that this core had.
    pub(crate) fn ordinal(&self) -> u64 {
        self.ordinal
    }

    /// Its kernel, until it is rolled back.
    pub(crate) fn kernel(&self) -> Arc<Kernel> {
        self.kernel.read().clone()
    }

    /// The programs that live.
    pub(crate) fn live(&self) -> Vec<Arc<Program>> {
        self.programs.lock().live.values().cloned().collect()
    }

    pub(crate) fn timers(&self) -> &Timers {
        self.core.scheduler().timers()
    }

    fn launch(&self, options: &ProcessOptions) -> Result<Launch, Error> {
        if let Some(cwd) = &options.cwd {
            check_cwd(cwd)?;
        }
        check_env(&options.env)?;
        let limits = self.limits();
        let arguments = options.args.iter().chain(&options.exec_argv);
        let argument_bytes: u64 = arguments.map(|argument| argument.len() as u64 + 1).sum();
        let too_long = |bytes, most| if bytes > most { Err(failed(Errno::E2BIG, "spawn", &options.code)) } else { Ok(()) };
        too_long(argument_bytes, limits.argv_bytes)?;
        let mut env = self.env.clone();
        lay_over(&mut env, &options.env);
        if !options.env.is_empty() {
            too_long(env_bytes(&env), limits.env_bytes)?;
        }
        let mut argv = Vec::with_capacity(1 + options.args.len());
        argv.push(if options.mode == Mode::Command { options.code.clone() } else { "node".to_owned() });
        if options.mode == Mode::File {
            argv.push(options.code.clone());
        }
        argv.extend(options.args.iter().cloned());
        let cwd = options.cwd.clone().unwrap_or_else(|| self.cwd.clone());
        Ok(Launch { image: Image::Node, code: options.code.clone(), argv, exec_argv: options.exec_argv.clone(), env, cwd })
    }

    /// Has a program that was entered take its first steps.
    fn begin(self: &Arc<Self>, program: &Arc<Program>, beginning: Beginning, place: Membership, dispatch: Dispatch) {
        let scheduler = self.core.scheduler();
        let life = run(program.clone(), self.core.clone(), beginning, place);
        let task = Task::new(program.clone(), Box::pin(life), scheduler);
        match dispatch {
            Dispatch::Worker => scheduler.enqueue(task),
            Dispatch::Inline(budget) => scheduler.run_inline(&task, budget),
        }
    }

    /// Makes a program of a child. Gives it back when the runtime has been disposed of.
    pub(crate) fn start_child(self: &Arc<Self>, child: Child) -> Result<(), Box<KernelProcess>> {
        let Child { process, parent: ppid, command, cwd, memory } = child;
        if self.programs.lock().disposed {
            return Err(Box::new(process));
        }
        // An empty path: the guest reads the command line itself.
        let launch = Launch::of(command, cwd);
        let program = Program::new(Parts {
            command: title(&launch.argv),
            ppid,
            mode: Mode::File,
            streams: Streams::default(),
            stdin: Vec::new(),
            scheduler: self.core.scheduler().clone(),
            sink: Arc::new(Nobody),
            home: Arc::downgrade(self),
            process,
        });
        let Ok(place) = self.enter(&program) else {
            // It was disposed of or rolled back meanwhile: the parent is ending too, and sees no error.
            program.process.close();
            program.process.kernel.processes.remove(program.pid);
            return Ok(());
        };
        program.process.facts.tell(&launch.image, &launch.argv, &launch.env);
        self.begin(&program, Beginning::Launch(launch, memory), place, Dispatch::Worker);
        Ok(())
    }

    pub(crate) fn dispose(&self) {
        self.end(&Error::RuntimeDisposed);
    }

    /// Ends all its processes for this reason; nothing is started any more.
    fn end(&self, reason: &Error) {
        log::debug!(target: "runtime", "{} ends: {}", self.ordinal, reason.code());
        let (live, kernel) = {
            let mut programs = self.programs.lock();
            programs.disposed = true;
            (programs.live.values().cloned().collect::<Vec<_>>(), self.kernel())
        };
        kernel.sockets.dismiss(reason);
        for program in live {
            program.end(reason.clone());
        }
        self.close_opened();
        *self.heir.lock() = None;
    }

    /// Entries of the process table, programs in it, and sockets.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        self.kernel().counts()
    }

    /// Calls of the caller outside under way, and their bytes.
    #[cfg(test)]
    pub(crate) fn asked(&self) -> (usize, usize) {
        self.kernel().host_calls.count()
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Bytes of memory that a program begins with.
    pub(crate) fn image_len(&self) -> u64 {
        self.core.image_len()
    }

    /// Bytes of output that wait for their readers.
    pub(crate) fn buffered(&self) -> u64 {
        self.programs.lock().live.values().map(|program| program.buffered()).sum()
    }
}

/// Hears of children: what they write goes to their descriptors, and their parents hear of their ends.
struct Nobody;

impl Sink for Nobody {
    fn output(&self, _eval: u32, _fd: u8, _data: Vec<u8>) {}
    fn evaluated(&self, _eval: u32, _outcome: Outcome) {}
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, _outcome: Outcome) {}
}

/// What a program needs before it is made: a pipe, the program behind a command.
fn prepare(process: &KernelProcess, options: &ProcessOptions, launch: &mut Launch) -> Result<(), Errno> {
    if options.live {
        process.open_feed(&options.stdin)?;
    }
    if options.mode == Mode::Command {
        let (argv, env) = (std::mem::take(&mut launch.argv), std::mem::take(&mut launch.env));
        let command = find(process, &options.code, argv, env)?;
        let cwd = std::mem::take(&mut launch.cwd);
        *launch = Launch::of(command, cwd);
    }
    Ok(())
}

/// A command line for those who look.
fn title(argv: &[String]) -> String {
    const LONGEST: usize = 1_000;
    argv.join(" ").chars().take(LONGEST).collect()
}
