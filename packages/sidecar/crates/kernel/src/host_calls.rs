//! Calls of the caller outside under way: a runtime's programs ask, the caller answers by number.
//!
//! A call is an operation ([`begin`]: its completion has the answer's bytes) or blocks its VM alone ([`ask_and_wait`]). What nobody waits for any
//! more is told to the caller once, and its entry stays until the caller has answered: a program that asks and gives up in a loop is so held to
//! [`MAX_CALLS`] and [`MAX_BYTES`] like any other. An answer for a number that is not in the table, or comes twice, changes nothing.
//!
//! ```text
//! guest ─ call ─► bindings.rs ─► begin ─► Host::call ─► the caller
//!                                   table ◄─ Runtime::answer ◄──┘
//! ```
//!
//! The table is plain data: who waits is a process's number and an operation's, or a VM that looks again when it is woken.

use super::Kernel;
use super::operations::Operations;
use crate::caller::{Blocked, Caller};
use crate::embedder::{Embedder, HostAnswer, HostCall, HostFailure};
use crate::ids::OperationId;
use coldframe_error::Errno;
use coldframe_ids::{HostCallId, Pid};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};

/// Calls of one runtime that may be under way.
const MAX_CALLS: usize = 1_024;
/// Bytes of their inputs together.
const MAX_BYTES: usize = 32 << 20;
/// Bytes of one input: with everything around it, it fits into a frame of the protocol.
pub(crate) const MAX_INPUT_BYTES: usize = 16 << 20;

/// What a program asks.
pub(crate) struct HostCallRequest<'a> {
    pub(crate) service: &'static str,
    pub(crate) name: &'a str,
    pub(crate) input: &'a [u8],
}

/// See the module. One per runtime.
#[derive(Default)]
pub struct HostCalls {
    host: OnceLock<Arc<dyn Embedder>>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: Option<HostCallId>,
    calls: HashMap<HostCallId, Call>,
    bytes: usize,
}

struct Call {
    /// The process that asked.
    pid: Pid,
    /// Bytes of its input.
    bytes: usize,
    listener: Listener,
}

/// Who is told.
#[derive(Debug)]
enum Listener {
    Operation(OperationId),
    /// A VM that is blocked, once it has begun to wait.
    Waiting(Option<Waker>),
    /// The same, answered.
    FileSystemReply(HostAnswer),
    /// Nobody any more.
    Nobody,
}

/// Returns the id that follows `last`: no call has the number 0.
fn following(last: Option<HostCallId>) -> HostCallId {
    HostCallId::new(last.and_then(|last| last.get().checked_add(1)).unwrap_or(1))
}

impl Table {
    fn enter(&mut self, pid: Pid, bytes: usize, listener: Listener) -> Result<HostCallId, Errno> {
        if self.calls.len() >= MAX_CALLS || bytes > MAX_BYTES - self.bytes {
            return Err(Errno::ENOBUFS);
        }
        let mut id = following(self.last);
        while self.calls.contains_key(&id) {
            id = following(Some(id));
        }
        self.last = Some(id);
        self.bytes += bytes;
        self.calls.insert(id, Call { pid, bytes, listener });
        Ok(id)
    }

    fn remove(&mut self, number: HostCallId) -> Option<Call> {
        let call = self.calls.remove(&number)?;
        self.bytes -= call.bytes;
        Some(call)
    }

    /// The answer has come: who is to be told of it besides the table. Gives it back if it is for an operation.
    fn answer(&mut self, number: HostCallId, answer: HostAnswer) -> Told {
        match self.calls.get_mut(&number).map(|call| &mut call.listener) {
            Some(listener @ Listener::Waiting(_)) => {
                let before = std::mem::replace(listener, Listener::FileSystemReply(answer));
                if let Listener::Waiting(Some(waker)) = before { Told::Blocked(waker) } else { Told::Nobody }
            }
            Some(Listener::Operation(operation)) => {
                let operation = *operation;
                self.remove(number).map_or(Told::Nobody, |call| Told::Operation(call.pid, operation, answer))
            }
            Some(Listener::Nobody) => {
                self.remove(number);
                Told::Nobody
            }
            Some(Listener::FileSystemReply(_)) | None => Told::Nobody,
        }
    }

    /// The call that an operation of a process stands for.
    fn find(&self, pid: Pid, operation: OperationId) -> Option<HostCallId> {
        let is_it = |call: &Call| call.pid == pid && matches!(call.listener, Listener::Operation(known) if known == operation);
        self.calls.iter().find(|(_, call)| is_it(call)).map(|(number, _)| *number)
    }

    /// Nobody waits for the call any more. Whether the caller has to be told.
    fn abandon(&mut self, number: HostCallId) -> bool {
        let Some(call) = self.calls.get_mut(&number) else { return false };
        match std::mem::replace(&mut call.listener, Listener::Nobody) {
            Listener::Operation(_) | Listener::Waiting(_) => true,
            Listener::FileSystemReply(_) => {
                self.remove(number);
                false
            }
            Listener::Nobody => false,
        }
    }
}

/// Whom an answer wakes.
#[derive(Debug)]
enum Told {
    Nobody,
    Blocked(Waker),
    Operation(Pid, OperationId, HostAnswer),
}

impl HostCalls {
    /// From now on `host` takes the calls. Only the first one counts.
    pub fn attach(&self, host: Arc<dyn Embedder>) {
        let _ = self.host.set(host);
    }

    /// Puts a call into the table and hands it over. The listener is told by number from then on.
    fn enter(&self, program: &dyn Caller, question: &HostCallRequest<'_>, listener: Listener) -> Result<HostCallId, Errno> {
        let host = self.host.get().ok_or(Errno::ENOSYS)?;
        if question.input.len() > MAX_INPUT_BYTES {
            return Err(Errno::E2BIG);
        }
        let bytes = question.input.len() + question.name.len();
        let number = self.table.lock().enter(program.pid(), bytes, listener)?;
        host.call(HostCall {
            number,
            pid: program.pid(),
            service: question.service,
            name: question.name.to_owned(),
            input: question.input.to_vec(),
        });
        Ok(number)
    }

    fn abandon(&self, number: HostCallId) {
        let told = self.table.lock().abandon(number);
        if let (true, Some(host)) = (told, self.host.get()) {
            host.cancel(number);
        }
    }

    /// The operations that wait for the caller outside, with their processes, in order.
    pub(crate) fn waiters(&self) -> Vec<(Pid, OperationId)> {
        let table = self.table.lock();
        let waiter =
            |call: &Call| if let Listener::Operation(operation) = call.listener { Some((call.pid, operation)) } else { None };
        let mut waiters: Vec<_> = table.calls.values().filter_map(waiter).collect();
        waiters.sort_unstable();
        waiters
    }

    /// Takes the place of `before`: the same caller takes the calls, and their numbers go on, so that a late answer to one of the others is none
    /// to one of these.
    pub(crate) fn follow(&self, before: &Self) {
        if let Some(host) = before.host.get() {
            self.attach(host.clone());
        }
        self.continue_from(before.last());
    }

    /// The number of the last call.
    pub fn last(&self) -> Option<HostCallId> {
        self.table.lock().last
    }

    /// The next call has a number behind this one: a late word about an older one is about nothing here.
    pub fn continue_from(&self, last: Option<HostCallId>) {
        self.table.lock().last = last;
    }

    /// A process has ended: nobody waits for what it asked.
    pub(crate) fn leave(&self, pid: Pid) {
        if self.host.get().is_none() {
            return;
        }
        let numbers: Vec<_> = {
            let mut table = self.table.lock();
            let own: Vec<_> = table.calls.iter().filter(|(_, call)| call.pid == pid).map(|(number, _)| *number).collect();
            own.into_iter().filter(|number| table.abandon(*number)).collect()
        };
        if let Some(host) = self.host.get() {
            numbers.into_iter().for_each(|number| host.cancel(number));
        }
    }

    /// Calls under way, and the bytes of their inputs.
    pub fn count(&self) -> (usize, usize) {
        let table = self.table.lock();
        (table.calls.len(), table.bytes)
    }
}

impl Kernel {
    /// The caller outside answers a call.
    pub fn answer(&self, number: HostCallId, answer: HostAnswer) {
        let told = self.host_calls.table.lock().answer(number, answer);
        match told {
            Told::Nobody => {}
            Told::Blocked(waker) => waker.wake(),
            Told::Operation(pid, operation, answer) => {
                if let Some(program) = self.processes.program(pid) {
                    complete(&program.process().operations, operation, answer);
                }
            }
        }
    }
}

/// An operation's completion: 0 and the bytes, or an error number and what there is to say about it.
fn complete(operations: &Operations, operation: OperationId, answer: HostAnswer) {
    match answer {
        Ok(bytes) => operations.complete(operation, Ok(0), bytes),
        Err(failure) => operations.complete(operation, Err(failure.errno()), failure.message.into_bytes()),
    }
}

/// Asks the caller outside; the operation whose completion is the answer.
pub(crate) fn begin(program: &dyn Caller, question: &HostCallRequest<'_>) -> Result<OperationId, Errno> {
    let process = program.process();
    let operation = process.operations.begin()?;
    match process.kernel.host_calls.enter(program, question, Listener::Operation(operation)) {
        Ok(_) => Ok(operation),
        Err(error) => {
            process.operations.cancel(operation);
            Err(error)
        }
    }
}

/// Gives up an operation that [`begin`] has begun: its completion does not come. `ENOENT` when it is none, or has completed.
pub(crate) fn cancel(program: &dyn Caller, operation: OperationId) -> Result<(), Errno> {
    let process = program.process();
    let calls = &process.kernel.host_calls;
    let number = calls.table.lock().find(program.pid(), operation).ok_or(Errno::ENOENT)?;
    process.operations.cancel(operation);
    calls.abandon(number);
    Ok(())
}

/// Asks the caller outside, and blocks this VM alone until it has answered. A kill, and the end of an evaluation, end the waiting with `EINTR`.
pub(crate) async fn ask_and_wait(program: &Arc<dyn Caller>, question: &HostCallRequest<'_>) -> HostAnswer {
    let calls = &program.process().kernel.host_calls;
    let number = calls.enter(&**program, question, Listener::Waiting(None)).map_err(HostFailure::of)?;
    // What it has written so far does not wait with it.
    program.flush_output();
    let _blocked = Blocked::new(&**program);
    poll_fn(|context| {
        let mut table = calls.table.lock();
        match table.calls.get_mut(&number).map(|call| &mut call.listener) {
            Some(Listener::Waiting(waker)) => {
                if program.must_stop() {
                    drop(table);
                    calls.abandon(number);
                    return Poll::Ready(Err(HostFailure::of(Errno::EINTR)));
                }
                *waker = Some(context.waker().clone());
                return Poll::Pending;
            }
            Some(Listener::FileSystemReply(_)) => {}
            _ => return Poll::Ready(Err(HostFailure::of(Errno::EIO))),
        }
        match table.remove(number).map(|call| call.listener) {
            Some(Listener::FileSystemReply(answer)) => Poll::Ready(answer),
            _ => Poll::Ready(Err(HostFailure::of(Errno::EIO))),
        }
    })
    .await
}

impl HostFailure {
    /// The kernel's own reason.
    pub(crate) fn of(errno: Errno) -> Self {
        Self { code: errno.name().to_owned(), message: errno.message().to_owned() }
    }

    /// What a system call answers for it.
    pub(crate) fn errno(&self) -> Errno {
        Errno::named(&self.code).unwrap_or(Errno::EIO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::operation;

    fn table() -> Table {
        Table::default()
    }

    #[test]
    fn an_answer_reaches_who_asked_once() {
        let mut table = table();
        let number = table.enter(Pid::new(7), 3, Listener::Operation(operation(9))).expect("room");
        assert_eq!(
            (table.bytes, table.find(Pid::new(7), operation(9)), table.find(Pid::new(8), operation(9))),
            (3, Some(number), None)
        );
        assert!(matches!(table.answer(HostCallId::new(number.get() + 1), Ok(vec![])), Told::Nobody));
        assert!(
            matches!(table.answer(number, Ok(vec![1])), Told::Operation(pid, own, Ok(bytes)) if (pid, own, &bytes[..]) == (Pid::new(7), operation(9), &[1]))
        );
        assert!(matches!(table.answer(number, Ok(vec![2])), Told::Nobody));
        assert_eq!((table.calls.len(), table.bytes), (0, 0));
    }

    #[test]
    fn what_nobody_waits_for_counts_until_it_is_answered() {
        let mut table = table();
        let number = table.enter(Pid::new(7), 3, Listener::Operation(operation(9))).expect("room");
        assert!(table.abandon(number));
        assert!(!table.abandon(number));
        assert_eq!((table.calls.len(), table.bytes), (1, 3));
        assert!(matches!(table.answer(number, Ok(vec![])), Told::Nobody));
        assert_eq!((table.calls.len(), table.bytes), (0, 0));
        assert!(!table.abandon(number));
    }

    #[test]
    fn a_blocked_one_keeps_its_first_answer() {
        let mut table = table();
        let number = table.enter(Pid::new(7), 0, Listener::Waiting(None)).expect("room");
        assert!(matches!(table.answer(number, Ok(vec![1])), Told::Nobody));
        assert!(matches!(table.answer(number, Ok(vec![2])), Told::Nobody));
        let call = table.remove(number).expect("it waits");
        assert!(matches!(call.listener, Listener::FileSystemReply(Ok(bytes)) if bytes == [1]));
        let number = table.enter(Pid::new(7), 0, Listener::Waiting(Some(Waker::noop().clone()))).expect("room");
        assert!(matches!(table.answer(number, Ok(vec![])), Told::Blocked(_)));
        // FileSystemReply and then given up: the caller need not hear of it.
        assert!(!table.abandon(number));
        assert!(table.calls.is_empty());
    }

    #[test]
    fn calls_and_bytes_are_bounded() {
        let mut table = table();
        assert_eq!(table.enter(Pid::INIT, MAX_BYTES + 1, Listener::Nobody), Err(Errno::ENOBUFS));
        let first = table.enter(Pid::INIT, MAX_BYTES, Listener::Nobody).expect("room");
        assert_eq!(table.enter(Pid::INIT, 1, Listener::Nobody), Err(Errno::ENOBUFS));
        for _ in 1..MAX_CALLS {
            table.enter(Pid::INIT, 0, Listener::Nobody).expect("room");
        }
        assert_eq!(table.enter(Pid::INIT, 0, Listener::Nobody), Err(Errno::ENOBUFS));
        table.remove(first);
        table.last = Some(HostCallId::new(u32::MAX));
        // Numbers begin again, and pass over those in use and 0.
        assert_eq!(table.enter(Pid::INIT, 1, Listener::Nobody), Ok(first));
    }

    #[test]
    fn a_failure_is_an_error_number_where_it_names_one() {
        let failure = |code: &str| HostFailure { code: code.to_owned(), message: String::new() }.errno();
        assert_eq!((failure("ENOENT"), failure("ERR_X"), failure("")), (Errno::ENOENT, Errno::EIO, Errno::EIO));
    }
}
