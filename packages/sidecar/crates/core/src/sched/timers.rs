//! Alarms: guests' timers, time limits, the last resort of a kill. One thread, started with the first alarm, sleeps until the next.

use coldframe_sys::monotonic_ns;
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

type Action = Box<dyn FnOnce() + Send>;

/// Names an alarm, to cancel it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Alarm {
    /// Nanoseconds of the monotonic clock.
    at: u64,
    serial: u64,
}

/// An alarm that is forgotten with this: for futures, which may be dropped before it goes off.
pub(crate) struct Pending<'a> {
    timers: &'a Timers,
    alarm: Alarm,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.timers.cancel(self.alarm);
    }
}

/// See the module.
#[derive(Default)]
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
    /// Runs `action` at `at` (nanoseconds of the monotonic clock), on the timer thread: it must be short.
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
            let thread = std::thread::Builder::new().name("coldframe-timers".to_owned());
            state.running = thread.spawn(move || shared.run()).is_ok();
        } else if is_next {
            self.shared.changed.notify_one();
        }
        alarm
    }

    /// The same, for as long as somebody waits for it.
    pub(crate) fn wait(&self, at: u64, action: impl FnOnce() + Send + 'static) -> Pending<'_> {
        Pending { timers: self, alarm: self.set(at, action) }
    }

    /// Forgets an alarm; nothing happens if it has gone off.
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
        let mut state = self.state.lock();
        while !state.closed {
            let now = monotonic_ns();
            match state.alarms.first_entry() {
                Some(entry) if entry.key().at <= now => {
                    let action = entry.remove();
                    parking_lot::MutexGuard::unlocked(&mut state, action);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn alarms_go_off_in_order_of_time_and_cancelled_ones_do_not() {
        let timers = Timers::default();
        let (tell, told) = mpsc::channel();
        let now = monotonic_ns();
        let say = |text: &'static str| {
            let tell = tell.clone();
            move || {
                let _ = tell.send(text);
            }
        };
        timers.set(now + 20_000_000, say("third"));
        let second = timers.set(now + 10_000_000, say("cancelled"));
        timers.set(now, say("first"));
        timers.cancel(second);
        drop(tell);
        let heard: Vec<_> = told.iter().take(2).collect();
        assert_eq!(heard, ["first", "third"]);
    }
}
