//! Linux: `mmap`, `PAGEMAP_SCAN` (6.7 and later, the page map file before), `getrusage`.
//!
//! A VM's memory is a private mapping of the image. A page that the guest has written is an anonymous page, and the kernel's page
//! map says which pages are: nothing tracks writes in the fast path. See `Documentation/admin-guide/mm/pagemap.rst`.

use super::{PAGE, Run, ThreadUsage};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Maps a file for reading, shared with everybody who has it open.
pub(crate) fn map_shared_readonly(file: RawFd, offset: u64, len: usize) -> io::Result<usize> {
    // SAFETY: a fresh mapping at an address of the kernel's choice aliases nothing.
    check(unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, file, offset as libc::off_t) })
}

/// Drops whatever is mapped in the range; it becomes an untouchable part of the reservation again.
///
/// # Safety
/// As for [`map_private`].
pub(crate) unsafe fn unmap_into_reservation(base: usize, len: usize) -> io::Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
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

/// Forgets the private copies of the range: what is mapped there shows through again.
///
/// # Safety
/// As for [`map_private`].
pub(crate) unsafe fn discard(base: usize, len: usize) -> io::Result<()> {
    // SAFETY: the caller owns the range.
    check_int(unsafe { libc::madvise(base as *mut libc::c_void, len, libc::MADV_DONTNEED) })
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

/// The kernel's page map of this process, opened once: later the process may have made itself undumpable, which closes `/proc`.
#[derive(Debug)]
pub(crate) struct PageMap {
    file: File,
    scan: AtomicBool,
}

const PAGE_IS_FILE: u64 = 1 << 2;
const PAGE_IS_PRESENT: u64 = 1 << 3;
const PAGE_IS_SWAPPED: u64 = 1 << 4;
const PAGE_IS_PFNZERO: u64 = 1 << 5;
/// `_IOWR('f', 16, struct pm_scan_arg)`
const PAGEMAP_SCAN: u64 = 0xC060_6610;

/// `struct pm_scan_arg` of `linux/fs.h`.
#[repr(C)]
#[derive(Default)]
struct ScanArgument {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region` of `linux/fs.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

impl PageMap {
    /// The page map of this process.
    pub(crate) fn get() -> io::Result<&'static Self> {
        static MAP: OnceLock<PageMap> = OnceLock::new();
        if let Some(map) = MAP.get() {
            return Ok(map);
        }
        let file = File::open("/proc/self/pagemap")?;
        Ok(MAP.get_or_init(|| PageMap { file, scan: AtomicBool::new(true) }))
    }

    /// The runs of pages in `base..base + len` that are this process's own copies: written since they were mapped. Pages of
    /// the mapped file and the shared page of zeros are not among them. Sorted, not touching.
    pub(crate) fn private_runs(&self, base: usize, len: usize) -> io::Result<Vec<Run>> {
        if self.scan.load(Ordering::Relaxed) {
            match self.scan_ioctl(base, len) {
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOTTY | libc::EINVAL)) => {
                    self.scan.store(false, Ordering::Relaxed);
                }
                result => return result,
            }
        }
        self.read_entries(base, len)
    }

    fn scan_ioctl(&self, base: usize, len: usize) -> io::Result<Vec<Run>> {
        let mut regions = [Region::default(); 512];
        let mut runs = Vec::new();
        let (mut start, end) = (base as u64, (base + len) as u64);
        while start < end {
            let mut argument = ScanArgument {
                size: size_of::<ScanArgument>() as u64,
                start,
                end,
                vec: regions.as_mut_ptr() as u64,
                vec_len: regions.len() as u64,
                category_inverted: PAGE_IS_FILE | PAGE_IS_PFNZERO,
                category_mask: PAGE_IS_FILE | PAGE_IS_PFNZERO,
                category_anyof_mask: PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
                return_mask: PAGE_IS_PRESENT,
                ..ScanArgument::default()
            };
            // SAFETY: the argument has the layout that the kernel expects and points to `regions`, which outlives the call.
            let found = unsafe { libc::ioctl(self.file.as_raw_fd(), PAGEMAP_SCAN as _, &mut argument) };
            let found = usize::try_from(found).map_err(|_| io::Error::last_os_error())?;
            for region in &regions[..found] {
                push(&mut runs, (region.start - base as u64) as usize, (region.end - region.start) as usize);
            }
            if argument.walk_end <= start {
                break;
            }
            start = argument.walk_end;
        }
        Ok(runs)
    }

    fn read_entries(&self, base: usize, len: usize) -> io::Result<Vec<Run>> {
        const PRESENT_OR_SWAPPED: u64 = 3 << 62;
        const FILE_OR_SHARED: u64 = 1 << 61;
        let mut runs = Vec::new();
        let mut bytes = [0_u8; 8 * 4096];
        let mut page = 0;
        while page < len / PAGE {
            let count = (len / PAGE - page).min(bytes.len() / 8);
            self.file.read_exact_at(&mut bytes[..count * 8], ((base / PAGE + page) * 8) as u64)?;
            for (index, entry) in bytes[..count * 8].chunks_exact(8).enumerate() {
                let entry = u64::from_le_bytes(entry.try_into().unwrap_or_default());
                if entry & PRESENT_OR_SWAPPED != 0 && entry & FILE_OR_SHARED == 0 {
                    push(&mut runs, (page + index) * PAGE, PAGE);
                }
            }
            page += count;
        }
        Ok(runs)
    }
}

fn push(runs: &mut Vec<Run>, offset: usize, len: usize) {
    match runs.last_mut() {
        Some(last) if last.offset + last.len == offset => last.len += len,
        _ => runs.push(Run { offset, len }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn both_ways_of_reading_the_page_map_see_the_same_written_pages() {
        let mut file = tempfile();
        file.write_all(&vec![7_u8; 64 * PAGE]).expect("write");
        let base = reserve(64 * PAGE).expect("reserve");
        // SAFETY: the test owns the reservation and holds no reference into it.
        unsafe {
            map_private(base, file.as_raw_fd(), 0, 64 * PAGE).expect("map");
            for page in [0, 1, 2, 9, 40, 63] {
                *((base + page * PAGE + 5) as *mut u8) = 1;
            }
            let _read_only = std::ptr::read_volatile((base + 20 * PAGE) as *const u8);
        }
        let expected: Vec<Run> =
            [(0, 3), (9, 1), (40, 1), (63, 1)].map(|(page, pages)| Run { offset: page * PAGE, len: pages * PAGE }).to_vec();
        let map = PageMap::get().expect("page map");
        assert_eq!(map.read_entries(base, 64 * PAGE).expect("entries"), expected);
        assert_eq!(map.private_runs(base, 64 * PAGE).expect("scan"), expected);
        // SAFETY: the reservation is not used any more.
        unsafe { release(base, 64 * PAGE) };
    }

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

    fn tempfile() -> File {
        // SAFETY: the name is a C string; the descriptor is owned by the File from here on.
        unsafe {
            let fd = libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC);
            assert!(fd >= 0);
            <File as std::os::fd::FromRawFd>::from_raw_fd(fd)
        }
    }
}
