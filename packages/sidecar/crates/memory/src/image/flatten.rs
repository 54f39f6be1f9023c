//! Flattening: reduces the number of runs of an image without changing its bytes. Small runs that
//! many saves have spread over many files are copied into one file.
//!
//! A run costs every new memory a mapping, and every save of a long-lived VM adds runs. Large runs
//! stay in their files, because copying them would cost more than their mappings. The new list
//! replaces the old list. Memories mapped from the old list do not change and keep its files.
//! Copying takes time, so a save flattens only a long list (`Policy::scattered`). Next: `mod.rs`.

use super::{Extent, Image, Piece, extra_mappings, join_for_copying, overlay};
use coldframe_error::Error;
use coldframe_sys::{self as sys, PAGE, Run};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Runs of at least this length stay in their files.
const LARGE: usize = 4 << 20;
/// Small runs are joined if the gap between them is at most this long.
const GAP: usize = 64 * PAGE;
/// The largest number of remaining small runs. The larger numbers apply if joining runs would copy
/// large gaps.
const MAX_RUNS: &[usize] = &[24, 96, 384];
/// The number of bytes of gaps that may always be copied.
const SLACK: usize = 16 << 20;

impl Image {
    /// Flattens the image's list of runs, if the new list needs fewer mappings.
    pub fn flatten(&self) -> Result<(), Error> {
        let old = self.extents();
        let small: Vec<Run> =
            old.iter().filter(|extent| extent.len < LARGE).map(|extent| Run { offset: extent.at, len: extent.len }).collect();
        // A joined run may cover a large run between its parts. The large runs are overlaid
        // afterwards.
        let large: Vec<Extent> = old.iter().filter(|extent| extent.len >= LARGE).cloned().collect();
        let runs = between(&join_for_copying(&small, GAP, MAX_RUNS, SLACK), &large);
        let flat = overlay(&large, &self.copy_runs(&old, &runs)?);
        if extra_mappings(&flat) < extra_mappings(&old) {
            *self.extents.write() = flat.into();
        }
        Ok(())
    }

    /// Copies `runs` of the memory made of `extents` into a file in memory.
    fn copy_runs(&self, extents: &Arc<[Extent]>, runs: &[Run]) -> Result<Vec<Extent>, Error> {
        let charge = self.budget().charge(0, 1)?;
        let file = sys::memory_file().and_then(|file| self.copy(extents, runs, &file).map(|len| (file, len)));
        let (file, len) = file.map_err(|error| Error::Snapshot { reason: format!("it could not be flattened: {error}") })?;
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
        // Writes the zeros between joined runs now, so that no reader allocates them.
        fill_holes(file, end)?;
        sys::seal(file)?;
        Ok(end)
    }
}

/// Returns the parts of `runs` outside `extents`.
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
