//! Hot pages: the pages that a restored VM writes first. In this module, a copy is a VM that is
//! restored from a saved memory.
//!
//! Nearly all copies of a saved memory write equal pages first. Each copy starts with the RESTORE
//! turn and mostly continues with a similar request. The pages that one of the first copies writes
//! are recorded, and a few calls make these pages private in each later copy. A page that is
//! written without this preparation costs two faults, because a guest reads before it writes. The
//! second fault flushes the page from every processor that runs the process. This flush is by far
//! the largest part of the time to a first reply. The literature calls this method record and
//! prefetch (REAP: Ustiugov et al., ASPLOS 2021).
//!
//! The saves of one VM differ little, so they share this record for a number of saves ([`Copies`]).
//! Next: `../occupied_slot.rs`.

use super::{Image, bytes, join};
use coldframe_panics::process::RwLock;
use coldframe_sys::{PAGE, Run};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The largest number of hot pages. For each recorded page that a copy does not write, the copy has
/// a private page that is never used.
const MOST_PAGES: usize = 128;
/// The largest gap, in bytes, between two hot pages that one call makes private. The call also
/// makes the gap private.
const GAP: usize = PAGE;
/// The number of a copy's turns whose writes are recorded: the RESTORE turn and the first request.
pub const TURNS: u8 = 2;
/// The number of saves after which a VM's writes are recorded again.
const SAVES: u8 = 16;

/// The hot pages of an image's copies.
#[derive(Debug, Default)]
pub struct Hot {
    recorded: RwLock<Recorded>,
    copies: AtomicU32,
}

#[derive(Debug, Default)]
struct Recorded {
    /// The number of recorded turns.
    turns: u8,
    runs: Arc<[Run]>,
}

impl Hot {
    /// Counts a further copy. Returns the recorded hot pages, sorted.
    pub fn for_copy(&self) -> Arc<[Run]> {
        self.copies.fetch_add(1, Ordering::Relaxed);
        self.recorded.read().runs.clone()
    }

    /// Returns whether the caller should record a copy's pages after `turns` turns. The first copy
    /// is not recorded, because often no second copy exists.
    pub fn wants(&self, turns: u8) -> bool {
        self.copies.load(Ordering::Relaxed) > 1 && self.recorded.read().turns < turns
    }

    /// Records the pages that a copy has written in `turns` turns. An earlier record of as many or
    /// more turns stays.
    pub fn learn(&self, turns: u8, written: &[Run]) {
        let mut recorded = self.recorded.write();
        if recorded.turns < turns {
            *recorded = Recorded { turns, runs: first_pages(join(written, GAP, usize::MAX), MOST_PAGES).into() };
        }
    }
}

/// The record that the saved memories of one VM share.
#[derive(Debug, Default)]
pub struct Copies {
    hot: Arc<Hot>,
    saves: u8,
}

impl Copies {
    /// Returns the record of the next save. After `SAVES` saves, starts a new record.
    pub fn next(&mut self) -> Arc<Hot> {
        if self.saves == SAVES {
            *self = Self::default();
        }
        self.saves += 1;
        self.hot.clone()
    }
}

impl Image {
    /// Returns the hot pages of the image's copies.
    pub fn hot(&self) -> &Hot {
        &self.hot
    }
}

/// Returns the first `most` pages of `runs`.
fn first_pages(mut runs: Vec<Run>, most: usize) -> Vec<Run> {
    let mut left = most * PAGE;
    runs.retain_mut(|run| {
        run.len = run.len.min(left);
        left -= run.len;
        run.len > 0
    });
    debug_assert!(bytes(&runs) <= most * PAGE);
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(pages: &[(usize, usize)]) -> Vec<Run> {
        pages.iter().map(|(at, len)| Run { offset: at * PAGE, len: len * PAGE }).collect()
    }

    fn pages(runs: &[Run]) -> Vec<(usize, usize)> {
        runs.iter().map(|run| (run.offset / PAGE, run.len / PAGE)).collect()
    }

    #[test]
    fn records_at_most_the_first_pages() {
        let written = runs(&[(1, 3), (10, 4), (20, 1)]);
        assert_eq!(pages(&first_pages(written.clone(), 100)), [(1, 3), (10, 4), (20, 1)]);
        assert_eq!(pages(&first_pages(written.clone(), 5)), [(1, 3), (10, 2)]);
        assert_eq!(pages(&first_pages(written, 7)), [(1, 3), (10, 4)]);
    }

    #[test]
    fn keeps_the_first_record_of_the_most_turns() {
        let hot = Hot::default();
        assert!(hot.for_copy().is_empty() && !hot.wants(1));
        assert!(hot.for_copy().is_empty() && hot.wants(1), "the second copy is recorded");
        hot.learn(1, &runs(&[(1, 1), (3, 1), (9, 1)]));
        hot.learn(1, &runs(&[(50, 1)]));
        assert_eq!(pages(&hot.for_copy()), [(1, 3), (9, 1)], "the record includes small gaps");
        assert!(!hot.wants(1) && hot.wants(2));
        hot.learn(2, &runs(&[(1, 1), (7, 1)]));
        hot.learn(1, &runs(&[(50, 1)]));
        assert!(!hot.wants(2));
        assert_eq!(pages(&hot.for_copy()), [(1, 1), (7, 1)]);
    }

    #[test]
    fn records_a_vm_again_after_many_saves() {
        let mut copies = Copies::default();
        let first = copies.next();
        assert!((1..SAVES).all(|_| Arc::ptr_eq(&copies.next(), &first)));
        assert!(!Arc::ptr_eq(&copies.next(), &first));
    }
}
