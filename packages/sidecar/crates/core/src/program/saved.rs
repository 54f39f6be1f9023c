//! A program as a value: its saved VM and what lies above it. What the kernel keeps for it is in the kernel's value.
//!
//! A copy goes on where the original was, under the same number, with new alarms for what remained of its time. What was captured of its output and not yet
//! told belongs to both. An evaluation under way stays with the original, where it is waited for: in the copy it runs to its end, and
//! nobody hears of it, unless the copy takes the original's place (`resume`). Next: `runtime/snapshots/`.

use super::deadline::Deadline;
use super::evaluations::{Queued, Request};
use super::output::SavedOutput;
use super::{Input, Parts, Program};
use crate::kernel::{self, Process};
use crate::limits::Limits;
use crate::options::{Mode, Streams};
use crate::outcome::Sink;
use crate::runtime::{Inner, ProgramInfo};
use crate::sched::Scheduler;
use crate::vm::saved::Saved;
use coldframe_error::Error;
use coldframe_sys as sys;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Weak};

/// A saved VM, and which image it is of.
#[derive(Debug, Clone)]
pub(crate) struct SavedVm {
    pub(crate) saved: Arc<Saved>,
    pub(crate) is_shell: bool,
}

/// What remained of a time, and how long it was, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remaining {
    pub(crate) left_ns: u64,
    pub(crate) of_ns: u64,
}

/// A snippet that runs or waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedEvaluation {
    pub(crate) id: u32,
    /// Empty for the one that runs: it is in the guest.
    pub(crate) code: String,
    pub(crate) time: Option<Remaining>,
    pub(crate) streams: [bool; 2],
}

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct SavedProgram {
    pub(crate) pid: u32,
    pub(crate) ppid: u32,
    pub(crate) lineage: u64,
    pub(crate) command: String,
    pub(crate) mode: Mode,
    pub(crate) streams: [bool; 2],
    pub(crate) output: SavedOutput,
    /// What it has not read of its standard input.
    pub(crate) input: Vec<u8>,
    pub(crate) time: Option<Remaining>,
    /// CPU time that counts for its limit.
    pub(crate) cpu_ns: u64,
    pub(crate) evaluation: Option<SavedEvaluation>,
    /// Those behind it. Only kept by a program that is to vanish.
    pub(crate) queue: Vec<SavedEvaluation>,
    pub(crate) vm: SavedVm,
}

/// Where a copy lives.
pub(crate) struct Place {
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) home: Weak<Inner>,
    pub(crate) process: Process,
    /// Whom it speaks to, until it is told otherwise.
    pub(crate) sink: Arc<dyn Sink>,
}

fn streams([stdout, stderr]: [bool; 2]) -> Streams {
    Streams { stdout, stderr }
}

impl Program {
    /// What lies above its VM, which is at rest. `keeps_queue`: with the evaluations that have not begun.
    pub(crate) fn save(&self, vm: SavedVm, keeps_queue: bool) -> SavedProgram {
        let (output, own) = {
            let output = self.output.lock();
            (output.save(), output.streams())
        };
        let input = {
            let input = self.input.lock();
            input.bytes[input.read..].to_vec()
        };
        let control = self.control.lock();
        let evaluation = control.evaluations.current().map(|(id, deadline)| SavedEvaluation {
            id,
            code: String::new(),
            time: deadline.map(Deadline::remaining),
            streams: [own.stdout, own.stderr],
        });
        let waiting = control.evaluations.queue().filter(|_| keeps_queue);
        let queue = waiting.map(|Queued { request, deadline, .. }| SavedEvaluation {
            id: request.id,
            code: request.code.clone(),
            time: deadline.map(Deadline::remaining),
            streams: [request.streams.stdout, request.streams.stderr],
        });
        SavedProgram {
            pid: self.pid,
            ppid: self.ppid,
            lineage: self.lineage,
            command: self.command.clone(),
            mode: self.mode,
            streams: [own.stdout, own.stderr],
            output,
            input,
            time: control.deadline.map(Deadline::remaining),
            cpu_ns: self.cpu_ns(),
            evaluation,
            queue: queue.collect(),
            vm,
        }
    }

    /// It lives in its runtime from now on: its time runs. `resume`: it takes the original's place, and whoever waits for its evaluations hears of them.
    pub(crate) fn awaken(&self, saved: &SavedProgram, resume: bool) {
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
            let request = Request { id: waiting.id, code: waiting.code.clone(), streams: streams(waiting.streams) };
            self.queued(request, waiting.time.map(Remaining::deadline))
        });
        self.control.lock().evaluations.append(queue);
        self.output.lock().set_streams(streams(saved.streams));
    }

    /// Sends on what `before` sends on, whose place it takes.
    pub(crate) fn stream_as(&self, before: &Self) {
        if self.mode != Mode::Resident {
            let streams = before.output.lock().streams();
            self.output.lock().set_streams(streams);
        }
    }
}

impl SavedProgram {
    /// Whether the caller outside started it.
    pub(crate) fn is_root(&self) -> bool {
        self.ppid == kernel::INIT
    }

    /// Bytes that it takes beside its VM.
    pub(crate) fn own_bytes(&self) -> u64 {
        let of_evaluation = |evaluation: &SavedEvaluation| size_of::<SavedEvaluation>() + evaluation.code.len();
        let evaluations: usize = self.evaluation.iter().chain(&self.queue).map(of_evaluation).sum();
        let texts = self.command.len() + self.input.len();
        self.output.own_bytes() + (size_of::<Self>() + evaluations + texts) as u64
    }

    /// What is known of it.
    pub(crate) fn info(&self) -> ProgramInfo {
        ProgramInfo {
            pid: self.pid,
            lineage: self.lineage,
            mode: self.mode,
            command: self.command.clone(),
            is_root: self.is_root(),
        }
    }

    /// Whether what it holds outside its memory fits into these limits.
    fn check(&self, limits: &Limits) -> Result<(), Error> {
        let fits =
            |resource, held: u64, limit| if held > limit { Err(Error::ResourceExhausted { resource, limit }) } else { Ok(()) };
        fits("output bytes of a process", self.output.most(), limits.output_bytes)?;
        fits("stdin bytes of a process", self.input.len() as u64, limits.stdin_bytes)
    }

    /// A program like it, without a VM.
    pub(crate) fn revive(&self, place: Place) -> Result<Arc<Program>, Error> {
        self.check(&place.process.kernel.usage.limits)?;
        let program = Program::of_lineage(
            self.lineage,
            Parts {
                command: self.command.clone(),
                ppid: self.ppid,
                mode: self.mode,
                streams: Streams::default(),
                stdin: Vec::new(),
                scheduler: place.scheduler,
                sink: place.sink,
                home: place.home,
                process: place.process,
            },
        );
        *program.input.lock() = Input { bytes: self.input.clone(), read: 0 };
        program.output.lock().revive(&self.output);
        Ok(program)
    }
}
