//! [`Core`]: the embedder's entry point, with the state that all runtimes of a process share. Next:
//! `runtime/registry.rs`.

use crate::containment::contained;
use crate::installation::{ImageKind, Installation};
use crate::options::{CoreOptions, RuntimeOptions};
use crate::outcome::Resources;
use crate::outside::Edge;
use crate::runtime::{AssignSinks, Registry, RestoreOptions, RestoredRuntime, Runtime, Starting};
use crate::sched::Scheduler;
use crate::snapshot::Snapshot;
use coldframe_error::Error;
use coldframe_memory::Budget;
use coldframe_sys as sys;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest time that [`Core::shutdown`] waits for programs to end.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// The state that all runtimes of this process share. Cheap to clone.
#[derive(Clone)]
pub struct Core {
    registry: Arc<Registry>,
    load_ns: u64,
}

impl Core {
    /// Maps the image and loads the precompiled module. Worker threads start when programs run.
    pub fn open(options: &CoreOptions) -> Result<Self, Error> {
        Self::open_within(options, Budget::new())
    }

    pub(crate) fn open_within(options: &CoreOptions, budget: Arc<Budget>) -> Result<Self, Error> {
        let began = Instant::now();
        let fail = |reason: String| Error::Image { path: options.image_dir.display().to_string(), reason };
        sys::check_page_size().map_err(|error| fail(error.to_string()))?;
        sys::PageMap::get().map_err(|error| fail(format!("/proc/self/pagemap cannot be read: {error}")))?;
        let installation = Installation::open(&options.image_dir, options.python_dir.as_deref(), options.warm_slots, budget)?;
        let workers = match options.workers {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            workers => workers,
        };
        let program = options.edge.clone();
        let edge = Edge::new(Arc::new(move || sys::host_access().start_edge(&program)));
        let edge = edge.requiring_walls(options.requires_edge_walls);
        let registry = Registry::new(installation, Scheduler::new(workers, options.spin), options.max_runtimes, edge);
        let load_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(Self { registry: Arc::new(registry), load_ns })
    }

    /// Loads the image and the module of Python if Python is installed. Otherwise the first program
    /// of Python loads both. A process that soon refuses new code calls this method.
    pub fn load_python(&self) -> Result<(), Error> {
        match self.installation().factory(ImageKind::Python) {
            Ok(_) | Err(Error::PythonMissing { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the installation, which has the images and their module.
    pub(crate) fn installation(&self) -> &Arc<Installation> {
        self.registry.installation()
    }

    /// Returns the scheduler, whose threads run guests.
    #[cfg(test)]
    pub(crate) fn scheduler(&self) -> &Arc<Scheduler> {
        self.registry.scheduler()
    }

    /// Returns the content hash of the image for `node`, in hex.
    pub fn image_id(&self) -> &str {
        self.installation().image_id()
    }

    /// Returns the memory that ended runtimes have freed to the system, within a second. The
    /// embedder of a process of its own calls this method once. In an app's process, the memory
    /// stays with the app's allocator.
    pub fn return_freed_memory(&self) {
        self.registry.scheduler().enable_reclaim();
    }

    /// Returns the nanoseconds that loading the image and the module took.
    pub fn load_ns(&self) -> u64 {
        self.load_ns
    }

    /// Makes a runtime. Fails if an option is invalid or the limit of runtimes is reached.
    pub fn create_runtime(&self, options: RuntimeOptions) -> Result<Runtime, Error> {
        contained(|| Runtime::create(self.registry.clone(), options))
    }

    /// Makes a runtime from a snapshot.
    ///
    /// `assign` is called for each program that the embedder started. The returned list has all
    /// programs, children included. No sink receives `ready`. The programs start when the
    /// [`Starting`] is dropped. After an error, no part of the runtime exists.
    pub fn restore(
        &self,
        snapshot: &Arc<Snapshot>,
        options: RestoreOptions,
        assign: &mut AssignSinks<'_>,
    ) -> Result<(RestoredRuntime, Starting), Error> {
        contained(|| Runtime::restore(&self.registry, snapshot, options, assign))
    }

    /// Returns counts of the resources in use.
    pub fn resources(&self) -> Resources {
        let image = self.installation().node().image();
        Resources {
            runtimes: self.registry.runtime_count(),
            processes: self.registry.live(),
            warm_slots: image.pool().waiting() as u64,
            memory_bytes: self.registry.live() * image.len() as u64,
            buffered_bytes: self.registry.runtimes().iter().map(|runtime| runtime.buffered()).sum(),
        }
    }

    /// Replaces the authorities that sessions of TLS trust by default, in all runtimes. `pem` has
    /// certificates in PEM. Without a call, sessions trust the authorities of the system.
    ///
    /// # Errors
    /// Fails with [`Error::InvalidRequest`] if the text has no certificate, or more than 1,000,000
    /// bytes.
    pub fn set_roots(&self, pem: &str) -> Result<(), Error> {
        self.registry.edge().set_roots(pem)
    }

    /// Ends every process, reports each end to the process's sink, and ends the threads. Later
    /// starts in existing runtimes fail.
    pub fn shutdown(&self) {
        for runtime in &self.registry.runtimes() {
            runtime.dispose();
        }
        self.registry.wait_until_idle(Instant::now() + SHUTDOWN_GRACE);
        self.registry.edge().close();
        self.registry.scheduler().shutdown();
    }
}
