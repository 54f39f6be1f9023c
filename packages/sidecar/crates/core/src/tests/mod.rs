//! Tests with the real guest image: it must have been built (`npx --yes pnpm@10 build`).

mod bindings;
mod children;
mod crypto;
mod isolation;
mod programs;
mod residents;
mod snapshots;

use crate::{
    Core, CoreOptions, Dispatch, Mode, Outcome, Process, ProcessOptions, Runtime, RuntimeOptions, Sink, Streams, Timings,
};
use coldframe_error::Error;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Longer than any test may take; reaching it is a hang.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn options() -> CoreOptions {
    let image_dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../runner/dist"));
    CoreOptions { image_dir, workers: 2, warm_slots: 16, spin: Duration::ZERO, max_runtimes: 1_000 }
}

pub(super) fn core() -> Core {
    Core::open(&options()).expect("the guest image must be built before the tests run")
}

pub(super) fn exec(code: &str) -> ProcessOptions {
    ProcessOptions {
        mode: Mode::Exec,
        code: code.to_owned(),
        args: vec![],
        exec_argv: vec![],
        env: vec![],
        cwd: None,
        stdin: vec![],
        timeout: None,
        streams: Streams::default(),
        live: false,
    }
}

/// What a sink was told.
#[derive(Debug)]
pub(super) enum Told {
    Output(u32, u8, Vec<u8>),
    Evaluated(u32, Outcome),
    Ready,
    Exited(Outcome),
}

/// A sink that passes everything on.
pub(super) struct Ear {
    tell: Mutex<Sender<Told>>,
}

impl Ear {
    pub(super) fn new() -> (Arc<Self>, Receiver<Told>) {
        let (tell, told) = channel();
        (Arc::new(Self { tell: Mutex::new(tell) }), told)
    }

    fn pass(&self, told: Told) {
        let _ = self.tell.lock().expect("no test panics while it tells").send(told);
    }
}

impl Sink for Ear {
    fn output(&self, eval: u32, fd: u8, data: Vec<u8>) {
        self.pass(Told::Output(eval, fd, data));
    }
    fn evaluated(&self, eval: u32, outcome: Outcome) {
        self.pass(Told::Evaluated(eval, outcome));
    }
    fn ready(&self, _timings: Timings) {
        self.pass(Told::Ready);
    }
    fn exited(&self, outcome: Outcome) {
        self.pass(Told::Exited(outcome));
    }
}

pub(super) fn exited(told: &Receiver<Told>) -> Outcome {
    loop {
        match told.recv_timeout(PATIENCE).expect("the program must end") {
            Told::Exited(outcome) => return outcome,
            Told::Output(..) | Told::Evaluated(..) | Told::Ready => {}
        }
    }
}

pub(super) fn start(runtime: &Runtime, options: ProcessOptions, dispatch: Dispatch) -> (Process, Receiver<Told>) {
    let (ear, told) = Ear::new();
    let process = runtime.start(options, ear, dispatch).expect("start");
    (process, told)
}

/// Runs a program to its end on a worker.
pub(super) fn outcome(runtime: &Runtime, options: ProcessOptions) -> Outcome {
    exited(&start(runtime, options, Dispatch::Worker).1)
}

pub(super) fn runtime(core: &Core) -> Runtime {
    core.create_runtime(RuntimeOptions::default()).expect("a runtime")
}

pub(super) fn code(outcome: &Outcome) -> Option<&'static str> {
    outcome.failure.as_ref().map(Error::code)
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
