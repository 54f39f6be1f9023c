//! Host calls in progress: programs send requests, and the embedder's replies name the requests by
//! number.
//!
//! A host call starts an operation ([`begin`]: the completion has the reply's bytes) or blocks only
//! its VM ([`ask_and_wait`]). If a program stops waiting for a call, the embedder is notified once.
//! The call's table entry stays until the embedder replies. The bounds [`MAX_CALLS`] and
//! [`MAX_BYTES`] therefore also apply to a program that starts and cancels calls in a loop. A reply
//! to an unknown number and a second reply are ignored.
//!
//! ```text
//! guest ─ call ─► bindings.rs ─► begin ─► Embedder::call ─► the embedder
//!                                   table ◄── Kernel::answer ◄──┘
//! ```
//!
//! The table is plain data. A waiter consists of the numbers of a process and an operation, or of
//! the waker of a blocked VM. Next: `calls.rs`, the entry point of system calls.

use super::Kernel;
use super::operations::Operations;
use crate::caller::{Blocked, Caller};
use crate::embedder::{Embedder, HostAnswer, HostCall, HostFailure, NetworkEvent};
use crate::ids::OperationId;
use crate::usage::{Charge, Footprint, Resource, fitted};
use coldframe_error::Errno;
use coldframe_ids::{ConnectionId, HostCallId, Pid};
use coldframe_panics::runtime::Mutex;
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};

/// The maximum number of calls of one runtime in progress.
const MAX_CALLS: usize = 1_024;
/// The maximum bytes of the inputs and names of all calls in progress.
const MAX_BYTES: usize = 32 << 20;
/// The kernel memory of a call in bytes, besides its input, name and reply.
const CALL_COST: u64 = 256;
/// The maximum bytes of one input. A frame of the protocol must have space for the input and the
/// other fields of the call.
pub(crate) const MAX_INPUT_BYTES: usize = 16 << 20;

/// A request of a program to the embedder.
pub(crate) struct HostCallRequest<'a> {
    pub(crate) service: &'static str,
    pub(crate) name: &'a str,
    pub(crate) input: &'a [u8],
}

/// The host calls of one runtime.
#[derive(Default)]
pub struct HostCalls {
    embedder: OnceLock<Arc<dyn Embedder>>,
    table: Mutex<CallTable>,
}

#[derive(Default)]
struct CallTable {
    last: Option<HostCallId>,
    calls: HashMap<HostCallId, Call>,
    bytes: usize,
}

struct Call {
    /// The process that made the call.
    pid: Pid,
    /// The number of bytes of the input and the name.
    bytes: usize,
    /// The charge for the input, the name, and the reply that a blocked VM has not read.
    charge: Charge,
    listener: CallWaiter,
}

/// The waiter for a reply.
#[derive(Debug)]
enum CallWaiter {
    Operation(OperationId),
    /// A blocked VM, with the VM's waker after the first poll of the wait.
    Waiting(Option<Waker>),
    /// A blocked VM that has not read its reply yet.
    Replied(HostAnswer),
    /// No waiter, because the call was abandoned.
    Abandoned,
}

/// Returns the id after `last`. No call has the id 0.
fn following(last: Option<HostCallId>) -> HostCallId {
    HostCallId::new(last.and_then(|last| last.get().checked_add(1)).unwrap_or(1))
}

impl CallTable {
    fn enter(&mut self, pid: Pid, bytes: usize, charge: Charge, listener: CallWaiter) -> Result<HostCallId, Errno> {
        if self.calls.len() >= MAX_CALLS || bytes > MAX_BYTES - self.bytes {
            return Err(Errno::ENOBUFS);
        }
        let mut id = following(self.last);
        while self.calls.contains_key(&id) {
            id = following(Some(id));
        }
        self.last = Some(id);
        self.bytes += bytes;
        self.calls.insert(id, Call { pid, bytes, charge, listener });
        Ok(id)
    }

    fn remove(&mut self, number: HostCallId) -> Option<Call> {
        let call = self.calls.remove(&number)?;
        self.bytes -= call.bytes;
        Some(call)
    }

    /// Accepts a reply and returns the waiter to notify. A reply to a blocked VM is stored in the
    /// table, and becomes `ENOBUFS` if the limit of kernel memory does not allow the reply. A reply
    /// to an operation is returned with the waiter.
    fn answer(&mut self, number: HostCallId, answer: HostAnswer) -> ReplyWaiter {
        match self.calls.get_mut(&number).map(|call| (&mut call.listener, &mut call.charge)) {
            Some((listener @ CallWaiter::Waiting(_), charge)) => {
                let answer = answer.map(fitted).and_then(|bytes| {
                    if charge.grow(bytes.footprint()) { Ok(bytes) } else { Err(HostFailure::of(Errno::ENOBUFS)) }
                });
                let before = std::mem::replace(listener, CallWaiter::Replied(answer));
                if let CallWaiter::Waiting(Some(waker)) = before { ReplyWaiter::Blocked(waker) } else { ReplyWaiter::None }
            }
            Some((CallWaiter::Operation(operation), _)) => {
                let operation = *operation;
                self.remove(number).map_or(ReplyWaiter::None, |call| ReplyWaiter::Operation(call.pid, operation, answer))
            }
            Some((CallWaiter::Abandoned, _)) => {
                self.remove(number);
                ReplyWaiter::None
            }
            Some((CallWaiter::Replied(_), _)) | None => ReplyWaiter::None,
        }
    }

    /// Returns the call that a process's operation waits for.
    fn find(&self, pid: Pid, operation: OperationId) -> Option<HostCallId> {
        let is_it = |call: &Call| call.pid == pid && matches!(call.listener, CallWaiter::Operation(known) if known == operation);
        self.calls.iter().find(|(_, call)| is_it(call)).map(|(number, _)| *number)
    }

    /// Removes the waiter of a call. Returns whether the embedder must be notified.
    fn abandon(&mut self, number: HostCallId) -> bool {
        let Some(call) = self.calls.get_mut(&number) else { return false };
        match std::mem::replace(&mut call.listener, CallWaiter::Abandoned) {
            CallWaiter::Operation(_) | CallWaiter::Waiting(_) => true,
            CallWaiter::Replied(_) => {
                self.remove(number);
                false
            }
            CallWaiter::Abandoned => false,
        }
    }
}

/// The waiter that a reply notifies.
#[derive(Debug)]
enum ReplyWaiter {
    None,
    Blocked(Waker),
    Operation(Pid, OperationId, HostAnswer),
}

impl HostCalls {
    /// Sends host calls to `embedder`. If an embedder is attached already, the function has no
    /// effect.
    pub fn attach(&self, embedder: Arc<dyn Embedder>) {
        let _ = self.embedder.set(embedder);
    }

    /// Reports to the embedder that the edge process needs the values of the runtime's secrets.
    pub fn secrets_wanted(&self) {
        if let Some(embedder) = self.embedder.get() {
            embedder.secrets_wanted();
        }
    }

    /// Reports to the embedder that a request waits for one of its functions.
    pub fn handler_wanted(&self, number: u32) {
        if let Some(embedder) = self.embedder.get() {
            embedder.handler_wanted(number);
        }
    }

    /// Passes an event of a connection to such a request to the embedder.
    pub fn network(&self, id: ConnectionId, event: NetworkEvent) {
        if let Some(embedder) = self.embedder.get() {
            embedder.network(id, event);
        }
    }

    /// Enters a call in the table and sends the call to the embedder. A reply notifies `listener`.
    /// Fails with `ENOSYS` without an embedder, and with `E2BIG` if the input is too long. Fails
    /// with `ENOBUFS` if too many calls or bytes are in progress, or the limit of kernel memory is
    /// reached.
    fn enter(&self, program: &dyn Caller, question: &HostCallRequest<'_>, listener: CallWaiter) -> Result<HostCallId, Errno> {
        let embedder = self.embedder.get().ok_or(Errno::ENOSYS)?;
        if question.input.len() > MAX_INPUT_BYTES {
            return Err(Errno::E2BIG);
        }
        let bytes = question.input.len() + question.name.len();
        let usage = &program.process().kernel.usage;
        let charge = Charge::of(usage, Resource::Kernel, CALL_COST + bytes as u64).ok_or(Errno::ENOBUFS)?;
        let number = self.table.lock().enter(program.pid(), bytes, charge, listener)?;
        embedder.call(HostCall {
            number,
            pid: program.pid(),
            service: question.service,
            name: question.name.to_owned(),
            input: question.input.to_vec(),
        });
        Ok(number)
    }

    fn abandon(&self, number: HostCallId) {
        let notified = self.table.lock().abandon(number);
        if let (true, Some(embedder)) = (notified, self.embedder.get()) {
            embedder.cancel(number);
        }
    }

    /// Returns the operations that wait for the embedder, with their processes, in the order of
    /// pids and operations.
    pub(crate) fn waiters(&self) -> Vec<(Pid, OperationId)> {
        let table = self.table.lock();
        let waiter =
            |call: &Call| if let CallWaiter::Operation(operation) = call.listener { Some((call.pid, operation)) } else { None };
        let mut waiters: Vec<_> = table.calls.values().filter_map(waiter).collect();
        waiters.sort_unstable();
        waiters
    }

    /// Takes the embedder and the last number from `before`, the runtime's former kernel. The
    /// numbers continue, so that a late reply to an old call matches no new call.
    pub(crate) fn take_over(&self, before: &Self) {
        if let Some(embedder) = before.embedder.get() {
            self.attach(embedder.clone());
        }
        self.continue_from(before.last());
    }

    /// Returns the number of the last call, or `None` if no program has made a call.
    pub fn last(&self) -> Option<HostCallId> {
        self.table.lock().last
    }

    /// Continues the numbers of calls after `last`. A late reply to an older call then matches no
    /// call.
    pub fn continue_from(&self, last: Option<HostCallId>) {
        self.table.lock().last = last;
    }

    /// Removes the waiters of an ended process's calls, and notifies the embedder of each call that
    /// has no reply yet.
    pub(crate) fn abandon_all(&self, pid: Pid) {
        if self.embedder.get().is_none() {
            return;
        }
        let numbers: Vec<_> = {
            let mut table = self.table.lock();
            let own: Vec<_> = table.calls.iter().filter(|(_, call)| call.pid == pid).map(|(number, _)| *number).collect();
            own.into_iter().filter(|number| table.abandon(*number)).collect()
        };
        if let Some(embedder) = self.embedder.get() {
            numbers.into_iter().for_each(|number| embedder.cancel(number));
        }
    }

    /// Returns the number of calls in progress and the bytes of their inputs and names.
    pub fn count(&self) -> (usize, usize) {
        let table = self.table.lock();
        (table.calls.len(), table.bytes)
    }
}

impl Kernel {
    /// Passes the embedder's reply to the waiter of a call and wakes the waiter.
    pub fn answer(&self, number: HostCallId, answer: HostAnswer) {
        let notified = self.host_calls.table.lock().answer(number, answer);
        match notified {
            ReplyWaiter::None => {}
            ReplyWaiter::Blocked(waker) => waker.wake(),
            ReplyWaiter::Operation(pid, operation, answer) => {
                if let Some(program) = self.processes.program(pid) {
                    complete(&program.process().operations, operation, answer);
                }
            }
        }
    }
}

/// Completes an operation with the reply: with 0 and the bytes, or with an error number and the
/// failure's message.
fn complete(operations: &Operations, operation: OperationId, answer: HostAnswer) {
    match answer {
        Ok(bytes) => operations.complete(operation, Ok(0), bytes),
        Err(failure) => operations.complete(operation, Err(failure.errno()), failure.message.into_bytes()),
    }
}

/// Starts a host call. Returns the operation whose completion has the reply. Fails like
/// `HostCalls::enter`.
pub(crate) fn begin(program: &dyn Caller, question: &HostCallRequest<'_>) -> Result<OperationId, Errno> {
    let process = program.process();
    let operation = process.operations.begin()?;
    match process.kernel.host_calls.enter(program, question, CallWaiter::Operation(operation)) {
        Ok(_) => Ok(operation),
        Err(error) => {
            process.operations.cancel(operation);
            Err(error)
        }
    }
}

/// Cancels an operation that [`begin`] started, so that the program receives no completion. Fails
/// with `ENOENT` if the operation waits for no call.
pub(crate) fn cancel(program: &dyn Caller, operation: OperationId) -> Result<(), Errno> {
    let process = program.process();
    let calls = &process.kernel.host_calls;
    let number = calls.table.lock().find(program.pid(), operation).ok_or(Errno::ENOENT)?;
    process.operations.cancel(operation);
    calls.abandon(number);
    Ok(())
}

/// Starts a host call, and blocks only the program's VM until the reply. A kill, or the end of the
/// evaluation, ends the wait with `EINTR`.
pub(crate) async fn ask_and_wait(program: &Arc<dyn Caller>, question: &HostCallRequest<'_>) -> HostAnswer {
    let calls = &program.process().kernel.host_calls;
    let number = calls.enter(&**program, question, CallWaiter::Waiting(None)).map_err(HostFailure::of)?;
    // The output so far must reach its readers before the program waits.
    program.flush_output();
    let _blocked = Blocked::new(&**program);
    poll_fn(|context| {
        let mut table = calls.table.lock();
        match table.calls.get_mut(&number).map(|call| &mut call.listener) {
            Some(CallWaiter::Waiting(waker)) => {
                if program.must_stop() {
                    drop(table);
                    calls.abandon(number);
                    return Poll::Ready(Err(HostFailure::of(Errno::EINTR)));
                }
                *waker = Some(context.waker().clone());
                return Poll::Pending;
            }
            Some(CallWaiter::Replied(_)) => {}
            _ => return Poll::Ready(Err(HostFailure::of(Errno::EIO))),
        }
        match table.remove(number).map(|call| call.listener) {
            Some(CallWaiter::Replied(answer)) => Poll::Ready(answer),
            _ => Poll::Ready(Err(HostFailure::of(Errno::EIO))),
        }
    })
    .await
}

impl HostFailure {
    /// Returns the failure for an error number of the kernel.
    pub(crate) fn of(errno: Errno) -> Self {
        Self { code: errno.name().to_owned(), message: errno.message().to_owned() }
    }

    /// Returns the error number that the failure's code names, or `EIO` for another code.
    pub(crate) fn errno(&self) -> Errno {
        Errno::named(&self.code).unwrap_or(Errno::EIO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::usage::Usage;

    fn free() -> Charge {
        Charge::none(&Arc::default(), Resource::Kernel)
    }
    use crate::testing::operation;

    fn table() -> CallTable {
        CallTable::default()
    }

    #[test]
    fn returns_a_reply_to_its_operation_once() {
        let mut table = table();
        let number = table.enter(Pid::new(7), 3, free(), CallWaiter::Operation(operation(9))).expect("room");
        assert_eq!(
            (table.bytes, table.find(Pid::new(7), operation(9)), table.find(Pid::new(8), operation(9))),
            (3, Some(number), None)
        );
        assert!(matches!(table.answer(HostCallId::new(number.get() + 1), Ok(vec![])), ReplyWaiter::None));
        let ReplyWaiter::Operation(pid, own, Ok(bytes)) = table.answer(number, Ok(vec![1])) else { panic!("an operation") };
        assert_eq!((pid, own, &bytes[..]), (Pid::new(7), operation(9), &[1][..]));
        assert!(matches!(table.answer(number, Ok(vec![2])), ReplyWaiter::None));
        assert_eq!((table.calls.len(), table.bytes), (0, 0));
    }

    #[test]
    fn counts_an_abandoned_call_until_the_embedder_replies() {
        let mut table = table();
        let number = table.enter(Pid::new(7), 3, free(), CallWaiter::Operation(operation(9))).expect("room");
        assert!(table.abandon(number));
        assert!(!table.abandon(number));
        assert_eq!((table.calls.len(), table.bytes), (1, 3));
        assert!(matches!(table.answer(number, Ok(vec![])), ReplyWaiter::None));
        assert_eq!((table.calls.len(), table.bytes), (0, 0));
        assert!(!table.abandon(number));
    }

    #[test]
    fn keeps_the_first_reply_for_a_blocked_vm() {
        let mut table = table();
        let number = table.enter(Pid::new(7), 0, free(), CallWaiter::Waiting(None)).expect("room");
        assert!(matches!(table.answer(number, Ok(vec![1])), ReplyWaiter::None));
        assert!(matches!(table.answer(number, Ok(vec![2])), ReplyWaiter::None));
        let call = table.remove(number).expect("the call waits");
        assert!(matches!(call.listener, CallWaiter::Replied(Ok(bytes)) if bytes == [1]));
        let number = table.enter(Pid::new(7), 0, free(), CallWaiter::Waiting(Some(Waker::noop().clone()))).expect("room");
        assert!(matches!(table.answer(number, Ok(vec![])), ReplyWaiter::Blocked(_)));
        // After the reply, abandoning the call must not notify the embedder.
        assert!(!table.abandon(number));
        assert!(table.calls.is_empty());
    }

    #[test]
    fn bounds_the_calls_and_their_bytes() {
        let mut table = table();
        assert_eq!(table.enter(Pid::INIT, MAX_BYTES + 1, free(), CallWaiter::Abandoned), Err(Errno::ENOBUFS));
        let first = table.enter(Pid::INIT, MAX_BYTES, free(), CallWaiter::Abandoned).expect("room");
        assert_eq!(table.enter(Pid::INIT, 1, free(), CallWaiter::Abandoned), Err(Errno::ENOBUFS));
        for _ in 1..MAX_CALLS {
            table.enter(Pid::INIT, 0, free(), CallWaiter::Abandoned).expect("room");
        }
        assert_eq!(table.enter(Pid::INIT, 0, free(), CallWaiter::Abandoned), Err(Errno::ENOBUFS));
        table.remove(first);
        table.last = Some(HostCallId::new(u32::MAX));
        // After the highest number, the numbers continue at 1 and skip the numbers in use.
        assert_eq!(table.enter(Pid::INIT, 1, free(), CallWaiter::Abandoned), Ok(first));
    }

    #[test]
    fn a_reply_that_exceeds_the_kernel_memory_becomes_enobufs() {
        let usage = Usage::new(&Limits { kernel_bytes: 1_000, ..Limits::default() });
        let charge = || Charge::of(&usage, Resource::Kernel, CALL_COST).expect("room");
        let mut table = table();
        for (len, code) in [(500, "no failure"), (2_000, "ENOBUFS")] {
            let number = table.enter(Pid::new(7), 0, charge(), CallWaiter::Waiting(None)).expect("room");
            // A reply's spare capacity is freed, so that the charge is the memory in use.
            let mut reply = Vec::with_capacity(100_000);
            reply.resize(len, 7);
            table.answer(number, Ok(reply));
            assert!(usage.kernel_bytes() <= 1_000);
            let call = table.remove(number).expect("the call waits");
            let CallWaiter::Replied(answer) = call.listener else { unreachable!("a reply was stored") };
            assert_eq!(answer.err().map_or("no failure".to_owned(), |failure| failure.code), code);
        }
        assert_eq!(usage.kernel_bytes(), 0);
    }

    #[test]
    fn maps_a_failure_to_the_error_number_of_its_code() {
        let failure = |code: &str| HostFailure { code: code.to_owned(), message: String::new() }.errno();
        assert_eq!((failure("ENOENT"), failure("ERR_X"), failure("")), (Errno::ENOENT, Errno::EIO, Errno::EIO));
    }
}
