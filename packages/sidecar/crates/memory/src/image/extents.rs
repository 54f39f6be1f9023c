//! The runs of a memory. The bytes of each run are in a piece, and all memory outside the runs is
//! zero.
//!
//! ```text
//! memory   0 ....|== image ==========|..zeros..|=== heap ===|.....
//! saved          |      [a]   [bb]             |  [c]       |         overlay: the written pages
//! result   ......|======[a]===[bb]====|........|==[c]=======|.....
//! ```
//! A list is sorted and its runs do not overlap. Each run costs one mapping in every memory made
//! from the list, or two mappings if the run splits another run. Therefore a save also copies a few
//! clean pages between two runs, so that the two runs become one ([`join`]). Next: `mod.rs`.

use super::Piece;
use coldframe_sys::{PAGE, Run};
use std::sync::Arc;

/// A run of a memory. All numbers are bytes of whole pages.
#[derive(Debug, Clone)]
pub struct Extent {
    /// The offset in the memory.
    pub at: usize,
    /// The length in bytes.
    pub len: usize,
    /// The file with the bytes.
    pub piece: Arc<Piece>,
    /// The offset in the piece.
    pub offset: u64,
}

impl Extent {
    /// Returns the offset of the run's end in the memory.
    pub fn end(&self) -> usize {
        self.at + self.len
    }

    /// Returns the part of the run in `from..to`.
    fn cut(&self, from: usize, to: usize) -> Option<Self> {
        let (from, to) = (from.max(self.at), to.min(self.end()));
        let offset = self.offset + from.saturating_sub(self.at) as u64;
        (from < to).then(|| Self { at: from, len: to - from, piece: self.piece.clone(), offset })
    }

    /// Returns whether `part` is inside this run and has the same bytes of the same piece.
    pub(super) fn holds(&self, part: &Self) -> bool {
        let inside = self.at <= part.at && part.end() <= self.end();
        inside && Arc::ptr_eq(&self.piece, &part.piece) && self.offset + (part.at - self.at) as u64 == part.offset
    }

    /// Returns whether `next` continues this run, in the memory and in the piece.
    fn continues_with(&self, next: &Self) -> bool {
        self.end() == next.at && Arc::ptr_eq(&self.piece, &next.piece) && self.offset + self.len as u64 == next.offset
    }
}

/// Overlays `below` with `above`. The extents of each list are sorted and do not overlap.
pub fn overlay(below: &[Extent], above: &[Extent]) -> Vec<Extent> {
    let mut result: Vec<Extent> = Vec::with_capacity(below.len() + 2 * above.len());
    let mut push = |extent: Extent| match result.last_mut() {
        Some(last) if last.continues_with(&extent) => last.len += extent.len,
        _ => result.push(extent),
    };
    let mut below = below.iter();
    let mut under = below.next();
    // The offset up to which `result` is complete.
    let mut done = 0;
    for over in above {
        while let Some(extent) = under {
            extent.cut(done, over.at).into_iter().for_each(&mut push);
            if extent.end() > over.end() {
                break;
            }
            under = below.next();
        }
        push(over.clone());
        done = over.end();
    }
    for extent in under.into_iter().chain(below) {
        extent.cut(done, usize::MAX).into_iter().for_each(&mut push);
    }
    result
}

/// Returns the parts of `extents` outside `runs`. The elements of each list are sorted and do not
/// overlap.
pub(super) fn outside(extents: &[Extent], runs: &[Run]) -> Vec<Extent> {
    let mut left = Vec::with_capacity(extents.len());
    let mut runs = runs;
    for extent in extents {
        let behind = runs.iter().take_while(|run| run.offset + run.len <= extent.at).count();
        runs = &runs[behind..];
        let mut from = extent.at;
        for run in runs.iter().take_while(|run| run.offset < extent.end()) {
            left.extend(extent.cut(from, run.offset));
            from = run.offset + run.len;
        }
        left.extend(extent.cut(from, usize::MAX));
    }
    left
}

/// Joins runs: first the runs with gaps of at most `gap` bytes, then the nearest runs until at most
/// `most` remain.
pub fn join(runs: &[Run], gap: usize, most: usize) -> Vec<Run> {
    let between = |pair: &[Run]| pair[1].offset - pair[0].offset - pair[0].len;
    let mut gaps: Vec<usize> = runs.windows(2).map(between).filter(|space| *space > gap).collect();
    // The widest gap that must be closed, and the number of gaps of this width that must be closed.
    let (mut widest, mut of_them) = (gap, usize::MAX);
    if gaps.len() >= most.max(1) {
        let index = gaps.len() - most.max(1);
        widest = *gaps.select_nth_unstable(index).1;
        of_them = index + 1 - gaps.iter().filter(|space| **space < widest).count();
    }
    let mut joined: Vec<Run> = Vec::new();
    for run in runs {
        if let Some(last) = joined.last_mut() {
            let space = run.offset - last.offset - last.len;
            let goes = space <= gap || space < widest || (space == widest && of_them > 0);
            if goes {
                of_them -= usize::from(space == widest && of_them < usize::MAX);
                last.len = run.offset + run.len - last.offset;
                continue;
            }
        }
        joined.push(*run);
    }
    joined
}

/// Returns the union of runs, which may overlap and have any order, as sorted runs that do not
/// touch.
pub fn union(mut runs: Vec<Run>) -> Vec<Run> {
    runs.sort_unstable_by_key(|run| run.offset);
    let mut united: Vec<Run> = Vec::with_capacity(runs.len());
    for run in runs {
        match united.last_mut() {
            Some(last) if last.offset + last.len >= run.offset => last.len = last.len.max(run.offset + run.len - last.offset),
            _ => united.push(run),
        }
    }
    united
}

/// Joins runs for copying. `most` lists limits of the number of runs, in rising order. The function
/// applies the first limit with which the copied bytes are at most twice the bytes of `runs` plus
/// `slack`. If no limit fulfils this condition, the last limit applies.
pub fn join_for_copying(runs: &[Run], gap: usize, most: &[usize], slack: usize) -> Vec<Run> {
    let enough = 2 * bytes(runs) + slack;
    let mut joined = Vec::new();
    for most in most {
        joined = join(runs, gap, *most);
        if bytes(&joined) <= enough {
            break;
        }
    }
    joined
}

/// Returns the sum of the lengths of `runs`, in bytes.
pub fn bytes(runs: &[Run]) -> usize {
    runs.iter().map(|run| run.len).sum()
}

/// Returns whether `at..at + len` consists of whole pages.
pub fn whole_pages(at: u64, len: u64) -> bool {
    len > 0 && at.is_multiple_of(PAGE as u64) && len.is_multiple_of(PAGE as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Budget;
    use proptest::prelude::*;

    const PAGES: usize = 64;

    fn pieces() -> Vec<Arc<Piece>> {
        let budget = Budget::new();
        (0..4).map(|_| Piece::new(coldframe_sys::memory_file().expect("memfd"), 1 << 20, &budget).expect("piece")).collect()
    }

    /// Returns the index of the piece, and the page's number in the piece, for each page of the
    /// memory. `None` means that no extent has the page.
    fn flat(extents: &[Extent], pieces: &[Arc<Piece>]) -> Vec<Option<(usize, u64)>> {
        let mut pages = vec![None; PAGES];
        for extent in extents {
            let piece = pieces.iter().position(|piece| Arc::ptr_eq(piece, &extent.piece)).expect("one of them");
            for page in 0..extent.len / PAGE {
                pages[extent.at / PAGE + page] = Some((piece, extent.offset / PAGE as u64 + page as u64));
            }
        }
        pages
    }

    fn layer(piece: &Arc<Piece>, runs: &[(usize, usize)]) -> Vec<Extent> {
        let mut extents: Vec<Extent> = Vec::new();
        for &(at, len) in runs {
            let at = at.max(extents.last().map_or(0, |last| last.end() / PAGE));
            let len = len.min(PAGES.saturating_sub(at));
            if len > 0 {
                extents.push(Extent { at: at * PAGE, len: len * PAGE, piece: piece.clone(), offset: (at * PAGE) as u64 });
            }
        }
        extents
    }

    #[test]
    fn distant_runs_are_not_joined_if_the_gaps_are_large() {
        let runs: Vec<Run> = (0..100).map(|index| Run { offset: index * 1_000 * PAGE, len: PAGE }).collect();
        let count = |most: &[usize], slack: usize| join_for_copying(&runs, 8 * PAGE, most, slack).len();
        assert_eq!(count(&[10, 200], 0), 100);
        assert_eq!(count(&[10, 200], 100_000 * PAGE), 10);
        assert_eq!(count(&[10, 50], 0), 50, "the last number is a limit");
        assert!(join_for_copying(&[], PAGE, &[3], 0).is_empty());
    }

    proptest! {
        #[test]
        fn an_upper_layer_hides_the_layers_below(
            layers in prop::collection::vec(prop::collection::btree_map(0..PAGES, 1..12_usize, 0..8), 1..4)
        ) {
            let pieces = pieces();
            let (mut whole, mut expected) = (Vec::new(), vec![None; PAGES]);
            for (layer_runs, piece) in layers.iter().zip(&pieces) {
                let runs: Vec<_> = layer_runs.iter().map(|(at, len)| (*at, *len)).collect();
                let above = layer(piece, &runs);
                for (place, new) in expected.iter_mut().zip(flat(&above, &pieces)) {
                    *place = new.or(*place);
                }
                whole = overlay(&whole, &above);
            }
            prop_assert_eq!(flat(&whole, &pieces), expected);
            prop_assert!(whole.windows(2).all(|pair| pair[0].end() <= pair[1].at));
        }

        #[test]
        fn outside_returns_all_pages_except_the_runs(
            parts in prop::collection::btree_map(0..PAGES, 1..12_usize, 0..8),
            runs in prop::collection::vec((0..PAGES, 1..9_usize), 0..8),
        ) {
            let pieces = pieces();
            let parts: Vec<_> = parts.into_iter().collect();
            let extents = layer(&pieces[0], &parts);
            let runs = union(runs.iter().map(|(at, len)| Run { offset: at * PAGE, len: len * PAGE }).collect());
            let is_in = |page: usize| runs.iter().any(|run| (run.offset..run.offset + run.len).contains(&(page * PAGE)));
            let pages = flat(&extents, &pieces).into_iter().enumerate();
            let expected: Vec<_> = pages.map(|(page, origin)| origin.filter(|_| !is_in(page))).collect();
            prop_assert_eq!(flat(&outside(&extents, &runs), &pieces), expected);
        }

        #[test]
        fn united_runs_hold_all_pages_and_do_not_touch(parts in prop::collection::vec((0..300_usize, 1..20_usize), 0..40)) {
            let runs = parts.iter().map(|(at, len)| Run { offset: at * PAGE, len: len * PAGE }).collect();
            let united = union(runs);
            let pages: std::collections::BTreeSet<usize> = parts.iter().flat_map(|(at, len)| *at..at + len).collect();
            let held: Vec<usize> = united.iter().flat_map(|run| run.offset / PAGE..(run.offset + run.len) / PAGE).collect();
            prop_assert_eq!(held, pages.into_iter().collect::<Vec<_>>());
            prop_assert!(united.windows(2).all(|pair| pair[0].offset + pair[0].len < pair[1].offset));
        }

        #[test]
        fn joined_runs_hold_all_pages_within_the_limit(
            pages in prop::collection::btree_set(0..500_usize, 1..80),
            gap in 0..10_usize,
            most in 1..20_usize,
        ) {
            let runs: Vec<Run> = pages.iter().map(|page| Run { offset: page * 2 * PAGE, len: PAGE }).collect();
            let joined = join(&runs, gap * PAGE, most);
            prop_assert!(joined.len() <= most);
            let holds = |run: &Run| joined.iter().any(|by| by.offset <= run.offset && run.offset + run.len <= by.offset + by.len);
            prop_assert!(runs.iter().all(holds));
            prop_assert!(joined.windows(2).all(|pair| pair[0].offset + pair[0].len + gap * PAGE < pair[1].offset));
        }
    }
}
