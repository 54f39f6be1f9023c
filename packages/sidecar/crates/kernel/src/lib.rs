//! The kernel: what a sandbox's programs share, and the system calls through which they reach it.
//!
//! A [`Kernel`] belongs to a runtime, a [`Process`] to one program in it. A system call is a number and up to eight integers
//! (`docs/internals/guest-abi.md`); [`call`] hands it to the part that owns the number's range. Calls are short: the gate to the guest's
//! memory is open meanwhile, and a kill waits for it. Whatever takes longer starts an operation and completes it with [`Event`]s
//! (`operations.rs`), or waits in [`call_and_wait`], which blocks that VM alone. Next: `arguments.rs`, how a call reads its integers.

mod arguments;
mod bindings;
mod caller;
mod calls;
mod clock;
mod crypto;
mod descriptor_io;
mod descriptors;
mod embedder;
mod fs;
mod host_calls;
mod ids;
mod kernel;
mod limits;
mod net;
mod operations;
pub mod permissions;
mod process;
pub mod processes;
pub mod snapshot;
#[cfg(test)]
mod testing;
pub mod usage;

pub use arguments::Arguments;
pub use caller::{AlarmGuard, Caller};
pub use calls::{Answer, ask_file_system, call, call_and_wait};
pub use descriptor_io::{read, wait_ready, write};
pub use embedder::{BindingOptions, Embedder, HostAnswer, HostCall, HostFailure};
pub use fs::options::{FileSystemOptions, MountOptions, OpenOptions};
pub use fs::reports::{ChangeKind, Changes, DirectoryEntry, FileChange, FileStat, FileType};
pub use fs::{Archive, EmbedderFile, EmbedderFiles, EmbedderWatch, Exchange, FileSystemRequest, Waiter};
pub use ids::OperationId;
pub use kernel::Kernel;
pub use limits::Limits;
pub use net::inbound::{ListenerEntry, NetworkEvent, STREAM_WINDOW, Target};
pub use net::{IN, OUT};
pub use operations::{Event, Operations};
pub use permissions::Permissions;
pub use permissions::policy::{
    Decision, Decisions, PermissionListener, PermissionPolicy, PermissionRule, Scope, ScopePolicy, Verdict,
};
pub use process::Process;
pub use processes::Status;
