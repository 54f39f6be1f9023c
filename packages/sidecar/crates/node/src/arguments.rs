//! Reads the arguments of a call. The caller is our own SDK, which has checked its users' options: a wrong one here is a bug, and still
//! an error that names the argument.

use std::time::Duration;

use coldframe_core::{Error, Streams};
use napi::bindgen_prelude::{FromNapiValue, FunctionCallContext, Object, Result};
use napi::{Env, Unknown, ValueType};

use crate::values;

/// 2^53 - 1: the largest whole number that JavaScript has exactly.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// The arguments of one call.
pub struct Arguments<'a> {
    context: &'a FunctionCallContext<'a>,
}

impl<'a> Arguments<'a> {
    /// Those of this call.
    pub fn new(context: &'a FunctionCallContext<'a>) -> Self {
        Self { context }
    }

    /// Text, binary data or a list that must be there.
    pub fn required<T: FromNapiValue>(&self, at: usize, name: &str, expected: &str) -> Result<T> {
        self.optional(at, name, expected)?.ok_or_else(|| wrong(self.context.env, name, expected, "undefined"))
    }

    /// The same, when it may be `undefined` or left out.
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

    /// A whole number from 0 to `most`.
    pub fn whole(&self, at: usize, name: &str, most: u64) -> Result<u64> {
        let n = self.required(at, name, "a whole number")?;
        check_whole(self.context.env, name, n, 0, most)
    }

    /// The same, when it may be left out.
    pub fn optional_whole(&self, at: usize, name: &str) -> Result<Option<u64>> {
        let n = self.optional(at, name, "a whole number")?;
        n.map(|n| check_whole(self.context.env, name, n, 0, MAX_SAFE)).transpose()
    }

    /// A number of a request, a runtime or a runner.
    pub fn number(&self, at: usize, name: &str) -> Result<u32> {
        Ok(self.whole(at, name, u32::MAX.into())? as u32)
    }

    /// Milliseconds that may be left out.
    pub fn milliseconds(&self, at: usize, name: &str) -> Result<Option<Duration>> {
        Ok(self.optional_whole(at, name)?.map(Duration::from_millis))
    }

    /// Which descriptors are streamed: 1 for stdout, 2 for stderr, or their sum.
    pub fn streams(&self, at: usize) -> Result<Streams> {
        let bits = if at < self.context.length() { self.whole(at, "streams", 3)? } else { 0 };
        Ok(Streams { stdout: bits & 1 != 0, stderr: bits & 2 != 0 })
    }

    /// An environment; empty when left out.
    pub fn environment(&self, at: usize) -> Result<Vec<(String, String)>> {
        let Some(map) = self.optional::<Object<'_>>(at, "env", "an object of strings")? else { return Ok(Vec::new()) };
        let pair = |key: String| match map.get::<String>(&key) {
            Ok(Some(value)) => Ok((key, value)),
            _ => Err(wrong(self.context.env, &format!("env.{key}"), "a string", "another value")),
        };
        Object::keys(&map)?.into_iter().map(pair).collect()
    }
}

/// `n` as a whole number within limits.
pub fn check_whole(env: &Env, name: &str, n: f64, least: u64, most: u64) -> Result<u64> {
    let most = most.min(MAX_SAFE);
    if n.fract() == 0.0 && n >= least as f64 && n <= most as f64 {
        return Ok(n as u64);
    }
    Err(wrong(env, name, &format!("a whole number from {least} to {most}"), &n.to_string()))
}

/// The error for an argument that is not what it must be.
pub fn wrong(env: &Env, what: &str, expected: &str, received: &str) -> napi::Error {
    let error = Error::InvalidRequest { what: what.to_owned(), expected: expected.to_owned(), received: received.to_owned() };
    values::thrown(env, &error, None)
}

fn described(kind: ValueType) -> String {
    format!("a value of type {}", format!("{kind:?}").to_lowercase())
}
