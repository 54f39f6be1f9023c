//! Pauses and resumes runtimes. Requests that wait for programs of a paused runtime stay in flight,
//! and the ids of the runtime and its runners stay valid.
//!
//! From `runtime.pause` on, new requests for the runtime are refused, because the effect of a
//! request after the snapshot would be lost. The runtime leaves the table of live runtimes, and
//! returns to the table when the pause fails or the runtime is resumed. Requests that end a program
//! or a runtime are stored and take effect after the pause. Notices about open connections still
//! reach the runtime.

use std::sync::Arc;
use std::time::Duration;

use coldframe_core as core;
use coldframe_core::{
    Carryover, Error, Held, Outcome, Process, RestoreOptions, Retention, Snapshot, SnapshotInfo, SnapshotOptions, contained,
};
use coldframe_ids::{RequestId, RunnerId, RuntimeId};
use coldframe_protocol::messages::{RestoredProgram, RestoredPrograms, RuntimePause, RuntimeResume};

use crate::convert;
use crate::copies::CopyOptions;
use crate::host_calls;
use crate::message::Message;
use crate::outside_options;
use crate::replies::Reply;
use crate::runtimes::{LiveRuntime, mounts};
use crate::session::{Job, Session, Violation};
use crate::sinks::{RequestsOfSink, Sinks, requests_of};
use crate::snapshots::{DEFAULT_TENANT, entry, quiesce_timeout};
use crate::table::ErrorContext;

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
        if self.open_runtime(runtime).is_none() {
            return self.pause_paused(id, runtime, retention);
        }
        if self.begin(id, None)? {
            if let Some(live) = self.runtimes.get_mut(runtime) {
                live.awaits_pause = true;
            }
            self.pause_after_calls(id, runtime, retention, quiesce_timeout(pause.timeout_ms));
        }
        Ok(())
    }

    /// Pauses a runtime after the earlier calls on the runtime, which change the session's tables.
    fn pause_after_calls(&mut self, id: RequestId, runtime_id: RuntimeId, retention: Retention, timeout: Duration) {
        // An earlier call may have ended and left a task.
        self.run_tasks();
        let Some(live) = self.runtimes.get(runtime_id) else {
            let failure = self.no_runtime(runtime_id);
            return self.replies.answer(id, || Message::failed(id, &failure));
        };
        let (runtime, calls, tasks) = (live.runtime.clone(), live.calls.clone(), self.tasks.clone());
        if calls.are_under_way() {
            let later = move |session: &mut Self| session.pause_after_calls(id, runtime_id, retention, timeout);
            calls.add(&self.owner_threads, false, Box::new(move || tasks.add(later)));
            return;
        }
        let tenant = live.tenant().to_owned();
        let options = SnapshotOptions { tenant, timeout, hold: true, ..SnapshotOptions::default() };
        self.begin_pausing(runtime_id);
        let store = self.store.clone();
        let snapshot = move || {
            runtime.snapshot(options, move |taken| {
                let (snapshot, held) = match taken {
                    Ok(taken) => taken,
                    Err(error) => return tasks.add(move |session| session.abort_pause(id, runtime_id, None, &error)),
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
                        Err(error) => tasks.add(move |session| session.abort_pause(id, runtime_id, held, &error)),
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
            store.find(&tenant, &name).map(|(info, stored)| entry(Reply(id), &info, stored))
        })
    }

    /// Returns a live runtime that accepts requests: no pause has begun.
    pub(crate) fn open_runtime(&self, runtime: RuntimeId) -> Option<&LiveRuntime> {
        self.runtimes.get(runtime).filter(|live| !live.awaits_pause)
    }

    /// Returns whether a runtime is paused or being paused.
    pub(crate) fn is_paused(&self, runtime: RuntimeId) -> bool {
        let awaits_pause = || self.runtimes.get(runtime).is_some_and(|live| live.awaits_pause);
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

    /// Ends a failed pause. The runtime is live again and its programs continue. Requests that were
    /// cancelled during the pause end.
    fn abort_pause(&mut self, id: RequestId, runtime: RuntimeId, held: Option<Held>, error: &Error) {
        let context = ErrorContext::runtime(runtime);
        let (replies, error) = (self.replies.clone(), error.clone());
        // The held programs continue. This may wait for a guest.
        let release: Job = Box::new(move || {
            drop(held);
            replies.fail(id, &error, context);
        });
        let Some(Pausing { live, runners }) = self.pausing.remove(&runtime) else {
            // The runtime was disposed during the pause.
            return self.owner_threads.run(release);
        };
        for (runner, process) in runners {
            match self.runners.lock().get_mut(runner) {
                Some(entry) => entry.process = Some(process),
                None => process.cancel(),
            }
        }
        let handle = live.runtime.clone();
        self.runtimes.insert(runtime, live);
        self.replies.requests.release(&handle);
        self.owner_threads.run(release);
    }

    fn finish_pause(&mut self, id: RequestId, runtime: RuntimeId, info: SnapshotInfo, (sinks, carryover): (Sinks, Carryover)) {
        let replies = self.replies.clone();
        let reply = move |info: &SnapshotInfo| replies.answer(id, || entry(Reply(id), info, core::Stored::Disk));
        let Some(Pausing { live, runners: processes }) = self.pausing.remove(&runtime) else {
            // The runtime was disposed during the pause.
            self.end_paused(runtime, sinks);
            return reply(&info);
        };
        let LiveRuntime { runtime: ended, runners, tenant, .. } = live;
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
        self.paused.insert(runtime, Paused { snapshot, tenant, sinks, runners, requests, carryover, resuming });
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
            if self.open_runtime(runtime).is_some() {
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
        let sinks = paused.sinks.clone();
        let restore = RestoreOptions { resume: Some(paused.carryover.clone()), ..restore };
        let options = CopyOptions { restore, warn, tenant: paused.tenant.clone() };
        let restored = read.and_then(|snapshot| self.restore(runtime, &snapshot, options, Some(sinks)));
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
