//! The kernel: the state that a runtime's programs share, and the system calls that use the state.
//!
//! A [`Kernel`] belongs to a runtime, and a [`Process`] belongs to one program of the runtime. A
//! system call is a number and up to eight integers (`docs/internals/guest-abi.md`). [`call`]
//! dispatches system calls by family. A system call must be short: the gate to the guest's memory
//! is open during the call, and a kill waits for the call. Longer work starts an operation and
//! completes the operation with an [`Event`] (`operations.rs`), or runs in [`call_and_wait`], which
//! blocks only the caller's VM. Next: `calls.rs`, the entry point of system calls.

mod arguments;
mod bindings;
mod boot_id;
mod caller;
mod caller_scope;
mod calls;
mod clock;
mod control;
mod crypto;
mod descriptor_io;
mod descriptors;
mod embedder;
mod encoding;
mod event_queue;
mod fs;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod host_calls;
mod ids;
mod kernel;
mod limits;
mod net;
mod networks;
mod operations;
mod outside;
pub mod permissions;
mod process;
pub mod processes;
mod resources;
pub mod snapshot;
mod steps;
mod terminal;
#[cfg(any(test, feature = "fuzzing"))]
mod testing;
pub mod text;
pub mod usage;

pub use arguments::{Answer, Arguments};
pub use caller::{AlarmGuard, Caller};
pub use calls::{ask_file_system, call, call_and_wait};
pub use control::{ControlScope, check_may_wait, without_guests};
pub use descriptor_io::{read, wait_ready, write};
pub use embedder::{BindingOptions, Embedder, HostAnswer, HostCall, HostFailure, ListenerEntry, NetworkEvent};
pub use event_queue::{EventQueue, QueueListener, TakenEvents, TimedEvent, now_us};
pub use fs::options::{FileSystemOptions, MountOptions, OpenOptions};
pub use fs::reports::{ChangeKind, Changes, DirectoryEntry, FileChange, FileStat, FileType};
pub use fs::{Archive, EmbedderFile, EmbedderFiles, EmbedderWatch, Exchange, FileSystemRequest, Library, Owner, Waiter};
pub use ids::{Fd, OperationId};
pub use kernel::Kernel;
pub use limits::Limits;
pub use net::inbound::{STREAM_WINDOW, Target};
pub use net::{IN, OUT};
pub use networks::{
    AddressPool, Cut, MemberEvent, MemberEventKind, MemberInfo, MemberScope, NetworkRule, PortRange, PrivateNetwork, WireInfo,
};
pub use operations::{Event, Operations};
pub use outside::{
    DATAGRAM_COST, FlowId, LookUpAnswer, LookUpFamily, LookUpId, MAX_ADDRESSES, MAX_DATAGRAM_FLOWS, MAX_RECORDS_BYTES, Outside,
    OutsideEvent, OutsideFailure, OutsideFailureKind,
};
pub use permissions::policy::{
    Decision, Decisions, PermissionListener, PermissionPolicy, PermissionRule, Scope, ScopePolicy, Verdict,
};
pub use permissions::{Audit, Permissions};
pub use process::Process;
pub use processes::Status;
pub use resources::{ProgramUse, gather};
pub use terminal::WindowSize;
