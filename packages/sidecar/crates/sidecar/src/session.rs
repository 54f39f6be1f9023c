//! One connection: maps each message to a call of the core and answers what can be answered at once.
//!
//! Only the reading thread is in here. Programs are answered by [`crate::sinks`]; what begins one is a [`Job`], which either hands it to a
//! worker at once or, for a request that came alone, is given back to be run without the session's lock.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use coldframe_core::{Core, Dispatch, Error, Mode, ProcessOptions, Runtime, RuntimeOptions, Store, Streams};
use coldframe_protocol::messages::*;
use coldframe_protocol::{Frame, Request};
use parking_lot::Mutex;
use serde::Serialize;

use crate::casting::{Runners, Waiting};
use crate::files;
use crate::host;
use crate::limits;
use crate::network;
use crate::notes::Notes;
use crate::opened;
use crate::outgoing::Outgoing;
use crate::permissions;
use crate::processes;
use crate::sinks::{Answers, Program, Runner};
use crate::sleep::{Asleep, Falling};
use crate::snapshots::DEFAULT_TENANT;
use crate::table::{Place, Table};
use crate::wire;

pub const MAX_RUNTIMES: usize = 65_536;
const MAX_RUNNERS: usize = 65_536;

/// See the module.
pub struct Session {
    pub(crate) core: Core,
    pub(crate) answers: Answers,
    inline: Duration,
    greeted: bool,
    pub(crate) runtimes: Table<Live>,
    /// Shared with jobs. `None`: being created, or asleep.
    pub(crate) runners: Arc<Runners>,
    pub(crate) store: Store,
    pub(crate) notes: Notes,
    /// Runtimes on their way to sleep, by their numbers.
    pub(crate) falling: HashMap<u32, Falling>,
    /// Runtimes that sleep on disk.
    pub(crate) asleep: HashMap<u32, Asleep>,
}

/// A runtime of the connection.
pub(crate) struct Live {
    pub runtime: Runtime,
    /// Numbers of the runners that were made in it and not disposed.
    pub runners: Vec<u32>,
    /// Whose it is; none: the default tenant's.
    pub tenant: Option<Arc<str>>,
    /// Programs that came with a snapshot, and that nobody hears yet.
    pub waiting: Option<Box<Waiting>>,
}

impl Live {
    /// Whose it is.
    pub fn tenant(&self) -> &str {
        self.tenant.as_deref().unwrap_or(DEFAULT_TENANT)
    }
}

/// Why the connection cannot go on: its last message.
pub type Violation = Failure<'static>;

/// Runs a program on the thread that calls it, for the inline budget; the rest of it runs on a worker.
pub type Job = Box<dyn FnOnce() + Send>;

/// What a message may lead to.
type Handled = Result<Option<Job>, Violation>;

impl Session {
    /// A connection whose `hello` has been sent. `inline` is how long a lone request may run on this thread.
    pub fn new(core: Core, store: Store, outgoing: Arc<Outgoing>, inline: Duration) -> Self {
        let notes = Notes::new(Arc::clone(&outgoing));
        let answers = Answers { outgoing, requests: Arc::default() };
        let (runtimes, runners) =
            (Table::new("runtimes", MAX_RUNTIMES), Arc::new(Mutex::new(Table::new("runners", MAX_RUNNERS))));
        Self {
            core,
            answers,
            inline,
            greeted: false,
            runtimes,
            runners,
            store,
            notes,
            falling: HashMap::new(),
            asleep: HashMap::new(),
        }
    }

    /// Does what other threads have left to be done.
    pub fn take_notes(&mut self) {
        for note in self.notes.take() {
            note(self);
        }
    }

    /// Handles one frame. `alone`: nothing else waits to be handled, so that the thread has time to run the program itself.
    pub fn handle(&mut self, frame: &Frame<'_>, alone: bool) -> Handled {
        let id = frame.id;
        let hello = frame.kind == Kind::Hello as u8;
        if hello == self.greeted {
            let (expected, received) =
                if hello { ("one", "two".to_owned()) } else { ("as the first message", format!("kind {}", frame.kind)) };
            return Err(wire::violation("hello", expected, received));
        }
        let belongs_to_request = Kind::is_request(frame.kind);
        let request = match Request::decode(frame) {
            Ok(request) => request,
            Err(invalid) if belongs_to_request && id != 0 => {
                self.answers.outgoing.push(wire::error(id, &wire::invalid(invalid)));
                return Ok(None);
            }
            Err(invalid) => return Err(wire::invalid(invalid)),
        };
        if belongs_to_request && id == 0 {
            return Err(wire::violation("id", "a request's id, which is not 0", "0".to_owned()));
        }
        match request {
            Request::Hello(hello) => self.greet(&hello)?,
            Request::Credit(credit) => self.answers.requests.credit(id, credit.bytes),
            Request::Cancel => self.answers.requests.cancel(id),
            Request::Ping => self.reply(id, &Empty {}),
            Request::RuntimeCreate(create) if create.snapshot.is_some() => self.restore_runtime(id, create)?,
            Request::RuntimeCreate(create) => self.create_runtime(id, create),
            Request::RuntimeDispose(dispose) => self.dispose_runtime(id, dispose.runtime),
            Request::ProcessStart(start) => return self.start_process(id, start, alone),
            Request::RunnerCreate(create) => return self.create_runner(id, create, alone),
            Request::RunnerEval(eval) => return self.evaluate(id, eval, alone),
            Request::RunnerDispose(dispose) => self.dispose_runner(id, dispose.runner),
            Request::Resources => self.count(id),
            Request::HostResult(result) => {
                // Of a runtime that is gone: its calls went with it.
                if let Some(runtime) = self.still_awake(result.runtime) {
                    host::answer(id, result, runtime);
                }
            }
            Request::BindingsSet(set) => self.set_bindings(id, set),
            Request::FileChanges(changes) => self.wait_for_changes(id, &changes)?,
            Request::PermissionsSet(set) => self.of_runtime(id, set.runtime, |runtime, _| permissions::set(&set, runtime)),
            Request::PermissionsWatch(watch) => {
                self.of_runtime(id, watch.runtime, |runtime, outgoing| {
                    permissions::watch(watch, runtime, outgoing);
                    Ok(())
                });
            }
            Request::PermissionsTaken(taken) => {
                if let Some(runtime) = self.still_awake(taken.runtime) {
                    permissions::send(taken.runtime, &runtime.permissions().take(permissions::MOST), &self.answers.outgoing);
                }
            }
            request => self.about_snapshots(id, request)?,
        }
        Ok(None)
    }

    /// Whether no request waits for its answer.
    pub fn is_idle(&self) -> bool {
        self.answers.requests.is_empty()
    }

    fn greet(&mut self, hello: &SdkHello<'_>) -> Result<(), Violation> {
        self.greeted = true;
        if hello.version == VERSION {
            return Ok(());
        }
        let sdk: String = hello.version.chars().take(60).collect();
        let message =
            format!("the SDK is version {sdk} and the sidecar is version {VERSION}: they must be equal, install both anew");
        let facts = vec![("sdk", Fact::Text(sdk)), ("sidecar", Fact::Text(VERSION.to_owned()))];
        Err(wire::own_failure("ERR_VERSION_MISMATCH", message, facts))
    }

    fn create_runtime(&mut self, id: u32, create: RuntimeCreate<'_>) {
        let begin = Instant::now();
        let limits = match limits::build(create.profile, create.limits) {
            Ok(limits) => limits,
            Err(error) => return self.refuse(id, &wire::failure(&error, None)),
        };
        let told = Arc::new(OnceLock::new());
        let warnings = (create.warn == Some(true)).then(|| limits::listener(&self.answers.outgoing, &told));
        let (mounts, file_systems) = files::mounts(create.mounts.unwrap_or_default());
        let options = RuntimeOptions {
            env: wire::pairs(create.env),
            cwd: create.cwd.map(str::to_owned),
            limits,
            files: create.files.unwrap_or_default().0.into_iter().map(|(path, data)| (path.to_owned(), data.to_vec())).collect(),
            mounts,
            file_systems,
            permissions: create.permissions.as_ref().map(permissions::policy).unwrap_or_default(),
            warnings,
        };
        let bindings = create.bindings.map(host::bindings);
        let created = self.runtimes.check_room().and_then(|()| self.core.create_runtime(options));
        match created.and_then(|it| bindings.map_or(Ok(()), |all| it.set_bindings(all)).map(|()| it)) {
            Ok(runtime) => {
                let number = self.runtimes.reserve();
                runtime.attach(Arc::new(host::Asking { runtime: number, outgoing: Arc::clone(&self.answers.outgoing) }));
                let _ = told.set(number);
                let tenant = create.tenant.map(Arc::from);
                self.runtimes.put(number, Live { runtime, runners: Vec::new(), tenant, waiting: None });
                let configure_ns = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
                self.reply(id, &RuntimeCreated { runtime: number, configure_ns, restored: None });
            }
            Err(error) => self.refuse(id, &wire::failure(&error, None)),
        }
    }

    fn set_bindings(&self, id: u32, set: BindingsSet<'_>) {
        let number = set.runtime;
        match self.runtimes.get(number).map(|live| host::set_bindings(set, &live.runtime)) {
            Some(Ok(())) => self.reply(id, &Empty {}),
            Some(Err(error)) => self.refuse(id, &wire::failure(&error, None)),
            None => self.refuse(id, &self.no_runtime(number)),
        }
    }

    fn dispose_runtime(&mut self, id: u32, number: u32) {
        let falling = self.falling.remove(&number).map(|falling| falling.live);
        match falling.or_else(|| self.runtimes.remove(number)) {
            Some(live) => {
                for runner in live.runners {
                    self.runners.lock().remove(runner);
                }
                live.runtime.dispose();
                self.reply(id, &Empty {});
            }
            None if self.dispose_asleep(number) => self.reply(id, &Empty {}),
            None => self.refuse(id, &self.no_runtime(number)),
        }
    }

    /// Messages about a runtime's connections; see [`network`]. Those that are not answered and name a runtime that is gone crossed its end; those about
    /// one on its way to sleep are about what will be told to have ended, or go on.
    fn connect(&self, id: u32, request: &Request<'_>, number: u32) {
        let runtime = match network::is_answered(request) {
            true => self.runtimes.get(number).map(|live| &live.runtime),
            false => self.still_awake(number),
        };
        let answer = match runtime {
            Some(runtime) => network::answer(id, request, runtime),
            None => network::is_answered(request).then(|| wire::error(id, &self.no_runtime(number))),
        };
        if let Some(answer) = answer {
            self.answers.outgoing.push(answer);
        }
    }

    /// Requests about a runtime's files or processes; see [`files`] and [`processes`].
    pub(crate) fn inside(&self, id: u32, request: &Request<'_>) {
        if let Some(number) = network::runtime(request) {
            return self.connect(id, request, number);
        }
        let (number, about_files) = match (files::runtime(request), processes::runtime(request), request) {
            (Some(number), ..) => (number, true),
            (None, Some(number), _) => (number, false),
            (None, None, Request::RuntimeResources(about)) => (about.runtime, false),
            (None, None, _) => return,
        };
        let answer = match self.runtimes.get(number) {
            Some(live) if limits::is_about(request) => limits::answer(id, &live.runtime),
            Some(live) if about_files => files::answer(id, request, &live.runtime),
            Some(live) => processes::answer(id, request, &live.runtime),
            None => wire::error(id, &self.no_runtime(number)),
        };
        self.answers.outgoing.push(answer);
    }

    fn wait_for_changes(&self, id: u32, changes: &FileChanges) -> Result<(), Violation> {
        let number = changes.runtime;
        match self.runtimes.get(number) {
            Some(live) if self.begin(id, 0)? => {
                let place = Place { runtime: number, runner: 0 };
                opened::wait_for_changes(id, place, changes.handle, &live.runtime, &self.answers);
            }
            Some(_) => {}
            None => self.refuse(id, &self.no_runtime(number)),
        }
        Ok(())
    }

    /// A request that one call on a runtime answers.
    fn of_runtime(&self, id: u32, number: u32, call: impl FnOnce(&Runtime, &Arc<Outgoing>) -> Result<(), Error>) {
        let Some(live) = self.runtimes.get(number) else { return self.refuse(id, &self.no_runtime(number)) };
        match call(&live.runtime, &self.answers.outgoing) {
            Ok(()) => self.reply(id, &Empty {}),
            Err(error) => self.refuse(id, &wire::failure(&error, None)),
        }
    }

    fn start_process(&mut self, id: u32, start: ProcessStart<'_>, alone: bool) -> Handled {
        let number = start.runtime;
        let Some(live) = self.runtimes.get(number) else {
            self.refuse(id, &self.no_runtime(number));
            return Ok(None);
        };
        let runtime = live.runtime.clone();
        if !self.begin(id, 0)? {
            return Ok(None);
        }
        let options = ProcessOptions {
            mode: wire::mode(start.mode),
            code: start.code.to_owned(),
            args: start.args.unwrap_or_default().into_iter().map(str::to_owned).collect(),
            exec_argv: start.exec_argv.unwrap_or_default().into_iter().map(str::to_owned).collect(),
            env: wire::pairs(start.env),
            cwd: start.cwd.map(str::to_owned),
            stdin: start.stdin.unwrap_or_default().to_vec(),
            timeout: start.timeout_ms.map(Duration::from_millis),
            streams: wire::streams(start.stream),
            live: start.live.unwrap_or(false),
        };
        let place = Place { runtime: number, runner: 0 };
        let answers = self.answers.clone();
        let live = options.live;
        let sink = Arc::new(Program { id, place, live, answers: answers.clone() });
        Ok(self.run(alone && !live, move |dispatch| match runtime.start(options, sink, dispatch) {
            Ok(process) => answers.requests.attach(id, process),
            Err(error) => answers.fail(id, &error, place),
        }))
    }

    fn create_runner(&mut self, id: u32, create: RunnerCreate<'_>, alone: bool) -> Handled {
        if let Err(error) = self.runners.lock().check_room() {
            self.refuse(id, &wire::failure(&error, None));
            return Ok(None);
        }
        let number = create.runtime;
        if self.runtimes.get(number).is_none() {
            self.refuse(id, &self.no_runtime(number));
            return Ok(None);
        }
        if !self.begin(id, 0)? {
            return Ok(None);
        }
        let Some(live) = self.runtimes.get_mut(number) else { return Ok(None) };
        let runners = Arc::clone(&self.runners);
        let runner = {
            let mut runners = runners.lock();
            let runner = runners.reserve();
            runners.put(runner, None);
            runners.tidy(&mut live.runners);
            runner
        };
        live.runners.push(runner);
        let runtime = live.runtime.clone();
        let options = ProcessOptions {
            mode: Mode::Resident,
            code: String::new(),
            args: Vec::new(),
            exec_argv: Vec::new(),
            env: wire::pairs(create.env),
            cwd: create.cwd.map(str::to_owned),
            stdin: Vec::new(),
            timeout: None,
            streams: Streams::default(),
            live: false,
        };
        let place = Place { runtime: number, runner };
        let answers = self.answers.clone();
        let sink = Arc::new(Runner::new(id, place, 0, answers.clone()));
        Ok(self.run(alone, move |dispatch| match runtime.start(options, sink.clone(), dispatch) {
            Ok(process) => {
                // Gone from the table: its runtime was disposed meanwhile, and with it the process.
                if let Some(entry) = runners.lock().get_mut(runner) {
                    *entry = Some(process.clone());
                }
                answers.requests.attach(id, process);
                sink.entered();
            }
            Err(error) => {
                runners.lock().remove(runner);
                answers.fail(id, &error, place);
            }
        }))
    }

    fn evaluate(&mut self, id: u32, eval: RunnerEval<'_>, alone: bool) -> Handled {
        let number = eval.runner;
        let process = self.runners.lock().get(number).cloned().flatten();
        let Some(process) = process else {
            self.refuse(id, &self.no_runner(number));
            return Ok(None);
        };
        if !self.begin(id, number)? {
            return Ok(None);
        }
        let answers = self.answers.clone();
        answers.requests.attach(id, process.clone());
        let (code, streams) = (eval.code.to_owned(), wire::streams(eval.stream));
        let timeout = eval.timeout_ms.map(Duration::from_millis);
        Ok(self.run(alone, move |dispatch| {
            if let Err(error) = process.evaluate(id, code, timeout, streams, dispatch) {
                answers.fail(id, &error, Place { runtime: 0, runner: number });
            }
        }))
    }

    /// Hands a program to the workers, or gives it back to be run on this thread.
    fn run(&self, alone: bool, begin: impl FnOnce(Dispatch) + Send + 'static) -> Option<Job> {
        if alone && !self.inline.is_zero() {
            let inline = Dispatch::Inline(self.inline);
            return Some(Box::new(move || begin(inline)));
        }
        begin(Dispatch::Worker);
        None
    }

    fn dispose_runner(&mut self, id: u32, number: u32) {
        let runner = self.runners.lock().remove(number);
        match runner {
            Some(process) => {
                if let Some(process) = process {
                    process.cancel();
                }
                self.reply(id, &Empty {});
            }
            None => self.refuse(id, &self.no_runner(number)),
        }
    }

    fn count(&self, id: u32) {
        let all = self.core.resources();
        let body = Resources {
            runtimes: all.runtimes,
            processes: all.processes,
            warm_slots: all.warm_slots,
            memory_bytes: all.memory_bytes,
            buffered_bytes: all.buffered_bytes + self.answers.outgoing.waiting(),
        };
        self.reply(id, &body);
    }

    /// Takes a request in whose answer comes later; `runner` is that of an evaluation, else 0. False: it has been refused.
    pub(crate) fn begin(&self, id: u32, runner: u32) -> Result<bool, Violation> {
        match self.answers.requests.begin(id, runner) {
            Ok(true) => Ok(true),
            Ok(false) => Err(wire::violation("id", "one that no request in flight has", id.to_string())),
            Err(error) => {
                self.refuse(id, &wire::failure(&error, None));
                Ok(false)
            }
        }
    }

    pub(crate) fn reply<T: Serialize>(&self, id: u32, body: &T) {
        self.answers.outgoing.push(wire::frame(Kind::Reply, id, body, 64));
    }

    pub(crate) fn refuse(&self, id: u32, failure: &Failure<'_>) {
        self.answers.outgoing.push(wire::error(id, failure));
    }

    pub(crate) fn no_runtime(&self, number: u32) -> Failure<'static> {
        if self.is_paused(number) {
            return wire::failure(&Error::RuntimePaused, Some(("runtime", number)));
        }
        if self.runtimes.has_been(number) {
            return wire::failure(&Error::RuntimeDisposed, Some(("runtime", number)));
        }
        let message = format!("there is no runtime with the number {number}");
        wire::own_failure("ERR_RUNTIME_NOT_FOUND", message, vec![("runtime", Fact::Number(number.into()))])
    }

    fn no_runner(&self, number: u32) -> Failure<'static> {
        if let Some(runtime) = self.paused_with(number) {
            return wire::failure(&Error::RuntimePaused, Some(("runtime", runtime)));
        }
        if self.runners.lock().has_been(number) {
            return wire::failure(&Error::RunnerExited { exit_code: Error::Canceled.exit_code() }, Some(("runner", number)));
        }
        wire::violation("runner", "the number of a runner of this connection", number.to_string())
    }
}
