//! Who hears the programs that a snapshot brings.
//!
//! A copy that takes the place of a program of this runtime (a rollback, a resume) speaks to that one's sink: its request goes on, its runner keeps its
//! number. Any other resident gets a runner's number, and any other program waits until somebody attaches to it. The core asks for a sink before the
//! copy exists, and gives the processes afterwards: what was said is kept here until then. All of it happens on Node's thread.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use coldframe_core::{Mode, Process, ProgramInfo, Sink};

use crate::adopted::Adopted;
use crate::embedded::Embedded;
use crate::outlet::{Program, Runner};
use crate::table::Place;

/// Programs that can be attached to, by their numbers.
pub type Waiting = HashMap<u32, (Process, Adopted)>;

/// A program that goes on: its number, and that of its runner.
pub type Restored = (u32, Option<u32>);

/// See the module.
pub struct Casting<'a> {
    runtime: u32,
    /// The runtime has slept: what nobody hears any more has ended meanwhile.
    has_slept: bool,
    embedded: &'a Embedded,
    /// By lineage.
    roles: HashMap<u64, Role>,
}

/// What a copy is to be here.
pub enum Role {
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
    /// For the answer.
    pub programs: Vec<Restored>,
    /// Runners of the runtime.
    pub runners: Vec<u32>,
    /// What can be attached to.
    pub waiting: Waiting,
}

impl<'a> Casting<'a> {
    /// For the runtime of that number. `has_slept`: it takes the place of one that was paused.
    pub fn new(runtime: u32, has_slept: bool, embedded: &'a Embedded) -> Self {
        Self { runtime, has_slept, embedded, roles: HashMap::new() }
    }

    /// Who hears a copy; `old`: who hears the program whose place it takes.
    pub fn sink(&mut self, info: &ProgramInfo, old: Option<Arc<dyn Sink>>) -> Arc<dyn Sink> {
        // A runner that was disposed of and had not noticed at a rollback: the one that takes its place is another.
        let is_there = |role: &Role| match role {
            Role::Runner(runner, _) if !self.has_slept => self.embedded.runners.borrow().get(*runner).is_some(),
            _ => true,
        };
        let known = old.as_ref().and_then(|sink| role(sink.as_ref())).filter(is_there);
        if let (Some(old), Some(role)) = (old, known) {
            self.roles.insert(info.lineage, role);
            return old;
        }
        let outlet = Arc::clone(&self.embedded.outlet);
        if self.has_slept {
            self.roles.insert(info.lineage, Role::Ended);
            return Arc::new(Adopted::new(Place { runtime: self.runtime, runner: 0 }, outlet));
        }
        let (role, sink): (_, Arc<dyn Sink>) = if info.mode == Mode::Resident {
            let runner = self.embedded.runners.borrow_mut().reserve();
            let place = Place { runtime: self.runtime, runner };
            // 0 is no request: nobody waits for it to be ready.
            (Role::Runner(runner, 0), Arc::new(Runner { id: 0, place, pid: AtomicU32::new(info.pid), outlet }))
        } else {
            let adopted = Adopted::new(Place { runtime: self.runtime, runner: 0 }, outlet);
            (Role::Waiting(adopted.clone()), Arc::new(adopted))
        };
        self.roles.insert(info.lineage, role);
        sink
    }

    /// The copies exist: requests, runners and who waits know their processes. `gone`: runners that were disposed of while they slept.
    pub fn finish(mut self, copies: Vec<(ProgramInfo, Process)>, gone: &[u32]) -> Cast {
        let mut cast = Cast::default();
        for (info, process) in copies {
            let pid = info.pid;
            match self.roles.remove(&info.lineage) {
                Some(Role::Request(id)) => self.embedded.requests.attach(id, &process),
                Some(Role::Runner(runner, _)) if gone.contains(&runner) => process.cancel(),
                Some(Role::Runner(runner, made_by)) => {
                    for id in self.embedded.requests.evaluations(runner).into_iter().chain([made_by]) {
                        self.embedded.requests.attach(id, &process);
                    }
                    self.embedded.runners.borrow_mut().put(runner, process);
                    cast.runners.push(runner);
                    cast.programs.push((pid, Some(runner)));
                }
                Some(Role::Waiting(adopted)) => {
                    cast.waiting.insert(pid, (process, adopted));
                    cast.programs.push((pid, None));
                }
                Some(Role::Ended) => process.cancel(),
                None => {} // a child
            }
        }
        cast
    }
}

/// What the program of a sink is here.
pub fn role(sink: &dyn Sink) -> Option<Role> {
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
