//! Images: the content that slots are mapped from.
//!
//! An image is the installation's image, or a saved memory. An image has a list of runs, whose
//! bytes are in files, and the slots that carry the image. All memory outside the runs is zero. The
//! slots are part of the image, so that no other image can use them. An image never changes. A
//! saved image keeps the files that it consists of, not the images that it was made from.
//!
//! `layout.rs` and `gather.rs` make images cheap to map, and `hot.rs` makes restored VMs cheap to
//! start. `compaction.rs` finds files that a save should no longer share, and `flatten.rs` reduces
//! runs. Next: `../pool.rs`; `../save.rs`, which makes saved images.

mod compaction;
mod extents;
mod flatten;
mod format;
mod gather;
mod hot;
mod keeper;
mod layout;
mod piece;

pub use compaction::mostly_overwritten;
pub use extents::{Extent, bytes, join, join_for_copying, overlay, union, whole_pages};
pub use format::{FORMAT_VERSION, HEADER_LEN, Header};
pub use hot::{Copies, Hot, TURNS};
pub use keeper::Keeper;
pub use layout::Layout;
pub use piece::Piece;

use crate::{Budget, Pool};
use coldframe_error::Error;
use coldframe_panics::process::RwLock;
use coldframe_sys::{self as sys, PAGE, Run};
use gather::Gathering;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The initial content of a linear memory.
#[derive(Debug)]
pub struct Image {
    header: Arc<Header>,
    /// The length of the memory in bytes: at least the header's length.
    len: usize,
    /// The runs of the memory. Flattening replaces this list by a shorter list for equal bytes
    /// (`flatten.rs`).
    extents: RwLock<Arc<[Extent]>>,
    /// The single run of the installation's image, which this image is or was made from.
    pub origin: Extent,
    /// The layout of new memories, unless the image is gathered.
    layout: OnceLock<Layout>,
    gathering: Gathering,
    hot: Arc<Hot>,
    id: Arc<str>,
    pool: Pool,
}

impl Image {
    /// Opens the image file `path` and checks its header. `warm_slots` is the number of clean slots
    /// that the pool keeps.
    pub fn open(path: &Path, budget: Arc<Budget>, warm_slots: usize) -> Result<Arc<Self>, Error> {
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

    /// Makes the image of a saved memory of `len` bytes that consists of `extents`. `self` is the
    /// image that the guest's slot carries.
    pub fn saved(&self, extents: Vec<Extent>, len: usize, warm_slots: usize, hot: Arc<Hot>) -> Arc<Self> {
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

    /// Returns the header of the installation's image.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the content hash of the installation's image that this image is or was made from, in
    /// hex.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the length of the memory in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a memory is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the pool of clean slots.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Returns the budget of the process.
    pub fn budget(&self) -> &Arc<Budget> {
        self.pool.budget()
    }

    /// Returns the runs of the memory.
    pub fn extents(&self) -> Arc<[Extent]> {
        self.extents.read().clone()
    }

    /// Maps the memory at `base`: fresh zeros, overlaid with `extents`, copy-on-write.
    ///
    /// # Safety
    /// `base..base + self.len()` is inside a reservation that the caller owns, and no reference
    /// into the range is alive.
    pub unsafe fn map_at(&self, base: usize, extents: &[Extent]) -> std::io::Result<()> {
        // SAFETY: the caller's promise covers the calls. An extent is inside the image (see `saved`
        // and `open`).
        unsafe {
            sys::allow(base, self.len())?;
            for extent in extents {
                sys::map_private(base + extent.at, extent.piece.descriptor(), extent.offset, extent.len)?;
            }
        }
        Ok(())
    }

    /// Writes the image's bytes over `runs` of the memory at `base`. Returns false if a file cannot
    /// be read. The bytes are then unknown.
    ///
    /// # Safety
    /// [`Self::map_at`] made the memory at `base`, the caller owns the memory, and no reference
    /// into the memory is alive.
    pub unsafe fn restore(&self, base: usize, runs: &[Run]) -> bool {
        let extents = self.extents();
        runs.iter().all(|run| {
            self.look(&extents, *run, |at, part| {
                // SAFETY: the part is inside the memory (checked by `look`) that the caller owns. A
                // piece's view is another mapping.
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

    /// Returns whether the memory at `base` has the image's bytes in `run`. Returns false if a file
    /// cannot be read.
    ///
    /// # Safety
    /// The conditions of [`Self::restore`] apply, and no code writes to the memory during the call.
    pub unsafe fn is_in(&self, base: usize, run: Run) -> bool {
        self.look(&self.extents(), run, |at, part| {
            let len = match part {
                Part::Bytes(bytes) => bytes.len(),
                Part::Zeros(len) => len,
            };
            // SAFETY: `look` passes only parts inside the memory, which the caller owns.
            let is = unsafe { std::slice::from_raw_parts((base + at) as *const u8, len) };
            match part {
                Part::Bytes(bytes) => is == bytes,
                Part::Zeros(_) => is.iter().all(|byte| *byte == 0),
            }
        })
    }

    /// Calls `wanted` with each part of the image's bytes in `run` and the part's offset. Stops
    /// when `wanted` returns false or a part cannot be read. Returns whether `wanted` returned true
    /// for all parts.
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

    /// Returns the runs of this saved memory that are not in `image`, from which the memory was
    /// made.
    pub fn own_extents(&self, image: &Self) -> Vec<Extent> {
        let base = image.extents();
        let is_the_images = |extent: &Extent| base.iter().any(|other| other.holds(extent));
        self.extents().iter().filter(|extent| !is_the_images(extent)).cloned().collect()
    }

    /// Returns the number of bytes of this saved memory that are not in `image`, from which the
    /// memory was made. Other saved memories may share some of these bytes. All written bytes of a
    /// file in memory are counted, because no byte of the file is freed before the file's last user
    /// ends.
    pub fn own_bytes(&self, image: &Self) -> u64 {
        let extents = self.own_extents(image);
        compaction::by_piece(&extents).values().map(|of| of.piece.held().max(of.bytes)).sum()
    }
}

/// A part of an image.
#[derive(Clone, Copy)]
enum Part<'a> {
    Bytes(&'a [u8]),
    Zeros(usize),
}

/// Returns the number of mappings of a slot made of `extents` beyond the mappings of every VM.
pub fn extra_mappings(extents: &[Extent]) -> u64 {
    // The first run is the image itself, which is already counted. The mappings of zeros before the
    // first run and behind the last run are also counted already.
    let gaps = extents.windows(2).filter(|pair| pair[0].end() < pair[1].at).count();
    (extents.len() + gaps).saturating_sub(1) as u64
}

impl Image {
    /// Reads the whole initial memory of a VM, for tests. Returns `None` if a file cannot be
    /// mapped.
    pub fn memory(&self) -> Option<Vec<u8>> {
        let mut memory = vec![0; self.len()];
        for extent in self.extents().iter() {
            let bytes = extent.piece.bytes(extent.offset, extent.len)?;
            memory[extent.at..extent.end()].copy_from_slice(bytes);
        }
        Some(memory)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        self.pool.clear(self.len);
    }
}

const _: () = assert!(HEADER_LEN == PAGE, "the data of an image file starts at a page");
