//! The session: its tables, and the match from a message to its family.
//!
//! One thread owns the session: the sidecar's reading thread, or Node's. The module of a family
//! (`files.rs`, `programs.rs`, …) has one exhaustive match from its messages to calls of the core.
//! Requests that one call on a runtime answers go through [`Session::on_runtime`]. Requests that
//! are answered later begin with [`Session::begin`]. Sinks and session tasks answer these requests.
//!
//! The session's thread must not wait for a guest (`docs/internals/threads.md`), so each of its
//! functions is control work.
//!
//! Calls of the core are contained, on every thread: a panic of the core answers the request with
//! `ERR_INTERNAL` (`contained` and `contain` of the core). The code of this crate is not contained,
//! because its tables belong to all runtimes of the connection. Next: `owner_calls.rs`.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use coldframe_core::{ControlScope, Core, Dispatch, Error, Runtime, Store, without_guests};
use coldframe_ids::{ConnectionId, HostCallId, RequestId, RunnerId, RuntimeId};
use coldframe_panics::process::Mutex;
use coldframe_protocol::messages::{Fact, Failure, SidecarHello, VERSION, WallPart};
use coldframe_protocol::{Frame, Kind, Request};

use crate::convert;
use crate::message::{Message, Outlet};
use crate::owner_calls::{OwnerCalls, Turn};
use crate::owner_threads::OwnerThreads;
use crate::pause::{Paused, Pausing};
use crate::replies::{Replies, Reply};
use crate::runtimes::LiveRuntime;
use crate::sinks::Runners;
use crate::table::{ErrorContext, IdTable};
use crate::tasks::SessionTasks;

/// The largest number of live runtimes of a session.
pub const MAX_RUNTIMES: usize = 65_536;
/// The largest number of runners of a session. Paused runners, and ended runners that were not
/// disposed, count too.
const MAX_RUNNERS: usize = 65_536;

/// The number of programs of one batch that the session's thread makes. Making a program takes
/// tens of microseconds, and the next message waits.
const STARTS_AT_ONCE: u32 = 16;

/// The reason why a connection must end. The connection's last message has this reason.
pub type Violation = Failure<'static>;

/// Work that runs without the session: a call on a runtime, or a program for the inline budget.
pub type Job = Box<dyn FnOnce() + Send>;

/// The thread on which the shell runs the jobs of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobThread {
    /// A thread that may wait for a guest, because another thread handles messages meanwhile.
    MayWait,
    /// A thread that must not wait for a guest.
    Control,
}

/// The result of a message: a program to run on this thread, if any.
pub(crate) type Handled = Result<Option<Job>, Violation>;

/// One embedder's requests and the tables behind them.
pub struct Session {
    pub(crate) core: Core,
    pub(crate) store: Store,
    pub(crate) replies: Replies,
    pub(crate) tasks: SessionTasks,
    pub(crate) owner_threads: OwnerThreads,
    pub(crate) runtimes: IdTable<RuntimeId, LiveRuntime>,
    /// The table of runners, which jobs and sinks share.
    pub(crate) runners: Arc<Runners>,
    pub(crate) pausing: HashMap<RuntimeId, Pausing>,
    pub(crate) paused: HashMap<RuntimeId, Paused>,
    pub(crate) job_thread: JobThread,
    /// The number of programs that this thread has made since it last ran session tasks.
    starts: Cell<u32>,
    /// The time that a program may run on the session's thread. Zero means never.
    inline: Duration,
    greeted: bool,
}

/// The id of a frame. Its meaning depends on the message.
#[derive(Clone, Copy)]
pub(crate) struct FrameId(pub u32);

impl FrameId {
    /// Returns the id as a request's id. Fails if the id is 0.
    pub fn request(self) -> Result<RequestId, Violation> {
        RequestId::new(self.0).ok_or_else(|| convert::violation("id", "a request's id, which is not 0", self.0.to_string()))
    }

    /// Returns the id as the id of a connection or of a wait for a listener.
    pub fn connection(self) -> ConnectionId {
        ConnectionId::new(self.0)
    }

    /// Returns the id as a host call's id.
    pub fn host_call(self) -> HostCallId {
        HostCallId::new(self.0)
    }
}

impl Session {
    /// Opens a session. `inline` is the time that a program may run on the thread of the jobs.
    pub fn new(core: Core, store: Store, outlet: Arc<dyn Outlet>, inline: Duration, job_thread: JobThread) -> Self {
        let tasks = SessionTasks::new(Arc::clone(&outlet));
        Self {
            core,
            store,
            replies: Replies { outlet, requests: Arc::default() },
            tasks,
            owner_threads: OwnerThreads::default(),
            runtimes: IdTable::new("runtimes", MAX_RUNTIMES),
            runners: Arc::new(Mutex::new(IdTable::new("runners", MAX_RUNNERS))),
            pausing: HashMap::new(),
            paused: HashMap::new(),
            job_thread,
            starts: Cell::new(0),
            inline,
            greeted: false,
        }
    }

    /// Returns the session's first message. `walls` has the parts of the wall around this process.
    pub fn hello(&self, walls: Vec<WallPart<'_>>) -> Message {
        let (image, load_ns) = (self.core.image_id(), self.core.load_ns());
        let hello = SidecarHello { version: VERSION, pid: std::process::id(), image, load_ns, walls };
        Message::event(Kind::Hello, 0, &hello, 0)
    }

    /// Runs the session tasks that other threads have added.
    pub fn run_tasks(&mut self) {
        let _control = ControlScope::enter();
        self.starts.set(0);
        for task in self.tasks.take() {
            task(self);
        }
    }

    /// Handles a frame. `may_run_here` states that this thread has time to run a program. If so,
    /// the result may be a job, which the caller runs without the session.
    pub fn handle(&mut self, frame: &Frame<'_>, may_run_here: bool) -> Result<Option<Job>, Violation> {
        let _control = ControlScope::enter();
        self.check_greeting(frame)?;
        match Request::decode(frame) {
            Ok(Request::File(request)) => self.file(FrameId(frame.id).request()?, &request, Some(frame), may_run_here),
            Ok(request) => self.dispatch(FrameId(frame.id), request, may_run_here),
            Err(invalid) => self.refuse_malformed(frame, convert::invalid(invalid)),
        }
    }

    /// Handles a message that was not a frame, like [`Session::handle`].
    pub fn request<'a>(
        &mut self,
        id: RequestId,
        request: impl Into<Request<'a>>,
        may_run_here: bool,
    ) -> Result<Option<Job>, Violation> {
        let _control = ControlScope::enter();
        self.dispatch(FrameId(id.get()), request.into(), may_run_here)
    }

    /// Returns whether no request is in flight.
    pub fn is_idle(&self) -> bool {
        self.replies.requests.is_empty()
    }

    /// Returns whether the request is in flight.
    pub fn is_in_flight(&self, id: RequestId) -> bool {
        self.replies.requests.contains(id)
    }

    /// Ends all runtimes. The shell closes the outlet afterwards, so the embedder receives no reply
    /// for requests in flight.
    pub fn shut_down(&self) {
        self.core.shutdown();
    }

    fn dispatch(&mut self, id: FrameId, request: Request<'_>, may_run_here: bool) -> Handled {
        match request {
            Request::Process(request) => self.process(id.request()?, request, may_run_here),
            Request::Runner(request) => self.runner(id.request()?, request, may_run_here),
            Request::Runtime(request) => self.runtime(id.request()?, request, may_run_here),
            Request::Connection(request) => self.connection(id, request),
            Request::File(request) => self.file(id.request()?, &request, None, may_run_here),
            Request::Network(request) => self.network(id, request, may_run_here),
            Request::HostCall(request) => self.host_call(id, request, may_run_here),
            Request::Permission(request) => self.permission(id, request, may_run_here),
            Request::Snapshot(request) => self.snapshot(id.request()?, request, may_run_here),
            Request::Outside(request) => self.outside(id.request()?, request, may_run_here),
            Request::Secrets(request) => self.secrets(id.request()?, request, may_run_here),
        }
    }

    /// Checks that the first message, and no other message, is `hello`.
    fn check_greeting(&mut self, frame: &Frame<'_>) -> Result<(), Violation> {
        let is_hello = frame.kind == Kind::Hello.number();
        if is_hello == self.greeted {
            let (expected, received) =
                if is_hello { ("one", "two".to_owned()) } else { ("as the first message", format!("kind {}", frame.kind)) };
            return Err(convert::violation("hello", expected, received));
        }
        self.greeted = true;
        Ok(())
    }

    /// Answers a malformed request. Any other malformed message ends the connection.
    fn refuse_malformed(&self, frame: &Frame<'_>, failure: Failure<'static>) -> Handled {
        // Kinds below `ping` belong to the connection. A message of any other kind is answered like
        // a request unless the kind is a notice. Unknown kinds are also answered.
        let is_notice = Kind::of(frame.kind).is_some_and(|kind| kind.is_sent_by_sdk() && !kind.is_request());
        let has_reply = frame.kind >= Kind::Ping.number() && !is_notice;
        match RequestId::new(frame.id).filter(|_| has_reply) {
            Some(id) => {
                self.refuse(id, &failure);
                Ok(None)
            }
            None => Err(failure),
        }
    }

    /// Adds a request whose reply follows later. `runner` is set for an evaluation. Returns false
    /// if the request has been refused.
    pub(crate) fn begin(&self, id: RequestId, runner: Option<RunnerId>) -> Result<bool, Violation> {
        match self.replies.requests.begin(id, runner) {
            Ok(true) => Ok(true),
            Ok(false) => Err(convert::violation("id", "one that no request in flight has", id.to_string())),
            Err(error) => {
                self.refuse(id, &convert::failure(&error, ErrorContext::NONE));
                Ok(false)
            }
        }
    }

    /// Answers a request with the result of one call on a runtime. The call may wait for a guest,
    /// and runs after the earlier calls on the runtime.
    pub(crate) fn on_runtime(
        &self,
        id: RequestId,
        runtime: RuntimeId,
        may_run_here: bool,
        call: impl FnOnce(&Runtime, Reply) -> Result<Message, Error> + Send + 'static,
    ) -> Option<Job> {
        let Some(live) = self.open_runtime(runtime) else {
            self.refuse(id, &self.no_runtime(runtime));
            return None;
        };
        let (handle, outlet) = (live.runtime.clone(), Arc::clone(&self.replies.outlet));
        let call = Box::new(move || outlet.send(answer(id, runtime, handle.contain(|handle| call(handle, Reply(id))))));
        self.call(live, &live.calls, may_run_here, call)
    }

    /// Runs a call on a runtime, which may wait for a guest, after the earlier calls of `order`.
    /// Returns a job if the call runs on the thread of the jobs.
    pub(crate) fn call(&self, live: &LiveRuntime, order: &OwnerCalls, may_run_here: bool, call: Job) -> Option<Job> {
        let may_run_here = may_run_here && self.job_thread == JobThread::MayWait;
        if may_run_here || live.may_wait_for_guests() {
            return order.add(&self.owner_threads, may_run_here, call);
        }
        without_guests(call);
        None
    }

    /// Makes a program after the earlier calls on its runtime. Passes the program to the workers,
    /// or returns a job that makes and runs the program. `start` drops the turn when later calls
    /// may run.
    pub(crate) fn start(
        &self,
        live: &LiveRuntime,
        may_run_here: bool,
        start: impl FnOnce(Dispatch, Option<Turn>) + Send + 'static,
    ) -> Option<Job> {
        let has_guests = live.may_wait_for_guests();
        let may_run_here = may_run_here && (self.job_thread == JobThread::MayWait || !has_guests);
        if may_run_here && let Some(turn) = live.calls.begin(&self.owner_threads) {
            let dispatch = if self.inline.is_zero() { Dispatch::Worker } else { Dispatch::Inline(self.inline) };
            return Some(Box::new(move || start(dispatch, Some(turn))));
        }
        if !has_guests && self.starts.get() < STARTS_AT_ONCE {
            self.starts.set(self.starts.get() + 1);
            without_guests(|| start(Dispatch::Worker, None));
            return None;
        }
        live.calls.add(&self.owner_threads, false, Box::new(move || start(Dispatch::Worker, None)))
    }

    /// Evaluates a snippet after the earlier calls on its runtime. Returns a job if the snippet
    /// runs on the thread of the jobs.
    pub(crate) fn start_evaluation(
        &self,
        runtime: RuntimeId,
        may_run_here: bool,
        start: impl FnOnce(Dispatch) + Send + 'static,
    ) -> Option<Job> {
        if let Some(live) = self.runtimes.get(runtime).filter(|live| live.calls.are_under_way()) {
            return live.calls.add(&self.owner_threads, false, Box::new(move || start(Dispatch::Worker)));
        }
        if may_run_here && !self.inline.is_zero() {
            let inline = Dispatch::Inline(self.inline);
            return Some(Box::new(move || start(inline)));
        }
        start(Dispatch::Worker);
        None
    }

    /// Sends a message.
    pub(crate) fn send(&self, message: Message) {
        self.replies.outlet.send(message);
    }

    /// Answers a request with a failure. The request has not begun.
    pub(crate) fn refuse(&self, id: RequestId, failure: &Failure<'_>) {
        self.send(Message::failed(id, failure));
    }

    /// Returns the failure of a request whose runtime is not live.
    pub(crate) fn no_runtime(&self, id: RuntimeId) -> Failure<'static> {
        let context = ErrorContext::runtime(id);
        if self.is_paused(id) {
            return convert::failure(&Error::RuntimePaused, context);
        }
        if self.runtimes.has_existed(id) {
            return convert::failure(&Error::RuntimeDisposed, context);
        }
        let message = format!("there is no runtime with the number {id}");
        convert::own_failure("ERR_RUNTIME_NOT_FOUND", message, vec![("runtime", Fact::Number(id.get().into()))])
    }

    /// Returns the failure of a request whose runner is not live.
    pub(crate) fn no_runner(&self, id: RunnerId) -> Failure<'static> {
        if let Some(runtime) = self.paused_with(id) {
            return convert::failure(&Error::RuntimePaused, ErrorContext::runtime(runtime));
        }
        if self.runners.lock().has_existed(id) {
            let exited = Error::RunnerExited { exit_code: Error::Canceled.exit_code() };
            return convert::failure(&exited, ErrorContext::runner(id));
        }
        convert::violation("runner", "the number of a runner of this connection", id.to_string())
    }
}

/// Makes the reply or the failure of a request about a runtime.
pub(crate) fn answer(id: RequestId, runtime: RuntimeId, result: Result<Message, Error>) -> Message {
    result.unwrap_or_else(|error| Message::failed(id, &convert::failure(&error, ErrorContext::runtime(runtime))))
}

impl From<Violation> for Message {
    fn from(violation: Violation) -> Self {
        Self::Frame { request: None, is_reply: false, bytes: convert::connection_error(&violation) }
    }
}
