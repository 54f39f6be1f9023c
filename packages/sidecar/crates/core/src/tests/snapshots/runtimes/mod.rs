//! Whole runtimes as values, with real guests: what lives goes on in every copy and after a rollback, whatever it was in the middle of.

mod chaos;
mod costs;
mod evaluations;
mod families;
mod limits;
mod refusals;
mod residents;
mod sizes;
mod stored;
mod trees;
mod usage;

use super::*;
use crate::{Held, ProgramInfo, RestoreOptions, Snapshot, SnapshotOptions};
use std::collections::HashMap;

/// A resident program and what it tells.
pub(super) struct Runner {
    pub(super) process: Process,
    pub(super) told: Receiver<Told>,
    evaluations: u32,
}

pub(super) fn runner(runtime: &Runtime) -> Runner {
    let (process, told) = start(runtime, ProcessOptions { mode: Mode::Resident, ..exec("") }, Dispatch::Worker);
    assert!(matches!(told.recv_timeout(PATIENCE), Ok(Told::Ready)), "it becomes ready");
    Runner { process, told, evaluations: 0 }
}

impl Runner {
    pub(super) fn of(process: Process, told: Receiver<Told>) -> Self {
        Self { process, told, evaluations: 500 }
    }

    /// Has a snippet begin; its number.
    pub(super) fn begin(&mut self, code: &str) -> u32 {
        self.evaluations += 1;
        let begun = self.process.evaluate(self.evaluations, code.to_owned(), None, Streams::default(), Dispatch::Worker);
        begun.expect("it lives");
        self.evaluations
    }

    /// What became of the snippet of that number.
    pub(super) fn ended(&self, number: u32) -> Outcome {
        loop {
            match self.told.recv_timeout(PATIENCE).expect("the evaluation must end") {
                Told::Evaluated(id, outcome) if id == number => return outcome,
                Told::Exited(outcome) => panic!("the runner has ended: {outcome:?}"),
                _ => {}
            }
        }
    }

    /// What a snippet prints, without the last line's end.
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
    let (tell, told) = channel();
    runtime.snapshot(options, move |taken| tell.send(taken).expect("the test listens"));
    told.recv_timeout(PATIENCE).expect("a snapshot is answered")
}

pub(super) fn take(runtime: &Runtime) -> Arc<Snapshot> {
    try_take(runtime, SnapshotOptions::default()).expect("a snapshot").0
}

/// What was restored: the runtime, its programs, and what those of them tell that the test had started.
pub(super) struct Copied {
    pub(super) runtime: Runtime,
    pub(super) programs: Vec<(ProgramInfo, Process)>,
    pub(super) told: HashMap<u32, Receiver<Told>>,
}

impl Copied {
    /// The only resident one.
    pub(super) fn runner(mut self) -> (Runtime, Runner) {
        let (info, process) = self.programs.iter().find(|(info, _)| info.mode == Mode::Resident).expect("a runner").clone();
        let told = self.told.remove(&info.pid).expect("its ear");
        (self.runtime, Runner::of(process, told))
    }
}

pub(super) fn try_copy(core: &Core, snapshot: &Arc<Snapshot>, options: RestoreOptions) -> Result<Copied, Error> {
    let mut ears = HashMap::new();
    let ((runtime, programs), _) = core.restore(snapshot, options, &mut |info, old| {
        assert!(old.is_none() && info.is_root);
        let (ear, told) = Ear::new();
        ears.insert(info.pid, told);
        ear
    })?;
    Ok(Copied { runtime, programs, told: ears })
}

pub(super) fn copy(core: &Core, snapshot: &Arc<Snapshot>) -> Copied {
    try_copy(core, snapshot, RestoreOptions::default()).expect("a copy")
}

/// What a restore or a rollback gives.
pub(super) type Programs = Vec<(ProgramInfo, Process)>;

/// Rolls back; a program that takes another's place goes on telling its ear, all others have new ones.
pub(super) fn rollback(runtime: &Runtime, snapshot: &Arc<Snapshot>) -> (Programs, HashMap<u32, Receiver<Told>>) {
    let mut ears = HashMap::new();
    let programs = runtime.rollback(snapshot, &mut |info, old| {
        old.unwrap_or_else(|| {
            let (ear, told) = Ear::new();
            ears.insert(info.pid, told);
            ear
        })
    });
    (programs.expect("a rollback"), ears)
}

impl Runner {
    /// Goes on with the copy that has taken its place.
    pub(super) fn follow(&mut self, programs: &[(ProgramInfo, Process)]) {
        let lineage = self.process.info().lineage;
        self.process = programs.iter().find(|(info, _)| info.lineage == lineage).expect("its copy").1.clone();
    }
}
