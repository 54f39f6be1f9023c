//! Tests of the session's thread with the real guest image: no message makes the thread wait for a
//! lock that a guest can hold.
//!
//! A test thread holds the lock of a runtime's files, like a guest's system call that does not end.
//! A message that waited for the lock would hang the test. Builds with debug assertions also find
//! every use of such a lock on the session's thread.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coldframe_core::{Core, CoreOptions, Runtime, Store, StoreOptions};
use coldframe_ids::{RunnerId, RuntimeId};
use coldframe_protocol::messages::*;
use coldframe_protocol::{Frame, Kind, Request, encode, reader};
use serde::Serialize;

use crate::message::{Message, Outlet};
use crate::session::{Job, JobThread, Session};

/// The time after which a test that hangs fails.
const HANG: Duration = Duration::from_secs(60);
/// The code of a contained panic, such as an offence against the rule of control threads.
const INTERNAL: &[u8] = b"ERR_INTERNAL";
const RUNTIME: RuntimeId = RuntimeId::new(1).unwrap();

/// Passes frames to the test. `None` wakes the session's thread.
struct TestOutlet(Mutex<Sender<Option<Vec<u8>>>>);

impl Outlet for TestOutlet {
    fn send(&self, message: Message) {
        let _ = self.0.lock().unwrap().send(Some(message.into_frame()));
    }

    fn wake(&self) {
        let _ = self.0.lock().unwrap().send(None);
    }
}

/// A received frame: kind, id, body.
type Received = (Kind, u32, Vec<u8>);

/// An embedder. The test's thread is the session's thread.
struct Embedder {
    session: Session,
    frames: Receiver<Option<Vec<u8>>>,
    last: u32,
    _folder: Folder,
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Embedder {
    fn new(name: &str, job_thread: JobThread) -> Self {
        let image_dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../runner/dist"));
        let options = CoreOptions {
            image_dir,
            python_dir: None,
            workers: 2,
            warm_slots: 4,
            spin: Duration::ZERO,
            max_runtimes: 1_000,
            edge: PathBuf::new(),
            requires_edge_walls: false,
        };
        let core = Core::open(&options).expect("the guest image must be built before the tests run");
        let folder = Folder(std::env::temp_dir().join(format!("coldframe-session-{}-{name}", std::process::id())));
        let store = Store::open(&core, StoreOptions { directory: Some(folder.0.clone()), ..StoreOptions::default() });
        let (sender, frames) = channel();
        let outlet = Arc::new(TestOutlet(Mutex::new(sender)));
        let session = Session::new(core, store, outlet, Duration::ZERO, job_thread);
        let mut this = Self { session, frames, last: 0, _folder: folder };
        this.handle(Kind::Hello, 0, &body(Kind::Hello, &SdkHello { version: VERSION }), false);
        this
    }

    /// Passes a message to the session. Returns the job that the session has returned.
    fn handle(&mut self, kind: Kind, id: u32, body: &[u8], alone: bool) -> Option<Job> {
        let frame = Frame { kind: kind.number(), id, body, more: !alone };
        self.session.handle(&frame, alone).unwrap_or_else(|failure| panic!("{kind:?}: {failure:?}"))
    }

    /// Sends a message that is not alone, so the session must not return a job. Returns the id.
    fn send_body(&mut self, kind: Kind, body: &[u8]) -> u32 {
        self.last += 1;
        assert!(self.handle(kind, self.last, body, false).is_none(), "{kind:?}");
        self.last
    }

    fn send<T: Serialize>(&mut self, kind: Kind, message: &T) -> u32 {
        self.send_body(kind, &body(kind, message))
    }

    fn receive(&mut self) -> Received {
        loop {
            self.session.run_tasks();
            if let Some(frame) = self.frames.recv_timeout(HANG).expect("a frame") {
                let frame = Frame::parse(&frame[4..]).unwrap();
                let has_panicked = frame.body.windows(INTERNAL.len()).any(|part| part == INTERNAL);
                assert!(!has_panicked, "{}", String::from_utf8_lossy(frame.body));
                return (Kind::of(frame.kind).unwrap(), frame.id, frame.body.to_vec());
            }
        }
    }

    /// Waits for the reply to a request. Returns the ids of the replies until then.
    fn until(&mut self, id: u32) -> (Received, Vec<u32>) {
        let mut before = Vec::new();
        loop {
            let received = self.receive();
            if received.1 == id && matches!(received.0, Kind::Reply | Kind::Error) {
                return (received, before);
            }
            before.push(received.1);
        }
    }

    fn ask<T: Serialize>(&mut self, kind: Kind, message: &T) -> Vec<u8> {
        let id = self.send(kind, message);
        let ((reply, _, body), _) = self.until(id);
        assert_eq!(reply, Kind::Reply, "{kind:?}: {}", String::from_utf8_lossy(&body));
        body
    }

    /// Makes a runtime with a runner. Returns the runtime and the id of a snapshot of the runtime.
    fn occupied_runtime(&mut self) -> (Runtime, String) {
        self.ask(Kind::RuntimeCreate, &RuntimeCreate::default());
        let create = RunnerCreate { runtime: RUNTIME, env: None, cwd: None, limits: None, user: None, language: None };
        self.ask(Kind::RunnerCreate, &create);
        let take = SnapshotTake { runtime: RUNTIME, name: None, labels: None, timeout_ms: None, disk: None, memory: None };
        let taken = self.ask(Kind::SnapshotTake, &take);
        let entry: SnapshotEntry<'_> = reader::read(&taken).unwrap();
        (self.session.runtimes.get(RUNTIME).unwrap().runtime.clone(), entry.id.to_owned())
    }

    fn ping(&mut self) {
        let id = self.send(Kind::Ping, &Empty {});
        assert_eq!(self.until(id).0.0, Kind::Reply);
    }
}

fn body<T: Serialize>(kind: Kind, message: &T) -> Vec<u8> {
    let bytes = encode(kind, 1, message, 0).unwrap();
    Frame::parse(&bytes[4..]).unwrap().body.to_vec()
}

/// Holds the lock of a runtime's files until the value is dropped.
struct HeldFiles {
    release: Option<Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl HeldFiles {
    fn of(runtime: &Runtime) -> Self {
        let (release, until) = channel::<()>();
        let (held, holds) = channel();
        let runtime = runtime.clone();
        let hold = move || {
            held.send(()).unwrap();
            assert!(until.recv_timeout(HANG).is_err(), "the test drops the sender");
        };
        let thread = std::thread::spawn(move || runtime.while_files_are_held(hold));
        holds.recv_timeout(HANG).expect("the thread has the lock");
        Self { release: Some(release), thread: Some(thread) }
    }
}

impl Drop for HeldFiles {
    fn drop(&mut self) {
        drop(self.release.take());
        let ended = self.thread.take().map(std::thread::JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_none_or(|ended| ended.is_ok()));
    }
}

/// Returns the golden messages of the SDK, at least one of each kind. A pause is last, because it
/// removes the runtime.
fn golden() -> Vec<(Kind, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/frames");
    let mut all = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "bin") {
            continue;
        }
        let bytes = std::fs::read(path).unwrap();
        let frame = Frame::parse(&bytes[4..]).unwrap();
        let kind = Kind::of(frame.kind).unwrap();
        let is_large_clone = kind == Kind::RuntimeClone && frame.body.len() > 64;
        if Request::decode(&frame).is_ok() && kind != Kind::Hello && !is_large_clone {
            all.push((kind, frame.body.to_vec()));
        }
    }
    all.sort_by_key(|(kind, body)| (*kind == Kind::RuntimePause, kind.number(), body.clone()));
    all
}

fn no_message_waits(name: &str, job_thread: JobThread) {
    let mut embedder = Embedder::new(name, job_thread);
    let (runtime, snapshot) = embedder.occupied_runtime();
    let other = embedder.ask(Kind::RuntimeCreate, &RuntimeCreate::default());
    let other = reader::read::<RuntimeCreated<'_>>(&other).unwrap().runtime;
    let held = HeldFiles::of(&runtime);
    let first = embedder.send(Kind::FileMkdir, &FileTree { runtime: RUNTIME, path: "/first", recursive: None, owner: None });
    embedder.send(Kind::RuntimeRollback, &RuntimeRollback { runtime: RUNTIME, snapshot: &snapshot });
    for (kind, body) in golden() {
        embedder.send_body(kind, &body);
    }
    // The other runtime is independent of the held lock.
    let write = FileWrite { runtime: other, path: "/workspace/file", data: b"1", append: None, mode: None, owner: None };
    embedder.ask(Kind::FileWrite, &write);
    let code = "import fs from 'node:fs'; console.log(fs.readFileSync('file', 'utf8'))";
    let id = embedder.send(Kind::ProcessStart, &start(other, code));
    let ((_, _, ended), before) = embedder.until(id);
    assert_eq!(reader::read::<Outcome<'_>>(&ended).unwrap().stdout, b"1\n");
    assert!(!before.contains(&first), "the lock is held");
    assert!(runtime.contain(|_| Ok(())).is_ok(), "a notice has panicked");
    embedder.send(Kind::RuntimeDispose, &RuntimeDispose { runtime: RUNTIME });
    embedder.ask(Kind::RuntimeDispose, &RuntimeDispose { runtime: other });
    embedder.ping();
    drop(held);
    assert_eq!(embedder.until(first).0.0, Kind::Reply);
}

fn start(runtime: RuntimeId, code: &str) -> ProcessStart<'_> {
    let (args, exec_argv, env, cwd, stdin, timeout_ms, stream) = (None, None, None, None, None, None, None);
    let (limits, live, user, terminal, keep_orphans) = (None, None, None, None, None);
    ProcessStart {
        runtime,
        mode: Mode::Exec,
        language: None,
        code,
        args,
        exec_argv,
        env,
        cwd,
        stdin,
        timeout_ms,
        limits,
        stream,
        live,
        user,
        terminal,
        keep_orphans,
    }
}

#[test]
fn no_message_waits_for_a_guest_if_another_thread_reads_meanwhile() {
    no_message_waits("may-wait", JobThread::MayWait);
}

#[test]
fn no_message_waits_for_a_guest_on_the_thread_of_the_app() {
    no_message_waits("control", JobThread::Control);
}

#[test]
fn requests_of_a_runtime_keep_their_order_while_the_first_waits() {
    let mut embedder = Embedder::new("order", JobThread::MayWait);
    let (runtime, _) = embedder.occupied_runtime();
    let held = HeldFiles::of(&runtime);
    let path = "/workspace/order";
    let write = |data, append| FileWrite { runtime: RUNTIME, path, data, append, mode: None, owner: None };
    let mut ids = vec![embedder.send(Kind::FileWrite, &write(b"1", None))];
    ids.push(embedder.send(Kind::ProcessStart, &start(RUNTIME, "import fs from 'node:fs'; fs.appendFileSync('order', '2')")));
    let process_ends = ids[1];
    let eval = "console.log((await import('node:fs')).existsSync('order'))";
    let runner = RunnerId::new(1).unwrap();
    let eval = RunnerEval::new(runner, eval);
    let evaluated = embedder.send(Kind::RunnerEval, &eval);
    embedder.ping();
    drop(held);
    let ((_, _, outcome), _) = embedder.until(evaluated);
    let outcome = reader::read::<Outcome<'_>>(&outcome).unwrap();
    let printed = [outcome.stdout, outcome.stderr].map(String::from_utf8_lossy);
    assert_eq!(printed, ["true\n", ""], "the evaluation follows the write");
    embedder.session.run_tasks();
    let read = FileRead { runtime: RUNTIME, path, offset: None, length: 10 };
    // The program may end before or after the evaluation.
    if embedder.session.is_in_flight(coldframe_ids::RequestId::new(process_ends).unwrap()) {
        embedder.until(process_ends);
    }
    let read = embedder.ask(Kind::FileRead, &read);
    assert_eq!(reader::read::<FileData<'_>>(&read).unwrap().data, b"12");
}

#[test]
fn a_request_alone_is_a_job_that_later_requests_follow() {
    let mut embedder = Embedder::new("alone", JobThread::MayWait);
    let (runtime, _) = embedder.occupied_runtime();
    let held = HeldFiles::of(&runtime);
    let make = |path| body(Kind::FileMkdir, &FileTree { runtime: RUNTIME, path, recursive: None, owner: None });
    let job = embedder.handle(Kind::FileMkdir, 100, &make("/one"), true).expect("a job of this thread");
    assert!(embedder.handle(Kind::FileMkdir, 101, &make("/one/two"), true).is_none(), "an earlier call runs");
    let started = embedder.handle(Kind::ProcessStart, 102, &body(Kind::ProcessStart, &start(RUNTIME, "1")), true);
    assert!(started.is_none(), "an earlier call runs");
    embedder.ping();
    let job = std::thread::spawn(job);
    embedder.ping();
    drop(held);
    job.join().unwrap();
    for id in [100, 101, 102] {
        assert_eq!(embedder.until(id).0.0, Kind::Reply);
    }
}

#[test]
fn a_pause_that_waits_for_an_earlier_call_refuses_later_requests() {
    let mut embedder = Embedder::new("pause", JobThread::MayWait);
    let (runtime, _) = embedder.occupied_runtime();
    let held = HeldFiles::of(&runtime);
    let make = |path| FileTree { runtime: RUNTIME, path, recursive: None, owner: None };
    let earlier = embedder.send(Kind::FileMkdir, &make("/earlier"));
    let pause = RuntimePause { runtime: RUNTIME, timeout_ms: None, temporary: None, freeze: None };
    let paused = embedder.send(Kind::RuntimePause, &pause);
    let eval = RunnerEval::new(RunnerId::new(1).unwrap(), "1");
    let refused = [
        embedder.send(Kind::FileMkdir, &make("/later")),
        embedder.send(Kind::ProcessStart, &start(RUNTIME, "1")),
        embedder.send(Kind::RunnerEval, &eval),
        embedder.send(Kind::RuntimePause, &pause),
    ];
    for id in refused {
        let ((kind, _, body), before) = embedder.until(id);
        assert_eq!(kind, Kind::Error);
        assert!(String::from_utf8_lossy(&body).contains("ERR_RUNTIME_PAUSED"), "{}", String::from_utf8_lossy(&body));
        assert!(!before.contains(&earlier), "the lock is held");
    }
    drop(held);
    for id in [earlier, paused] {
        assert_eq!(embedder.until(id).0.0, Kind::Reply);
    }
}
