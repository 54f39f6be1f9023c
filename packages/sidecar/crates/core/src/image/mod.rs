//! What slots are mapped from: the image of the installation, or a memory that was saved. Both are the same thing: a list of runs with their
//! bytes in files, zeros around them, and the slots that carry it.
//!
//! The slots live inside the image: a slot that was mapped from one image cannot even be offered to another. An image never changes; a
//! saved one keeps alive the files of those it was made from, not the images themselves. Next: `memory/pool.rs`; `memory/save.rs` makes the saved ones,
//! `layout.rs` and `gather.rs` make them cheap to map, `hot.rs` cheap to begin in; `leftovers.rs` says which files a save should be done with.

mod extents;
mod flatten;
mod format;
mod gather;
mod hot;
mod keeper;
mod layout;
mod leftovers;
mod piece;

pub(crate) use extents::{Extent, bytes, join, join_for_copying, overlay, union, whole_pages};
pub use format::{ABI_VERSION, FORMAT_VERSION, HEADER_LEN, Header};
pub(crate) use hot::{Copies, Hot, TURNS};
pub(crate) use keeper::Keeper;
pub(crate) use layout::Layout;
pub(crate) use leftovers::leftovers;
pub(crate) use piece::Piece;

use crate::memory::{Budget, Pool};
use coldframe_error::Error;
use coldframe_sys::{self as sys, PAGE, Run};
use gather::Gathering;
use parking_lot::RwLock;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// See the module.
#[derive(Debug)]
pub(crate) struct Image {
    header: Arc<Header>,
    /// Bytes of memory; at least the header's.
    len: usize,
    /// What the memory is made of. Another list for the same bytes may take its place (`flatten.rs`).
    extents: RwLock<Arc<[Extent]>>,
    /// The one run of the installation's image, which it is or began as.
    pub(crate) origin: Extent,
    /// How new memories of it are made unless it is gathered.
    layout: OnceLock<Layout>,
    gathering: Gathering,
    hot: Arc<Hot>,
    id: Arc<str>,
    pool: Pool,
}

impl Image {
    /// Opens and checks `path`. `warm_slots` is how many clean slots its pool keeps.
    pub(crate) fn open(path: &Path, budget: Arc<Budget>, warm_slots: usize) -> Result<Arc<Self>, Error> {
        let fail = |reason: String| Error::Image { path: path.display().to_string(), reason };
        let mut file = File::open(path).map_err(|error| fail(format!("{error}; build it first")))?;
        let len = file.metadata().map_err(|error| fail(error.to_string()))?.len();
        let mut page = Vec::new();
        Read::by_ref(&mut file).take(HEADER_LEN as u64).read_to_end(&mut page).map_err(|error| fail(error.to_string()))?;
        let header = Header::decode(&page, len).map_err(fail)?;
        let piece = Piece::new(file, len, &budget)?;
        let extent = Extent { at: header.data_start as usize, len: header.data_len as usize, piece, offset: HEADER_LEN as u64 };
        let id = header.hash.to_string();
        Ok(Arc::new(Self {
            len: header.memory_len as usize,
            header: Arc::new(header),
            extents: RwLock::new(Arc::new([extent.clone()])),
            origin: extent,
            layout: OnceLock::new(),
            gathering: Gathering::default(),
            hot: Arc::default(),
            id: id.into(),
            pool: Pool::new(budget, warm_slots, false),
        }))
    }

    /// A saved memory of `len` bytes that is made of `extents`: the state of a guest that began as `self`.
    pub(crate) fn saved(&self, extents: Vec<Extent>, len: usize, warm_slots: usize, hot: Arc<Hot>) -> Arc<Self> {
        Arc::new(Self {
            header: self.header.clone(),
            len,
            extents: RwLock::new(extents.into()),
            origin: self.origin.clone(),
            layout: OnceLock::new(),
            gathering: Gathering::default(),
            hot,
            id: self.id.clone(),
            pool: Pool::new(self.budget().clone(), warm_slots, true),
        })
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// The content hash of the installation's image that this is or began as, in hex.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Length of the memory in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn budget(&self) -> &Arc<Budget> {
        self.pool.budget()
    }

    pub(crate) fn extents(&self) -> Arc<[Extent]> {
        self.extents.read().clone()
    }

    /// Makes the memory at `base`: fresh zeros, and `extents` over them, copy-on-write.
    ///
    /// # Safety
    /// `base..base + self.len()` lies inside a reservation that the caller owns, with no reference into it.
    pub(crate) unsafe fn map_at(&self, base: usize, extents: &[Extent]) -> std::io::Result<()> {
        // SAFETY: passed on to the caller; an extent lies inside the image (see `saved` and `open`).
        unsafe {
            sys::allow(base, self.len())?;
            for extent in extents {
                sys::map_private(base + extent.at, extent.piece.descriptor(), extent.offset, extent.len)?;
            }
        }
        Ok(())
    }

    /// Writes the image's bytes back over `runs` of the memory at `base`. False when a file cannot be read: nothing is known of the bytes then.
    ///
    /// # Safety
    /// The memory at `base` was made by [`Self::map_at`], the caller owns it and no reference into it is alive.
    pub(crate) unsafe fn restore(&self, base: usize, runs: &[Run]) -> bool {
        let extents = self.extents();
        runs.iter().all(|run| {
            self.look(&extents, *run, |at, part| {
                // SAFETY: the part lies inside the memory (checked by `look`) that the caller owns; a piece's view is another mapping.
                unsafe {
                    match part {
                        Part::Bytes(bytes) => std::ptr::copy_nonoverlapping(bytes.as_ptr(), (base + at) as *mut u8, bytes.len()),
                        Part::Zeros(len) => std::ptr::write_bytes((base + at) as *mut u8, 0, len),
                    }
                }
                true
            })
        })
    }

    /// Whether the memory at `base` has the image's bytes in `run`. No, when a file cannot be read.
    ///
    /// # Safety
    /// As for [`Self::restore`], and nobody writes to the memory meanwhile.
    pub(crate) unsafe fn is_in(&self, base: usize, run: Run) -> bool {
        self.look(&self.extents(), run, |at, part| {
            let len = match part {
                Part::Bytes(bytes) => bytes.len(),
                Part::Zeros(len) => len,
            };
            // SAFETY: as above.
            let is = unsafe { std::slice::from_raw_parts((base + at) as *const u8, len) };
            match part {
                Part::Bytes(bytes) => is == bytes,
                Part::Zeros(_) => is.iter().all(|byte| *byte == 0),
            }
        })
    }

    /// Looks at what it has in `run`, part by part with its offset, until one is not what the caller wants, or cannot be read. Says whether all were.
    fn look<'a>(&self, extents: &'a [Extent], run: Run, mut wanted: impl FnMut(usize, Part<'a>) -> bool) -> bool {
        let end = run.offset + run.len;
        assert!(end <= self.len(), "inside the image");
        let first = extents.partition_point(|extent| extent.end() <= run.offset);
        let mut done = run.offset;
        for extent in extents[first..].iter().take_while(|extent| extent.at < end) {
            let (from, to) = (extent.at.max(done), extent.end().min(end));
            let Some(bytes) = extent.piece.bytes(extent.offset + (from - extent.at) as u64, to - from) else { return false };
            if (done < from && !wanted(done, Part::Zeros(from - done))) || !wanted(from, Part::Bytes(bytes)) {
                return false;
            }
            done = to;
        }
        done == end || wanted(done, Part::Zeros(end - done))
    }

    /// What of a saved memory is not as in the image that it began as.
    pub(crate) fn own_extents(&self, image: &Self) -> Vec<Extent> {
        let base = image.extents();
        let is_the_images = |extent: &Extent| base.iter().any(|other| other.holds(extent));
        self.extents().iter().filter(|extent| !is_the_images(extent)).cloned().collect()
    }

    /// Bytes that a saved memory holds beyond the image that it began as, some of them together with others. Of a file in memory that is all of it, however little of it
    /// this memory is made of: no byte of it goes before the last of those who share it.
    pub(crate) fn own_bytes(&self, image: &Self) -> u64 {
        let extents = self.own_extents(image);
        leftovers::by_piece(&extents).values().map(|of| of.piece.held().max(of.bytes)).sum()
    }
}

/// What an image has somewhere.
#[derive(Clone, Copy)]
enum Part<'a> {
    Bytes(&'a [u8]),
    Zeros(usize),
}

/// How many mappings a slot made of `extents` takes, beyond what every VM has.
pub(crate) fn extra_mappings(extents: &[Extent]) -> u64 {
    // The first run is the image itself and counted already, and so are zeros before it and behind the last one.
    let gaps = extents.windows(2).filter(|pair| pair[0].end() < pair[1].at).count();
    (extents.len() + gaps).saturating_sub(1) as u64
}

#[cfg(test)]
impl Image {
    /// The memory as every VM begins with it.
    pub(crate) fn memory(&self) -> Vec<u8> {
        let mut memory = vec![0; self.len()];
        for extent in self.extents().iter() {
            let bytes = extent.piece.bytes(extent.offset, extent.len).expect("a view");
            memory[extent.at..extent.end()].copy_from_slice(bytes);
        }
        memory
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        self.pool.clear(self.len);
    }
}

const _: () = assert!(HEADER_LEN == PAGE, "the data of an image file begins on a page");
