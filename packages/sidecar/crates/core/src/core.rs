//! The core: what all runtimes of a process share.

use crate::error::Error;
use crate::images::Images;
use crate::kernel::processes::Image;
use crate::memory::Budget;
use crate::options::{CoreOptions, RuntimeOptions};
use crate::outcome::Resources;
use crate::runtime::{Inner, Runtime};
use crate::sched::Scheduler;
use crate::sys;
use crate::vm::Factory;
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How long [`Core::shutdown`] waits for programs to end.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// What all runtimes of this process share. Cheap to clone.
#[derive(Clone)]
pub struct Core {
    shared: Arc<Shared>,
    load_ns: u64,
}

/// The part of a core that its runtimes hold on to.
pub(crate) struct Shared {
    images: Images,
    scheduler: Arc<Scheduler>,
    next_runtime: AtomicU64,
    live: AtomicU64,
    runtimes: Mutex<HashMap<u64, Weak<Inner>>>,
    closed: Mutex<bool>,
    idle: Condvar,
    /// Runtimes that are there, and how many there may be.
    runtime_count: AtomicU64,
    max_runtimes: u64,
}

/// One of the places for runtimes, until it is dropped.
pub(crate) struct Seat {
    shared: Arc<Shared>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.runtime_count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Core {
    /// Maps the image and loads the precompiled module. Threads start when there is work for them.
    pub fn open(options: &CoreOptions) -> Result<Self, Error> {
        Self::open_within(options, Budget::new())
    }

    pub(crate) fn open_within(options: &CoreOptions, budget: Arc<Budget>) -> Result<Self, Error> {
        let began = Instant::now();
        let fail = |reason: String| Error::Image { path: options.image_dir.display().to_string(), reason };
        sys::check_page_size().map_err(|error| fail(error.to_string()))?;
        sys::PageMap::get().map_err(|error| fail(format!("/proc/self/pagemap cannot be read: {error}")))?;
        let images = Images::open(&options.image_dir, options.warm_slots, budget)?;
        let workers = match options.workers {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            workers => workers,
        };
        let shared = Shared {
            images,
            scheduler: Scheduler::new(workers, options.spin),
            next_runtime: AtomicU64::new(1),
            live: AtomicU64::new(0),
            runtimes: Mutex::default(),
            closed: Mutex::new(false),
            idle: Condvar::new(),
            runtime_count: AtomicU64::new(0),
            max_runtimes: options.max_runtimes,
        };
        let load_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(Self { shared: Arc::new(shared), load_ns })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The image's content hash, in hex.
    pub fn image_id(&self) -> &str {
        self.shared.images.node().image().id()
    }

    /// Nanoseconds that loading image and module took.
    pub fn load_ns(&self) -> u64 {
        self.load_ns
    }

    /// Makes a runtime. Checks the options.
    pub fn create_runtime(&self, options: RuntimeOptions) -> Result<Runtime, Error> {
        Runtime::create(self.shared.clone(), options)
    }

    /// Counts of what is in use.
    pub fn resources(&self) -> Resources {
        let runtimes: Vec<_> = self.shared.runtimes.lock().values().filter_map(Weak::upgrade).collect();
        let image = self.shared.images.node().image();
        Resources {
            runtimes: self.shared.runtime_count.load(Ordering::Relaxed),
            processes: self.shared.live.load(Ordering::Relaxed),
            warm_slots: image.pool().waiting() as u64,
            memory_bytes: self.shared.live.load(Ordering::Relaxed) * image.len() as u64,
            buffered_bytes: runtimes.iter().map(|runtime| runtime.buffered()).sum(),
        }
    }

    /// Ends every process, tells their sinks, and ends the threads. Runtimes that are still held refuse further starts.
    pub fn shutdown(&self) {
        let runtimes: Vec<_> = self.shared.runtimes.lock().values().filter_map(Weak::upgrade).collect();
        for runtime in &runtimes {
            runtime.dispose();
        }
        let until = Instant::now() + SHUTDOWN_GRACE;
        let mut closed = self.shared.closed.lock();
        while self.shared.live.load(Ordering::Acquire) > 0 && !self.shared.idle.wait_until(&mut closed, until).timed_out() {}
        *closed = true;
        drop(closed);
        self.shared.scheduler.shutdown();
    }
}

impl Shared {
    /// What makes the VM of a program.
    pub(crate) fn factory(&self, image: &Image) -> Result<Arc<Factory>, Error> {
        self.factory_of(matches!(image, Image::Shell(_)))
    }

    /// The same, by which of the two images it is of.
    pub(crate) fn factory_of(&self, is_shell: bool) -> Result<Arc<Factory>, Error> {
        if is_shell { self.images.shell() } else { Ok(self.images.node().clone()) }
    }

    /// A place for a runtime. To be asked for before anything of it is made.
    pub(crate) fn seat(self: &Arc<Self>) -> Result<Seat, Error> {
        let seat = Seat { shared: self.clone() };
        if self.runtime_count.fetch_add(1, Ordering::Relaxed) >= self.max_runtimes {
            return Err(Error::ResourceExhausted { resource: "runtimes", limit: self.max_runtimes });
        }
        Ok(seat)
    }

    /// Returns the ordinal of the next runtime: the number of runtimes before it.
    pub(crate) fn next_ordinal(&self) -> u64 {
        self.next_runtime.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a runtime to the table of runtimes.
    pub(crate) fn adopt(&self, runtime: &Arc<Inner>) {
        let mut runtimes = self.runtimes.lock();
        // Forgets those that are gone whenever the table has doubled: constant work for each on average.
        if runtimes.len().is_power_of_two() {
            runtimes.retain(|_, runtime| runtime.strong_count() > 0);
        }
        runtimes.insert(runtime.ordinal(), Arc::downgrade(runtime));
    }

    pub(crate) fn scheduler(&self) -> &Arc<Scheduler> {
        &self.scheduler
    }

    /// The content hash of the image that most programs begin as.
    pub(crate) fn image_id(&self) -> &str {
        self.images.node().image().id()
    }

    pub(crate) fn image_len(&self) -> u64 {
        self.images.node().image().len() as u64
    }

    pub(crate) fn program_began(&self) {
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn program_ended(&self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            let _closed = self.closed.lock();
            self.idle.notify_all();
        }
    }
}
