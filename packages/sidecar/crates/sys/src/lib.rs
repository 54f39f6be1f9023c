//! The calls of one operating system: mappings, the page map, thread clocks, locks.
//!
//! A port of Coldframe to another system changes only this crate. The other crates use only the
//! abstractions of this crate, such as reservations and runs of written pages. `linux/` is the only
//! platform so far. This crate depends on no other crate of the workspace. Next: the crate
//! `memory`, which builds a VM's memory with these calls.

mod edge_process;
mod host_access;
mod linux;

pub use edge_process::{EDGE_FD, EdgeProcess};
pub use host_access::{Direct, HostAccess, HostFolder, PartFile, Replacement, host_access, set_host_access};
pub use linux::*;

/// The host machine's page size. [`check_page_size`] refuses a machine with another size.
pub const PAGE: usize = 4096;

/// A run of whole pages inside a range of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The distance from the start of the range, in bytes.
    pub offset: usize,
    /// The length in bytes.
    pub len: usize,
}

/// A thread's resource use since the thread started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Page faults, with and without a read from the disk.
    pub faults: u64,
    /// CPU time in nanoseconds, user and system.
    pub cpu_ns: u64,
}
