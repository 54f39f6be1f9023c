//! One core with the hostile guest as its image. A neighbour, which is another program of the core,
//! must answer after every case.
//!
//! The core is in this process. The tests therefore notice a worker's panic, an abort and a leaked
//! descriptor.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use coldframe_abi::system_calls::{FileCall, SocketCall};
use coldframe_core::{
    Core, CoreOptions, Dispatch, EvaluationId, Limits, Mode, Outcome, ProcessOptions, Runtime, RuntimeOptions, Sink, Streams,
    Timings,
};

use crate::script::{ROOM, Script};

/// The timeout of each step of a test. A step that reaches the timeout fails the test.
const STEP_TIMEOUT: Duration = Duration::from_secs(20);
const SECRET: &str = "the neighbour's secret in memory";
const FILE_SECRET: &str = "the neighbour's secret in a file";
/// The number of descriptors that may be open in addition, for mapped files.
const SLACK_DESCRIPTORS: usize = 2;

/// The result of a case.
pub struct CaseResult {
    pub outcome: Outcome,
    /// The results of the guest's calls.
    pub log: Vec<i64>,
}

impl CaseResult {
    /// Returns the code of the failure, or `none`.
    pub fn code(&self) -> &'static str {
        self.outcome.failure.as_ref().map_or("none", coldframe_core::Error::code)
    }
}

enum SinkEvent {
    Output(Vec<u8>),
    Exited(Box<Outcome>),
}

/// Sends the output and the outcome of a program to the test.
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
    fn output(&self, _evaluation: Option<EvaluationId>, _fd: u8, data: Vec<u8>) {
        self.send(SinkEvent::Output(data));
    }
    fn evaluated(&self, _evaluation: EvaluationId, _outcome: Outcome) {}
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, outcome: Outcome) {
        self.send(SinkEvent::Exited(Box::new(outcome)));
    }
}

/// The core, and the neighbour with its running program.
pub struct Harness {
    core: Core,
    neighbour: Runtime,
    process: coldframe_core::Process,
    events: Receiver<SinkEvent>,
    /// The number of this process's descriptors before the first case. 0 while the harness is being
    /// made.
    descriptors: usize,
}

fn options(script: &Script) -> ProcessOptions {
    ProcessOptions {
        mode: Mode::Run,
        language: coldframe_core::Language::JavaScript,
        code: script.source(),
        args: vec![],
        exec_argv: vec![],
        env: vec![],
        cwd: None,
        stdin: b"input".to_vec(),
        timeout: Some(STEP_TIMEOUT / 2),
        limits: vec![],
        streams: Streams::default(),
        live: false,
        user: None,
        terminal: None,
        keeps_session: false,
    }
}

/// Returns the neighbour's program. The program answers each input with the secret in its memory
/// and the secret in its open file.
fn neighbour_script() -> Script {
    let (secret, path, buffer) = (ROOM, ROOM + 0x100, ROOM + 0x1000);
    let (secret_len, path_text) = (SECRET.len() as i64, "/workspace/secret");
    let script = Script::default()
        .text(secret, SECRET)
        .text(path, path_text)
        .sys(FileCall::Open, &[path, path_text.len() as i64, 0, 0])
        .sys(SocketCall::Socket, &[2, 1]);
    let again = script.source().len() as i64 / 161;
    script
        .op('R', &[0])
        .op('r', &[0, buffer, 1])
        .op('o', &[1, secret, secret_len])
        .sys(FileCall::Read, &[3, buffer, FILE_SECRET.len() as i64, 0])
        .op('o', &[1, buffer, FILE_SECRET.len() as i64])
        .op('j', &[again])
}

impl Harness {
    fn open() -> Self {
        let folder = std::env::temp_dir().join(format!("coldframe-raw-escapes-{}", std::process::id()));
        let wasm = wat::parse_str(include_str!("guest.wat")).expect("the guest's text");
        coldframe_imager::build(&wasm, std::slice::from_ref(&folder), &folder, "guest", coldframe_imager::GuestKind::Node)
            .expect("an image");
        let core = CoreOptions {
            image_dir: PathBuf::from(&folder),
            python_dir: None,
            workers: 2,
            warm_slots: 4,
            spin: Duration::ZERO,
            max_runtimes: 1_000,
            edge: PathBuf::new(),
            requires_edge_walls: false,
        };
        let core = Core::open(&core).expect("a core");
        let _ = std::fs::remove_dir_all(&folder);
        let files = vec![("/workspace/secret".to_owned(), FILE_SECRET.as_bytes().to_vec())];
        let neighbour = core.create_runtime(RuntimeOptions { files, ..RuntimeOptions::default() }).expect("a neighbour");
        let (sink, events) = TestSink::new();
        let streams = Streams { stdout: true, stderr: false };
        let live = ProcessOptions { live: true, timeout: None, streams, stdin: vec![], ..options(&neighbour_script()) };
        let process = neighbour.start(live, sink, Dispatch::Worker).expect("the neighbour's program");
        let mut harness = Self { core, neighbour, process, events, descriptors: 0 };
        harness.assert_unharmed();
        harness.run(&Script::default());
        harness.descriptors = descriptors();
        harness
    }

    /// Runs a script as a program of its own runtime. Afterwards checks the neighbour and the
    /// resources.
    pub fn run(&self, script: &Script) -> CaseResult {
        self.run_with(script, Limits::default(), None)
    }

    /// Runs a script like [`Harness::run`], with these limits. `None` means the default timeout.
    pub fn run_with(&self, script: &Script, limits: Limits, timeout: Option<Duration>) -> CaseResult {
        let runtime = self.runtime(limits);
        let (sink, events) = TestSink::new();
        let mut options = options(script);
        options.timeout = timeout.or(options.timeout);
        let _process = runtime.start(options, sink, Dispatch::Worker).expect("a start");
        let outcome = exited(&events);
        runtime.dispose();
        drop(runtime);
        self.assert_unharmed();
        let log = outcome.stdout.chunks_exact(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap_or_default()));
        CaseResult { log: log.collect(), outcome }
    }

    /// Creates a runtime with these limits.
    pub fn runtime(&self, limits: Limits) -> Runtime {
        self.core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime")
    }

    /// Starts a script as a program of `runtime`.
    pub fn start(&self, runtime: &Runtime, script: &Script) -> RunningProgram {
        self.start_text(runtime, script.source())
    }

    /// Starts a program of `runtime` from the source of a script.
    pub fn start_text(&self, runtime: &Runtime, source: String) -> RunningProgram {
        let (sink, events) = TestSink::new();
        let options = ProcessOptions { code: source, ..options(&Script::default()) };
        RunningProgram { _process: runtime.start(options, sink, Dispatch::Worker).expect("a start"), events }
    }

    /// Returns whether the core has only the runtime, the process and the descriptors of the
    /// neighbour.
    fn is_alone(&self) -> bool {
        let resources = self.core.resources();
        resources.processes == 1 && resources.runtimes == 1 && descriptors() <= self.descriptors + SLACK_DESCRIPTORS
    }

    /// Asserts that the neighbour answers with its secrets, and that no other resource is in use.
    pub fn assert_unharmed(&self) {
        self.ask_neighbour();
        let end = Instant::now() + STEP_TIMEOUT;
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

    /// Asserts that the neighbour answers with its secrets.
    pub fn ask_neighbour(&self) {
        self.neighbour.processes().write(self.process.pid(), b"?", false).expect("the neighbour takes input");
        let mut answer = Vec::new();
        while answer.len() < SECRET.len() + FILE_SECRET.len() {
            match self.events.recv_timeout(STEP_TIMEOUT).expect("the neighbour answers") {
                SinkEvent::Output(data) => {
                    self.process.credit(data.len() as u64);
                    answer.extend(data);
                }
                SinkEvent::Exited(outcome) => panic!("the neighbour has ended: {:?}", outcome.failure),
            }
        }
        assert_eq!(String::from_utf8_lossy(&answer), format!("{SECRET}{FILE_SECRET}"));
        let (file, _) = self.neighbour.files().read("/workspace/secret", 0, 100).expect("the neighbour's file");
        assert_eq!(file, FILE_SECRET.as_bytes());
    }
}

/// A running program, and the channel that receives its output and its end.
pub struct RunningProgram {
    _process: coldframe_core::Process,
    events: Receiver<SinkEvent>,
}

impl RunningProgram {
    /// Waits for the end of the program.
    pub fn wait(&self) -> Outcome {
        exited(&self.events)
    }
}

/// Waits for the outcome and drops all output.
fn exited(events: &Receiver<SinkEvent>) -> Outcome {
    loop {
        if let SinkEvent::Exited(outcome) = events.recv_timeout(STEP_TIMEOUT).expect("the program must end") {
            return *outcome;
        }
    }
}

/// Returns the number of open descriptors of this process.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, std::iter::Iterator::count)
}

/// Locks the harness that all cases share. Cases run one after the other.
pub fn harness() -> MutexGuard<'static, Harness> {
    static HARNESS: OnceLock<Mutex<Harness>> = OnceLock::new();
    let harness = HARNESS.get_or_init(|| Mutex::new(Harness::open()));
    harness.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
