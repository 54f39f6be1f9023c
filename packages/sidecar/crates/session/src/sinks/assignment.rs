//! Assigns sinks to restored programs.
//!
//! A restored program that replaces a program of the runtime (rollback, resume) receives that
//! program's sink: the request continues, and a runner keeps its id. Any other resident program
//! receives a new runner id, and any other program an orphan sink. The core requests the sinks
//! before the core returns the processes, so the assignment stores each program's role until then.

use std::collections::HashMap;
use std::sync::Arc;

use coldframe_core::{Mode, ProgramInfo, Sink, Streams};
use coldframe_ids::{Lineage, Pid, RequestId, RunnerId, RuntimeId};
use coldframe_protocol::messages::RestoredProgram;

use super::replies::Replies;
use super::sync::Process;
use super::{Ends, Listeners, OrphanSink, ProgramSink, Runner, RunnerSink, Runners};
use crate::table::ErrorContext;

/// The sinks of a runtime's programs.
pub(crate) type Sinks = HashMap<Lineage, Arc<dyn Sink>>;

/// Restored programs that a request can attach to.
pub(crate) type Orphans = HashMap<Pid, (Process, OrphanSink)>;

/// The roles of restored programs in the session.
pub(crate) struct SinkAssignment<'a> {
    runtime: RuntimeId,
    /// Whether the runtime was paused. If true, a program without a known sink has ended during the
    /// pause.
    was_paused: bool,
    replies: &'a Replies,
    runners: &'a Runners,
    ends: Arc<Ends>,
    roles: HashMap<Lineage, Role>,
}

/// The role of a restored program in the session.
enum Role {
    /// A request waits for the program, which may have listeners.
    Request(RequestId, Arc<Listeners>),
    /// The program is a runner. The request is the `runner.create`, if that request is still in
    /// flight.
    Runner(RunnerId, Option<RequestId>),
    /// A request can attach to the program.
    Orphan(OrphanSink),
    /// The program ended while the runtime was paused, and its request was answered.
    Ended,
}

/// The result of an assignment.
#[derive(Default)]
pub(crate) struct AssignedPrograms {
    /// The programs, for the reply.
    pub programs: Vec<RestoredProgram>,
    /// The runners of the runtime.
    pub runners: Vec<RunnerId>,
    /// The programs that a request can attach to.
    pub orphans: Orphans,
}

impl<'a> SinkAssignment<'a> {
    /// Begins an assignment. `was_paused` states that the restored programs replace the programs of
    /// a paused runtime. The ends of the programs are added to `ends`.
    pub fn new(runtime: RuntimeId, was_paused: bool, replies: &'a Replies, runners: &'a Runners, ends: Arc<Ends>) -> Self {
        Self { runtime, was_paused, replies, runners, ends, roles: HashMap::new() }
    }

    /// Returns the sink of a restored program. `old` is the sink of the program that the restored
    /// program replaces.
    pub fn sink(&mut self, info: &ProgramInfo, old: Option<Arc<dyn Sink>>) -> Arc<dyn Sink> {
        // If a runner was disposed right before a rollback, the restored program is another runner.
        let exists = |role: &Role| match role {
            Role::Runner(runner, _) if !self.was_paused => self.runners.lock().get(*runner).is_some(),
            _ => true,
        };
        let known = old.as_ref().and_then(|sink| role_of(sink.as_ref())).filter(exists);
        if let (Some(old), Some(role)) = (old, known) {
            self.roles.insert(info.lineage, role);
            return old;
        }
        let replies = self.replies.clone();
        let context = ErrorContext::runtime(self.runtime);
        let listeners = || Listeners::new(context, replies.clone(), self.ends.clone(), Some(info.pid));
        if self.was_paused {
            self.roles.insert(info.lineage, Role::Ended);
            return Arc::new(OrphanSink::new(context, replies.clone(), listeners()));
        }
        let (role, sink): (_, Arc<dyn Sink>) = if info.mode == Mode::Resident {
            let mut runners = self.runners.lock();
            let runner = runners.reserve();
            runners.insert(runner, Runner::new(self.runtime));
            let sink = RunnerSink::new(None, self.runtime, runner, Some(info.pid), replies);
            (Role::Runner(runner, None), Arc::new(sink))
        } else {
            let orphan = OrphanSink::new(context, replies.clone(), listeners());
            (Role::Orphan(orphan.clone()), Arc::new(orphan))
        };
        self.roles.insert(info.lineage, role);
        sink
    }

    /// Passes the processes of the restored programs to requests, runners and orphans.
    pub fn finish(mut self, copies: Vec<(ProgramInfo, Process)>) -> AssignedPrograms {
        let mut assigned = AssignedPrograms::default();
        for (info, process) in copies {
            let pid = info.pid;
            match self.roles.remove(&info.lineage) {
                Some(Role::Request(id, listeners)) => {
                    continue_listeners(&process, &listeners);
                    self.replies.requests.attach(id, process);
                }
                Some(Role::Runner(runner, created_by)) => {
                    if !self.enter_runner(runner, created_by, &process) {
                        // The runner was disposed while the runtime was paused.
                        process.cancel();
                        continue;
                    }
                    assigned.runners.push(runner);
                    assigned.programs.push(RestoredProgram { pid, runner: Some(runner) });
                }
                Some(Role::Orphan(sink)) => {
                    continue_listeners(&process, sink.listeners());
                    assigned.orphans.insert(pid, (process, sink));
                    assigned.programs.push(RestoredProgram { pid, runner: None });
                }
                Some(Role::Ended) => process.cancel(),
                None => {} // A child, which has no role in the session.
            }
        }
        self.abandon();
        assigned
    }

    /// Enters a runner's process into the table and passes the process to the runner's requests.
    /// Returns false if the table has no such runner.
    fn enter_runner(&self, runner: RunnerId, created_by: Option<RequestId>, process: &Process) -> bool {
        match self.runners.lock().get_mut(runner) {
            Some(entry) => entry.process = Some(process.clone()),
            None => return false,
        }
        for id in self.replies.requests.evaluations(runner).into_iter().chain(created_by) {
            self.replies.requests.attach(id, process.clone());
        }
        true
    }

    /// Frees the runner ids that were reserved for programs that were not restored.
    pub fn abandon(&mut self) {
        for (_, role) in self.roles.drain() {
            if let Role::Runner(runner, _) = role {
                let mut runners = self.runners.lock();
                if runners.get(runner).is_some_and(|runner| runner.process.is_none()) {
                    runners.remove(runner);
                }
            }
        }
    }
}

/// Streams the output of a restored program to the listeners of the replaced program.
fn continue_listeners(process: &Process, listeners: &Listeners) {
    let streams = listeners.streams();
    if streams != Streams::default() {
        process.observe(streams, || {});
    }
}

/// Returns the listeners of a root program with this sink. Returns `None` for a runner.
pub(crate) fn listeners_of(sink: &dyn Sink) -> Option<Arc<Listeners>> {
    let any = sink.as_any()?;
    if let Some(program) = any.downcast_ref::<ProgramSink>() {
        return Some(program.listeners.clone());
    }
    any.downcast_ref::<OrphanSink>().map(|orphan| orphan.listeners().clone())
}

fn role_of(sink: &dyn Sink) -> Option<Role> {
    let any = sink.as_any()?;
    if let Some(program) = any.downcast_ref::<ProgramSink>() {
        return Some(Role::Request(program.request, program.listeners.clone()));
    }
    if let Some(runner) = any.downcast_ref::<RunnerSink>() {
        return Some(Role::Runner(runner.runner(), runner.created_by()));
    }
    let orphan = any.downcast_ref::<OrphanSink>()?;
    let request = |id| Role::Request(id, orphan.listeners().clone());
    Some(orphan.request().map_or_else(|| Role::Orphan(orphan.clone()), request))
}

/// The requests behind the sink of a program that is being paused.
pub(crate) enum RequestsOfSink {
    /// One request waits for the program.
    Request(RequestId),
    /// The program is a runner. Its evaluations and the `runner.create` may be in flight.
    Runner(RunnerId, Option<RequestId>),
    /// No request waits for the program.
    None,
}

/// Returns the requests behind a sink.
pub(crate) fn requests_of(sink: &dyn Sink) -> RequestsOfSink {
    match role_of(sink) {
        Some(Role::Request(id, _)) => RequestsOfSink::Request(id),
        Some(Role::Runner(runner, created_by)) => RequestsOfSink::Runner(runner, created_by),
        _ => RequestsOfSink::None,
    }
}
