//! Reads the arguments of a call. The caller is the SDK, which has checked its users' options. A
//! wrong argument is therefore a defect of the SDK, and fails with an error that names the
//! argument.

use std::num::NonZeroU32;

use coldframe_core::Error;
use coldframe_session::ErrorContext;
use napi::bindgen_prelude::{FromNapiValue, FunctionCallContext, Object, Result};
use napi::{Env, Unknown, ValueType};

use crate::values;

/// 2^53 - 1: the largest whole number that JavaScript represents exactly.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// The arguments of one call.
pub struct Arguments<'a> {
    context: &'a FunctionCallContext<'a>,
}

impl<'a> Arguments<'a> {
    /// Wraps the arguments of a call.
    pub fn new(context: &'a FunctionCallContext<'a>) -> Self {
        Self { context }
    }

    /// Reads the argument at index `at`, which is required.
    pub fn required<T: FromNapiValue>(&self, at: usize, name: &str, expected: &str) -> Result<T> {
        self.optional(at, name, expected)?.ok_or_else(|| wrong(self.context.env, name, expected, "undefined"))
    }

    /// Reads the argument at index `at`, which may be `undefined` or omitted.
    pub fn optional<T: FromNapiValue>(&self, at: usize, name: &str, expected: &str) -> Result<Option<T>> {
        if at >= self.context.length() {
            return Ok(None);
        }
        let read = self.context.get::<Option<T>>(at);
        read.map_err(|_| {
            let kind = self.context.get::<Unknown<'_>>(at).and_then(|value| value.get_type());
            wrong(self.context.env, name, expected, &kind.map_or("another value".to_owned(), described))
        })
    }

    /// Reads a whole number from 0 to `most`.
    pub fn whole(&self, at: usize, name: &str, most: u64) -> Result<u64> {
        let n = self.required(at, name, "a whole number")?;
        check_whole(self.context.env, name, n, 0, most)
    }

    /// Reads a whole number that may be omitted.
    pub fn optional_whole(&self, at: usize, name: &str) -> Result<Option<u64>> {
        let n = self.optional(at, name, "a whole number")?;
        n.map(|n| check_whole(self.context.env, name, n, 0, MAX_SAFE)).transpose()
    }

    /// Reads an id, which is not 0.
    pub fn id<T: From<NonZeroU32>>(&self, at: usize, name: &str) -> Result<T> {
        let number = self.whole(at, name, u32::MAX.into())?;
        let id = u32::try_from(number).ok().and_then(NonZeroU32::new);
        id.map(T::from).ok_or_else(|| wrong(self.context.env, name, "an id, which is not 0", &number.to_string()))
    }

    /// Reads limits: a list of names, and a list of their values in the next argument.
    pub fn limits(&self, at: usize) -> Result<Vec<(String, u64)>> {
        let names: Vec<String> = self.optional(at, "limits", "a list of strings")?.unwrap_or_default();
        let values: Vec<f64> = self.optional(at + 1, "limits", "a list of numbers")?.unwrap_or_default();
        let pair = |(name, value): (String, f64)| {
            let value = check_whole(self.context.env, &format!("limits.{name}"), value, 0, u64::MAX)?;
            Ok((name, value))
        };
        names.into_iter().zip(values).map(pair).collect()
    }

    /// Reads an environment. An omitted environment is empty.
    pub fn environment(&self, at: usize) -> Result<Vec<(String, String)>> {
        let Some(map) = self.optional::<Object<'_>>(at, "env", "an object of strings")? else { return Ok(Vec::new()) };
        let pair = |key: String| match map.get::<String>(&key) {
            Ok(Some(value)) => Ok((key, value)),
            _ => Err(wrong(self.context.env, &format!("env.{key}"), "a string", "another value")),
        };
        Object::keys(&map)?.into_iter().map(pair).collect()
    }
}

/// Checks that `n` is a whole number from `least` to `most`.
pub fn check_whole(env: &Env, name: &str, n: f64, least: u64, most: u64) -> Result<u64> {
    let most = most.min(MAX_SAFE);
    if n.fract() == 0.0 && n >= least as f64 && n <= most as f64 {
        return Ok(n as u64);
    }
    Err(wrong(env, name, &format!("a whole number from {least} to {most}"), &n.to_string()))
}

/// Makes the error of a wrong argument.
pub fn wrong(env: &Env, what: &str, expected: &str, received: &str) -> napi::Error {
    let error = Error::InvalidRequest { what: what.to_owned(), expected: expected.to_owned(), received: received.to_owned() };
    values::thrown(env, &error, ErrorContext::NONE)
}

fn described(kind: ValueType) -> String {
    format!("a value of type {}", format!("{kind:?}").to_lowercase())
}
