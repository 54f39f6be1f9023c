//! Makes an end that comes within the call that began it a return value.
//!
//! With an inline budget the core may run a program on Node's thread, inside the call. If it ends there, its sink is told on this very
//! thread, before the call returns; handing that to the event loop would cost a trip that is longer than many programs. [`run`] keeps it
//! instead. Not when output was streamed before: that is on its way through the event loop, and the end must not overtake it.

use std::cell::RefCell;

use crate::outlet::Event;

struct Call {
    id: u32,
    streamed: bool,
    end: Option<Event>,
}

thread_local! {
    static CALL: RefCell<Option<Call>> = const { RefCell::new(None) };
}

/// Calls the core for request `id`; gives what it returned, and the request's end if it came meanwhile.
pub fn run<T>(id: u32, call: impl FnOnce() -> T) -> (T, Option<Event>) {
    CALL.set(Some(Call { id, streamed: false, end: None }));
    let value = call();
    (value, CALL.take().and_then(|call| call.end))
}

/// Keeps an event for the call that is running on this thread, or gives it back to be sent.
pub fn keep(event: Event) -> Option<Event> {
    CALL.with_borrow_mut(|call| match call {
        Some(call) if call.id == event.id() => {
            if event.is_end() && !call.streamed {
                call.end = Some(event);
                return None;
            }
            call.streamed = true;
            Some(event)
        }
        _ => Some(event),
    })
}
