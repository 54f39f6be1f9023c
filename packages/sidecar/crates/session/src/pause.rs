//! Pauses and resumes runtimes. Requests that wait for programs of a paused runtime stay in flight,
//! and the ids of the runtime and its runners stay valid.
//!
//! From `runtime.pause` on, new requests for the runtime are refused, because the effect of a
//! request after the snapshot would be lost. The runtime leaves the table of live runtimes, and
//! returns to the table when the pause fails or the runtime is resumed. Requests that end a program
//! or a runtime are stored and take effect after the pause. Notices about open connections still
//! reach the runtime.
//!
//! A runtime whose programs do not rest in time may be frozen instead. A frozen runtime stays in
//! the table of live runtimes, refuses requests as a paused runtime does, and has no snapshot.

use std::sync::Arc;
use std::time::Duration;

use coldframe_core as core;
use coldframe_core::{
    Carryover, Error, Held, Outcome, Process, RestoreOptions, Retention, Runtime, Snapshot, SnapshotInfo, SnapshotOptions,
    contained,
};
use coldframe_ids::{RequestId, RunnerId, RuntimeId};
use coldframe_protocol::messages::{Failure, RestoredProgram, RestoredPrograms, RuntimePause, RuntimeResume};

use crate::convert;
use crate::copies::CopyOptions;
use crate::host_calls;
use crate::message::Message;
use crate::outside_options;
use crate::replies::Reply;
use crate::runtimes::{LiveRuntime, mounts};
use crate::session::{Job, Session, Violation};
use crate::sinks::{Ends, RequestsOfSink, Sinks, requests_of};
use crate::snapshots::{DEFAULT_TENANT, pause_reply, quiesce_timeout};
use crate::table::ErrorContext;

/// The effect of programs that do not rest in time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Freezes {
    /// The pause fails, and the programs continue.
    No,
    /// The runtime is frozen.
    Yes,
    /// The runtime was frozen before. The pause fails, and the runtime is frozen again.
    Again,
}

/// The options of a pause.
#[derive(Clone, Copy)]
struct PauseOptions {
    retention: Retention,
    freezes: Freezes,
    timeout: Duration,
}

/// A runtime that is being paused.
pub(crate) struct Pausing {
    pub live: LiveRuntime,
    /// The processes of the runtime's runners. The session's table of runners keeps only the ids.
    runners: Vec<(RunnerId, Process)>,
}

/// A runtime whose state is on disk.
pub(crate) struct Paused {
    /// The id of the snapshot.
    snapshot: String,
    tenant: Option<Arc<str>>,
    sinks: Sinks,
    runners: Vec<RunnerId>,
    /// Requests that wait for programs of the runtime.
    requests: Vec<RequestId>,
    carryover: Carryover,
    /// The ends of programs, which are kept for a while.
    ends: Arc<Ends>,
    resuming: Resuming,
}

/// The state of a paused runtime's resume.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resuming {
    No,
    Yes,
    /// The runtime was disposed during the resume.
    Disposed,
}

impl Paused {
    fn tenant(&self) -> &str {
        self.tenant.as_deref().unwrap_or(DEFAULT_TENANT)
    }
}

impl Session {
    /// Handles `runtime.pause`.
    pub(crate) fn pause(&mut self, id: RequestId, pause: &RuntimePause) -> Result<(), Violation> {
        let runtime = pause.runtime;
        let retention = if pause.temporary == Some(true) { Retention::WhileOpen } else { Retention::Always };
        // The programs of a frozen runtime run again until they rest, or until the timeout.
        let was_frozen = self.thaw(runtime);
        if self.open_runtime(runtime).is_none() {
            return self.pause_paused(id, runtime, retention);
        }
        if self.begin(id, None)? {
            if let Some(live) = self.runtimes.get_mut(runtime) {
                live.awaits_pause = true;
            }
            let freezes = match (pause.freeze, was_frozen) {
                (Some(true), _) => Freezes::Yes,
                (_, true) => Freezes::Again,
                _ => Freezes::No,
            };
            self.pause_after_calls(id, runtime, PauseOptions { retention, freezes, timeout: quiesce_timeout(pause.timeout_ms) });
        }
        Ok(())
    }

    /// Pauses a runtime after the earlier calls on the runtime, which change the session's tables.
    fn pause_after_calls(&mut self, id: RequestId, runtime_id: RuntimeId, pause: PauseOptions) {
        // An earlier call may have ended and left a task.
        self.run_tasks();
        let Some(live) = self.runtimes.get(runtime_id) else {
            let failure = self.no_runtime(runtime_id);
            return self.replies.answer(id, || Message::failed(id, &failure));
        };
        let (runtime, calls, tasks) = (live.runtime.clone(), live.calls.clone(), self.tasks.clone());
        if calls.are_under_way() {
            let later = move |session: &mut Self| session.pause_after_calls(id, runtime_id, pause);
            calls.add(&self.owner_threads, false, Box::new(move || tasks.add(later)));
            return;
        }
        let tenant = live.tenant().to_owned();
        let PauseOptions { retention, freezes, timeout } = pause;
        let options = SnapshotOptions { tenant, timeout, hold: true, ..SnapshotOptions::default() };
        self.begin_pausing(runtime_id);
        let store = self.store.clone();
        let snapshot = move || {
            runtime.snapshot(options, move |taken| {
                let (snapshot, held) = match taken {
                    Ok(taken) => taken,
                    Err(error @ (Error::Busy { .. } | Error::NotQuiet)) if freezes != Freezes::No => {
                        return tasks.add(move |session| session.freeze(id, runtime_id, error, freezes));
                    }
                    Err(error) => return tasks.add(move |session| session.abort_pause(id, runtime_id, None, &error, freezes)),
                };
                store.in_background(move |store| {
                    let written = contained(|| store.write(&snapshot, retention));
                    let info = snapshot.info().clone();
                    drop(snapshot);
                    match written {
                        Ok(()) => {
                            let left = held.map(Held::into_sinks).unwrap_or_default();
                            tasks.add(move |session| session.finish_pause(id, runtime_id, info, left));
                        }
                        Err(error) => tasks.add(move |session| session.abort_pause(id, runtime_id, held, &error, freezes)),
                    }
                });
            });
        };
        calls.add(&self.owner_threads, false, Box::new(snapshot));
    }

    /// Handles a pause of a runtime that is paused already. Replies with the existing snapshot, and
    /// extends the retention if the request requires more.
    fn pause_paused(&mut self, id: RequestId, runtime: RuntimeId, retention: Retention) -> Result<(), Violation> {
        let Some(paused) = self.paused.get(&runtime).filter(|paused| paused.resuming == Resuming::No) else {
            self.refuse(id, &self.no_runtime(runtime));
            return Ok(());
        };
        let (tenant, name) = (paused.tenant().to_owned(), paused.snapshot.clone());
        self.on_store(id, move |store| {
            if retention == Retention::Always {
                store.protect(&tenant, &name, retention)?;
            }
            store.find(&tenant, &name).map(|(info, stored)| pause_reply(Reply(id), Some((&info, stored))))
        })
    }

    /// Returns a live runtime that accepts requests: no pause has begun, and the runtime is not
    /// frozen.
    pub(crate) fn open_runtime(&self, runtime: RuntimeId) -> Option<&LiveRuntime> {
        self.runtimes.get(runtime).filter(|live| !live.awaits_pause && live.frozen.is_none())
    }

    /// Returns whether a runtime is paused, being paused or frozen.
    pub(crate) fn is_paused(&self, runtime: RuntimeId) -> bool {
        let awaits_pause = || self.runtimes.get(runtime).is_some_and(|live| live.awaits_pause || live.frozen.is_some());
        self.paused.contains_key(&runtime) || self.pausing.contains_key(&runtime) || awaits_pause()
    }

    /// Returns the paused or pausing runtime of a runner.
    pub(crate) fn paused_with(&self, runner: RunnerId) -> Option<RuntimeId> {
        let live = self.runners.lock().get(runner).map(|entry| entry.runtime);
        if let Some(runtime) = live.filter(|runtime| self.is_paused(*runtime)) {
            return Some(runtime);
        }
        let paused = self.paused.iter().map(|(runtime, paused)| (runtime, &paused.runners));
        let pausing = self.pausing.iter().map(|(runtime, pausing)| (runtime, &pausing.live.runners));
        paused.chain(pausing).find(|(_, runners)| runners.contains(&runner)).map(|(runtime, _)| *runtime)
    }

    /// Returns a live or pausing runtime, for notices about its open connections and calls.
    pub(crate) fn live_or_pausing(&self, runtime: RuntimeId) -> Option<&LiveRuntime> {
        let pausing = || self.pausing.get(&runtime).map(|pausing| &pausing.live);
        self.runtimes.get(runtime).or_else(pausing)
    }

    /// Returns the carryover of a paused runtime.
    pub(crate) fn carryover(&self, runtime: RuntimeId) -> Option<&Carryover> {
        self.paused.get(&runtime).map(|paused| &paused.carryover)
    }

    fn begin_pausing(&mut self, runtime: RuntimeId) {
        let Some(mut live) = self.runtimes.remove(runtime) else { return };
        live.awaits_pause = false;
        self.replies.requests.hold(&live.runtime);
        let mut table = self.runners.lock();
        let process = |runner: &RunnerId| Some((*runner, table.get_mut(*runner)?.process.take()?));
        let runners = live.runners.iter().filter_map(process).collect();
        drop(table);
        self.pausing.insert(runtime, Pausing { live, runners });
    }

    /// Ends a failed pause. The runtime is live again and its programs continue, or the runtime is
    /// frozen again. Requests that were cancelled during the pause end.
    fn abort_pause(&mut self, id: RequestId, runtime: RuntimeId, held: Option<Held>, error: &Error, freezes: Freezes) {
        let context = ErrorContext::runtime(runtime);
        let frozen = (freezes == Freezes::Again).then(|| error.clone());
        let (replies, error) = (self.replies.clone(), error.clone());
        // The held programs continue. This may wait for a guest.
        let release: Job = Box::new(move || {
            drop(held);
            replies.fail(id, &error, context);
        });
        match self.end_pausing(runtime, frozen) {
            Some(handle) if freezes == Freezes::Again => handle.freeze(),
            Some(handle) => self.replies.requests.release(&handle),
            None => {}
        }
        self.owner_threads.run(release);
    }

    /// Returns a pausing runtime to the live runtimes. With a reason, the runtime is frozen.
    /// Returns `None` if the runtime was disposed during the pause.
    fn end_pausing(&mut self, id: RuntimeId, frozen: Option<Error>) -> Option<Runtime> {
        let Pausing { live, runners } = self.pausing.remove(&id)?;
        for (runner, process) in runners {
            match self.runners.lock().get_mut(runner) {
                Some(entry) => entry.process = Some(process),
                None => process.cancel(),
            }
        }
        let handle = live.runtime.clone();
        self.runtimes.insert(id, LiveRuntime { frozen, ..live });
        Some(handle)
    }

    /// Freezes a pausing runtime whose programs did not rest in time. Cancellations stay deferred
    /// until the runtime continues.
    fn freeze(&mut self, id: RequestId, runtime: RuntimeId, busy: Error, freezes: Freezes) {
        match self.end_pausing(runtime, Some(busy.clone())) {
            Some(handle) => {
                handle.freeze();
                match freezes {
                    Freezes::Again => self.replies.fail(id, &busy, ErrorContext::runtime(runtime)),
                    _ => self.replies.answer(id, || pause_reply(Reply(id), None)),
                }
            }
            None => {
                let failure = self.no_runtime(runtime);
                self.replies.answer(id, || Message::failed(id, &failure));
            }
        }
    }

    /// Ends the freeze of a runtime. Returns whether the runtime was frozen.
    fn thaw(&mut self, runtime: RuntimeId) -> bool {
        let Some(live) = self.runtimes.get_mut(runtime) else { return false };
        if live.frozen.take().is_none() {
            return false;
        }
        let handle = live.runtime.clone();
        handle.thaw();
        self.replies.requests.release(&handle);
        true
    }

    /// Returns the failure of a request for a snapshot of a runtime that is not open.
    pub(crate) fn not_quiet(&self, runtime: RuntimeId) -> Failure<'static> {
        match self.runtimes.get(runtime).and_then(|live| live.frozen.as_ref()) {
            Some(busy) => convert::failure(busy, ErrorContext::runtime(runtime)),
            None => self.no_runtime(runtime),
        }
    }

    fn finish_pause(&mut self, id: RequestId, runtime: RuntimeId, info: SnapshotInfo, (sinks, carryover): (Sinks, Carryover)) {
        let replies = self.replies.clone();
        let reply = move |info: &SnapshotInfo| replies.answer(id, || pause_reply(Reply(id), Some((info, core::Stored::Disk))));
        let Some(Pausing { live, runners: processes }) = self.pausing.remove(&runtime) else {
            // The runtime was disposed during the pause.
            self.end_paused(runtime, sinks);
            return reply(&info);
        };
        let LiveRuntime { runtime: ended, runners, tenant, ends, .. } = live;
        let mut requests = Vec::new();
        for sink in sinks.values() {
            match requests_of(sink.as_ref()) {
                RequestsOfSink::Request(request) => requests.push(request),
                RequestsOfSink::Runner(runner, created_by) => {
                    requests.extend(self.replies.requests.evaluations(runner));
                    requests.extend(created_by);
                }
                RequestsOfSink::None => {}
            }
        }
        requests.iter().for_each(|request| self.replies.requests.detach(*request));
        let (resuming, snapshot) = (Resuming::No, info.id.clone());
        self.paused.insert(runtime, Paused { snapshot, tenant, sinks, runners, requests, carryover, ends, resuming });
        // The last handle frees the files, which takes long for many files.
        self.owner_threads.run(Box::new(move || {
            drop((ended, processes));
            reply(&info);
        }));
    }

    /// Handles `runtime.resume`.
    pub(crate) fn resume(&mut self, id: RequestId, resume: RuntimeResume<'_>) -> Result<(), Violation> {
        let runtime = resume.runtime;
        let outside = match resume.outside.as_ref().map(outside_options::options).transpose() {
            Ok(outside) => outside,
            Err(error) => {
                self.refuse(id, &convert::failure(&error, ErrorContext::runtime(runtime)));
                return Ok(());
            }
        };
        let Some(paused) = self.paused.get_mut(&runtime).filter(|paused| paused.resuming == Resuming::No) else {
            if self.thaw(runtime) || self.open_runtime(runtime).is_some() {
                self.send(Reply(id).body(&RestoredPrograms::default(), 64));
            } else {
                self.refuse(id, &self.no_runtime(runtime));
            }
            return Ok(());
        };
        paused.resuming = Resuming::Yes;
        let (tenant, name) = (paused.tenant().to_owned(), paused.snapshot.clone());
        let (mounts, file_systems) = mounts(resume.mounts);
        let (warn, bindings) = (resume.warn == Some(true), resume.bindings.map(host_calls::bindings));
        if !self.begin(id, None)? {
            self.paused.entry(runtime).and_modify(|paused| paused.resuming = Resuming::No);
            return Ok(());
        }
        let (replies, tasks) = (self.replies.clone(), self.tasks.clone());
        self.store.in_background(move |store| {
            let read = contained(|| store.get(&tenant, &name));
            tasks.add(move |session| {
                let options = RestoreOptions { mounts, file_systems, bindings, outside, ..RestoreOptions::default() };
                let programs = session.finish_resume(runtime, read, options, warn);
                replies.settle(id, programs.map(|programs| Reply(id).body(&RestoredPrograms { programs }, 256)));
            });
        });
        Ok(())
    }

    fn finish_resume(
        &mut self,
        runtime: RuntimeId,
        read: Result<Arc<Snapshot>, Error>,
        restore: RestoreOptions,
        warn: bool,
    ) -> Result<Vec<RestoredProgram>, Error> {
        let paused = self.paused.remove(&runtime).ok_or(Error::RuntimeDisposed)?;
        if paused.resuming == Resuming::Disposed {
            self.end_paused(runtime, paused.sinks);
            return Err(Error::RuntimeDisposed);
        }
        let before = (paused.sinks.clone(), paused.ends.clone());
        let restore = RestoreOptions { resume: Some(paused.carryover.clone()), ..restore };
        let options = CopyOptions { restore, warn, tenant: paused.tenant.clone() };
        let restored = read.and_then(|snapshot| self.restore(runtime, &snapshot, options, Some(before)));
        match restored {
            Ok(((_, programs), _)) => {
                // A request whose program is not in the snapshot must not wait forever.
                for request in self.replies.requests.without_process(&paused.requests) {
                    self.replies.fail(request, &Error::RuntimePaused, ErrorContext::runtime(runtime));
                }
                // From now on the store may delete the snapshot when it is full.
                self.store.in_background(move |store| {
                    drop(contained(|| store.protect(paused.tenant(), &paused.snapshot, Retention::No)));
                });
                Ok(programs)
            }
            Err(error) => {
                self.paused.insert(runtime, Paused { resuming: Resuming::No, ..paused });
                Err(error)
            }
        }
    }

    /// Ends a paused runtime. Returns false if no paused runtime has this id, or if the runtime was
    /// disposed during a resume.
    pub(crate) fn dispose_paused(&mut self, runtime: RuntimeId) -> bool {
        match self.paused.get_mut(&runtime).map(|paused| &mut paused.resuming) {
            None | Some(Resuming::Disposed) => return false,
            Some(resuming @ Resuming::Yes) => *resuming = Resuming::Disposed,
            Some(Resuming::No) => {
                if let Some(paused) = self.paused.remove(&runtime) {
                    self.end_paused(runtime, paused.sinks);
                }
            }
        }
        true
    }

    /// Answers the requests that wait for programs of a paused runtime that was disposed.
    fn end_paused(&self, runtime: RuntimeId, sinks: Sinks) {
        let outcome = || Outcome::never_ran(Error::RuntimeDisposed);
        for sink in sinks.into_values() {
            if let RequestsOfSink::Runner(runner, _) = requests_of(sink.as_ref()) {
                self.runners.lock().remove(runner);
                for evaluation in self.replies.requests.evaluations(runner) {
                    self.replies.outcome(evaluation, outcome(), ErrorContext::runner_in(runtime, runner));
                }
            }
            sink.exited(outcome());
        }
    }
}
