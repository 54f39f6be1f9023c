//! A policy as it is asked: checked, and in the form in which a question is answered fastest. The caller has written it, and it is still checked
//! whole: a rule that says nothing because of a slip would open what it was to close. Next: `audit.rs`.

use super::glob::Glob;
use super::hosts::{Pattern, Peer};
use super::operations::{self, Operations, all, files, names};
use super::ranked::{Ranked, rank_of};
use super::tree::{Judged, Masks, Said, Tree};
use crate::permissions::policy::{PermissionPolicy, Scope, ScopePolicy, Verdict};
use coldframe_error::Error;
use std::sync::{Arc, LazyLock};

/// Patterns that the rules of one scope may have together.
const MAX_PATTERNS: usize = 1_024;
const MAX_PATTERN_BYTES: usize = 4_095;

/// What stays inside a runtime, which the policy allows when it says nothing about the network.
const INSIDE: [&str; 2] = ["localhost", "unix:*"];

/// See the module.
#[derive(Debug)]
pub(crate) struct Compiled {
    fs: Tree,
    network: Ranked<Pattern>,
    children: Tree,
    /// Programs by name, wherever their files are.
    programs: Vec<(Glob, Said)>,
    process: Ranked<Glob>,
    env: Ranked<Glob>,
    binding: Ranked<Glob>,
    /// Scopes in which there is something to ask about: a bit for each.
    pub(super) asks: u8,
    /// What it was made from, for a snapshot.
    pub(super) source: PermissionPolicy,
}

/// A question.
#[derive(Debug, Clone, Copy)]
pub(crate) enum About<'a> {
    /// An absolute path without links and dots.
    Path(&'a [u8]),
    Peer(Peer<'a>),
    /// A file that is run, and the name of the program in it.
    Program(&'a [u8], &'a str),
    /// The text of a signal, a directory or a group.
    Process(&'a str),
    Variable(&'a str),
    Binding(&'a str),
}

/// The policy of a runtime that was given none.
pub(super) fn default() -> Arc<Compiled> {
    static DEFAULT: LazyLock<Arc<Compiled>> = LazyLock::new(|| {
        // It has no pattern that could be wrong; were there one, everything would be denied.
        let closed = || Compiled { asks: u8::MAX, ..Compiled::nothing() };
        Arc::new(Compiled::new(&PermissionPolicy::default()).unwrap_or_else(|_| closed()))
    });
    DEFAULT.clone()
}

pub(super) fn bit(scope: Scope) -> u8 {
    1 << scope as u8
}

impl Compiled {
    fn nothing() -> Self {
        Self {
            fs: Tree::new(0, 0),
            network: Ranked::new(0),
            children: Tree::new(0, 0),
            programs: Vec::new(),
            process: Ranked::new(0),
            env: Ranked::new(0),
            binding: Ranked::new(0),
            asks: 0,
            source: PermissionPolicy::default(),
        }
    }

    pub(super) fn new(policy: &PermissionPolicy) -> Result<Self, Error> {
        let allowed = |scope| if default_of(policy, scope) == Verdict::Allow { all(scope) } else { 0 };
        let mut made = Self {
            fs: Tree::new(allowed(Scope::Fs), files::STAT),
            network: Ranked::new(allowed(Scope::Network)),
            children: Tree::new(allowed(Scope::ChildProcess), 0),
            process: Ranked::new(allowed(Scope::Process)),
            env: Ranked::new(allowed(Scope::Env)),
            binding: Ranked::new(allowed(Scope::Binding)),
            source: policy.clone(),
            ..Self::nothing()
        };
        for scope in Scope::ALL {
            let Some(rules) = policy.scope(scope) else { continue };
            made.take(scope, rules)?;
            if rules.default == Verdict::Deny || !rules.rules.is_empty() {
                made.asks |= bit(scope);
            }
        }
        if policy.network.is_none() {
            // The kernel has no way out of a runtime: this is for those who listen.
            for pattern in INSIDE {
                let said = Said { verdict: Verdict::Allow, operations: all(Scope::Network), rule: 0 };
                made.add(Scope::Network, pattern, said).map_err(|expected| wrong("permissions.network", expected, pattern))?;
            }
        }
        Ok(made)
    }

    fn take(&mut self, scope: Scope, policy: &ScopePolicy) -> Result<(), Error> {
        let mut patterns = 0;
        for (number, rule) in policy.rules.iter().enumerate() {
            let place = format!("permissions.{}.rules[{number}]", scope.name());
            let operations = match &rule.operations {
                None => all(scope),
                Some(given) => operations_of(scope, given, &place)?,
            };
            let rule_number = u32::try_from(number).unwrap_or(u32::MAX);
            let said = Said { verdict: rule.verdict, operations, rule: rule_number };
            let whole = [match scope {
                Scope::Fs | Scope::ChildProcess => "/".to_owned(),
                _ => "*".to_owned(),
            }];
            for (at, pattern) in rule.patterns.as_deref().unwrap_or(&whole).iter().enumerate() {
                let what = || format!("{place}.{}[{at}]", scope.patterns());
                patterns += 1;
                if patterns > MAX_PATTERNS {
                    return Err(wrong(&what(), "at most 1024 patterns in a scope", "more"));
                }
                if pattern.is_empty() || pattern.len() > MAX_PATTERN_BYTES {
                    return Err(wrong(&what(), "text of 1 to 4095 bytes", pattern));
                }
                self.add(scope, pattern, said).map_err(|expected| wrong(&what(), expected, pattern))?;
            }
        }
        Ok(())
    }

    fn add(&mut self, scope: Scope, pattern: &str, said: Said) -> Result<(), &'static str> {
        let ranked = match scope {
            Scope::Fs => return self.fs.add(pattern, said),
            // Every name is every program, and no program in particular.
            Scope::ChildProcess if pattern.trim_matches('*').is_empty() => return self.children.add("/", said),
            Scope::ChildProcess if pattern.contains('/') => return self.children.add(pattern, said),
            Scope::ChildProcess => {
                self.programs.push((Glob::new(pattern), said));
                return Ok(());
            }
            Scope::Network => {
                let (pattern, rank) = Pattern::parse(pattern)?;
                let operations = said.operations & pattern.operations;
                self.network.add(rank, pattern, Said { operations, ..said });
                return Ok(());
            }
            Scope::Process => &mut self.process,
            Scope::Env => &mut self.env,
            Scope::Binding => &mut self.binding,
        };
        if pattern.contains('\0') {
            return Err("text without NUL");
        }
        ranked.add(u64::from(rank_of(pattern)), Glob::new(pattern), said);
        Ok(())
    }

    /// The operations that are allowed.
    pub(super) fn allowed(&self, about: About<'_>) -> Operations {
        match about {
            About::Path(path) => self.judge(path).allowed,
            About::Peer(peer) => self.network.judge(|pattern| pattern.matches(peer)),
            About::Program(path, name) => {
                let mut own = Masks::default();
                self.programs_named(name).for_each(|said| own.add(said));
                self.children.judge(path, own).allowed
            }
            About::Process(text) => self.process.judge(|glob| glob.matches(text.as_bytes())),
            About::Variable(name) => self.env.judge(|glob| glob.matches(name.as_bytes())),
            About::Binding(name) => self.binding.judge(|glob| glob.matches(name.as_bytes())),
        }
    }

    /// The rule that decides about an operation.
    pub(super) fn decider(&self, about: About<'_>, operation: Operations) -> Option<u32> {
        match about {
            About::Path(path) => self.fs.decider(path, &[], operation),
            About::Peer(peer) => self.network.decider(|pattern| pattern.matches(peer), operation),
            About::Program(path, name) => self.children.decider(path, &self.programs_named(name).collect::<Vec<_>>(), operation),
            About::Process(text) => self.process.decider(|glob| glob.matches(text.as_bytes()), operation),
            About::Variable(name) => self.env.decider(|glob| glob.matches(name.as_bytes()), operation),
            About::Binding(name) => self.binding.decider(|glob| glob.matches(name.as_bytes()), operation),
        }
    }

    fn programs_named<'n>(&'n self, name: &'n str) -> impl Iterator<Item = Said> + 'n {
        self.programs.iter().filter(|(glob, _)| glob.matches(name.as_bytes())).map(|(_, said)| *said)
    }

    pub(super) fn judge(&self, path: &[u8]) -> Judged {
        self.fs.judge(path, Masks::default())
    }

    /// See [`Tree::keeps`].
    pub(super) fn keeps(&self, from: &Judged, to: &Judged, is_directory: bool) -> bool {
        self.fs.keeps(from, to, is_directory)
    }
}

fn default_of(policy: &PermissionPolicy, scope: Scope) -> Verdict {
    let none = if scope == Scope::Network { Verdict::Deny } else { Verdict::Allow };
    policy.scope(scope).map_or(none, |scope| scope.default)
}

fn operations_of(scope: Scope, given: &[String], place: &str) -> Result<Operations, Error> {
    let mut set = 0;
    for (at, name) in given.iter().enumerate() {
        let known = operations::each(scope, all(scope)).find(|(_, known)| *known == name.as_str());
        let expected = || format!("an operation of {}: {}", scope.name(), names(scope).join(", "));
        set |= known.ok_or_else(|| wrong(&format!("{place}.operations[{at}]"), &expected(), name))?.0;
    }
    Ok(set)
}

fn wrong(what: &str, expected: &str, received: &str) -> Error {
    let received = format!("{:?}", received.chars().take(100).collect::<String>());
    Error::InvalidRequest { what: what.to_owned(), expected: expected.to_owned(), received }
}

impl About<'_> {
    pub(super) fn scope(self) -> Scope {
        match self {
            Self::Path(_) => Scope::Fs,
            Self::Peer(_) => Scope::Network,
            Self::Program(..) => Scope::ChildProcess,
            Self::Process(_) => Scope::Process,
            Self::Variable(_) => Scope::Env,
            Self::Binding(_) => Scope::Binding,
        }
    }
}

impl std::fmt::Display for About<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Path(path) | Self::Program(path, _) => f.write_str(&String::from_utf8_lossy(path)),
            Self::Peer(peer) => peer.fmt(f),
            Self::Process(text) | Self::Variable(text) | Self::Binding(text) => f.write_str(text),
        }
    }
}
