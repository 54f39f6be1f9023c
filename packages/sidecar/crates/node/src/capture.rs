//! Returns a reply from the call of its request, if the reply is sent within that call.
//!
//! With an inline budget the core may run a program on Node's thread, inside the call. If the
//! program ends inside the call, its reply is sent on this thread before the call returns. Delivery
//! through the event loop would take longer than many programs run, so [`run`] captures the reply.
//! An event is delivered through the event loop. A program's reply after an event is not captured,
//! because the reply must not overtake the event.

use std::cell::RefCell;

use coldframe_ids::RequestId;
use coldframe_session::Message;

struct Capture {
    /// The request whose reply is captured. `None` captures every reply that is a frame.
    request: Option<RequestId>,
    has_event: bool,
    replies: Vec<Message>,
}

thread_local! {
    static CAPTURE: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

/// Calls `call`, which may send the reply of `request`. Returns the result of `call` and the
/// captured reply.
pub fn run<T>(request: RequestId, call: impl FnOnce() -> T) -> (T, Option<Message>) {
    let (value, mut replies) = capture(Some(request), call);
    (value, replies.pop())
}

/// Calls `call`, which may send replies of any request. Returns the captured frames. Outcomes are
/// not captured, because output of their programs may still wait in the event loop.
pub fn frames<T>(call: impl FnOnce() -> T) -> (T, Vec<Message>) {
    capture(None, call)
}

fn capture<T>(request: Option<RequestId>, call: impl FnOnce() -> T) -> (T, Vec<Message>) {
    CAPTURE.set(Some(Capture { request, has_event: false, replies: Vec::new() }));
    let value = call();
    (value, CAPTURE.take().map(|capture| capture.replies).unwrap_or_default())
}

/// Ends the capture of the reply of [`run`] on this thread, because an event that belongs to no
/// request is in the event loop.
pub fn give_up() {
    CAPTURE.with_borrow_mut(|capture| {
        if let Some(capture) = capture {
            capture.has_event = true;
        }
    });
}

/// Captures a message for the call that runs on this thread. Otherwise returns the message, which
/// the caller must send.
pub fn keep(message: Message) -> Option<Message> {
    CAPTURE.with_borrow_mut(|capture| {
        let Some(capture) = capture else { return Some(message) };
        let is_captured = match capture.request {
            Some(request) if message.request() == Some(request) => {
                capture.has_event |= !message.is_reply();
                !capture.has_event
            }
            Some(_) => false,
            None => message.is_reply() && matches!(message, Message::Frame { .. }),
        };
        if !is_captured {
            return Some(message);
        }
        capture.replies.push(message);
        None
    })
}
