//! One program: what its VM, its task, its callers and the alarms share about it.
//!
//! A program is started once and ends once: by the caller outside, or as the child of another. Whoever wants it ended says why ([`Program::end`], the first reason counts); its
//! task notices at the guest's next poll, or before it would run it again, and after [`KILL_GRACE`] its memory is taken away. `run.rs` is
//! the program's life, `evaluations.rs` the snippets of a resident one, `deadline.rs` the limits of its time, `output.rs` what it writes, `usage.rs` what it uses, `moment.rs` and `rest.rs` how
//! the programs of a runtime are saved at one moment, `saved.rs` a program as a value.

mod deadline;
mod evaluations;
mod lineage;
mod moment;
mod output;
mod rest;
mod run;
mod saved;
mod usage;
mod voice;

pub(crate) use evaluations::Request;
pub(crate) use moment::{Gathered, Moment, Wanted};
pub(crate) use output::{SavedOutput, Written};
pub(crate) use run::{Beginning, Copy, Launch, run};
pub(crate) use saved::{Place, Remaining, SavedEvaluation, SavedProgram, SavedVm};

use crate::error::Error;
use crate::kernel::{self, Errno, Status};
use crate::limits::Limits;
use crate::memory::Gate;
use crate::options::{Mode, Streams};
use crate::outcome::Sink;
use crate::runtime::Inner;
use crate::sched::{Alarm, Meter, Scheduler, Task, Timers};
use crate::sys;
use deadline::Deadline;
use evaluations::Evaluations;
use output::{Effect, Output};
use parking_lot::Mutex;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;
use voice::Voice;

/// How long a program that must end may take to get to its next poll: then its memory is taken away.
const KILL_GRACE: Duration = Duration::from_millis(20);
/// The same for an evaluation that is interrupted. Longer, because the program with all its state is lost when it is not enough.
const INTERRUPT_GRACE: Duration = Duration::from_millis(30);

/// What the guest does at its next poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checkpoint {
    /// Go on.
    Continue,
    /// Unwind to the end of the evaluation; the VM lives on.
    Interrupt,
    /// The VM is discarded.
    End,
}

/// See the module.
pub(crate) struct Program {
    /// Its number in the runtime's process table.
    pub(crate) pid: u32,
    /// Given when it was started, and shared by all its copies.
    pub(crate) lineage: u64,
    /// What it was started as, for those who look.
    pub(crate) command: String,
    /// Its parent when it began; 1 for one that the caller outside started.
    ppid: u32,
    mode: Mode,
    scheduler: Arc<Scheduler>,
    pub(crate) voice: Voice,
    home: Weak<Inner>,
    pub(crate) process: kernel::Process,
    gate: Arc<Gate>,
    meter: Arc<Meter>,
    control: Mutex<Control>,
    output: Mutex<Output>,
    input: Mutex<Input>,
    /// Mirrors `control.failure.is_some()`, for a look without the lock.
    must_end: AtomicBool,
    /// Mirrors an interrupted evaluation.
    must_interrupt: AtomicBool,
    yielded: AtomicBool,
    /// Nanoseconds of the monotonic clock.
    slice_end: AtomicU64,
    /// CPU time when the current evaluation began.
    cpu_baseline: AtomicU64,
    /// CPU time that its root has been charged for.
    charged: AtomicU64,
    /// Whether it has been warned of its CPU time.
    warned_cpu: AtomicBool,
    /// Whether it waits for a timer.
    waits_for_timer: AtomicBool,
    this: Weak<Program>,
    /// What polls it. Set once, when the task is made.
    task: OnceLock<Weak<Task>>,
}

#[derive(Default)]
struct Control {
    /// Why the program must end. The first reason counts.
    failure: Option<Error>,
    /// It has ended and its sink was told.
    exited: Option<i32>,
    /// Why it is not there, if that says more than its exit code.
    why: Option<Error>,
    /// Its sink is another program's now.
    silent: bool,
    evaluations: Evaluations,
    /// The task, while it waits for something to do.
    waiting: Option<Waker>,
    alarms: Vec<Alarm>,
    /// When its time is over.
    deadline: Option<Deadline>,
}

#[derive(Default)]
struct Input {
    bytes: Vec<u8>,
    read: usize,
}

/// What a program is made with.
pub(crate) struct Parts {
    pub(crate) command: String,
    pub(crate) ppid: u32,
    pub(crate) mode: Mode,
    pub(crate) streams: Streams,
    pub(crate) stdin: Vec<u8>,
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) sink: Arc<dyn Sink>,
    /// The runtime.
    pub(crate) home: Weak<Inner>,
    pub(crate) process: kernel::Process,
}

impl Program {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        Self::of_lineage(lineage::fresh(), parts)
    }

    fn of_lineage(lineage: u64, parts: Parts) -> Arc<Self> {
        let program = Arc::new_cyclic(|this| Self {
            pid: parts.process.pid,
            lineage,
            command: parts.command,
            ppid: parts.ppid,
            mode: parts.mode,
            scheduler: parts.scheduler,
            voice: Voice::new(Some(parts.sink)),
            home: parts.home,
            output: Mutex::new(Output::new(parts.streams, parts.process.kernel.usage.limits.output_bytes)),
            process: parts.process,
            gate: Arc::default(),
            meter: Arc::default(),
            control: Mutex::default(),
            input: Mutex::new(Input { bytes: parts.stdin, read: 0 }),
            must_end: AtomicBool::new(false),
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

    /// Names the program in the log: its runtime's number and its pid. Call without a lock: the
    /// runtime may end with the handle that this takes.
    fn in_log(&self) -> String {
        self.home().map_or_else(|| format!("-/{}", self.pid), |home| format!("{}/{}", home.ordinal(), self.pid))
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether the caller outside started it.
    pub(crate) fn is_root(&self) -> bool {
        self.ppid == kernel::INIT
    }

    /// The runtime, while it lives.
    pub(crate) fn home(&self) -> Option<Arc<Inner>> {
        self.home.upgrade()
    }

    pub(crate) fn timers(&self) -> &Timers {
        self.scheduler.timers()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.process.kernel.usage.limits
    }

    pub(crate) fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Bytes of output held for readers.
    pub(crate) fn buffered(&self) -> u64 {
        self.output.lock().buffered()
    }

    // What its task tells it.

    pub(crate) fn belongs_to(&self, task: &Arc<Task>) {
        // A program has one task; a second call would be a defect and is ignored.
        let _ = self.task.set(Arc::downgrade(task));
    }

    /// Its task, while it lives.
    pub(crate) fn task(&self) -> Option<Arc<Task>> {
        self.task.get().and_then(Weak::upgrade)
    }

    /// A poll of its task begins; the guest makes way after `slice`.
    pub(crate) fn begin_slice(&self, slice: Duration) {
        self.slice_end.store(sys::monotonic_ns() + nanos(slice), Ordering::Relaxed);
        self.meter.begin();
        self.scheduler.begins(&self.this);
    }

    /// Whether the poll ended because the slice was over.
    pub(crate) fn has_yielded(&self) -> bool {
        self.yielded.swap(false, Ordering::Relaxed)
    }

    /// Its task panicked: the VM is gone. This is a defect of the host, reported like an engine fault.
    pub(crate) fn broke(&self) {
        let reason = Error::EngineFault { reason: "the host failed while it ran the program".to_owned() };
        self.must_end.store(true, Ordering::Release);
        self.control.lock().failure.get_or_insert(reason);
        self.process.close();
        self.tell_exit(137, None, crate::outcome::Timings::default());
    }

    /// Whether it has been told to end.
    pub(crate) fn is_ending(&self) -> bool {
        self.must_end.load(Ordering::Acquire)
    }

    /// Whether what it does now has been told to end: all of it, or the evaluation under way.
    pub(crate) fn must_stop(&self) -> bool {
        self.stop_now().is_some()
    }

    // What its guest asks for.

    /// The guest polls: it makes way when its slice is over.
    pub(crate) async fn checkpoint(&self) -> Checkpoint {
        if let Some(stop) = self.stop_now() {
            return stop;
        }
        if sys::monotonic_ns() < self.slice_end.load(Ordering::Relaxed) {
            return Checkpoint::Continue;
        }
        self.flush();
        let mut made_way = false;
        poll_fn(|_context| {
            if std::mem::replace(&mut made_way, true) {
                return Poll::Ready(());
            }
            self.yielded.store(true, Ordering::Relaxed);
            Poll::Pending
        })
        .await;
        self.stop_now().unwrap_or(Checkpoint::Continue)
    }

    fn stop_now(&self) -> Option<Checkpoint> {
        if self.must_end.load(Ordering::Acquire) {
            return Some(Checkpoint::End);
        }
        self.must_interrupt.load(Ordering::Acquire).then_some(Checkpoint::Interrupt)
    }

    /// Something is written to the stream 1 or 2 of the caller outside: by the program, or by a child that has inherited it.
    pub(crate) fn write(&self, fd: u8, bytes: &[u8]) -> Written {
        let (written, effect) = self.output.lock().write(fd, bytes);
        let Effect { piece, near } = effect;
        if let Some((fd, data)) = piece {
            self.send(fd, data);
        }
        if let Some(held) = near {
            self.warn("outputBytes", held, self.limits().output_bytes);
        }
        if written == Written::Full {
            self.flush();
        }
        written
    }

    /// Writes all that can be taken, for whoever writes without asking what a descriptor is.
    pub(crate) fn write_stream(&self, fd: u8, bytes: &[u8]) -> kernel::Answer {
        match self.write(fd, bytes) {
            Written::Taken(taken) => i64::try_from(taken).map_err(|_| Errno::EINVAL),
            Written::Full => Err(Errno::EAGAIN),
        }
    }

    /// Waits until a write to a streamed descriptor of `owner` would be taken.
    pub(crate) async fn writable(&self, owner: &Self) -> Result<(), Errno> {
        let mut blocked = None;
        poll_fn(|context| {
            if self.must_end.load(Ordering::Acquire) {
                return Poll::Ready(Err(Errno::EINTR));
            }
            {
                let mut output = owner.output.lock();
                if output.has_room() || owner.is_ending() || self.must_interrupt.load(Ordering::Acquire) {
                    return Poll::Ready(Ok(()));
                }
                output.wait(context.waker());
            }
            blocked.get_or_insert_with(|| self.block());
            Poll::Pending
        })
        .await
    }

    /// The guest reads from descriptor 0; 0 at the end.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> usize {
        let mut input = self.input.lock();
        let Input { bytes, read } = &mut *input;
        let rest = &bytes[*read..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        *read += count;
        count
    }

    /// A turn is over, or the program waits: sends on what was gathered, of what it wrote to its root's streams too.
    pub(crate) fn flush_all(&self) {
        self.flush();
        if !self.is_root()
            && let Some(root) = self.process.kernel.processes.root_of(self.pid)
        {
            root.flush();
        }
    }

    /// Sends these streams on from now on, with what was captured of them so far.
    pub(crate) fn stream(&self, streams: Streams) {
        self.output.lock().stream(streams);
        self.flush();
    }

    /// Sends on what was gathered.
    fn flush(&self) {
        let pieces = self.output.lock().flush();
        for (fd, data) in pieces {
            self.send(fd, data);
        }
    }

    fn send(&self, fd: u8, data: Vec<u8>) {
        let evaluation = self.control.lock().evaluations.heard_id();
        self.voice.tell(|sink| sink.output(evaluation, fd, data));
    }

    // What its callers ask for.

    /// The reader has consumed `bytes` of streamed output.
    pub(crate) fn credit(&self, bytes: u64) {
        let waiting = self.output.lock().credit(bytes);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Ends the program, within [`KILL_GRACE`] and a little whatever its guest does.
    pub(crate) fn end(&self, reason: Error) {
        let mut control = self.control.lock();
        if control.exited.is_some() || control.failure.is_some() {
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

    /// Ends what is under way: the evaluation in a resident program, else the program.
    fn give_up_on(&self, reason: Error) {
        if self.mode != Mode::Resident || !self.interrupt_current(&reason) {
            self.end(reason);
        }
    }

    fn wake(&self, waiting: Option<Waker>) {
        let writing = std::mem::take(&mut self.output.lock().waiting);
        self.process.crypto.jobs.wake();
        self.process.operations.wake();
        writing.into_iter().chain(waiting).for_each(Waker::wake);
        // It may wait for someone else's stream.
        if let Some(task) = self.task() {
            Waker::from(task).wake();
        }
    }

    /// Marks the program as ended and tells its sink, once.
    fn tell_exit(&self, exit_code: i32, value: Option<String>, timings: crate::outcome::Timings) {
        let mut control = self.control.lock();
        if control.exited.is_some() {
            return;
        }
        let failure = control.failure.take();
        let status = Status::of(exit_code, failure.as_ref());
        let exit_code = failure.as_ref().map_or(exit_code, Error::exit_code);
        control.exited = Some(exit_code);
        control.why = failure.clone().filter(evaluations::says_why);
        let silent = control.silent;
        let alarms = std::mem::take(&mut control.alarms);
        let evaluations = control.evaluations.close();
        control.waiting = None;
        drop(control);
        log::debug!(
            target: "program",
            "{} exited: {exit_code} ({})", self.in_log(), failure.as_ref().map_or("no failure", Error::code)
        );
        // Tasks hold their programs: one that waited for these streams must not be held by them for ever.
        let writing = std::mem::take(&mut self.output.lock().waiting);
        writing.into_iter().for_each(Waker::wake);
        // A signal is the program's own affair; the caller outside sees it as an exit code.
        let failure = failure.filter(|reason| !matches!(reason, Error::Signal { .. }));
        for alarm in alarms {
            self.scheduler.timers().cancel(alarm);
        }
        self.process.leave_peaks();
        self.process.kernel.processes.exited(self.pid, status, failure.is_some());
        self.tell_unfinished(evaluations, exit_code, failure.as_ref());
        let outcome = self.outcome(exit_code, value, failure, timings);
        if !silent {
            self.voice.tell(|sink| sink.exited(outcome));
        }
    }

    /// Takes the captured output into an outcome.
    fn outcome(
        &self,
        exit_code: i32,
        value: Option<String>,
        failure: Option<Error>,
        timings: crate::outcome::Timings,
    ) -> crate::Outcome {
        self.flush();
        // Before the end is told: a warning of it would come too late.
        self.process.kernel.usage.warnings.tell();
        let [(stdout, stdout_truncated), (stderr, stderr_truncated)] = {
            let mut output = self.output.lock();
            self.process.kernel.usage.peaks.output_bytes.saw(output.look().1);
            output.take()
        };
        crate::Outcome { exit_code, stdout, stderr, stdout_truncated, stderr_truncated, value, failure, timings }
    }
}

/// A duration in nanoseconds.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
