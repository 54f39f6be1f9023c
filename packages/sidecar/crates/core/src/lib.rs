//! The sandbox core: runtimes whose guest is one frozen memory image, mapped copy-on-write.
//!
//! [`Core`] holds what all runtimes of a process share: the precompiled engine, the image, the pool of memory slots and the
//! worker threads. A [`Runtime`] is one sandbox; it costs a few kilobytes until something runs in it. [`Runtime::start`] makes a
//! [`Process`]: one guest instance, mapped from the image, that runs one program. What happens to it is told to its [`Sink`].
//!
//! This crate knows nothing of sockets to the SDK, of JSON or of Node-API: `crates/sidecar` and `crates/node` are its two shells.

mod core;
mod host;
mod image;
mod images;
mod kernel;
mod limits;
mod memory;
mod network;
mod options;
mod outcome;
mod policy;
mod program;
mod runtime;
mod sched;
mod store;
mod vm;

#[cfg(test)]
mod tests;

pub use coldframe_error::{Error, Fact};
pub use coldframe_ids::Digest;
pub use core::Core;
pub use host::{BindingOptions, Host, HostAnswer, HostCall, HostFailure};
pub use image::{ABI_VERSION, FORMAT_VERSION, HEADER_LEN, Header};
pub use limits::Limits;
pub use network::{ListenerEntry, NetworkEvent, STREAM_WINDOW, Target};
pub use options::{
    CoreOptions, DEFAULT_MAX_RUNTIMES, Dispatch, FileSystemOptions, Mode, MountOptions, OpenOptions, ProcessOptions,
    RuntimeOptions, Streams, WarningListener,
};
pub use outcome::{
    ChangeKind, Changes, Entry, FileChange, FileStat, FileType, LimitUse, LimitWarning, Outcome, ProcessEntry, Resources,
    RuntimeResources, Sink, Timings,
};
pub use policy::{Decision, Decisions, PermissionListener, PermissionPolicy, PermissionRule, Scope, ScopePolicy, Verdict};
pub use runtime::{
    ArchiveUse, Bygone, Cast, Files, Held, Network, Permissions, Process, Processes, ProgramInfo, RestoreOptions,
    RestoredRuntime, Runtime, Snapshot, SnapshotInfo, SnapshotOptions, Starting,
};
pub use store::{DamagedSnapshot, Stay, Store, StoreOptions, Stored};
pub use vm::{CPU_FEATURES, engine_config};
