//! What other threads leave for the reading thread, because only it knows the session: the end of something that took a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::outgoing::Outgoing;
use crate::session::Session;

/// What is to be done with the session.
type Note = Box<dyn FnOnce(&mut Session) + Send>;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Notes {
    outgoing: Arc<Outgoing>,
    left: Arc<Left>,
}

#[derive(Default)]
struct Left {
    /// There are some: looked at between any two frames, which must cost nothing.
    some: AtomicBool,
    notes: Mutex<Vec<Note>>,
}

impl Notes {
    /// None yet; `outgoing` wakes the reading thread.
    pub fn new(outgoing: Arc<Outgoing>) -> Self {
        Self { outgoing, left: Arc::default() }
    }

    /// From any thread.
    pub fn leave(&self, note: impl FnOnce(&mut Session) + Send + 'static) {
        self.left.notes.lock().push(Box::new(note));
        self.left.some.store(true, Ordering::Release);
        self.outgoing.wake();
    }

    /// Those that have been left since the last time.
    pub fn take(&self) -> Vec<Note> {
        if !self.left.some.load(Ordering::Acquire) {
            return Vec::new();
        }
        self.left.some.store(false, Ordering::Relaxed);
        std::mem::take(&mut *self.left.notes.lock())
    }
}
