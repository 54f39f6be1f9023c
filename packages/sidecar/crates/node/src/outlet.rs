//! Brings what the core tells, on whatever thread, to Node's thread.
//!
//! One threadsafe function per core calls `onEvent(id, kind, payload)`. It does not keep Node's event loop alive except while requests
//! wait ([`Outlet::hold`]). Once it is closed, by `shutdown` or by the end of the environment, events are dropped: there is nobody left
//! to tell. The lock is held for a call because the function must not be released meanwhile.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use coldframe_core::{
    Changes, Decisions, Error, HostCall, LimitWarning, NetworkEvent, Outcome, PermissionListener, Sink, Timings,
};
use napi::bindgen_prelude::FnArgs;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status};
use parking_lot::Mutex;

use crate::inline;
use crate::linger::Linger;
use crate::snapshots::{Later, Note};
use crate::table::Place;
use crate::values::Raw;

/// What `onEvent` is called with: id, kind, payload.
pub type EventArguments = FnArgs<(u32, u32, Raw)>;

/// Calls `onEvent`; weak: it does not keep the event loop alive by being there.
pub type OnEvent = ThreadsafeFunction<Event, (), EventArguments, Status, false, true>;

/// Something that has happened to a request.
pub enum Event {
    /// A program or an evaluation has ended.
    Outcome(u32, Place, Box<Outcome>),
    /// A request has failed.
    Failure(u32, Place, Error),
    /// A streamed descriptor has bytes.
    Output(u32, u8, Vec<u8>),
    /// A runner is ready: its number, and that of its process.
    Runner(u32, u32, u32, Timings),
    /// Something that is watched has changed; none: the watch has ended.
    Changes(u32, Option<Changes>),
    /// A program of the runtime of that number asks something.
    HostCall(u32, HostCall),
    /// It does not wait for the answer of that number any more.
    HostCancel(u32, u32),
    /// Decisions about permissions in a runtime: of no request.
    Permissions(u32, Decisions),
    /// The runtime of that number comes near a limit.
    Warning(u32, LimitWarning),
    /// Something happens to a connection or a wait, of the runtime and the number.
    Network(u32, u32, NetworkEvent),
    /// A request ends with what is to be made on Node's thread.
    Then(u32, Later),
    /// Something is to be done there, and ends no request.
    Note(Note),
}

impl Event {
    /// The request; of a question its own number, which is another count; of decisions and warnings the runtime's.
    pub fn id(&self) -> u32 {
        match self {
            Self::HostCall(_, call) => call.number,
            Self::HostCancel(_, number) | Self::Network(_, number, _) => *number,
            Self::Outcome(id, ..)
            | Self::Failure(id, ..)
            | Self::Output(id, ..)
            | Self::Runner(id, ..)
            | Self::Changes(id, _)
            | Self::Then(id, _)
            | Self::Permissions(id, _)
            | Self::Warning(id, _) => *id,
            Self::Note(_) => 0,
        }
    }

    /// Whether the request waits for nothing more.
    pub fn is_end(&self) -> bool {
        !matches!(self, Self::Output(..)) && !self.is_question()
    }

    /// Whether it is about no request: something that a program asks or has asked, decisions, a warning, a connection.
    pub fn is_question(&self) -> bool {
        matches!(
            self,
            Self::HostCall(..)
                | Self::HostCancel(..)
                | Self::Permissions(..)
                | Self::Warning(..)
                | Self::Network(..)
                | Self::Note(_)
        )
    }
}

/// See the module.
#[derive(Default)]
pub struct Outlet {
    function: Mutex<Option<OnEvent>>,
    /// Node's thread may be waiting for the end of a request.
    pub linger: Linger,
}

impl Outlet {
    /// From now on events go to `function`.
    pub fn open(&self, function: OnEvent) {
        *self.function.lock() = Some(function);
    }

    /// From now on events go nowhere.
    pub fn close(&self) {
        let function = self.function.lock().take();
        drop(function);
    }

    /// On Node's thread: whether the event loop stays alive for this core.
    #[expect(deprecated, reason = "the advice to clone instead is about handles; this is about the event loop")]
    pub fn hold(&self, env: &Env, alive: bool) {
        if let Some(function) = &mut *self.function.lock() {
            // Neither can fail while the function is open, and the environment's end closes it first.
            let _ = if alive { function.refer(env) } else { function.unref(env) };
        }
    }

    /// A question goes to Node's thread, which need not wait for anything else first.
    pub fn ask(&self, event: Event) {
        self.linger.give_up();
        self.send(event);
    }

    /// From any thread.
    pub fn tell(&self, event: Event) {
        let Some(event) = inline::keep(event).and_then(|event| self.linger.keep(event)) else { return };
        self.send(event);
    }

    /// Sends an event that no call waits for.
    pub fn send(&self, event: Event) {
        if let Some(function) = &*self.function.lock() {
            function.call(event, ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}

/// Who hears of decisions in a runtime.
pub struct Listener {
    /// Whose.
    pub runtime: u32,
    /// Where they are told.
    pub outlet: Arc<Outlet>,
}

impl PermissionListener for Listener {
    fn pending(&self, take: &dyn Fn(usize) -> Decisions) {
        self.outlet.send(Event::Permissions(self.runtime, take(crate::permissions::MOST)));
    }
}

/// The sink of `start`.
pub struct Program {
    /// The request.
    pub id: u32,
    /// Where it runs.
    pub place: Place,
    /// Where it is told.
    pub outlet: Arc<Outlet>,
}

impl Sink for Program {
    fn output(&self, _eval: u32, fd: u8, data: Vec<u8>) {
        self.outlet.tell(Event::Output(self.id, fd, data));
    }
    fn evaluated(&self, _eval: u32, _outcome: Outcome) {}
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, outcome: Outcome) {
        self.outlet.tell(Event::Outcome(self.id, self.place, Box::new(outcome)));
    }
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// The sink of `createRunner` and of `evaluate`, whose ids are the core's evaluation numbers.
pub struct Runner {
    /// The `createRunner` request.
    pub id: u32,
    /// Where it runs, its own number included.
    pub place: Place,
    /// The number of its process, once it has one.
    pub pid: AtomicU32,
    /// Where it is told.
    pub outlet: Arc<Outlet>,
}

impl Sink for Runner {
    fn started(&self, pid: u32) {
        self.pid.store(pid, Ordering::Relaxed);
    }
    fn output(&self, eval: u32, fd: u8, data: Vec<u8>) {
        // 0: written between two evaluations, which nobody has asked to see.
        if eval != 0 {
            self.outlet.tell(Event::Output(eval, fd, data));
        }
    }
    fn evaluated(&self, eval: u32, outcome: Outcome) {
        self.outlet.tell(Event::Outcome(eval, self.place, Box::new(outcome)));
    }
    fn ready(&self, timings: Timings) {
        self.outlet.tell(Event::Runner(self.id, self.place.runner, self.pid.load(Ordering::Relaxed), timings));
    }
    fn exited(&self, outcome: Outcome) {
        let exit_code = outcome.exit_code;
        let failure = outcome.failure.unwrap_or(Error::RunnerExited { exit_code });
        // If the runner had been ready, nobody waits for this any more, and it ends on Node's thread.
        self.outlet.tell(Event::Failure(self.id, self.place, failure));
    }
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
