//! One run for what is cloned often.
//!
//! A saved memory is the image with a dozen small runs laid over it, and every memory made of it would have its own copies of them (`layout.rs`), or two mappings for
//! each. So when a saved memory has been mapped a number of times, all of it that lies in the image's range is put into one file, and from then
//! on new memories are mapped from that. It is a second list for the same bytes, for mapping only: what a save shares with the next one, what a file of it
//! holds and what it is said to hold is the first list's.
//!
//! Copying the image takes milliseconds, so that has been done before: `keeper.rs` has a copy ready, and what is left is to write a few pages over it. Where there
//! is none, or much to write, it is done in the background. Next: `keeper.rs`.

use super::{Extent, Image, Layout, Piece, bytes, extra_mappings, join, join_for_copying, overlay};
use coldframe_error::Error;
use coldframe_sys::{self as sys, PAGE, Run};
use parking_lot::RwLock;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// A list of so many runs is as good as one.
const FEW: usize = 4;
/// How often an image was mapped when it is worth gathering: the copy of the image that it takes is 5 ms of a processor, hundreds of memories' worth.
const OFTEN: u32 = 16;
/// Writing this much over a copy that is ready takes no longer than a few scattered mappings: it is done at once.
const AT_ONCE: usize = 256 * PAGE;
/// Behind the image's own length, runs of this length and more are left where they are.
const LARGE: usize = 8 << 20;
/// Small runs with at most this much between them become one.
const GAP: usize = 64 * PAGE;
/// Small runs behind the image's own length that are left at most, and how much may lie between in any case.
const MOST: &[usize] = &[8, 24, 96];
const SLACK: usize = 4 << 20;

/// What an image knows of it.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    list: RwLock<Option<Arc<[Extent]>>>,
    mapped: AtomicU32,
    /// Somebody is at it.
    asked: AtomicBool,
    last_used_ns: AtomicU64,
}

/// What is to be copied: runs of the image's own range, which go over a copy of it, and runs behind it.
struct Plan {
    own: Arc<[Extent]>,
    inside: Vec<Run>,
    behind: Vec<Run>,
    /// What of the file is mapped: the image's own range as one, what lies behind, and zeros between.
    mapped: Vec<Run>,
    /// What is left where it is.
    large: Vec<Extent>,
}

impl Image {
    /// How the next memory is made.
    pub(crate) fn to_map(self: &Arc<Self>) -> Layout {
        let own = self.extents();
        if own.len() <= FEW {
            return Layout::of(own);
        }
        let scattered = || self.layout.get_or_init(|| self.lay_out(&own)).clone();
        let gathering = &self.gathering;
        gathering.last_used_ns.store(sys::monotonic_ns(), Ordering::Relaxed);
        if let Some(gathered) = &*gathering.list.read() {
            return Layout::of(gathered.clone());
        }
        let mapped = gathering.mapped.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        // Should it be refused, it is asked for again later, ever more seldom.
        if mapped < OFTEN || !mapped.is_power_of_two() || gathering.asked.swap(true, Ordering::Relaxed) {
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

    /// So many memories are about to be made of it: when that is often, the first one is mapped as the others.
    pub(crate) fn expect(&self, memories: u32) {
        if memories >= OFTEN {
            self.gathering.mapped.fetch_max(OFTEN - 1, Ordering::Relaxed);
        }
    }

    /// What the memory of the installation's image is made of, as a file of its length that can be written to.
    pub(crate) fn copy_of_origin(origin: &Extent) -> io::Result<File> {
        let file = sys::memory_file()?;
        copy_run(std::slice::from_ref(origin), Run { offset: origin.at, len: origin.len }, &file, origin.at as u64)?;
        Ok(file)
    }

    /// See the module; `copy` is what [`Image::copy_of_origin`] makes. Whether new memories are made of fewer runs now.
    pub(crate) fn gather(&self, copy: File) -> Result<bool, Error> {
        let plan = self.plan();
        let charge = self.budget().charge(0, 1)?;
        let failed = |error: io::Error| Error::Snapshot { reason: format!("it could not be put together: {error}") };
        let len = plan.write(&copy).map_err(failed)?;
        let piece = Piece::in_memory(copy, len, self.budget(), charge);
        // What lies where in the memory lies there in the file as well, so that runs that touch are one.
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
        let behind = super::flatten::between(&join_for_copying(&small, GAP, MOST, SLACK), &large);
        let whole = Run { offset: first, len: last - first };
        let mapped = join(&[std::slice::from_ref(&whole), &behind].concat(), GAP, usize::MAX);
        Plan { inside, behind, mapped, large, own }
    }

    /// New memories are mapped from the first list again; the file goes when the last memory that was mapped from it does.
    pub(crate) fn scatter(&self) {
        *self.gathering.list.write() = None;
        self.gathering.mapped.store(0, Ordering::Relaxed);
        self.gathering.asked.store(false, Ordering::Relaxed);
    }

    /// It was not gathered: perhaps another time.
    pub(super) fn not_gathered(&self) {
        self.gathering.asked.store(false, Ordering::Relaxed);
    }

    /// When a memory was last made of it, in nanoseconds of the monotonic clock.
    pub(super) fn last_used_ns(&self) -> u64 {
        self.gathering.last_used_ns.load(Ordering::Relaxed)
    }
}

impl Plan {
    fn copied(&self) -> usize {
        bytes(&self.inside) + bytes(&self.behind)
    }

    /// Writes all that is not the image's own over the copy, then what lies behind. Nobody can change the file afterwards.
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

/// Copies a run of the memory that is made of `extents` into a file. What lies in no extent is zero, and so is a file that was not written.
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
