//! Everything that only one operating system has: mappings, the page map, a thread's fault counter.
//!
//! This is the single module to edit when Coldframe is ported; the rest of the core speaks of reservations, images and dirty
//! runs. `linux/` is the one platform so far. Next: `memory/slot.rs`, which builds a VM's memory out of these calls.

mod linux;

pub(crate) use linux::*;

/// The host's page size. All platforms we run on have pages of this size; [`check_page_size`] refuses to start elsewhere.
pub(crate) const PAGE: usize = 4096;

/// A run of whole pages inside a memory: offset from its base and length, both in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) offset: usize,
    pub(crate) len: usize,
}

/// What a thread has used since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadUsage {
    /// Page faults, served from memory or from disk.
    pub(crate) faults: u64,
    /// CPU time in nanoseconds, user and system.
    pub(crate) cpu_ns: u64,
}
