//! Limits on their way in, and what is used of them on its way out.

use std::sync::{Arc, OnceLock};

use coldframe_core::{Error, LimitUse, Limits, Runtime, WarningListener};
use coldframe_protocol::Request;
use coldframe_protocol::messages::{Kind, LimitWarning, Numbers, RuntimeUsage};

use crate::outgoing::Outgoing;
use crate::wire;

/// The limits of a message as the core takes them.
pub fn build(profile: Option<&str>, limits: Option<Numbers<'_>>) -> Result<Limits, Error> {
    Limits::build(profile, limits.unwrap_or_default().0)
}

/// Sends warnings of the runtime whose number `runtime` will hold: none comes before its creation has been answered.
pub fn listener(outgoing: &Arc<Outgoing>, runtime: &Arc<OnceLock<u32>>) -> WarningListener {
    let (outgoing, runtime) = (Arc::clone(outgoing), Arc::clone(runtime));
    Arc::new(move |warning| {
        let Some(runtime) = runtime.get() else { return };
        let coldframe_core::LimitWarning { limit, used, max, pid } = warning;
        outgoing.push(wire::frame(Kind::LimitWarning, 0, &LimitWarning { runtime: *runtime, limit, used, max, pid }, 128));
    })
}

/// Whether a request is answered here.
pub fn is_about(request: &Request<'_>) -> bool {
    matches!(request, Request::RuntimeResources(_))
}

/// The answer to `runtime.resources`.
pub fn answer(id: u32, runtime: &Runtime) -> Vec<u8> {
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
    wire::frame(Kind::Reply, id, &usage, 1_024)
}
