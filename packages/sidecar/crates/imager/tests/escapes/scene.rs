//! The scene: one core with the hostile guest as its image, and on it a neighbour, which is asked for its secrets after every case.
//!
//! The core lives in this process: a panic of a worker, an abort, a descriptor that is not given back are seen here.

use crate::script::{ROOM, Script};
use coldframe_abi::system_calls::{FileCall, SocketCall};
use coldframe_core::{
    Core, CoreOptions, Dispatch, Limits, Mode, Outcome, ProcessOptions, Runtime, RuntimeOptions, Sink, Streams, Timings,
};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
const SECRET: &str = "the neighbour's secret in memory";
const FILE_SECRET: &str = "the neighbour's secret in a file";
/// Descriptors that may be there or not: threads that come and go have none, mapped files have.
const SLACK_DESCRIPTORS: usize = 2;

/// What a case did, and what came of it.
pub struct Ended {
    pub outcome: Outcome,
    /// What the guest logged: the answers of its calls.
    pub log: Vec<i64>,
    pub took: Duration,
}

impl Ended {
    /// The code of the failure, or `none`.
    pub fn code(&self) -> &'static str {
        self.outcome.failure.as_ref().map_or("none", coldframe_core::Error::code)
    }
}

enum Told {
    Output(Vec<u8>),
    Exited(Box<Outcome>),
}

struct Ear(Mutex<Sender<Told>>);

impl Ear {
    fn new() -> (Arc<Self>, Receiver<Told>) {
        let (tell, told) = channel();
        (Arc::new(Self(Mutex::new(tell))), told)
    }

    fn tell(&self, told: Told) {
        let _ = self.0.lock().expect("no panic while telling").send(told);
    }
}

impl Sink for Ear {
    fn output(&self, _eval: u32, _fd: u8, data: Vec<u8>) {
        self.tell(Told::Output(data));
    }
    fn evaluated(&self, _eval: u32, _outcome: Outcome) {}
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, outcome: Outcome) {
        self.tell(Told::Exited(Box::new(outcome)));
    }
}

/// See the module.
pub struct Scene {
    core: Core,
    neighbour: Runtime,
    process: coldframe_core::Process,
    told: Receiver<Told>,
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
        timeout: Some(PATIENCE / 2),
        streams: Streams::default(),
        live: false,
    }
}

/// Answers each time that it is fed: its secret from memory, and the one from the file that it has open.
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
        let (ear, told) = Ear::new();
        let streams = Streams { stdout: true, stderr: false };
        let live = ProcessOptions { live: true, timeout: None, streams, stdin: vec![], ..options(&neighbour_script()) };
        let process = neighbour.start(live, ear, Dispatch::Worker).expect("the neighbour's program");
        let mut scene = Self { core, neighbour, process, told, descriptors: 0 };
        scene.assert_unharmed();
        scene.run(&Script::default());
        scene.descriptors = descriptors();
        scene
    }

    /// Runs a script as a program of its own runtime, and looks at everybody else afterwards.
    pub fn run(&self, script: &Script) -> Ended {
        self.run_with(script, Limits::default(), None)
    }

    pub fn run_with(&self, script: &Script, limits: Limits, timeout: Option<Duration>) -> Ended {
        let runtime = self.runtime(limits);
        let (ear, told) = Ear::new();
        let mut options = options(script);
        options.timeout = timeout.or(options.timeout);
        let began = Instant::now();
        let _process = runtime.start(options, ear, Dispatch::Worker).expect("a start");
        let outcome = exited(&told);
        let took = began.elapsed();
        runtime.dispose();
        drop(runtime);
        self.assert_unharmed();
        let log = outcome.stdout.chunks_exact(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap_or_default()));
        Ended { log: log.collect(), outcome, took }
    }

    pub fn runtime(&self, limits: Limits) -> Runtime {
        self.core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime")
    }

    /// Starts a program of `runtime`.
    pub fn start(&self, runtime: &Runtime, script: &Script) -> Running {
        self.start_text(runtime, script.source())
    }

    /// The same, with any text as its source.
    pub fn start_text(&self, runtime: &Runtime, source: String) -> Running {
        let (ear, told) = Ear::new();
        let options = ProcessOptions { code: source, ..options(&Script::default()) };
        Running { _process: runtime.start(options, ear, Dispatch::Worker).expect("a start"), told }
    }

    /// Whether only the neighbour is there, and nothing is held for anybody else.
    fn is_alone(&self) -> bool {
        let left = self.core.resources();
        left.processes == 1 && left.runtimes == 1 && descriptors() <= self.descriptors + SLACK_DESCRIPTORS
    }

    /// The neighbour answers with its secrets, and nothing is left of anybody else.
    pub fn assert_unharmed(&self) {
        self.ask_neighbour();
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

    pub fn ask_neighbour(&self) {
        self.neighbour.processes().write(self.process.pid(), b"?", false).expect("the neighbour takes input");
        let mut heard = Vec::new();
        while heard.len() < SECRET.len() + FILE_SECRET.len() {
            match self.told.recv_timeout(PATIENCE).expect("the neighbour answers") {
                Told::Output(data) => {
                    self.process.credit(data.len() as u64);
                    heard.extend(data);
                }
                Told::Exited(outcome) => panic!("the neighbour has ended: {:?}", outcome.failure),
            }
        }
        assert_eq!(String::from_utf8_lossy(&heard), format!("{SECRET}{FILE_SECRET}"));
        let (file, _) = self.neighbour.files().read("/workspace/secret", 0, 100).expect("the neighbour's file");
        assert_eq!(file, FILE_SECRET.as_bytes());
    }
}

/// A program under way.
pub struct Running {
    _process: coldframe_core::Process,
    told: Receiver<Told>,
}

impl Running {
    pub fn ended(&self) -> Outcome {
        exited(&self.told)
    }
}

fn exited(told: &Receiver<Told>) -> Outcome {
    loop {
        if let Told::Exited(outcome) = told.recv_timeout(PATIENCE).expect("the program must end") {
            return *outcome;
        }
    }
}

/// Descriptors of this process.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, std::iter::Iterator::count)
}

/// The one scene; cases take turns.
pub fn scene() -> MutexGuard<'static, Scene> {
    static SCENE: OnceLock<Mutex<Scene>> = OnceLock::new();
    let scene = SCENE.get_or_init(|| Mutex::new(Scene::open()));
    scene.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
