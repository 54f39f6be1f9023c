//! Passes the session's messages from any thread to Node's thread.
//!
//! One threadsafe function calls `onEvent(kind, id, payload)`. The function keeps Node's event loop
//! alive only between [`NodeOutlet::hold`] calls with `true` and with `false`. Once the outlet is
//! closed, by `shutdown` or by the end of the environment, messages are dropped. The lock is held
//! during a call, because the function must not be released during the call.

use coldframe_panics::process::Mutex;
use coldframe_session::{Message, Outlet};
use napi::bindgen_prelude::FnArgs;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status};

use crate::capture;
use crate::linger::Linger;
use crate::values::Raw;

/// The arguments of `onEvent`: kind, id, payload.
pub type EventArguments = FnArgs<(u32, u32, Raw)>;

/// Calls `onEvent`. The reference to the function is weak and does not keep the event loop alive.
pub type OnEvent = ThreadsafeFunction<Event, (), EventArguments, Status, false, true>;

/// Work for Node's thread.
pub enum Event {
    /// A message for the SDK.
    Message(Message),
    /// The session has tasks.
    Wake,
}

/// The outlet of the session.
#[derive(Default)]
pub struct NodeOutlet {
    function: Mutex<Option<OnEvent>>,
    /// The wait of Node's thread for a reply.
    pub linger: Linger,
}

impl NodeOutlet {
    /// Opens the outlet. Later messages are passed to `function`.
    pub fn open(&self, function: OnEvent) {
        *self.function.lock() = Some(function);
    }

    /// Closes the outlet. Later messages are dropped.
    pub fn close(&self) {
        let function = self.function.lock().take();
        drop(function);
    }

    /// Sets whether this session keeps the event loop alive. Only Node's thread may call this
    /// function.
    #[expect(deprecated, reason = "the advice to clone instead is about handles; this is about the event loop")]
    pub fn hold(&self, env: &Env, alive: bool) {
        if let Some(function) = &mut *self.function.lock() {
            // The call cannot fail while the function is open, and the environment's end closes the
            // outlet first.
            let _ = if alive { function.refer(env) } else { function.unref(env) };
        }
    }

    fn post(&self, event: Event) {
        if let Some(function) = &*self.function.lock() {
            function.call(event, ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}

impl Outlet for NodeOutlet {
    fn send(&self, message: Message) {
        if message.request().is_none() {
            // The event loop has other work: a host call or another event needs Node's thread.
            capture::give_up();
            self.linger.give_up();
            return self.post(Event::Message(message));
        }
        let Some(message) = capture::keep(message).and_then(|message| self.linger.keep(message)) else { return };
        self.post(Event::Message(message));
    }

    fn wake(&self) {
        self.post(Event::Wake);
    }
}
