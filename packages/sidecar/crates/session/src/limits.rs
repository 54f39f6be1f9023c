//! Converts the limits of a message, encodes a runtime's use of its limits, and sends the warnings
//! about limits.

use std::sync::{Arc, OnceLock};

use coldframe_core::{Error, LimitUse, Limits, Runtime, WarningListener};
use coldframe_ids::RuntimeId;
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{LimitWarning, Numbers, RuntimeUsage};

use crate::message::{Message, Outlet};
use crate::replies::Reply;

/// Converts the limits of a message.
pub(crate) fn build(profile: Option<&str>, limits: Option<Numbers<'_>>) -> Result<Limits, Error> {
    Limits::build(profile, limits.unwrap_or_default().0)
}

/// Returns the listener that sends the warnings of a runtime. `runtime` is set when the runtime has
/// been created, before the runtime's first program starts.
pub(crate) fn warnings(outlet: &Arc<dyn Outlet>, runtime: &Arc<OnceLock<RuntimeId>>) -> WarningListener {
    let (outlet, runtime) = (Arc::clone(outlet), Arc::clone(runtime));
    Arc::new(move |warning| {
        let Some(&runtime) = runtime.get() else { return };
        let coldframe_core::LimitWarning { limit, used, max, pid } = warning;
        let body = LimitWarning { runtime, limit, used, max, pid };
        outlet.send(Message::event(Kind::LimitWarning, 0, &body, 128));
    })
}

/// Encodes a runtime's use of its limits.
pub(crate) fn usage(reply: Reply, runtime: &Runtime) -> Message {
    let all = runtime.resources();
    let list = |of: fn(&LimitUse) -> u64| all.limits.iter().map(of).collect();
    let usage = RuntimeUsage {
        limits: all.limits.iter().map(|one| one.limit).collect(),
        used: list(|one| one.used),
        high: list(|one| one.high),
        max: list(|one| one.max),
        descriptors: all.descriptors,
        operations: all.operations,
        timers: all.timers,
        cpu_ms: all.cpu_ms,
        buffered_bytes: all.buffered_bytes,
    };
    reply.body(&usage, 1_024)
}
