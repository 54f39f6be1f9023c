//! Tests of snapshots of whole runtimes with real guests. All state continues in every restored
//! runtime and after a rollback, at any point of the programs' work.

mod busy;
mod chaos;
mod costs;
mod ended_roots;
mod evaluations;
mod families;
mod limits;
mod outside;
mod python;
mod refusals;
mod residents;
mod sizes;
mod stored;
mod trees;
mod usage;

use super::*;
use crate::tests::evaluation;
use crate::{Held, ProgramInfo, RestoreOptions, Snapshot, SnapshotOptions};
use coldframe_ids::Pid;
use std::collections::HashMap;

/// A resident program and its sink's events.
pub(super) struct Runner {
    pub(super) process: Process,
    pub(super) events: Receiver<SinkEvent>,
    evaluations: u32,
}

pub(super) fn runner(runtime: &Runtime) -> Runner {
    let (process, events) = start(runtime, ProcessOptions { mode: Mode::Resident, ..exec("") }, Dispatch::Worker);
    assert!(matches!(events.recv_timeout(STEP_TIMEOUT), Ok(SinkEvent::Ready)), "the runner is ready");
    Runner { process, events, evaluations: 0 }
}

impl Runner {
    pub(super) fn of(process: Process, events: Receiver<SinkEvent>) -> Self {
        Self { process, events, evaluations: 500 }
    }

    /// Starts an evaluation of a snippet. Returns the number of the evaluation.
    pub(super) fn begin(&mut self, code: &str) -> u32 {
        self.evaluations += 1;
        let begun = self.process.evaluate(
            evaluation(self.evaluations),
            code.to_owned(),
            EvaluationSettings::default(),
            None,
            Streams::default(),
            Dispatch::Worker,
        );
        begun.expect("a live program");
        self.evaluations
    }

    /// Waits for the end of the evaluation `number` and returns its outcome.
    pub(super) fn ended(&self, number: u32) -> Outcome {
        loop {
            match self.events.recv_timeout(STEP_TIMEOUT).expect("the evaluation must end") {
                SinkEvent::Evaluated(id, outcome) if id == number => return outcome,
                SinkEvent::Exited(outcome) => panic!("the runner has ended: {outcome:?}"),
                _ => {}
            }
        }
    }

    /// Evaluates a snippet. Returns the output without the last line break.
    pub(super) fn eval(&mut self, code: &str) -> String {
        let number = self.begin(code);
        let outcome = self.ended(number);
        assert_eq!((code_of(&outcome), text(&outcome.stderr)), (None, String::new()), "{code}");
        text(&outcome.stdout).trim_end().to_owned()
    }
}

pub(super) fn code_of(outcome: &Outcome) -> Option<&'static str> {
    code(outcome)
}

pub(super) fn try_take(runtime: &Runtime, options: SnapshotOptions) -> Result<(Arc<Snapshot>, Option<Held>), Error> {
    let (sender, events) = channel();
    runtime.snapshot(options, move |taken| sender.send(taken).expect("the test waits"));
    events.recv_timeout(STEP_TIMEOUT).expect("every snapshot has a result")
}

pub(super) fn take(runtime: &Runtime) -> Arc<Snapshot> {
    try_take(runtime, SnapshotOptions::default()).expect("a snapshot").0
}

/// A restored runtime, its programs, and the events of its root programs.
pub(super) struct RestoredCopy {
    pub(super) runtime: Runtime,
    pub(super) programs: Vec<(ProgramInfo, Process)>,
    pub(super) events: HashMap<Pid, Receiver<SinkEvent>>,
}

impl RestoredCopy {
    /// Returns the runtime and its first runner.
    pub(super) fn runner(mut self) -> (Runtime, Runner) {
        let (info, process) = self.programs.iter().find(|(info, _)| info.mode == Mode::Resident).expect("a runner").clone();
        let events = self.events.remove(&info.pid).expect("its sink");
        (self.runtime, Runner::of(process, events))
    }
}

pub(super) fn try_copy(core: &Core, snapshot: &Arc<Snapshot>, options: RestoreOptions) -> Result<RestoredCopy, Error> {
    let mut sinks = HashMap::new();
    let ((runtime, programs), _) = core.restore(snapshot, options, &mut |info, old| {
        assert!(old.is_none() && info.is_root);
        let (sink, events) = TestSink::new();
        sinks.insert(info.pid, events);
        sink
    })?;
    Ok(RestoredCopy { runtime, programs, events: sinks })
}

pub(super) fn copy(core: &Core, snapshot: &Arc<Snapshot>) -> RestoredCopy {
    try_copy(core, snapshot, RestoreOptions::default()).expect("a copy")
}

/// The programs that a restore or a rollback returns.
pub(super) type Programs = Vec<(ProgramInfo, Process)>;

/// Rolls back. A program that replaces a program receives that program's sink. All other programs
/// receive new sinks.
pub(super) fn rollback(runtime: &Runtime, snapshot: &Arc<Snapshot>) -> (Programs, HashMap<Pid, Receiver<SinkEvent>>) {
    let mut sinks = HashMap::new();
    let programs = runtime.rollback(snapshot, &mut |info, old| {
        old.unwrap_or_else(|| {
            let (sink, events) = TestSink::new();
            sinks.insert(info.pid, events);
            sink
        })
    });
    (programs.expect("a rollback"), sinks)
}

impl Runner {
    /// Continues with the program that has replaced the runner's program.
    pub(super) fn continue_with(&mut self, programs: &[(ProgramInfo, Process)]) {
        let lineage = self.process.info().lineage;
        self.process = programs.iter().find(|(info, _)| info.lineage == lineage).expect("its copy").1.clone();
    }
}
