//! A loaded image: the open file that VMs map, a read-only view of it to restore slots from, and the slots that carry it.
//!
//! The slots live inside the image: a slot that was mapped from one image cannot even be offered to another. Next:
//! `memory/pool.rs`.

mod format;

pub use format::{ABI_VERSION, FORMAT_VERSION, HEADER_LEN, Header};

use crate::error::Error;
use crate::memory::{Pool, Reservations};
use crate::sys;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;

/// One image, mapped for reading.
pub(crate) struct Image {
    file: File,
    header: Header,
    /// Base of the read-only view of the memory.
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
        let view = sys::map_shared_readonly(file.as_raw_fd(), HEADER_LEN as u64, header.memory_len as usize)
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

    /// Maps the memory copy-on-write at `base`.
    ///
    /// # Safety
    /// `base..base + self.len()` lies inside a reservation that the caller owns, with no reference into it.
    pub(crate) unsafe fn map_at(&self, base: usize) -> std::io::Result<()> {
        // SAFETY: passed on to the caller.
        unsafe { sys::map_private(base, self.file.as_raw_fd(), HEADER_LEN as u64, self.len()) }
    }

    /// The pristine bytes at `offset`.
    pub(crate) fn bytes(&self, offset: usize, len: usize) -> &[u8] {
        assert!(offset.checked_add(len).is_some_and(|end| end <= self.len()), "inside the image");
        // SAFETY: the view is mapped for as long as `self` lives, is never written, and the range was just checked.
        unsafe { std::slice::from_raw_parts((self.view + offset) as *const u8, len) }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        self.pool.clear();
        // SAFETY: the view was mapped in `open`; no slice of it outlives `self`.
        unsafe { sys::release(self.view, self.len()) };
    }
}
