//! Alarms: callbacks of the timer thread for the guests' timers, the timeouts, and the closing of a
//! killed program's gate.
//!
//! One thread starts with the first alarm and sleeps until the next alarm. The thread ends the
//! programs of all runtimes, so its actions must not wait for a guest (`control.rs` of the crate
//! `kernel`). `models.rs` checks the thread in every order. Next: `background.rs`.

use super::sync::{Condvar, ControlScope, Mutex, MutexGuard, monotonic_ns, thread};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

type Action = Box<dyn FnOnce() + Send>;

/// Identifies an alarm, for cancelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Alarm {
    /// The time of the alarm, in nanoseconds of the monotonic clock.
    at: u64,
    serial: u64,
}

/// Cancels an alarm when the guard is dropped, so that a dropped future leaves no alarm.
pub(crate) struct AlarmGuard<'a> {
    timers: &'a Timers,
    alarm: Alarm,
}

impl Drop for AlarmGuard<'_> {
    fn drop(&mut self) {
        self.timers.cancel(self.alarm);
    }
}

/// The alarms of all programs. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Timers {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    alarms: BTreeMap<Alarm, Action>,
    serial: u64,
    running: bool,
    closed: bool,
}

impl Timers {
    /// Runs `action` at `at` (nanoseconds of the monotonic clock) on the timer thread. The action
    /// must be short and must not wait for a guest.
    pub(crate) fn set(&self, at: u64, action: impl FnOnce() + Send + 'static) -> Alarm {
        let mut state = self.shared.state.lock();
        state.serial += 1;
        let alarm = Alarm { at, serial: state.serial };
        let is_next = state.alarms.first_key_value().is_none_or(|(next, _)| alarm < *next);
        if !state.closed {
            state.alarms.insert(alarm, Box::new(action));
        }
        if !state.running && !state.closed {
            let shared = self.shared.clone();
            let thread = thread::Builder::new().name("coldframe-timers".to_owned());
            state.running = thread.spawn(move || shared.run()).is_ok();
        } else if is_next {
            self.shared.changed.notify_one();
        }
        alarm
    }

    /// Sets an alarm that is cancelled when the guard is dropped.
    pub(crate) fn wait(&self, at: u64, action: impl FnOnce() + Send + 'static) -> AlarmGuard<'_> {
        AlarmGuard { timers: self, alarm: self.set(at, action) }
    }

    /// Cancels an alarm. Has no effect if the alarm's action has started.
    pub(crate) fn cancel(&self, alarm: Alarm) {
        let action = self.shared.state.lock().alarms.remove(&alarm);
        drop(action);
    }

    pub(crate) fn close(&self) {
        let alarms = {
            let mut state = self.shared.state.lock();
            state.closed = true;
            std::mem::take(&mut state.alarms)
        };
        self.shared.changed.notify_all();
        drop(alarms);
    }
}

impl Shared {
    fn run(&self) {
        let _control = ControlScope::enter();
        let mut state = self.state.lock();
        while !state.closed {
            let now = monotonic_ns();
            match state.alarms.first_entry() {
                Some(entry) if entry.key().at <= now => {
                    let action = entry.remove();
                    MutexGuard::unlocked(&mut state, action);
                }
                Some(entry) => {
                    let wait = Duration::from_nanos(entry.key().at - now);
                    self.changed.wait_for(&mut state, wait);
                }
                None => self.changed.wait(&mut state),
            }
        }
    }
}
