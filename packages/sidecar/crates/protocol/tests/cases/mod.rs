//! The messages of the golden frames: at least one message of each kind, and edge cases. The edge
//! cases are empty bodies, full bodies, the largest id, text that is not ASCII, binary data, and
//! errors inside outcomes.

use std::borrow::Cow;
use std::fmt::Debug;

use coldframe_ids::{HandleId, Pid};
use coldframe_protocol::messages::*;
use coldframe_protocol::{Frame, encode, reader};
use serde::{Deserialize, Serialize};

use samples::*;

pub struct Case {
    pub name: &'static str,
    pub from: &'static str,
    /// The request that a reply belongs to, which defines how the reply is read.
    pub answers: Option<Kind>,
    pub bytes: Vec<u8>,
    /// Panics when the frame does not contain the message.
    pub check: Box<dyn Fn(&Frame<'_>)>,
}

/// Adds a case. The macro evaluates `$message` twice, because the check outlives the first message.
macro_rules! case {
    ($all:ident, $from:literal, $name:literal, $kind:expr, $id:expr, $answers:expr, $type:ty, $message:expr) => {{
        let bytes = encode($kind, $id, &$message, 0).unwrap();
        let check = |frame: &Frame<'_>| {
            assert_eq!((frame.kind, frame.id, frame.more), ($kind.number(), $id, false), $name);
            assert_eq!(reader::read::<$type>(frame.body).unwrap(), $message, $name);
        };
        $all.push(Case { name: $name, from: $from, answers: $answers, bytes, check: Box::new(check) });
    }};
}

macro_rules! sdk {
    ($all:ident, $name:literal, $kind:ident, $id:expr, $type:ty, $message:expr) => {
        case!($all, "sdk", $name, Kind::$kind, $id, None, $type, $message)
    };
}

macro_rules! sidecar {
    ($all:ident, $name:literal, $kind:ident, $id:expr, $type:ty, $message:expr) => {
        case!($all, "sidecar", $name, Kind::$kind, $id, None, $type, $message)
    };
}

macro_rules! reply {
    ($all:ident, $name:literal, $answers:ident, $id:expr, $type:ty, $message:expr) => {
        case!($all, "sidecar", $name, Kind::Reply, $id, Some(Kind::$answers), $type, $message)
    };
}

// The module uses the macros above, so the module must follow the macros.
mod file_attributes;
mod outside;
mod private_networks;
mod runners;
mod samples;
mod snapshots;

pub fn all() -> Vec<Case> {
    let mut all = Vec::new();
    sdk!(all, "sdk-hello", Hello, 0, SdkHello, SdkHello { version: "0.1.0" });
    sdk!(all, "credit", Credit, 9, Credit, Credit { bytes: 262_144 });
    sdk!(all, "credit-large", Credit, 9, Credit, Credit { bytes: 4_294_967_297 });
    sdk!(all, "cancel", Cancel, 9, Empty, Empty {});
    sdk!(all, "ping", Ping, 1, Empty, Empty {});
    sdk!(all, "ping-largest-id", Ping, u32::MAX, Empty, Empty {});
    sdk!(all, "runtime-create-empty", RuntimeCreate, 2, RuntimeCreate, RuntimeCreate::default());
    sdk!(all, "runtime-create", RuntimeCreate, 128, RuntimeCreate, {
        let limits = Numbers(vec![("memoryBytes", 134_217_728), ("cpuMs", 30_000), ("outputBytes", 16_777_216)]);
        let env = Some(Pairs(vec![("A", "1"), ("B", "zwei €")]));
        RuntimeCreate { env, cwd: Some("/workspace"), limits: Some(limits), ..RuntimeCreate::default() }
    });
    sdk!(all, "runtime-create-files", RuntimeCreate, 2, RuntimeCreate, {
        let limits = Numbers(vec![("filesystemBytes", 67_108_864), ("inodes", 16_384), ("descriptors", 256), ("processes", 256)]);
        let mount =
            |guest_path, host_path, read_only| Mount { guest_path, host_path, read_only, overlay: None, file_system: None };
        let mounts = vec![mount("/workspace/node_modules", "/srv/größe/node_modules", true), mount("/data", "/", false)];
        let files = Blobs(vec![("/workspace/a.txt", BYTES), ("/empty", b"")]);
        RuntimeCreate { limits: Some(limits), files: Some(files), mounts: Some(mounts), ..RuntimeCreate::default() }
    });
    sdk!(all, "runtime-create-hardened", RuntimeCreate, 2, RuntimeCreate, {
        let limits = Some(Numbers(vec![("totalMemoryBytes", 1 << 40), ("wallMs", 0)]));
        RuntimeCreate { limits, profile: Some("hardened"), warn: Some(true), ..RuntimeCreate::default() }
    });
    sdk!(all, "runtime-resources", RuntimeResources, 3, RuntimeResources, RuntimeResources { runtime: runtime(7) });
    sdk!(all, "runtime-dispose", RuntimeDispose, 256, RuntimeDispose, RuntimeDispose { runtime: runtime(65_536) });
    sdk!(all, "process-start", ProcessStart, 3, ProcessStart, least("console.log(1)"));
    sdk!(all, "process-start-everything", ProcessStart, 65_535, ProcessStart, everything());
    sdk!(all, "process-start-empty", ProcessStart, 4, ProcessStart, {
        let stream = Some(Stream::default());
        ProcessStart { args: Some(vec![]), env: Some(Pairs::default()), stdin: Some(b""), stream, ..least("") }
    });
    runners::add(&mut all);
    sdk!(all, "resources", Resources, 8, Empty, Empty {});

    let path = "/workspace/datei ä.txt";
    sdk!(all, "file-read", FileRead, 9, FileRead, FileRead { runtime: runtime(1), path, offset: None, length: 65_536 });
    sdk!(
        all,
        "file-read-rest",
        FileRead,
        9,
        FileRead,
        FileRead { runtime: runtime(1), path, offset: Some(4_294_967_296), length: 0 }
    );
    sdk!(
        all,
        "file-write",
        FileWrite,
        9,
        FileWrite,
        FileWrite {
            runtime: runtime(1),
            path,
            data: BYTES,
            append: None,
            mode: Some(0o755),
            owner: Some(Owner { uid: 0, gid: 0 })
        }
    );
    sdk!(
        all,
        "file-write-append",
        FileWrite,
        9,
        FileWrite,
        FileWrite { runtime: runtime(1), path, data: b"", append: Some(true), mode: None, owner: None }
    );
    sdk!(all, "file-list", FileList, 9, FileList, FileList { runtime: runtime(1), path: "/" });
    sdk!(all, "file-stat", FileStat, 9, FileStat, FileStat { runtime: runtime(1), path, follow: Some(false) });
    sdk!(
        all,
        "file-mkdir",
        FileMkdir,
        9,
        FileTree,
        FileTree { runtime: runtime(1), path, recursive: Some(true), owner: Some(Owner { uid: 7, gid: 8 }) }
    );
    sdk!(all, "file-remove", FileRemove, 9, FileTree, FileTree { runtime: runtime(1), path, recursive: None, owner: None });
    sdk!(all, "process-write", ProcessWrite, 10, ProcessWrite, {
        ProcessWrite { runtime: runtime(1), pid: Pid::new(2), data: BYTES, end: Some(true) }
    });
    sdk!(
        all,
        "process-signal",
        ProcessSignal,
        11,
        ProcessSignal,
        ProcessSignal { runtime: runtime(1), pid: Pid::new(70_000), signal: 15 }
    );
    sdk!(all, "process-resize", ProcessResize, 13, ProcessResize, {
        ProcessResize { runtime: runtime(1), pid: Pid::new(7), size: TerminalSize { columns: 120, rows: 40 } }
    });
    sdk!(all, "process-list", ProcessList, 12, ProcessList, ProcessList { runtime: runtime(1) });
    sidecar!(all, "started", Started, 3, Started, Started { pid: Pid::new(2), earlier: Some(300_000), listener: false });
    sidecar!(all, "started-listener", Started, 3, Started, Started { pid: Pid::new(2), earlier: None, listener: true });
    sidecar!(all, "lost", Lost, 3, Lost, Lost { bytes: 4_294_967_296 });
    reply!(all, "reply-process-list", ProcessList, 12, ProcessTable<'_>, {
        ProcessTable { pids: pids([2, 3]), ppids: pids([1, 2]), groups: pids([2, 2]), commands: vec!["node", "node größe.js"] }
    });
    sdk!(
        all,
        "file-open",
        FileOpen,
        9,
        FileOpen,
        FileOpen { runtime: runtime(1), path, r#for: Purpose::Write, mode: Some(0o600), owner: None, keep_owners: None }
    );
    sdk!(
        all,
        "file-open-export",
        FileOpen,
        9,
        FileOpen,
        FileOpen { runtime: runtime(1), path: "/", r#for: Purpose::Export, mode: None, owner: None, keep_owners: None }
    );
    sdk!(all, "file-close", FileClose, 9, FileClose, FileClose { runtime: runtime(1), handle: HandleId::new(2), discard: None });
    sdk!(
        all,
        "file-close-discard",
        FileClose,
        9,
        FileClose,
        FileClose { runtime: runtime(1), handle: HandleId::new(2), discard: Some(true) }
    );
    sdk!(
        all,
        "file-pull",
        FilePull,
        9,
        FilePull,
        FilePull { runtime: runtime(1), handle: HandleId::new(2), offset: Some(1 << 40), length: 65_536 }
    );
    sdk!(
        all,
        "file-push",
        FilePush,
        9,
        FilePush,
        FilePush { runtime: runtime(1), handle: HandleId::new(2), offset: None, data: BYTES }
    );
    sdk!(all, "file-changes", FileChanges, 9, FileChanges, FileChanges { runtime: runtime(1), handle: HandleId::new(3) });
    sdk!(all, "file-set", FileSet, 9, FileSet, {
        FileSet {
            runtime: runtime(1),
            path,
            mode: Some(0o644),
            atime_us: Some(-1),
            mtime_us: Some(1 << 50),
            owner: Some(Owner { uid: 0, gid: 1_000 }),
            follow: Some(false),
        }
    });
    sdk!(
        all,
        "file-link",
        FileLink,
        9,
        FileLink,
        FileLink { runtime: runtime(1), path, target: "../ä", hard: None, owner: None }
    );
    sdk!(all, "file-readlink", FileReadlink, 9, FileReadlink, FileReadlink { runtime: runtime(1), path });
    sdk!(all, "runtime-create-permissions", RuntimeCreate, 2, RuntimeCreate, {
        RuntimeCreate { permissions: Some(policy()), ..RuntimeCreate::default() }
    });
    sdk!(
        all,
        "permissions-set",
        PermissionsSet,
        13,
        PermissionsSet<'_>,
        PermissionsSet { runtime: runtime(1), permissions: policy() }
    );
    sdk!(all, "permissions-watch", PermissionsWatch, 14, PermissionsWatch, PermissionsWatch { runtime: runtime(1), on: true });
    sdk!(all, "permissions-take", PermissionsTake, 15, PermissionsTake, PermissionsTake { runtime: runtime(1), all: None });
    sdk!(
        all,
        "permissions-take-all",
        PermissionsTake,
        16,
        PermissionsTake,
        PermissionsTake { runtime: runtime(1), all: Some(true) }
    );
    sidecar!(all, "permissions-pending", PermissionsPending, 0, PermissionsPending, PermissionsPending { runtime: runtime(1) });
    sidecar!(all, "reply-permissions-take", Reply, 15, PermissionsTaken<'_>, {
        let events = vec![decided("/größe/a", PermissionMode::Deny, Some(0)), decided("/b", PermissionMode::Allow, None)];
        PermissionsTaken { events, lost: 4_294_967_296 }
    });
    sdk!(all, "file-rename", FileRename, 9, FileRename, FileRename { runtime: runtime(1), from: path, to: "/tmp/x" });

    sidecar!(all, "host-call", HostCall, 1, HostCall, {
        HostCall {
            runtime: runtime(1),
            pid: Pid::new(2),
            service: "binding",
            name: "weather",
            input: "{\"city\":\"Århus\"}".as_bytes(),
        }
    });
    sidecar!(all, "host-call-binary", HostCall, u32::MAX, HostCall, {
        HostCall { runtime: runtime(65_536), pid: Pid::new(70_000), service: "filesystem", name: "/größe", input: BYTES }
    });
    sidecar!(
        all,
        "host-call-empty",
        HostCall,
        1,
        HostCall,
        HostCall { runtime: runtime(1), pid: Pid::new(2), service: "", name: "", input: b"" }
    );
    sidecar!(all, "host-cancel", HostCancel, 1, HostCancel, HostCancel { runtime: runtime(1) });
    sdk!(all, "stream-open", StreamOpen, 14, NetworkTarget, {
        NetworkTarget { runtime: runtime(1), port: Some(65_535), host: Some("::1"), path: None }
    });
    sdk!(all, "stream-open-path", StreamOpen, u32::MAX, NetworkTarget, {
        NetworkTarget { runtime: runtime(1), port: None, host: None, path: Some("/tmp/größe.sock") }
    });
    sdk!(all, "stream-write", StreamData, 14, StreamWrite, StreamWrite { runtime: runtime(65_536), data: BYTES });
    sdk!(all, "stream-read", StreamCredit, 14, StreamRead, StreamRead { runtime: runtime(1), bytes: 262_144 });
    sdk!(all, "stream-end", StreamEnd, 14, InRuntime, InRuntime { runtime: runtime(1) });
    sdk!(all, "stream-leave", StreamClose, 14, StreamLeave, StreamLeave { runtime: runtime(1), reset: None });
    sdk!(all, "stream-reset", StreamClose, 14, StreamLeave, StreamLeave { runtime: runtime(1), reset: Some(true) });
    sdk!(all, "listener-list", ListenerList, 15, NetworkTarget, {
        NetworkTarget { runtime: runtime(1), port: None, host: None, path: None }
    });
    sdk!(all, "listener-wait", ListenerWait, 16, NetworkTarget, {
        NetworkTarget { runtime: runtime(1), port: Some(1), host: None, path: None }
    });
    sdk!(all, "listener-cancel", ListenerCancel, 16, InRuntime, InRuntime { runtime: runtime(1) });
    sidecar!(all, "handler-wanted", HandlerWanted, 0, HandlerRequest, HandlerRequest { runtime: runtime(1), number: 7 });
    sdk!(all, "stream-handle", StreamHandle, 14, HandlerRequest, HandlerRequest { runtime: runtime(1), number: 7 });
    sidecar!(all, "stream-data", StreamData, 14, StreamData, StreamData { data: BYTES });
    sidecar!(all, "stream-credit", StreamCredit, 14, Credit, Credit { bytes: 65_536 });
    sidecar!(all, "stream-ended", StreamEnd, 14, Empty, Empty {});
    sidecar!(all, "stream-closed", StreamClose, 14, StreamClosed, StreamClosed { failure: None });
    sidecar!(all, "stream-closed-failure", StreamClose, 14, StreamClosed, {
        let details = [("syscall", Fact::Text("read".to_owned())), ("path", Fact::Text("localhost:80".to_owned()))];
        StreamClosed {
            failure: Some(failure("ECONNRESET", "ECONNRESET: connection reset by peer, read 'localhost:80'", &details)),
        }
    });
    reply!(all, "reply-listener-list", ListenerList, 15, Listeners, {
        let tcp = Listener { pid: Pid::new(2), host: Some("::"), port: Some(3_000), path: None };
        Listeners { listeners: vec![tcp, Listener { pid: Pid::new(3), host: None, port: None, path: Some("/tmp/a.sock") }] }
    });
    reply!(all, "reply-listener-wait", ListenerWait, 16, Listener, {
        Listener { pid: Pid::new(2), host: Some("127.0.0.1"), port: Some(3_000), path: None }
    });

    sdk!(
        all,
        "host-result",
        HostResult,
        1,
        HostResult,
        HostResult { runtime: runtime(1), ok: Some(b"={\"degrees\":4}"), failure: None }
    );
    sdk!(all, "host-result-empty", HostResult, 1, HostResult, HostResult { runtime: runtime(1), ok: Some(b""), failure: None });
    sdk!(all, "host-result-failure", HostResult, u32::MAX, HostResult, {
        let failure = HostFailure { code: Cow::Borrowed("ENOENT"), message: Cow::Borrowed("no such file: größe") };
        HostResult { runtime: runtime(1), ok: None, failure: Some(failure) }
    });
    sdk!(all, "bindings-set", BindingsSet, 13, BindingsSet, {
        let binding = |name, commands| Binding { name, commands, input_bytes: 1_048_576 };
        BindingsSet { runtime: runtime(1), bindings: vec![binding("weather", vec!["weather", "wttr"]), binding("a", vec![])] }
    });
    sdk!(all, "bindings-set-empty", BindingsSet, 13, BindingsSet, BindingsSet { runtime: runtime(1), bindings: vec![] });

    sidecar!(all, "sidecar-hello", Hello, 0, SidecarHello, {
        let image = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        let stands = WallPart { name: "seccomp", missing: None };
        let missing = WallPart { name: "userNamespace", missing: Some(Cow::Borrowed("unshare: größe")) };
        SidecarHello { version: "0.1.0", pid: 4_194_304, image, load_ns: 1_234_567, walls: vec![stands, missing] }
    });
    sidecar!(all, "sidecar-hello-embedded", Hello, 0, SidecarHello, {
        let image = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        SidecarHello { version: "0.1.0", pid: 7, image, load_ns: 1, walls: vec![] }
    });
    sidecar!(all, "error", Error, 9, Failure, {
        let text = |s: &str| Fact::Text(s.to_owned());
        let details = [
            ("what", text("process.start.timeoutMs")),
            ("expected", text("a whole number from 0")),
            ("received", text("string \"bald\"")),
        ];
        failure(
            "ERR_INVALID_REQUEST",
            "process.start.timeoutMs: expected a whole number from 0, received string \"bald\"",
            &details,
        )
    });
    sidecar!(all, "error-of-the-connection", Error, 0, Failure, {
        let details = [("sdk", Fact::Text("0.2.0".to_owned())), ("sidecar", Fact::Text("0.1.0".to_owned()))];
        failure("ERR_VERSION_MISMATCH", "the SDK is version 0.2.0 and the sidecar is version 0.1.0", &details)
    });
    sidecar!(
        all,
        "error-without-facts",
        Error,
        u32::MAX,
        Failure,
        failure("ERR_CANCELED", "the program was ended by its caller", &[])
    );
    sidecar!(all, "output", Output, 9, Output, Output { fd: 1, data: "ärmel\n".as_bytes() });
    sidecar!(all, "output-binary", Output, 9, Output, Output { fd: 2, data: BYTES });
    sidecar!(all, "output-largest", Output, 9, Output, Output { fd: 1, data: &[b'.'; MAX_OUTPUT_BYTES] });

    sidecar!(all, "limit-warning", LimitWarning, 0, LimitWarning, warning("filesystemBytes", 53_687_092, 67_108_864, None));
    sidecar!(all, "limit-warning-process", LimitWarning, 0, LimitWarning, warning("cpuMs", 24_001, 30_000, Some(4_194_304)));
    reply!(all, "reply-runtime-resources", RuntimeResources, 3, RuntimeUsage, {
        RuntimeUsage {
            limits: vec!["memoryBytes", "processes"],
            used: vec![12_582_912, 1],
            high: vec![4_294_967_296, 2],
            max: vec![134_217_728, 256],
            descriptors: 3,
            operations: 4,
            timers: 1,
            cpu_ms: 17,
            buffered_bytes: 65_536,
        }
    });
    reply!(all, "reply-ping", Ping, 1, Empty, Empty {});
    reply!(
        all,
        "reply-runtime-create",
        RuntimeCreate,
        2,
        RuntimeCreated,
        RuntimeCreated { runtime: runtime(1), configure_ns: 850, restored: None }
    );
    reply!(all, "reply-process-start", ProcessStart, 3, Outcome, outcome(b"1\n", None));
    reply!(all, "reply-process-start-binary", ProcessStart, 3, Outcome, outcome(BYTES, None));
    reply!(all, "reply-process-start-everything", ProcessStart, u32::MAX, Outcome, {
        let details = [("memoryBytes", Fact::Number(134_217_728)), ("limit", Fact::Text("memoryBytes".to_owned()))];
        let failure = failure("ERR_MEMORY_LIMIT", "the program needs more memory than memoryBytes allows", &details);
        Outcome {
            stderr: "Fehler: größer ☠\n".as_bytes(),
            value: Some("{\"a\":[1,null,\"ü\"]}"),
            stdout_truncated: true,
            stderr_truncated: true,
            ..outcome(BYTES, Some(failure))
        }
    });
    reply!(all, "reply-process-start-negative", ProcessStart, 3, Outcome, {
        let details = [("reason", Fact::Text("wasm trap: out of bounds memory access".to_owned())), ("offset", Fact::Number(-1))];
        Outcome {
            exit_code: -1,
            signal: Some(64),
            ..outcome(b"", Some(failure("ERR_ENGINE_FAULT", "the engine faulted", &details)))
        }
    });
    reply!(
        all,
        "reply-runner-create",
        RunnerCreate,
        5,
        RunnerCreated,
        RunnerCreated { runner: runner(1), pid: Pid::new(2), timings: Timings::default() }
    );
    reply!(all, "reply-resources", Resources, 8, SidecarResources, {
        SidecarResources { runtimes: 1_000, processes: 3, warm_slots: 16, memory_bytes: 8_589_934_592, buffered_bytes: 0 }
    });
    reply!(all, "reply-file-read", FileRead, 9, FileData, FileData { data: BYTES, size: 8 });
    reply!(
        all,
        "reply-file-open",
        FileOpen,
        9,
        FileHandle,
        FileHandle { handle: HandleId::new(2), size: 1 << 33, directory: false }
    );
    reply!(all, "reply-file-watch", FileWatch, 9, FileHandle, FileHandle { handle: HandleId::new(3), size: 0, directory: true });
    reply!(all, "reply-file-pull", FilePull, 9, FileData, FileData { data: b"", size: 0 });
    reply!(all, "reply-file-changes", FileChanges, 9, ChangeList, {
        let types = vec![ChangeType::Rename, ChangeType::Change];
        ChangeList { names: vec!["a/ß", ""], types, targets: Some(vec!["b", ""]), overflow: true, ended: false }
    });
    reply!(all, "reply-file-readlink", FileReadlink, 9, LinkTarget, LinkTarget { target: "../ä" });
    reply!(all, "reply-file-list", FileList, 9, FileNames, {
        let types = vec![FileType::Directory, FileType::File, FileType::Symlink, FileType::Other];
        FileNames { names: vec!["a", "b", "ß", "socket"], types }
    });
    reply!(all, "reply-file-stat", FileStat, 9, FileStatus, {
        let (mode, size, ino, nlink, uid, gid) = (0o100_644, 4_294_967_296, 12, 1, 1_000, 1_000);
        let (atime_us, mtime_us) = (1_700_000_000_123_456, -1);
        let (ctime_us, birthtime_us) = (1_700_000_000_000_000, 0);
        FileStatus { r#type: FileType::File, mode, size, ino, nlink, uid, gid, atime_us, mtime_us, ctime_us, birthtime_us }
    });
    snapshots::add(&mut all);
    outside::add(&mut all);
    private_networks::add(&mut all);
    file_attributes::add(&mut all);
    all
}

/// Checks the bounds that the macros rely on, for one message: a message can be compared, written
/// and read.
const _: fn() = || {
    fn message<'a, T: Debug + PartialEq + Serialize + Deserialize<'a>>() {}
    message::<ProcessStart<'static>>();
};
