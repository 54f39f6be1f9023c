//! A loaded image: the open file that VMs map, a read-only view of it to restore slots from, and the slots that carry it.
//!
//! The slots live inside the image: a slot that was mapped from one image cannot even be offered to another. Next:
//! `memory/pool.rs`.

mod format;

pub use format::{ABI_VERSION, FORMAT_VERSION, HEADER_LEN, Header};

use crate::error::Error;
use crate::memory::{Pool, Reservations};
use crate::sys::{self, Run};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;

/// One image, mapped for reading.
pub(crate) struct Image {
    file: File,
    header: Header,
    /// Base of the read-only view of the data.
    view: usize,
    id: String,
    pool: Pool,
}

impl Image {
    /// Opens and checks `path`. `warm_slots` is how many clean slots its pool keeps.
    pub(crate) fn open(path: &Path, reservations: Arc<Reservations>, warm_slots: usize) -> Result<Arc<Self>, Error> {
        let fail = |reason: String| Error::Image { path: path.display().to_string(), reason };
        let mut file = File::open(path).map_err(|error| fail(format!("{error}; build it first")))?;
        let len = file.metadata().map_err(|error| fail(error.to_string()))?.len();
        let mut page = Vec::new();
        Read::by_ref(&mut file).take(HEADER_LEN as u64).read_to_end(&mut page).map_err(|error| fail(error.to_string()))?;
        let header = Header::decode(&page, len).map_err(fail)?;
        let view = sys::map_shared_readonly(file.as_raw_fd(), HEADER_LEN as u64, header.data_len as usize)
            .map_err(|error| fail(error.to_string()))?;
        let id = header.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Arc::new(Self { file, header, view, id, pool: Pool::new(reservations, warm_slots) }))
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// The image's content hash, in hex.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Length of the memory in bytes.
    pub(crate) fn len(&self) -> usize {
        self.header.memory_len as usize
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Where the file's bytes lie in the memory.
    fn data(&self) -> std::ops::Range<usize> {
        let start = self.header.data_start as usize;
        start..start + self.header.data_len as usize
    }

    /// Makes the memory at `base`: fresh zeros, and the data mapped over them copy-on-write.
    ///
    /// # Safety
    /// `base..base + self.len()` lies inside a reservation that the caller owns, with no reference into it.
    pub(crate) unsafe fn map_at(&self, base: usize) -> std::io::Result<()> {
        let data = self.data();
        // SAFETY: passed on to the caller.
        unsafe {
            sys::allow(base, self.len())?;
            sys::map_private(base + data.start, self.file.as_raw_fd(), HEADER_LEN as u64, data.len())
        }
    }

    /// Writes the image's bytes back over `run` of the memory at `base`.
    ///
    /// # Safety
    /// The memory at `base` was made by [`Self::map_at`], the caller owns it and no reference into it is alive.
    pub(crate) unsafe fn restore(&self, base: usize, run: &Run) {
        let data = self.data();
        assert!(run.offset.checked_add(run.len).is_some_and(|end| end <= self.len()), "inside the image");
        let end = run.offset + run.len;
        let (from, to) = (run.offset.max(data.start).min(end), end.min(data.end).max(run.offset));
        // SAFETY: the three parts make up the run, which lies inside the memory (just checked) that the caller owns. The middle part lies inside
        // the data, whose view is mapped for as long as `self` lives, is never written, and is another mapping.
        unsafe {
            if from >= to {
                std::ptr::write_bytes((base + run.offset) as *mut u8, 0, run.len);
                return;
            }
            std::ptr::write_bytes((base + run.offset) as *mut u8, 0, from - run.offset);
            std::ptr::copy_nonoverlapping((self.view + from - data.start) as *const u8, (base + from) as *mut u8, to - from);
            std::ptr::write_bytes((base + to) as *mut u8, 0, end - to);
        }
    }
}

#[cfg(test)]
impl Image {
    /// The memory as every VM begins with it.
    pub(crate) fn memory(&self) -> Vec<u8> {
        let mut memory = vec![0; self.len()];
        // SAFETY: the view is mapped for as long as `self` lives and is never written.
        let data = unsafe { std::slice::from_raw_parts(self.view as *const u8, self.data().len()) };
        memory[self.data()].copy_from_slice(data);
        memory
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        self.pool.clear();
        // SAFETY: the view was mapped in `open`; no slice of it outlives `self`.
        unsafe { sys::release(self.view, self.data().len()) };
    }
}
