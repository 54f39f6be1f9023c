//! Restores, rolls back and clones runtimes. Next: `pause.rs`.
//!
//! These requests run on the session's thread, which alone may change the tables. Restoring one
//! runtime takes well below a millisecond. Many clones are made in parts, so that other requests
//! are served between two parts. The clones start to run after the reply to their request.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use coldframe_core as core;
use coldframe_core::{
    BindingOptions, Error, FileSystemOptions, MountOptions, RestoreOptions, Snapshot, SnapshotOptions, Starting,
};
use coldframe_ids::{RequestId, RuntimeId};
use coldframe_protocol::messages::{
    Restored, RestoredProgram, RestoredPrograms, RuntimeClone, RuntimeCopies, RuntimeCopy, RuntimeCreate, RuntimeCreated,
    RuntimeRollback,
};

use crate::convert;
use crate::host_calls::{self, EventSender};
use crate::limits;
use crate::owner_calls::OwnerCalls;
use crate::permissions;
use crate::replies::Reply;
use crate::runtimes::{LiveRuntime, mounts};
use crate::session::{Session, Violation};
use crate::sinks::{SinkAssignment, Sinks};
use crate::snapshots::{DEFAULT_TENANT, quiesce_timeout};
use crate::table::ErrorContext;

/// The number of clones that are made before other requests are served.
const COPIES_AT_ONCE: usize = 32;

/// A restored runtime with its programs, and a guard. The programs start when the guard is dropped.
pub(crate) type RestoredCopy = ((RuntimeId, Vec<RestoredProgram>), Starting);

/// Options of a restored runtime.
pub(crate) struct CopyOptions {
    pub restore: RestoreOptions,
    /// Whether the session sends `limit.warning` for the runtime.
    pub warn: bool,
    pub tenant: Option<Arc<str>>,
}

/// The state of a clone request.
struct Cloning {
    id: RequestId,
    snapshot: Arc<Snapshot>,
    mounts: (Vec<MountOptions>, Vec<FileSystemOptions>),
    bindings: Option<Vec<BindingOptions>>,
    tenant: Option<Arc<str>>,
    /// The weight of the cloned runtime, which the clones have too.
    weight: u64,
    warn: bool,
    settle: bool,
    left: u32,
    copies: Vec<Result<RestoredCopy, Error>>,
}

impl Session {
    /// Handles `runtime.create` with a snapshot.
    pub(crate) fn restore_runtime(&mut self, id: RequestId, create: RuntimeCreate<'_>) -> Result<(), Violation> {
        let began = Instant::now();
        let tenant = create.tenant.unwrap_or(DEFAULT_TENANT);
        let name = create.snapshot.unwrap_or_default();
        let profile = create.profile.map(str::to_owned);
        let numbers: Vec<_> = create.limits.unwrap_or_default().0.into_iter().map(|(name, n)| (name.to_owned(), n)).collect();
        let (mounts, file_systems) = mounts(create.mounts);
        let restore = RestoreOptions {
            env: create.env.map(|env| convert::pairs(Some(env))),
            cwd: create.cwd.map(str::to_owned),
            permissions: create.permissions.as_ref().map(permissions::policy),
            mounts,
            file_systems,
            bindings: create.bindings.map(host_calls::bindings),
            weight: create.weight,
            ..RestoreOptions::default()
        };
        let (warn, owner) = (create.warn == Some(true), create.tenant.map(Arc::from));
        self.with_snapshot(id, (tenant, name), move |session, snapshot| {
            // Named limits replace the limits of the snapshot, or of the profile.
            let mut limits = match &profile {
                Some(profile) => core::Limits::of_profile(profile)?,
                None => *snapshot.limits(),
            };
            numbers.iter().try_for_each(|(name, value)| limits.set(name, *value))?;
            let cwd = restore.cwd.clone().unwrap_or_else(|| snapshot.cwd().to_owned());
            let policy = restore.permissions.clone().unwrap_or_else(|| snapshot.permissions());
            let restore = RestoreOptions { limits: Some(limits), ..restore };
            let ((runtime, programs), _) = session.copy(snapshot, CopyOptions { restore, warn, tenant: owner })?;
            let restored = Restored { programs, cwd: &cwd, permissions: permissions::permissions(&policy) };
            let configure_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let created = RuntimeCreated { runtime, configure_ns, restored: Some(restored) };
            Ok(Reply(id).body(&created, 512))
        })
    }

    /// Makes a new runtime from a snapshot and adds it to the table.
    fn copy(&mut self, snapshot: &Arc<Snapshot>, options: CopyOptions) -> Result<RestoredCopy, Error> {
        self.runtimes.check_room()?;
        self.runners.lock().check_room()?;
        let runtime = self.runtimes.reserve();
        self.restore(runtime, snapshot, options, None)
    }

    /// Makes a runtime from a snapshot under the given id. `paused` has the sinks of the paused
    /// runtime that is resumed.
    pub(crate) fn restore(
        &mut self,
        id: RuntimeId,
        snapshot: &Arc<Snapshot>,
        options: CopyOptions,
        paused: Option<Sinks>,
    ) -> Result<RestoredCopy, Error> {
        let CopyOptions { restore, warn, tenant } = options;
        let was_paused = paused.is_some();
        let mut sinks = paused.unwrap_or_default();
        let id_for_warnings = Arc::new(OnceLock::from(id));
        let restore = RestoreOptions {
            warnings: warn.then(|| limits::warnings(&self.replies.outlet, &id_for_warnings)),
            embedder: Some(Arc::new(EventSender { runtime: id, outlet: Arc::clone(&self.replies.outlet) })),
            ..restore
        };
        let mut assignment = SinkAssignment::new(id, was_paused, &self.replies, &self.runners);
        let restored = self.core.restore(snapshot, restore, &mut |info, _| {
            let old = sinks.remove(&info.lineage);
            assignment.sink(info, old)
        });
        let ((runtime, copies), starting) = restored.inspect_err(|_| assignment.abandon())?;
        let assigned = assignment.finish(copies);
        let orphans = Some(Box::new(assigned.orphans));
        self.runtimes
            .insert(id, LiveRuntime { runtime, runners: assigned.runners, tenant, orphans, calls: OwnerCalls::default() });
        Ok(((id, assigned.programs), starting))
    }

    /// Handles `runtime.rollback`.
    pub(crate) fn roll_back(&mut self, id: RequestId, rollback: &RuntimeRollback<'_>) -> Result<(), Violation> {
        let runtime = rollback.runtime;
        let Some(live) = self.runtimes.get(runtime) else {
            self.refuse(id, &self.no_runtime(runtime));
            return Ok(());
        };
        let tenant = live.tenant().to_owned();
        self.with_snapshot(id, (&tenant, rollback.snapshot), move |session, snapshot| {
            let ended = if session.is_paused(runtime) { Error::RuntimePaused } else { Error::RuntimeDisposed };
            let live = session.runtimes.get_mut(runtime).ok_or(ended)?;
            let mut assignment = SinkAssignment::new(runtime, false, &session.replies, &session.runners);
            let copies = live.runtime.rollback(snapshot, &mut |info, old| assignment.sink(info, old));
            let copies = copies.inspect_err(|_| assignment.abandon())?;
            let assigned = assignment.finish(copies);
            // Runners that are not in the snapshot have ended: keeping their processes would keep
            // the old state. A runner that is being created has no process yet and stays.
            let mut table = session.runners.lock();
            let others = std::mem::take(&mut live.runners).into_iter().filter(|runner| !assigned.runners.contains(runner));
            let (creating, ended): (Vec<_>, Vec<_>) = others.partition(|runner| table.get(*runner).is_some_and(Option::is_none));
            let ended: Vec<_> = ended.into_iter().filter_map(|runner| table.remove(runner)).collect();
            drop(table);
            drop(ended);
            live.runners.extend(assigned.runners.iter().copied().chain(creating));
            live.orphans = Some(Box::new(assigned.orphans));
            Ok(Reply(id).body(&RestoredPrograms { programs: assigned.programs }, 256))
        })
    }

    /// Handles `runtime.clone`.
    pub(crate) fn clone_runtime(&mut self, id: RequestId, clone: RuntimeClone<'_>) -> Result<(), Violation> {
        let Some(live) = self.runtimes.get(clone.runtime) else {
            self.refuse(id, &self.no_runtime(clone.runtime));
            return Ok(());
        };
        let (runtime, tenant, context) = (live.runtime.clone(), live.tenant.clone(), ErrorContext::runtime(clone.runtime));
        let weight = runtime.weight();
        let options = SnapshotOptions {
            tenant: live.tenant().to_owned(),
            timeout: quiesce_timeout(clone.timeout_ms),
            ..SnapshotOptions::default()
        };
        if !self.begin(id, None)? {
            return Ok(());
        }
        let (replies, tasks) = (self.replies.clone(), self.tasks.clone());
        let mounts = mounts(clone.mounts);
        let bindings = clone.bindings.map(host_calls::bindings);
        let (warn, settle, left) = (clone.warn == Some(true), clone.settle == Some(true), clone.count);
        runtime.snapshot(options, move |taken| match taken {
            Ok((snapshot, _)) => {
                snapshot.expect_copies(left);
                let cloning = Cloning { id, snapshot, mounts, bindings, tenant, weight, warn, settle, left, copies: Vec::new() };
                tasks.add(|session| session.continue_cloning(cloning));
            }
            Err(error) => replies.fail(id, &error, context),
        });
        Ok(())
    }

    /// Makes at most [`COPIES_AT_ONCE`] clones. A session task makes the remaining clones.
    fn continue_cloning(&mut self, mut cloning: Cloning) {
        for _ in 0..COPIES_AT_ONCE.min(cloning.left as usize) {
            let (mounts, file_systems) = cloning.mounts.clone();
            let bindings = cloning.bindings.clone();
            let weight = Some(cloning.weight);
            let restore = RestoreOptions { mounts, file_systems, bindings, weight, ..RestoreOptions::default() };
            let options = CopyOptions { restore, warn: cloning.warn, tenant: cloning.tenant.clone() };
            let copy = self.copy(&cloning.snapshot, options);
            cloning.left -= 1;
            match copy {
                Err(error) if !cloning.settle => {
                    for ((runtime, _), _starting) in cloning.copies.into_iter().flatten() {
                        if let Some(live) = self.runtimes.remove(runtime) {
                            self.end_runtime(live);
                        }
                    }
                    return self.replies.settle(cloning.id, Err(error));
                }
                copy => cloning.copies.push(copy),
            }
        }
        if cloning.left > 0 {
            return self.tasks.clone().add(|session| session.continue_cloning(cloning));
        }
        self.answer_clone(cloning);
    }

    fn answer_clone(&self, cloning: Cloning) {
        let failed = |error: &Error| {
            let failure = Some(convert::failure(error, ErrorContext::NONE));
            RuntimeCopy { failure, ..RuntimeCopy::default() }
        };
        let mut starting = Vec::with_capacity(cloning.copies.len());
        let copies = cloning.copies.into_iter().map(|copy| match copy {
            Ok(((runtime, programs), start)) => {
                starting.push(start);
                RuntimeCopy { runtime: Some(runtime), programs, failure: None }
            }
            Err(error) => failed(&error),
        });
        let body = RuntimeCopies { copies: copies.collect() };
        let hint = 64 + 64 * body.copies.len();
        self.replies.answer(cloning.id, || Reply(cloning.id).body(&body, hint));
        // The clones start to run after the reply to their request.
        drop(starting);
    }
}
