//! Makes JavaScript values.
//!
//! Valid UTF-8 output is returned as a string, which most callers need. Other output is returned as
//! a `Buffer`, because a string would lose bytes. A string of a few characters costs 0.1 µs, a
//! `Buffer` 2 to 3 µs.

use coldframe_core::{Error, Outcome, Timings};
use coldframe_protocol::messages::{Fact, Failure};
use coldframe_session::ErrorContext;
use napi::bindgen_prelude::{BufferSlice, FnArgs, FromNapiValue, Function, Object, Result, ToNapiValue, TypeName};
use napi::{Env, JsValue, Status, ValueType, sys};

/// The arguments of `makeOutcome`: `exitCode, stdout, stderr, value, failure, truncated,
/// memoryMapNs, instantiateNs, guestStartNs, guestRunNs, signal`. `truncated` is 1 for stdout, 2
/// for stderr, and 3 for both streams. `signal` is 0 for a program that exited.
pub type OutcomeArguments = FnArgs<(i32, Raw, Raw, Option<String>, Option<Raw>, u32, f64, f64, f64, f64, u32)>;

/// Binary data of at least this size becomes a `Buffer` without a copy. The `Buffer` then owns the
/// memory.
const LENT_BYTES: usize = 16 << 10;

/// A JavaScript value that was made in the present call.
pub struct Raw(sys::napi_value);

impl Raw {
    /// Converts a Rust value to a JavaScript value.
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

/// Makes a string of output that is valid UTF-8, and a `Buffer` of any other output.
pub fn text_or_bytes(env: &Env, data: Vec<u8>) -> Result<Raw> {
    if data.is_ascii() {
        return Raw::new(env, env.create_string_latin1(data)?);
    }
    match String::from_utf8(data) {
        Ok(text) => Raw::new(env, text),
        Err(error) => bytes(env, error.into_bytes()),
    }
}

/// Makes a `Buffer`. If `data` has at least `LENT_BYTES` bytes, the `Buffer` owns the memory of
/// `data` and no byte is copied.
pub fn bytes(env: &Env, data: Vec<u8>) -> Result<Raw> {
    let slice = if data.len() < LENT_BYTES { BufferSlice::copy_from(env, data)? } else { BufferSlice::from_data(env, data)? };
    Raw::new(env, slice)
}

/// Makes an outcome, with `makeOutcome`.
pub fn outcome(env: &Env, make: &Function<'_, OutcomeArguments, Raw>, outcome: Outcome, context: ErrorContext) -> Result<Raw> {
    let Timings { memory_map_ns, instantiate_ns, guest_start_ns, guest_run_ns } = outcome.timings;
    let truncated = u32::from(outcome.stdout_truncated) | u32::from(outcome.stderr_truncated) << 1;
    let failure = outcome.failure.map(|error| {
        let described = coldframe_session::failure(&error, context);
        Raw::new(env, failure(env, &described)?)
    });
    let failure = failure.transpose()?;
    let (stdout, stderr) = (text_or_bytes(env, outcome.stdout)?, text_or_bytes(env, outcome.stderr)?);
    let times = [memory_map_ns, instantiate_ns, guest_start_ns, guest_run_ns].map(|ns| ns as f64);
    let [map, instantiate, start, run] = times;
    let signal = u32::from(outcome.signal.unwrap_or(0));
    make.call((outcome.exit_code, stdout, stderr, outcome.value, failure, truncated, map, instantiate, start, run, signal).into())
}

/// Makes the value of a failure: `{ code, message, details }`.
fn failure<'env>(env: &'env Env, failure: &Failure<'_>) -> Result<Object<'env>> {
    let mut object = Object::new(env)?;
    describe(env, &mut object, failure)?;
    object.set("message", &*failure.message)?;
    Ok(object)
}

/// Makes an exception of an error of the core: an `Error` with `code` and `details`.
pub fn thrown(env: &Env, error: &Error, context: ErrorContext) -> napi::Error {
    thrown_failure(env, &coldframe_session::failure(error, context))
}

/// Makes an exception of a failure.
pub fn thrown_failure(env: &Env, failure: &Failure<'_>) -> napi::Error {
    let reason = failure.message.clone().into_owned();
    let made = env.create_error(napi::Error::new(Status::GenericFailure, reason)).and_then(|mut object| {
        describe(env, &mut object, failure)?;
        Ok(object.to_unknown().into())
    });
    made.unwrap_or_else(|failed: napi::Error| failed)
}

fn describe(env: &Env, object: &mut Object<'_>, failure: &Failure<'_>) -> Result<()> {
    let mut details = Object::new(env)?;
    for (name, fact) in &failure.details.0 {
        match fact {
            Fact::Number(n) => details.set(name, *n as f64)?,
            Fact::Text(text) => details.set(name, text)?,
        }
    }
    object.set("code", &*failure.code)?;
    object.set("details", details)
}
