//! Calls that block only their VM until a descriptor is ready, a child has ended, or a deadline has
//! passed. A blocked VM runs no guest code and occupies no worker. A kill, or the end of the
//! evaluation, ends the wait. Next: `look.rs`.

use super::table::Waiter;
use crate::Answer;
use crate::caller::{Blocked, Caller};
use crate::ids::{Fd, OperationId};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use coldframe_sys as sys;
use serde::{Deserialize, Serialize};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// A descriptor or child to wait for.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum WatchTarget {
    /// A descriptor, with the mask of its events.
    Descriptor(Fd, u32),
    Child(Pid),
}

/// A socket or child that a call waits for, with the operation of the wait.
enum Watched {
    Socket(Fd, OperationId),
    Child(Pid, OperationId),
}

/// Waits until a descriptor is ready for an event in its mask, a child has ended, or `deadline` has
/// passed. `deadline` is in nanoseconds of the monotonic clock. Returns 1 if the deadline has
/// passed, otherwise 0. Fails with `EINTR` if the program's work must stop, and if a signal is
/// pending that the program takes. Descriptors that are no
/// sockets are always ready.
pub(crate) async fn wait_for(program: &Arc<dyn Caller>, targets: &[WatchTarget], deadline: Option<u64>) -> Answer {
    let mut watched = Vec::new();
    let begun = begin(program, targets, &mut watched);
    let result = match begun {
        Ok(true) => Ok(0),
        Ok(false) => {
            // The output so far must reach its readers before the program waits.
            program.flush_output();
            block(program, deadline, |waker| Ok(program.process().operations.is_unblocked(waker))).await
        }
        Err(error) => Err(error),
    };
    end(program, watched);
    result
}

/// Starts the waits. Returns whether a descriptor is ready or a child has ended already.
fn begin(program: &Arc<dyn Caller>, targets: &[WatchTarget], watched: &mut Vec<Watched>) -> Result<bool, Errno> {
    let process = program.process();
    for target in targets {
        match *target {
            WatchTarget::Descriptor(fd, mask) => {
                let Some(id) = process.socket_of(fd)? else { return Ok(true) };
                let operation = process.operations.begin_blocking()?;
                watched.push(Watched::Socket(fd, operation));
                process.kernel.sockets.arm(program, id, operation, mask)?;
            }
            WatchTarget::Child(pid) => {
                let operation = process.operations.begin_blocking()?;
                watched.push(Watched::Child(pid, operation));
                let waiter = Waiter { operation, reaps: false, changes: 0 };
                if process.kernel.processes.wait(program.pid(), pid, waiter)?.is_some() {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// Waits for the completion of an operation, or until `deadline` has passed. Returns 1 if the
/// deadline has passed, otherwise 0. Fails like [`wait_for`], and with `ENOENT` if no operation of
/// the program has the number.
pub(crate) async fn wait_for_completion(program: &Arc<dyn Caller>, operation: OperationId, deadline: Option<u64>) -> Answer {
    program.flush_output();
    block(program, deadline, |waker| program.process().operations.has_completed(operation, waker)).await
}

/// Blocks the VM until `is_over` returns true, which registers a waker.
async fn block(program: &Arc<dyn Caller>, deadline: Option<u64>, is_over: impl Fn(&Waker) -> Result<bool, Errno>) -> Answer {
    // The time in which the runtime is frozen does not count.
    let frozen_before = program.frozen_ns();
    let present = |deadline: u64| deadline.saturating_add(program.frozen_ns().saturating_sub(frozen_before));
    let (mut alarm, _blocked) = (None, Blocked::new(&**program));
    poll_fn(|context| {
        if program.must_stop() {
            return Poll::Ready(Err(Errno::EINTR));
        }
        if program.process().is_stopped() {
            // The program's task is woken when the program continues.
            return Poll::Pending;
        }
        match is_over(context.waker()) {
            Ok(false) => {}
            over => return Poll::Ready(over.map(|_| 0)),
        }
        if program.process().signals.interrupts() {
            return Poll::Ready(Err(Errno::EINTR));
        }
        let deadline = deadline.map(present);
        if deadline.is_some_and(|deadline| sys::monotonic_ns() >= deadline) {
            return Poll::Ready(Ok(1));
        }
        if let Some(deadline) = deadline.filter(|deadline| alarm.as_ref().is_none_or(|(at, _)| at != deadline)) {
            alarm = Some((deadline, program.wake_at(deadline, context.waker().clone())));
        }
        // The program may have received a kill between the check above and the registration of
        // the waker.
        if program.must_stop() { Poll::Ready(Err(Errno::EINTR)) } else { Poll::Pending }
    })
    .await
}

fn end(program: &Arc<dyn Caller>, watched: Vec<Watched>) {
    let process = program.process();
    for watched in watched {
        let operation = match watched {
            Watched::Socket(fd, operation) => {
                if let Ok(Some(id)) = process.socket_of(fd) {
                    process.kernel.sockets.disarm(&**program, id, operation);
                }
                operation
            }
            Watched::Child(pid, operation) => {
                process.kernel.processes.unwait(pid, operation);
                operation
            }
        };
        process.operations.end_blocking(operation);
    }
}
