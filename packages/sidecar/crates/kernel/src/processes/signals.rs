//! The signals of a program: signals that the program listens to, pending signals, and the default
//! actions. A pending signal completes the operation that waits for signals. Next: `spec.rs`.

use super::status::SIGKILL;
use crate::caller::Caller;
use crate::ids::OperationId;
use crate::operations::OperationsSnapshot;
use crate::permissions::policy::Scope;
use crate::permissions::{About, Denied, operations::process};
use crate::{Answer, Operations};
use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use serde::{Deserialize, Serialize};

const LAST: u8 = 64;
const SIGSTOP: u8 = 19;
/// SIGCHLD, SIGCONT, SIGURG, SIGWINCH: without a listener these signals have no effect.
const IGNORED: [u8; 4] = [17, 18, 23, 28];
/// SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU: these signals have no effect without a listener, because
/// processes cannot be stopped.
const STOPPING: [u8; 4] = [19, 20, 21, 22];

/// The signals of one program. Each set has a bit for each signal.
#[derive(Default)]
pub(crate) struct Signals(Mutex<SignalState>);

/// The state of a program's signals: plain data, which is also the snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SignalState {
    listened: u64,
    pending: u64,
    /// The operation that completes with the next signal.
    operation: Option<OperationId>,
}

/// Converts a number to a signal. Fails with `EINVAL` if no signal has the number.
pub(super) fn check(number: i64) -> Result<u8, Errno> {
    u8::try_from(number).ok().filter(|number| (1..=LAST).contains(number)).ok_or(Errno::EINVAL)
}

fn bit(signal: u8) -> u64 {
    1 << (signal - 1)
}

impl SignalState {
    /// Checks that a program could have produced the snapshot. The snapshot may have been read from
    /// a file.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let never = bit(SIGKILL) | bit(SIGSTOP);
        if self.listened & never == 0 { Ok(()) } else { Err("a signal that cannot be listened to") }
    }

    fn deliver(&mut self, operations: &Operations) {
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
    /// Takes a snapshot of the signals and of the program's operations under one lock. Between two
    /// separate snapshots a signal could arrive, and the operation in the second snapshot would
    /// wait forever.
    pub(crate) fn snapshot(&self, operations: &Operations) -> (SignalState, OperationsSnapshot) {
        let state = self.0.lock();
        (*state, operations.snapshot())
    }

    pub(crate) fn restore(saved: SignalState) -> Self {
        Self(Mutex::new(saved))
    }

    /// Returns the operation that the next signal completes.
    pub(crate) fn waiting(&self) -> Option<OperationId> {
        self.0.lock().operation
    }

    /// Starts or stops listening to a signal. Fails with `EINVAL` for SIGKILL and SIGSTOP.
    pub(super) fn listen(&self, signal: u8, on: bool) -> Answer {
        if signal == SIGKILL || signal == SIGSTOP {
            return Err(Errno::EINVAL);
        }
        let mut state = self.0.lock();
        if on {
            state.listened |= bit(signal);
        } else {
            state.listened &= !bit(signal);
        }
        Ok(0)
    }

    /// Starts an operation that completes with the next signal's number. Fails with `EBUSY` if an
    /// earlier operation still waits.
    pub(super) fn next(&self, operations: &Operations) -> Answer {
        let mut state = self.0.lock();
        if state.operation.is_some() {
            return Err(Errno::EBUSY);
        }
        let operation = operations.begin()?;
        state.operation = Some(operation);
        state.deliver(operations);
        Ok(operation.answer())
    }
}

/// Checks that `caller` may send `signal` to the process `pid`. `None` means a check that the
/// process exists. A program may send every signal to itself.
pub(super) fn check_send(caller: &dyn Caller, pid: Pid, signal: Option<u8>) -> Result<(), Denied> {
    let permissions = &caller.process().kernel.permissions;
    if caller.pid() == pid || !permissions.checks(Scope::Process) {
        return Ok(());
    }
    let name = signal.map_or("0".to_owned(), name);
    permissions.check(About::Process(&format!("{name}:{pid}")), process::SIGNAL)
}

/// Returns a signal's name on Linux. For a real-time signal, returns the number.
fn name(signal: u8) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
        "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR",
        "SYS",
    ];
    NAMES.get(usize::from(signal) - 1).map_or_else(|| signal.to_string(), |name| format!("SIG{name}"))
}

/// Delivers a signal to a program. If the program listens to the signal, the signal becomes
/// pending. Otherwise, Linux's default action applies, but a signal that stops a process has no
/// effect.
pub(crate) fn send(program: &dyn Caller, signal: u8) {
    let process = program.process();
    {
        let mut state = process.signals.0.lock();
        if state.listened & bit(signal) != 0 {
            state.pending |= bit(signal);
            state.deliver(&process.operations);
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
    fn a_pending_signal_completes_one_operation_once() {
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
    fn a_restored_program_keeps_its_waiting_operation() {
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
    fn refuses_numbers_that_are_no_signals() {
        for number in [0, -1, 65, i64::MAX, i64::MIN] {
            assert_eq!(check(number), Err(Errno::EINVAL), "{number}");
        }
        assert_eq!((check(1), check(64)), (Ok(1), Ok(64)));
    }
}
