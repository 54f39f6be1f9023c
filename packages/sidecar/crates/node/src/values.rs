//! The core's values as JavaScript's.
//!
//! Output is a string when it is valid UTF-8, which loses nothing and is what most callers want, and a `Buffer` otherwise: a string of a few
//! characters costs 0.1 µs, a `Buffer` 2 to 3 µs.

use coldframe_core::{Error, Fact, Outcome, Resources, Timings};
use napi::bindgen_prelude::{BufferSlice, FnArgs, FromNapiValue, Function, Object, Result, ToNapiValue, TypeName};
use napi::{Env, JsValue, Status, ValueType, sys};

use crate::table::Place;

/// `exitCode, stdout, stderr, value, failure, truncated, memoryMapNs, instantiateNs, guestStartNs, guestRunNs`; `truncated` is 1 for
/// stdout, 2 for stderr, or their sum.
pub type OutcomeArguments = FnArgs<(i32, Raw, Raw, Option<String>, Option<Raw>, u32, f64, f64, f64, f64)>;

/// From this many bytes on, binary data is lent to JavaScript instead of copied.
const LENT_BYTES: usize = 16 << 10;

/// A JavaScript value that was made in the present call, ready to be returned or passed on.
pub struct Raw(sys::napi_value);

impl Raw {
    /// Any value.
    pub fn new<T: ToNapiValue>(env: &Env, value: T) -> Result<Self> {
        // SAFETY: `env` is the environment of the present call.
        unsafe { T::to_napi_value(env.raw(), value).map(Self) }
    }
}

impl TypeName for Raw {
    fn type_name() -> &'static str {
        "unknown"
    }
    fn value_type() -> ValueType {
        ValueType::Unknown
    }
}

impl ToNapiValue for Raw {
    unsafe fn to_napi_value(_env: sys::napi_env, value: Self) -> Result<sys::napi_value> {
        Ok(value.0)
    }
}

impl FromNapiValue for Raw {
    unsafe fn from_napi_value(_env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        Ok(Self(value))
    }
}

/// What a descriptor has written.
pub fn text_or_bytes(env: &Env, data: Vec<u8>) -> Result<Raw> {
    if data.is_ascii() {
        return Raw::new(env, env.create_string_latin1(data)?);
    }
    match String::from_utf8(data) {
        Ok(text) => Raw::new(env, text),
        Err(error) => bytes(env, error.into_bytes()),
    }
}

/// A `Buffer`.
pub fn bytes(env: &Env, data: Vec<u8>) -> Result<Raw> {
    let slice = if data.len() < LENT_BYTES { BufferSlice::copy_from(env, data)? } else { BufferSlice::from_data(env, data)? };
    Raw::new(env, slice)
}

/// How a program ended, built by `makeOutcome`.
pub fn outcome(env: &Env, make: &Function<'_, OutcomeArguments, Raw>, outcome: Outcome, place: Place) -> Result<Raw> {
    let Timings { memory_map_ns, instantiate_ns, guest_start_ns, guest_run_ns } = outcome.timings;
    let truncated = u32::from(outcome.stdout_truncated) | u32::from(outcome.stderr_truncated) << 1;
    let failure = outcome.failure.map(|error| Raw::new(env, failure(env, &error, place.facts(&error))?)).transpose()?;
    let (stdout, stderr) = (text_or_bytes(env, outcome.stdout)?, text_or_bytes(env, outcome.stderr)?);
    let times = [memory_map_ns, instantiate_ns, guest_start_ns, guest_run_ns].map(|ns| ns as f64);
    let [map, instantiate, start, run] = times;
    make.call((outcome.exit_code, stdout, stderr, outcome.value, failure, truncated, map, instantiate, start, run).into())
}

/// A runner that is ready: `{ runner, pid, timings }`.
pub fn runner(env: &Env, runner: u32, pid: u32, timings: Timings) -> Result<Raw> {
    let mut times = Object::new(env)?;
    times.set("memoryMapNs", timings.memory_map_ns as f64)?;
    times.set("instantiateNs", timings.instantiate_ns as f64)?;
    times.set("guestStartNs", timings.guest_start_ns as f64)?;
    times.set("guestRunNs", timings.guest_run_ns as f64)?;
    let mut created = Object::new(env)?;
    created.set("runner", runner)?;
    created.set("pid", pid)?;
    created.set("timings", times)?;
    Raw::new(env, created)
}

/// What is in use.
pub fn resources(env: &Env, all: Resources) -> Result<Raw> {
    let mut counts = Object::new(env)?;
    counts.set("runtimes", all.runtimes as f64)?;
    counts.set("processes", all.processes as f64)?;
    counts.set("warmSlots", all.warm_slots as f64)?;
    counts.set("memoryBytes", all.memory_bytes as f64)?;
    counts.set("bufferedBytes", all.buffered_bytes as f64)?;
    Raw::new(env, counts)
}

/// An error as a value: `{ code, message, details }`, with a fact that only the caller knows.
pub fn failure<'env>(env: &'env Env, error: &Error, more: Option<(&'static str, u32)>) -> Result<Object<'env>> {
    let mut object = Object::new(env)?;
    describe(env, &mut object, error, more)?;
    object.set("message", error.to_string())?;
    Ok(object)
}

/// An error to be thrown: an `Error` with `code` and `details`.
pub fn thrown(env: &Env, error: &Error, more: Option<(&'static str, u32)>) -> napi::Error {
    let made = env.create_error(napi::Error::new(Status::GenericFailure, error.to_string())).and_then(|mut object| {
        describe(env, &mut object, error, more)?;
        Ok(object.to_unknown().into())
    });
    made.unwrap_or_else(|failed: napi::Error| failed)
}

fn describe(env: &Env, object: &mut Object<'_>, error: &Error, more: Option<(&'static str, u32)>) -> Result<()> {
    let mut details = Object::new(env)?;
    if let Some((name, number)) = more {
        details.set(name, number)?;
    }
    for (name, fact) in error.facts() {
        match fact {
            Fact::Number(n) => details.set(name, n as f64)?,
            Fact::Text(text) => details.set(name, text)?,
        }
    }
    object.set("code", error.code())?;
    object.set("details", details)
}
