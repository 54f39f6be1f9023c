//! The signals of a program: signals that the program listens to, pending signals, and the default
//! actions. A pending signal completes the operation that waits for signals. Next: `spec.rs`.

use super::status::SIGKILL;
use super::table::Change;
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
use std::sync::atomic::Ordering;

const LAST: u8 = 64;
const SIGSTOP: u8 = 19;
/// SIGCHLD, SIGCONT, SIGURG, SIGWINCH: without a listener these signals have no effect.
const IGNORED: [u8; 4] = [17, 18, 23, 28];
pub(super) const SIGCONT: u8 = 18;
/// SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU: these signals stop a process.
const STOPPING: [u8; 4] = [19, 20, 21, 22];

/// The action of a program for a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Default,
    Listen,
    Ignore,
}

impl Action {
    /// Converts the number of the call `listen`. Fails with `EINVAL` for another number.
    pub(super) fn of(number: i64) -> Result<Self, Errno> {
        match number {
            0 => Ok(Self::Default),
            1 => Ok(Self::Listen),
            2 => Ok(Self::Ignore),
            _ => Err(Errno::EINVAL),
        }
    }
}

/// The effect of a signal on a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Nothing,
    /// The process ends by this signal.
    End(u8),
    /// The process stops by this signal.
    Stop(u8),
    /// The process continues. If a signal arrived while the process was stopped, the process ends
    /// by that signal.
    Continue(Option<u8>),
}

/// The signals of one program. Each set has a bit for each signal.
#[derive(Default)]
pub(crate) struct Signals(Mutex<SignalState>);

/// The state of a program's signals: plain data, which is also the snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SignalState {
    listened: u64,
    ignored: u64,
    pending: u64,
    /// The signals that end the process when the process continues.
    held: u64,
    /// Whether a signal has stopped the process.
    is_stopped: bool,
    /// The operation that completes with the next signal.
    operation: Option<OperationId>,
    /// Whether the program takes signals, so that a pending signal ends its blocking calls.
    takes: bool,
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
        let has_action = (self.listened | self.ignored) & never != 0;
        if has_action || self.listened & self.ignored != 0 {
            return Err("a signal that cannot be listened to");
        }
        if self.held != 0 && !self.is_stopped { Err("a held signal of a running process") } else { Ok(()) }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Receives a signal. `may_stop` is false in an orphaned group, which no process could
    /// continue. Such a group stops by SIGSTOP only.
    fn receive(&mut self, signal: u8, may_stop: bool, operations: &Operations) -> Effect {
        if self.ignored & bit(signal) != 0 && signal != SIGCONT {
            return Effect::Nothing;
        }
        if signal == SIGCONT {
            self.pending &= !STOPPING.into_iter().fold(0, |bits, signal| bits | bit(signal));
        }
        if self.listened & bit(signal) != 0 {
            self.pending |= bit(signal);
            self.deliver(operations);
            if self.takes {
                operations.wake();
            }
        }
        if signal == SIGCONT {
            let held = std::mem::take(&mut self.held);
            let first = (held != 0).then(|| held.trailing_zeros() as u8 + 1);
            return if std::mem::take(&mut self.is_stopped) { Effect::Continue(first) } else { Effect::Nothing };
        }
        if self.listened & bit(signal) != 0 || IGNORED.contains(&signal) {
            return Effect::Nothing;
        }
        if STOPPING.contains(&signal) {
            let stops = (may_stop || signal == SIGSTOP) && !std::mem::replace(&mut self.is_stopped, true);
            return if stops { Effect::Stop(signal) } else { Effect::Nothing };
        }
        if self.is_stopped && signal != SIGKILL {
            self.held |= bit(signal);
            return Effect::Nothing;
        }
        Effect::End(signal)
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

    /// Sets the action for a signal. Fails with `EINVAL` for SIGKILL and SIGSTOP.
    pub(super) fn listen(&self, signal: u8, action: Action) -> Answer {
        if signal == SIGKILL || signal == SIGSTOP {
            return Err(Errno::EINVAL);
        }
        let mut state = self.0.lock();
        state.listened &= !bit(signal);
        state.ignored &= !bit(signal);
        match action {
            Action::Default => {}
            Action::Listen => state.listened |= bit(signal),
            Action::Ignore => state.ignored |= bit(signal),
        }
        Ok(0)
    }

    /// Takes the pending signal with the lowest number. Returns 0 without a pending signal.
    pub(super) fn take(&self) -> u8 {
        let mut state = self.0.lock();
        state.takes = true;
        if state.pending == 0 {
            return 0;
        }
        let signal = state.pending.trailing_zeros() as u8 + 1;
        state.pending &= state.pending - 1;
        signal
    }

    /// Returns whether a pending signal ends the blocking calls of the program.
    pub(super) fn interrupts(&self) -> bool {
        let state = self.0.lock();
        state.takes && state.pending != 0
    }

    /// Returns whether the program listens to a signal or ignores the signal.
    pub(crate) fn withstands(&self, signal: u8) -> bool {
        let state = self.0.lock();
        (state.listened | state.ignored) & bit(signal) != 0
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
/// pending. Otherwise, Linux's default action applies.
pub(crate) fn send(program: &dyn Caller, signal: u8) {
    let process = program.process();
    if process.is_closed.load(Ordering::Acquire) {
        return;
    }
    let processes = &process.kernel.processes;
    let may_stop = STOPPING.contains(&signal) && !processes.is_orphaned(processes.family(process.pid).1);
    let effect = {
        let mut state = process.signals.0.lock();
        let effect = state.receive(signal, may_stop, &process.operations);
        process.is_stopped.store(state.is_stopped, Ordering::Release);
        effect
    };
    match effect {
        Effect::Nothing => {}
        Effect::End(signal) => program.end(Error::Signal { signal }),
        Effect::Stop(signal) => processes.changed(process.pid, Change::Stopped(signal)),
        Effect::Continue(held) => {
            if let Some(signal) = held {
                program.end(Error::Signal { signal });
            }
            processes.changed(process.pid, Change::Continued);
            program.resume();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pending_signal_completes_one_operation_once() {
        let (signals, operations) = (Signals::default(), Operations::new(&Default::default(), Pid::new(2)));
        assert_eq!(signals.listen(SIGKILL, Action::Listen), Err(Errno::EINVAL));
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
        signals.listen(2, Action::Listen).expect("a signal");
        let first = signals.next(&operations).expect("room");
        let (saved, own) = signals.snapshot(&operations);
        let copy = Operations::restore(&own, &Default::default(), Pid::new(2)).expect("room");
        let restored = Signals::restore(saved);
        assert_eq!((restored.snapshot(&copy), restored.waiting().map(OperationId::answer)), ((saved, own), Some(first)));
        assert_eq!(restored.next(&copy), Err(Errno::EBUSY));
    }

    #[test]
    fn a_stopped_process_holds_signals_until_it_continues() {
        let operations = Operations::new(&Default::default(), Pid::new(2));
        let mut state = SignalState::default();
        assert_eq!(state.receive(20, false, &operations), Effect::Nothing, "an orphaned group");
        assert_eq!(state.receive(20, true, &operations), Effect::Stop(20));
        assert_eq!(state.receive(SIGSTOP, true, &operations), Effect::Nothing, "the process is stopped already");
        assert_eq!(
            (state.receive(15, true, &operations), state.receive(1, true, &operations)),
            (Effect::Nothing, Effect::Nothing)
        );
        assert_eq!(state.check(), Ok(()));
        assert_eq!(state.receive(SIGKILL, true, &operations), Effect::End(SIGKILL));
        assert_eq!(state.receive(SIGCONT, true, &operations), Effect::Continue(Some(1)));
        assert_eq!(state.receive(SIGCONT, true, &operations), Effect::Nothing);
        assert_eq!(state.receive(SIGSTOP, false, &operations), Effect::Stop(SIGSTOP));
        assert_eq!(state.receive(SIGCONT, true, &operations), Effect::Continue(None));
    }

    #[test]
    fn an_ignored_signal_has_no_effect() {
        let (signals, operations) = (Signals::default(), Operations::new(&Default::default(), Pid::new(2)));
        for signal in [2, 20, SIGCONT] {
            signals.listen(signal, Action::Ignore).expect("a signal");
        }
        let mut state = signals.0.lock();
        assert_eq!(
            (state.receive(2, true, &operations), state.receive(20, true, &operations)),
            (Effect::Nothing, Effect::Nothing)
        );
        assert_eq!(state.receive(SIGSTOP, true, &operations), Effect::Stop(SIGSTOP));
        assert_eq!(state.receive(SIGCONT, true, &operations), Effect::Continue(None), "SIGCONT always continues");
        drop(state);
        assert!(signals.withstands(2) && !signals.withstands(15));
        signals.listen(2, Action::Default).expect("a signal");
        assert_eq!(signals.0.lock().receive(2, true, &operations), Effect::End(2));
    }

    #[test]
    fn refuses_numbers_that_are_no_signals() {
        for number in [0, -1, 65, i64::MAX, i64::MIN] {
            assert_eq!(check(number), Err(Errno::EINVAL), "{number}");
        }
        assert_eq!((check(1), check(64)), (Ok(1), Ok(64)));
    }
}
