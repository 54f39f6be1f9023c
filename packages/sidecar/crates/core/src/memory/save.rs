//! Saving a memory while its guest rests: the pages it has written, as an image of their own.
//!
//! 1. Find them: the page map names the private pages (`sys`). A file that the growth lies in is all new and needs no search.
//! 2. Copy them, with a few clean pages where that joins two runs and with what is left of files that are mostly overwritten (`image/leftovers.rs`), into a new file in memory; [`sys::write_out`] has the kernel read them.
//! 3. Freeze the file of the growth as it is: the guest goes on with a copy-on-write view of it (`growth.rs`).
//! 4. Lay both over what the memory was mapped from. That is the saved image: mapped, reset to and cloned like any other (`image/mod.rs`).
//! 5. When much was copied, map the copy in place of the original: the next save then finds only what was written since.
//!
//! Nothing of the guest changes, and until step 3 nothing of its mapping either; a failure before that leaves it as it was.

use super::lodging::{Lodged, Lodging};
use super::{Gate, RESERVATION};
use crate::image::{Extent, Image, Piece, bytes, extra_mappings, join_for_copying, leftovers, overlay, union};
use coldframe_error::Error;
use coldframe_sys::{self as sys, PAGE, PageMap, Run};
use std::io;
use std::sync::Arc;

/// Written runs with at most this much between them are saved as one.
const GAP: usize = 8 * PAGE;
/// Runs that a save adds at most: more when joining them would copy much that lies between.
const MOST: &[usize] = &[32, 128, 512];
/// That much may lie between in any case.
const SLACK: usize = 2 << 20;
/// Clean slots that a saved image keeps.
const WARM_SLOTS: usize = 4;
/// What is mapped anew under one passage of the gate: a killer waits that long.
const STEP: usize = 64 << 20;

/// A saved memory, and what it took.
#[derive(Debug)]
pub(crate) struct Save {
    pub(crate) image: Arc<Image>,
    /// Bytes that the guest had written since the memory was mapped, as far as they had to be copied.
    #[cfg(test)]
    pub(crate) copied: usize,
    /// Bytes that were taken over as they are.
    #[cfg(test)]
    pub(crate) frozen: usize,
}

impl Lodging {
    /// See the module. No guest runs in the memory, and the caller keeps it so.
    pub(crate) fn save(&self) -> Result<Save, Error> {
        let mut state = self.state.lock();
        let lodged = state.as_mut().filter(|lodged| !lodged.lost).ok_or(Error::NotQuiet)?;
        let base = lodged.slot.base();
        let runs = runs_to_copy(base, lodged)?;
        check_memory(bytes(&runs), lodged.image.budget())?;
        let runs = with_leftovers(runs, lodged);
        let copied = copy(&self.gate, base, &runs, lodged.image.budget()).map_err(|error| failed(&self.gate, error))?;
        #[cfg(test)]
        let before: usize = lodged.growth.frozen().iter().map(|extent| extent.len).sum();
        freeze(&self.gate, base, lodged)?;
        #[cfg(test)]
        let frozen: usize = lodged.growth.frozen().iter().map(|extent| extent.len).sum();
        let grown = overlay(&lodged.image.extents(), lodged.growth.frozen());
        let extents = overlay(&grown, &copied);
        let scattered = extents.len() > lodged.image.budget().policy.scattered;
        let image = lodged.image.saved(extents, lodged.size, WARM_SLOTS, lodged.copies.next());
        if scattered {
            image.flatten()?;
        }
        let copied_bytes = bytes(&runs);
        if copied_bytes >= image.budget().policy.rebase {
            rebase(&self.gate, base, lodged, &image, &copied)?;
        }
        image.budget().keeper().prepare(&image);
        Ok(Save {
            image,
            #[cfg(test)]
            copied: copied_bytes,
            #[cfg(test)]
            frozen: frozen - before,
        })
    }
}

/// Adds what is left of files of which most has been overwritten, if the machine has room for that too: these are the guest's bytes as much as what it has written.
fn with_leftovers(runs: Vec<Run>, lodged: &Lodged) -> Vec<Run> {
    let below = overlay(&lodged.image.extents(), lodged.growth.frozen());
    let left = leftovers(&below, &runs);
    if left.is_empty() || check_memory(bytes(&runs) + bytes(&left), lodged.image.budget()).is_err() {
        return runs;
    }
    union([runs, left].concat())
}

/// Whether the machine has room for a large copy: it would rather end a process than say later that it has not.
fn check_memory(bytes: usize, budget: &Arc<super::Budget>) -> Result<(), Error> {
    if bytes < budget.policy.large {
        return Ok(());
    }
    let available = sys::available_memory().unwrap_or(u64::MAX);
    match available.checked_sub(budget.policy.spare) {
        Some(room) if bytes as u64 <= room => Ok(()),
        _ => Err(Error::ResourceExhausted { resource: "memory of the machine", limit: available }),
    }
}

/// What must be copied: private pages, all of them outside of the open file, and what lies between near ones.
fn runs_to_copy(base: usize, lodged: &Lodged) -> Result<Vec<Run>, Error> {
    let open = lodged.growth.open_range().unwrap_or(Run { offset: lodged.size, len: 0 });
    let mut runs = Vec::new();
    for (from, to) in [(0, open.offset), (open.offset + open.len, lodged.size)] {
        let private = PageMap::get().and_then(|map| map.private_runs(base + from, to - from));
        let private = private.map_err(|error| Error::Snapshot { reason: format!("the page map cannot be read: {error}") })?;
        let joined = join_for_copying(&private, GAP, MOST, SLACK);
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
            // The kernel reads: should the memory be taken away meanwhile, it says so. Nothing must wait for the gate here.
            // SAFETY: the range lies inside the memory, which the VM owns, and its guest rests.
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

/// A run in parts that are mapped under one passage of the gate.
fn steps(run: Run) -> impl Iterator<Item = Run> {
    (0..run.len).step_by(STEP).map(move |at| Run { offset: run.offset + at, len: STEP.min(run.len - at) })
}

fn freeze(gate: &Gate, base: usize, lodged: &mut Lodged) -> Result<(), Error> {
    let Some(range) = lodged.growth.open_range() else { return Ok(()) };
    lodged.moved = true;
    for part in steps(range) {
        let Ok(_open) = gate.enter() else { return Err(Error::NotQuiet) };
        // SAFETY: the part lies inside the open file's range of this memory; its guest rests.
        if unsafe { lodged.growth.detach(base, part) }.is_err() {
            return Err(lose(base, lodged));
        }
    }
    let image = lodged.image.clone();
    lodged.growth.freeze(&image).map_err(|_| lose(base, lodged))
}

/// Maps what was copied in place of the original. Without the mappings for it the memory stays as it is, which is as good and larger.
fn rebase(gate: &Gate, base: usize, lodged: &mut Lodged, image: &Arc<Image>, copied: &[Extent]) -> Result<(), Error> {
    if lodged.slot.charge().add_mappings(extra_mappings(&image.extents())).is_err() {
        return Ok(());
    }
    lodged.moved = true;
    for extent in copied {
        for part in steps(Run { offset: extent.at, len: extent.len }) {
            let Ok(_open) = gate.enter() else { return Err(Error::NotQuiet) };
            let offset = extent.offset + (part.offset - extent.at) as u64;
            // SAFETY: the part lies inside this memory; the piece has the bytes that are there now; its guest rests.
            let mapped = unsafe {
                sys::let_go(base + part.offset, part.len);
                sys::map_private(base + part.offset, extent.piece.descriptor(), offset, part.len)
            };
            if mapped.is_err() {
                return Err(lose(base, lodged));
            }
        }
    }
    // All that was private is now a file: the slot is one of the saved image.
    lodged.image = image.clone();
    lodged.growth = super::Growth::default();
    lodged.slot.belongs_to(&image.extents());
    Ok(())
}

/// Mapping has failed with who knows what in the range: nobody may touch it any more.
fn lose(base: usize, lodged: &mut Lodged) -> Error {
    lodged.lost = true;
    // SAFETY: the reservation is this memory's own and no host code holds a reference into it.
    let _ = unsafe { sys::forbid(base, RESERVATION) };
    Error::ResourceExhausted { resource: "memory mappings", limit: sys::max_mappings() }
}
