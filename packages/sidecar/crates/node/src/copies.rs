//! What is made of a snapshot: a runtime, a runtime that goes back, copies. All of it happens on Node's thread, which alone knows who is called what; it
//! takes well below a millisecond, and many copies are made in pieces, so that the event loop has its turns; they begin to run when all are there. Next: `sleep.rs`, runtimes that sleep.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use coldframe_core::{
    BindingOptions, Error, FileSystemOptions, Limits, MountOptions, RestoreOptions, Sink, Snapshot, SnapshotOptions, Starting,
};
use napi::Env;
use napi::bindgen_prelude::{Object, Result};

use crate::arguments::Arguments;
use crate::casting::{Casting, Restored};
use crate::embedded::{Body, Embedded, Live};
use crate::outlet::Event;
use crate::snapshots::{DEFAULT_TENANT, timeout};
use crate::values::{self, Raw};
use crate::{files, host, limits, permissions};

/// Copies that are made before the event loop has a turn.
const AT_ONCE: usize = 32;

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] =
    &[("restoreRuntime", create), ("rollback", roll_back), ("cloneRuntime", clone), ("attachProcess", attach)];

/// A runtime's number, its programs, and what lets them begin.
pub type Copied = ((u32, Vec<Restored>), Starting);

/// Copies under way.
struct Copying {
    id: u32,
    snapshot: Arc<Snapshot>,
    mounts: (Vec<MountOptions>, Vec<FileSystemOptions>),
    bindings: Option<Vec<BindingOptions>>,
    tenant: Option<Arc<str>>,
    warn: bool,
    settle: bool,
    left: usize,
    made: Vec<std::result::Result<Copied, Error>>,
}

/// A runtime that takes the place of one that sleeps.
pub struct Sleeper {
    /// Its number.
    pub number: u32,
    /// Who heard its programs, by lineage.
    pub sinks: HashMap<u64, Arc<dyn Sink>>,
    /// Its runners that were disposed of meanwhile.
    pub gone: Vec<u32>,
}

impl Embedded {
    /// Makes a runtime of a snapshot, and enters it. `asleep`: it takes that one's place.
    pub(crate) fn restore(
        &self,
        snapshot: &Arc<Snapshot>,
        options: RestoreOptions,
        warn: bool,
        tenant: Option<Arc<str>>,
        asleep: Option<Sleeper>,
    ) -> std::result::Result<Copied, Error> {
        let core = self.core.borrow().clone().ok_or(Error::RuntimeDisposed)?;
        let has_slept = asleep.is_some();
        if !has_slept {
            self.runtimes.borrow().check_room()?;
            self.runners.borrow().check_room()?;
        }
        let Sleeper { number, mut sinks, gone } = asleep.unwrap_or_else(|| Sleeper {
            number: self.runtimes.borrow_mut().reserve(),
            sinks: HashMap::new(),
            gone: Vec::new(),
        });
        let told = Arc::new(OnceLock::from(number));
        let options = RestoreOptions {
            warnings: warn.then(|| limits::listener(&self.outlet, &told)),
            embedder: Some(Arc::new(host::Asking { runtime: number, outlet: Arc::clone(&self.outlet) })),
            ..options
        };
        let mut casting = Casting::new(number, has_slept, self);
        let ((runtime, copies), starting) = core.restore(snapshot, options, &mut |info, _| {
            let old = sinks.remove(&info.lineage);
            casting.sink(info, old)
        })?;
        let cast = casting.finish(copies, &gone);
        let live = Live { runtime, runners: cast.runners, tenant, waiting: Some(Box::new(cast.waiting)) };
        self.runtimes.borrow_mut().put(number, live);
        Ok(((number, cast.programs), starting))
    }

    /// Makes some of the copies, and leaves the rest for later.
    fn copy(&self, mut copying: Copying) {
        let id = copying.id;
        for _ in 0..AT_ONCE.min(copying.left) {
            let (mounts, file_systems) = copying.mounts.clone();
            let bindings = copying.bindings.clone();
            let options = RestoreOptions { mounts, file_systems, bindings, ..RestoreOptions::default() };
            let made = self.restore(&copying.snapshot, options, copying.warn, copying.tenant.clone(), None);
            copying.left -= 1;
            match made {
                Err(error) if !copying.settle => {
                    for ((number, _), _starting) in copying.made.into_iter().flatten() {
                        self.drop_runtime(number);
                    }
                    return self.outlet.send(Event::Then(id, Box::new(|_, _| Err(error.into()))));
                }
                made => copying.made.push(made),
            }
        }
        if copying.left > 0 {
            return self.outlet.send(Event::Note(Box::new(|this, _| this.copy(copying))));
        }
        let mut starting = Vec::with_capacity(copying.made.len());
        let made = copying.made.into_iter().map(|made| {
            made.map(|(copy, start)| {
                starting.push(start);
                copy
            })
        });
        let made = made.collect();
        self.outlet.send(Event::Then(id, Box::new(|_, env| Ok(copies(env, made)?))));
        drop(starting);
    }

    fn drop_runtime(&self, number: u32) {
        let live = self.runtimes.borrow_mut().remove(number);
        if let Some(live) = live {
            live.runners.into_iter().for_each(|runner| drop(self.runners.borrow_mut().remove(runner)));
            live.runtime.dispose();
        }
    }
}

/// `id, snapshot, tenant, env, cwd, profile, limits, values, mounts, warn, permissions, bindings`.
fn create(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let name: String = arguments.required(1, "snapshot", "a string")?;
    let tenant: Option<String> = arguments.optional(2, "tenant", "a string")?;
    let variables = arguments.environment(3)?;
    let (profile, numbers) = limits::given(env, &arguments, 5)?;
    let (mounts, file_systems) = files::mounts(&arguments, 8)?;
    let warn = arguments.optional(9, "warn", "true or false")?.unwrap_or(false);
    let policy: Option<Object<'_>> = arguments.optional(10, "permissions", "a policy")?;
    let options = RestoreOptions {
        env: (!variables.is_empty()).then_some(variables),
        cwd: arguments.optional(4, "cwd", "a string")?,
        permissions: policy.map(|given| permissions::policy(env, &given)).transpose()?,
        mounts,
        file_systems,
        bindings: host::bindings(env, &arguments, 11)?,
        ..RestoreOptions::default()
    };
    let place = tenant.as_deref().unwrap_or(DEFAULT_TENANT).to_owned();
    this.with_snapshot(env, id, (&place, &name), move |this, env, snapshot| {
        // Over the snapshot's own, unless a profile says where the others come from.
        let mut limits = profile.as_deref().map_or_else(|| Ok(*snapshot.limits()), Limits::of_profile)?;
        numbers.iter().try_for_each(|(name, value)| limits.set(name, *value))?;
        let cwd = options.cwd.clone().unwrap_or_else(|| snapshot.cwd().to_owned());
        let policy = options.permissions.clone().unwrap_or_else(|| snapshot.permissions());
        let options = RestoreOptions { limits: Some(limits), ..options };
        let ((runtime, programs), _) = this.restore(snapshot, options, warn, tenant.map(Arc::from), None)?;
        let mut restored = Object::new(env)?;
        restored.set("programs", told(env, programs)?)?;
        restored.set("cwd", cwd)?;
        restored.set("permissions", permissions::told(env, policy)?)?;
        let mut created = Object::new(env)?;
        created.set("runtime", runtime)?;
        created.set("restored", restored)?;
        Ok(Raw::new(env, created)?)
    })
}

/// `id, runtime, snapshot`.
fn roll_back(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let number = arguments.number(1, "runtime")?;
    let name: String = arguments.required(2, "snapshot", "a string")?;
    this.runtime(env, number)?;
    let tenant = this.tenant(number);
    this.with_snapshot(env, id, (&tenant, &name), move |this, env, snapshot| {
        let gone = if this.is_paused(number) { Error::RuntimePaused } else { Error::RuntimeDisposed };
        let runtime = this.runtimes.borrow().get(number).map(|live| live.runtime.clone()).ok_or(gone)?;
        let mut casting = Casting::new(number, false, this);
        let copies = runtime.rollback(snapshot, &mut |info, old| casting.sink(info, old))?;
        let cast = casting.finish(copies, &[]);
        if let Some(live) = this.runtimes.borrow_mut().get_mut(number) {
            // Those that are not in it have ended: whoever kept them would keep all that was then.
            let before = std::mem::replace(&mut live.runners, cast.runners);
            let ended: Vec<_> = before.into_iter().filter(|runner| !live.runners.contains(runner)).collect();
            let processes: Vec<_> = ended.into_iter().map(|runner| this.runners.borrow_mut().remove(runner)).collect();
            drop(processes);
            live.waiting = Some(Box::new(cast.waiting));
        }
        Ok(Raw::new(env, told(env, cast.programs)?)?)
    })
}

/// `id, runtime, count, settle, warn, timeoutMs, mounts, bindings`.
fn clone(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let number = arguments.number(1, "runtime")?;
    let runtime = this.runtime(env, number)?;
    let left = arguments.number(2, "count")? as usize;
    let settle: bool = arguments.required(3, "settle", "true or false")?;
    let warn: bool = arguments.required(4, "warn", "true or false")?;
    let tenant = this.runtimes.borrow().get(number).and_then(|live| live.tenant.clone());
    let mounts = files::mounts(&arguments, 6)?;
    let bindings = host::bindings(env, &arguments, 7)?;
    let options = SnapshotOptions { tenant: this.tenant(number), timeout: timeout(&arguments, 5)?, ..SnapshotOptions::default() };
    let outlet = Arc::clone(&this.outlet);
    this.wait_without_program(env, id);
    runtime.snapshot(options, move |taken| {
        let event = match taken {
            Ok((snapshot, _)) => {
                snapshot.expect_copies(u32::try_from(left).unwrap_or(u32::MAX));
                let copying = Copying { id, snapshot, mounts, bindings, tenant, warn, settle, left, made: Vec::new() };
                Event::Note(Box::new(|this, _| this.copy(copying)))
            }
            Err(error) => Event::Then(id, Box::new(|_, _| Err(error.into()))),
        };
        outlet.send(event);
    });
    Ok(None)
}

/// `id, runtime, pid, streams`.
fn attach(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let number = arguments.number(1, "runtime")?;
    let pid = arguments.number(2, "pid")?;
    let streams = arguments.streams(3)?;
    let runtime = this.runtime(env, number)?;
    let found = {
        let mut runtimes = this.runtimes.borrow_mut();
        runtimes.get_mut(number).and_then(|live| live.waiting.as_mut()).and_then(|waiting| waiting.remove(&pid))
    };
    let Some((process, adopted)) = found else {
        let (runtimes, runners) = (this.runtimes.borrow(), this.runners.borrow());
        let is_runner = |number: &u32| runners.get(*number).is_some_and(|it| it.pid() == pid);
        let is_runner = runtimes.get(number).is_some_and(|live| live.runners.iter().any(is_runner));
        return Err(values::thrown(env, &runtime.processes().not_attachable(pid, is_runner), None));
    };
    this.wait_for(env, id, process.clone());
    adopted.attach(id);
    process.stream(streams);
    Ok(None)
}

/// Programs that go on, as `{ pid, runner? }`.
pub fn told(env: &Env, programs: Vec<Restored>) -> Result<Vec<Raw>> {
    let one = |(pid, runner): Restored| {
        let mut program = Object::new(env)?;
        program.set("pid", pid)?;
        if let Some(runner) = runner {
            program.set("runner", runner)?;
        }
        Raw::new(env, program)
    };
    programs.into_iter().map(one).collect()
}

fn copies(env: &Env, made: Vec<std::result::Result<(u32, Vec<Restored>), Error>>) -> Result<Raw> {
    let one = |made: std::result::Result<(u32, Vec<Restored>), Error>| {
        let mut copy = Object::new(env)?;
        match made {
            Ok((runtime, programs)) => {
                copy.set("runtime", runtime)?;
                copy.set("programs", told(env, programs)?)?;
            }
            Err(error) => {
                copy.set("programs", Vec::<Raw>::new())?;
                copy.set("failure", values::failure(env, &error, None)?)?;
            }
        }
        Raw::new(env, copy)
    };
    let all: Result<Vec<_>> = made.into_iter().map(one).collect();
    Raw::new(env, all?)
}
