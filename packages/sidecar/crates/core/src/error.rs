//! Every error that leaves the core: one stable code, one sentence, the facts as fields.
//!
//! This is the one place where they are made. The codes are those of `docs/internals/protocol.md`; the shells send them on as
//! `{ code, message, details }` and never parse a message.

use crate::kernel::Errno;
use displaydoc::Display;

/// A value among an error's facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A whole number: bytes, milliseconds, ids.
    Number(i64),
    /// Text: a name, a reason.
    Text(String),
}

/// What went wrong, as the caller sees it. The doc comment is the message.
#[derive(Debug, Clone, PartialEq, Eq, Display, thiserror::Error)]
pub enum Error {
    /// {what}: expected {expected}, received {received}
    InvalidRequest {
        /// The name of the option or field.
        what: String,
        /// What it must be.
        expected: String,
        /// What came.
        received: String,
    },
    /// the runtime has been disposed
    RuntimeDisposed,
    /// the runtime has been paused
    RuntimePaused,
    /// the program ran longer than its timeout of {timeout_ms} ms
    Timeout {
        /// The limit that was reached, in milliseconds.
        timeout_ms: u64,
    },
    /// the program used more than its {cpu_ms} ms of CPU time
    CpuLimit {
        /// The limit that was reached, in milliseconds.
        cpu_ms: u64,
    },
    /// the program needs more memory than {limit} allows: {bytes} bytes
    MemoryLimit {
        /// Which limit: that of one process, or of all together.
        limit: &'static str,
        /// The limit that was reached.
        bytes: u64,
    },
    /// the program handed back more than {bytes} bytes of JSON
    ResultLimit {
        /// The limit that was reached.
        bytes: u64,
    },
    /// the program was ended by its caller
    Canceled,
    /// a signal ended the program: {signal}
    Signal {
        /// Its number. This reason stays inside: outside it is the exit code.
        signal: u8,
    },
    /// the runner has ended with exit code {exit_code}
    RunnerExited {
        /// The code with which the program in the runner ended.
        exit_code: i32,
    },
    /// the engine faulted and its instance was discarded: {reason}
    EngineFault {
        /// What the trap says.
        reason: String,
    },
    /// no more {resource}: the limit is {limit}
    ResourceExhausted {
        /// What has run out.
        resource: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// {errno}: {reason}, {call} '{path}'
    File {
        /// The error number's name.
        errno: &'static str,
        /// What Linux says about it, and more where more is known.
        reason: String,
        /// The call that failed.
        call: &'static str,
        /// The guest path.
        path: String,
    },
    /// the archive cannot be unpacked: {reason} (entry '{entry}')
    Archive {
        /// The name of the entry that is at fault; empty when it is the whole.
        entry: String,
        /// What is wrong with it.
        reason: String,
    },
    /// a program can be saved between two of its turns, and not now: it is in the middle of one, has news that it has not heard, or ends
    NotQuiet,
    /// no quiet moment within {timeout_ms} ms: {command} (process {pid}) did not come to rest
    Busy {
        /// Its number; 0 when it was another snapshot that went on for so long.
        pid: u32,
        /// What it was started as.
        command: String,
        /// How long was waited, in milliseconds.
        timeout_ms: u64,
    },
    /// the runtime was rolled back to a snapshot
    RolledBack,
    /// the snapshot needs a {what} '{name}', which nobody has brought
    SnapshotLacks {
        /// What is missing: a mount, a file system.
        what: String,
        /// Its name, or where the guest sees it.
        name: String,
    },
    /// the snapshot cannot be taken: {reason}
    Snapshot {
        /// What the system says.
        reason: String,
    },
    /// the snapshot needs {what} {needed}; here it is {found}
    SnapshotForeign {
        /// What does not fit.
        what: &'static str,
        /// What it was made with.
        needed: String,
        /// What is here.
        found: String,
    },
    /// the snapshot file {path} is damaged: {reason}
    SnapshotDamaged {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// the snapshot file {path}: {errno}, {reason}
    SnapshotFile {
        /// The file or folder.
        path: String,
        /// The error number's name.
        errno: &'static str,
        /// What the system says.
        reason: String,
    },
    /// there is no snapshot '{snapshot}'
    SnapshotNotFound {
        /// The id, name or digest that was asked for.
        snapshot: String,
    },
    /// another snapshot has the id {id} already
    SnapshotExists {
        /// The id of both.
        id: String,
    },
    /// the guest image at {path} cannot be used: {reason}
    Image {
        /// The file or folder.
        path: String,
        /// Why not, and what to do.
        reason: String,
    },
}

impl Error {
    /// What the system said about a snapshot's file or the folder of them.
    pub(crate) fn snapshot_file(path: &std::path::Path, error: &std::io::Error) -> Self {
        let text = error.to_string();
        // The number is a fact of its own.
        let reason = text.split(" (os error").next().unwrap_or_default().to_owned();
        Self::SnapshotFile { path: path.display().to_string(), errno: Errno::of(error).name(), reason }
    }

    /// The stable code, as in `docs/internals/protocol.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest { .. } => "ERR_INVALID_REQUEST",
            Self::RuntimeDisposed => "ERR_RUNTIME_DISPOSED",
            Self::RuntimePaused => "ERR_RUNTIME_PAUSED",
            Self::Timeout { .. } => "ERR_TIMEOUT",
            Self::CpuLimit { .. } => "ERR_CPU_LIMIT",
            Self::MemoryLimit { .. } => "ERR_MEMORY_LIMIT",
            Self::ResultLimit { .. } => "ERR_RESULT_LIMIT",
            Self::Canceled => "ERR_CANCELED",
            Self::Signal { .. } => "ERR_SIGNAL",
            Self::RunnerExited { .. } => "ERR_RUNNER_EXITED",
            Self::EngineFault { .. } => "ERR_ENGINE_FAULT",
            Self::ResourceExhausted { .. } => "ERR_RESOURCE_EXHAUSTED",
            Self::File { errno, .. } => errno,
            Self::Archive { .. } => "ERR_ARCHIVE",
            Self::NotQuiet | Self::Busy { .. } => "ERR_NOT_QUIET",
            Self::RolledBack => "ERR_ROLLED_BACK",
            Self::SnapshotLacks { .. } => "ERR_SNAPSHOT_LACKS",
            Self::Snapshot { .. } => "ERR_SNAPSHOT",
            Self::SnapshotForeign { .. } => "ERR_SNAPSHOT_FOREIGN",
            Self::SnapshotDamaged { .. } => "ERR_SNAPSHOT_DAMAGED",
            Self::SnapshotFile { .. } => "ERR_SNAPSHOT_FILE",
            Self::SnapshotNotFound { .. } => "ERR_SNAPSHOT_NOT_FOUND",
            Self::SnapshotExists { .. } => "ERR_SNAPSHOT_EXISTS",
            Self::Image { .. } => "ERR_IMAGE",
        }
    }

    /// The facts, by the names that `docs/internals/protocol.md` gives them.
    pub fn facts(&self) -> Vec<(&'static str, Fact)> {
        let number = |n: u64| Fact::Number(i64::try_from(n).unwrap_or(i64::MAX));
        match self {
            Self::InvalidRequest { what, expected, received } => vec![
                ("what", Fact::Text(what.clone())),
                ("expected", Fact::Text(expected.clone())),
                ("received", Fact::Text(received.clone())),
            ],
            Self::RuntimeDisposed | Self::RuntimePaused | Self::Canceled | Self::NotQuiet | Self::RolledBack => vec![],
            Self::Busy { pid, command, timeout_ms } => vec![
                ("pid", Fact::Number(i64::from(*pid))),
                ("command", Fact::Text(command.clone())),
                ("timeoutMs", number(*timeout_ms)),
            ],
            Self::SnapshotLacks { what, name } => {
                vec![("what", Fact::Text(what.clone())), ("missing", Fact::Text(name.clone()))]
            }
            Self::Timeout { timeout_ms } => vec![("timeoutMs", number(*timeout_ms))],
            Self::CpuLimit { cpu_ms } => vec![("cpuMs", number(*cpu_ms))],
            Self::MemoryLimit { limit, bytes } => {
                vec![("memoryBytes", number(*bytes)), ("limit", Fact::Text((*limit).to_owned()))]
            }
            Self::ResultLimit { bytes } => vec![("resultBytes", number(*bytes))],
            Self::Signal { signal } => vec![("signal", Fact::Number(i64::from(*signal)))],
            Self::RunnerExited { exit_code } => vec![("exitCode", Fact::Number(i64::from(*exit_code)))],
            Self::EngineFault { reason } | Self::Snapshot { reason } => vec![("reason", Fact::Text(reason.clone()))],
            Self::SnapshotForeign { what, needed, found } => vec![
                ("what", Fact::Text((*what).to_owned())),
                ("needed", Fact::Text(needed.clone())),
                ("found", Fact::Text(found.clone())),
            ],
            Self::ResourceExhausted { resource, limit } => {
                vec![("resource", Fact::Text((*resource).to_owned())), ("limit", number(*limit))]
            }
            Self::File { call, path, .. } => {
                vec![("syscall", Fact::Text((*call).to_owned())), ("path", Fact::Text(path.clone()))]
            }
            Self::Archive { entry, reason } => {
                vec![("entry", Fact::Text(entry.clone())), ("reason", Fact::Text(reason.clone()))]
            }
            Self::SnapshotFile { path, errno, reason } => vec![
                ("path", Fact::Text(path.clone())),
                ("errno", Fact::Text((*errno).to_owned())),
                ("reason", Fact::Text(reason.clone())),
            ],
            Self::SnapshotNotFound { snapshot } => vec![("snapshot", Fact::Text(snapshot.clone()))],
            Self::SnapshotExists { id } => vec![("id", Fact::Text(id.clone()))],
            Self::Image { path, reason } | Self::SnapshotDamaged { path, reason } => {
                vec![("path", Fact::Text(path.clone())), ("reason", Fact::Text(reason.clone()))]
            }
        }
    }

    /// The exit code of a program that was ended for this reason: 124 for time, 134 for memory, as shells and Node have
    /// it, and 137 for the rest.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Timeout { .. } | Self::CpuLimit { .. } => 124,
            Self::MemoryLimit { .. } => 134,
            Self::Signal { signal } => 128 + i32::from(*signal),
            _ => 137,
        }
    }
}
