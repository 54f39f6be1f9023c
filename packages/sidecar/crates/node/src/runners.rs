//! The functions of the object that are about resident runners.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use coldframe_core::{Mode, ProcessOptions, Streams};
use napi::Env;
use napi::bindgen_prelude::Result;

use crate::arguments::Arguments;
use crate::embedded::{Body, Embedded};
use crate::outlet::Runner;
use crate::table::Place;
use crate::values::{self, Raw};

/// Names and bodies, for the object.
pub const FUNCTIONS: &[(&str, Body)] = &[("createRunner", create), ("evaluate", evaluate), ("disposeRunner", dispose)];

fn create(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let number = arguments.number(1, "runtime")?;
    let options = ProcessOptions {
        mode: Mode::Resident,
        code: String::new(),
        args: Vec::new(),
        exec_argv: Vec::new(),
        env: arguments.environment(2)?,
        cwd: arguments.optional(3, "cwd", "a string")?,
        stdin: Vec::new(),
        timeout: None,
        streams: Streams::default(),
        live: false,
    };
    let runtime = this.runtime(env, number)?;
    this.runners.borrow().check_room().map_err(|error| values::thrown(env, &error, None))?;
    let runner = this.runners.borrow_mut().reserve();
    let sink = Arc::new(Runner {
        id,
        place: Place { runtime: number, runner },
        pid: AtomicU32::new(0),
        outlet: Arc::clone(&this.outlet),
    });
    let (started, end) = this.begin(id, || runtime.start(options, sink, this.dispatch));
    let process = started.map_err(|error| values::thrown(env, &error, None))?;
    this.runners.borrow_mut().put(runner, process.clone());
    if let Some(live) = this.runtimes.borrow_mut().get_mut(number) {
        this.runners.borrow().tidy(&mut live.runners);
        live.runners.push(runner);
    }
    this.wait(env, id, process, 0, end)
}

fn evaluate(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    let id = this.new_id(env, &arguments)?;
    let runner = arguments.number(1, "runner")?;
    let code = arguments.required(2, "code", "a string")?;
    let timeout = arguments.milliseconds(3, "timeoutMs")?;
    let streams = arguments.streams(4)?;
    let process = this.runners.borrow().get(runner).cloned();
    let process = process.ok_or_else(|| this.no_runner(env, runner))?;
    let (started, end) = this.begin(id, || process.evaluate(id, code, timeout, streams, this.dispatch));
    let place = Place { runtime: 0, runner };
    started.map_err(|error| values::thrown(env, &error, place.facts(&error)))?;
    this.wait(env, id, process, runner, end)
}

fn dispose(this: &Embedded, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
    this.core(env)?;
    let runner = arguments.number(0, "runner")?;
    let process = this.runners.borrow_mut().remove(runner);
    if process.is_none() && this.dispose_sleeping_runner(runner) {
        return Ok(None);
    }
    process.ok_or_else(|| this.no_runner(env, runner))?.cancel();
    Ok(None)
}
