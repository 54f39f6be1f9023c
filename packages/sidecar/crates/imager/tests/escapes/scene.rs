//! The test environment: one core with the hostile guest as its image, and a neighbour on this
//! core. The neighbour must reply with its secrets after every case.
//!
//! The core runs in this process, so a panic of a worker, an abort or a leaked descriptor fails the
//! case. Next: `script.rs`.

use crate::script::{ROOM, Script};
use coldframe_core::{
    Core, CoreOptions, Dispatch, Limits, Mode, Outcome, ProcessOptions, Runtime, RuntimeOptions, Sink, Streams, Timings,
};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

const STEP_TIMEOUT: Duration = Duration::from_secs(20);
const SECRET: &str = "the neighbour's secret in memory";
const FILE_SECRET: &str = "the neighbour's secret in a file";
/// The number of descriptors that may vary: starting and ending threads have none, mapped files
/// have some.
const SLACK_DESCRIPTORS: usize = 2;

/// The outcome of a case.
pub struct CaseOutcome {
    pub outcome: Outcome,
    /// The results of the guest's calls, which the guest logged.
    pub log: Vec<i64>,
    pub took: Duration,
}

impl CaseOutcome {
    /// Returns the code of the failure, or `none`.
    pub fn code(&self) -> &'static str {
        self.outcome.failure.as_ref().map_or("none", coldframe_core::Error::code)
    }
}

enum SinkEvent {
    Output(Vec<u8>),
    Exited(Box<Outcome>),
}

struct TestSink(Mutex<Sender<SinkEvent>>);

impl TestSink {
    fn new() -> (Arc<Self>, Receiver<SinkEvent>) {
        let (sender, events) = channel();
        (Arc::new(Self(Mutex::new(sender))), events)
    }

    fn send(&self, event: SinkEvent) {
        let _ = self.0.lock().expect("no test panics while it sends").send(event);
    }
}

impl Sink for TestSink {
    fn output(&self, _eval: u32, _fd: u8, data: Vec<u8>) {
        self.send(SinkEvent::Output(data));
    }
    fn evaluated(&self, _eval: u32, _outcome: Outcome) {}
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, outcome: Outcome) {
        self.send(SinkEvent::Exited(Box::new(outcome)));
    }
}

/// The core, and the neighbour that runs on it.
pub struct Scene {
    core: Core,
    neighbour: Runtime,
    process: coldframe_core::Process,
    events: Receiver<SinkEvent>,
    descriptors: usize,
}

fn options(script: &Script) -> ProcessOptions {
    ProcessOptions {
        mode: Mode::Run,
        code: script.source(),
        args: vec![],
        exec_argv: vec![],
        env: vec![],
        cwd: None,
        stdin: b"input".to_vec(),
        timeout: Some(STEP_TIMEOUT / 2),
        streams: Streams::default(),
        live: false,
    }
}

/// Returns the neighbour's script. For each byte of input, it replies with its secret in memory and
/// the secret in its open file.
fn neighbour_script() -> Script {
    let (secret, path, buffer) = (ROOM, ROOM + 0x100, ROOM + 0x1000);
    let (secret_len, path_text) = (SECRET.len() as i64, "/workspace/secret");
    let script = Script::default()
        .text(secret, SECRET)
        .text(path, path_text)
        .sys(0x100, &[path, path_text.len() as i64, 0, 0])
        .sys(0x200, &[2, 1]);
    let again = script.source().len() as i64 / 161;
    script
        .op('R', &[0])
        .op('r', &[0, buffer, 1])
        .op('o', &[1, secret, secret_len])
        .sys(0x102, &[3, buffer, FILE_SECRET.len() as i64, 0])
        .op('o', &[1, buffer, FILE_SECRET.len() as i64])
        .op('j', &[again])
}

impl Scene {
    fn open() -> Self {
        let folder = std::env::temp_dir().join(format!("coldframe-raw-escapes-{}", std::process::id()));
        let wasm = wat::parse_str(include_str!("guest.wat")).expect("the guest's text");
        coldframe_imager::build(&wasm, std::slice::from_ref(&folder), &folder, "guest").expect("an image");
        let core = CoreOptions {
            image_dir: PathBuf::from(&folder),
            workers: 2,
            warm_slots: 4,
            spin: Duration::ZERO,
            max_runtimes: 1_000,
        };
        let core = Core::open(&core).expect("a core");
        let _ = std::fs::remove_dir_all(&folder);
        let files = vec![("/workspace/secret".to_owned(), FILE_SECRET.as_bytes().to_vec())];
        let neighbour = core.create_runtime(RuntimeOptions { files, ..RuntimeOptions::default() }).expect("a neighbour");
        let (sink, events) = TestSink::new();
        let streams = Streams { stdout: true, stderr: false };
        let live = ProcessOptions { live: true, timeout: None, streams, stdin: vec![], ..options(&neighbour_script()) };
        let process = neighbour.start(live, sink, Dispatch::Worker).expect("the neighbour's program");
        let mut scene = Self { core, neighbour, process, events, descriptors: 0 };
        scene.assert_unharmed();
        scene.run(&Script::default());
        scene.descriptors = descriptors();
        scene
    }

    /// Runs a script as a program of its own runtime. Checks all other programs afterwards.
    pub fn run(&self, script: &Script) -> CaseOutcome {
        self.run_with(script, Limits::default(), None)
    }

    pub fn run_with(&self, script: &Script, limits: Limits, timeout: Option<Duration>) -> CaseOutcome {
        let runtime = self.runtime(limits);
        let (sink, events) = TestSink::new();
        let mut options = options(script);
        options.timeout = timeout.or(options.timeout);
        let began = Instant::now();
        let _process = runtime.start(options, sink, Dispatch::Worker).expect("a start");
        let outcome = exited(&events);
        let took = began.elapsed();
        runtime.dispose();
        drop(runtime);
        self.assert_unharmed();
        let log = outcome.stdout.chunks_exact(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap_or_default()));
        CaseOutcome { log: log.collect(), outcome, took }
    }

    pub fn runtime(&self, limits: Limits) -> Runtime {
        self.core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime")
    }

    /// Starts a program of `runtime`.
    pub fn start(&self, runtime: &Runtime, script: &Script) -> Running {
        self.start_text(runtime, script.source())
    }

    /// Starts a program of `runtime` with any text as its source.
    pub fn start_text(&self, runtime: &Runtime, source: String) -> Running {
        let (sink, events) = TestSink::new();
        let options = ProcessOptions { code: source, ..options(&Script::default()) };
        Running { _process: runtime.start(options, sink, Dispatch::Worker).expect("a start"), events }
    }

    /// Returns whether only the neighbour runs, and no resources of other programs remain.
    fn is_alone(&self) -> bool {
        let left = self.core.resources();
        left.processes == 1 && left.runtimes == 1 && descriptors() <= self.descriptors + SLACK_DESCRIPTORS
    }

    /// Asserts that the neighbour replies with its secrets, and that no resources of other programs
    /// remain.
    pub fn assert_unharmed(&self) {
        self.check_neighbour();
        let end = Instant::now() + Duration::from_secs(3);
        while self.descriptors > 0 && !self.is_alone() {
            assert!(
                Instant::now() < end,
                "{} descriptors, {} before; {:?}",
                descriptors(),
                self.descriptors,
                self.core.resources()
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub fn check_neighbour(&self) {
        self.neighbour.processes().write(self.process.pid(), b"?", false).expect("the neighbour takes input");
        let mut received = Vec::new();
        while received.len() < SECRET.len() + FILE_SECRET.len() {
            match self.events.recv_timeout(STEP_TIMEOUT).expect("the neighbour replies") {
                SinkEvent::Output(data) => {
                    self.process.credit(data.len() as u64);
                    received.extend(data);
                }
                SinkEvent::Exited(outcome) => panic!("the neighbour has ended: {:?}", outcome.failure),
            }
        }
        assert_eq!(String::from_utf8_lossy(&received), format!("{SECRET}{FILE_SECRET}"));
        let (file, _) = self.neighbour.files().read("/workspace/secret", 0, 100).expect("the neighbour's file");
        assert_eq!(file, FILE_SECRET.as_bytes());
    }
}

/// A running program.
pub struct Running {
    _process: coldframe_core::Process,
    events: Receiver<SinkEvent>,
}

impl Running {
    pub fn ended(&self) -> Outcome {
        exited(&self.events)
    }
}

fn exited(events: &Receiver<SinkEvent>) -> Outcome {
    loop {
        if let SinkEvent::Exited(outcome) = events.recv_timeout(STEP_TIMEOUT).expect("the program must end") {
            return *outcome;
        }
    }
}

/// Returns the number of this process's descriptors.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, std::iter::Iterator::count)
}

/// Returns the shared environment. Cases take turns.
pub fn scene() -> MutexGuard<'static, Scene> {
    static SCENE: OnceLock<Mutex<Scene>> = OnceLock::new();
    let scene = SCENE.get_or_init(|| Mutex::new(Scene::open()));
    scene.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
