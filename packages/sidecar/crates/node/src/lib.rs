//! The sidecar as a Node-API addon: one embedder's session in Node's own process.
//!
//! [`open`] returns an object of functions over one session. Requests are frames, as on the socket
//! of a sidecar process. Three requests have functions with positional arguments: creating a
//! runtime, starting a program and evaluating a snippet. Reading properties by name would cost as
//! much as the whole call (measured: 1.9 µs for an options object, 0.25 µs for positional
//! arguments). The object's types are in `packages/sdk/src/transports/addon.ts`. The SDK is the
//! only caller.
//!
//! [`embedded`] is the object, and [`arguments`] reads its arguments. [`outlet`] passes messages to
//! Node's thread. [`capture`] and [`linger`] turn a reply that is ready into a return value.
//! [`held`] keeps a busy object alive, and [`values`] makes JavaScript values.

mod arguments;
mod capture;
mod embedded;
mod held;
mod linger;
mod outlet;
mod values;

use std::time::Duration;

use coldframe_core::{CoreOptions, DEFAULT_MAX_RUNTIMES, StoreOptions};
use napi::Env;
use napi::bindgen_prelude::{Function, Object, Result};
use napi_derive::napi;

use crate::embedded::Embedded;
use crate::outlet::EventArguments;
use crate::values::OutcomeArguments;

const MAX_WORKERS: u64 = 256;
const MAX_WARM_SLOTS: u64 = 4_096;
/// The time that Node's thread and workers poll before they block, in microseconds. The time is
/// sufficient for a blocked worker to wake and run a small program.
const SPIN_US: u64 = 100;
const MAX_SPIN_US: u64 = 10_000;
const MAX_INLINE_US: u64 = 1_000_000;

/// Opens a session. Calls `onEvent(kind, id, payload)` for every message that is not the return
/// value of a call. `makeOutcome(...)` builds an outcome in JavaScript, which is several times
/// faster than setting the outcome's properties one by one from native code.
#[napi(skip_typescript)]
pub fn open<'env>(
    env: &'env Env,
    options: Object<'env>,
    on_event: Function<'env, EventArguments, ()>,
    make_outcome: Function<'env, OutcomeArguments, values::Raw>,
) -> Result<Object<'env>> {
    let number = |name: &str, least: u64, most: u64, default: u64| {
        let given: Option<f64> = options.get(name)?;
        given.map_or(Ok(default), |n| arguments::check_whole(env, name, n, least, most))
    };
    let image_dir: Option<String> = options.get("imageDir")?;
    let image_dir = image_dir.ok_or_else(|| arguments::wrong(env, "imageDir", "the path of a folder", "undefined"))?;
    let python_dir: Option<String> = options.get("pythonDir")?;
    let edge: Option<String> = options.get("edge")?;
    let edge = edge.ok_or_else(|| arguments::wrong(env, "edge", "the path of a program", "undefined"))?;
    let log: Option<String> = options.get("log")?;
    if let Some(Err(received)) = log.as_deref().map(coldframe_log::install) {
        return Err(arguments::wrong(env, "log", coldframe_log::EXPECTED, &received));
    }
    coldframe_panics::install("coldframe");
    let inline = Duration::from_micros(number("inlineUs", 0, MAX_INLINE_US, 0)?);
    let spin_us = if inline.is_zero() { SPIN_US } else { 0 };
    let core = CoreOptions {
        image_dir: image_dir.into(),
        python_dir: python_dir.map(Into::into),
        workers: number("workers", 0, MAX_WORKERS, 0)? as usize,
        warm_slots: number("warmSlots", 0, MAX_WARM_SLOTS, 16)? as usize,
        spin: Duration::from_micros(number("spinUs", 0, MAX_SPIN_US, spin_us)?),
        max_runtimes: number("maxRuntimes", 1, coldframe_session::MAX_RUNTIMES as u64, DEFAULT_MAX_RUNTIMES)?,
        edge: edge.into(),
        requires_edge_walls: false,
    };
    let store: Option<Object<'env>> = options.get("snapshots")?;
    let store = store.ok_or_else(|| arguments::wrong(env, "snapshots", "an object", "undefined"))?;
    let bytes = |name: &str| {
        let given: Option<f64> = store.get(name)?;
        given.map_or(Ok(u64::MAX), |n| arguments::check_whole(env, name, n, 0, u64::MAX))
    };
    let directory: Option<String> = store.get("directory")?;
    let store =
        StoreOptions { directory: directory.map(Into::into), max_bytes: bytes("maxBytes")?, memory_bytes: bytes("memoryBytes")? };
    Embedded::open(env, &core, store, inline, on_event, make_outcome)
}
