//! Runtimes that sleep on disk: who waits for their programs goes on waiting, and their numbers stay theirs.

use std::collections::HashMap;
use std::sync::Arc;

use coldframe_core::{Bygone, Error, Held, Outcome, RestoreOptions, Sink, Snapshot, SnapshotOptions, Stored};
use napi::Env;
use napi::bindgen_prelude::Result;

use crate::arguments::Arguments;
use crate::casting::{Restored, Role, role};
use crate::copies::{Sleeper, told};
use crate::embedded::{Body, Embedded, Live};
use crate::files;
use crate::host;
use crate::outlet::Event;
use crate::snapshots::{DEFAULT_TENANT, entry, timeout};
use crate::table::Place;
use crate::values::Raw;

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[("pauseRuntime", pause), ("resumeRuntime", resume)];

/// A runtime that sleeps.
pub struct Asleep {
    /// Its snapshot.
    id: String,
    tenant: Option<Arc<str>>,
    /// Who heard its programs, by lineage.
    sinks: HashMap<u64, Arc<dyn Sink>>,
    /// Its runners.
    pub runners: Vec<u32>,
    /// Those of them that were disposed of meanwhile.
    pub gone: Vec<u32>,
    bygone: Bygone,
    /// It is being made again; then whether it was disposed of meanwhile.
    waking: Option<bool>,
}

/// `id, runtime, timeoutMs`.
fn pause(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let number = arguments.number(1, "runtime")?;
    let runtime = this.runtime(env, number)?;
    let options = SnapshotOptions {
        tenant: this.tenant(number),
        timeout: timeout(&arguments, 2)?,
        hold: true,
        ..SnapshotOptions::default()
    };
    let (outlet, store) = (Arc::clone(&this.outlet), this.store(env)?);
    this.wait_without_program(env, id);
    runtime.snapshot(options, move |taken| {
        let (snapshot, held) = match taken {
            Ok(taken) => taken,
            Err(error) => return outlet.send(Event::Then(id, Box::new(|_, _| Err(error.into())))),
        };
        store.later(move |store| {
            if let Err(error) = store.write_protected(&snapshot) {
                drop(held); // all go on
                return outlet.send(Event::Then(id, Box::new(|_, _| Err(error.into()))));
            }
            let info = snapshot.info().clone();
            drop(snapshot);
            outlet.send(Event::Then(
                id,
                Box::new(move |this, env| {
                    let left = held.map(Held::vanish).unwrap_or_default();
                    this.fall_asleep(number, info.id.clone(), left);
                    Ok(entry(env, info, Stored::Disk)?)
                }),
            ));
        });
    });
    Ok(None)
}

/// `id, runtime, warn, mounts, bindings`.
fn resume(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let number = arguments.number(1, "runtime")?;
    let warn: bool = arguments.required(2, "warn", "true or false")?;
    let (mounts, file_systems) = files::mounts(&arguments, 3)?;
    let bindings = host::bindings(env, &arguments, 4)?;
    let source = this.asleep.borrow_mut().get_mut(&number).filter(|asleep| asleep.waking.is_none()).map(|asleep| {
        asleep.waking = Some(false);
        (asleep.tenant.as_deref().unwrap_or(DEFAULT_TENANT).to_owned(), asleep.id.clone())
    });
    let Some((tenant, name)) = source else {
        this.runtime(env, number)?;
        return Raw::new(env, told(env, Vec::new())?).map(Some);
    };
    let outlet = Arc::clone(&this.outlet);
    let store = this.store(env)?;
    this.wait_without_program(env, id);
    store.later(move |store| {
        let read = store.get(&tenant, &name);
        let options = RestoreOptions { mounts, file_systems, bindings, ..RestoreOptions::default() };
        outlet.send(Event::Then(
            id,
            Box::new(move |this, env| {
                let programs = this.wake_up(number, read, options, warn)?;
                Ok(Raw::new(env, told(env, programs)?)?)
            }),
        ));
    });
    Ok(None)
}

impl Embedded {
    fn fall_asleep(&self, number: u32, id: String, (sinks, bygone): (HashMap<u64, Arc<dyn Sink>>, Bygone)) {
        let Some(Live { runners, tenant, .. }) = self.runtimes.borrow_mut().remove(number) else {
            // It was disposed of meanwhile.
            return self.end_sleepers(number, sinks);
        };
        for sink in sinks.values() {
            match role(sink.as_ref()) {
                Some(Role::Request(request)) => self.requests.detach(request),
                Some(Role::Runner(runner)) => {
                    self.runners.borrow_mut().remove(runner);
                    self.requests.evaluations(runner).into_iter().for_each(|evaluation| self.requests.detach(evaluation));
                }
                _ => {}
            }
        }
        let asleep = Asleep { id, tenant, sinks, runners, bygone, gone: Vec::new(), waking: None };
        self.asleep.borrow_mut().insert(number, asleep);
    }

    fn wake_up(
        &self,
        number: u32,
        read: std::result::Result<Arc<Snapshot>, Error>,
        options: RestoreOptions,
        warn: bool,
    ) -> std::result::Result<Vec<Restored>, Error> {
        let asleep = self.asleep.borrow_mut().remove(&number).ok_or(Error::RuntimeDisposed)?;
        if asleep.waking == Some(true) {
            self.end_sleepers(number, asleep.sinks);
            return Err(Error::RuntimeDisposed);
        }
        let options = RestoreOptions { resume: Some(asleep.bygone), ..options };
        let sleeper = Sleeper { number, sinks: asleep.sinks.clone(), gone: asleep.gone.clone() };
        match read.and_then(|it| self.restore(&it, options, warn, asleep.tenant.clone(), Some(sleeper))) {
            Ok(((_, programs), _)) => {
                // From now on it may make room for others.
                let tenant = asleep.tenant.as_deref().unwrap_or(DEFAULT_TENANT).to_owned();
                if let Some(store) = &*self.store.borrow() {
                    store.later(move |store| drop(store.protect(&tenant, &asleep.id, false)));
                }
                Ok(programs)
            }
            Err(error) => {
                self.asleep.borrow_mut().insert(number, Asleep { waking: None, ..asleep });
                Err(error)
            }
        }
    }

    /// A runner that sleeps is to end when it wakes up. False: there is none of that number.
    pub(crate) fn dispose_sleeping_runner(&self, runner: u32) -> bool {
        let mut all = self.asleep.borrow_mut();
        let asleep = all.values_mut().find(|asleep| asleep.runners.contains(&runner) && !asleep.gone.contains(&runner));
        asleep.map(|asleep| asleep.gone.push(runner)).is_some()
    }

    /// Ends a runtime that sleeps. False: there is none of that number.
    pub(crate) fn dispose_asleep(&self, number: u32) -> bool {
        let mut all = self.asleep.borrow_mut();
        match all.get_mut(&number).map(|asleep| asleep.waking) {
            None | Some(Some(true)) => false,
            Some(Some(false)) => {
                all.entry(number).and_modify(|asleep| asleep.waking = Some(true));
                true
            }
            Some(None) => {
                let asleep = all.remove(&number);
                drop(all);
                if let Some(asleep) = asleep {
                    self.end_sleepers(number, asleep.sinks);
                }
                true
            }
        }
    }

    /// Tells those who wait for the programs of a runtime that was disposed of in its sleep.
    fn end_sleepers(&self, number: u32, sinks: HashMap<u64, Arc<dyn Sink>>) {
        let outcome = || Outcome::never_ran(Error::RuntimeDisposed);
        for sink in sinks.into_values() {
            if let Some(Role::Runner(runner)) = role(sink.as_ref()) {
                for evaluation in self.requests.evaluations(runner) {
                    let place = Place { runtime: number, runner };
                    self.outlet.send(Event::Outcome(evaluation, place, Box::new(outcome())));
                }
            }
            sink.exited(outcome());
        }
    }
}
