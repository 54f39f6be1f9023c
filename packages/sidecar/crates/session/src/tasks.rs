//! Session tasks: work that another thread passes to the session's thread, which alone may change
//! the tables. A task is usually the end of an operation that waited for a disk or for programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coldframe_panics::process::Mutex;

use crate::message::Outlet;
use crate::session::Session;

type SessionTask = Box<dyn FnOnce(&mut Session) + Send>;

/// The queue of session tasks. Cheap to clone.
#[derive(Clone)]
pub(crate) struct SessionTasks {
    outlet: Arc<dyn Outlet>,
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    /// Whether `tasks` is not empty. The session reads the flag between any two frames, without the
    /// lock.
    has_tasks: AtomicBool,
    tasks: Mutex<Vec<SessionTask>>,
}

impl SessionTasks {
    /// Makes an empty queue. `outlet` wakes the session's thread.
    pub fn new(outlet: Arc<dyn Outlet>) -> Self {
        Self { outlet, queue: Arc::default() }
    }

    /// Adds a task, from any thread.
    pub fn add(&self, task: impl FnOnce(&mut Session) + Send + 'static) {
        self.queue.tasks.lock().push(Box::new(task));
        self.queue.has_tasks.store(true, Ordering::Release);
        self.outlet.wake();
    }

    /// Takes the tasks that were added since the last call.
    pub fn take(&self) -> Vec<SessionTask> {
        if !self.queue.has_tasks.load(Ordering::Acquire) {
            return Vec::new();
        }
        self.queue.has_tasks.store(false, Ordering::Relaxed);
        std::mem::take(&mut *self.queue.tasks.lock())
    }
}
