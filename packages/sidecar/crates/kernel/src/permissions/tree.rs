//! Rules about paths, made into a tree of names so that a path is judged in one go however many rules there are.
//!
//! A pattern is names between slashes: text, a glob that ends at a slash, or `**` for any names, none included. It matches the path that it
//! describes **and everything below it**. Its *depth* on a path is how many names of the path it takes to get to its own last one; so of two
//! rules the one that describes a place nearer to the thing counts, and at one depth a rule that denies. `**` at a pattern's end says
//! nothing that the rest of it does not say.
//!
//! ```text
//! /data/*.db   /data/private   **/.env          root ─ data ─ [*.db]
//!                                                │       └── private
//!                                                └ ** ─ .env
//! ```
//!
//! All operations are judged together, as bits. Next: `ranked.rs`, for what is no path.

use super::glob::{Glob, has_wildcard};
use super::operations::Operations;
use crate::permissions::policy::Verdict;

/// Names that a pattern may have.
const MAX_NAMES: usize = 64;

/// See the module.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// What is allowed where no rule says anything.
    default: Operations,
    /// What may be done with what leads to something that is allowed.
    on_the_way: Operations,
}

#[derive(Debug, Default)]
struct Node {
    /// In order.
    literal: Vec<(Box<[u8]>, usize)>,
    globs: Vec<(Glob, usize)>,
    /// What comes after `**`.
    any: Option<usize>,
    /// It is such a one: every name leads back to it.
    is_any: bool,
    /// It is such a one, or comes after one.
    is_anywhere: bool,
    says: Masks,
    rules: Vec<Said>,
    /// Whether something below it is allowed, or denied.
    allows_below: bool,
    denies_below: bool,
}

/// What rules of one depth say about operations.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Masks {
    pub(super) allow: Operations,
    pub(super) deny: Operations,
}

/// A rule as it stands in a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    pub(super) verdict: Verdict,
    pub(super) operations: Operations,
    pub(super) rule: u32,
}

/// What may be done with a path, and where in the tree it ends.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) allowed: Operations,
    active: Vec<usize>,
}

impl Masks {
    pub(super) fn add(&mut self, said: Said) {
        match said.verdict {
            Verdict::Allow => self.allow |= said.operations,
            Verdict::Deny => self.deny |= said.operations,
        }
    }

    fn with(self, other: Self) -> Self {
        Self { allow: self.allow | other.allow, deny: self.deny | other.deny }
    }

    /// What is allowed when `before` was and these rules are deeper.
    pub(super) fn after(self, before: Operations) -> Operations {
        (before | self.allow) & !self.deny
    }
}

/// Among rules of one depth: the first that denies the operation, else the first that allows it.
pub(super) fn first<'r>(rules: impl Iterator<Item = &'r Said> + Clone, operation: Operations) -> Option<u32> {
    let about = |verdict| rules.clone().find(move |said| said.verdict == verdict && said.operations & operation != 0);
    about(Verdict::Deny).or_else(|| about(Verdict::Allow)).map(|said| said.rule)
}

fn names(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|name| !name.is_empty())
}

impl Tree {
    pub(super) fn new(default: Operations, on_the_way: Operations) -> Self {
        Self { nodes: vec![Node::default()], default, on_the_way }
    }

    /// Adds a rule about a pattern; what is wrong with the pattern otherwise.
    pub(super) fn add(&mut self, pattern: &str, said: Said) -> Result<(), &'static str> {
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
            node.allows_below |= said.verdict == Verdict::Allow;
            node.denies_below |= said.verdict == Verdict::Deny;
        }
        self.nodes[end].says.add(said);
        self.nodes[end].rules.push(said);
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

    fn step(&self, from: &[usize], name: &[u8], into: &mut Vec<usize>) {
        into.clear();
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

    /// What may be done with an absolute path without links and dots. `own`: what further rules say about the very thing.
    pub(super) fn judge(&self, path: &[u8], own: Masks) -> Judged {
        let (mut active, mut next) = (Vec::with_capacity(8), Vec::with_capacity(8));
        self.enter(0, &mut active);
        let (mut before, mut says) = (self.default, self.say(&active));
        for name in names(path) {
            before = says.after(before);
            if active.is_empty() {
                // No rule is about anything here; only the depth grows.
                says = Masks::default();
                continue;
            }
            self.step(&active, name, &mut next);
            std::mem::swap(&mut active, &mut next);
            says = self.say(&active);
        }
        let mut allowed = says.with(own).after(before);
        if self.on_the_way & !allowed != 0 && self.leads_to_allowed(&active) {
            allowed |= self.on_the_way;
        }
        Judged { allowed, active }
    }

    /// The rule that decides about one operation; none when none does.
    pub(super) fn decider(&self, path: &[u8], own: &[Said], operation: Operations) -> Option<u32> {
        let (mut active, mut next) = (Vec::new(), Vec::new());
        self.enter(0, &mut active);
        let mut decided = None;
        let mut rest = names(path).peekable();
        loop {
            let here = active.iter().flat_map(|at| &self.nodes[*at].rules);
            let is_last = rest.peek().is_none();
            let own = if is_last { own } else { &[] };
            decided = first(here.chain(own), operation).or(decided);
            let Some(name) = rest.next() else { return decided };
            self.step(&active, name, &mut next);
            std::mem::swap(&mut active, &mut next);
        }
    }

    /// Whether nothing that may not be done with something (and with all that is in it, if it is a directory) may be done when it is at
    /// `to` instead of at `from`. Errs on the side of no.
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
