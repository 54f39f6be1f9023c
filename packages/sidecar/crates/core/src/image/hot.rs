//! The pages that a copy of a saved memory writes first: the same ones in nearly every copy, for all begin with the same turn, and mostly go on with the same
//! question. One of the first shows which, and later ones get them as their own in a few calls. Written one by one each costs two faults (a guest reads before it
//! writes), of which the second has every processor that runs the process drop what it knows of the page: by far the most of what a first answer costs.
//! Known in the field as record and prefetch (REAP: Ustiugov et al., ASPLOS 2021).
//!
//! What one VM's saves are made of differs little, so they share this for a while ([`Copies`]). Next: `memory/lodging.rs`.

use super::{Image, bytes, join};
use coldframe_sys::{PAGE, Run};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// So many pages at most: what a copy does not write after all, it has for nothing.
const MOST_PAGES: usize = 128;
/// Pages so near to each other are made private with one call, and what lies between with them.
const GAP: usize = PAGE;
/// Turns of a copy that show what copies write: coming back to life, and the first thing that it is asked.
pub(crate) const TURNS: u8 = 2;
/// After so many saves a VM is not what it was.
const SAVES: u8 = 16;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Hot {
    known: RwLock<Known>,
    copies: AtomicU32,
}

#[derive(Debug, Default)]
struct Known {
    /// What a copy has written in so many turns.
    turns: u8,
    runs: Arc<[Run]>,
}

impl Hot {
    /// One more copy is about to begin: the pages that copies write first, as far as that is known; sorted.
    pub(crate) fn for_copy(&self) -> Arc<[Run]> {
        self.copies.fetch_add(1, Ordering::Relaxed);
        self.known.read().runs.clone()
    }

    /// Whether somebody should look what a copy has written in so many turns. Not at the first one: often there is no other.
    pub(crate) fn wants(&self, turns: u8) -> bool {
        self.copies.load(Ordering::Relaxed) > 1 && self.known.read().turns < turns
    }

    /// A copy has written these pages in so many turns.
    pub(crate) fn learn(&self, turns: u8, written: &[Run]) {
        let mut known = self.known.write();
        if known.turns < turns {
            *known = Known { turns, runs: first_pages(join(written, GAP, usize::MAX), MOST_PAGES).into() };
        }
    }
}

/// What the saved memories of one VM share.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    hot: Arc<Hot>,
    saves: u8,
}

impl Copies {
    /// Of the next save.
    pub(crate) fn next(&mut self) -> Arc<Hot> {
        if self.saves == SAVES {
            *self = Self::default();
        }
        self.saves += 1;
        self.hot.clone()
    }
}

impl Image {
    /// What is known of its copies.
    pub(crate) fn hot(&self) -> &Hot {
        &self.hot
    }
}

/// The first so many pages of `runs`.
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
    fn no_more_than_the_first_pages_are_remembered() {
        let written = runs(&[(1, 3), (10, 4), (20, 1)]);
        assert_eq!(pages(&first_pages(written.clone(), 100)), [(1, 3), (10, 4), (20, 1)]);
        assert_eq!(pages(&first_pages(written.clone(), 5)), [(1, 3), (10, 2)]);
        assert_eq!(pages(&first_pages(written, 7)), [(1, 3), (10, 4)]);
    }

    #[test]
    fn the_more_turns_the_better_and_the_first_who_tells_is_believed() {
        let hot = Hot::default();
        assert!(hot.for_copy().is_empty() && !hot.wants(1));
        assert!(hot.for_copy().is_empty() && hot.wants(1), "the second is looked at");
        hot.learn(1, &runs(&[(1, 1), (3, 1), (9, 1)]));
        hot.learn(1, &runs(&[(50, 1)]));
        assert_eq!(pages(&hot.for_copy()), [(1, 3), (9, 1)], "with what lies between near ones");
        assert!(!hot.wants(1) && hot.wants(2));
        hot.learn(2, &runs(&[(1, 1), (7, 1)]));
        hot.learn(1, &runs(&[(50, 1)]));
        assert!(!hot.wants(2));
        assert_eq!(pages(&hot.for_copy()), [(1, 1), (7, 1)]);
    }

    #[test]
    fn a_vm_that_was_saved_often_is_looked_at_anew() {
        let mut copies = Copies::default();
        let first = copies.next();
        assert!((1..SAVES).all(|_| Arc::ptr_eq(&copies.next(), &first)));
        assert!(!Arc::ptr_eq(&copies.next(), &first));
    }
}
