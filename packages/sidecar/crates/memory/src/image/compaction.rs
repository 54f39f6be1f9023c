//! Compaction: copying the live rest of files in memory that are mostly overwritten.
//!
//! A save shares unchanged pages with the previous save, and a single unchanged page keeps its
//! whole file in memory. Therefore a save copies the unchanged pages of a mostly overwritten file,
//! and the file is freed when its other users end. No file of a saved memory stays less than half
//! used for long.
//!
//! A save copies at most as many bytes for compaction as the guest has written. Each byte is copied
//! once on average, because a file is half overwritten only after writes of half its size. The next
//! save copies the remainder. Clones that share a file and write little continue to share the file.
//! Next: `../save.rs`.

use super::extents::outside;
use super::{Extent, Piece, bytes};
use coldframe_sys::Run;
use std::collections::HashMap;
use std::sync::Arc;

/// The parts of one piece that a memory uses.
pub(super) struct PieceUse<'a> {
    pub(super) piece: &'a Arc<Piece>,
    pub(super) bytes: u64,
    runs: Vec<Run>,
}

/// Groups extents by piece.
pub(super) fn by_piece(extents: &[Extent]) -> HashMap<*const Piece, PieceUse<'_>> {
    let mut pieces: HashMap<*const Piece, PieceUse<'_>> = HashMap::new();
    for extent in extents {
        let new = || PieceUse { piece: &extent.piece, bytes: 0, runs: Vec::new() };
        let of = pieces.entry(Arc::as_ptr(&extent.piece)).or_insert_with(new);
        of.bytes += extent.len as u64;
        of.runs.push(Run { offset: extent.at, len: extent.len });
    }
    pieces
}

/// Returns the runs that a save of a memory made of `extents` should copy in addition to `runs`.
/// The returned runs are unordered and do not overlap `runs`.
pub fn mostly_overwritten(extents: &[Extent], runs: &[Run]) -> Vec<Run> {
    let mut room = bytes(runs);
    if room == 0 || extents.iter().all(|extent| extent.piece.held() == 0) {
        return Vec::new();
    }
    let left = outside(extents, runs);
    let mut sparse: Vec<PieceUse<'_>> = by_piece(&left).into_values().filter(|of| of.bytes * 2 < of.piece.held()).collect();
    // The pieces with the fewest live bytes are freed first.
    sparse.sort_unstable_by_key(|of| (of.bytes, of.runs[0].offset));
    let mut taken = Vec::new();
    for run in sparse.iter().flat_map(|of| &of.runs) {
        let len = run.len.min(room);
        if len == 0 {
            break;
        }
        taken.push(Run { offset: run.offset, len });
        room -= len;
    }
    taken
}
