//! A guest of a few lines that follows the guest ABI, for tests of the core without an engine.
//!
//! The first byte of the program selects the behaviour. `s` spins on its memory and never polls,
//! and `p` polls for ever. `g` grows its memory until the growth fails, and then traps. Any other
//! program exits with code 5.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coldframe_core::{
    Core, CoreOptions, Dispatch, EvaluationId, Mode, Outcome, Process, ProcessOptions, Runtime, Sink, Streams, Timings,
};
use coldframe_imager::{Failure, GuestKind};

/// The text of the guest's module.
///
/// The start block begins at 65536 + 16 (event header). It has five numbers and two texts: the
/// working directory "/workspace" (4 + 12 bytes) and the URL "file:///workspace/[eval1]" (4 + 28
/// bytes). The length of the source (4 bytes) and the source at 65624 follow.
pub const GUEST: &str = r#"(module
  (import "coldframe" "mark" (func $mark (param i32)))
  (import "coldframe" "poll" (func $poll (result i32)))
  (memory (export "memory") 4 32768)
  (func (export "_initialize"))
  (func (export "cf_boot") (result i32) (i32.const 0))
  (func (export "cf_freeze") (result i32) (i32.const 0))
  (func (export "cf_info") (result i32)
    (i32.store (i32.const 0) (i32.const 7))
    (i32.store (i32.const 4) (i32.const 1024))
    (i32.store (i32.const 8) (i32.const 65536))
    (i32.store (i32.const 12) (i32.const 65536))
    (i32.store (i32.const 16) (i32.const 0))
    (i32.const 0))
  (func (export "cf_inbox") (param i32) (result i32) (i32.const 0))
  (func (export "cf_turn") (param i32 i32) (result i32)
    (local $first i32)
    (call $mark (i32.const 1))
    (local.set $first (i32.load8_u (i32.const 65624)))
    (if (i32.eq (local.get $first) (i32.const 115))
      (then (loop $spin
        (i32.store (i32.const 2048) (i32.add (i32.load (i32.const 2048)) (i32.const 1)))
        (br $spin))))
    (if (i32.eq (local.get $first) (i32.const 112))
      (then (loop $polls (drop (call $poll)) (br $polls))))
    (if (i32.eq (local.get $first) (i32.const 103))
      (then (loop $grow
        (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))
        (unreachable))))
    (i32.store (i32.const 1024) (i32.const 1))
    (i32.store (i32.const 1028) (i32.const 5))
    (i32.const 1)))"#;

/// Sends the outcome of a program to the test.
struct TestSink(Mutex<Sender<Outcome>>);

impl Sink for TestSink {
    fn output(&self, _evaluation: Option<EvaluationId>, _fd: u8, _data: Vec<u8>) {}
    fn evaluated(&self, _evaluation: EvaluationId, _outcome: Outcome) {}
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, outcome: Outcome) {
        let _ = self.0.lock().expect("no test panics while it sends").send(outcome);
    }
}

/// A core with an image of the guest.
pub struct Guest {
    pub core: Core,
    folder: PathBuf,
}

impl Guest {
    /// Builds the image of [`GUEST`] in a folder that is named after `name`.
    pub fn build(name: &str) -> Self {
        Self::from_text(name, GUEST).expect("an image")
    }

    /// Builds the image of the guest `text` in a folder that is named after `name`.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Failure> {
        Self::of_kind(name, text, GuestKind::Node)
    }

    /// Builds the image of a guest as [`Self::from_text`] does. `kind` decides about its imports.
    pub fn of_kind(name: &str, text: &str, kind: GuestKind) -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("coldframe-{name}-{}", std::process::id()));
        let wasm = wat::parse_str(text).expect("the guest's text");
        coldframe_imager::build(&wasm, std::slice::from_ref(&folder), &folder, "guest", kind)?;
        let options = CoreOptions {
            image_dir: folder.clone(),
            python_dir: None,
            workers: 2,
            warm_slots: 4,
            spin: Duration::ZERO,
            max_runtimes: 1_000,
            edge: PathBuf::new(),
            requires_edge_walls: false,
        };
        Ok(Self { core: Core::open(&options).expect("a core"), folder })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Starts a program. Returns the channel that receives its outcome.
pub fn start(runtime: &Runtime, code: &str, timeout: Option<u64>, dispatch: Dispatch) -> (Process, Receiver<Outcome>) {
    let (sender, ends) = channel();
    let options = ProcessOptions {
        mode: Mode::Exec,
        language: coldframe_core::Language::JavaScript,
        code: code.to_owned(),
        args: vec![],
        exec_argv: vec![],
        env: vec![],
        cwd: None,
        stdin: vec![],
        timeout: timeout.map(Duration::from_millis),
        limits: vec![],
        streams: Streams::default(),
        live: false,
        user: None,
        terminal: None,
        keeps_session: false,
    };
    let process = runtime.start(options, Arc::new(TestSink(Mutex::new(sender))), dispatch).expect("start");
    (process, ends)
}

/// Waits for the end of a program.
pub fn outcome(ends: &Receiver<Outcome>) -> Outcome {
    ends.recv_timeout(Duration::from_secs(10)).expect("the program must end")
}
