//! A short wait on Node's thread for a program that a worker is about to end.
//!
//! Blocking a thread and waking the thread costs more time than a small program. The thread that
//! has just started a request therefore polls for its reply for a short time. Workers poll for more
//! work for an equal time, `spinUs`, before they block. The call then returns the reply, like a
//! reply that was sent inline ([`crate::capture`]). The thread waits only if no other request is in
//! flight. No guest runs on the waiting thread.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use coldframe_ids::RequestId;
use coldframe_panics::process::Mutex;
use coldframe_session::Message;

/// The wait of one thread for one reply.
#[derive(Default)]
pub struct Linger {
    expected: Mutex<Option<Expected>>,
    /// Whether the reply has been captured, or the wait was given up.
    is_over: AtomicBool,
}

struct Expected {
    request: RequestId,
    /// Whether an event is in the event loop. The reply must not overtake the event.
    has_event: bool,
    reply: Option<Message>,
}

impl Linger {
    /// Announces that this thread will wait for the reply of `request`, which is about to start.
    pub fn expect(&self, request: RequestId) {
        self.is_over.store(false, Ordering::Relaxed);
        *self.expected.lock() = Some(Expected { request, has_event: false, reply: None });
    }

    /// Captures `message` if the thread waits for this reply. Otherwise returns the message, which
    /// the caller must send. Any thread may call this function.
    pub fn keep(&self, message: Message) -> Option<Message> {
        let mut expected = self.expected.lock();
        let Some(expected) = expected.as_mut().filter(|expected| message.request() == Some(expected.request)) else {
            return Some(message);
        };
        if message.is_reply() && !expected.has_event {
            expected.reply = Some(message);
            self.is_over.store(true, Ordering::Release);
            return None;
        }
        expected.has_event = true;
        Some(message)
    }

    /// Ends the wait, because the event loop has other work. Any thread may call this function.
    pub fn give_up(&self) {
        if let Some(expected) = self.expected.lock().as_mut() {
            expected.has_event = true;
        }
        self.is_over.store(true, Ordering::Release);
    }

    /// Waits for the reply for at most `limit`, and returns the reply. A later reply is delivered
    /// through the event loop.
    pub fn wait(&self, limit: Duration) -> Option<Message> {
        let until = Instant::now() + limit;
        while !self.is_over.load(Ordering::Acquire) && Instant::now() < until {
            spin_loop();
        }
        self.expected.lock().take().and_then(|expected| expected.reply)
    }
}
