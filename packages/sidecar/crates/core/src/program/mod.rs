//! One program: the state that its VM, its task, its callers and its alarms share.
//!
//! A program starts once, from the embedder or as the child of another program, and ends once. The
//! first reason that [`Program::end`] receives counts. The program's task checks for a reason at
//! the guest's next poll, or before the task would run the guest again. After [`KILL_GRACE`] the
//! gate to the program's memory is closed.
//!
//! `run.rs` runs a program from start to end, and `containment.rs` ends a program whose work has
//! panicked. `evaluations.rs` has the snippets of a resident program, `deadline.rs` the limits of
//! time, `output.rs` and `shared_output.rs` the output, and `usage.rs` the use of limits.
//! `open_output.rs` delays the outcome of a program until its output has ended. `tree.rs`
//! extends the limits of a root program to its descendants. `quiesce.rs` and
//! `rest.rs` bring the programs of a runtime to rest, and `snapshot.rs` takes a program's snapshot.
//! `caller.rs` is a program's interface for the kernel, and `home.rs` the interface of the runtime
//! for a program.

mod caller;
mod containment;
mod deadline;
mod evaluations;
mod home;
mod info;
mod lineage;
mod membership;
#[cfg(test)]
mod models;
mod open_output;
mod output;
#[cfg(test)]
mod output_models;
mod owner;
mod program_sink;
mod quiesce;
mod rest;
mod run;
mod scheduled;
mod shared_output;
mod snapshot;
mod sync;
mod tree;
mod usage;

pub(crate) use evaluations::Request;
pub(crate) use home::Home;
pub use info::ProgramInfo;
pub(crate) use membership::Membership;
pub(crate) use output::OutputSnapshot;
pub(crate) use quiesce::{Quiesce, QuiesceRequest, Quiesced};
pub(crate) use run::{Launch, Origin, RestoredVm, run};
pub(crate) use snapshot::{EvaluationSnapshot, ProgramSnapshot, Remaining, RestoreTarget, VmState};
pub(crate) use tree::EndedRoot;

use crate::budget::RuntimeBudget;
use crate::options::{Mode, Streams};
use crate::outcome::Sink;
use crate::sched::{Alarm, Freeze, Scheduler, Task, Timers};
use coldframe_error::Error;
use coldframe_ids::{Lineage, Pid};
use coldframe_kernel::{self as kernel, Limits, Status};
use coldframe_memory::{Gate, Meter};
use coldframe_panics::Health;
use coldframe_panics::runtime::Mutex;
use coldframe_sys as sys;
use deadline::Deadline;
use evaluations::Evaluations;
use open_output::OpenOutput;
use output::{Piece, Written};
use program_sink::ProgramSink;
use shared_output::{EndedOutput, SharedOutput};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::Waker;
use std::time::Duration;
use tree::ProgramTree;

/// The time within which a program that must end has to reach its next poll. After this time the
/// gate to the program's memory is closed.
const KILL_GRACE: Duration = Duration::from_millis(20);
/// The time within which an interrupted evaluation has to reach its next poll. The time is longer
/// than [`KILL_GRACE`], because a program that exceeds this time ends and loses all state.
const INTERRUPT_GRACE: Duration = Duration::from_millis(30);

/// One run of guest code, from start to exit.
pub(crate) struct Program {
    /// The number in the runtime's process table.
    pub(crate) pid: Pid,
    /// The lineage, which is assigned at the start and shared by all copies of the program.
    pub(crate) lineage: Lineage,
    /// The command line, for lists of processes.
    pub(crate) command: String,
    /// The parent at the start. [`Pid::INIT`] for a root program.
    ppid: Pid,
    mode: Mode,
    scheduler: Arc<Scheduler>,
    pub(crate) sink: ProgramSink,
    home: Weak<dyn Home>,
    /// The root program and its descendants. Set when a child joins its runtime, and in a root
    /// program when its first child joins.
    tree: OnceLock<Arc<ProgramTree>>,
    /// The time limits of the runtime.
    budget: Arc<RuntimeBudget>,
    /// The health of the runtime.
    health: Arc<Health>,
    /// Whether the runtime is frozen.
    freeze: Arc<Freeze>,
    pub(crate) quiesce: Arc<Quiesce>,
    pub(crate) process: kernel::Process,
    gate: Arc<Gate>,
    meter: Arc<Meter>,
    control: Mutex<Control>,
    output: SharedOutput,
    input: Mutex<Input>,
    /// Mirrors `control.failure.is_some()`, for a check without the lock.
    must_end: AtomicBool,
    /// Mirrors `control.exited.is_some()`, for a check without the lock.
    has_exited: AtomicBool,
    /// Whether the running evaluation is interrupted, for a check without the lock.
    must_interrupt: AtomicBool,
    yielded: AtomicBool,
    /// The end of the present slice, in nanoseconds of the monotonic clock.
    slice_end: AtomicU64,
    /// The CPU time that does not count for the limit, in nanoseconds: the time before the current
    /// evaluation, and the time of taking snapshots.
    cpu_baseline: AtomicU64,
    /// The child's CPU time that its root program has been charged for, in nanoseconds.
    charged: AtomicU64,
    /// Whether a warning of the CPU limit was sent.
    warned_cpu: AtomicBool,
    /// Whether the program waits for a timer.
    waits_for_timer: AtomicBool,
    this: Weak<Program>,
    /// The task that polls the program. Set once.
    task: OnceLock<Weak<Task>>,
}

#[derive(Default)]
struct Control {
    /// The reason to end. The first reason counts.
    failure: Option<Error>,
    /// The exit code, after the outcome was sent.
    exited: Option<i32>,
    /// The reason of the end, if the reason explains more than the exit code.
    why: Option<Error>,
    /// Whether another program has taken the sink.
    sink_taken: bool,
    evaluations: Evaluations,
    /// Whether the program has ended and its output is open.
    open_output: OpenOutput,
    /// Wakes the task while the program has no work.
    waiting: Option<Waker>,
    alarms: Vec<Alarm>,
    /// The limit of the program's wall-clock time.
    deadline: Option<Deadline>,
}

/// The bytes that the embedder has passed as standard input.
#[derive(Default)]
struct Input {
    bytes: Vec<u8>,
    read: usize,
}

impl Input {
    /// Reads into `buffer`. Returns the number of bytes, which is 0 at the end of the input.
    fn read(&mut self, buffer: &mut [u8]) -> usize {
        let rest = &self.bytes[self.read..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        count
    }
}

/// The parts of a new program.
pub(crate) struct Parts {
    pub(crate) command: String,
    pub(crate) ppid: Pid,
    pub(crate) mode: Mode,
    pub(crate) streams: Streams,
    pub(crate) stdin: Vec<u8>,
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) sink: Arc<dyn Sink>,
    pub(crate) home: Weak<dyn Home>,
    pub(crate) quiesce: Arc<Quiesce>,
    pub(crate) process: kernel::Process,
    pub(crate) budget: Arc<RuntimeBudget>,
    pub(crate) health: Arc<Health>,
    pub(crate) freeze: Arc<Freeze>,
}

impl Program {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        Self::of_lineage(lineage::fresh(), parts)
    }

    fn of_lineage(lineage: Lineage, parts: Parts) -> Arc<Self> {
        let program = Arc::new_cyclic(|this| Self {
            pid: parts.process.pid,
            lineage,
            command: parts.command,
            ppid: parts.ppid,
            mode: parts.mode,
            scheduler: parts.scheduler,
            sink: ProgramSink::new(Some(parts.sink)),
            home: parts.home,
            tree: OnceLock::new(),
            budget: parts.budget,
            health: parts.health,
            freeze: parts.freeze,
            quiesce: parts.quiesce,
            output: SharedOutput::new(parts.streams, parts.process.limits.output_bytes),
            process: parts.process,
            gate: Arc::default(),
            meter: Arc::default(),
            control: Mutex::default(),
            input: Mutex::new(Input { bytes: parts.stdin, read: 0 }),
            must_end: AtomicBool::new(false),
            has_exited: AtomicBool::new(false),
            must_interrupt: AtomicBool::new(false),
            yielded: AtomicBool::new(false),
            slice_end: AtomicU64::new(0),
            cpu_baseline: AtomicU64::new(0),
            charged: AtomicU64::new(0),
            warned_cpu: AtomicBool::new(false),
            waits_for_timer: AtomicBool::new(false),
            this: this.clone(),
            task: OnceLock::new(),
        });
        log::debug!(target: "program", "{} created: {:?}, parent {}", program.in_log(), program.mode, program.ppid);
        program
    }

    /// Returns the program's name in the log: its runtime's number and its pid. The caller must
    /// hold no lock, because this function may drop the last handle of the runtime.
    fn in_log(&self) -> String {
        self.home().map_or_else(|| format!("-/{}", self.pid), |home| format!("{}/{}", home.ordinal(), self.pid))
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns whether the embedder started the program.
    pub(crate) fn is_root(&self) -> bool {
        self.ppid == Pid::INIT
    }

    /// Returns the program's runtime, or `None` if the runtime was dropped.
    pub(crate) fn home(&self) -> Option<Arc<dyn Home>> {
        self.home.upgrade()
    }

    /// Returns whether this is a program of `home`.
    pub(crate) fn is_of(&self, home: &Arc<impl Home>) -> bool {
        std::ptr::addr_eq(self.home.as_ptr(), Arc::as_ptr(home))
    }

    pub(crate) fn timers(&self) -> &Timers {
        self.scheduler.timers()
    }

    /// Returns the limits of the program: the runtime's limits, of which the embedder may have
    /// lowered some.
    pub(crate) fn limits(&self) -> &Limits {
        &self.process.limits
    }

    /// Returns the number of output bytes that wait for readers.
    pub(crate) fn buffered(&self) -> u64 {
        self.output.lock().buffered()
    }

    // Functions that the program's task calls.

    pub(crate) fn set_task(&self, task: &Arc<Task>) {
        // A program has one task. A second call would be a defect and is ignored.
        let _ = self.task.set(Arc::downgrade(task));
    }

    /// Returns the program's task, or `None` if the program has no task or the task was dropped.
    pub(crate) fn task(&self) -> Option<Arc<Task>> {
        self.task.get().and_then(Weak::upgrade)
    }

    /// Returns whether the program must end.
    pub(crate) fn is_ending(&self) -> bool {
        self.must_end.load(Ordering::Acquire)
    }

    // Functions that serve the guest.

    /// Writes to stream 1 or 2, which the embedder reads. The writer is the program or a child that
    /// has inherited the stream.
    fn write(&self, fd: u8, bytes: &[u8]) -> Written {
        let (written, near) = self.output.write(fd, bytes, |piece| self.send(piece));
        if let Some(held) = near {
            self.warn("outputBytes", held, self.limits().output_bytes);
        }
        written
    }

    /// Sends the gathered output of the program and of its root program. Runs after a turn, and
    /// before the program waits.
    pub(crate) fn flush_all(&self) {
        self.flush();
        if let Some(root) = self.stream_root() {
            root.flush();
        }
    }

    /// Streams these descriptors from now on, beginning with the output captured so far. Returns
    /// false if the program has ended.
    pub(crate) fn stream(&self, streams: Streams) -> bool {
        let streams = self.output.lock().stream(streams);
        self.flush();
        self.wake_writers();
        streams
    }

    /// Wakes the tasks that wait for a reader of the output or for space in the window.
    fn wake_writers(&self) {
        let waiting = std::mem::take(&mut self.output.lock().waiting);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Sends the output that remains in the program's terminal when the program ends.
    fn finish_terminal(&self) {
        let rest = self.process.take_terminal_output();
        if !rest.is_empty() {
            self.write(1, &rest);
        }
    }

    /// Sends the output of these descriptors to listeners too, from now on. `add` adds a listener.
    pub(crate) fn observe(&self, observed: Streams, add: impl FnOnce()) {
        self.output.observe(observed, |piece| self.send(piece), add);
    }

    /// Sends the gathered output.
    fn flush(&self) {
        self.output.flush(|piece| self.send(piece));
    }

    fn send(&self, Piece { evaluation, fd, data }: Piece) {
        self.sink.send(|sink| sink.output(evaluation, fd, data));
    }

    // Functions that serve the embedder.

    /// Adds credit: the reader has consumed `bytes` of streamed output.
    pub(crate) fn credit(&self, bytes: u64) {
        let waiting = self.output.lock().credit(bytes);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Ends the program for this reason. The program ends within about [`KILL_GRACE`] even if the
    /// guest never polls.
    pub(crate) fn end(&self, reason: Error) {
        let mut control = self.control.lock();
        let reports = matches!(control.open_output, OpenOutput::Reports(_));
        if control.exited.is_some() || control.failure.is_some() || reports {
            return;
        }
        control.failure = Some(reason);
        self.must_end.store(true, Ordering::Release);
        let gate = self.gate.clone();
        let deadline = sys::monotonic_ns() + nanos(KILL_GRACE);
        let alarm = self.scheduler.timers().set(deadline, move || gate.close());
        control.alarms.push(alarm);
        let waiting = control.waiting.take();
        drop(control);
        self.wake(waiting);
    }

    /// Ends the current work: the running evaluation in a resident program, otherwise the program.
    fn end_work(&self, reason: Error) {
        if self.mode != Mode::Resident || !self.interrupt_current(&reason) {
            self.end(reason);
        }
    }

    fn wake(&self, waiting: Option<Waker>) {
        self.wake_writers();
        self.process.wake_blocked();
        waiting.into_iter().for_each(Waker::wake);
        // The program may wait for space in the output stream of another program.
        if let Some(task) = self.task() {
            Waker::from(task).wake();
        }
        if self.is_ending() {
            self.freeze.recheck();
        }
    }

    /// Marks the program as ended and sends its outcome, once.
    fn report_exit(&self, exit_code: i32, value: Option<String>, timings: crate::outcome::Timings) {
        let mut control = self.control.lock();
        if control.exited.is_some() {
            return;
        }
        let failure = control.failure.take();
        // The end of a program whose output was open has been recorded already.
        let before = std::mem::take(&mut control.open_output).status();
        let status = before.filter(|_| failure.is_none()).unwrap_or_else(|| Status::of(exit_code, failure.as_ref()));
        let exit_code = failure.as_ref().map_or_else(|| status.exit_code(), Error::exit_code);
        control.exited = Some(exit_code);
        let deadline = control.deadline;
        self.has_exited.store(true, Ordering::Release);
        control.why = failure.clone().filter(evaluations::explains_end);
        let sink_taken = control.sink_taken;
        let alarms = std::mem::take(&mut control.alarms);
        let evaluations = control.evaluations.close();
        control.waiting = None;
        drop(control);
        log::debug!(
            target: "program",
            "{} exited: {exit_code} ({})", self.in_log(), failure.as_ref().map_or("no failure", Error::code)
        );
        // The embedder receives a signal as an exit code.
        let failure = failure.filter(|reason| !matches!(reason, Error::Signal { .. }));
        for alarm in alarms {
            self.scheduler.timers().cancel(alarm);
        }
        if failure.is_none() && before.is_none() {
            self.leave_tree(deadline);
        }
        self.contain_end(|| {
            self.process.leave_peaks();
            if before.is_none() {
                self.process.kernel.processes.exited(self.pid, status, failure.is_some());
            }
        });
        self.report_unfinished(evaluations, (exit_code, status.signal()), failure.as_ref());
        let outcome = self.outcome((exit_code, status.signal()), value, failure, timings);
        if !sink_taken {
            self.sink.send(|sink| sink.exited(outcome));
        }
    }

    /// Makes an outcome with the captured output. The pair has the exit code, and the signal that
    /// ended the program.
    fn outcome(
        &self,
        (exit_code, signal): (i32, Option<u8>),
        value: Option<String>,
        failure: Option<Error>,
        timings: crate::outcome::Timings,
    ) -> crate::Outcome {
        let EndedOutput { captured, most, waiting } = self.output.end(|piece| self.send(piece));
        let [(stdout, stdout_truncated), (stderr, stderr_truncated)] = captured;
        self.process.kernel.usage.peaks.output_bytes.record(most);
        // The window of an ended program or evaluation receives no more credit.
        waiting.into_iter().for_each(Waker::wake);
        // The embedder must receive the program's warnings before its outcome.
        self.process.kernel.usage.warnings.send();
        crate::Outcome { exit_code, signal, stdout, stderr, stdout_truncated, stderr_truncated, value, failure, timings }
    }
}

/// Returns a duration in nanoseconds.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
