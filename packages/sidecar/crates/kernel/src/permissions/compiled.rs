//! A compiled policy: the validated rules in the form that makes checks fast.
//!
//! The embedder has written the policy, but every rule is validated. If an invalid rule were
//! ignored, an operation that should be denied could be allowed. Next: `audit.rs`.

use super::denied::{Denied, DeniedBy};
use super::glob::Glob;
use super::hosts::{Pattern, Peer};
use super::operations::{self, Operations, all, files, names};
use super::ranked::{Ranked, rank_of};
use super::tree::{Judged, Masks, RuleEffect, Tree};
use crate::permissions::policy::{PermissionPolicy, Scope, ScopePolicy, Verdict};
use crate::steps;
use coldframe_error::Error;
use std::sync::{Arc, LazyLock, OnceLock};

/// The maximum number of patterns in all rules of one scope.
const MAX_PATTERNS: usize = 1_024;
const MAX_PATTERN_BYTES: usize = 4_095;

/// The peers inside a runtime. A policy without a `network` scope allows only these peers.
const INSIDE_PEERS: [&str; 2] = ["localhost", "unix:*"];

/// A policy that has been validated and compiled.
#[derive(Debug)]
pub(crate) struct Compiled {
    fs: Tree,
    network: Ranked<Pattern>,
    children: Tree,
    /// The rules about programs by name. The paths of the programs' files do not matter.
    programs: Vec<(Glob, RuleEffect)>,
    process: Ranked<Glob>,
    env: Ranked<Glob>,
    binding: Ranked<Glob>,
    /// A bit for each scope that needs checks.
    pub(super) checked_scopes: u8,
    /// The policy before compilation, for a snapshot.
    pub(super) source: PermissionPolicy,
}

/// The resource of a permission check.
#[derive(Debug, Clone, Copy)]
pub(crate) enum About<'a> {
    /// An absolute path without links and dots.
    Path(&'a [u8]),
    Peer(Peer<'a>),
    /// A file to run: its path, and the name of the program in the file.
    Program(&'a [u8], &'a str),
    /// A signal, a working directory or a process group, as text.
    Process(&'a str),
    Variable(&'a str),
    Binding(&'a str),
}

/// Returns the compiled policy of a runtime whose embedder passed no policy.
pub(super) fn default() -> Arc<Compiled> {
    static DEFAULT: LazyLock<Arc<Compiled>> = LazyLock::new(|| {
        // The default policy has no invalid pattern. If a pattern were invalid, every operation
        // would be denied.
        let closed = || Compiled { checked_scopes: u8::MAX, ..Compiled::nothing() };
        Arc::new(Compiled::new(&PermissionPolicy::default()).unwrap_or_else(|_| closed()))
    });
    DEFAULT.clone()
}

/// Validates and compiles a policy. The policies of runtimes without the option `permissions` are
/// compiled once, and shared.
pub(super) fn of(policy: &PermissionPolicy) -> Result<Arc<Compiled>, Error> {
    static OUTSIDE: OnceLock<Arc<Compiled>> = OnceLock::new();
    if *policy == PermissionPolicy::default() {
        return Ok(default());
    }
    if policy != PermissionPolicy::of_outside() {
        return Ok(Arc::new(Compiled::new(policy)?));
    }
    match OUTSIDE.get() {
        Some(shared) => Ok(shared.clone()),
        None => {
            let compiled = Arc::new(Compiled::new(policy)?);
            Ok(OUTSIDE.get_or_init(|| compiled).clone())
        }
    }
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
            checked_scopes: 0,
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
                made.checked_scopes |= bit(scope);
            }
        }
        if policy.network.is_none() {
            // The kernel cannot reach peers outside the runtime, so these patterns affect only the
            // decisions that the listener receives.
            for (pattern, text) in (0..).zip(INSIDE_PEERS) {
                let effect = RuleEffect { verdict: Verdict::Allow, operations: all(Scope::Network), rule: 0, pattern };
                made.add(Scope::Network, text, effect).map_err(|expected| wrong("permissions.network", expected, text))?;
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
            let effect = RuleEffect { verdict: rule.verdict, operations, rule: rule_number, pattern: 0 };
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
                let effect = RuleEffect { pattern: u32::try_from(at).unwrap_or(u32::MAX), ..effect };
                self.add(scope, pattern, effect).map_err(|expected| wrong(&what(), expected, pattern))?;
            }
        }
        Ok(())
    }

    fn add(&mut self, scope: Scope, pattern: &str, effect: RuleEffect) -> Result<(), &'static str> {
        let ranked = match scope {
            Scope::Fs => return self.fs.add(pattern, effect),
            // The pattern `*` covers every program, so the pattern has the rank of the path `/`,
            // not the rank of a program's name.
            Scope::ChildProcess if pattern.trim_matches('*').is_empty() => return self.children.add("/", effect),
            Scope::ChildProcess if pattern.contains('/') => return self.children.add(pattern, effect),
            Scope::ChildProcess => {
                self.programs.push((Glob::new(pattern), effect));
                return Ok(());
            }
            Scope::Network => {
                let (pattern, rank) = Pattern::parse(pattern)?;
                let operations = effect.operations & pattern.operations;
                self.network.add(rank, pattern, RuleEffect { operations, ..effect });
                return Ok(());
            }
            Scope::Process => &mut self.process,
            Scope::Env => &mut self.env,
            Scope::Binding => &mut self.binding,
        };
        if pattern.contains('\0') {
            return Err("text without NUL");
        }
        ranked.add(u64::from(rank_of(pattern)), Glob::new(pattern), effect);
        Ok(())
    }

    /// Returns the operations that are allowed on a resource.
    pub(super) fn allowed(&self, about: About<'_>) -> Operations {
        match about {
            About::Path(path) => self.judge(path).allowed,
            About::Peer(peer) => self.network.judge(|pattern| pattern.matches(peer)),
            About::Program(path, name) => {
                let mut own = Masks::default();
                self.programs_named(name).for_each(|effect| own.add(effect));
                self.children.judge(path, own).allowed
            }
            About::Process(text) => self.process.judge(|glob| glob.matches(text.as_bytes())),
            About::Variable(name) => self.env.judge(|glob| glob.matches(name.as_bytes())),
            About::Binding(name) => self.binding.judge(|glob| glob.matches(name.as_bytes())),
        }
    }

    /// Returns the rule that decides about an operation. Returns `None` if the default decides.
    pub(super) fn decider(&self, about: About<'_>, operation: Operations) -> Option<RuleEffect> {
        match about {
            About::Path(path) => self.fs.decider(path, &[], operation),
            About::Peer(peer) => self.network.decider(|pattern| pattern.matches(peer), operation),
            About::Program(path, name) => self.children.decider(path, &self.programs_named(name).collect::<Vec<_>>(), operation),
            About::Process(text) => self.process.decider(|glob| glob.matches(text.as_bytes()), operation),
            About::Variable(name) => self.env.decider(|glob| glob.matches(name.as_bytes()), operation),
            About::Binding(name) => self.binding.decider(|glob| glob.matches(name.as_bytes()), operation),
        }
    }

    /// Returns the reason why the first of the `denied` operations is denied on a resource.
    pub(super) fn denied(&self, about: About<'_>, denied: Operations) -> Denied {
        let scope = about.scope();
        let (first, operation) = operations::each(scope, denied).next().unwrap_or((0, ""));
        let by = match self.decider(about, first) {
            _ if steps::are_used_up() => DeniedBy::Steps,
            Some(effect) => DeniedBy::Rule(effect.rule),
            None if self.source.scope(scope).is_some() => DeniedBy::ScopeDefault,
            None => DeniedBy::DefaultPolicy,
        };
        Denied { scope, operation, by, is_outside: false }
    }

    /// Returns the pattern of a rule as the embedder wrote the pattern. Returns `None` for a rule
    /// that applies to every resource.
    pub(super) fn pattern(&self, scope: Scope, effect: RuleEffect) -> Option<&str> {
        let pattern = usize::try_from(effect.pattern).ok()?;
        let Some(policy) = self.source.scope(scope) else { return INSIDE_PEERS.get(pattern).copied() };
        let rule = policy.rules.get(usize::try_from(effect.rule).ok()?)?;
        rule.patterns.as_ref()?.get(pattern).map(String::as_str)
    }

    fn programs_named<'n>(&'n self, name: &'n str) -> impl Iterator<Item = RuleEffect> + 'n {
        self.programs.iter().filter(|(glob, _)| glob.matches(name.as_bytes())).map(|(_, effect)| *effect)
    }

    pub(super) fn judge(&self, path: &[u8]) -> Judged {
        self.fs.judge(path, Masks::default())
    }

    /// Applies [`Tree::keeps`] to the rules about files.
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
