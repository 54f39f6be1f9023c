//! Gathering: makes one run of an image that is cloned often.
//!
//! A saved memory is the image, overlaid with a dozen small runs. Every memory made of this image
//! would have its own copies of these runs (`layout.rs`), or two mappings for each run. Therefore,
//! after a number of mappings, the part of a saved memory in the image's range is written to one
//! file. New memories are mapped from that file. The file provides a second list for equal bytes,
//! used only for mapping. Sharing between saves and the reported sizes use the first list.
//!
//! Copying the image takes milliseconds, so `keeper.rs` keeps a copy ready, and gathering writes a
//! few pages over the copy. Without a copy, or with much to write, the keeper gathers in the
//! background. Next: `keeper.rs`.

use super::{Extent, Image, Layout, Piece, bytes, extra_mappings, join, join_for_copying, overlay};
use coldframe_error::Error;
use coldframe_panics::process::RwLock;
use coldframe_sys::{self as sys, PAGE, Run};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// The largest number of runs of a list that is not gathered.
const MAX_UNGATHERED: usize = 4;
/// The number of mappings after which an image is gathered. Copying the image takes 5 ms of CPU
/// time, as long as mapping hundreds of memories.
const GATHER_AFTER: u32 = 16;
/// The largest size that is written over a ready copy at once, which takes no longer than a few
/// scattered mappings.
const AT_ONCE: usize = 256 * PAGE;
/// Runs of at least this length behind the image's own length stay in their files.
const LARGE: usize = 8 << 20;
/// Small runs with at most this gap are joined.
const GAP: usize = 64 * PAGE;
/// The largest number of small runs behind the image's own length. The larger numbers apply if
/// joining runs would copy large gaps.
const MAX_RUNS: &[usize] = &[8, 24, 96];
const SLACK: usize = 4 << 20;

/// The state of gathering of one image.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    list: RwLock<Option<Arc<[Extent]>>>,
    mapped: AtomicU32,
    /// Whether gathering is requested or running.
    requested: AtomicBool,
    last_used_ns: AtomicU64,
}

/// The copies of one gathering: runs in the image's own range, written over a copy of the image,
/// and runs behind that range.
struct Plan {
    own: Arc<[Extent]>,
    inside: Vec<Run>,
    behind: Vec<Run>,
    /// The mapped parts of the file: the image's own range as one run, the runs behind it, and
    /// zeros between them.
    mapped: Vec<Run>,
    /// The runs that stay in their files.
    large: Vec<Extent>,
}

impl Image {
    /// Returns the layout of the next memory. Gathers an image that is mapped often, now or in the
    /// background.
    pub fn to_map(self: &Arc<Self>) -> Layout {
        let own = self.extents();
        if own.len() <= MAX_UNGATHERED {
            return Layout::of(own);
        }
        let scattered = || self.layout.get_or_init(|| self.lay_out(&own)).clone();
        let gathering = &self.gathering;
        gathering.last_used_ns.store(sys::monotonic_ns(), Ordering::Relaxed);
        if let Some(gathered) = &*gathering.list.read() {
            return Layout::of(gathered.clone());
        }
        let mapped = gathering.mapped.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        // A refused request is repeated later, at growing intervals.
        if mapped < GATHER_AFTER || !mapped.is_power_of_two() || gathering.requested.swap(true, Ordering::Relaxed) {
            return scattered();
        }
        let keeper = self.budget().keeper();
        let little = self.plan().copied() <= AT_ONCE;
        match little.then(|| keeper.take_copy(self)).flatten() {
            Some(copy) => keeper.gather_into(self, copy),
            None => keeper.gather_later(self),
        }
        let gathered = gathering.list.read().clone();
        gathered.map_or_else(scattered, Layout::of)
    }

    /// Announces that this number of memories will be mapped. If the number is at least
    /// `GATHER_AFTER`, the image is gathered when the next memory is mapped.
    pub fn expect(&self, memories: u32) {
        if memories >= GATHER_AFTER {
            self.gathering.mapped.fetch_max(GATHER_AFTER - 1, Ordering::Relaxed);
        }
    }

    /// Copies the installation's image to a new file in memory, at the image's offset in linear
    /// memory.
    pub fn copy_of_origin(origin: &Extent) -> io::Result<File> {
        let file = sys::memory_file()?;
        copy_run(std::slice::from_ref(origin), Run { offset: origin.at, len: origin.len }, &file, origin.at as u64)?;
        Ok(file)
    }

    /// Gathers the image into `copy`, which [`Image::copy_of_origin`] made. Returns whether new
    /// memories need fewer mappings now.
    pub fn gather(&self, copy: File) -> Result<bool, Error> {
        let plan = self.plan();
        let charge = self.budget().charge(0, 1)?;
        let failed = |error: io::Error| Error::Snapshot { reason: format!("it could not be gathered: {error}") };
        let len = plan.write(&copy).map_err(failed)?;
        let piece = Piece::in_memory(copy, len, self.budget(), charge);
        // The file has the memory's offsets, so that touching runs become one run.
        let extent = |run: &Run| Extent { at: run.offset, len: run.len, piece: piece.clone(), offset: run.offset as u64 };
        let gathered: Vec<Extent> = plan.mapped.iter().map(extent).collect();
        let gathered = overlay(&gathered, &plan.large);
        let fewer = extra_mappings(&gathered) < extra_mappings(&plan.own);
        if fewer {
            *self.gathering.list.write() = Some(gathered.into());
        }
        Ok(fewer)
    }

    fn plan(&self) -> Plan {
        let own = self.extents();
        let end = self.header().memory_len as usize;
        let run = |extent: &Extent| Run { offset: extent.at, len: extent.len };
        let inside: Vec<&Extent> = own.iter().filter(|extent| extent.end() <= end).collect();
        let first = inside.first().map_or(self.origin.at, |first| first.at.min(self.origin.at));
        let last = inside.last().map_or(self.origin.end(), |last| last.end().max(self.origin.end()));
        let inside = inside.into_iter().filter(|extent| !self.origin.holds(extent)).map(run).collect();
        let (large, small): (Vec<&Extent>, Vec<&Extent>) =
            own.iter().filter(|extent| extent.end() > end).partition(|extent| extent.at < end || extent.len >= LARGE);
        let large: Vec<Extent> = large.into_iter().cloned().collect();
        let small: Vec<Run> = small.into_iter().map(run).collect();
        let behind = super::flatten::between(&join_for_copying(&small, GAP, MAX_RUNS, SLACK), &large);
        let whole = Run { offset: first, len: last - first };
        let mapped = join(&[std::slice::from_ref(&whole), &behind].concat(), GAP, usize::MAX);
        Plan { inside, behind, mapped, large, own }
    }

    /// Maps new memories from the first list again. The gathered file is freed with the last memory
    /// that is mapped from the file.
    pub fn ungather(&self) {
        *self.gathering.list.write() = None;
        self.gathering.mapped.store(0, Ordering::Relaxed);
        self.gathering.requested.store(false, Ordering::Relaxed);
    }

    /// Records that gathering has failed and may be requested again.
    pub(super) fn not_gathered(&self) {
        self.gathering.requested.store(false, Ordering::Relaxed);
    }

    /// Returns the time of the last mapping, in nanoseconds of the monotonic clock.
    pub(super) fn last_used_ns(&self) -> u64 {
        self.gathering.last_used_ns.load(Ordering::Relaxed)
    }
}

impl Plan {
    fn copied(&self) -> usize {
        bytes(&self.inside) + bytes(&self.behind)
    }

    /// Writes the changed runs over the copy and the runs behind the image's length, and seals the
    /// file.
    fn write(&self, copy: &File) -> io::Result<u64> {
        for run in self.inside.iter().chain(&self.behind) {
            copy_run(&self.own, *run, copy, run.offset as u64)?;
        }
        let end = self.mapped.last().map_or(0, |run| (run.offset + run.len) as u64);
        copy.set_len(end)?;
        sys::seal(copy)?;
        Ok(end)
    }
}

/// Copies a run of the memory made of `extents` into a file. Zeros outside the extents are not
/// written, because unwritten parts of the file are zero.
pub(super) fn copy_run(extents: &[Extent], run: Run, file: &File, offset: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let end = run.offset + run.len;
    let first = extents.partition_point(|extent| extent.end() <= run.offset);
    for extent in extents[first..].iter().take_while(|extent| extent.at < end) {
        let (from, to) = (extent.at.max(run.offset), extent.end().min(end));
        let inside = extent.offset + (from - extent.at) as u64;
        let bytes = extent.piece.bytes(inside, to - from).ok_or_else(|| io::Error::other("no more mappings"))?;
        file.write_all_at(bytes, offset + (from - run.offset) as u64)?;
    }
    Ok(())
}
