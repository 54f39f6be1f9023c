//! The warnings of a runtime that wait to be sent.
//!
//! Code that raises a use to 80 % of a limit adds a warning to the list, even while the code holds
//! a lock. [`Warnings::send`] is called without locks and sends the warnings to the listener. A use
//! must fall below 60 % before another warning, and each limit warns at most once a second. A
//! program therefore cannot cause many warnings in a short time. Next: `limits.rs`, the limits.

use crate::usage::reports::LimitWarning;
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use coldframe_sys as sys;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The minimum time between two warnings of one limit, in nanoseconds.
const INTERVAL_NS: u64 = 1_000_000_000;

/// The listener for warnings. The function runs on any thread and must not block.
pub(crate) type Listener = Arc<dyn Fn(LimitWarning) + Send + Sync>;

/// Returns whether a use is near its limit: at least 80 % of the limit, and not 0.
pub fn is_near(used: u64, max: u64) -> bool {
    used > 0 && used >= max - max / 5
}

/// Returns whether a use is below 60 % of its limit, so that the next warning is allowed.
pub(super) fn is_calm(used: u64, max: u64) -> bool {
    used < max - max / 5 * 2
}

/// The warnings of a runtime that were not sent yet.
#[derive(Default)]
pub struct Warnings {
    /// The listener, set when the runtime is made. Without a listener no warnings are stored.
    listener: OnceLock<Listener>,
    /// Whether `list` has warnings. The field can be read without the lock.
    news: AtomicBool,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    waiting: Vec<LimitWarning>,
    /// The time of each limit's last warning, in nanoseconds.
    last: Vec<(&'static str, u64)>,
}

impl std::fmt::Debug for Warnings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Warnings").field("news", &self.news).finish_non_exhaustive()
    }
}

impl Warnings {
    /// Sends warnings to `listener`. Has no effect if a listener is set already.
    pub fn listen(&self, listener: Listener) {
        let _ = self.listener.set(listener);
    }

    /// Takes the listener of `before`, if `before` has a listener.
    pub(crate) fn take_over(&self, before: &Self) {
        if let Some(listener) = before.listener.get() {
            self.listen(listener.clone());
        }
    }

    /// Adds a warning that a use is near its limit.
    pub fn add(&self, limit: &'static str, used: u64, max: u64, pid: Option<Pid>) {
        if self.listener.get().is_none() && !cfg!(test) {
            return;
        }
        let now = sys::monotonic_ns();
        let mut list = self.list.lock();
        match list.last.iter_mut().find(|(name, _)| *name == limit) {
            Some((_, last)) if now < last.saturating_add(INTERVAL_NS) => return,
            Some((_, last)) => *last = now,
            None => list.last.push((limit, now)),
        }
        list.waiting.push(LimitWarning { limit, used, max, pid });
        self.news.store(true, Ordering::Release);
    }

    /// Sends the warnings in the list to the listener. The caller must not hold a lock.
    pub fn send(&self) {
        if !self.news.load(Ordering::Acquire) {
            return;
        }
        let waiting = self.take();
        if let Some(listener) = self.listener.get() {
            waiting.into_iter().for_each(|warning| listener(warning));
        }
    }

    pub(super) fn take(&self) -> Vec<LimitWarning> {
        self.news.store(false, Ordering::Release);
        std::mem::take(&mut self.list.lock().waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_warns_once_a_second_and_only_the_listener_receives_the_warnings() {
        let warnings = Warnings::default();
        let received = Arc::new(Mutex::new(Vec::new()));
        let sender = received.clone();
        warnings.listen(Arc::new(move |warning| sender.lock().push(warning)));
        for used in [80, 81] {
            warnings.add("inodes", used, 100, None);
        }
        warnings.add("cpuMs", 9, 10, Some(Pid::new(7)));
        warnings.send();
        warnings.send();
        let inodes = LimitWarning { limit: "inodes", used: 80, max: 100, pid: None };
        assert_eq!(*received.lock(), [inodes, LimitWarning { limit: "cpuMs", used: 9, max: 10, pid: Some(Pid::new(7)) }]);
    }

    #[test]
    fn near_is_four_fifths_and_calm_is_below_three() {
        assert!(is_near(80, 100) && !is_near(79, 100) && !is_near(0, 0) && is_near(1, 1) && is_near(u64::MAX, u64::MAX));
        assert!(is_calm(59, 100) && !is_calm(60, 100) && !is_calm(1, 1) && is_calm(0, 1));
    }
}
