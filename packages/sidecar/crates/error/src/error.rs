//! The errors that leave the core: one stable code, one sentence, the facts as fields.
//!
//! Codes, messages and facts are defined in this file only. `docs/errors.md` and
//! `docs/internals/protocol.md` list the codes. The shells send an error with `code`,
//! `message` and `details`, and never parse a message.

use crate::errno::Errno;
use coldframe_ids::Pid;
use displaydoc::Display;

/// A value among an error's facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A whole number: bytes, milliseconds, ids.
    Number(i64),
    /// Text: a name, a reason.
    Text(String),
}

/// The scope that a panic of the sidecar has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// One program.
    Program,
    /// One request. The state of the runtime is whole.
    Request,
    /// The runtime, because the panic cut a change of its state in half.
    Runtime,
}

impl Ended {
    /// Returns the name, as the fact of an error.
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Request => "request",
            Self::Runtime => "runtime",
        }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The failure of a request or of a program. The doc comment of a variant is its message.
#[derive(Debug, Clone, PartialEq, Eq, Display, thiserror::Error)]
pub enum Error {
    /// {what}: expected {expected}, received {received}
    InvalidRequest {
        /// The name of the option or field.
        what: String,
        /// The accepted values.
        expected: String,
        /// The refused value.
        received: String,
    },
    /// the runtime has been disposed
    RuntimeDisposed,
    /// the runtime has been paused
    RuntimePaused,
    /// the program ran longer than its timeout of {timeout_ms} ms
    Timeout {
        /// The limit, in milliseconds.
        timeout_ms: u64,
    },
    /// the program used more than its {cpu_ms} ms of CPU time
    CpuLimit {
        /// The limit, in milliseconds.
        cpu_ms: u64,
    },
    /// the runtime existed longer than its {timeout_ms} ms
    RuntimeTimeout {
        /// The limit, in milliseconds.
        timeout_ms: u64,
    },
    /// the programs of the runtime used more than its {cpu_ms} ms of CPU time
    RuntimeCpuLimit {
        /// The limit, in milliseconds.
        cpu_ms: u64,
    },
    /// the program needs more memory than {limit} allows: {bytes} bytes
    MemoryLimit {
        /// The name of the limit, which applies to one process or to all processes together.
        limit: &'static str,
        /// The limit, in bytes.
        bytes: u64,
    },
    /// the program returned more than {bytes} bytes of JSON
    ResultLimit {
        /// The limit, in bytes.
        bytes: u64,
    },
    /// the program was ended by its caller
    Canceled,
    /// the evaluation was interrupted
    Interrupted,
    /// a signal ended the program: {signal}
    Signal {
        /// The signal's number. The embedder receives an exit code instead of this error.
        signal: u8,
    },
    /// the runner has ended with exit code {exit_code}
    RunnerExited {
        /// The exit code of the program in the runner.
        exit_code: i32,
    },
    /// the engine faulted and its instance was discarded: {reason}
    EngineFault {
        /// The trap's message.
        reason: String,
    },
    /// an internal error at {place} ended the {ended}: this is a defect of Coldframe
    Internal {
        /// The source file and the line.
        place: String,
        /// The scope that has ended.
        ended: Ended,
    },
    /// no more {resource}: the limit is {limit}
    ResourceExhausted {
        /// The exhausted resource.
        resource: &'static str,
        /// The resource's limit.
        limit: u64,
    },
    /// {errno}: {reason}, {call} '{path}'
    File {
        /// The error number's name.
        errno: &'static str,
        /// The text of the number, with details if the details are known.
        reason: String,
        /// The call that failed.
        call: &'static str,
        /// The guest path.
        path: String,
    },
    /// the link '{link}', which a program may have made, leads into the mount '{mount}': use the
    /// path of the mount, {call} '{path}'
    LinkToMount {
        /// The guest path of the link.
        link: String,
        /// The guest path of the mount.
        mount: String,
        /// The call that failed.
        call: &'static str,
        /// The guest path in the call.
        path: String,
    },
    /// the archive cannot be unpacked: {reason} (entry '{entry}')
    Archive {
        /// The name of the entry with the defect. Empty if the defect concerns the whole archive.
        entry: String,
        /// The defect.
        reason: String,
    },
    /// the program cannot be saved now: a turn is running, events wait, or the program is ending
    NotQuiet,
    /// the runtime did not quiesce within {timeout_ms} ms: another snapshot was in progress
    SnapshotInProgress {
        /// The time allowed, in milliseconds.
        timeout_ms: u64,
    },
    /// the runtime did not quiesce within {timeout_ms} ms: {command} (process {pid}) kept running
    Busy {
        /// The process that kept running.
        pid: Pid,
        /// The process's command line.
        command: String,
        /// The time allowed, in milliseconds.
        timeout_ms: u64,
    },
    /// the runtime was rolled back to a snapshot
    RolledBack,
    /// the snapshot needs a {what} '{name}', which was not given
    SnapshotLacks {
        /// The kind of the missing resource: a mount or a file system.
        what: String,
        /// The resource's name or guest path.
        name: String,
    },
    /// the snapshot cannot be taken: {reason}
    Snapshot {
        /// The system's text for the failure.
        reason: String,
    },
    /// the snapshot needs {what} {needed}; this installation has {found}
    SnapshotForeign {
        /// The property that differs.
        what: &'static str,
        /// The property's value when the snapshot was taken.
        needed: String,
        /// The property's value in this installation.
        found: String,
    },
    /// the snapshot file {path} is damaged: {reason}
    SnapshotDamaged {
        /// The file.
        path: String,
        /// The defect.
        reason: String,
    },
    /// the snapshot file {path}: {errno}, {reason}
    SnapshotFile {
        /// The file or folder.
        path: String,
        /// The error number's name.
        errno: &'static str,
        /// The system's text for the failure.
        reason: String,
    },
    /// there is no snapshot '{snapshot}'
    SnapshotNotFound {
        /// The id, name or digest in the request.
        snapshot: String,
    },
    /// another snapshot already has the id {id}
    SnapshotExists {
        /// The id.
        id: String,
    },
    /// the process for outside connections has ended: {reason}
    EdgeEnded {
        /// The reason why the process has ended or could not be started.
        reason: String,
    },
    /// Python is not installed: add the package {package} to your app's dependencies
    PythonMissing {
        /// The npm package that has Python.
        package: &'static str,
    },
    /// the guest image at {path} cannot be used: {reason}
    Image {
        /// The file or folder.
        path: String,
        /// The reason and the remedy.
        reason: String,
    },
}

impl Error {
    /// Returns the error of a failed operation on a snapshot file or on the store's folder.
    pub fn snapshot_file(path: &std::path::Path, error: &std::io::Error) -> Self {
        let text = error.to_string();
        // The error number is a separate fact.
        let reason = text.split(" (os error").next().unwrap_or_default().to_owned();
        Self::SnapshotFile { path: path.display().to_string(), errno: Errno::of(error).name(), reason }
    }

    /// Returns the stable code, listed in `docs/errors.md`. Only the log has the code `ERR_SIGNAL`.
    /// The embedder receives the exit code of the signal without an error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest { .. } => "ERR_INVALID_REQUEST",
            Self::RuntimeDisposed => "ERR_RUNTIME_DISPOSED",
            Self::RuntimePaused => "ERR_RUNTIME_PAUSED",
            Self::Timeout { .. } | Self::RuntimeTimeout { .. } => "ERR_TIMEOUT",
            Self::CpuLimit { .. } | Self::RuntimeCpuLimit { .. } => "ERR_CPU_LIMIT",
            Self::MemoryLimit { .. } => "ERR_MEMORY_LIMIT",
            Self::ResultLimit { .. } => "ERR_RESULT_LIMIT",
            Self::Canceled => "ERR_CANCELED",
            Self::Interrupted => "ERR_INTERRUPTED",
            Self::Signal { .. } => "ERR_SIGNAL",
            Self::RunnerExited { .. } => "ERR_RUNNER_EXITED",
            Self::EngineFault { .. } => "ERR_ENGINE_FAULT",
            Self::Internal { .. } => "ERR_INTERNAL",
            Self::ResourceExhausted { .. } => "ERR_RESOURCE_EXHAUSTED",
            Self::File { errno, .. } => errno,
            Self::LinkToMount { .. } => "ERR_LINK_TO_MOUNT",
            Self::Archive { .. } => "ERR_ARCHIVE",
            Self::NotQuiet | Self::SnapshotInProgress { .. } | Self::Busy { .. } => "ERR_NOT_QUIET",
            Self::RolledBack => "ERR_ROLLED_BACK",
            Self::SnapshotLacks { .. } => "ERR_SNAPSHOT_LACKS",
            Self::Snapshot { .. } => "ERR_SNAPSHOT",
            Self::SnapshotForeign { .. } => "ERR_SNAPSHOT_FOREIGN",
            Self::SnapshotDamaged { .. } => "ERR_SNAPSHOT_DAMAGED",
            Self::SnapshotFile { .. } => "ERR_SNAPSHOT_FILE",
            Self::SnapshotNotFound { .. } => "ERR_SNAPSHOT_NOT_FOUND",
            Self::SnapshotExists { .. } => "ERR_SNAPSHOT_EXISTS",
            Self::EdgeEnded { .. } => "ERR_EDGE_ENDED",
            Self::PythonMissing { .. } => "ERR_PYTHON_MISSING",
            Self::Image { .. } => "ERR_IMAGE",
        }
    }

    /// Returns the facts, with the names that `docs/errors.md` lists.
    pub fn facts(&self) -> Vec<(&'static str, Fact)> {
        let number = |n: u64| Fact::Number(i64::try_from(n).unwrap_or(i64::MAX));
        match self {
            Self::InvalidRequest { what, expected, received } => vec![
                ("what", Fact::Text(what.clone())),
                ("expected", Fact::Text(expected.clone())),
                ("received", Fact::Text(received.clone())),
            ],
            Self::RuntimeDisposed
            | Self::RuntimePaused
            | Self::Canceled
            | Self::Interrupted
            | Self::NotQuiet
            | Self::RolledBack => vec![],
            Self::Busy { pid, command, timeout_ms } => vec![
                ("pid", Fact::Number(i64::from(pid.get()))),
                ("command", Fact::Text(command.clone())),
                ("timeoutMs", number(*timeout_ms)),
            ],
            Self::SnapshotLacks { what, name } => {
                vec![("what", Fact::Text(what.clone())), ("missing", Fact::Text(name.clone()))]
            }
            Self::Timeout { timeout_ms } | Self::SnapshotInProgress { timeout_ms } => vec![("timeoutMs", number(*timeout_ms))],
            Self::CpuLimit { cpu_ms } => vec![("cpuMs", number(*cpu_ms))],
            Self::RuntimeTimeout { timeout_ms } => {
                vec![("timeoutMs", number(*timeout_ms)), ("limit", Fact::Text("runtimeWallMs".to_owned()))]
            }
            Self::RuntimeCpuLimit { cpu_ms } => {
                vec![("cpuMs", number(*cpu_ms)), ("limit", Fact::Text("runtimeCpuMs".to_owned()))]
            }
            Self::MemoryLimit { limit, bytes } => {
                vec![("memoryBytes", number(*bytes)), ("limit", Fact::Text((*limit).to_owned()))]
            }
            Self::ResultLimit { bytes } => vec![("resultBytes", number(*bytes))],
            Self::Signal { signal } => vec![("signal", Fact::Number(i64::from(*signal)))],
            Self::RunnerExited { exit_code } => vec![("exitCode", Fact::Number(i64::from(*exit_code)))],
            Self::EngineFault { reason } | Self::Snapshot { reason } | Self::EdgeEnded { reason } => {
                vec![("reason", Fact::Text(reason.clone()))]
            }
            Self::Internal { place, ended } => {
                vec![("place", Fact::Text(place.clone())), ("ended", Fact::Text(ended.name().to_owned()))]
            }
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
            Self::LinkToMount { link, mount, call, path } => vec![
                ("link", Fact::Text(link.clone())),
                ("mount", Fact::Text(mount.clone())),
                ("syscall", Fact::Text((*call).to_owned())),
                ("path", Fact::Text(path.clone())),
            ],
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
            Self::PythonMissing { package } => vec![("package", Fact::Text((*package).to_owned()))],
            Self::Image { path, reason } | Self::SnapshotDamaged { path, reason } => {
                vec![("path", Fact::Text(path.clone())), ("reason", Fact::Text(reason.clone()))]
            }
        }
    }

    /// Returns the exit code of a program that was ended for this reason. As in shells and Node,
    /// the code is 124 for time, 134 for memory, and 128 plus the number for a signal. The code is
    /// 127 for a missing program, and 137 for all other reasons.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Timeout { .. } | Self::CpuLimit { .. } => 124,
            Self::RuntimeTimeout { .. } | Self::RuntimeCpuLimit { .. } => 124,
            Self::MemoryLimit { .. } => 134,
            Self::Signal { signal } => 128 + i32::from(*signal),
            // As in shells, for a command that is not found.
            Self::PythonMissing { .. } => 127,
            Self::Interrupted => 130,
            _ => 137,
        }
    }
}

impl Errno {
    /// Returns the error for the embedder: the failed call and its path or address.
    pub fn at(self, call: &'static str, path: &str) -> Error {
        let path = path.chars().take(100).collect();
        Error::File { errno: self.name(), reason: self.message().to_owned(), call, path }
    }
}
