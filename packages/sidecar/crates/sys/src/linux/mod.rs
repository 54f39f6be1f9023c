//! System calls of Linux. This file has the calls for mappings, the limits of the process, random
//! bytes and the user id. The other files of this folder have the other calls.
//!
//! A VM's memory is a private mapping of the image. A page that the guest has written is an
//! anonymous page, and Linux's page map shows which pages are anonymous. The sidecar itself
//! does not track writes, so the writes of a guest have no additional cost.
//! `Documentation/admin-guide/mm/pagemap.rst` describes the page map. `page_map.rs` finds the
//! written pages, `memory_file.rs` has files in memory, and `threads.rs` has clocks and CPU time.
//! `byte_lock.rs` has locks of single bytes of a file. `available.rs` reads the available memory,
//! and `heap.rs` returns free memory of the allocator.

mod available;
mod byte_lock;
mod heap;
mod memory_file;
mod page_map;
mod threads;

pub use available::available_memory;
pub use byte_lock::{LAST_BYTE, is_byte_locked, lock_byte, unlock_all, unlock_byte};
pub use heap::return_free_memory;
pub use memory_file::{memory_file, seal, touched_parts, write_out};
pub use page_map::PageMap;
pub use threads::{ThreadClock, monotonic_ns, thread_usage, wall_ns, yield_to_others};

use super::PAGE;
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap};
use std::ffi::c_void;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// Flags of a private mapping of zeros for which no memory is reserved. rustix adds
/// `MAP_ANONYMOUS`.
const RESERVED: MapFlags = MapFlags::PRIVATE.union(MapFlags::NORESERVE);
/// A mapping at exactly the given address.
const FIXED: MapFlags = MapFlags::FIXED.union(MapFlags::NORESERVE);
const READ_WRITE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// Refuses a machine whose pages are not [`PAGE`] bytes long.
pub fn check_page_size() -> io::Result<()> {
    let size = rustix::param::page_size();
    if size == PAGE {
        return Ok(());
    }
    Err(io::Error::other(format!("pages of {PAGE} bytes are needed, this machine has pages of {size}")))
}

/// Reserves address space that no code can access yet. Commits no memory.
pub fn reserve(len: usize) -> io::Result<usize> {
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice aliases nothing.
    let base = unsafe { mmap_anonymous(null_mut(), len, ProtFlags::empty(), RESERVED) }? as usize;
    small_pages(base, len);
    Ok(base)
}

/// Requests small pages for an anonymous range. Where huge pages are the default, the first byte of
/// a stack would cost a VM 2 MiB.
fn small_pages(base: usize, len: usize) {
    static HUGE_BY_DEFAULT: OnceLock<bool> = OnceLock::new();
    let setting = || std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    if !HUGE_BY_DEFAULT.get_or_init(|| setting().map_or(true, |setting| setting.contains("[always]"))) {
        return;
    }
    // SAFETY: the advice changes the size of the pages and no byte of the range. A kernel without
    // huge pages refuses the advice, which has no effect on the result.
    let _ = unsafe { madvise(base as *mut c_void, len, Advice::LinuxNoHugepage) };
}

/// Frees a reservation or a mapping.
///
/// # Safety
/// `base..base + len` is one whole result of [`reserve`] or [`map_readonly`], and no code refers to
/// the range.
pub unsafe fn release(base: usize, len: usize) {
    // SAFETY: the caller owns the range. If the call fails, the range stays mapped.
    let _ = unsafe { munmap(base as *mut c_void, len) };
}

/// Maps a file copy-on-write over part of a reservation.
///
/// # Safety
/// The range is inside a reservation that the caller owns, and no reference into it is alive.
pub unsafe fn map_private(base: usize, file: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<()> {
    // SAFETY: the caller owns the range, and MAP_FIXED replaces exactly this range.
    unsafe { mmap(base as *mut c_void, len, READ_WRITE, MapFlags::PRIVATE | FIXED, file, offset) }?;
    Ok(())
}

/// Maps `len` bytes of a file for reading, from `offset` on. Returns the address of the mapping.
///
/// The mapping is private, because older kernels refuse shared mappings of a sealed file. No page
/// is ever copied, because no code writes to the mapping.
pub fn map_readonly(file: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<usize> {
    // SAFETY: a fresh mapping at an address of the kernel's choice aliases nothing.
    Ok(unsafe { mmap(null_mut(), len, ProtFlags::READ, MapFlags::PRIVATE, file, offset) }? as usize)
}

/// Makes a mapped range an inaccessible part of its reservation again. Only the first `used` bytes
/// of the range may have pages.
///
/// # Safety
/// The conditions of [`map_private`] apply.
pub unsafe fn unmap_into_reservation(base: usize, len: usize, used: usize) -> io::Result<()> {
    // SAFETY: the caller's promise covers the call.
    unsafe { let_go(base, used.min(len)) };
    // SAFETY: the caller owns the range.
    unsafe { mmap_anonymous(base as *mut c_void, len, ProtFlags::empty(), RESERVED | FIXED) }?;
    small_pages(base, len);
    Ok(())
}

/// Makes part of a reservation accessible: pages of zeros, committed at the first access.
///
/// # Safety
/// The range is inside a reservation that the caller owns.
pub unsafe fn allow(base: usize, len: usize) -> io::Result<()> {
    // SAFETY: the caller owns the range, and widening access cannot break a live reference.
    Ok(unsafe { mprotect(base as *mut c_void, len, MprotectFlags::READ | MprotectFlags::WRITE) }?)
}

/// Removes all access to the range. Every later load and store in the range faults.
///
/// # Safety
/// The range is a reservation that the caller owns. No code of the sidecar holds a reference into
/// the range (see `gate.rs` of the crate `memory`).
pub unsafe fn forbid(base: usize, len: usize) -> io::Result<()> {
    // SAFETY: the caller ensures that only guest code can still access the range. Faults of guest
    // code become traps.
    Ok(unsafe { mprotect(base as *mut c_void, len, MprotectFlags::empty()) }?)
}

/// Maps a file over part of a reservation. Writes to the range change the file.
///
/// # Safety
/// The conditions of [`map_private`] apply, and no other mapping of the file exists.
pub unsafe fn map_shared(base: usize, file: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<()> {
    // SAFETY: the caller owns the range, and MAP_FIXED replaces exactly this range.
    unsafe { mmap(base as *mut c_void, len, READ_WRITE, MapFlags::SHARED | FIXED, file, offset) }?;
    Ok(())
}

/// Drops the private copies of the range, so that the mapped file is visible again.
///
/// # Safety
/// The conditions of [`map_private`] apply.
pub unsafe fn discard(base: usize, len: usize) -> io::Result<()> {
    // SAFETY: the caller owns the range.
    Ok(unsafe { madvise(base as *mut c_void, len, Advice::LinuxDontNeed) }?)
}

/// Frees the pages of a range before the range is mapped again.
///
/// A new mapping would also free the pages, but under the exclusive lock for which all mappings and
/// faults of the process wait. This call frees the pages under a shared lock. The call works in
/// parts, because a thread that maps waits even for a shared lock.
///
/// # Safety
/// The conditions of [`map_private`] apply, and the bytes are no longer needed.
pub unsafe fn let_go(base: usize, len: usize) {
    /// The number of bytes that are freed in about a tenth of a millisecond.
    const PART: usize = 2 << 20;
    for at in (0..len).step_by(PART) {
        // SAFETY: the caller's promise covers the call. If the call fails, the next mapping frees
        // the pages.
        let _ = unsafe { discard(base + at, PART.min(len - at)) };
    }
}

/// Makes every page of a private range this process's own copy, so that no later write faults. The
/// bytes do not change.
///
/// One call replaces two faults for each page. A kernel before 5.14 refuses the call, and every
/// kernel refuses an inaccessible range. After a refusal, each page faults at its first accesses.
///
/// # Safety
/// The conditions of [`map_private`] apply.
pub unsafe fn make_private(base: usize, len: usize) -> io::Result<()> {
    // SAFETY: the advice changes no byte of the caller's range.
    Ok(unsafe { madvise(base as *mut c_void, len, Advice::LinuxPopulateWrite) }?)
}

/// Returns the present limit of descriptors of this process (the soft limit of `RLIMIT_NOFILE`).
pub fn max_descriptors() -> u64 {
    // `None` means that the process has no limit. The kernel's table of descriptors is bounded
    // anyway.
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Returns the number of mappings that this process may have (`vm.max_map_count`). Returns Linux's
/// default if the number cannot be read. The first call reads the number, because a process behind
/// the second wall cannot open the file.
pub fn max_mappings() -> u64 {
    static NUMBER: OnceLock<u64> = OnceLock::new();
    *NUMBER.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
        text.trim().parse().unwrap_or(65_530)
    })
}

/// Fills `buffer` from the kernel's random number generator.
pub fn entropy(mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        match rustix::rand::getrandom(&mut *buffer, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => buffer = &mut buffer[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Returns the effective user id of this process, which owns the files that this process makes.
pub fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}
