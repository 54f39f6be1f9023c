//! What a runtime's programs ask of the app, as events, and the functions of the object with which it answers and says what may be asked.

use std::sync::Arc;

use coldframe_core::{BindingOptions, Embedder, HostCall, HostFailure, NetworkEvent};
use napi::Env;
use napi::bindgen_prelude::{Object, Result};

use crate::arguments::{Arguments, wrong};
use crate::embedded::{Body, Embedded};
use crate::outlet::{Event, Outlet};
use crate::values::{self, Raw};

/// Asks for one runtime.
pub struct Asking {
    /// The runtime's number.
    pub runtime: u32,
    /// Where the questions are told.
    pub outlet: Arc<Outlet>,
}

impl Embedder for Asking {
    fn call(&self, call: HostCall) {
        self.outlet.ask(Event::HostCall(self.runtime, call));
    }
    fn network(&self, number: u32, event: NetworkEvent) {
        self.outlet.ask(Event::Network(self.runtime, number, event));
    }
    fn cancel(&self, number: u32) {
        self.outlet.ask(Event::HostCancel(self.runtime, number));
    }
}

/// A question as JavaScript gets it: `{ runtime, pid, service, name, input }`.
pub fn question(env: &Env, runtime: u32, call: HostCall) -> Result<Raw> {
    let mut question = Object::new(env)?;
    question.set("runtime", runtime)?;
    question.set("pid", call.pid)?;
    question.set("service", call.service)?;
    question.set("name", call.name)?;
    question.set("input", values::bytes(env, call.input)?)?;
    Raw::new(env, question)
}

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[("answerHost", answer), ("setBindings", set_bindings)];

/// `runtime, number, ok` or `runtime, number, undefined, code, message`. What nobody waits for is nothing to complain about.
fn answer(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let number = arguments.number(1, "number")?;
    let Ok(runtime) = this.still_awake(env, arguments.number(0, "runtime")?) else { return Ok(None) };
    let ok: Option<&[u8]> = arguments.optional(2, "ok", "a Uint8Array")?;
    let answer = match ok {
        Some(ok) => Ok(ok.to_vec()),
        None => {
            let code = arguments.required(3, "code", "a string")?;
            let message = arguments.required(4, "message", "a string")?;
            Err(HostFailure { code, message })
        }
    };
    runtime.answer(number, answer);
    Ok(None)
}

/// `runtime`, and bindings.
fn set_bindings(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let runtime = this.runtime(env, arguments.number(0, "runtime")?)?;
    let bindings = bindings(env, &arguments, 1)?.unwrap_or_default();
    runtime.set_bindings(bindings).map_err(|error| values::thrown(env, &error, None))?;
    Ok(None)
}

/// Bindings as a flat list: name, commands with spaces between them, bytes of input, and so on.
pub fn bindings(env: &Env, arguments: &Arguments<'_>, at: usize) -> Result<Option<Vec<BindingOptions>>> {
    const EACH: usize = 3;
    let Some(flat) = arguments.optional::<Vec<String>>(at, "bindings", "a list of strings")? else { return Ok(None) };
    let mut bindings = Vec::with_capacity(flat.len() / EACH);
    for entry in flat.chunks(EACH) {
        let [name, commands, bytes] = entry else {
            return Err(wrong(env, "bindings", "three strings for each", &flat.len().to_string()));
        };
        let input_bytes = bytes.parse().map_err(|_| wrong(env, "bindings", "a number of bytes", bytes))?;
        let commands = commands.split_whitespace().map(str::to_owned).collect();
        bindings.push(BindingOptions { name: name.clone(), commands, input_bytes });
    }
    Ok(Some(bindings))
}
