//! Tests with the real guest image, which `npx --yes pnpm@10 build` builds.

mod bindings;
mod children;
mod crypto;
mod isolation;
mod outside;
mod panics;
mod programs;
mod python;
mod residents;
mod snapshots;

use crate::{
    Core, CoreOptions, Dispatch, EvaluationSettings, Limits, Mode, Outcome, Process, ProcessOptions, Runtime, RuntimeOptions,
    Sink, Streams, Timings,
};
use coldframe_error::Error;
use coldframe_ids::EvaluationId;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A duration that no step of a test exceeds. A test that reaches this bound has hung.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) fn options() -> CoreOptions {
    let image_dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../runner/dist"));
    CoreOptions {
        image_dir,
        python_dir: None,
        workers: 2,
        warm_slots: 16,
        spin: Duration::ZERO,
        max_runtimes: 1_000,
        edge: PathBuf::new(),
        requires_edge_walls: false,
    }
}

pub(super) fn core() -> Core {
    Core::open(&options()).expect("the guest image must be built before the tests run")
}

pub(super) fn limited(core: &Core, limits: Limits) -> Runtime {
    core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime")
}

pub(super) fn exec(code: &str) -> ProcessOptions {
    ProcessOptions {
        mode: Mode::Exec,
        language: crate::Language::JavaScript,
        code: code.to_owned(),
        args: vec![],
        exec_argv: vec![],
        env: vec![],
        cwd: None,
        stdin: vec![],
        timeout: None,
        limits: vec![],
        streams: Streams::default(),
        live: false,
        user: None,
        terminal: None,
        keeps_session: false,
    }
}

/// A call of a sink.
#[derive(Debug)]
pub(super) enum SinkEvent {
    Output(u32, u8, Vec<u8>),
    Evaluated(u32, Outcome),
    Ready,
    Exited(Outcome),
}

/// A sink that sends every call to a channel.
pub(super) struct TestSink {
    sender: Mutex<Sender<SinkEvent>>,
}

impl TestSink {
    pub(super) fn new() -> (Arc<Self>, Receiver<SinkEvent>) {
        let (sender, events) = channel();
        (Arc::new(Self { sender: Mutex::new(sender) }), events)
    }

    fn send(&self, event: SinkEvent) {
        let _ = self.sender.lock().expect("no test panics while it sends").send(event);
    }
}

impl Sink for TestSink {
    fn output(&self, evaluation: Option<EvaluationId>, fd: u8, data: Vec<u8>) {
        self.send(SinkEvent::Output(evaluation.map_or(0, EvaluationId::get), fd, data));
    }
    fn evaluated(&self, evaluation: EvaluationId, outcome: Outcome) {
        self.send(SinkEvent::Evaluated(evaluation.get(), outcome));
    }
    fn ready(&self, _timings: Timings) {
        self.send(SinkEvent::Ready);
    }
    fn exited(&self, outcome: Outcome) {
        self.send(SinkEvent::Exited(outcome));
    }
}

/// Makes the id of an evaluation.
pub(super) fn evaluation(number: u32) -> EvaluationId {
    EvaluationId::new(number).expect("no id is 0")
}

pub(super) fn exited(events: &Receiver<SinkEvent>) -> Outcome {
    loop {
        match events.recv_timeout(STEP_TIMEOUT).expect("the program must end") {
            SinkEvent::Exited(outcome) => return outcome,
            SinkEvent::Output(..) | SinkEvent::Evaluated(..) | SinkEvent::Ready => {}
        }
    }
}

pub(super) fn start(runtime: &Runtime, options: ProcessOptions, dispatch: Dispatch) -> (Process, Receiver<SinkEvent>) {
    let (sink, events) = TestSink::new();
    let process = runtime.start(options, sink, dispatch).expect("start");
    (process, events)
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
