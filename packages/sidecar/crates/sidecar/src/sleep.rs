//! Runtimes that sleep on disk: who waits for their programs goes on waiting, and their numbers stay theirs.

use std::collections::HashMap;
use std::sync::Arc;

use coldframe_core as core;
use coldframe_core::{Bygone, Error, Outcome, RestoreOptions, Sink, Snapshot, SnapshotOptions};
use coldframe_protocol::messages::{Kind, RestoredProgram, RestoredPrograms, RuntimePause, RuntimeResume};

use crate::casting::{Part, part};
use crate::session::{Live, Session, Violation};
use crate::snapshots::{DEFAULT_TENANT, answer, entry, timeout};
use crate::table::Place;
use crate::{files, host, wire};

/// A runtime that sleeps on disk.
pub struct Asleep {
    /// Its snapshot.
    id: String,
    tenant: Option<Arc<str>>,
    /// Who heard its programs, by lineage.
    sinks: HashMap<u64, Arc<dyn Sink>>,
    runners: Vec<u32>,
    bygone: Bygone,
    /// It is being made again; then whether it was disposed of meanwhile.
    waking: Option<bool>,
}

impl Asleep {
    /// Its runners.
    pub fn runners(&self) -> &[u32] {
        &self.runners
    }

    fn tenant(&self) -> &str {
        self.tenant.as_deref().unwrap_or(DEFAULT_TENANT)
    }
}

impl Session {
    /// `runtime.pause`.
    pub(crate) fn pause(&mut self, id: u32, pause: &RuntimePause) -> Result<(), Violation> {
        let number = pause.runtime;
        let Some(live) = self.runtimes.get(number) else {
            self.refuse(id, &self.no_runtime(number));
            return Ok(());
        };
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
        let (answers, notes, store) = (self.answers.clone(), self.notes.clone(), self.store.clone());
        runtime.snapshot(options, move |taken| {
            let (snapshot, held) = match taken {
                Ok(taken) => taken,
                Err(error) => return answers.fail(id, &error, Place { runtime: number, runner: 0 }),
            };
            store.later(move |store| {
                if let Err(error) = store.write_protected(&snapshot) {
                    drop(held); // all go on
                    return answer(&answers, id, Err(error));
                }
                let info = snapshot.info().clone();
                drop(snapshot);
                notes.leave(move |session| {
                    let left = held.map(core::Held::vanish).unwrap_or_default();
                    session.fall_asleep(number, info.id.clone(), left);
                    session.answers.answer(id, || entry(id, &info, core::Stored::Disk));
                });
            });
        });
        Ok(())
    }

    fn fall_asleep(&mut self, number: u32, id: String, (sinks, bygone): (HashMap<u64, Arc<dyn Sink>>, Bygone)) {
        let Some(Live { runners, tenant, .. }) = self.runtimes.remove(number) else {
            // It was disposed of meanwhile.
            return self.end_sleepers(number, sinks);
        };
        for sink in sinks.values() {
            match part(sink.as_ref()) {
                Part::Request(request) => self.answers.requests.detach(request),
                Part::Runner(runner) => {
                    if let Some(entry) = self.runners.lock().get_mut(runner) {
                        *entry = None;
                    }
                    let evaluations = self.answers.requests.evaluations(runner);
                    evaluations.into_iter().for_each(|evaluation| self.answers.requests.detach(evaluation));
                }
                Part::Nobody => {}
            }
        }
        self.asleep.insert(number, Asleep { id, tenant, sinks, runners, bygone, waking: None });
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
        self.store.later(move |store| {
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
        let options = RestoreOptions { resume: Some(asleep.bygone), ..options };
        let woken = read.and_then(|it| self.restore(&it, options, warn, asleep.tenant.clone(), Some((number, sinks))));
        match woken {
            Ok(((_, programs), _)) => {
                // From now on it may make room for others.
                self.store.later(move |store| drop(store.protect(asleep.tenant(), &asleep.id, false)));
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
            if let Part::Runner(runner) = part(sink.as_ref()) {
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
