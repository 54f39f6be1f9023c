//! Warnings on their way. Whoever sees a use pass 80 % of a limit leaves one here, under whatever lock it holds; [`Warnings::tell`] takes them to
//! the listener at a place where none is held. A use must fall below 60 % before it can warn again, and each limit warns at most once a
//! second: a program cannot make a flood of them. Next: `snapshot.rs`.

use crate::usage::reports::LimitWarning;
use coldframe_ids::Pid;
use coldframe_sys as sys;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Nanoseconds between two warnings of one limit.
const INTERVAL_NS: u64 = 1_000_000_000;

/// Told of warnings, on whatever thread; must not block.
pub(crate) type Listener = Arc<dyn Fn(LimitWarning) + Send + Sync>;

/// Whether a use is near its limit.
pub fn is_near(used: u64, max: u64) -> bool {
    used > 0 && used >= max - max / 5
}

/// Whether a use is far enough below its limit again.
pub(super) fn is_calm(used: u64, max: u64) -> bool {
    used < max - max / 5 * 2
}

/// See the module.
#[derive(Default)]
pub struct Warnings {
    /// Set when the runtime is made; without it nothing is kept.
    listener: OnceLock<Listener>,
    /// Whether `list` is not empty, for a look without the lock.
    news: AtomicBool,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    waiting: Vec<LimitWarning>,
    /// When each limit warned last; there are only so many names.
    last: Vec<(&'static str, u64)>,
}

impl std::fmt::Debug for Warnings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Warnings").field("news", &self.news).finish_non_exhaustive()
    }
}

impl Warnings {
    /// Who is told. Only the first counts.
    pub fn listen(&self, listener: Listener) {
        let _ = self.listener.set(listener);
    }

    /// Who is told of these is told of those of `before`, if somebody is.
    pub(crate) fn follow(&self, before: &Self) {
        if let Some(listener) = before.listener.get() {
            self.listen(listener.clone());
        }
    }

    /// A use has come near its limit.
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

    /// Tells the listener what waits. Call it where no lock is held.
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
    fn each_limit_warns_once_a_second_and_only_who_listens_hears() {
        let warnings = Warnings::default();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let tell = heard.clone();
        warnings.listen(Arc::new(move |warning| tell.lock().push(warning)));
        for used in [80, 81] {
            warnings.add("inodes", used, 100, None);
        }
        warnings.add("cpuMs", 9, 10, Some(Pid::new(7)));
        warnings.send();
        warnings.send();
        let inodes = LimitWarning { limit: "inodes", used: 80, max: 100, pid: None };
        assert_eq!(*heard.lock(), [inodes, LimitWarning { limit: "cpuMs", used: 9, max: 10, pid: Some(Pid::new(7)) }]);
    }

    #[test]
    fn near_is_four_fifths_and_calm_is_three() {
        assert!(is_near(80, 100) && !is_near(79, 100) && !is_near(0, 0) && is_near(1, 1) && is_near(u64::MAX, u64::MAX));
        assert!(is_calm(59, 100) && !is_calm(60, 100) && !is_calm(1, 1) && is_calm(0, 1));
    }
}
