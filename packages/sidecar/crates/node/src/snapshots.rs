//! The functions of the object that are about snapshots: taking them, and the store that keeps them. What takes a while is done on other threads, and its end
//! is made on Node's ([`Later`]). Next: `copies.rs`, what is made of a snapshot.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use coldframe_core::{Error, Retention, Snapshot, SnapshotInfo, SnapshotOptions, Store, Stored};
use napi::Env;
use napi::bindgen_prelude::{Object, Result};

use crate::arguments::{Arguments, wrong};
use crate::embedded::{Body, Embedded};
use crate::outlet::Event;
use crate::values::{self, Raw};

/// Whose a runtime is that is given no tenant.
pub const DEFAULT_TENANT: &str = "default";

/// How long programs may take to come to rest.
const QUIET: Duration = Duration::from_secs(5);

/// Why there is no answer.
pub enum Ended {
    /// The core says so.
    Core(Error),
    /// JavaScript does.
    Script(napi::Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<napi::Error> for Ended {
    fn from(error: napi::Error) -> Self {
        Self::Script(error)
    }
}

/// Makes the end of a request, on Node's thread.
pub type Later = Box<dyn FnOnce(&Embedded, &Env) -> std::result::Result<Raw, Ended> + Send>;

/// Something to do on Node's thread that ends no request.
pub type Note = Box<dyn FnOnce(&Embedded, &Env) + Send>;

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[
    ("takeSnapshot", take),
    ("listSnapshots", list),
    ("getSnapshot", get),
    ("deleteSnapshot", delete),
    ("exportSnapshot", export),
    ("importSnapshot", import),
    ("persistSnapshot", persist),
    ("digestSnapshot", digest),
];

impl Embedded {
    /// The store, while the core is open.
    pub(crate) fn store(&self, env: &Env) -> Result<Store> {
        let store = self.store.borrow().clone();
        store.ok_or_else(|| wrong(env, "core", "one that is open", "one that has been shut down"))
    }

    /// A request that the store answers, on a thread of its own.
    pub(crate) fn of_store<T: Send + 'static>(
        &self,
        env: &Env,
        id: u32,
        work: impl FnOnce(&Store) -> std::result::Result<T, Error> + Send + 'static,
        value: impl FnOnce(&Env, T) -> Result<Raw> + Send + 'static,
    ) -> Result<Option<Raw>> {
        let outlet = Arc::clone(&self.outlet);
        self.wait_without_program(env, id);
        self.store(env)?.in_background(move |store| {
            let done = work(store);
            outlet.send(Event::Then(id, Box::new(move |_, env| Ok(value(env, done?)?))));
        });
        Ok(None)
    }

    /// A request that needs a snapshot: answered at once when it lies in memory, else when it has been read.
    pub(crate) fn with_snapshot(
        &self,
        env: &Env,
        id: u32,
        (tenant, name): (&str, &str),
        then: impl FnOnce(&Self, &Env, &Arc<Snapshot>) -> std::result::Result<Raw, Ended> + Send + 'static,
    ) -> Result<Option<Raw>> {
        let store = self.store(env)?;
        if let Some(snapshot) = store.held(tenant, name) {
            return self.now(env, then(self, env, &snapshot));
        }
        let (tenant, name, outlet) = (tenant.to_owned(), name.to_owned(), Arc::clone(&self.outlet));
        self.wait_without_program(env, id);
        store.in_background(move |store| {
            let read = store.get(&tenant, &name);
            outlet.send(Event::Then(id, Box::new(move |this, env| then(this, env, &read?))));
        });
        Ok(None)
    }

    /// An answer within the call.
    pub(crate) fn now(&self, env: &Env, end: std::result::Result<Raw, Ended>) -> Result<Option<Raw>> {
        match end {
            Ok(raw) => Ok(Some(raw)),
            Err(Ended::Core(error)) => Err(values::thrown(env, &error, None)),
            Err(Ended::Script(error)) => Err(error),
        }
    }
}

/// What was asked for, or what is usual.
pub fn timeout(arguments: &Arguments<'_>, at: usize) -> Result<Duration> {
    Ok(arguments.milliseconds(at, "timeoutMs")?.unwrap_or(QUIET))
}

/// `id, runtime, disk, timeoutMs, name, labels`.
fn take(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let number = arguments.number(1, "runtime")?;
    let (runtime, tenant) = (this.runtime(env, number)?, this.tenant(number));
    let on_disk: bool = arguments.required(2, "disk", "true or false")?;
    let flat: Vec<String> = arguments.required(5, "labels", "a list of strings")?;
    let labels = flat.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    let name = arguments.optional(4, "name", "a string")?;
    let options = SnapshotOptions { name, labels, tenant, timeout: timeout(&arguments, 3)?, hold: false };
    let (outlet, store) = (Arc::clone(&this.outlet), this.store(env)?);
    this.wait_without_program(env, id);
    runtime.snapshot(options, move |taken| {
        let told = move |kept: std::result::Result<(SnapshotInfo, Stored), Error>| {
            outlet.send(Event::Then(
                id,
                Box::new(move |_, env| {
                    let (info, stored) = kept?;
                    Ok(entry(env, info, stored)?)
                }),
            ));
        };
        match taken {
            Ok((snapshot, _)) if on_disk => store.in_background(move |store| {
                let kept = store.keep(&snapshot).and_then(|()| {
                    store.write(&snapshot, Retention::No).inspect_err(|_| {
                        let _ = store.delete(&snapshot.info().tenant, &snapshot.info().id);
                    })
                });
                told(kept.map(|()| (snapshot.info().clone(), Stored::Both)));
            }),
            Ok((snapshot, _)) => told(store.keep(&snapshot).map(|()| (snapshot.info().clone(), Stored::Memory))),
            Err(error) => told(Err(error)),
        }
    });
    Ok(None)
}

/// `id, tenant, snapshot`, of the requests that name one.
fn named(this: &Embedded, env: &Env, arguments: &Arguments<'_>) -> Result<(u32, String, String)> {
    let id = this.new_id(env, arguments)?;
    Ok((id, arguments.required(1, "tenant", "a string")?, arguments.required(2, "snapshot", "a string")?))
}

fn done(env: &Env, (): ()) -> Result<Raw> {
    Raw::new(env, ())
}

fn list(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let tenant: String = arguments.required(1, "tenant", "a string")?;
    this.of_store(
        env,
        id,
        move |store| Ok(store.list(&tenant)),
        |env, (found, damaged)| {
            let entries: Result<Vec<_>> = found.into_iter().map(|(info, stored)| entry(env, info, stored)).collect();
            let told = |path: PathBuf, reason: String| {
                let mut object = Object::new(env)?;
                object.set("path", path.display().to_string())?;
                object.set("reason", reason)?;
                Raw::new(env, object)
            };
            let damaged: Result<Vec<_>> = damaged.into_iter().map(|one| told(one.path, one.reason)).collect();
            let mut all = Object::new(env)?;
            all.set("snapshots", entries?)?;
            all.set("damaged", damaged?)?;
            Raw::new(env, all)
        },
    )
}

fn get(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (id, tenant, name) = named(this, env, &arguments)?;
    this.of_store(env, id, move |store| store.find(&tenant, &name), |env, (info, stored)| entry(env, info, stored))
}

fn delete(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (id, tenant, name) = named(this, env, &arguments)?;
    this.of_store(env, id, move |store| store.delete(&tenant, &name), done)
}

fn persist(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (id, tenant, name) = named(this, env, &arguments)?;
    this.of_store(env, id, move |store| store.persist(&tenant, &name), done)
}

fn digest(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (id, tenant, name) = named(this, env, &arguments)?;
    this.of_store(env, id, move |store| store.digest(&tenant, &name), Raw::new)
}

fn export(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (id, tenant, name) = named(this, env, &arguments)?;
    let path: PathBuf = arguments.required::<String>(3, "path", "a string")?.into();
    this.of_store(env, id, move |store| store.export(&tenant, &name, &path), done)
}

fn import(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let tenant: String = arguments.required(1, "tenant", "a string")?;
    let path: PathBuf = arguments.required::<String>(2, "path", "a string")?.into();
    this.of_store(env, id, move |store| store.import(&tenant, &path), |env, (info, stored)| entry(env, info, stored))
}

/// A snapshot as a value.
pub fn entry(env: &Env, info: SnapshotInfo, stored: Stored) -> Result<Raw> {
    let mut labels = Object::new(env)?;
    for (name, text) in info.labels {
        labels.set(name, text)?;
    }
    let mut entry = Object::new(env)?;
    entry.set("id", info.id)?;
    if let Some(parent) = info.parent {
        entry.set("parent", parent)?;
    }
    if let Some(name) = info.name {
        entry.set("name", name)?;
    }
    entry.set("labels", labels)?;
    entry.set("tenant", info.tenant)?;
    entry.set("createdMs", info.created_ms as f64)?;
    entry.set("image", info.image)?;
    entry.set("size", info.size as f64)?;
    entry.set("programs", info.programs)?;
    entry.set(
        "stored",
        match stored {
            Stored::Memory => "memory",
            Stored::Disk => "disk",
            Stored::Both => "both",
        },
    )?;
    Raw::new(env, entry)
}
