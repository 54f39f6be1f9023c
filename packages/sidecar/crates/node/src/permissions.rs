//! The functions of the object that are about permissions. Decisions come as events; the next ones are told when those before have been taken.

use std::sync::Arc;

use coldframe_core::{Decisions, PermissionListener, PermissionPolicy, PermissionRule, ScopePolicy, Verdict};
use napi::Env;
use napi::bindgen_prelude::{Object, Result};

use crate::arguments::{Arguments, wrong};
use crate::embedded::{Body, Embedded};
use crate::outlet::{Event, Listener};
use crate::values::{self, Raw};

/// Decisions in one event.
pub const MOST: usize = 128;

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[("setPermissions", set), ("watchPermissions", watch), ("takePermissions", take)];

fn set(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let runtime = this.runtime(env, arguments.number(0, "runtime")?)?;
    let policy = policy(env, &arguments.required(1, "permissions", "a policy")?)?;
    runtime.permissions().set(&policy).map_err(|error| values::thrown(env, &error, None))?;
    Ok(None)
}

/// A policy as the core takes it.
pub fn policy(env: &Env, given: &Object<'_>) -> Result<PermissionPolicy> {
    let of = |name: &str| -> Result<Option<ScopePolicy>> {
        let given: Option<Object<'_>> = given.get(name)?;
        given.map(|given| scope(env, name, &given)).transpose()
    };
    Ok(PermissionPolicy {
        fs: of("fs")?,
        network: of("network")?,
        child_process: of("childProcess")?,
        process: of("process")?,
        env: of("env")?,
        binding: of("binding")?,
    })
}

/// The same back.
pub fn told(env: &Env, policy: PermissionPolicy) -> Result<Raw> {
    let PermissionPolicy { fs, network, child_process, process, env: variables, binding } = policy;
    let scopes = [
        ("fs", fs),
        ("network", network),
        ("childProcess", child_process),
        ("process", process),
        ("env", variables),
        ("binding", binding),
    ];
    let mut told = Object::new(env)?;
    for (name, scope) in scopes {
        let Some(scope) = scope else { continue };
        let mut one = Object::new(env)?;
        one.set("default", mode(scope.default))?;
        let rule = |rule: PermissionRule| {
            let mut one = Object::new(env)?;
            one.set("mode", mode(rule.verdict))?;
            if let Some(operations) = rule.operations {
                one.set("operations", operations)?;
            }
            if let Some(patterns) = rule.patterns {
                one.set("patterns", patterns)?;
            }
            Raw::new(env, one)
        };
        one.set("rules", scope.rules.into_iter().map(rule).collect::<Result<Vec<_>>>()?)?;
        told.set(name, one)?;
    }
    Raw::new(env, told)
}

fn mode(verdict: Verdict) -> &'static str {
    if verdict == Verdict::Allow { "allow" } else { "deny" }
}

fn scope(env: &Env, name: &str, given: &Object<'_>) -> Result<ScopePolicy> {
    let rules: Option<Vec<Object<'_>>> = given.get("rules")?;
    let rule = |given: Object<'_>| -> Result<PermissionRule> {
        let (operations, patterns) = (given.get("operations")?, given.get("patterns")?);
        Ok(PermissionRule { verdict: verdict(env, name, "mode", &given)?, operations, patterns })
    };
    let rules: Result<Vec<_>> = rules.unwrap_or_default().into_iter().map(rule).collect();
    Ok(ScopePolicy { default: verdict(env, name, "default", given)?, rules: rules? })
}

fn verdict(env: &Env, scope: &str, name: &str, given: &Object<'_>) -> Result<Verdict> {
    let text: Option<String> = given.get(name)?;
    match text.as_deref() {
        Some("allow") => Ok(Verdict::Allow),
        Some("deny") => Ok(Verdict::Deny),
        other => Err(wrong(env, &format!("permissions.{scope}.{name}"), "allow or deny", other.unwrap_or("undefined"))),
    }
}

fn watch(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let number = arguments.number(0, "runtime")?;
    let runtime = this.runtime(env, number)?;
    let on: bool = arguments.required(1, "on", "true or false")?;
    let listener = || Arc::new(Listener { runtime: number, outlet: Arc::clone(&this.outlet) });
    runtime.permissions().listen(on.then(|| listener() as Arc<dyn PermissionListener>));
    Ok(None)
}

fn take(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let number = arguments.number(0, "runtime")?;
    let taken = this.still_awake(env, number)?.permissions().take(MOST);
    if !taken.decisions.is_empty() || taken.lost > 0 {
        // As an event, so that a busy guest leaves the event loop its turns.
        this.outlet.send(Event::Permissions(number, taken));
    }
    Ok(None)
}

/// Decisions as `{ events, lost }`.
pub fn events(env: &Env, taken: Decisions) -> Result<Raw> {
    let mut events = Vec::with_capacity(taken.decisions.len());
    for decision in taken.decisions {
        let mut event = Object::new(env)?;
        event.set("scope", decision.scope.name())?;
        event.set("operation", decision.operation)?;
        event.set("resource", decision.resource)?;
        event.set("decision", mode(decision.verdict))?;
        if let Some(rule) = decision.rule {
            event.set("rule", rule)?;
        }
        event.set("pid", decision.pid)?;
        event.set("timeUs", decision.time_us as f64)?;
        events.push(event);
    }
    let mut all = Object::new(env)?;
    all.set("events", events)?;
    all.set("lost", taken.lost as f64)?;
    Raw::new(env, all)
}
