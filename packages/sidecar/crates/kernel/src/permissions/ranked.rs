//! Rules about names and hosts: each pattern has a rank, which says how much it leaves open. The highest that matches counts, and at one rank a
//! rule that denies. Next: `hosts.rs`.

use super::glob::{Glob, has_wildcard};
use super::operations::Operations;
use super::tree::{Masks, Said, first};

/// A text without wildcards leaves nothing open.
const EXACT: u32 = u32::MAX;

/// See the module.
#[derive(Debug)]
pub(super) struct Ranked<P> {
    default: Operations,
    /// The lowest rank first.
    rules: Vec<(u64, P, Said)>,
}

/// How much a text with wildcards says: the bytes that stand for themselves.
pub(super) fn rank_of(text: &str) -> u32 {
    if has_wildcard(text) { Glob::new(text).literal_bytes().min(EXACT - 1) } else { EXACT }
}

impl<P> Ranked<P> {
    pub(super) fn new(default: Operations) -> Self {
        Self { default, rules: Vec::new() }
    }

    pub(super) fn add(&mut self, rank: u64, pattern: P, said: Said) {
        let place = self.rules.partition_point(|(known, ..)| *known <= rank);
        self.rules.insert(place, (rank, pattern, said));
    }

    /// What is allowed for what `matches` recognizes.
    pub(super) fn judge(&self, matches: impl Fn(&P) -> bool) -> Operations {
        let (mut allowed, mut says, mut rank) = (self.default, Masks::default(), 0);
        for (of, _, said) in self.rules.iter().filter(|(_, pattern, _)| matches(pattern)) {
            if *of != rank {
                allowed = std::mem::take(&mut says).after(allowed);
                rank = *of;
            }
            says.add(*said);
        }
        says.after(allowed)
    }

    /// The rule that decides about one operation.
    pub(super) fn decider(&self, matches: impl Fn(&P) -> bool, operation: Operations) -> Option<u32> {
        let about = |(_, pattern, said): &&(u64, P, Said)| said.operations & operation != 0 && matches(pattern);
        let (rank, ..) = self.rules.iter().rev().find(about)?;
        let rules: Vec<Said> = self.rules.iter().filter(|(of, ..)| of == rank).filter(about).map(|(.., said)| *said).collect();
        first(rules.iter(), operation)
    }
}
