//! What is left of files in memory of which most has been overwritten.
//!
//! A save shares with the one before what has not changed, and a single page that has not changed keeps the whole file that it lies in. So a save copies such
//! pages along, and the file can go when the others that share it do: nothing that a saved memory is made of is less than half in use for long.
//!
//! That costs at most as much again as what the guest has written, and each byte once on the way: a file is half overwritten only when somebody has written half as much. What a save does not
//! come to, the next one does; copies that share a file and write little go on sharing it. Next: `memory/save.rs`.

use super::extents::outside;
use super::{Extent, Piece, bytes};
use coldframe_sys::Run;
use std::collections::HashMap;
use std::sync::Arc;

/// What of a piece some memory is made of.
pub(super) struct Of<'a> {
    pub(super) piece: &'a Arc<Piece>,
    pub(super) bytes: u64,
    runs: Vec<Run>,
}

/// These extents, piece by piece.
pub(super) fn by_piece(extents: &[Extent]) -> HashMap<*const Piece, Of<'_>> {
    let mut pieces: HashMap<*const Piece, Of<'_>> = HashMap::new();
    for extent in extents {
        let new = || Of { piece: &extent.piece, bytes: 0, runs: Vec::new() };
        let of = pieces.entry(Arc::as_ptr(&extent.piece)).or_insert_with(new);
        of.bytes += extent.len as u64;
        of.runs.push(Run { offset: extent.at, len: extent.len });
    }
    pieces
}

/// See the module: what a memory that is made of `extents` should copy along with `runs`, which are about to be copied. In no order, and touching none of them but at an end.
pub(crate) fn leftovers(extents: &[Extent], runs: &[Run]) -> Vec<Run> {
    let mut room = bytes(runs);
    if room == 0 || extents.iter().all(|extent| extent.piece.held() == 0) {
        return Vec::new();
    }
    let left = outside(extents, runs);
    let mut sparse: Vec<Of<'_>> = by_piece(&left).into_values().filter(|of| of.bytes * 2 < of.piece.held()).collect();
    // Those that are soonest done with go first.
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
