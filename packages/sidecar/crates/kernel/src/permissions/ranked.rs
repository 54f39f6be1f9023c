//! Rules about names and hosts, ordered by rank.
//!
//! A more specific pattern has a higher rank. The matching rule with the highest rank decides. If
//! several matching rules have that rank, a denying rule decides. Next: `hosts.rs`.

use super::glob::{Glob, has_wildcard};
use super::operations::Operations;
use super::tree::{Masks, RuleEffect, first};
use crate::steps;

/// The rank of a text without wildcards.
const EXACT: u32 = u32::MAX;

/// Rules with patterns of the type `P`, ordered by rank.
#[derive(Debug)]
pub(super) struct Ranked<P> {
    default: Operations,
    /// The rules, in ascending order of rank.
    rules: Vec<(u64, P, RuleEffect)>,
}

/// Returns the rank of a pattern: [`EXACT`] for a pattern without wildcards, otherwise the number
/// of bytes that match only themselves.
pub(super) fn rank_of(text: &str) -> u32 {
    if has_wildcard(text) { Glob::new(text).literal_bytes().min(EXACT - 1) } else { EXACT }
}

impl<P> Ranked<P> {
    pub(super) fn new(default: Operations) -> Self {
        Self { default, rules: Vec::new() }
    }

    pub(super) fn add(&mut self, rank: u64, pattern: P, effect: RuleEffect) {
        let place = self.rules.partition_point(|(known, ..)| *known <= rank);
        self.rules.insert(place, (rank, pattern, effect));
    }

    /// Returns the operations that the matching rules and the default allow. If the steps of the
    /// call are used up, nothing is allowed.
    pub(super) fn judge(&self, matches: impl Fn(&P) -> bool) -> Operations {
        let (mut allowed, mut says, mut rank) = (self.default, Masks::default(), 0);
        for (of, _, effect) in self.rules.iter().filter(|(_, pattern, _)| matches(pattern)) {
            if *of != rank {
                allowed = std::mem::take(&mut says).after(allowed);
                rank = *of;
            }
            says.add(*effect);
        }
        if steps::are_used_up() { 0 } else { says.after(allowed) }
    }

    /// Returns the rule that decides about one operation. Returns `None` if the default decides.
    pub(super) fn decider(&self, matches: impl Fn(&P) -> bool, operation: Operations) -> Option<RuleEffect> {
        let about = |(_, pattern, effect): &&(u64, P, RuleEffect)| effect.operations & operation != 0 && matches(pattern);
        let (rank, ..) = self.rules.iter().rev().find(about)?;
        let rules: Vec<RuleEffect> =
            self.rules.iter().filter(|(of, ..)| of == rank).filter(about).map(|(.., effect)| *effect).collect();
        first(rules.iter(), operation)
    }
}
