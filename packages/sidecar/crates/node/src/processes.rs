//! The functions of the object that are about a runtime's processes: each is one call of the core.

use napi::Env;
use napi::bindgen_prelude::{Object, Result};

use crate::arguments::Arguments;
use crate::embedded::{Body, Embedded};
use crate::values::{self, Raw};

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[("writeProcess", write), ("signalProcess", signal), ("listProcesses", list)];

fn write(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let runtime = this.runtime(env, arguments.number(0, "runtime")?)?;
    let pid = arguments.number(1, "pid")?;
    let data: &[u8] = arguments.required(2, "data", "a Uint8Array")?;
    let end: bool = arguments.required(3, "end", "true or false")?;
    runtime.processes().write(pid, data, end).map_err(|error| values::thrown(env, &error, None))?;
    Ok(None)
}

fn signal(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let runtime = this.runtime(env, arguments.number(0, "runtime")?)?;
    let pid = arguments.number(1, "pid")?;
    let signal = u8::try_from(arguments.whole(2, "signal", 255)?).unwrap_or(u8::MAX);
    runtime.processes().signal(pid, signal).map_err(|error| values::thrown(env, &error, None))?;
    Ok(None)
}

fn list(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let runtime = this.runtime(env, arguments.number(0, "runtime")?)?;
    let entries = runtime.processes().list();
    let mut reply = Object::new(env)?;
    reply.set("pids", entries.iter().map(|entry| entry.pid).collect::<Vec<_>>())?;
    reply.set("ppids", entries.iter().map(|entry| entry.ppid).collect::<Vec<_>>())?;
    reply.set("groups", entries.iter().map(|entry| entry.group).collect::<Vec<_>>())?;
    reply.set("commands", entries.into_iter().map(|entry| entry.command).collect::<Vec<_>>())?;
    Raw::new(env, reply).map(Some)
}
