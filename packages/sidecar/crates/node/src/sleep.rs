//! Runtimes that sleep on disk: who waits for their programs goes on waiting, and their numbers stay theirs.
//!
//! From the request to sleep on, nothing new reaches a runtime: what came to it after its state was taken would be acknowledged and then lost. It is taken out
//! of the table until it sleeps, or goes on after all; what ends something is remembered, and what belongs to something that is open still gets through.

use std::collections::HashMap;
use std::sync::Arc;

use coldframe_core::{
    Carryover, Error, Held, Outcome, Process, RestoreOptions, Retention, Sink, Snapshot, SnapshotOptions, Store, Stored,
};
use napi::Env;
use napi::bindgen_prelude::Result;

use crate::arguments::Arguments;
use crate::casting::{Restored, Role, role};
use crate::copies::{Sleeper, told};
use crate::embedded::{Body, Embedded, Live};
use crate::files;
use crate::host;
use crate::outlet::{Event, Outlet};
use crate::snapshots::{DEFAULT_TENANT, Later, entry, timeout};
use crate::table::Place;
use crate::values::Raw;

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[("pauseRuntime", pause), ("resumeRuntime", resume)];

/// A runtime on its way to sleep.
pub struct Falling {
    pub live: Live,
    /// The processes of its runners, by their numbers.
    runners: Vec<(u32, Process)>,
    /// Those of them that were disposed of meanwhile.
    gone: Vec<u32>,
}

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
    /// Requests that wait for its programs.
    requests: Vec<u32>,
    bygone: Carryover,
    /// It is being made again; then whether it was disposed of meanwhile.
    waking: Option<bool>,
}

impl Asleep {
    /// Tenant and id of what it sleeps on.
    fn place(&self) -> (String, String) {
        (self.tenant.as_deref().unwrap_or(DEFAULT_TENANT).to_owned(), self.id.clone())
    }
}

/// `id, runtime, timeoutMs, temporary`.
fn pause(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let number = arguments.number(1, "runtime")?;
    let stay = if arguments.required(3, "temporary", "true or false")? { Retention::WhileOpen } else { Retention::Always };
    let sleeping = this.asleep.borrow().get(&number).filter(|asleep| asleep.waking.is_none()).map(|asleep| asleep.place());
    if let Some((tenant, name)) = sleeping {
        return this.pause_sleeping(env, id, tenant, name, stay);
    }
    let runtime = this.runtime(env, number)?;
    let options = SnapshotOptions {
        tenant: this.tenant(number),
        timeout: timeout(&arguments, 2)?,
        hold: true,
        ..SnapshotOptions::default()
    };
    let (outlet, store) = (Arc::clone(&this.outlet), this.store(env)?);
    this.wait_without_program(env, id);
    this.set_falling(number);
    runtime.snapshot(options, move |taken| {
        let then = move |outlet: &Outlet, work: Later| outlet.send(Event::Then(id, work));
        let (snapshot, held) = match taken {
            Ok(taken) => taken,
            Err(error) => return then(&outlet, Box::new(move |this, _| Err(this.stay_awake(number, None, error).into()))),
        };
        store.in_background(move |store| {
            let written = store.write(&snapshot, stay);
            let info = snapshot.info().clone();
            drop(snapshot);
            let work: Later = match written {
                Ok(()) => Box::new(move |this, env| {
                    let left = held.map(Held::into_sinks).unwrap_or_default();
                    this.fall_asleep(number, info.id.clone(), left);
                    Ok(entry(env, info, Stored::Disk)?)
                }),
                Err(error) => Box::new(move |this, _| Err(this.stay_awake(number, held, error).into())),
            };
            then(&outlet, work);
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
        asleep.place()
    });
    let Some((tenant, name)) = source else {
        this.runtime(env, number)?;
        return Raw::new(env, told(env, Vec::new())?).map(Some);
    };
    let outlet = Arc::clone(&this.outlet);
    let store = this.store(env)?;
    this.wait_without_program(env, id);
    store.in_background(move |store| {
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
    /// One that sleeps is put to sleep: what it sleeps on is the answer, and stays from now on if that is wanted.
    fn pause_sleeping(&self, env: &Env, id: u32, tenant: String, name: String, stay: Retention) -> Result<Option<Raw>> {
        let work = move |store: &Store| {
            if stay == Retention::Always {
                store.protect(&tenant, &name, stay)?;
            }
            store.find(&tenant, &name)
        };
        self.of_store(env, id, work, |env, (info, stored)| entry(env, info, stored))
    }

    fn set_falling(&self, number: u32) {
        let Some(live) = self.runtimes.borrow_mut().remove(number) else { return };
        self.requests.hold(&live.runtime);
        let mut table = self.runners.borrow_mut();
        let runners = live.runners.iter().filter_map(|runner| Some((*runner, table.remove(*runner)?))).collect();
        drop(table);
        self.falling.borrow_mut().insert(number, Falling { live, runners, gone: Vec::new() });
    }

    /// It cannot sleep: it is where it was, all go on, and what was asked to end meanwhile ends. Gives the reason back.
    fn stay_awake(&self, number: u32, held: Option<Held>, reason: Error) -> Error {
        let Some(Falling { live, runners, gone }) = self.falling.borrow_mut().remove(&number) else {
            // It was disposed of meanwhile.
            return reason;
        };
        for (runner, process) in runners {
            if gone.contains(&runner) {
                process.cancel();
            } else {
                self.runners.borrow_mut().put(runner, process);
            }
        }
        let runtime = live.runtime.clone();
        self.runtimes.borrow_mut().put(number, live);
        drop(held); // all go on
        self.requests.release(&runtime);
        reason
    }

    /// The runtime that sleeps, or is on its way there, with a runner of that number.
    pub(crate) fn paused_with(&self, runner: u32) -> Option<u32> {
        let asleep = self.asleep.borrow();
        let sleeps = asleep.iter().find(|(_, asleep)| asleep.runners.contains(&runner)).map(|(runtime, _)| *runtime);
        let falling = self.falling.borrow();
        let falls = || falling.iter().find(|(_, falling)| falling.live.runners.contains(&runner)).map(|(runtime, _)| *runtime);
        sleeps.or_else(falls)
    }

    fn fall_asleep(&self, number: u32, id: String, (sinks, bygone): (HashMap<u64, Arc<dyn Sink>>, Carryover)) {
        let Some(Falling { live: Live { runners, tenant, .. }, gone, .. }) = self.falling.borrow_mut().remove(&number) else {
            // It was disposed of meanwhile.
            return self.end_sleepers(number, sinks);
        };
        let mut requests = Vec::new();
        for sink in sinks.values() {
            match role(sink.as_ref()) {
                Some(Role::Request(request)) => requests.push(request),
                Some(Role::Runner(runner, made_by)) => {
                    requests.extend(self.requests.evaluations(runner));
                    requests.extend((made_by != 0).then_some(made_by));
                }
                _ => {}
            }
        }
        requests.iter().for_each(|request| self.requests.detach(*request));
        let asleep = Asleep { id, tenant, sinks, runners, gone, requests, bygone, waking: None };
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
        let options = RestoreOptions { resume: Some(asleep.bygone.clone()), ..options };
        let sleeper = Sleeper { number, sinks: asleep.sinks.clone(), gone: asleep.gone.clone() };
        match read.and_then(|it| self.restore(&it, options, warn, asleep.tenant.clone(), Some(sleeper))) {
            Ok(((_, programs), _)) => {
                // Nobody is left waiting for what is not there.
                for request in self.requests.orphans(&asleep.requests) {
                    let place = Place { runtime: number, runner: 0 };
                    self.outlet.send(Event::Failure(request, place, Error::RuntimePaused));
                }
                // From now on it may make room for others.
                let (tenant, id) = asleep.place();
                if let Some(store) = &*self.store.borrow() {
                    store.in_background(move |store| drop(store.protect(&tenant, &id, Retention::No)));
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
        let (mut asleep, mut falling) = (self.asleep.borrow_mut(), self.falling.borrow_mut());
        let asleep = asleep.values_mut().map(|asleep| (&asleep.runners, &mut asleep.gone));
        let falling = falling.values_mut().map(|falling| (&falling.live.runners, &mut falling.gone));
        let found = asleep.chain(falling).find(|(runners, gone)| runners.contains(&runner) && !gone.contains(&runner));
        found.map(|(_, gone)| gone.push(runner)).is_some()
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
            if let Some(Role::Runner(runner, _)) = role(sink.as_ref()) {
                for evaluation in self.requests.evaluations(runner) {
                    let place = Place { runtime: number, runner };
                    self.outlet.send(Event::Outcome(evaluation, place, Box::new(outcome())));
                }
            }
            sink.exited(outcome());
        }
    }
}
