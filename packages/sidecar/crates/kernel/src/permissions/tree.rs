//! Rules about paths, stored as a tree of names. One pass over a path checks all rules.
//!
//! A pattern is a list of names between slashes. A name is a text, a glob that does not match
//! slashes, or `**` for zero or more names. A pattern covers the path that it describes **and
//! everything below**. The *depth* of a match is the number of the path's names up to the pattern's
//! last name. The matching rule with the highest depth decides. If several matching rules have that
//! depth, a denying rule decides. A `**` at the end of a pattern has no effect.
//!
//! ```text
//! /data/*.db   /data/private   **/.env          root ─ data ─ [*.db]
//!                                                │       └── private
//!                                                └ ** ─ .env
//! ```
//!
//! One pass checks all operations of a scope together, as bits. Next: `ranked.rs`, for resources
//! that are not paths.

use super::glob::{Glob, has_wildcard};
use super::operations::Operations;
use crate::permissions::policy::Verdict;
use crate::steps;

/// The maximum number of names in a pattern.
const MAX_NAMES: usize = 64;

/// The steps of a check besides the names of the path.
const STEPS_PER_CHECK: usize = 4;

/// The rules about paths in one scope.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// The operations that are allowed where no rule matches.
    default: Operations,
    /// The operations that are allowed on directories that lead to an allowed path.
    above_allowed: Operations,
}

#[derive(Debug, Default)]
struct Node {
    /// The children by literal name, sorted.
    literal: Vec<(Box<[u8]>, usize)>,
    globs: Vec<(Glob, usize)>,
    /// The child for `**`.
    any: Option<usize>,
    /// Whether the node is for `**`. Such a node matches each further name and stays active.
    is_any: bool,
    /// Whether the node is for `**` or is below a node for `**`.
    is_anywhere: bool,
    says: Masks,
    rules: Vec<RuleEffect>,
    /// Whether a rule of a node below allows an operation.
    allows_below: bool,
    /// Whether a rule of a node below denies an operation.
    denies_below: bool,
}

/// The operations that the rules of one depth allow and deny.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Masks {
    pub(super) allow: Operations,
    pub(super) deny: Operations,
}

/// The effect of one rule, the rule's index in the scope's list, and the index of the pattern in
/// the rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleEffect {
    pub(super) verdict: Verdict,
    pub(super) operations: Operations,
    pub(super) rule: u32,
    pub(super) pattern: u32,
}

/// The allowed operations of a path, and the nodes that match the path.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) allowed: Operations,
    active: Vec<usize>,
}

impl Masks {
    pub(super) fn add(&mut self, effect: RuleEffect) {
        match effect.verdict {
            Verdict::Allow => self.allow |= effect.operations,
            Verdict::Deny => self.deny |= effect.operations,
        }
    }

    fn with(self, other: Self) -> Self {
        Self { allow: self.allow | other.allow, deny: self.deny | other.deny }
    }

    /// Returns the allowed operations after these rules are applied. `before` are the operations
    /// that the rules of lower depths allow.
    pub(super) fn after(self, before: Operations) -> Operations {
        (before | self.allow) & !self.deny
    }
}

/// Returns the first rule that denies the operation. If no rule denies the operation, returns the
/// first rule that allows the operation. All rules must have the same depth.
pub(super) fn first<'r>(rules: impl Iterator<Item = &'r RuleEffect> + Clone, operation: Operations) -> Option<RuleEffect> {
    let about = |verdict| rules.clone().find(move |effect| effect.verdict == verdict && effect.operations & operation != 0);
    about(Verdict::Deny).or_else(|| about(Verdict::Allow)).copied()
}

fn names(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|name| !name.is_empty())
}

impl Tree {
    pub(super) fn new(default: Operations, above_allowed: Operations) -> Self {
        Self { nodes: vec![Node::default()], default, above_allowed }
    }

    /// Adds a rule for a pattern. For an invalid pattern, the error describes a valid pattern.
    pub(super) fn add(&mut self, pattern: &str, effect: RuleEffect) -> Result<(), &'static str> {
        if !pattern.starts_with('/') && pattern != "**" && !pattern.starts_with("**/") {
            return Err("an absolute path, or one that begins with **/");
        }
        let mut parts: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty()).collect();
        if pattern.contains('\0') || parts.iter().any(|name| *name == "." || *name == ".." || name.len() > 255) {
            return Err("a path without NUL, `.` and `..`, whose names have at most 255 bytes");
        }
        parts.dedup_by(|one, other| *one == "**" && *other == "**");
        while parts.last() == Some(&"**") {
            parts.pop();
        }
        if parts.len() > MAX_NAMES {
            return Err("a path of at most 64 names");
        }
        let mut passed = vec![0];
        for name in parts {
            let at = passed.last().copied().unwrap_or(0);
            passed.push(self.child(at, name));
        }
        let end = passed.pop().unwrap_or(0);
        for above in passed {
            let node = &mut self.nodes[above];
            node.allows_below |= effect.verdict == Verdict::Allow;
            node.denies_below |= effect.verdict == Verdict::Deny;
        }
        self.nodes[end].says.add(effect);
        self.nodes[end].rules.push(effect);
        Ok(())
    }

    fn child(&mut self, at: usize, name: &str) -> usize {
        let new = self.nodes.len();
        let node = &mut self.nodes[at];
        let found = if name == "**" {
            *node.any.get_or_insert(new)
        } else if has_wildcard(name) {
            let glob = Glob::new(name);
            match node.globs.iter().find(|(known, _)| *known == glob) {
                Some((_, child)) => *child,
                None => {
                    node.globs.push((glob, new));
                    new
                }
            }
        } else {
            match node.literal.binary_search_by(|(known, _)| (**known).cmp(name.as_bytes())) {
                Ok(place) => node.literal[place].1,
                Err(place) => {
                    node.literal.insert(place, (name.as_bytes().into(), new));
                    new
                }
            }
        };
        if found == new {
            let is_any = name == "**";
            self.nodes.push(Node { is_any, is_anywhere: is_any || self.nodes[at].is_anywhere, ..Node::default() });
        }
        found
    }

    fn enter(&self, at: usize, into: &mut Vec<usize>) {
        if into.contains(&at) {
            return;
        }
        into.push(at);
        if let Some(any) = self.nodes[at].any {
            self.enter(any, into);
        }
    }

    /// Stores the nodes that match after one more name. Charges steps. If the steps are used up,
    /// the nodes are void, and the caller must refuse.
    fn step(&self, from: &[usize], name: &[u8], into: &mut Vec<usize>) {
        into.clear();
        if steps::take(1 + from.len()).is_err() {
            return;
        }
        for at in from {
            let node = &self.nodes[*at];
            if node.is_any {
                self.enter(*at, into);
            }
            if let Ok(place) = node.literal.binary_search_by(|(known, _)| (**known).cmp(name)) {
                self.enter(node.literal[place].1, into);
            }
            for (_, child) in node.globs.iter().filter(|(glob, _)| glob.matches(name)) {
                self.enter(*child, into);
            }
        }
    }

    fn say(&self, active: &[usize]) -> Masks {
        active.iter().fold(Masks::default(), |all, at| all.with(self.nodes[*at].says))
    }

    fn leads_to_allowed(&self, active: &[usize]) -> bool {
        active.iter().any(|at| self.nodes[*at].allows_below && !self.nodes[*at].is_anywhere)
    }

    /// Returns the allowed operations of an absolute path without links and dots. `own` are further
    /// rules for this path only. If the steps of the call are used up, nothing is allowed.
    pub(super) fn judge(&self, path: &[u8], own: Masks) -> Judged {
        let (mut active, mut next) = (Vec::with_capacity(8), Vec::with_capacity(8));
        // A result of zero is kept until the end, where nothing is allowed.
        let _ = steps::take(STEPS_PER_CHECK);
        self.enter(0, &mut active);
        let (mut before, mut says) = (self.default, self.say(&active));
        for name in names(path) {
            if steps::are_used_up() {
                break;
            }
            before = says.after(before);
            if active.is_empty() {
                // No node matches the remaining names, so no further rule applies.
                says = Masks::default();
                continue;
            }
            self.step(&active, name, &mut next);
            std::mem::swap(&mut active, &mut next);
            says = self.say(&active);
        }
        if steps::are_used_up() {
            return Judged { allowed: 0, active };
        }
        let mut allowed = says.with(own).after(before);
        if self.above_allowed & !allowed != 0 && self.leads_to_allowed(&active) {
            allowed |= self.above_allowed;
        }
        Judged { allowed, active }
    }

    /// Returns the rule that decides about one operation. Returns `None` if the default decides.
    pub(super) fn decider(&self, path: &[u8], own: &[RuleEffect], operation: Operations) -> Option<RuleEffect> {
        let (mut active, mut next) = (Vec::new(), Vec::new());
        self.enter(0, &mut active);
        let mut decided = None;
        let mut rest = names(path).peekable();
        loop {
            let here = active.iter().flat_map(|at| &self.nodes[*at].rules);
            let is_last = rest.peek().is_none();
            let own = if is_last { own } else { &[] };
            decided = first(here.chain(own), operation).or(decided);
            let Some(name) = rest.next().filter(|_| !steps::are_used_up()) else { return decided };
            self.step(&active, name, &mut next);
            std::mem::swap(&mut active, &mut next);
        }
    }

    /// Returns whether a move from `from` to `to` allows no operation that was denied before. For a
    /// directory, this condition must also hold for all paths below. If the matching rules are not
    /// enough to decide, returns false.
    pub(super) fn keeps(&self, from: &Judged, to: &Judged, is_directory: bool) -> bool {
        if to.allowed & !from.allowed != 0 {
            return false;
        }
        let only = |one: &Judged, other: &Judged, counts: fn(&Node) -> bool| {
            one.active.iter().any(|at| counts(&self.nodes[*at]) && !other.active.contains(at))
        };
        !is_directory || !(only(from, to, |node| node.denies_below) || only(to, from, |node| node.allows_below))
    }
}
