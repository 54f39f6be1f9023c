//! Reads the system kernel's page map, to find the pages of a private mapping that are this
//! process's own copies.
//!
//! The code uses `PAGEMAP_SCAN` (Linux 6.7 and later). On older kernels, the code reads the entries
//! of the page map file. The two ways return equal results. Next: `threads.rs`.

use crate::{PAGE, Run};
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The kernel's page map of this process. The file is opened once, because an undumpable process
/// cannot open files of its own `/proc`.
#[derive(Debug)]
pub struct PageMap {
    file: File,
    scan: AtomicBool,
}

const PAGE_IS_FILE: u64 = 1 << 2;
const PAGE_IS_PRESENT: u64 = 1 << 3;
const PAGE_IS_SWAPPED: u64 = 1 << 4;
const PAGE_IS_PFNZERO: u64 = 1 << 5;
const PAGEMAP_SCAN: Opcode = opcode::read_write::<ScanArgument>(b'f', 16);

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

/// The call `PAGEMAP_SCAN`. The result of the call is the number of found regions.
struct Scan<'a>(&'a mut ScanArgument);

// SAFETY: `ScanArgument` has the layout that the kernel expects for this code. The kernel writes to
// the argument, and to the vector that the argument points to.
unsafe impl Ioctl for Scan<'_> {
    type Output = usize;

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        PAGEMAP_SCAN
    }

    fn as_ptr(&mut self) -> *mut c_void {
        (&raw mut *self.0).cast()
    }

    unsafe fn output_from_ptr(found: IoctlOutput, _argument: *mut c_void) -> rustix::io::Result<usize> {
        usize::try_from(found).map_err(|_| rustix::io::Errno::INVAL)
    }
}

impl PageMap {
    /// Returns the page map of this process.
    pub fn get() -> io::Result<&'static Self> {
        static MAP: OnceLock<PageMap> = OnceLock::new();
        if let Some(map) = MAP.get() {
            return Ok(map);
        }
        let file = File::open("/proc/self/pagemap")?;
        Ok(MAP.get_or_init(|| PageMap { file, scan: AtomicBool::new(true) }))
    }

    /// Returns the runs of pages in `base..base + len` that were written since they were mapped.
    /// Pages of the mapped file and the shared page of zeros are not included. The runs are sorted
    /// and do not touch.
    pub fn private_runs(&self, base: usize, len: usize) -> io::Result<Vec<Run>> {
        if self.scan.load(Ordering::Relaxed) {
            match self.scan_ioctl(base, len) {
                Err(rustix::io::Errno::NOTTY | rustix::io::Errno::INVAL) => self.scan.store(false, Ordering::Relaxed),
                result => return Ok(result?),
            }
        }
        self.read_entries(base, len)
    }

    fn scan_ioctl(&self, base: usize, len: usize) -> rustix::io::Result<Vec<Run>> {
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
            // SAFETY: the argument points to `regions`, which outlives the call.
            let found = unsafe { ioctl(&self.file, Scan(&mut argument)) }?;
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
    use crate::{map_private, memory_file, release, reserve};
    use std::io::Write;
    use std::os::fd::AsFd;

    #[test]
    fn both_ways_of_reading_the_page_map_find_equal_pages() {
        let mut file = memory_file().expect("memfd");
        file.write_all(&vec![7_u8; 64 * PAGE]).expect("write");
        let base = reserve(64 * PAGE).expect("reserve");
        // SAFETY: the test owns the reservation and holds no reference into it.
        unsafe {
            map_private(base, file.as_fd(), 0, 64 * PAGE).expect("map");
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
        // SAFETY: the reservation is no longer used.
        unsafe { release(base, 64 * PAGE) };
    }
}
