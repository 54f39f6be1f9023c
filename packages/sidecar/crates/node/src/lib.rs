//! The core as a Node-API addon: the embedded sidecar.
//!
//! [`open`] gives an object of functions over one core. There is no protocol in between and no logic: arguments are plain values in fixed
//! places, because on this path a property read by name costs as much as the whole call (measured: 1.9 µs for an options object,
//! 0.25 µs for the same in places). Its types, for people too, are in `packages/sdk/src/transports/addon.ts`; the SDK is its only caller.
//!
//! [`embedded`] is the object's state and its functions, [`arguments`] reads what they get, [`outlet`] brings what happens on other
//! threads to Node's, [`held`] keeps a busy core alive, [`inline`] makes an answer that is already there a return value, and [`values`] makes
//! what JavaScript gets.

mod adopted;
mod arguments;
mod casting;
mod copies;
mod embedded;
mod files;
mod held;
mod host;
mod inline;
mod limits;
mod linger;
mod network;
mod opened;
mod outlet;
mod permissions;
mod processes;
mod requests;
mod runners;
mod sleep;
mod snapshots;
mod values;

/// The sidecar process numbers runtimes and runners in the same way.
#[path = "../../sidecar/src/table.rs"]
mod table;

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
/// Long enough for a worker that sleeps to wake up and run a small program; what comes next then finds it awake.
const SPIN_US: u64 = 100;
const MAX_SPIN_US: u64 = 10_000;
const MAX_INLINE_US: u64 = 1_000_000;

/// Opens a core. `onEvent(id, kind, payload)` is called for whatever does not end within the call that began it;
/// `makeOutcome(...)` builds an outcome in JavaScript, which is several times faster than doing so property by property from here.
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
    let log: Option<String> = options.get("log")?;
    if let Some(Err(received)) = log.as_deref().map(coldframe_log::install) {
        return Err(arguments::wrong(env, "log", coldframe_log::EXPECTED, &received));
    }
    let inline = Duration::from_micros(number("inlineUs", 0, MAX_INLINE_US, 0)?);
    let spin_us = if inline.is_zero() { SPIN_US } else { 0 };
    let core = CoreOptions {
        image_dir: image_dir.into(),
        workers: number("workers", 0, MAX_WORKERS, 0)? as usize,
        warm_slots: number("warmSlots", 0, MAX_WARM_SLOTS, 16)? as usize,
        spin: Duration::from_micros(number("spinUs", 0, MAX_SPIN_US, spin_us)?),
        max_runtimes: number("maxRuntimes", 1, embedded::MAX_RUNTIMES as u64, DEFAULT_MAX_RUNTIMES)?,
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
