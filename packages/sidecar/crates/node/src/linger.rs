//! A short wait on Node's thread for a program that a worker is about to end.
//!
//! Going to sleep and being woken costs each side more than a small program runs. So the thread that has just begun a request looks for its
//! end for a little while, as the workers look for more work before they sleep (`spinUs` is the time for both), and the call gives the end
//! as a return value, like one that came inline ([`crate::inline`]). Only for a request that is alone: with others under way there is
//! better use for the time. No guest ever runs here.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::outlet::Event;

/// See the module.
#[derive(Default)]
pub struct Linger {
    expected: Mutex<Option<Expected>>,
    /// The end is there, or need not be waited for.
    ended: AtomicBool,
}

struct Expected {
    id: u32,
    /// Output is on its way through the event loop, and the end must not overtake it.
    streamed: bool,
    end: Option<Event>,
}

impl Linger {
    /// The end of request `id`, which is about to begin, will be waited for.
    pub fn expect(&self, id: u32) {
        self.ended.store(false, Ordering::Relaxed);
        *self.expected.lock() = Some(Expected { id, streamed: false, end: None });
    }

    /// On any thread: keeps an event that is waited for, or gives it back to be sent.
    pub fn keep(&self, event: Event) -> Option<Event> {
        let mut expected = self.expected.lock();
        let Some(expected) = expected.as_mut().filter(|expected| expected.id == event.id()) else { return Some(event) };
        if event.is_end() && !expected.streamed {
            expected.end = Some(event);
            self.ended.store(true, Ordering::Release);
            return None;
        }
        expected.streamed = true;
        Some(event)
    }

    /// On any thread: the event loop has something else to do.
    pub fn give_up(&self) {
        self.ended.store(true, Ordering::Release);
    }

    /// Waits for the end for at most `limit`; from here on it goes the usual way.
    pub fn wait(&self, limit: Duration) -> Option<Event> {
        let until = Instant::now() + limit;
        while !self.ended.load(Ordering::Acquire) && Instant::now() < until {
            spin_loop();
        }
        self.expected.lock().take().and_then(|expected| expected.end)
    }
}
