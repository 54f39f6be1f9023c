//! Models of the alarms: loom runs the timer thread and its users in every order, with a bounded
//! number of preemptions.
//!
//! The models compile `timers.rs` itself, with loom's types and a clock that the model sets.

#[path = "timers.rs"]
#[expect(clippy::duplicate_mod, reason = "the model compiles the alarms with other types")]
#[expect(dead_code, reason = "the models do not use all methods")]
mod timers;

use coldframe_testing::model::check;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;
use timers::Timers;

/// The types of the alarms in the models.
mod sync {
    pub(super) use coldframe_testing::model::{Condvar, Mutex, MutexGuard, monotonic_ns};
    pub(super) use loom::thread;

    /// No model checks waits for guests.
    pub(super) struct ControlScope;

    impl ControlScope {
        pub(super) fn enter() -> Self {
            Self
        }
    }
}

/// Counts the runs of an alarm's action.
fn counting(runs: &Arc<AtomicUsize>) -> impl FnOnce() + Send + 'static {
    let runs = runs.clone();
    move || {
        runs.fetch_add(1, Ordering::AcqRel);
    }
}

fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

#[test]
fn alarms_of_two_threads_run_once_each() {
    check(Some(1), || {
        let timers = Arc::new(Timers::default());
        let runs = Arc::new(AtomicUsize::new(0));
        let other = {
            let (timers, runs) = (timers.clone(), runs.clone());
            thread::spawn(move || timers.set(0, counting(&runs)))
        };
        timers.set(0, counting(&runs));
        other.join().expect("the thread ends");
        wait_until(|| runs.load(Ordering::Acquire) == 2);
        timers.close();
    });
}

/// The action of a cancelled alarm has started before the cancellation, or never starts.
#[test]
fn a_cancelled_alarm_is_dropped_or_has_started() {
    check(Some(2), || {
        let timers = Timers::default();
        let (runs, shared) = (Arc::new(AtomicUsize::new(0)), Arc::new(()));
        let (action, held) = (counting(&runs), shared.clone());
        let alarm = timers.set(0, move || {
            action();
            drop(held);
        });
        timers.cancel(alarm);
        wait_until(|| Arc::strong_count(&shared) == 1);
        assert!(runs.load(Ordering::Acquire) <= 1);
        timers.close();
    });
}

/// The timer thread ends after `close`, even if `close` precedes the thread's first step. An alarm
/// that is set afterwards is dropped.
#[test]
fn the_timer_thread_ends_after_a_close() {
    check(Some(2), || {
        let timers = Arc::new(Timers::default());
        timers.set(100, || panic!("the alarm is not due"));
        let closing = {
            let timers = timers.clone();
            thread::spawn(move || timers.close())
        };
        timers.set(100, || panic!("the alarm is not due"));
        closing.join().expect("the thread ends");
    });
}
