//! The parent process of a real sidecar: spawns the sidecar with one end of a socket pair, sends
//! frames and reads frames.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use coldframe_ids::RuntimeId;
use coldframe_protocol::messages::*;
use coldframe_protocol::{Decoder, encode, reader};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

pub const SIDECAR: &str = env!("CARGO_BIN_EXE_coldframe-sidecar");

/// A time longer than any reply may take. A test that waits for this time has hung.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns the directory of the guest image: `COLDFRAME_TEST_IMAGE`, or the directory that the
/// build of this checkout writes.
pub fn image() -> PathBuf {
    match std::env::var_os("COLDFRAME_TEST_IMAGE") {
        Some(folder) => folder.into(),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../runner/dist"),
    }
}

/// Copies of the sidecar and of the image in a temporary folder that every user can read. A test
/// may change the copies.
pub struct Copies(pub PathBuf);

impl Copies {
    pub fn new(name: &str) -> Self {
        let made = Self(std::env::temp_dir().join(format!("coldframe-copies-{}-{name}", std::process::id())));
        std::fs::create_dir_all(made.image()).unwrap();
        std::fs::copy(SIDECAR, made.0.join("sidecar")).unwrap();
        for file in std::fs::read_dir(image()).unwrap() {
            let file = file.unwrap();
            if file.file_type().unwrap().is_file() {
                std::fs::copy(file.path(), made.image().join(file.file_name())).unwrap();
            }
        }
        made
    }

    pub fn image(&self) -> PathBuf {
        self.0.join("image")
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub struct Parent {
    pub child: Child,
    pub socket: UnixStream,
    decoder: Decoder,
}

/// A received frame.
#[derive(Debug)]
pub struct Received {
    pub kind: Kind,
    pub id: u32,
    pub body: Vec<u8>,
}

impl Received {
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> T {
        reader::read(&self.body).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// Reads the failure. The frame must be an error.
    pub fn failure(&self) -> Failure<'_> {
        assert_eq!(self.kind, Kind::Error, "{self:?}");
        self.read()
    }
}

/// Returns a fact of a failure.
pub fn fact(failure: &Failure<'_>, name: &str) -> Fact {
    let found = failure.details.0.iter().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("no {name} in {failure:?}")).1.clone()
}

pub fn text(text: &str) -> Fact {
    Fact::Text(text.to_owned())
}

/// Makes a command and the two ends of a channel. The command's process inherits the second end.
pub fn command(program: &str) -> (Command, UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    fcntl_setfd(&theirs, FdFlags::empty()).unwrap();
    ours.set_read_timeout(Some(TIMEOUT)).unwrap();
    (Command::new(program), ours, theirs)
}

pub fn arguments(theirs: &UnixStream) -> Vec<String> {
    let image = image().to_str().unwrap().to_owned();
    let mut all = vec!["--channel-fd".to_owned(), theirs.as_raw_fd().to_string(), "--image".to_owned(), image];
    all.extend(["--workers".to_owned(), "2".to_owned()]);
    all
}

impl Parent {
    /// Starts a sidecar and reads its hello. Sends no hello.
    pub fn silent(more: &[&str]) -> Self {
        Self::started(command(SIDECAR), more)
    }

    /// Starts a sidecar with a limit on a resource, and exchanges hellos.
    pub fn cramped(resource: Resource, most: u64, more: &[&str]) -> Self {
        let mut parts = command(SIDECAR);
        let limit = Rlimit { current: Some(most), maximum: Some(most) };
        let set = move || Ok(setrlimit(resource, limit)?);
        // SAFETY: between fork and exec only a system call is made.
        unsafe { parts.0.pre_exec(set) };
        let mut parent = Self::started(parts, more);
        parent.send(Kind::Hello, 0, &SdkHello { version: VERSION });
        parent
    }

    /// Starts a sidecar whose command `set_up` changes, and exchanges hellos. Returns the parts of
    /// the wall, each with the reason why it is missing.
    pub fn walled(set_up: impl FnOnce(&mut Command), more: &[&str]) -> (Self, Vec<(String, Option<String>)>) {
        Self::walled_program(SIDECAR, set_up, more)
    }

    /// Does as [`Self::walled`] with another file of the sidecar.
    pub fn walled_program(
        program: &str,
        set_up: impl FnOnce(&mut Command),
        more: &[&str],
    ) -> (Self, Vec<(String, Option<String>)>) {
        let mut parts = command(program);
        set_up(&mut parts.0);
        let (mut parent, hello) = Self::greeted(parts, more);
        let hello: SidecarHello<'_> = hello.read();
        let walls = hello.walls.iter().map(|part| (part.name.to_owned(), part.missing.as_deref().map(str::to_owned))).collect();
        parent.send(Kind::Hello, 0, &SdkHello { version: VERSION });
        (parent, walls)
    }

    fn started(parts: (Command, UnixStream, UnixStream), more: &[&str]) -> Self {
        let (parent, received) = Self::greeted(parts, more);
        assert_eq!((received.kind, received.id), (Kind::Hello, 0), "{received:?}: is the guest image built?");
        let hello: SidecarHello<'_> = received.read();
        assert_eq!((hello.version, hello.pid), (VERSION, parent.child.id()));
        parent
    }

    /// Starts a sidecar and reads its first frame.
    pub fn greeted((mut command, socket, theirs): (Command, UnixStream, UnixStream), more: &[&str]) -> (Self, Received) {
        // Later options on the command line replace earlier options.
        let child = command.args(arguments(&theirs)).args(more).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        drop(theirs);
        let mut parent = Self { child, socket, decoder: Decoder::new() };
        let received = parent.receive();
        (parent, received)
    }

    /// Starts a sidecar and exchanges hellos.
    pub fn new(more: &[&str]) -> Self {
        let mut parent = Self::silent(more);
        parent.send(Kind::Hello, 0, &SdkHello { version: VERSION });
        parent
    }

    pub fn send<T: Serialize>(&mut self, kind: Kind, id: u32, body: &T) {
        self.socket.write_all(&encode(kind, id, body, 0).unwrap()).unwrap();
    }

    /// Returns the next frame. Panics at the end of the stream.
    pub fn receive(&mut self) -> Received {
        self.receive_or_end().expect("the sidecar must not close the connection")
    }

    pub fn receive_or_end(&mut self) -> Option<Received> {
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                let kind = Kind::of(frame.kind).unwrap();
                return Some(Received { kind, id: frame.id, body: frame.body.to_vec() });
            }
            match self.socket.read(self.decoder.spare()) {
                Ok(0) => return None,
                Ok(n) => self.decoder.filled(n),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no frame: {error}"),
            }
        }
    }

    /// Sends a request and returns its reply, which must be the next frame.
    pub fn ask<T: Serialize>(&mut self, kind: Kind, id: u32, body: &T) -> Received {
        self.send(kind, id, body);
        let received = self.receive();
        assert_eq!(received.id, id, "{received:?}");
        received
    }

    /// Creates a runtime.
    pub fn runtime(&mut self) -> RuntimeId {
        self.ask(Kind::RuntimeCreate, 1, &RuntimeCreate::default()).read::<RuntimeCreated>().runtime
    }

    /// Checks that the sidecar replies to a ping.
    pub fn assert_alive(&mut self) {
        let received = self.ask(Kind::Ping, 4_000_000_000, &Empty {});
        assert_eq!(received.kind, Kind::Reply);
    }

    /// Returns the last message of the connection, and the end of the process.
    pub fn last_message(mut self) -> (Received, ExitStatus, String) {
        let received = self.receive();
        assert_eq!((received.kind, received.id), (Kind::Error, 0), "{received:?}");
        assert!(self.receive_or_end().is_none());
        let status = wait_for_exit(&mut self.child);
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (received, status, stderr)
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a request that starts a program.
pub fn program(runtime: RuntimeId, code: &str) -> ProcessStart<'_> {
    let (args, exec_argv, env, cwd, stdin, timeout_ms, stream) = (None, None, None, None, None, None, None);
    ProcessStart {
        runtime,
        mode: Mode::Exec,
        code,
        language: None,
        args,
        exec_argv,
        env,
        cwd,
        stdin,
        timeout_ms,
        limits: None,
        stream,
        live: None,
        user: None,
        terminal: None,
        keep_orphans: None,
    }
}

/// Waits until a process has exited.
pub fn wait_for_exit(child: &mut Child) -> ExitStatus {
    let mut status = None;
    eventually("the process has not exited", || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.unwrap()
}

/// Waits until a condition holds.
pub fn eventually(complaint: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + TIMEOUT;
    while !holds() {
        assert!(Instant::now() < end, "{complaint}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the id of a runtime that may not exist.
pub fn runtime(number: u32) -> RuntimeId {
    RuntimeId::new(number).unwrap()
}

/// Returns the id of another runtime, which does not exist.
pub fn other(runtime: RuntimeId) -> RuntimeId {
    self::runtime(runtime.get() + 1)
}
