//! Records whether a descriptor still refers to the output of a root program.
//!
//! A child inherits the descriptions of its parent's standard streams, may pass the descriptions to
//! other processes, and may outlive its parent. The descriptions of both output streams share one
//! [`OpenOutput`]. The last description that is dropped drops the `OpenOutput`, which then wakes
//! the program that waits for the end of its output. Next: `snapshot.rs`.

use coldframe_panics::runtime::Mutex;
use std::task::Waker;

/// The open output of a root program. The output is open while a description has a reference.
#[derive(Default)]
pub(crate) struct OpenOutput(Mutex<Option<Waker>>);

impl OpenOutput {
    /// Calls `waker` when the output is no longer open.
    pub(crate) fn watch(&self, waker: &Waker) {
        let before = self.0.lock().replace(waker.clone());
        drop(before);
    }
}

impl Drop for OpenOutput {
    fn drop(&mut self) {
        if let Some(waker) = self.0.get_mut().take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn wakes_the_last_watcher_once_when_the_last_reference_is_dropped() {
        let [first, last] = [Arc::<Count>::default(), Arc::<Count>::default()];
        let open = Arc::<OpenOutput>::default();
        let other = open.clone();
        open.watch(&first.clone().into());
        open.watch(&last.clone().into());
        drop(open);
        assert_eq!(last.0.load(Ordering::Relaxed), 0);
        drop(other);
        assert_eq!((first.0.load(Ordering::Relaxed), last.0.load(Ordering::Relaxed)), (0, 1));
    }
}
