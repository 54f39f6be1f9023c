//! Limits on their way in, and what is used of them on its way out.

use std::sync::{Arc, OnceLock};

use coldframe_core::{LimitUse, LimitWarning, Limits, WarningListener};
use napi::Env;
use napi::bindgen_prelude::{Object, Result};

use crate::arguments::{Arguments, check_whole};
use crate::embedded::{Body, Embedded};
use crate::outlet::{Event, Outlet};
use crate::values::{self, Raw};

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[("runtimeResources", resources)];

/// A profile, and names with values.
pub type Given = (Option<String>, Vec<(String, u64)>);

/// Limits as they are given: a profile, and names with values, in two lists of one length, from the argument `at` on.
pub fn given(env: &Env, arguments: &Arguments<'_>, at: usize) -> Result<Given> {
    let profile: Option<String> = arguments.optional(at, "profile", "a string")?;
    let names: Vec<String> = arguments.optional(at + 1, "limits", "a list of strings")?.unwrap_or_default();
    let values: Vec<f64> = arguments.optional(at + 2, "limits", "a list of numbers")?.unwrap_or_default();
    let pair = |(name, value): (String, f64)| {
        let value = check_whole(env, &format!("limits.{name}"), value, 0, u64::MAX)?;
        Ok((name, value))
    };
    Ok((profile, names.into_iter().zip(values).map(pair).collect::<Result<Vec<_>>>()?))
}

/// The same, as the core takes them.
pub fn build(env: &Env, arguments: &Arguments<'_>, at: usize) -> Result<Limits> {
    let (profile, pairs) = given(env, arguments, at)?;
    let pairs = pairs.iter().map(|(name, value)| (name.as_str(), *value));
    Limits::build(profile.as_deref(), pairs).map_err(|error| values::thrown(env, &error, None))
}

/// Tells Node of warnings of the runtime whose number `runtime` will hold.
pub fn listener(outlet: &Arc<Outlet>, runtime: &Arc<OnceLock<u32>>) -> WarningListener {
    let (outlet, runtime) = (Arc::clone(outlet), Arc::clone(runtime));
    Arc::new(move |warning| {
        if let Some(runtime) = runtime.get() {
            outlet.send(Event::Warning(*runtime, warning));
        }
    })
}

/// A warning as a value.
pub fn warning(env: &Env, warning: LimitWarning) -> Result<Raw> {
    let mut object = Object::new(env)?;
    object.set("limit", warning.limit)?;
    object.set("used", warning.used as f64)?;
    object.set("max", warning.max as f64)?;
    if let Some(pid) = warning.pid {
        object.set("pid", pid)?;
    }
    Raw::new(env, object)
}

fn resources(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let all = this.runtime(env, arguments.number(0, "runtime")?)?.resources();
    let list = |of: fn(&LimitUse) -> u64| all.limits.iter().map(|one| of(one) as f64).collect::<Vec<_>>();
    let mut reply = Object::new(env)?;
    reply.set("limits", all.limits.iter().map(|one| one.limit).collect::<Vec<_>>())?;
    reply.set("used", list(|one| one.used))?;
    reply.set("high", list(|one| one.high))?;
    reply.set("max", list(|one| one.max))?;
    reply.set("descriptors", all.descriptors as f64)?;
    reply.set("operations", all.operations as f64)?;
    reply.set("timers", all.timers as f64)?;
    reply.set("cpuMs", all.cpu_ms as f64)?;
    reply.set("bufferedBytes", all.buffered_bytes as f64)?;
    Raw::new(env, reply).map(Some)
}
