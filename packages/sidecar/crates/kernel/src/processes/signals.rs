//! Signals: which ones a program listens to, which wait to be told, and what the others do. Next: `spec.rs`.

use super::status::SIGKILL;
use crate::caller::Caller;
use crate::ids::OperationId;
use crate::operations::OperationsSnapshot;
use crate::permissions::policy::Scope;
use crate::permissions::{About, operations::process};
use crate::{Answer, Operations};
use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_ids::Pid;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

const LAST: u8 = 64;
const SIGSTOP: u8 = 19;
/// SIGCHLD, SIGCONT, SIGURG, SIGWINCH: nothing happens to a process that does not listen.
const IGNORED: [u8; 4] = [17, 18, 23, 28];
/// SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU: no process is ever stopped.
const STOPPING: [u8; 4] = [19, 20, 21, 22];

/// See the module. One per program; each set is a bit per signal.
#[derive(Default)]
pub(crate) struct Signals(Mutex<State>);

/// Plain data: it is also what is saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    heard: u64,
    pending: u64,
    /// The operation that is told of the next one.
    operation: Option<OperationId>,
}

/// A signal's number from 1 on; `EINVAL` for what is none.
pub(super) fn check(number: i64) -> Result<u8, Errno> {
    u8::try_from(number).ok().filter(|number| (1..=LAST).contains(number)).ok_or(Errno::EINVAL)
}

fn bit(signal: u8) -> u64 {
    1 << (signal - 1)
}

impl State {
    /// Whether a program could have brought it about; it may come out of a file.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let never = bit(SIGKILL) | bit(SIGSTOP);
        if self.heard & never == 0 { Ok(()) } else { Err("a signal that nobody hears") }
    }

    fn tell(&mut self, operations: &Operations) {
        if self.pending == 0 {
            return;
        }
        if let Some(operation) = self.operation.take() {
            let signal = self.pending.trailing_zeros();
            self.pending &= self.pending - 1;
            operations.complete(operation, Ok(signal as i32 + 1), Vec::new());
        }
    }
}

impl Signals {
    /// With the program's operations, in one moment: a signal that is told between the two would leave an operation that waits for ever.
    pub(crate) fn snapshot(&self, operations: &Operations) -> (State, OperationsSnapshot) {
        let state = self.0.lock();
        (*state, operations.snapshot())
    }

    pub(crate) fn restore(saved: State) -> Self {
        Self(Mutex::new(saved))
    }

    /// The operation that is told of the next one.
    pub(crate) fn waiting(&self) -> Option<OperationId> {
        self.0.lock().operation
    }

    /// From now on the program hears of a signal, or not any more.
    pub(super) fn listen(&self, signal: u8, on: bool) -> Answer {
        if signal == SIGKILL || signal == SIGSTOP {
            return Err(Errno::EINVAL);
        }
        let mut state = self.0.lock();
        if on {
            state.heard |= bit(signal);
        } else {
            state.heard &= !bit(signal);
        }
        Ok(0)
    }

    /// An operation that completes with the number of the next signal.
    pub(super) fn next(&self, operations: &Operations) -> Answer {
        let mut state = self.0.lock();
        if state.operation.is_some() {
            return Err(Errno::EBUSY);
        }
        let operation = operations.begin()?;
        state.operation = Some(operation);
        state.tell(operations);
        Ok(operation.answer())
    }
}

/// Whether `caller` may send a signal (none: only look) to the process `pid`. To itself a program may send what it likes.
pub(super) fn may_send(caller: &dyn Caller, pid: Pid, signal: Option<u8>) -> bool {
    let permissions = &caller.process().kernel.permissions;
    if caller.pid() == pid || !permissions.asks(Scope::Process) {
        return true;
    }
    let name = signal.map_or("0".to_owned(), name);
    permissions.check(About::Process(&format!("{name}:{pid}")), process::SIGNAL).is_ok()
}

/// A signal's name on Linux; of the real-time ones the number.
fn name(signal: u8) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
        "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR",
        "SYS",
    ];
    NAMES.get(usize::from(signal) - 1).map_or_else(|| signal.to_string(), |name| format!("SIG{name}"))
}

/// Sends a signal to a program: its listeners hear of it, or what Linux does by default happens.
pub(crate) fn send(program: &dyn Caller, signal: u8) {
    let process = program.process();
    {
        let mut state = process.signals.0.lock();
        if state.heard & bit(signal) != 0 {
            state.pending |= bit(signal);
            state.tell(&process.operations);
            return;
        }
    }
    if !IGNORED.contains(&signal) && !STOPPING.contains(&signal) {
        program.end(Error::Signal { signal });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_wait_for_an_operation_and_each_is_told_once() {
        let (signals, operations) = (Signals::default(), Operations::new(&Default::default(), Pid::new(2)));
        assert_eq!(signals.listen(SIGKILL, true), Err(Errno::EINVAL));
        signals.0.lock().pending = bit(15) | bit(2);
        let first = signals.next(&operations).expect("room");
        let events = operations.take();
        assert_eq!((events[0].operation.answer(), events[0].result), (first, 2));
        signals.next(&operations).expect("room");
        assert_eq!(operations.take()[0].result, 15);
        signals.next(&operations).expect("room");
        assert_eq!(signals.next(&operations), Err(Errno::EBUSY));
        assert!(operations.take().is_empty());
    }

    #[test]
    fn a_copy_hears_of_what_was_pending() {
        let (signals, operations) = (Signals::default(), Operations::new(&Default::default(), Pid::new(2)));
        signals.listen(2, true).expect("a signal");
        let first = signals.next(&operations).expect("room");
        let (saved, own) = signals.snapshot(&operations);
        let copy = Operations::restore(&own, &Default::default(), Pid::new(2)).expect("room");
        let restored = Signals::restore(saved);
        assert_eq!((restored.snapshot(&copy), restored.waiting().map(OperationId::answer)), ((saved, own), Some(first)));
        assert_eq!(restored.next(&copy), Err(Errno::EBUSY));
    }

    #[test]
    fn only_numbers_of_signals_are_signals() {
        for number in [0, -1, 65, i64::MAX, i64::MIN] {
            assert_eq!(check(number), Err(Errno::EINVAL), "{number}");
        }
        assert_eq!((check(1), check(64)), (Ok(1), Ok(64)));
    }
}
