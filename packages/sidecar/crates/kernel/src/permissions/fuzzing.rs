//! The target `permissions`: policies with any rules, and checks of any resource.
//!
//! A policy is compiled or refused. The rule that decides, and the allowed operations, agree. For
//! paths of ASCII names, the reference evaluator agrees too. A glob pattern needs a number of steps
//! that is at most the product of the lengths, so the target's timeout finds an exponential match.
#![expect(clippy::expect_used, reason = "a target panics on a broken promise")]

use super::compiled::{About, Compiled};
use super::glob::Glob;
use super::operations::{all, each, files};
use super::reference::{Rules, allows, one};
use super::{Peer, PermissionPolicy, Scope, Verdict};
use crate::permissions::policy::{PermissionRule, ScopePolicy};
use arbitrary::{Result, Unstructured};
use std::net::{IpAddr, Ipv6Addr};

const NAMES: &[&str] = &["a", "b", "ab", "bb", "*", "a*", "?b", "**", "*b*", "a?"];
const PLAIN: &[&str] = &["a", "b", "ab", "bb", "aab", "c"];
const HOSTS: &[&str] = &[
    "*",
    "localhost",
    "127.0.0.1",
    "[::1]:80",
    "tcp://example.com:443",
    "*.example.com",
    "udp://*:53",
    "dns://*",
    "unix:*",
    "::",
    "10.0.0.1:1-9",
    "example.com:*",
    "unix:a?",
];

fn verdict(input: &mut Unstructured<'_>) -> Result<Verdict> {
    Ok(if input.arbitrary()? { Verdict::Allow } else { Verdict::Deny })
}

fn joined(names: &[&'static str], most: usize, input: &mut Unstructured<'_>) -> Result<String> {
    let mut path = String::new();
    for _ in 0..input.int_in_range(0..=most)? {
        path.push('/');
        path.push_str(input.choose(names)?);
    }
    Ok(if path.is_empty() { "/".to_owned() } else { path })
}

/// Returns a short text of any characters.
fn text(input: &mut Unstructured<'_>) -> Result<String> {
    let len = usize::from(input.arbitrary::<u8>()?).min(input.len());
    Ok(String::from_utf8_lossy(input.bytes(len)?).into_owned())
}

/// Compares the tree with the reference evaluator.
fn compare_paths(input: &mut Unstructured<'_>) -> Result<()> {
    const OPERATIONS: [&[&str]; 3] = [&["read", "write", "stat"], &["read"], &["write", "stat"]];
    let default = verdict(input)?;
    let mut rules: Rules = Vec::new();
    for _ in 0..input.int_in_range(0..=6)? {
        rules.push((verdict(input)?, input.choose(&OPERATIONS)?.to_vec(), joined(NAMES, 5, input)?));
    }
    let of = |(verdict, operations, pattern): &(Verdict, Vec<&str>, String)| PermissionRule {
        verdict: *verdict,
        operations: Some(operations.iter().map(|name| (*name).to_owned()).collect()),
        patterns: Some(vec![pattern.clone()]),
    };
    let scope = ScopePolicy { default, rules: rules.iter().map(of).collect() };
    let policy = Compiled::new(&PermissionPolicy { fs: Some(scope), ..PermissionPolicy::default() }).expect("a valid policy");
    while !input.is_empty() {
        let (from, to) = (joined(PLAIN, 6, input)?, joined(PLAIN, 6, input)?);
        for (operation, bit) in [("read", files::READ), ("write", files::WRITE), ("stat", files::STAT)] {
            let allowed = policy.allowed(About::Path(from.as_bytes())) & bit != 0;
            assert_eq!(allowed, allows(default, &rules, &from, operation), "{operation} {from} {default:?} {rules:?}");
        }
        let (one, other) = (policy.judge(from.as_bytes()), policy.judge(to.as_bytes()));
        if policy.keeps(&one, &other, true) {
            let below = joined(PLAIN, 4, input)?;
            let (from, to) = (format!("{from}{below}"), format!("{to}{below}"));
            for operation in ["read", "write"] {
                let allowed = |path: &str| allows(default, &rules, path, operation);
                assert!(allowed(&from) || !allowed(&to), "{operation} {from} {to} {default:?} {rules:?}");
            }
        }
    }
    Ok(())
}

/// Compares a glob pattern with the reference evaluator.
fn compare_glob(input: &mut Unstructured<'_>) -> Result<()> {
    let chosen = |letters: &'static [u8], most: usize, input: &mut Unstructured<'_>| -> Result<String> {
        (0..input.int_in_range(0..=most)?).map(|_| input.choose(letters).map(|byte| char::from(*byte))).collect()
    };
    let (pattern, name) = (chosen(b"ab*?", 9, input)?, chosen(b"ab", 12, input)?);
    assert_eq!(Glob::new(&pattern).matches(name.as_bytes()), one(&pattern, &name), "{pattern:?} {name:?}");
    // The longest name, for a pattern that repeats its wildcards.
    let long = pattern.repeat(28);
    let _ = Glob::new(&long).matches(name.repeat(21).as_bytes());
    Ok(())
}

/// Compiles a policy of any texts, and compares each decision with the rule that decides.
fn check_any(input: &mut Unstructured<'_>) -> Result<()> {
    let scope = *input.choose(&Scope::ALL)?;
    let default = verdict(input)?;
    let mut rules = Vec::new();
    for _ in 0..input.int_in_range(0..=5)? {
        let pattern = match scope {
            Scope::Network if input.arbitrary()? => (*input.choose(HOSTS)?).to_owned(),
            Scope::Fs | Scope::ChildProcess if input.arbitrary()? => joined(NAMES, 4, input)?,
            _ => text(input)?,
        };
        rules.push(PermissionRule { verdict: verdict(input)?, operations: None, patterns: Some(vec![pattern]) });
    }
    let mut policy = PermissionPolicy::default();
    let place = match scope {
        Scope::Fs => &mut policy.fs,
        Scope::Network => &mut policy.network,
        Scope::ChildProcess => &mut policy.child_process,
        Scope::Process => &mut policy.process,
        Scope::Env => &mut policy.env,
        Scope::Binding => &mut policy.binding,
    };
    *place = Some(ScopePolicy { default, rules });
    let Ok(compiled) = Compiled::new(&policy) else { return Ok(()) };
    while !input.is_empty() {
        let (resource, path) = (text(input)?, joined(PLAIN, 5, input)?);
        let about = match scope {
            Scope::Fs => About::Path(path.as_bytes()),
            Scope::Network => About::Peer(match input.int_in_range(0..=3)? {
                0 => Peer::Name(&resource),
                1 => Peer::Unix(resource.as_bytes()),
                2 => Peer::Address(IpAddr::from(input.arbitrary::<[u8; 4]>()?), input.arbitrary()?),
                _ => Peer::Address(IpAddr::V6(Ipv6Addr::from(input.arbitrary::<[u8; 16]>()?)), input.arbitrary()?),
            }),
            Scope::ChildProcess => About::Program(path.as_bytes(), &resource),
            Scope::Process => About::Process(&resource),
            Scope::Env => About::Variable(&resource),
            Scope::Binding => About::Binding(&resource),
        };
        let allowed = compiled.allowed(about);
        for (bit, name) in each(scope, all(scope)) {
            let decided = compiled.decider(about, bit).map_or(default, |effect| effect.verdict) == Verdict::Allow;
            // `stat` is also allowed on directories that lead to an allowed path.
            let is_above = scope == Scope::Fs && bit == files::STAT && !decided;
            assert!(is_above || decided == (allowed & bit != 0), "{name} {about:?} {policy:?}");
        }
        let _ = compiled.denied(about, !allowed & all(scope));
    }
    Ok(())
}

/// Compiles a policy and checks resources.
///
/// # Panics
/// Panics if the policy decides otherwise than the reference evaluator or than its own rule.
pub fn permissions(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else { return };
    let mut input = Unstructured::new(data);
    // The input may end in the middle of a value.
    let _ = match kind % 3 {
        0 => compare_paths(&mut input),
        1 => compare_glob(&mut input),
        _ => check_any(&mut input),
    };
}
