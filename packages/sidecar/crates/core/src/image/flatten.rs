//! Fewer runs for the same bytes: what many small saves have scattered over many files is copied into one.
//!
//! A run costs every new memory a mapping, and every save of a long-lived VM adds some. The large runs stay where they are, for copying them
//! would cost more than they do. The new list takes the old one's place; memories that were mapped from the old one stay as they are and
//! keep its files alive. The small ones are copied, so a save does it only when the list has become long (`Policy::scattered`). Next: `mod.rs`.

use super::{Extent, Image, Piece, extra_mappings, join_for_copying, overlay};
use coldframe_error::Error;
use coldframe_sys::{self as sys, PAGE, Run};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Runs of this length and more are left where they are.
const LARGE: usize = 4 << 20;
/// Small runs with at most this much between them become one.
const GAP: usize = 64 * PAGE;
/// Small runs that are left at most: more when joining them would copy much that lies between.
const MOST: &[usize] = &[24, 96, 384];
/// That much may lie between in any case.
const SLACK: usize = 16 << 20;

impl Image {
    /// See the module.
    pub(crate) fn flatten(&self) -> Result<(), Error> {
        let old = self.extents();
        let small: Vec<Run> =
            old.iter().filter(|extent| extent.len < LARGE).map(|extent| Run { offset: extent.at, len: extent.len }).collect();
        // A joined run may reach over a large one that lies between: those are cut out again by laying them on top.
        let large: Vec<Extent> = old.iter().filter(|extent| extent.len >= LARGE).cloned().collect();
        let runs = between(&join_for_copying(&small, GAP, MOST, SLACK), &large);
        let flat = overlay(&large, &self.copy_runs(&old, &runs)?);
        if extra_mappings(&flat) < extra_mappings(&old) {
            *self.extents.write() = flat.into();
        }
        Ok(())
    }

    /// Copies `runs` of the memory that is made of `extents` into a file in memory.
    fn copy_runs(&self, extents: &Arc<[Extent]>, runs: &[Run]) -> Result<Vec<Extent>, Error> {
        let charge = self.budget().charge(0, 1)?;
        let file = sys::memory_file().and_then(|file| self.copy(extents, runs, &file).map(|len| (file, len)));
        let (file, len) = file.map_err(|error| Error::Snapshot { reason: format!("it could not be put together: {error}") })?;
        let piece = Piece::in_memory(file, len, self.budget(), charge);
        let mut copied = Vec::with_capacity(runs.len());
        let mut offset = 0;
        for run in runs {
            copied.push(Extent { at: run.offset, len: run.len, piece: piece.clone(), offset });
            offset += run.len as u64;
        }
        Ok(copied)
    }

    fn copy(&self, extents: &Arc<[Extent]>, runs: &[Run], file: &std::fs::File) -> io::Result<u64> {
        let mut end = 0;
        for run in runs {
            file.set_len(end + run.len as u64)?;
            super::gather::copy_run(extents, *run, file, end)?;
            end += run.len as u64;
        }
        // Pages of zeros between the runs that were joined exist from now on, so that no reader makes them.
        fill_holes(file, end)?;
        sys::seal(file)?;
        Ok(end)
    }
}

/// The parts of `runs` that lie in none of `extents`.
pub(super) fn between(runs: &[Run], extents: &[Extent]) -> Vec<Run> {
    let mut parts = Vec::new();
    for run in runs {
        let (mut at, end) = (run.offset, run.offset + run.len);
        for extent in extents.iter().filter(|extent| extent.at < end && run.offset < extent.end()) {
            if at < extent.at {
                parts.push(Run { offset: at, len: extent.at - at });
            }
            at = at.max(extent.end());
        }
        if at < end {
            parts.push(Run { offset: at, len: end - at });
        }
    }
    parts
}

fn fill_holes(file: &std::fs::File, len: u64) -> io::Result<()> {
    let mut at = 0;
    let zeros = [0; PAGE];
    let end = Run { offset: len as usize, len: 0 };
    for part in sys::touched_parts(file, len as usize)?.iter().chain([&end]) {
        while at < part.offset {
            file.write_all_at(&zeros, at as u64)?;
            at += PAGE;
        }
        at = part.offset + part.len;
    }
    Ok(())
}
