//! Saves a memory while its guest rests: the written pages become an image.
//!
//! 1. Find the written pages: the page map names the private pages. The growth's file is completely
//!    new and needs no search.
//! 2. Copy the written pages to a new file in memory with [`sys::write_out`], which does not fault.
//!    The copy includes clean pages that join two runs, and the used runs of mostly overwritten
//!    files (`image/compaction.rs`).
//! 3. Freeze the growth's file. The guest continues with a copy-on-write view of the file
//!    (`growth.rs`).
//! 4. Overlay the memory's image with the copy and the frozen file. The result is the saved image,
//!    which is mapped, restored and cloned like every image (`image/mod.rs`).
//! 5. If the copy has at least [`super::Policy::rebase`] bytes, map the copy in place of the
//!    original pages. The next save then finds only later writes.
//!
//! A successful save does not change the guest's bytes. If a step before step 3 fails, bytes and
//! mapping are unchanged. If the system refuses a mapping in step 3 or 5, the memory is lost and
//! becomes inaccessible.

use super::occupied_slot::{Occupant, OccupiedSlot};
use super::{Gate, RESERVATION};
use crate::image::{Extent, Image, Piece, bytes, extra_mappings, join_for_copying, mostly_overwritten, overlay, union};
use coldframe_error::Error;
use coldframe_sys::{self as sys, PAGE, PageMap, Run};
use std::io;
use std::sync::Arc;

/// The largest gap between written runs that are saved as one run.
const GAP: usize = 8 * PAGE;
/// The largest number of runs that a save adds. The larger numbers apply if joining runs would copy
/// large gaps.
const MAX_RUNS: &[usize] = &[32, 128, 512];
/// The number of bytes of gaps that may always be copied.
const SLACK: usize = 2 << 20;
/// The number of clean slots that a saved image keeps.
const WARM_SLOTS: usize = 4;
/// The largest number of bytes that are mapped while the gate is entered. A kill waits until this
/// part is mapped.
const STEP: usize = 64 << 20;

/// A saved memory, and the cost of the save.
#[derive(Debug)]
pub struct Save {
    /// The saved memory.
    pub image: Arc<Image>,
    /// The number of copied bytes: the written pages, the clean pages between them, and the runs of
    /// mostly overwritten files.
    pub copied: usize,
    /// The number of bytes of the growth's file, which were frozen and not copied.
    pub frozen: usize,
}

impl OccupiedSlot {
    /// Saves the memory. The caller ensures that no guest runs in the memory. Fails with
    /// `Error::NotQuiet` if the memory is lost, inaccessible or vacant.
    pub fn snapshot(&self) -> Result<Save, Error> {
        let mut state = self.state.lock();
        let occupant = state.as_mut().filter(|occupant| !occupant.lost).ok_or(Error::NotQuiet)?;
        let base = occupant.slot.base();
        let runs = runs_to_copy(base, occupant)?;
        check_memory(bytes(&runs), occupant.image.budget())?;
        let runs = with_overwritten_files(runs, occupant);
        let copied = copy(&self.gate, base, &runs, occupant.image.budget()).map_err(|error| failed(&self.gate, error))?;
        let before: usize = occupant.growth.frozen().iter().map(|extent| extent.len).sum();
        freeze(&self.gate, base, occupant)?;
        let frozen: usize = occupant.growth.frozen().iter().map(|extent| extent.len).sum();
        let grown = overlay(&occupant.image.extents(), occupant.growth.frozen());
        let extents = overlay(&grown, &copied);
        let scattered = extents.len() > occupant.image.budget().policy.scattered;
        let image = occupant.image.saved(extents, occupant.size, WARM_SLOTS, occupant.copies.next());
        if scattered {
            image.flatten()?;
        }
        let copied_bytes = bytes(&runs);
        if copied_bytes >= image.budget().policy.rebase {
            rebase(&self.gate, base, occupant, &image, &copied)?;
        }
        image.budget().keeper().prepare(&image);
        Ok(Save { image, copied: copied_bytes, frozen: frozen - before })
    }
}

/// Adds the remaining used runs of mostly overwritten files, if the machine has memory for their
/// copies.
fn with_overwritten_files(runs: Vec<Run>, occupant: &Occupant) -> Vec<Run> {
    let below = overlay(&occupant.image.extents(), occupant.growth.frozen());
    let left = mostly_overwritten(&below, &runs);
    if left.is_empty() || check_memory(bytes(&runs) + bytes(&left), occupant.image.budget()).is_err() {
        return runs;
    }
    union([runs, left].concat())
}

/// Checks that the machine has memory for a large copy. Without the check, the system could kill a
/// process for lack of memory instead of returning an error to the save.
fn check_memory(bytes: usize, budget: &Arc<super::Budget>) -> Result<(), Error> {
    if bytes < budget.policy.large {
        return Ok(());
    }
    let available = sys::host_access().available_memory().unwrap_or(u64::MAX);
    match available.checked_sub(budget.policy.spare) {
        Some(room) if bytes as u64 <= room => Ok(()),
        _ => Err(Error::ResourceExhausted { resource: "memory of the machine", limit: available }),
    }
}

/// Returns the runs to copy: the private pages outside the open file, and small gaps between them.
fn runs_to_copy(base: usize, occupant: &Occupant) -> Result<Vec<Run>, Error> {
    let open = occupant.growth.open_range().unwrap_or(Run { offset: occupant.size, len: 0 });
    let mut runs = Vec::new();
    for (from, to) in [(0, open.offset), (open.offset + open.len, occupant.size)] {
        let private = PageMap::get().and_then(|map| map.private_runs(base + from, to - from));
        let private = private.map_err(|error| Error::Snapshot { reason: format!("the page map cannot be read: {error}") })?;
        let joined = join_for_copying(&private, GAP, MAX_RUNS, SLACK);
        runs.extend(joined.iter().map(|run| Run { offset: run.offset + from, len: run.len }));
    }
    Ok(runs)
}

fn copy(gate: &Gate, base: usize, runs: &[Run], budget: &Arc<super::Budget>) -> Result<Vec<Extent>, Failure> {
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let charge = budget.charge(0, 1).map_err(Failure::Budget)?;
    let file = sys::memory_file()?;
    let mut offset = 0;
    for run in runs {
        for part in steps(*run) {
            // The call fails if the memory becomes inaccessible meanwhile. The gate is not entered,
            // so that no kill waits for the copy. SAFETY: the range is inside the memory, which the
            // VM owns, and its guest rests.
            unsafe { sys::write_out(&file, offset, base + part.offset, part.len) }?;
            offset += part.len as u64;
        }
    }
    drop(gate.enter().map_err(|_| Failure::Ended)?);
    sys::seal(&file)?;
    let piece = Piece::in_memory(file, offset, budget, charge);
    let mut extents = Vec::with_capacity(runs.len());
    let mut offset = 0;
    for run in runs {
        extents.push(Extent { at: run.offset, len: run.len, piece: piece.clone(), offset });
        offset += run.len as u64;
    }
    Ok(extents)
}

enum Failure {
    Io(io::Error),
    Budget(Error),
    Ended,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn failed(gate: &Gate, failure: Failure) -> Error {
    match failure {
        Failure::Budget(error) => error,
        Failure::Ended => Error::NotQuiet,
        Failure::Io(_) if gate.enter().is_err() => Error::NotQuiet,
        Failure::Io(error) => Error::Snapshot { reason: format!("the memory could not be copied: {error}") },
    }
}

/// Splits a run into parts that are each mapped while the gate is entered.
fn steps(run: Run) -> impl Iterator<Item = Run> {
    (0..run.len).step_by(STEP).map(move |at| Run { offset: run.offset + at, len: STEP.min(run.len - at) })
}

fn freeze(gate: &Gate, base: usize, occupant: &mut Occupant) -> Result<(), Error> {
    let Some(range) = occupant.growth.open_range() else { return Ok(()) };
    occupant.moved = true;
    for part in steps(range) {
        let Ok(_open) = gate.enter() else { return Err(Error::NotQuiet) };
        // SAFETY: the part is inside the open file's range of this memory, and its guest rests.
        if unsafe { occupant.growth.detach(base, part) }.is_err() {
            return Err(lose(base, occupant));
        }
    }
    let image = occupant.image.clone();
    occupant.growth.freeze(&image).map_err(|_| lose(base, occupant))
}

/// Maps the copy in place of the original pages. If the budget has too few mappings, the memory
/// stays unchanged. The save is still correct, but the guest keeps its private pages and the
/// machine needs more memory.
fn rebase(gate: &Gate, base: usize, occupant: &mut Occupant, image: &Arc<Image>, copied: &[Extent]) -> Result<(), Error> {
    if occupant.slot.charge().add_mappings(extra_mappings(&image.extents())).is_err() {
        return Ok(());
    }
    occupant.moved = true;
    for extent in copied {
        for part in steps(Run { offset: extent.at, len: extent.len }) {
            let Ok(_open) = gate.enter() else { return Err(Error::NotQuiet) };
            let offset = extent.offset + (part.offset - extent.at) as u64;
            // SAFETY: the part is inside this memory, the piece has the present bytes, and the
            // memory's guest rests.
            let mapped = unsafe {
                sys::let_go(base + part.offset, part.len);
                sys::map_private(base + part.offset, extent.piece.descriptor(), offset, part.len)
            };
            if mapped.is_err() {
                return Err(lose(base, occupant));
            }
        }
    }
    // All private pages are now in a file, so the slot belongs to the saved image.
    occupant.image = image.clone();
    occupant.growth = super::Growth::default();
    occupant.slot.belongs_to(&image.extents());
    Ok(())
}

/// Marks the memory as lost, because a mapping has failed and the bytes in its range are unknown.
/// No code may touch the memory afterwards.
fn lose(base: usize, occupant: &mut Occupant) -> Error {
    occupant.lost = true;
    // SAFETY: the reservation is this memory's own and no code of the sidecar holds a reference
    // into it.
    let _ = unsafe { sys::forbid(base, RESERVATION) };
    Error::ResourceExhausted { resource: "memory mappings", limit: sys::max_mappings() }
}
