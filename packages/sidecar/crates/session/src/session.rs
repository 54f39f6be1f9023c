//! The session: its tables, and the match from a message to its family.
//!
//! One thread owns the session: the sidecar's reading thread, or Node's. The module of a family
//! (`files.rs`, `programs.rs`, …) has one exhaustive match from its messages to calls of the core.
//! Requests that are answered at once go through [`Session::on_runtime`]. Requests that are
//! answered later begin with [`Session::begin`]. Sinks and session tasks answer these requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use coldframe_core::{Core, Dispatch, Error, Process, Runtime, Store};
use coldframe_ids::{ConnectionId, HostCallId, RequestId, RunnerId, RuntimeId};
use coldframe_protocol::messages::{Fact, Failure, SidecarHello, VERSION, WallPart};
use coldframe_protocol::{Frame, Kind, Request};
use parking_lot::Mutex;

use crate::convert;
use crate::message::{Message, Outlet};
use crate::owner_calls::OwnerThreads;
use crate::pause::{Paused, Pausing};
use crate::replies::{Replies, Reply};
use crate::runtimes::LiveRuntime;
use crate::table::{ErrorContext, IdTable};
use crate::tasks::SessionTasks;

/// The largest number of live runtimes of a session.
pub const MAX_RUNTIMES: usize = 65_536;
/// The largest number of runners of a session. Paused runners, and ended runners that were not
/// disposed, count too.
const MAX_RUNNERS: usize = 65_536;

/// The runners of a session. `None` if the runner is being created or is paused.
pub(crate) type Runners = Mutex<IdTable<RunnerId, Option<Process>>>;

/// The reason why a connection must end. The connection's last message has this reason.
pub type Violation = Failure<'static>;

/// Runs a program on the calling thread for the inline budget. Afterwards a worker runs the
/// program.
pub type Job = Box<dyn FnOnce() + Send>;

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
    /// Opens a session. `inline` is the time that a program may run on the session's thread.
    pub fn new(core: Core, store: Store, outlet: Arc<dyn Outlet>, inline: Duration) -> Self {
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
        for task in self.tasks.take() {
            task(self);
        }
    }

    /// Handles a frame. `may_run_here` states that this thread has time to run a program. If so,
    /// the result may be a job, which the caller runs without the session.
    pub fn handle(&mut self, frame: &Frame<'_>, may_run_here: bool) -> Result<Option<Job>, Violation> {
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
            Request::Network(request) => self.network(id, request),
            Request::HostCall(request) => self.host_call(id, request),
            Request::Permission(request) => self.permission(id, request),
            Request::Snapshot(request) => self.snapshot(id.request()?, request),
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

    /// Answers a request at once with the result of one call on a runtime.
    pub(crate) fn on_runtime(
        &self,
        id: RequestId,
        runtime: RuntimeId,
        call: impl FnOnce(&Runtime, Reply) -> Result<Message, Error>,
    ) {
        let Some(live) = self.runtimes.get(runtime) else { return self.refuse(id, &self.no_runtime(runtime)) };
        match call(&live.runtime, Reply(id)) {
            Ok(message) => self.send(message),
            Err(error) => self.refuse(id, &convert::failure(&error, ErrorContext::runtime(runtime))),
        }
    }

    /// Passes a program to the workers, or returns a job that runs the program on this thread. The
    /// program starts after the calls on its runtime that run or wait.
    pub(crate) fn start(
        &self,
        runtime: Option<&LiveRuntime>,
        may_run_here: bool,
        start: impl FnOnce(Dispatch) + Send + 'static,
    ) -> Option<Job> {
        if let Some(live) = runtime.filter(|live| live.calls.are_under_way()) {
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

impl From<Violation> for Message {
    fn from(violation: Violation) -> Self {
        Self::Frame { request: None, is_reply: false, bytes: convert::connection_error(&violation) }
    }
}
