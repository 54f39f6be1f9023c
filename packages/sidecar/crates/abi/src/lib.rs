//! The numbers that guest and sidecar share: system calls, events, and blocks in the guest's
//! memory.
//!
//! Each number is declared here once. The kernel and the VM match the enums of this crate.
//! `crates/codegen` writes the guest's constants, the shim's header and the tables of
//! `docs/internals/guest-abi.md` from the same rows. The crate has no dependencies, so that the
//! generator compiles in seconds. Next: `system_calls/mod.rs`.

mod blocks;
mod numbers;
pub mod system_calls;

pub use blocks::{EventHeader, Field, FieldKind, InfoBlock, StateBlock};
pub use numbers::{Clock, EvalFlag, EventKind, ExitCode, ExitReason, FatalKind, GuestStatus, Mark, NumberRow, ProgramMode};
pub use system_calls::{BlockingCall, SystemCall};

/// The version of the ABI, in the guest's info block and in image headers. Every change of the ABI
/// raises the version. The sidecar refuses a guest image of any other version.
pub const VERSION: u32 = 7;

/// The largest number of bytes that one read, write or copy of a file transfers. If more bytes are
/// wanted, the guest's library makes further calls, so that a stop does not wait for a long call.
pub const MAX_TRANSFER: usize = 1 << 20;
