//! Runtimes that sleep on disk: who waits for their programs goes on waiting, and their numbers stay theirs.
//!
//! From the request to sleep on, nothing new reaches a runtime: what came to it after its state was taken would be acknowledged and then lost. It is taken out
//! of the table until it sleeps, or goes on after all; what ends something is remembered, and what belongs to something that is open still gets through.

use std::collections::HashMap;
use std::sync::Arc;

use coldframe_core as core;
use coldframe_core::{
    Carryover, Error, Held, Outcome, Process, RestoreOptions, Retention, Runtime, Sink, Snapshot, SnapshotOptions,
};
use coldframe_protocol::messages::{Kind, RestoredProgram, RestoredPrograms, RuntimePause, RuntimeResume};

use crate::casting::{Part, part};
use crate::session::{Live, Session, Violation};
use crate::snapshots::{DEFAULT_TENANT, answer, entry, timeout};
use crate::table::Place;
use crate::{files, host, wire};

/// A runtime on its way to sleep.
pub struct Falling {
    pub live: Live,
    /// The processes of its runners, by their numbers. The table has their numbers only.
    runners: Vec<(u32, Process)>,
}

/// A runtime that sleeps on disk.
pub struct Asleep {
    /// Its snapshot.
    id: String,
    tenant: Option<Arc<str>>,
    /// Who heard its programs, by lineage.
    sinks: HashMap<u64, Arc<dyn Sink>>,
    runners: Vec<u32>,
    /// Those that wait for its programs.
    requests: Vec<u32>,
    bygone: Carryover,
    /// It is being made again; then whether it was disposed of meanwhile.
    waking: Option<bool>,
}

impl Asleep {
    fn tenant(&self) -> &str {
        self.tenant.as_deref().unwrap_or(DEFAULT_TENANT)
    }
}

impl Session {
    /// `runtime.pause`.
    pub(crate) fn pause(&mut self, id: u32, pause: &RuntimePause) -> Result<(), Violation> {
        let number = pause.runtime;
        let stay = if pause.temporary == Some(true) { Retention::WhileOpen } else { Retention::Always };
        let Some(live) = self.runtimes.get(number) else { return self.pause_sleeping(id, number, stay) };
        let options = SnapshotOptions {
            tenant: live.tenant().to_owned(),
            timeout: timeout(pause.timeout_ms),
            hold: true,
            ..SnapshotOptions::default()
        };
        let runtime = live.runtime.clone();
        if !self.begin(id, 0)? {
            return Ok(());
        }
        self.set_falling(number);
        let (notes, store) = (self.notes.clone(), self.store.clone());
        runtime.snapshot(options, move |taken| {
            let (snapshot, held) = match taken {
                Ok(taken) => taken,
                Err(error) => return notes.leave(move |session| session.stay_awake(id, number, None, &error)),
            };
            store.in_background(move |store| {
                let written = store.write(&snapshot, stay);
                let info = snapshot.info().clone();
                drop(snapshot);
                notes.leave(move |session| match written {
                    Ok(()) => {
                        let left = held.map(Held::into_sinks).unwrap_or_default();
                        session.fall_asleep(number, info.id.clone(), left);
                        session.answers.answer(id, || entry(id, &info, core::Stored::Disk));
                    }
                    Err(error) => session.stay_awake(id, number, held, &error),
                });
            });
        });
        Ok(())
    }

    /// One that sleeps is put to sleep: what it sleeps on is the answer, and stays from now on if that is wanted.
    fn pause_sleeping(&mut self, id: u32, number: u32, stay: Retention) -> Result<(), Violation> {
        let Some(asleep) = self.asleep.get(&number).filter(|asleep| asleep.waking.is_none()) else {
            self.refuse(id, &self.no_runtime(number));
            return Ok(());
        };
        let (tenant, name) = (asleep.tenant().to_owned(), asleep.id.clone());
        self.of_store(id, move |store| {
            if stay == Retention::Always {
                store.protect(&tenant, &name, stay)?;
            }
            store.find(&tenant, &name).map(|(info, stored)| entry(id, &info, stored))
        })
    }

    /// Whether a runtime sleeps, or is on its way there.
    pub(crate) fn is_paused(&self, number: u32) -> bool {
        self.asleep.contains_key(&number) || self.falling.contains_key(&number)
    }

    /// The runtime that sleeps, or is on its way there, with that runner.
    pub(crate) fn paused_with(&self, runner: u32) -> Option<u32> {
        let asleep = self.asleep.iter().map(|(runtime, asleep)| (runtime, &asleep.runners));
        let falling = self.falling.iter().map(|(runtime, falling)| (runtime, &falling.live.runners));
        asleep.chain(falling).find(|(_, runners)| runners.contains(&runner)).map(|(runtime, _)| *runtime)
    }

    /// The runtime of that number, also one on its way to sleep: for what belongs to something that is open in it.
    pub(crate) fn still_awake(&self, number: u32) -> Option<&Runtime> {
        let falling = || self.falling.get(&number).map(|falling| &falling.live);
        self.runtimes.get(number).or_else(falling).map(|live| &live.runtime)
    }

    fn set_falling(&mut self, number: u32) {
        let Some(live) = self.runtimes.remove(number) else { return };
        self.answers.requests.hold(&live.runtime);
        let mut table = self.runners.lock();
        let process = |runner: &u32| Some((*runner, table.get_mut(*runner)?.take()?));
        let runners = live.runners.iter().filter_map(process).collect();
        drop(table);
        self.falling.insert(number, Falling { live, runners });
    }

    /// It cannot sleep: it is where it was, all go on, and what was asked to end meanwhile ends.
    fn stay_awake(&mut self, id: u32, number: u32, held: Option<Held>, error: &Error) {
        let Some(Falling { live, runners }) = self.falling.remove(&number) else {
            // It was disposed of meanwhile.
            return self.answers.fail(id, error, Place { runtime: number, runner: 0 });
        };
        for (runner, process) in runners {
            match self.runners.lock().get_mut(runner) {
                Some(entry) => *entry = Some(process),
                None => process.cancel(),
            }
        }
        let runtime = live.runtime.clone();
        self.runtimes.put(number, live);
        drop(held); // all go on
        self.answers.requests.release(&runtime);
        self.answers.fail(id, error, Place { runtime: number, runner: 0 });
    }

    fn fall_asleep(&mut self, number: u32, id: String, (sinks, bygone): (HashMap<u64, Arc<dyn Sink>>, Carryover)) {
        let Some(Falling { live: Live { runners, tenant, .. }, .. }) = self.falling.remove(&number) else {
            // It was disposed of meanwhile.
            return self.end_sleepers(number, sinks);
        };
        let mut requests = Vec::new();
        for sink in sinks.values() {
            match part(sink.as_ref()) {
                Part::Request(request) => requests.push(request),
                Part::Runner(runner, made_by) => {
                    requests.extend(self.answers.requests.evaluations(runner));
                    requests.extend((made_by != 0).then_some(made_by));
                }
                Part::Nobody => {}
            }
        }
        requests.iter().for_each(|request| self.answers.requests.detach(*request));
        self.asleep.insert(number, Asleep { id, tenant, sinks, runners, requests, bygone, waking: None });
    }

    /// `runtime.resume`.
    pub(crate) fn resume(&mut self, id: u32, resume: RuntimeResume<'_>) -> Result<(), Violation> {
        let number = resume.runtime;
        let Some(asleep) = self.asleep.get_mut(&number).filter(|asleep| asleep.waking.is_none()) else {
            if self.runtimes.get(number).is_some() {
                self.reply(id, &RestoredPrograms::default());
            } else {
                self.refuse(id, &self.no_runtime(number));
            }
            return Ok(());
        };
        asleep.waking = Some(false);
        let (tenant, name) = (asleep.tenant().to_owned(), asleep.id.clone());
        let (mounts, file_systems) = files::mounts(resume.mounts.unwrap_or_default());
        let (warn, bindings) = (resume.warn == Some(true), resume.bindings.map(host::bindings));
        if !self.begin(id, 0)? {
            self.asleep.entry(number).and_modify(|asleep| asleep.waking = None);
            return Ok(());
        }
        let (answers, notes) = (self.answers.clone(), self.notes.clone());
        self.store.in_background(move |store| {
            let read = store.get(&tenant, &name);
            notes.leave(move |session| {
                let options = RestoreOptions { mounts, file_systems, bindings, ..RestoreOptions::default() };
                let woken = session.wake_up(number, read, options, warn);
                let reply = woken.map(|programs| wire::frame(Kind::Reply, id, &RestoredPrograms { programs }, 256));
                answer(&answers, id, reply);
            });
        });
        Ok(())
    }

    fn wake_up(
        &mut self,
        number: u32,
        read: Result<Arc<Snapshot>, Error>,
        options: RestoreOptions,
        warn: bool,
    ) -> Result<Vec<RestoredProgram>, Error> {
        let asleep = self.asleep.remove(&number).ok_or(Error::RuntimeDisposed)?;
        if asleep.waking == Some(true) {
            self.end_sleepers(number, asleep.sinks);
            return Err(Error::RuntimeDisposed);
        }
        let sinks = asleep.sinks.clone();
        let options = RestoreOptions { resume: Some(asleep.bygone.clone()), ..options };
        let woken = read.and_then(|it| self.restore(&it, options, warn, asleep.tenant.clone(), Some((number, sinks))));
        match woken {
            Ok(((_, programs), _)) => {
                // Nobody is left waiting for what is not there.
                for request in self.answers.requests.orphans(&asleep.requests) {
                    self.answers.fail(request, &Error::RuntimePaused, Place { runtime: number, runner: 0 });
                }
                // From now on it may make room for others.
                self.store.in_background(move |store| drop(store.protect(asleep.tenant(), &asleep.id, Retention::No)));
                Ok(programs)
            }
            Err(error) => {
                self.asleep.insert(number, Asleep { waking: None, ..asleep });
                Err(error)
            }
        }
    }

    /// Ends a runtime that sleeps. False: there is none of that number.
    pub(crate) fn dispose_asleep(&mut self, number: u32) -> bool {
        match self.asleep.get_mut(&number) {
            None => return false,
            Some(Asleep { waking: Some(disposed), .. }) if !*disposed => *disposed = true,
            Some(Asleep { waking: Some(_), .. }) => return false,
            Some(_) => {
                if let Some(asleep) = self.asleep.remove(&number) {
                    self.end_sleepers(number, asleep.sinks);
                }
            }
        }
        true
    }

    /// Tells those who wait for the programs of a runtime that was disposed of in its sleep.
    fn end_sleepers(&self, number: u32, sinks: HashMap<u64, Arc<dyn Sink>>) {
        let outcome = || Outcome::never_ran(Error::RuntimeDisposed);
        for sink in sinks.into_values() {
            if let Part::Runner(runner, _) = part(sink.as_ref()) {
                self.runners.lock().remove(runner);
                for evaluation in self.answers.requests.evaluations(runner) {
                    let place = Place { runtime: number, runner };
                    self.answers.answer(evaluation, || wire::outcome(evaluation, &outcome(), place));
                }
            }
            sink.exited(outcome());
        }
    }
}
