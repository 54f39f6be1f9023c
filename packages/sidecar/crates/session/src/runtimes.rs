//! Requests about whole runtimes. Next: `copies.rs`, which restores runtimes from snapshots.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use coldframe_core::{Error, FileSystemOptions, MountOptions, Runtime, RuntimeOptions, without_guests};
use coldframe_ids::{RequestId, RunnerId, RuntimeId};
use coldframe_protocol::messages::{Mount, RuntimeCreate, RuntimeCreated, RuntimeRequest};

use crate::convert;
use crate::host_calls::{self, EventSender};
use crate::limits;
use crate::outside_options;
use crate::owner_calls::OwnerCalls;
use crate::permissions;
use crate::replies::Reply;
use crate::session::{Handled, Job, JobThread, Session};
use crate::sinks::{Ends, Orphans};
use crate::snapshots::DEFAULT_TENANT;

/// A live runtime of the session.
pub(crate) struct LiveRuntime {
    pub runtime: Runtime,
    /// Runners that were created in the runtime and not disposed.
    pub runners: Vec<RunnerId>,
    /// The tenant that owns the runtime. `None` means the default tenant.
    pub tenant: Option<Arc<str>>,
    /// Whether a pause waits for earlier calls on the runtime. New requests are refused.
    pub awaits_pause: bool,
    /// The reason why the runtime is frozen in memory instead of paused on disk. New requests are
    /// refused.
    pub frozen: Option<Error>,
    /// Restored programs that no request has attached to.
    pub orphans: Option<Box<Orphans>>,
    /// The ends of programs, which are kept for a while.
    pub ends: Arc<Ends>,
    /// The calls of the embedder on the runtime, except calls on its connections and listeners.
    pub calls: OwnerCalls,
    /// The calls of the embedder on the runtime's connections and listeners. They have an order of
    /// their own, so that a long call on a file does not delay the bytes of connections.
    pub connection_calls: OwnerCalls,
}

impl LiveRuntime {
    /// Makes the entry of a new runtime without runners.
    pub fn new(runtime: Runtime, tenant: Option<Arc<str>>) -> Self {
        let (calls, connection_calls) = (OwnerCalls::default(), OwnerCalls::default());
        let ends = Arc::default();
        Self {
            runtime,
            runners: Vec::new(),
            tenant,
            awaits_pause: false,
            frozen: None,
            orphans: None,
            ends,
            calls,
            connection_calls,
        }
    }

    /// Returns whether a call on the runtime may wait for a guest or for an earlier call.
    pub fn may_wait_for_guests(&self) -> bool {
        self.runtime.has_programs() || self.calls.are_under_way() || self.connection_calls.are_under_way()
    }

    /// Returns the tenant that owns the runtime.
    pub fn tenant(&self) -> &str {
        self.tenant.as_deref().unwrap_or(DEFAULT_TENANT)
    }
}

impl Session {
    /// Handles a request about a runtime.
    pub(crate) fn runtime(&mut self, id: RequestId, request: RuntimeRequest<'_>, may_run_here: bool) -> Handled {
        match request {
            RuntimeRequest::RuntimeCreate(create) if create.snapshot.is_some() => self.restore_runtime(id, create)?,
            RuntimeRequest::RuntimeCreate(create) => {
                let began = Instant::now();
                match self.create_runtime(create) {
                    Ok(runtime) => {
                        let configure_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
                        self.send(Reply(id).body(&RuntimeCreated { runtime, configure_ns, restored: None }, 64));
                    }
                    Err(error) => self.refuse(id, &convert::failure(&error, crate::ErrorContext::NONE)),
                }
            }
            RuntimeRequest::RuntimeDispose(dispose) => {
                let pausing = self.pausing.remove(&dispose.runtime).map(|pausing| pausing.live);
                if let Some(live) = pausing.or_else(|| self.runtimes.remove(dispose.runtime)) {
                    return Ok(self.dispose_live(id, live, may_run_here));
                }
                match self.dispose_paused(dispose.runtime) {
                    true => self.send(Reply(id).done()),
                    false => self.refuse(id, &self.no_runtime(dispose.runtime)),
                }
            }
            RuntimeRequest::RuntimeResources(about) => {
                return Ok(self.on_runtime(id, about.runtime, may_run_here, |runtime, reply| Ok(limits::usage(reply, runtime))));
            }
        }
        Ok(None)
    }

    /// Makes a new runtime, without a snapshot.
    pub fn create_runtime(&mut self, create: RuntimeCreate<'_>) -> Result<RuntimeId, Error> {
        // No other thread knows the new runtime.
        without_guests(|| self.create_empty(create))
    }

    fn create_empty(&mut self, create: RuntimeCreate<'_>) -> Result<RuntimeId, Error> {
        let id_for_warnings = Arc::new(OnceLock::new());
        let warnings = (create.warn == Some(true)).then(|| limits::warnings(&self.replies.outlet, &id_for_warnings));
        let (mounts, file_systems) = mounts(create.mounts);
        let files = create.files.unwrap_or_default().0;
        let options = RuntimeOptions {
            env: convert::pairs(create.env),
            cwd: create.cwd.map(str::to_owned),
            limits: limits::build(create.profile, create.limits)?,
            files: files.into_iter().map(|(path, data)| (path.to_owned(), data.to_vec())).collect(),
            mounts,
            file_systems,
            permissions: create.permissions.as_ref().map(permissions::policy).unwrap_or_default(),
            warnings,
            weight: create.weight,
            outside: create.outside.as_ref().map(outside_options::options).transpose()?,
        };
        self.runtimes.check_room()?;
        let runtime = self.core.create_runtime(options)?;
        if let Some(bindings) = create.bindings {
            runtime.contain(|runtime| runtime.set_bindings(host_calls::bindings(bindings)))?;
        }
        let id = self.runtimes.reserve();
        runtime.attach(Arc::new(EventSender { runtime: id, outlet: Arc::clone(&self.replies.outlet) }));
        // The cell is new, so the call cannot fail.
        let _ = id_for_warnings.set(id);
        let tenant = create.tenant.map(Arc::from);
        self.runtimes.insert(id, LiveRuntime::new(runtime, tenant));
        Ok(id)
    }

    /// Ends a runtime that has been removed from the tables, and answers the request. The programs
    /// end at once, and the request does not wait for earlier calls on the runtime.
    fn dispose_live(&self, id: RequestId, live: LiveRuntime, may_run_here: bool) -> Option<Job> {
        let may_wait = live.may_wait_for_guests();
        let runtime = self.forget_runners(live);
        runtime.begin_dispose();
        let outlet = Arc::clone(&self.replies.outlet);
        let call: Job = Box::new(move || {
            runtime.dispose();
            drop(runtime);
            outlet.send(Reply(id).done());
        });
        match self.job_thread {
            JobThread::MayWait if may_run_here => return Some(call),
            JobThread::Control if !may_wait => without_guests(call),
            _ => self.owner_threads.run(call),
        }
        None
    }

    /// Ends a runtime that has been removed from the tables.
    pub(crate) fn end_runtime(&self, live: LiveRuntime) {
        let runtime = self.forget_runners(live);
        runtime.begin_dispose();
        self.owner_threads.run(Box::new(move || runtime.dispose()));
    }

    /// Removes the runners of a runtime that has been removed from the tables. Returns the runtime.
    fn forget_runners(&self, live: LiveRuntime) -> Runtime {
        let mut runners = self.runners.lock();
        // The runners are dropped without the lock: dropping the last handle may take a while.
        let processes: Vec<_> = live.runners.iter().filter_map(|runner| runners.remove(*runner)).collect();
        drop(runners);
        drop(processes);
        live.runtime
    }
}

/// Converts the mounts of a message: host directories and app file systems.
pub(crate) fn mounts(all: Option<Vec<Mount<'_>>>) -> (Vec<MountOptions>, Vec<FileSystemOptions>) {
    let (mut mounts, mut file_systems) = (Vec::new(), Vec::new());
    for Mount { guest_path, host_path, read_only, overlay, file_system } in all.unwrap_or_default() {
        let guest_path = guest_path.to_owned();
        match file_system {
            Some(id) => file_systems.push(FileSystemOptions { guest_path, number: id.get(), read_only }),
            None => {
                let overlay = overlay == Some(true);
                mounts.push(MountOptions { guest_path, host_path: host_path.into(), read_only, overlay });
            }
        }
    }
    (mounts, file_systems)
}
