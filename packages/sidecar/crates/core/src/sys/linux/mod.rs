//! Linux: `mmap`, `getrusage`, clocks. `page_map.rs` finds the pages that were written, `memory_file.rs` is files in memory, `byte_lock.rs` locks that end with their process.
//!
//! A VM's memory is a private mapping of the image. A page that the guest has written is an anonymous page, and the kernel's page
//! map says which pages are: nothing tracks writes in the fast path. See `Documentation/admin-guide/mm/pagemap.rst`.

mod available;
mod byte_lock;
mod memory_file;
mod page_map;

pub(crate) use available::available_memory;
pub(crate) use byte_lock::{LAST_BYTE, is_byte_locked, lock_byte, unlock_all, unlock_byte};
pub(crate) use memory_file::{memory_file, seal, touched_parts, write_out};
pub(crate) use page_map::PageMap;

use super::{PAGE, ThreadUsage};
use std::io;
use std::os::fd::RawFd;
use std::sync::OnceLock;

fn check(result: *mut libc::c_void) -> io::Result<usize> {
    if result == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(result as usize) }
}

fn check_int(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Refuses a host whose pages are not [`PAGE`] bytes long.
pub(crate) fn check_page_size() -> io::Result<()> {
    // SAFETY: sysconf has no preconditions.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    if size == PAGE as libc::c_long {
        return Ok(());
    }
    Err(io::Error::other(format!("pages of {PAGE} bytes are needed, this machine has pages of {size}")))
}

/// Reserves address space that nothing can touch yet. No memory is committed.
pub(crate) fn reserve(len: usize) -> io::Result<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice aliases nothing.
    let base = check(unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) })?;
    small_pages(base, len);
    Ok(base)
}

/// Asks for small pages in an anonymous range: where huge ones are the default, the first byte of a stack would cost a VM 2 MiB.
fn small_pages(base: usize, len: usize) {
    static HUGE_BY_DEFAULT: OnceLock<bool> = OnceLock::new();
    let setting = || std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    if !HUGE_BY_DEFAULT.get_or_init(|| setting().map_or(true, |setting| setting.contains("[always]"))) {
        return;
    }
    // SAFETY: the advice changes how the range is backed, not what it holds. A kernel without huge pages refuses it, which is as good.
    unsafe { libc::madvise(base as *mut libc::c_void, len, libc::MADV_NOHUGEPAGE) };
}

/// Gives a reservation back.
///
/// # Safety
/// `base..base + len` is one whole reservation of [`reserve`] and nothing refers to it any more.
pub(crate) unsafe fn release(base: usize, len: usize) {
    // SAFETY: the caller owns the range.
    unsafe { libc::munmap(base as *mut libc::c_void, len) };
}

/// Maps a file copy-on-write over part of a reservation.
///
/// # Safety
/// The range lies inside a reservation that the caller owns, and no reference into it is alive.
pub(crate) unsafe fn map_private(base: usize, file: RawFd, offset: u64, len: usize) -> io::Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller owns the range; MAP_FIXED replaces exactly it.
    check(unsafe { libc::mmap(base as *mut libc::c_void, len, protection, flags, file, offset as libc::off_t) }).map(|_| ())
}

/// Maps a file for reading. Private, for a sealed file cannot be mapped otherwise on older kernels; nothing is ever copied, as nobody writes.
pub(crate) fn map_readonly(file: RawFd, offset: u64, len: usize) -> io::Result<usize> {
    // SAFETY: a fresh mapping at an address of the kernel's choice aliases nothing.
    check(unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_PRIVATE, file, offset as libc::off_t) })
}

/// Drops whatever is mapped in the range; it becomes an untouchable part of the reservation again. Only the first `used` bytes can have pages.
///
/// # Safety
/// As for [`map_private`].
pub(crate) unsafe fn unmap_into_reservation(base: usize, len: usize, used: usize) -> io::Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    // SAFETY: passed on to the caller.
    unsafe { let_go(base, used.min(len)) };
    // SAFETY: the caller owns the range.
    check(unsafe { libc::mmap(base as *mut libc::c_void, len, libc::PROT_NONE, flags, -1, 0) })?;
    small_pages(base, len);
    Ok(())
}

/// Makes part of a reservation usable: pages of zeros, committed as they are touched.
///
/// # Safety
/// The range lies inside a reservation that the caller owns.
pub(crate) unsafe fn allow(base: usize, len: usize) -> io::Result<()> {
    // SAFETY: the caller owns the range; widening access cannot break a live reference.
    check_int(unsafe { libc::mprotect(base as *mut libc::c_void, len, libc::PROT_READ | libc::PROT_WRITE) })
}

/// Takes all access to the range away: every load and store in it faults from now on.
///
/// # Safety
/// The range is a reservation that the caller owns; no host code holds a reference into it (see `memory/gate.rs`).
pub(crate) unsafe fn forbid(base: usize, len: usize) -> io::Result<()> {
    // SAFETY: the caller promises that only guest code, whose faults become traps, can still touch the range.
    check_int(unsafe { libc::mprotect(base as *mut libc::c_void, len, libc::PROT_NONE) })
}

/// Maps a file over part of a reservation so that writes go to the file.
///
/// # Safety
/// As for [`map_private`]; and nobody else maps the file.
pub(crate) unsafe fn map_shared(base: usize, file: RawFd, offset: u64, len: usize) -> io::Result<()> {
    let flags = libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller owns the range; MAP_FIXED replaces exactly it.
    check(unsafe { libc::mmap(base as *mut libc::c_void, len, protection, flags, file, offset as libc::off_t) }).map(|_| ())
}

/// How many descriptors this process may have now.
pub(crate) fn max_descriptors() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place to write to.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } {
        0 => limit.rlim_cur,
        _ => 1_024,
    }
}

/// Forgets the private copies of the range: what is mapped there shows through again.
///
/// # Safety
/// As for [`map_private`].
pub(crate) unsafe fn discard(base: usize, len: usize) -> io::Result<()> {
    // SAFETY: the caller owns the range.
    check_int(unsafe { libc::madvise(base as *mut libc::c_void, len, libc::MADV_DONTNEED) })
}

/// Lets go of the pages of a range that is about to be mapped anew, whatever they hold. Mapping alone would do that too, but
/// with the lock that all mappings and faults of the process wait for; this takes it only so that others can as well, and in parts, because
/// who wants to map waits even for that.
///
/// # Safety
/// As for [`map_private`], and the bytes are not needed any more.
pub(crate) unsafe fn let_go(base: usize, len: usize) {
    /// About a tenth of a millisecond's worth.
    const PART: usize = 2 << 20;
    for at in (0..len).step_by(PART) {
        // SAFETY: passed on to the caller. If it fails, mapping does the work.
        let _ = unsafe { discard(base + at, PART.min(len - at)) };
    }
}

/// Has every page of a private range written to, so that it is this process's own and no write to it faults: one call for what would be two faults a page.
/// A kernel before 5.14 refuses, and so does any for what is not accessible: the faults come one by one then.
///
/// # Safety
/// As for [`map_private`].
pub(crate) unsafe fn make_private(base: usize, len: usize) -> io::Result<()> {
    // SAFETY: the advice changes no byte of what the caller owns.
    check_int(unsafe { libc::madvise(base as *mut libc::c_void, len, libc::MADV_POPULATE_WRITE) })
}

/// What the calling thread has used. One system call, about 0.2 µs.
pub(crate) fn thread_usage() -> ThreadUsage {
    // SAFETY: rusage is plain data for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place to write to; RUSAGE_THREAD cannot fail with it.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    let nanos = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    ThreadUsage { faults: (usage.ru_minflt + usage.ru_majflt) as u64, cpu_ns: nanos(usage.ru_utime) + nanos(usage.ru_stime) }
}

/// The clock of a thread's CPU time, which any thread may read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadClock(libc::clockid_t);

impl ThreadClock {
    /// That of the calling thread. No system call.
    pub(crate) fn of_this_thread() -> Option<Self> {
        let mut clock = 0;
        // SAFETY: the calling thread lives, and `clock` is a valid place to write to.
        let result = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
        (result == 0).then_some(Self(clock))
    }

    /// What it shows, in nanoseconds. `None` when the thread has ended.
    pub(crate) fn now_ns(self) -> Option<u64> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid place to write to; an unknown clock is an error.
        let result = unsafe { libc::clock_gettime(self.0, &mut time) };
        (result == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }
}

/// Fills `buffer` from the kernel's generator.
pub(crate) fn entropy(mut buffer: &mut [u8]) -> io::Result<()> {
    while !buffer.is_empty() {
        // SAFETY: pointer and length describe `buffer`.
        let got = unsafe { libc::getrandom(buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        match usize::try_from(got) {
            Ok(got) => buffer = &mut buffer[got..],
            Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
    Ok(())
}

/// The user whose files this process's are.
pub(crate) fn user_id() -> u32 {
    // SAFETY: the call has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// What the calling thread does from now on can wait for whatever else there is to do.
pub(crate) fn yield_to_others() {
    const NICE: libc::c_int = 4;
    // SAFETY: the call touches no memory. On Linux 0 is the calling thread; should it be refused, all is as it was.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since 1970.
pub(crate) fn wall_ns() -> u64 {
    clock_ns(libc::CLOCK_REALTIME)
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place to write to; both clocks always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How many mappings this process may have (`vm.max_map_count`).
pub(crate) fn max_mappings() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    text.trim().parse().unwrap_or(65_530)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_to_a_fresh_page_moves_the_fault_counter() {
        let base = reserve(PAGE).expect("reserve");
        // SAFETY: the test owns the reservation.
        unsafe { allow(base, PAGE).expect("allow") };
        let before = thread_usage().faults;
        // SAFETY: the page is accessible.
        unsafe { *(base as *mut u8) = 1 };
        assert!(thread_usage().faults > before);
        // SAFETY: the reservation is not used any more.
        unsafe { release(base, PAGE) };
    }

    #[test]
    fn the_clock_of_a_thread_is_read_from_another() {
        let clock = ThreadClock::of_this_thread().expect("a clock");
        let spent = thread_usage().cpu_ns;
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(clock.now_ns().is_some_and(|now| now >= spent)));
        });
        let ended = std::thread::spawn(ThreadClock::of_this_thread).join().expect("it ends").expect("a clock");
        // It is joined when it has run its last instruction, and gone a moment later.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while ended.now_ns().is_some() && std::time::Instant::now() < until {
            std::thread::yield_now();
        }
        assert_eq!(ended.now_ns(), None);
    }
}
