//! A runtime: one sandbox. Its options, its walls and the programs that run in it.
//!
//! It is plain data until something runs: making one maps and starts nothing. Next: `runtime/`, other faces of it.

mod files;
mod host;
mod network;
mod opened;
mod permissions;
mod processes;
mod usage;

pub use files::Files;
pub use network::Network;
pub use opened::ArchiveUse;
pub use permissions::Permissions;
pub use processes::Processes;

use crate::core::Shared;
use crate::error::Error;
use crate::kernel::processes::{Child, Image, find};
use crate::kernel::usage::{Charge, Resource};
use crate::kernel::{Errno, INIT, Kernel, Process as KernelProcess};
use crate::limits::Limits;
use crate::options::{Dispatch, Mode, ProcessOptions, RuntimeOptions, Streams};
use crate::outcome::{Outcome, Sink, Timings};
use crate::policy::PermissionPolicy;
use crate::program::{Launch, Parts, Program, run};
use crate::sched::Task;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Where programs start unless told otherwise.
const DEFAULT_CWD: &str = "/workspace";

/// One sandbox. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    core: Arc<Shared>,
    env: Vec<(String, String)>,
    cwd: String,
    kernel: Arc<Kernel>,
    programs: Mutex<Programs>,
    /// Files and watches that the caller outside has open.
    opened: Mutex<opened::Table>,
}

#[derive(Default)]
struct Programs {
    live: HashMap<u32, Arc<Program>>,
    disposed: bool,
}

/// One guest program. Cheap to clone; dropping all clones does not end it.
#[derive(Clone)]
pub struct Process {
    program: Arc<Program>,
}

impl Runtime {
    pub(crate) fn create(core: Arc<Shared>, options: RuntimeOptions) -> Result<Self, Error> {
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
        let (programs, opened) = (Mutex::default(), Mutex::default());
        let inner = Inner { core, env: options.env, cwd, kernel, programs, opened };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Starts a program (or a resident runner). `sink` may be called before this returns when `dispatch` is inline.
    pub fn start(&self, options: ProcessOptions, sink: Arc<dyn Sink>, dispatch: Dispatch) -> Result<Process, Error> {
        let inner = &self.inner;
        let limits = inner.limits();
        let mut launch = inner.launch(&options)?;
        if options.stdin.len() as u64 > limits.stdin_bytes {
            return Err(Error::ResourceExhausted { resource: "stdin bytes of a process", limit: limits.stdin_bytes });
        }
        let memory = Charge::of(&inner.kernel.usage, Resource::Memory, inner.image_len());
        let memory = memory
            .ok_or(Error::ResourceExhausted { resource: "memory bytes in the runtime", limit: limits.total_memory_bytes })?;
        if options.cwd.is_some() {
            // As for the runtime's own: a directory that is not there is made, and where it cannot be made, it is missing.
            let _ = inner.kernel.outside().mkdir(&launch.cwd, true);
        }
        let pid = inner
            .kernel
            .processes
            .enter_root()
            .map_err(|_| Error::ResourceExhausted { resource: "processes in the runtime", limit: limits.processes })?;
        let process = KernelProcess::new(inner.kernel.clone(), pid, &launch.cwd);
        let title = match options.mode {
            Mode::File | Mode::Command => title(&launch.argv),
            _ => "node".to_owned(),
        };
        inner.kernel.permissions.filter_env(Some(pid), &mut launch.env, None);
        let prepared = prepare(&process, &options, &mut launch);
        if let Err(error) = prepared {
            process.close();
            inner.kernel.processes.remove(pid);
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
        if inner.enter(&program).is_err() {
            program.process.close();
            inner.kernel.processes.remove(pid);
            return Err(Error::RuntimeDisposed);
        }
        if let Some(timeout) = options.timeout.or_else(|| inner.wall().filter(|_| options.mode != Mode::Resident)) {
            program.end_after(timeout);
        }
        sink.started(pid);
        inner.begin(&program, launch, memory, dispatch);
        Ok(Process { program })
    }

    /// Ends all its processes. Later starts fail with `ERR_RUNTIME_DISPOSED`.
    pub fn dispose(&self) {
        self.inner.dispose();
    }
}

impl Inner {
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
        for (key, value) in &options.env {
            match env.iter_mut().find(|(known, _)| known == key) {
                Some((_, known)) => known.clone_from(value),
                None => env.push((key.clone(), value.clone())),
            }
        }
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

    fn enter(&self, program: &Arc<Program>) -> Result<(), Error> {
        let mut programs = self.programs.lock();
        if programs.disposed {
            return Err(Error::RuntimeDisposed);
        }
        programs.live.insert(program.pid, program.clone());
        self.kernel.processes.register(program);
        self.core.program_began();
        Ok(())
    }

    /// Has a program that was entered take its first steps.
    fn begin(self: &Arc<Self>, program: &Arc<Program>, launch: Launch, memory: Charge, dispatch: Dispatch) {
        let scheduler = self.core.scheduler();
        let done = {
            let (inner, pid) = (self.clone(), program.pid);
            move || inner.leave(pid)
        };
        program.process.facts.tell(&launch.image, &launch.argv, &launch.env);
        let life = run(program.clone(), self.core.clone(), launch, memory, done);
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
        if self.enter(&program).is_err() {
            // It was disposed of meanwhile: the parent is ending too, and sees no error.
            program.process.close();
            self.kernel.processes.remove(program.pid);
            return Ok(());
        }
        self.begin(&program, launch, memory, Dispatch::Worker);
        Ok(())
    }

    fn leave(&self, pid: u32) {
        let gone = self.programs.lock().live.remove(&pid);
        if gone.is_some() {
            self.core.program_ended();
        }
    }

    pub(crate) fn dispose(&self) {
        let live: Vec<_> = {
            let mut programs = self.programs.lock();
            programs.disposed = true;
            programs.live.values().cloned().collect()
        };
        self.kernel.sockets.dismiss(&Error::RuntimeDisposed);
        for program in live {
            program.end(Error::RuntimeDisposed);
        }
        self.close_opened();
    }

    /// Entries of the process table, programs in it, and sockets.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        self.kernel.counts()
    }

    /// Calls of the caller outside under way, and their bytes.
    #[cfg(test)]
    pub(crate) fn asked(&self) -> (usize, usize) {
        self.kernel.host_calls.count()
    }

    fn limits(&self) -> &Limits {
        &self.kernel.usage.limits
    }

    /// How long a program may take that was given no timeout.
    fn wall(&self) -> Option<Duration> {
        let wall_ms = self.limits().wall_ms;
        (wall_ms > 0).then(|| Duration::from_millis(wall_ms))
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

impl Drop for Inner {
    fn drop(&mut self) {
        self.core.runtime_gone();
    }
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

fn failed(errno: Errno, call: &'static str, path: &str) -> Error {
    Error::File { errno: errno.name(), reason: errno.message().to_owned(), call, path: shorten(path) }
}

impl Process {
    /// Its number in the runtime.
    pub fn pid(&self) -> u32 {
        self.program.pid
    }

    /// Evaluates a snippet in a resident process; evaluations run one after the other. `eval` is the caller's number for it,
    /// not 0. Fails at once with `ERR_RUNNER_EXITED` when the process has ended.
    pub fn evaluate(
        &self,
        eval: u32,
        code: String,
        timeout: Option<Duration>,
        streams: Streams,
        dispatch: Dispatch,
    ) -> Result<(), Error> {
        if eval == 0 || self.program.mode() != Mode::Resident {
            return Err(invalid("eval", "a number other than 0, in a resident process".to_owned(), eval.to_string()));
        }
        let timeout = timeout.or_else(|| self.program.home().and_then(|home| home.wall()));
        let request = crate::program::Request { id: eval, code, timeout, streams };
        let Some(waker) = self.program.evaluate(request)? else { return Ok(()) };
        match (dispatch, self.program.task()) {
            (Dispatch::Inline(budget), Some(task)) => task.wake_inline(budget),
            _ => waker.wake(),
        }
        Ok(())
    }

    /// Ends the program (`ERR_CANCELED`), within 50 ms whatever it does.
    pub fn cancel(&self) {
        self.program.end(Error::Canceled);
    }

    /// Ends one evaluation of a resident process, or takes it out of the queue.
    pub fn cancel_evaluation(&self, eval: u32) {
        self.program.cancel_evaluation(eval);
    }

    /// The reader has consumed `bytes` of streamed output.
    pub fn credit(&self, bytes: u64) {
        self.program.credit(bytes);
    }
}

fn invalid(what: &str, expected: String, received: String) -> Error {
    Error::InvalidRequest { what: what.to_owned(), expected, received }
}

fn check_cwd(cwd: &str) -> Result<(), Error> {
    if cwd.starts_with('/') && !cwd.contains('\0') && cwd.len() < 4_096 {
        return Ok(());
    }
    Err(invalid("cwd", "an absolute guest path of less than 4,096 bytes".to_owned(), format!("{:?}", shorten(cwd))))
}

fn check_env(env: &[(String, String)]) -> Result<(), Error> {
    let wrong = env.iter().find(|(key, value)| key.is_empty() || key.contains(['=', '\0']) || value.contains('\0'));
    if let Some((key, _)) = wrong {
        return Err(invalid(
            "env",
            "names without '=' and NUL that are not empty, values without NUL".to_owned(),
            format!("the entry {:?}", shorten(key)),
        ));
    }
    Ok(())
}

/// Bytes of an environment, as a program has it.
fn env_bytes(env: &[(String, String)]) -> u64 {
    env.iter().map(|(key, value)| (key.len() + value.len() + 2) as u64).sum()
}

fn check_size(what: &str, bytes: u64, most: u64) -> Result<(), Error> {
    if bytes > most { Err(invalid(what, format!("at most {most} bytes"), format!("{bytes} bytes"))) } else { Ok(()) }
}

fn shorten(text: &str) -> String {
    text.chars().take(100).collect()
}
