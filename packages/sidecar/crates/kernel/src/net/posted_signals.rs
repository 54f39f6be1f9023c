//! The signals of terminals. A terminal sends signals while the table of sockets is locked. A
//! signal may end or continue a program, which must not happen under that lock. The signals are
//! therefore posted, and the release of the lock delivers them (`turn.rs`). Next: `terminals.rs`.

use crate::processes::Processes;
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The receiver of a posted signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipient {
    Group(Pid),
    Process(Pid),
}

/// A signal that a terminal sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PostedSignal {
    pub(crate) to: Recipient,
    pub(crate) signal: u8,
}

impl PostedSignal {
    /// Adds the signal to a list, which has each signal once. Pending signals do not count.
    pub(super) fn post(self, list: &mut Vec<Self>) {
        if !list.contains(&self) {
            list.push(self);
        }
    }
}

/// The signals that were posted and not delivered.
#[derive(Default)]
pub(super) struct PostedSignals {
    list: Mutex<Vec<PostedSignal>>,
    /// Whether the list has signals, for a check without the lock.
    has_any: AtomicBool,
}

impl PostedSignals {
    pub(super) fn post(&self, signals: Vec<PostedSignal>) {
        let mut list = self.list.lock();
        signals.into_iter().for_each(|signal| signal.post(&mut list));
        self.has_any.store(true, Ordering::Release);
    }

    /// Delivers all posted signals. The caller must not hold the lock of the sockets.
    pub(super) fn deliver(&self, processes: &Processes) {
        while self.has_any.swap(false, Ordering::AcqRel) {
            let signals = std::mem::take(&mut *self.list.lock());
            for signal in signals {
                processes.deliver(signal);
            }
        }
    }
}
