//! Who hears the programs that a snapshot brings.
//!
//! A copy that takes the place of a program of this runtime (a rollback, a resume) speaks to that one's sink: its request goes on, its runner keeps its
//! number. Any other resident gets a runner's number, and any other program waits until somebody attaches to it. The core asks for a sink before the
//! copy exists, and gives the processes afterwards: what was said is kept here until then.

use std::collections::HashMap;
use std::sync::Arc;

use coldframe_core::{Mode, Process, ProgramInfo, Sink};
use coldframe_protocol::messages::RestoredProgram;
use parking_lot::Mutex;

use crate::adopted::Adopted;
use crate::sinks::{Answers, Program, Runner};
use crate::table::{Place, Table};

/// Programs that can be attached to, by their numbers.
pub type Waiting = HashMap<u32, (Process, Adopted)>;

/// Runners by their numbers. `None`: being created, or asleep.
pub type Runners = Mutex<Table<Option<Process>>>;

/// See the module.
pub struct Casting<'a> {
    runtime: u32,
    /// The runtime has slept: what nobody hears any more has ended meanwhile.
    has_slept: bool,
    answers: &'a Answers,
    runners: &'a Runners,
    /// By lineage.
    roles: HashMap<u64, Role>,
}

/// What a copy is to be on this connection.
enum Role {
    /// The program of a request.
    Request(u32),
    /// A runner, and the request that made it, which may still wait for it.
    Runner(u32, u32),
    /// One that can be attached to.
    Waiting(Adopted),
    /// One that is to end: its end was told while it slept.
    Ended,
}

/// What has come of it.
#[derive(Default)]
pub struct Cast {
    /// For the reply.
    pub programs: Vec<RestoredProgram>,
    /// Runners of the runtime.
    pub runners: Vec<u32>,
    /// What can be attached to.
    pub waiting: Waiting,
}

impl<'a> Casting<'a> {
    /// For the runtime of that number. `has_slept`: it takes the place of one that was paused.
    pub fn new(runtime: u32, has_slept: bool, answers: &'a Answers, runners: &'a Runners) -> Self {
        Self { runtime, has_slept, answers, runners, roles: HashMap::new() }
    }

    /// Who hears a copy; `old`: who hears the program whose place it takes.
    pub fn sink(&mut self, info: &ProgramInfo, old: Option<Arc<dyn Sink>>) -> Arc<dyn Sink> {
        // A runner that was disposed of and had not noticed at a rollback: the one that takes its place is another.
        let is_there = |role: &Role| match role {
            Role::Runner(runner, _) if !self.has_slept => self.runners.lock().get(*runner).is_some(),
            _ => true,
        };
        let known = old.as_ref().and_then(|sink| role(sink.as_ref())).filter(is_there);
        if let (Some(old), Some(role)) = (old, known) {
            self.roles.insert(info.lineage, role);
            return old;
        }
        let answers = self.answers.clone();
        if self.has_slept {
            self.roles.insert(info.lineage, Role::Ended);
            return Arc::new(Adopted::new(Place { runtime: self.runtime, runner: 0 }, answers));
        }
        let (role, sink): (_, Arc<dyn Sink>) = if info.mode == Mode::Resident {
            let mut runners = self.runners.lock();
            let runner = runners.reserve();
            runners.put(runner, None);
            let place = Place { runtime: self.runtime, runner };
            (Role::Runner(runner, 0), Arc::new(Runner::new(0, place, info.pid, answers)))
        } else {
            let adopted = Adopted::new(Place { runtime: self.runtime, runner: 0 }, answers);
            (Role::Waiting(adopted.clone()), Arc::new(adopted))
        };
        self.roles.insert(info.lineage, role);
        sink
    }

    /// The copies exist: requests, runners and who waits know their processes.
    pub fn finish(mut self, copies: Vec<(ProgramInfo, Process)>) -> Cast {
        let mut cast = Cast::default();
        for (info, process) in copies {
            let pid = info.pid;
            match self.roles.remove(&info.lineage) {
                Some(Role::Request(id)) => self.answers.requests.attach(id, process),
                Some(Role::Runner(runner, made_by)) => {
                    let mut runners = self.runners.lock();
                    let Some(entry) = runners.get_mut(runner) else {
                        // It was disposed of while it slept.
                        drop(runners);
                        process.cancel();
                        continue;
                    };
                    *entry = Some(process.clone());
                    drop(runners);
                    for id in self.answers.requests.evaluations(runner).into_iter().chain([made_by]) {
                        self.answers.requests.attach(id, process.clone());
                    }
                    cast.runners.push(runner);
                    cast.programs.push(RestoredProgram { pid, runner: Some(runner) });
                }
                Some(Role::Waiting(adopted)) => {
                    cast.waiting.insert(pid, (process, adopted));
                    cast.programs.push(RestoredProgram { pid, runner: None });
                }
                Some(Role::Ended) => process.cancel(),
                None => {} // a child
            }
        }
        self.give_up();
        cast
    }

    /// It came to nothing: numbers that were taken for it are free again.
    pub fn give_up(&mut self) {
        for (_, role) in self.roles.drain() {
            if let Role::Runner(runner, _) = role {
                let mut runners = self.runners.lock();
                if runners.get(runner).is_some_and(Option::is_none) {
                    runners.remove(runner);
                }
            }
        }
    }
}

/// What the program of a sink is on this connection.
fn role(sink: &dyn Sink) -> Option<Role> {
    let any = sink.as_any()?;
    if let Some(program) = any.downcast_ref::<Program>() {
        return Some(Role::Request(program.id));
    }
    if let Some(runner) = any.downcast_ref::<Runner>() {
        return Some(Role::Runner(runner.place.runner, runner.id));
    }
    let adopted = any.downcast_ref::<Adopted>()?;
    Some(adopted.request().map_or_else(|| Role::Waiting(adopted.clone()), Role::Request))
}

/// The request or the runner that a sink belongs to, for one whose program goes to sleep.
pub fn part(sink: &dyn Sink) -> Part {
    match role(sink) {
        Some(Role::Request(id)) => Part::Request(id),
        Some(Role::Runner(runner, made_by)) => Part::Runner(runner, made_by),
        _ => Part::Nobody,
    }
}

/// See [`part`].
pub enum Part {
    /// A request.
    Request(u32),
    /// A runner with its evaluations, and the request that made it.
    Runner(u32, u32),
    /// Neither.
    Nobody,
}
