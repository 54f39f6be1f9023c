//! What is made of a snapshot: a runtime, a runtime that goes back, copies. Next: `sleep.rs`, runtimes that sleep.
//!
//! All of it happens on the reading thread, which alone knows who is called what; it takes well below a millisecond, and many copies are made in
//! pieces, so that others are not kept waiting; they begin to run when their maker has been answered. Who hears the programs that come with a snapshot is decided in [`crate::casting`].

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use coldframe_core as core;
use coldframe_core::{
    BindingOptions, Error, FileSystemOptions, MountOptions, RestoreOptions, Sink, Snapshot, SnapshotOptions, Starting,
};
use coldframe_protocol::messages::{
    Kind, ProcessAttach, Restored, RestoredProgram, RestoredPrograms, RuntimeClone, RuntimeCopies, RuntimeCopy, RuntimeCreate,
    RuntimeCreated, RuntimeRollback, Started,
};

use crate::casting::Casting;
use crate::session::{Live, Session, Violation};
use crate::snapshots::{DEFAULT_TENANT, answer, timeout};
use crate::table::Place;
use crate::{files, host, limits, permissions, wire};

/// Copies that are made before somebody else has a turn.
const AT_ONCE: usize = 32;

/// Who heard the programs of a runtime, by lineage.
pub type Sinks = HashMap<u64, Arc<dyn Sink>>;

type Mounts = (Vec<MountOptions>, Vec<FileSystemOptions>);

/// A runtime's number, its programs, and what lets them begin.
pub type Copied = ((u32, Vec<RestoredProgram>), Starting);

/// Copies under way.
struct Copying {
    id: u32,
    snapshot: Arc<Snapshot>,
    mounts: Mounts,
    bindings: Option<Vec<BindingOptions>>,
    tenant: Option<Arc<str>>,
    warn: bool,
    settle: bool,
    left: u32,
    made: Vec<Result<Copied, Error>>,
}

impl Session {
    /// `runtime.create` with a snapshot.
    pub(crate) fn restore_runtime(&mut self, id: u32, create: RuntimeCreate<'_>) -> Result<(), Violation> {
        let began = Instant::now();
        let tenant = create.tenant.unwrap_or(DEFAULT_TENANT);
        let name = create.snapshot.unwrap_or_default();
        let profile = create.profile.map(str::to_owned);
        let numbers: Vec<_> = create.limits.unwrap_or_default().0.into_iter().map(|(name, n)| (name.to_owned(), n)).collect();
        let (mounts, file_systems) = files::mounts(create.mounts.unwrap_or_default());
        let options = RestoreOptions {
            env: create.env.map(|env| wire::pairs(Some(env))),
            cwd: create.cwd.map(str::to_owned),
            permissions: create.permissions.as_ref().map(permissions::policy),
            mounts,
            file_systems,
            bindings: create.bindings.map(host::bindings),
            ..RestoreOptions::default()
        };
        let (warn, owner) = (create.warn == Some(true), create.tenant.map(Arc::from));
        self.with_snapshot(id, (tenant, name), move |session, snapshot| {
            // Over the snapshot's own, unless a profile says where the others come from.
            let mut limits = match &profile {
                Some(profile) => core::Limits::of_profile(profile)?,
                None => *snapshot.limits(),
            };
            numbers.iter().try_for_each(|(name, value)| limits.set(name, *value))?;
            let cwd = options.cwd.clone().unwrap_or_else(|| snapshot.cwd().to_owned());
            let policy = options.permissions.clone().unwrap_or_else(|| snapshot.permissions());
            let options = RestoreOptions { limits: Some(limits), ..options };
            let ((runtime, programs), _) = session.restore(snapshot, options, warn, owner, None)?;
            let restored = Restored { programs, cwd: &cwd, permissions: permissions::told(&policy) };
            let configure_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let created = RuntimeCreated { runtime, configure_ns, restored: Some(restored) };
            Ok(wire::frame(Kind::Reply, id, &created, 512))
        })
    }

    /// Makes a runtime of a snapshot, and enters it. `asleep`: it takes the place of one that sleeps.
    pub(crate) fn restore(
        &mut self,
        snapshot: &Arc<Snapshot>,
        options: RestoreOptions,
        warn: bool,
        tenant: Option<Arc<str>>,
        asleep: Option<(u32, Sinks)>,
    ) -> Result<Copied, Error> {
        if asleep.is_none() {
            self.runtimes.check_room()?;
            self.runners.lock().check_room()?;
        }
        let has_slept = asleep.is_some();
        let (number, mut sinks) = asleep.unwrap_or_else(|| (self.runtimes.reserve(), HashMap::new()));
        let told = Arc::new(OnceLock::from(number));
        let options = RestoreOptions {
            warnings: warn.then(|| limits::listener(&self.answers.outgoing, &told)),
            embedder: Some(Arc::new(host::Asking { runtime: number, outgoing: Arc::clone(&self.answers.outgoing) })),
            ..options
        };
        let mut casting = Casting::new(number, has_slept, &self.answers, &self.runners);
        let restored = self.core.restore(snapshot, options, &mut |info, _| {
            let old = sinks.remove(&info.lineage);
            casting.sink(info, old)
        });
        let ((runtime, copies), starting) = restored.inspect_err(|_| casting.give_up())?;
        let cast = casting.finish(copies);
        self.runtimes.put(number, Live { runtime, runners: cast.runners, tenant, waiting: Some(Box::new(cast.waiting)) });
        Ok(((number, cast.programs), starting))
    }

    /// `runtime.rollback`.
    pub(crate) fn roll_back(&mut self, id: u32, rollback: &RuntimeRollback<'_>) -> Result<(), Violation> {
        let number = rollback.runtime;
        let Some(live) = self.runtimes.get(number) else {
            self.refuse(id, &self.no_runtime(number));
            return Ok(());
        };
        let tenant = live.tenant().to_owned();
        self.with_snapshot(id, (&tenant, rollback.snapshot), move |session, snapshot| {
            let gone = if session.is_paused(number) { Error::RuntimePaused } else { Error::RuntimeDisposed };
            let live = session.runtimes.get_mut(number).ok_or(gone)?;
            let mut casting = Casting::new(number, false, &session.answers, &session.runners);
            let copies = live.runtime.rollback(snapshot, &mut |info, old| casting.sink(info, old));
            let copies = copies.inspect_err(|_| casting.give_up())?;
            let cast = casting.finish(copies);
            // Those that are not in it have ended: whoever kept them would keep all that was then. One that is being made is not known yet.
            let mut table = session.runners.lock();
            let before = std::mem::take(&mut live.runners).into_iter().filter(|runner| !cast.runners.contains(runner));
            let (making, ended): (Vec<_>, Vec<_>) = before.partition(|runner| table.get(*runner).is_some_and(Option::is_none));
            let ended: Vec<_> = ended.into_iter().filter_map(|runner| table.remove(runner)).collect();
            drop(table);
            drop(ended);
            live.runners.extend(cast.runners.iter().copied().chain(making));
            live.waiting = Some(Box::new(cast.waiting));
            Ok(wire::frame(Kind::Reply, id, &RestoredPrograms { programs: cast.programs }, 256))
        })
    }

    /// `runtime.clone`.
    pub(crate) fn clone_runtime(&mut self, id: u32, clone: RuntimeClone<'_>) -> Result<(), Violation> {
        let Some(live) = self.runtimes.get(clone.runtime) else {
            self.refuse(id, &self.no_runtime(clone.runtime));
            return Ok(());
        };
        let (runtime, tenant, place) = (live.runtime.clone(), live.tenant.clone(), Place { runtime: clone.runtime, runner: 0 });
        let options = SnapshotOptions {
            tenant: live.tenant().to_owned(),
            timeout: timeout(clone.timeout_ms),
            ..SnapshotOptions::default()
        };
        if !self.begin(id, 0)? {
            return Ok(());
        }
        let (answers, notes) = (self.answers.clone(), self.notes.clone());
        let mounts = files::mounts(clone.mounts.unwrap_or_default());
        let bindings = clone.bindings.map(host::bindings);
        let (warn, settle, left) = (clone.warn == Some(true), clone.settle == Some(true), clone.count);
        runtime.snapshot(options, move |taken| match taken {
            Ok((snapshot, _)) => {
                snapshot.expect_copies(left);
                let copying = Copying { id, snapshot, mounts, bindings, tenant, warn, settle, left, made: Vec::new() };
                notes.leave(|session| session.copy(copying));
            }
            Err(error) => answers.fail(id, &error, place),
        });
        Ok(())
    }

    /// Makes some of the copies, and leaves a note for the rest.
    fn copy(&mut self, mut copying: Copying) {
        for _ in 0..AT_ONCE.min(copying.left as usize) {
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
                    return answer(&self.answers, copying.id, Err(error));
                }
                made => copying.made.push(made),
            }
        }
        if copying.left > 0 {
            return self.notes.clone().leave(|session| session.copy(copying));
        }
        let failed = |error: &Error| RuntimeCopy { failure: Some(wire::failure(error, None)), ..RuntimeCopy::default() };
        let mut starting = Vec::with_capacity(copying.made.len());
        let copies = copying.made.into_iter().map(|made| match made {
            Ok(((runtime, programs), start)) => {
                starting.push(start);
                RuntimeCopy { runtime: Some(runtime), programs, failure: None }
            }
            Err(error) => failed(&error),
        });
        let body = RuntimeCopies { copies: copies.collect() };
        let hint = 64 + 64 * body.copies.len();
        self.answers.answer(copying.id, || wire::frame(Kind::Reply, copying.id, &body, hint));
        drop(starting);
    }

    /// `process.attach`.
    pub(crate) fn attach(&mut self, id: u32, attach: &ProcessAttach) -> Result<(), Violation> {
        let Some(live) = self.runtimes.get_mut(attach.runtime) else {
            self.refuse(id, &self.no_runtime(attach.runtime));
            return Ok(());
        };
        let found = live.waiting.as_mut().and_then(|waiting| waiting.remove(&attach.pid));
        let Some((process, adopted)) = found else {
            let runners = self.runners.lock();
            let is_runner = |number: &u32| runners.get(*number).and_then(Option::as_ref).is_some_and(|it| it.pid() == attach.pid);
            let refused = live.runtime.processes().not_attachable(attach.pid, live.runners.iter().any(is_runner));
            drop(runners);
            self.refuse(id, &wire::failure(&refused, None));
            return Ok(());
        };
        if self.begin(id, 0)? {
            self.answers.requests.attach(id, process.clone());
            let pid = process.pid();
            self.answers.outgoing.push(wire::frame(Kind::Started, id, &Started { pid }, 32));
            adopted.attach(id);
            process.stream(wire::streams(attach.stream));
        }
        Ok(())
    }

    fn drop_runtime(&mut self, number: u32) {
        if let Some(live) = self.runtimes.remove(number) {
            live.runners.into_iter().for_each(|runner| drop(self.runners.lock().remove(runner)));
            live.runtime.dispose();
        }
    }
}
