//! The sandbox core: runtimes whose guest is one frozen memory image, mapped copy-on-write.
//!
//! [`Core`] holds what all runtimes of a process share: the precompiled engine, the image, the pool of memory slots and the
//! worker threads. A [`Runtime`] is one sandbox; it costs a few kilobytes until something runs in it. [`Runtime::start`] makes a
//! [`Process`]: one guest instance, mapped from the image, that runs one program. What happens to it is told to its [`Sink`].
//!
//! This crate knows nothing of sockets to the SDK, of JSON or of Node-API: `crates/sidecar` and `crates/node` are its two shells.

mod error;
mod options;
mod outcome;

pub use error::{Error, Fact};
pub use options::{CoreOptions, Dispatch, Limits, Mode, ProcessOptions, RuntimeOptions, Streams};
pub use outcome::{Outcome, Resources, Sink, Timings};

use std::time::Duration;

/// What all runtimes of this process share. Cheap to clone; the last clone to go ends the worker threads.
#[derive(Clone)]
pub struct Core {}

/// One sandbox. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {}

/// One guest program. Cheap to clone; dropping all clones does not end it.
#[derive(Clone)]
pub struct Process {}

impl Core {
    /// Maps the image and starts the worker threads.
    pub fn open(_options: &CoreOptions) -> Result<Self, Error> {
        todo!()
    }
    /// The image's content hash, in hex.
    pub fn image_id(&self) -> &str {
        todo!()
    }
    /// Nanoseconds that loading the precompiled module took.
    pub fn load_ns(&self) -> u64 {
        todo!()
    }
    /// Makes a runtime. Checks the options.
    pub fn create_runtime(&self, _options: RuntimeOptions) -> Result<Runtime, Error> {
        todo!()
    }
    /// Counts of what is in use.
    pub fn resources(&self) -> Resources {
        todo!()
    }
    /// Ends every process and the worker threads; sinks are told.
    pub fn shutdown(&self) {
        todo!()
    }
}

impl Runtime {
    /// Starts a program (or a resident runner). `sink` may be called before this returns when `dispatch` is inline.
    pub fn start(&self, _options: ProcessOptions, _sink: std::sync::Arc<dyn Sink>, _dispatch: Dispatch) -> Result<Process, Error> {
        todo!()
    }
    /// Ends all its processes. Later starts fail with `ERR_RUNTIME_DISPOSED`.
    pub fn dispose(&self) {
        todo!()
    }
}

impl Process {
    /// Evaluates a snippet in a resident process; evaluations run one after the other. `eval` is the caller's number for it,
    /// not 0. Fails at once with `ERR_RUNNER_EXITED` when the process has ended.
    pub fn evaluate(&self, _eval: u32, _code: String, _timeout: Option<Duration>, _streams: Streams, _dispatch: Dispatch) -> Result<(), Error> {
        todo!()
    }
    /// Ends the program (`ERR_CANCELED`), within 50 ms whatever it does.
    pub fn cancel(&self) {
        todo!()
    }
    /// Ends one evaluation of a resident process, or takes it out of the queue.
    pub fn cancel_evaluation(&self, _eval: u32) {
        todo!()
    }
    /// The reader has consumed `bytes` of streamed output.
    pub fn credit(&self, _bytes: u64) {
        todo!()
    }
}
