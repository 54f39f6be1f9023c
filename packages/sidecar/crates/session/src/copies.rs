//! Restores, rolls back and clones runtimes. Next: `pause.rs`.
//!
//! The session's thread restores runtimes, because no other thread may change the tables. Restoring
//! one runtime takes well below a millisecond. Many clones are made in parts, so that other
//! requests are served between two parts. The clones start to run after the reply to their request.
//! A rollback waits for the programs of the runtime, so a thread of the runtime's calls runs it.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use coldframe_core as core;
use coldframe_core::{
    BindingOptions, Error, FileSystemOptions, MountOptions, OutsideOptions, RestoreOptions, Snapshot, SnapshotOptions, Starting,
    without_guests,
};
use coldframe_ids::{RequestId, RunnerId, RuntimeId};
use coldframe_protocol::messages::{
    Restored, RestoredProgram, RestoredPrograms, RestoredSecret, RuntimeClone, RuntimeCopies, RuntimeCopy, RuntimeCreate,
    RuntimeCreated, RuntimeRollback,
};

use crate::convert;
use crate::host_calls::{self, EventSender};
use crate::limits;
use crate::message::Message;
use crate::outside_options;
use crate::permissions;
use crate::replies::Reply;
use crate::runtimes::{LiveRuntime, mounts};
use crate::session::{Handled, Session, Violation};
use crate::sinks::{AssignedPrograms, Ends, SinkAssignment, Sinks};
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
    outside: Option<OutsideOptions>,
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
        let outside = create.outside.as_ref().map(outside_options::options).transpose();
        let copy = move |session: &mut Self, snapshot: &Arc<Snapshot>| {
            // Named limits replace the limits of the snapshot, or of the profile.
            let mut limits = match &profile {
                Some(profile) => core::Limits::of_profile(profile)?,
                None => *snapshot.limits(),
            };
            numbers.iter().try_for_each(|(name, value)| limits.set(name, *value))?;
            let cwd = restore.cwd.clone().unwrap_or_else(|| snapshot.cwd().to_owned());
            let policy = restore.permissions.clone().unwrap_or_else(|| snapshot.permissions());
            let restore = RestoreOptions { limits: Some(limits), outside: outside?, ..restore };
            let ((runtime, programs), _) = session.copy(snapshot, CopyOptions { restore, warn, tenant: owner })?;
            let secrets = session.runtimes.get(runtime).map(|live| live.runtime.outside().secrets()).unwrap_or_default();
            let secrets = (!secrets.is_empty()).then(|| secrets.iter().map(restored_secret).collect());
            let restored = Restored { programs, cwd: &cwd, permissions: permissions::permissions(&policy), secrets };
            let configure_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let created = RuntimeCreated { runtime, configure_ns, restored: Some(restored) };
            Ok(Reply(id).body(&created, 512))
        };
        self.with_snapshot(id, (tenant, name), move |session, snapshot| {
            let copied = copy(session, &snapshot);
            session.replies.settle(id, copied);
        })
    }

    /// Makes a new runtime from a snapshot and adds it to the table.
    fn copy(&mut self, snapshot: &Arc<Snapshot>, options: CopyOptions) -> Result<RestoredCopy, Error> {
        self.runtimes.check_room()?;
        self.runners.lock().check_room()?;
        let runtime = self.runtimes.reserve();
        self.restore(runtime, snapshot, options, None)
    }

    /// Makes a runtime from a snapshot under the given id. `paused` has the sinks and the kept ends
    /// of the paused runtime that is resumed.
    pub(crate) fn restore(
        &mut self,
        id: RuntimeId,
        snapshot: &Arc<Snapshot>,
        options: CopyOptions,
        paused: Option<(Sinks, Arc<Ends>)>,
    ) -> Result<RestoredCopy, Error> {
        let CopyOptions { restore, warn, tenant } = options;
        let was_paused = paused.is_some();
        let (mut sinks, ends) = paused.unwrap_or_default();
        let id_for_warnings = Arc::new(OnceLock::from(id));
        let restore = RestoreOptions {
            warnings: warn.then(|| limits::warnings(&self.replies.outlet, &id_for_warnings)),
            embedder: Some(Arc::new(EventSender { runtime: id, outlet: Arc::clone(&self.replies.outlet) })),
            ..restore
        };
        let mut assignment = SinkAssignment::new(id, was_paused, &self.replies, &self.runners, ends.clone());
        // No other thread knows the new runtime.
        let restored = without_guests(|| {
            self.core.restore(snapshot, restore, &mut |info, _| {
                let old = sinks.remove(&info.lineage);
                assignment.sink(info, old)
            })
        });
        let ((runtime, copies), starting) = restored.inspect_err(|_| assignment.abandon())?;
        let assigned = assignment.finish(copies);
        let orphans = Some(Box::new(assigned.orphans));
        self.runtimes.insert(id, LiveRuntime { runners: assigned.runners, orphans, ends, ..LiveRuntime::new(runtime, tenant) });
        Ok(((id, assigned.programs), starting))
    }

    /// Handles `runtime.rollback`.
    pub(crate) fn roll_back(&mut self, id: RequestId, rollback: &RuntimeRollback<'_>) -> Result<(), Violation> {
        let runtime = rollback.runtime;
        let Some(live) = self.open_runtime(runtime) else {
            self.refuse(id, &self.no_runtime(runtime));
            return Ok(());
        };
        let tenant = live.tenant().to_owned();
        self.with_snapshot(id, (&tenant, rollback.snapshot), move |session, snapshot| {
            session.roll_back_to(id, runtime, snapshot);
        })
    }

    /// Rolls a runtime back after the earlier calls on the runtime. The call waits for guests of
    /// the present state, so a session task updates the tables afterwards.
    fn roll_back_to(&self, id: RequestId, runtime: RuntimeId, snapshot: Arc<Snapshot>) {
        let Some(live) = self.runtimes.get(runtime) else {
            let failure = self.no_runtime(runtime);
            return self.replies.answer(id, || Message::failed(id, &failure));
        };
        let (handle, present, ends) = (live.runtime.clone(), live.runners.clone(), live.ends.clone());
        let (replies, runners, tasks) = (self.replies.clone(), Arc::clone(&self.runners), self.tasks.clone());
        let call = Box::new(move || {
            let mut assignment = SinkAssignment::new(runtime, false, &replies, &runners, ends);
            let copies = handle.rollback(&snapshot, &mut |info, old| assignment.sink(info, old));
            let copies = match copies {
                Ok(copies) => copies,
                Err(error) => {
                    assignment.abandon();
                    return replies.settle(id, Err(error));
                }
            };
            let assigned = assignment.finish(copies);
            // Runners that are not in the snapshot have ended: keeping their processes would keep
            // the old state. A runner that is being created has no process yet and stays.
            let mut table = runners.lock();
            let has_ended = |runner: &RunnerId| {
                let lives = assigned.runners.contains(runner) || table.get(*runner).is_none_or(|found| found.process.is_none());
                !lives
            };
            let ended: Vec<RunnerId> = present.into_iter().filter(has_ended).collect();
            let removed: Vec<_> = ended.iter().filter_map(|runner| table.remove(*runner)).collect();
            drop(table);
            drop(removed);
            tasks.add(move |session| session.finish_rollback(id, runtime, assigned, &ended));
        });
        live.calls.add(&self.owner_threads, false, call);
    }

    /// Updates the tables after a rollback, and answers the request.
    fn finish_rollback(&mut self, id: RequestId, runtime: RuntimeId, assigned: AssignedPrograms, ended: &[RunnerId]) {
        let Some(live) = self.runtimes.get_mut(runtime) else {
            // The runtime was disposed during the rollback.
            let mut table = self.runners.lock();
            let removed: Vec<_> = assigned.runners.iter().filter_map(|runner| table.remove(*runner)).collect();
            drop(table);
            drop(removed);
            let failure = self.no_runtime(runtime);
            return self.replies.answer(id, || Message::failed(id, &failure));
        };
        live.runners.retain(|runner| !ended.contains(runner) && !assigned.runners.contains(runner));
        live.runners.extend(&assigned.runners);
        live.orphans = Some(Box::new(assigned.orphans));
        // Later programs may receive the pids of the ended programs.
        live.ends.clear();
        let body = RestoredPrograms { programs: assigned.programs };
        self.replies.answer(id, || Reply(id).body(&body, 256));
    }

    /// Handles `runtime.clone`.
    pub(crate) fn clone_runtime(&mut self, id: RequestId, clone: RuntimeClone<'_>, may_run_here: bool) -> Handled {
        let Some(live) = self.open_runtime(clone.runtime) else {
            self.refuse(id, &self.not_quiet(clone.runtime));
            return Ok(None);
        };
        let (runtime, tenant, context) = (live.runtime.clone(), live.tenant.clone(), ErrorContext::runtime(clone.runtime));
        let weight = runtime.weight();
        let outside = match clone.outside.as_ref().map(outside_options::options).transpose() {
            Ok(outside) => outside,
            Err(error) => {
                self.refuse(id, &convert::failure(&error, context));
                return Ok(None);
            }
        };
        let options = SnapshotOptions {
            tenant: live.tenant().to_owned(),
            timeout: quiesce_timeout(clone.timeout_ms),
            ..SnapshotOptions::default()
        };
        if !self.begin(id, None)? {
            return Ok(None);
        }
        let (replies, tasks) = (self.replies.clone(), self.tasks.clone());
        let mounts = mounts(clone.mounts);
        let bindings = clone.bindings.map(host_calls::bindings);
        let (warn, settle, left) = (clone.warn == Some(true), clone.settle == Some(true), clone.count);
        let done = move |taken: Result<(Arc<Snapshot>, _), Error>| match taken {
            Ok((snapshot, _)) => {
                snapshot.expect_copies(left);
                let copies = Vec::new();
                let cloning = Cloning { id, snapshot, mounts, bindings, outside, tenant, weight, warn, settle, left, copies };
                tasks.add(|session| session.continue_cloning(cloning));
            }
            Err(error) => replies.fail(id, &error, context),
        };
        Ok(self.call(live, &live.calls, may_run_here, Box::new(move || runtime.snapshot(options, done))))
    }

    /// Makes at most [`COPIES_AT_ONCE`] clones. A session task makes the remaining clones.
    fn continue_cloning(&mut self, mut cloning: Cloning) {
        for _ in 0..COPIES_AT_ONCE.min(cloning.left as usize) {
            let (mounts, file_systems) = cloning.mounts.clone();
            let (bindings, outside) = (cloning.bindings.clone(), cloning.outside.clone());
            let weight = Some(cloning.weight);
            let restore = RestoreOptions { mounts, file_systems, bindings, outside, weight, ..RestoreOptions::default() };
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

fn restored_secret(secret: &core::SecretEntry) -> RestoredSecret<'_> {
    RestoredSecret { name: &secret.name, hosts: secret.hosts.iter().map(String::as_str).collect() }
}
