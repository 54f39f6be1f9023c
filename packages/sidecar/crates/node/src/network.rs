//! Connections into a runtime and waits for its listeners: the functions of the object, and what comes of them as events. They keep neither
//! Node's event loop nor the core alive: the SDK does, for as long as somebody uses them.

use coldframe_core::{Error, ListenerEntry, Network, NetworkEvent, Target};
use napi::Env;
use napi::bindgen_prelude::{Object, Result};

use crate::arguments::{Arguments, wrong};
use crate::embedded::{Body, Embedded};
use crate::table::Place;
use crate::values::{self, Raw};

/// What the second argument of `onEvent` may be.
mod kind {
    pub const DATA: u32 = 30;
    pub const CREDIT: u32 = 31;
    pub const ENDED: u32 = 32;
    pub const CLOSED: u32 = 33;
    pub const LISTENER: u32 = 34;
    pub const NO_LISTENER: u32 = 35;
}

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[
    ("openStream", open),
    ("writeStream", write),
    ("endStream", end),
    ("creditStream", credit),
    ("closeStream", close),
    ("listListeners", list),
    ("awaitListener", wait),
    ("stopWaiting", stop_waiting),
];

/// Each begins with the caller's number and the runtime's.
fn begin(this: &Embedded, env: &Env, arguments: &Arguments<'_>) -> Result<(u32, Network)> {
    let number = arguments.number(0, "number")?;
    Ok((number, this.runtime(env, arguments.number(1, "runtime")?)?.network()))
}

/// The same for what is open: on the runtime's way to sleep it will be told to have ended, or goes on.
fn go_on(this: &Embedded, env: &Env, arguments: &Arguments<'_>) -> Result<(u32, Network)> {
    let number = arguments.number(0, "number")?;
    Ok((number, this.still_awake(env, arguments.number(1, "runtime")?)?.network()))
}

/// `port`, `host` and `path`, from the third argument on.
fn target(env: &Env, arguments: &Arguments<'_>) -> Result<Target> {
    let host = arguments.optional(3, "host", "a string")?;
    if let Some(path) = arguments.optional(4, "path", "a string")? {
        return Ok(Target::Path(path));
    }
    let port = arguments.whole(2, "port", u16::MAX.into())?;
    let port = u16::try_from(port).map_err(|_| wrong(env, "port", "a port", &port.to_string()))?;
    Ok(Target::Port { port, host })
}

fn open(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (number, network) = begin(this, env, &arguments)?;
    let target = target(env, &arguments)?;
    network.connect(number, &target).map_err(|error| values::thrown(env, &error, None))?;
    Ok(None)
}

fn write(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (number, network) = go_on(this, env, &arguments)?;
    network.write(number, arguments.required(2, "data", "a Uint8Array")?);
    Ok(None)
}

fn end(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (number, network) = go_on(this, env, &arguments)?;
    network.end(number);
    Ok(None)
}

fn credit(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (number, network) = go_on(this, env, &arguments)?;
    network.credit(number, arguments.whole(2, "bytes", u64::MAX)?);
    Ok(None)
}

fn close(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (number, network) = go_on(this, env, &arguments)?;
    network.close(number, arguments.required(2, "reset", "true or false")?);
    Ok(None)
}

fn list(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let network = this.runtime(env, arguments.number(1, "runtime")?)?.network();
    let all: bool = arguments.required(0, "all", "true or false")?;
    let target = if all { None } else { Some(target(env, &arguments)?) };
    let entries = network.listeners(target.as_ref()).map_err(|error| values::thrown(env, &error, None))?;
    let entries: Vec<_> = entries.into_iter().map(|entry| listener(env, entry)).collect::<Result<_>>()?;
    Raw::new(env, entries).map(Some)
}

fn wait(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (number, network) = begin(this, env, &arguments)?;
    let target = target(env, &arguments)?;
    network.wait(number, &target).map_err(|error| values::thrown(env, &error, None))?;
    Ok(None)
}

fn stop_waiting(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let (number, network) = go_on(this, env, &arguments)?;
    network.stop_waiting(number);
    Ok(None)
}

fn listener(env: &Env, entry: ListenerEntry) -> Result<Object<'_>> {
    let mut object = Object::new(env)?;
    object.set("pid", entry.pid)?;
    if let Some((host, port)) = entry.address {
        object.set("host", host)?;
        object.set("port", u32::from(port))?;
    }
    if let Some(path) = entry.path {
        object.set("path", path)?;
    }
    Ok(object)
}

/// The arguments of `onEvent`, after the number.
pub fn payload(env: &Env, runtime: u32, event: NetworkEvent) -> Result<(u32, Raw)> {
    let failure = |error: &Error| {
        let place = Place { runtime, runner: 0 };
        Raw::new(env, values::failure(env, error, place.facts(error))?)
    };
    Ok(match event {
        NetworkEvent::Data(data) => (kind::DATA, values::bytes(env, data)?),
        NetworkEvent::Credit(bytes) => (kind::CREDIT, Raw::new(env, bytes as f64)?),
        NetworkEvent::Ended => (kind::ENDED, Raw::new(env, ())?),
        NetworkEvent::Closed(None) => (kind::CLOSED, Raw::new(env, ())?),
        NetworkEvent::Closed(Some(error)) => (kind::CLOSED, failure(&error)?),
        NetworkEvent::Listener(Ok(entry)) => (kind::LISTENER, Raw::new(env, listener(env, entry)?)?),
        NetworkEvent::Listener(Err(error)) => (kind::NO_LISTENER, failure(&error)?),
    })
}
