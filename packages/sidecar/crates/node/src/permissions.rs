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
    let given: Object<'_> = arguments.required(1, "permissions", "a policy")?;
    let of = |name: &str| -> Result<Option<ScopePolicy>> {
        let given: Option<Object<'_>> = given.get(name)?;
        given.map(|given| scope(env, name, &given)).transpose()
    };
    let policy = PermissionPolicy {
        fs: of("fs")?,
        network: of("network")?,
        child_process: of("childProcess")?,
        process: of("process")?,
        env: of("env")?,
        binding: of("binding")?,
    };
    runtime.permissions().set(&policy).map_err(|error| values::thrown(env, &error, None))?;
    Ok(None)
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
    let taken = this.runtime(env, number)?.permissions().take(MOST);
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
        event.set("decision", if decision.verdict == Verdict::Allow { "allow" } else { "deny" })?;
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
