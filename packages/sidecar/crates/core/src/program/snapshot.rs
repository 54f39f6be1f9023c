//! The snapshot of a program: its VM snapshot and the state above the VM. The kernel snapshot
//! contains the kernel's state of the program.
//!
//! A copy is a program that was restored from the snapshot. A copy continues where the original
//! was, with the original's pid and with new alarms for the remaining time. Captured output that
//! was not reported belongs to the original and to the copy. The request of a running evaluation
//! stays with the original. In the copy, the evaluation runs to its end without a report, unless
//! the copy replaces the original (`resume`). Next: `runtime/snapshots/`.

use super::deadline::Deadline;
use super::evaluations::{Queued, Request};
use super::output::OutputSnapshot;
use super::{EndedRoot, Home, Input, Parts, Program, ProgramInfo, Quiesce};
use crate::budget::RuntimeBudget;
use crate::installation::ImageKind;
use crate::options::{EvaluationSettings, Mode, Streams};
use crate::outcome::Sink;
use crate::sched::{Freeze, Scheduler};
use coldframe_error::Error;
use coldframe_ids::{EvaluationId, Lineage, Pid};
use coldframe_kernel::{Limits, Process};
use coldframe_panics::Health;
use coldframe_sys as sys;
use coldframe_vm::VmSnapshot;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Weak};

/// A VM snapshot, and the kind of its image.
#[derive(Debug, Clone)]
pub(crate) struct VmState {
    pub(crate) snapshot: Arc<VmSnapshot>,
    pub(crate) image: ImageKind,
}

/// The remaining time of a timeout, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remaining {
    pub(crate) left_ns: u64,
    /// The whole timeout.
    pub(crate) of_ns: u64,
}

/// A running or a waiting evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EvaluationSnapshot {
    pub(crate) id: EvaluationId,
    /// Empty for the running evaluation, whose code is in the guest.
    pub(crate) code: String,
    pub(crate) time: Option<Remaining>,
    pub(crate) streams: [bool; 2],
    pub(crate) settings: EvaluationSettings,
}

/// The snapshot of a program.
#[derive(Debug, Clone)]
pub(crate) struct ProgramSnapshot {
    pub(crate) pid: Pid,
    pub(crate) ppid: Pid,
    pub(crate) lineage: Lineage,
    pub(crate) command: String,
    pub(crate) mode: Mode,
    pub(crate) streams: [bool; 2],
    pub(crate) output: OutputSnapshot,
    /// The standard input that the program has not read.
    pub(crate) input: Vec<u8>,
    pub(crate) time: Option<Remaining>,
    /// The CPU time that counts for the limit, in nanoseconds.
    pub(crate) cpu_ns: u64,
    /// The limits of a descendant's root program, if the root program has ended.
    pub(crate) ended_root: Option<EndedRoot>,
    /// The limits that are below the runtime's.
    pub(crate) limits: Vec<(String, u64)>,
    pub(crate) evaluation: Option<EvaluationSnapshot>,
    /// The waiting evaluations. Kept only for a program whose runtime is paused.
    pub(crate) queue: Vec<EvaluationSnapshot>,
    pub(crate) vm: VmState,
}

/// The objects outside the snapshot that a restored program needs.
pub(crate) struct RestoreTarget {
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) home: Weak<dyn Home>,
    pub(crate) quiesce: Arc<Quiesce>,
    pub(crate) process: Process,
    pub(crate) budget: Arc<RuntimeBudget>,
    pub(crate) health: Arc<Health>,
    pub(crate) freeze: Arc<Freeze>,
    /// The first sink. The session may replace the sink.
    pub(crate) sink: Arc<dyn Sink>,
}

fn streams([stdout, stderr]: [bool; 2]) -> Streams {
    Streams { stdout, stderr }
}

impl Program {
    /// Takes the snapshot of a program at rest. With `keeps_queue`, the snapshot includes the
    /// waiting evaluations.
    pub(crate) fn snapshot(&self, vm: VmState, keeps_queue: bool) -> ProgramSnapshot {
        let (output, own) = {
            let output = self.output.lock();
            (output.snapshot(), output.streams())
        };
        let input = {
            let input = self.input.lock();
            input.bytes[input.read..].to_vec()
        };
        let control = self.control.lock();
        let evaluation = control.evaluations.current().map(|(id, deadline)| EvaluationSnapshot {
            id,
            code: String::new(),
            time: deadline.map(Deadline::remaining),
            streams: [own.stdout, own.stderr],
            settings: EvaluationSettings::default(),
        });
        let waiting = control.evaluations.queue().filter(|_| keeps_queue);
        let queue = waiting.map(|Queued { request, deadline, .. }| EvaluationSnapshot {
            id: request.id,
            code: request.code.clone(),
            time: deadline.map(Deadline::remaining),
            streams: [request.streams.stdout, request.streams.stderr],
            settings: request.settings.clone(),
        });
        ProgramSnapshot {
            pid: self.pid,
            ppid: self.ppid,
            lineage: self.lineage,
            command: self.command.clone(),
            mode: self.mode,
            streams: [own.stdout, own.stderr],
            output,
            input,
            time: control.deadline.map(Deadline::remaining),
            cpu_ns: self.limited_cpu_ns(),
            ended_root: self.ended_root(),
            limits: self.limits().own(&self.process.kernel.usage.limits),
            evaluation,
            queue: queue.collect(),
            vm,
        }
    }

    /// Starts the remaining timeouts of a restored program and of its evaluations. With `resume`,
    /// the program replaces the original and reports the outcomes of the evaluations.
    pub(crate) fn start_time(&self, saved: &ProgramSnapshot, resume: bool) {
        if let Some(time) = saved.time {
            self.end_at(time.deadline());
        }
        if let Some(evaluation) = &saved.evaluation {
            let deadline = evaluation.time.map(Remaining::deadline);
            let current = self.evaluation(evaluation.id, sys::monotonic_ns(), deadline, !resume);
            self.control.lock().evaluations.set_current(current);
        }
        if !resume {
            return;
        }
        let queue = saved.queue.iter().map(|waiting| {
            let EvaluationSnapshot { id, code, settings, .. } = waiting.clone();
            let request = Request { id, code, streams: streams(waiting.streams), settings };
            self.queued(request, waiting.time.map(Remaining::deadline))
        });
        self.control.lock().evaluations.append(queue);
        let evaluation = saved.evaluation.as_ref().map(|evaluation| evaluation.id);
        self.output.lock().begin(evaluation, streams(saved.streams));
        self.wake_writers();
    }

    /// Returns the streamed descriptors.
    pub(crate) fn streams(&self) -> Streams {
        self.output.lock().streams()
    }

    /// Streams the descriptors of the replaced program. A resident runner is skipped, because each
    /// of its evaluations selects the descriptors.
    pub(crate) fn stream_as(&self, replaced: Streams) {
        if self.mode != Mode::Resident {
            self.output.lock().begin(None, replaced);
            self.wake_writers();
        }
    }
}

impl ProgramSnapshot {
    /// Returns whether the embedder started the program.
    pub(crate) fn is_root(&self) -> bool {
        self.ppid == Pid::INIT
    }

    /// Returns the size of the snapshot in bytes, without the VM snapshot.
    pub(crate) fn own_bytes(&self) -> u64 {
        let of_evaluation = |evaluation: &EvaluationSnapshot| {
            size_of::<EvaluationSnapshot>() + evaluation.code.len() + evaluation.settings.bytes()
        };
        let evaluations: usize = self.evaluation.iter().chain(&self.queue).map(of_evaluation).sum();
        let texts = self.command.len() + self.input.len();
        self.output.own_bytes() + (size_of::<Self>() + evaluations + texts) as u64
    }

    /// Returns the facts about the program.
    pub(crate) fn info(&self) -> ProgramInfo {
        ProgramInfo {
            pid: self.pid,
            lineage: self.lineage,
            mode: self.mode,
            command: self.command.clone(),
            is_root: self.is_root(),
        }
    }

    /// Checks that the program's unread input and captured output are within these limits.
    fn check(&self, limits: &Limits) -> Result<(), Error> {
        let fits =
            |resource, held: u64, limit| if held > limit { Err(Error::ResourceExhausted { resource, limit }) } else { Ok(()) };
        fits("output bytes of a process", self.output.most(), limits.output_bytes)?;
        fits("stdin bytes of a process", self.input.len() as u64, limits.stdin_bytes)
    }

    /// Makes the program, without a VM. Fails if the unread input or the captured output exceeds a
    /// limit.
    pub(crate) fn restore(&self, mut target: RestoreTarget) -> Result<Arc<Program>, Error> {
        let own = self.limits.iter().map(|(name, value)| (name.as_str(), *value));
        target.process.limits = target.process.limits.with_own(own);
        self.check(&target.process.limits)?;
        let program = Program::of_lineage(
            self.lineage,
            Parts {
                command: self.command.clone(),
                ppid: self.ppid,
                mode: self.mode,
                streams: Streams::default(),
                stdin: Vec::new(),
                scheduler: target.scheduler,
                sink: target.sink,
                home: target.home,
                quiesce: target.quiesce,
                process: target.process,
                budget: target.budget,
                health: target.health,
                freeze: target.freeze,
            },
        );
        *program.input.lock() = Input { bytes: self.input.clone(), read: 0 };
        program.output.lock().restore(&self.output);
        Ok(program)
    }
}
