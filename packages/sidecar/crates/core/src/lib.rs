//! The sandbox core: runtimes whose programs start from a frozen memory image, mapped
//! copy-on-write.
//!
//! [`Core`] has the state that all runtimes of a process share: the installation's images, their
//! memory slots, and the worker threads. A [`Runtime`] is one sandbox and costs a few kilobytes
//! until a program starts. [`Runtime::start`] makes a [`Process`]: one VM, mapped from the image,
//! that runs one program. A [`Sink`] receives the program's output and end.
//!
//! The core depends on the kernel, memories and VMs. It has no sockets to the SDK, no JSON and no
//! Node-API. `crates/sidecar` and `crates/node` are its shells. Each module may use the modules
//! that are listed before it:
//!
//! ```text
//! options, outcome, checks, containment ─► installation ─► outside ─► sched ─► program
//!   ─► snapshot ─► runtime ─► core ─► store
//! ```
//! `scripts/test/rust-modules.mjs` checks that no two modules use each other.

mod budget;
mod checks;
mod containment;
mod core;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod installation;
mod options;
mod outcome;
mod outside;
mod program;
mod runtime;
mod sched;
mod snapshot;
mod store;

#[cfg(test)]
mod tests;

/// The options, changes and reports of connections out of runtimes.
pub use coldframe_edge_link::{
    Change, CloseReason, Decision as OutsideDecision, Denied, DnsHost, Event as OutsideEvent, Existing, FlowInfo, Handler,
    HttpRule, InjectedHeader, LimitsChange, Options as OutsideOptions, OptionsChange, OutsideMode, Protocol, Refused, Rule,
    SecretEntry, SigningEntry, WallPart,
};
pub use coldframe_error::{Error, Fact};
pub use coldframe_ids::{ConnectionId, Digest, EvaluationId, HandleId, HostCallId, Pid};
pub use coldframe_kernel::usage::WarningListener;
pub use coldframe_kernel::usage::reports::{LimitUse, LimitWarning, RuntimeResources};
pub use coldframe_kernel::{
    AddressPool, BindingOptions, ChangeKind, Changes, ControlScope, Decision, Decisions, DirectoryEntry, Embedder, FileChange,
    FileStat, FileSystemOptions, FileType, HostAnswer, HostCall, HostFailure, Limits, ListenerEntry, MemberEvent,
    MemberEventKind, MemberInfo, MountOptions, NetworkEvent, NetworkRule, OpenOptions, Owner, PermissionListener,
    PermissionPolicy, PermissionRule, PrivateNetwork, STREAM_WINDOW, Scope, ScopePolicy, TakenEvents, Target, Verdict,
    WindowSize, WireInfo, without_guests,
};
pub use coldframe_memory::{FORMAT_VERSION, HEADER_LEN, Header};
pub use coldframe_vm::{CPU_FEATURES, engine_config};
pub use containment::contained;
pub use core::Core;
pub use options::{
    CellLanguage, CoreOptions, DEFAULT_MAX_RUNTIMES, Dispatch, EDGE_PROGRAM, EvaluationSettings, Language, Mode, ProcessOptions,
    RuntimeOptions, Streams,
};
pub use outcome::{Outcome, ProcessEntry, Resources, Sink, Timings};
pub use outside::{Done, OutsideEvents, QueueListener, SecretsKey, TimedEvent, now_us, rule_text};
pub use program::ProgramInfo;
pub use runtime::{
    ArchiveUse, AssignSinks, Carryover, Files, Held, Network, OutsideConnections, Permissions, Process, Processes,
    RestoreOptions, RestoredRuntime, Runtime, SnapshotOptions, Starting,
};
pub use snapshot::{Snapshot, SnapshotInfo};
pub use store::{DamagedSnapshot, Retention, Store, StoreOptions, Stored};
