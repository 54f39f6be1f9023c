//! The SDK and the sidecar speak over a socket pair with this protocol. Each side sends `hello` first, with its version; the versions must
//! be equal. The SDK then sends requests; the sidecar answers each one exactly once, with `reply` or `error`, in the order in which
//! they are done, and may send `output` for a request before that. `credit` and `cancel` name a request and are not answered. The sidecar asks
//! too: a `host.call` has a number of its own and is answered with `host.result`. A message is a frame `[kind, id, body]`; below are all kinds, then the SDK's messages, then the sidecar's, in the order of
//! `docs/internals/protocol.md`. The other side's file has the same messages in the same order: change both, and the golden frames.

use serde::{Deserialize, Serialize};

pub use crate::files::*;
use crate::frames::Frame;
pub use crate::host::*;
use crate::invalid::Invalid;
pub use crate::limits::*;
pub use crate::maps::{Blobs, Details, Fact, Numbers, Pairs};
pub use crate::network::*;
pub use crate::opened::*;
pub use crate::permissions::*;
pub use crate::processes::*;
use crate::reader;
pub use crate::replies::*;
pub use crate::runners::*;
pub use crate::snapshots::*;

/// The version that both sides must have: that of the packages, which are published together.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The largest `data` of an `output` message.
pub const MAX_OUTPUT_BYTES: usize = 64 << 10;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $number:literal $name:literal;)*) => {
        /// What a frame is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $variant = $number,)* }

        impl Kind {
            /// All kinds, in order.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Whether the number is that of a message of the SDK that has its own reply.
            pub fn is_request(number: u8) -> bool {
                const NOT_ANSWERED: &[Kind] = &[
                    Kind::StreamData,
                    Kind::StreamCredit,
                    Kind::StreamEnd,
                    Kind::StreamClose,
                    Kind::ListenerCancel,
                    Kind::HostResult,
                ];
                number >= Self::Ping as u8 && !NOT_ANSWERED.iter().any(|kind| *kind as u8 == number)
            }

            /// The name in `docs/internals/protocol.md`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl TryFrom<u8> for Kind {
            type Error = Invalid;
            fn try_from(number: u8) -> Result<Self, Invalid> {
                match number {
                    $($number => Ok(Self::$variant),)*
                    other => Err(Invalid::new("a kind of message that is in the protocol", format!("number {other}")).within("kind")),
                }
            }
        }
    };
}

kinds! {
    /// Both: the version, as the first frame.
    Hello = 1 "hello";
    /// Sidecar: a request's result.
    Reply = 2 "reply";
    /// Sidecar: a request's failure; with id 0 the connection's.
    Error = 3 "error";
    /// Sidecar: what a running program has written.
    Output = 4 "output";
    /// SDK: so much of it has been read.
    Credit = 5 "credit";
    /// SDK: stop a request.
    Cancel = 6 "cancel";
    /// Sidecar: a live program has its number.
    Started = 7 "started";
    /// SDK: answer at once.
    Ping = 10 "ping";
    /// SDK: make a runtime.
    RuntimeCreate = 11 "runtime.create";
    /// SDK: end a runtime and all that runs in it.
    RuntimeDispose = 12 "runtime.dispose";
    /// SDK: run a program to its end.
    ProcessStart = 13 "process.start";
    /// SDK: start a resident runner.
    RunnerCreate = 14 "runner.create";
    /// SDK: evaluate a snippet in a resident runner.
    RunnerEval = 15 "runner.eval";
    /// SDK: end a resident runner.
    RunnerDispose = 16 "runner.dispose";
    /// SDK: count what is in use.
    Resources = 17 "resources";
    /// SDK: read a runtime's file.
    FileRead = 18 "file.read";
    /// SDK: write one.
    FileWrite = 19 "file.write";
    /// SDK: list a directory.
    FileList = 20 "file.list";
    /// SDK: what is known of a file.
    FileStat = 21 "file.stat";
    /// SDK: make a directory.
    FileMkdir = 22 "file.mkdir";
    /// SDK: remove a file or a directory.
    FileRemove = 23 "file.remove";
    /// SDK: give a file another name.
    FileRename = 24 "file.rename";
    /// SDK: write to a live program's standard input.
    ProcessWrite = 25 "process.write";
    /// SDK: send a process a signal.
    ProcessSignal = 26 "process.signal";
    /// SDK: list a runtime's processes.
    ProcessList = 27 "process.list";
    /// SDK: connect to a listener of a runtime.
    StreamOpen = 30 "stream.open";
    /// Both: bytes of a connection.
    StreamData = 31 "stream.data";
    /// Both: so many of them have been taken.
    StreamCredit = 32 "stream.credit";
    /// Both: no more bytes from this side.
    StreamEnd = 33 "stream.end";
    /// Both: the connection is over.
    StreamClose = 34 "stream.close";
    /// SDK: who listens in a runtime.
    ListenerList = 35 "listener.list";
    /// SDK: wait for somebody who listens.
    ListenerWait = 36 "listener.wait";
    /// SDK: wait no more; the wait is answered.
    ListenerCancel = 37 "listener.cancel";
    /// Sidecar: a runtime's program wants something of the caller.
    HostCall = 40 "host.call";
    /// SDK: what came of it.
    HostResult = 41 "host.result";
    /// Sidecar: nobody waits for it any more.
    HostCancel = 42 "host.cancel";
    /// SDK: a runtime's bindings.
    BindingsSet = 43 "bindings.set";
    /// SDK: open a file or an archive.
    FileOpen = 50 "file.open";
    /// SDK: close it, or a watch.
    FileClose = 51 "file.close";
    /// SDK: read some of it.
    FilePull = 52 "file.pull";
    /// SDK: write some of it.
    FilePush = 53 "file.push";
    /// SDK: begin a watch.
    FileWatch = 54 "file.watch";
    /// SDK: wait for what happens next.
    FileChanges = 55 "file.changes";
    /// SDK: set a file's permissions and times.
    FileSet = 56 "file.set";
    /// SDK: make a link.
    FileLink = 57 "file.link";
    /// SDK: read one.
    FileReadlink = 58 "file.readlink";
    /// SDK: replace what a runtime's programs may do.
    PermissionsSet = 60 "permissions.set";
    /// SDK: hear of decisions, or hear no more.
    PermissionsWatch = 61 "permissions.watch";
    /// Sidecar: decisions.
    PermissionsEvents = 62 "permissions.events";
    /// SDK: they have been taken.
    PermissionsTaken = 63 "permissions.taken";
    /// Sidecar: a runtime comes near one of its limits.
    LimitWarning = 64 "limit.warning";
    /// SDK: what a runtime uses of its limits.
    RuntimeResources = 65 "runtime.resources";
    /// SDK: a runtime as a value.
    SnapshotTake = 70 "snapshot.take";
    /// SDK: bring a runtime back to one.
    RuntimeRollback = 71 "runtime.rollback";
    /// SDK: make copies of a runtime.
    RuntimeClone = 72 "runtime.clone";
    /// SDK: write a runtime to disk and give its memory back.
    RuntimePause = 73 "runtime.pause";
    /// SDK: have it go on.
    RuntimeResume = 74 "runtime.resume";
    /// SDK: which snapshots there are.
    SnapshotList = 75 "snapshot.list";
    /// SDK: what is known of one.
    SnapshotGet = 76 "snapshot.get";
    /// SDK: remove one.
    SnapshotDelete = 77 "snapshot.delete";
    /// SDK: write one to a file.
    SnapshotExport = 78 "snapshot.export";
    /// SDK: take one from a file.
    SnapshotImport = 79 "snapshot.import";
    /// SDK: hear of a program that came with a snapshot.
    ProcessAttach = 80 "process.attach";
    /// SDK: keep one on disk too.
    SnapshotPersist = 81 "snapshot.persist";
    /// SDK: the hash of what one holds.
    SnapshotDigest = 82 "snapshot.digest";
}

// What the SDK sends.

/// `hello` of the SDK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SdkHello<'a> {
    /// The SDK's version.
    pub version: &'a str,
}

/// `credit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credit {
    /// How many bytes of output the reader has consumed.
    pub bytes: u64,
}

/// The body of `cancel`, `ping` and `resources`, and of a reply that says only that it is done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Empty {}

/// `runtime.create`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RuntimeCreate<'a> {
    /// The environment of its processes.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Pairs<'a>>,
    /// The working directory of its processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    /// The walls around it, by their names.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Numbers<'a>>,
    /// Where the limits come from that are not named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<&'a str>,
    /// Whether `limit.warning` is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warn: Option<bool>,
    /// Files that are there from the start.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Blobs<'a>>,
    /// Folders of the host that are there from the start.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub mounts: Option<Vec<Mount<'a>>>,
    /// What its programs may do.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<PermissionsPolicy<'a>>,
    /// What programs may call from the first moment on.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub bindings: Option<Vec<Binding<'a>>>,
    /// It goes on from this snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<&'a str>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<&'a str>,
}

/// `runtime.dispose`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeDispose {
    /// Which one.
    pub runtime: u32,
}

/// `mode` of `process.start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Run a program to its end.
    Exec,
    /// The same; it may hand back a value.
    Run,
    /// As `Exec`; `code` is the path of the program's file in the guest.
    File,
    /// As `Exec`; `code` is a command and `args` are its arguments.
    Command,
}

/// `stream` of `process.start` and `runner.eval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Descriptor 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<bool>,
    /// Descriptor 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<bool>,
}

/// `process.start`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ProcessStart<'a> {
    /// Where it runs.
    pub runtime: u32,
    /// What is wanted of it.
    pub mode: Mode,
    /// The program, an ES module.
    pub code: &'a str,
    /// Arguments after `node` and the program's name.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<&'a str>>,
    /// Options of `node` itself.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub exec_argv: Option<Vec<&'a str>>,
    /// Laid over the runtime's environment.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Pairs<'a>>,
    /// Instead of the runtime's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    /// What it reads from descriptor 0.
    #[serde(borrow, default, with = "serde_bytes", skip_serializing_if = "Option::is_none")]
    pub stdin: Option<&'a [u8]>,
    /// Wall-clock limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Which descriptors are sent on while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
    /// Whether `started` is sent and its standard input stays open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
}

/// Everything that the SDK may send.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each variant is the message of its name above")]
pub enum Request<'a> {
    Hello(SdkHello<'a>),
    Credit(Credit),
    Cancel,
    Ping,
    RuntimeCreate(RuntimeCreate<'a>),
    RuntimeDispose(RuntimeDispose),
    ProcessStart(ProcessStart<'a>),
    RunnerCreate(RunnerCreate<'a>),
    RunnerEval(RunnerEval<'a>),
    RunnerDispose(RunnerDispose),
    Resources,
    FileRead(FileRead<'a>),
    FileWrite(FileWrite<'a>),
    FileList(FileList<'a>),
    FileStat(FileStat<'a>),
    FileMkdir(FileTree<'a>),
    FileRemove(FileTree<'a>),
    FileRename(FileRename<'a>),
    ProcessWrite(ProcessWrite<'a>),
    ProcessSignal(ProcessSignal),
    ProcessList(ProcessList),
    StreamOpen(NetworkTarget<'a>),
    StreamData(StreamWrite<'a>),
    StreamCredit(StreamRead),
    StreamEnd(InRuntime),
    StreamClose(StreamLeave),
    ListenerList(NetworkTarget<'a>),
    ListenerWait(NetworkTarget<'a>),
    ListenerCancel(InRuntime),
    HostResult(HostResult<'a>),
    BindingsSet(BindingsSet<'a>),
    FileOpen(FileOpen<'a>),
    FileClose(FileClose),
    FilePull(FilePull),
    FilePush(FilePush<'a>),
    FileWatch(FileWatch<'a>),
    FileChanges(FileChanges),
    FileSet(FileSet<'a>),
    FileLink(FileLink<'a>),
    FileReadlink(FileReadlink<'a>),
    PermissionsSet(PermissionsSet<'a>),
    PermissionsWatch(PermissionsWatch),
    PermissionsTaken(PermissionsTaken),
    RuntimeResources(RuntimeResources),
    SnapshotTake(SnapshotTake<'a>),
    RuntimeRollback(RuntimeRollback<'a>),
    RuntimeClone(RuntimeClone<'a>),
    RuntimePause(RuntimePause),
    RuntimeResume(RuntimeResume<'a>),
    SnapshotList(SnapshotList<'a>),
    SnapshotGet(SnapshotNamed<'a>),
    SnapshotDelete(SnapshotNamed<'a>),
    SnapshotExport(SnapshotExport<'a>),
    SnapshotImport(SnapshotImport<'a>),
    ProcessAttach(ProcessAttach),
    SnapshotPersist(SnapshotNamed<'a>),
    SnapshotDigest(SnapshotNamed<'a>),
}

impl<'a> Request<'a> {
    /// Reads a frame that came from the SDK. The error's path begins with the message's name.
    pub fn decode(frame: &Frame<'a>) -> Result<Self, Invalid> {
        let kind = Kind::try_from(frame.kind)?;
        let body = frame.body;
        log::debug!(target: "request", "{} {}, {} bytes", frame.id, kind.name(), body.len());
        let request = match kind {
            Kind::Hello => reader::read(body).map(Self::Hello),
            Kind::Credit => reader::read(body).map(Self::Credit),
            Kind::Cancel => reader::read(body).map(|Empty {}| Self::Cancel),
            Kind::Ping => reader::read(body).map(|Empty {}| Self::Ping),
            Kind::RuntimeCreate => reader::read(body).map(Self::RuntimeCreate),
            Kind::RuntimeDispose => reader::read(body).map(Self::RuntimeDispose),
            Kind::ProcessStart => reader::read(body).map(Self::ProcessStart),
            Kind::RunnerCreate => reader::read(body).map(Self::RunnerCreate),
            Kind::RunnerEval => reader::read(body).map(Self::RunnerEval),
            Kind::RunnerDispose => reader::read(body).map(Self::RunnerDispose),
            Kind::Resources => reader::read(body).map(|Empty {}| Self::Resources),
            Kind::FileRead => reader::read(body).map(Self::FileRead),
            Kind::FileWrite => reader::read(body).map(Self::FileWrite),
            Kind::FileList => reader::read(body).map(Self::FileList),
            Kind::FileStat => reader::read(body).map(Self::FileStat),
            Kind::FileMkdir => reader::read(body).map(Self::FileMkdir),
            Kind::FileRemove => reader::read(body).map(Self::FileRemove),
            Kind::FileRename => reader::read(body).map(Self::FileRename),
            Kind::ProcessWrite => reader::read(body).map(Self::ProcessWrite),
            Kind::ProcessSignal => reader::read(body).map(Self::ProcessSignal),
            Kind::ProcessList => reader::read(body).map(Self::ProcessList),
            Kind::StreamOpen => reader::read(body).map(Self::StreamOpen),
            Kind::StreamData => reader::read(body).map(Self::StreamData),
            Kind::StreamCredit => reader::read(body).map(Self::StreamCredit),
            Kind::StreamEnd => reader::read(body).map(Self::StreamEnd),
            Kind::StreamClose => reader::read(body).map(Self::StreamClose),
            Kind::ListenerList => reader::read(body).map(Self::ListenerList),
            Kind::ListenerWait => reader::read(body).map(Self::ListenerWait),
            Kind::ListenerCancel => reader::read(body).map(Self::ListenerCancel),
            Kind::HostResult => reader::read(body).map(Self::HostResult),
            Kind::BindingsSet => reader::read(body).map(Self::BindingsSet),
            Kind::FileOpen => reader::read(body).map(Self::FileOpen),
            Kind::FileClose => reader::read(body).map(Self::FileClose),
            Kind::FilePull => reader::read(body).map(Self::FilePull),
            Kind::FilePush => reader::read(body).map(Self::FilePush),
            Kind::FileWatch => reader::read(body).map(Self::FileWatch),
            Kind::FileChanges => reader::read(body).map(Self::FileChanges),
            Kind::FileSet => reader::read(body).map(Self::FileSet),
            Kind::FileLink => reader::read(body).map(Self::FileLink),
            Kind::FileReadlink => reader::read(body).map(Self::FileReadlink),
            Kind::PermissionsSet => reader::read(body).map(Self::PermissionsSet),
            Kind::PermissionsWatch => reader::read(body).map(Self::PermissionsWatch),
            Kind::PermissionsTaken => reader::read(body).map(Self::PermissionsTaken),
            Kind::RuntimeResources => reader::read(body).map(Self::RuntimeResources),
            Kind::SnapshotTake => reader::read(body).map(Self::SnapshotTake),
            Kind::RuntimeRollback => reader::read(body).map(Self::RuntimeRollback),
            Kind::RuntimeClone => reader::read(body).map(Self::RuntimeClone),
            Kind::RuntimePause => reader::read(body).map(Self::RuntimePause),
            Kind::RuntimeResume => reader::read(body).map(Self::RuntimeResume),
            Kind::SnapshotList => reader::read(body).map(Self::SnapshotList),
            Kind::SnapshotGet => reader::read(body).map(Self::SnapshotGet),
            Kind::SnapshotDelete => reader::read(body).map(Self::SnapshotDelete),
            Kind::SnapshotExport => reader::read(body).map(Self::SnapshotExport),
            Kind::SnapshotImport => reader::read(body).map(Self::SnapshotImport),
            Kind::ProcessAttach => reader::read(body).map(Self::ProcessAttach),
            Kind::SnapshotPersist => reader::read(body).map(Self::SnapshotPersist),
            Kind::SnapshotDigest => reader::read(body).map(Self::SnapshotDigest),
            Kind::Reply
            | Kind::Error
            | Kind::Output
            | Kind::Started
            | Kind::HostCall
            | Kind::HostCancel
            | Kind::PermissionsEvents
            | Kind::LimitWarning => {
                return Err(Invalid::new("a kind of message that the SDK sends", kind.name()).within("kind"));
            }
        };
        request.map_err(|invalid| invalid.within(kind.name()))
    }
}
