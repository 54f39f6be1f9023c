//! The state of a snapshot as bytes, without the memories and the facts. In a file, the facts
//! precede the state, and the memories follow the state.
//!
//! ```text
//! length of the first part (u64)
//! the first part (postcard): the state above the VMs
//! the kernel snapshot
//! ```
//! A reader checks every part as if a guest had written the part. Next: `store/`, which writes the
//! files.

use super::{Snapshot, SnapshotInfo, SnapshotUse};
use crate::checks::{MAX_ENV, check_cwd, check_env};
use crate::installation::{ImageKind, Installation};
use crate::options::Mode;
use crate::outside::check_stored;
use crate::program::{EndedRoot, EvaluationSnapshot, OutputSnapshot, ProgramSnapshot, Remaining, VmState};
use coldframe_edge_link::SecretEntry;
use coldframe_error::Error;
use coldframe_ids::{Lineage, Pid};
use coldframe_kernel::Limits;
use coldframe_kernel::snapshot::{KernelSnapshot, bounded};
use coldframe_vm::VmSnapshot;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const LENGTH: usize = 8;
const MAX_LIMITS: usize = 256;
const MAX_SECRETS: usize = 256;
/// The largest number of programs in a file: the highest value of the limit `processes`.
const MAX_PROGRAMS: usize = 65_536;
/// The largest number of queued evaluations in a file. In practice, every program has fewer queued
/// evaluations.
const MAX_QUEUE: usize = 1 << 20;

/// The memory of a program in the store.
#[derive(Debug, Clone)]
pub struct StoredMemory {
    /// The program's pid.
    pub(crate) pid: Pid,
    /// The kind of the image that the memory started as.
    pub(crate) image: ImageKind,
    pub(crate) snapshot: Arc<VmSnapshot>,
}

/// The state above the kernel and the VMs.
#[derive(Serialize, Deserialize)]
struct RuntimeState {
    #[serde(deserialize_with = "bounded::<_, _, MAX_ENV>")]
    env: Vec<(String, String)>,
    cwd: String,
    /// The secrets, without values.
    #[serde(deserialize_with = "bounded::<_, _, MAX_SECRETS>")]
    secrets: Vec<SecretEntry>,
    /// The limits by name, because a later version may have further limits.
    #[serde(deserialize_with = "bounded::<_, _, MAX_LIMITS>")]
    limits: Vec<(String, u64)>,
    #[serde(deserialize_with = "bounded::<_, _, MAX_PROGRAMS>")]
    programs: Vec<ProgramState>,
}

/// A program without its VM.
#[derive(Serialize, Deserialize)]
struct ProgramState {
    pid: Pid,
    ppid: Pid,
    lineage: Lineage,
    command: String,
    mode: Mode,
    streams: [bool; 2],
    stdout: (Vec<u8>, bool),
    stderr: (Vec<u8>, bool),
    input: Vec<u8>,
    time: Option<Remaining>,
    cpu_ns: u64,
    ended_root: Option<EndedRoot>,
    limits: Vec<(String, u64)>,
    evaluation: Option<EvaluationSnapshot>,
    #[serde(deserialize_with = "bounded::<_, _, MAX_QUEUE>")]
    queue: Vec<EvaluationSnapshot>,
}

impl ProgramState {
    fn of(program: &ProgramSnapshot) -> Self {
        Self {
            pid: program.pid,
            ppid: program.ppid,
            lineage: program.lineage,
            command: program.command.clone(),
            mode: program.mode,
            streams: program.streams,
            stdout: program.output.stdout.clone(),
            stderr: program.output.stderr.clone(),
            input: program.input.clone(),
            time: program.time,
            cpu_ns: program.cpu_ns,
            ended_root: program.ended_root,
            limits: program.limits.clone(),
            evaluation: program.evaluation.clone(),
            queue: program.queue.clone(),
        }
    }

    /// Returns the program with this VM. Returns `None` if no program can have this state.
    fn with(self, memory: StoredMemory) -> Option<ProgramSnapshot> {
        let waits = self.evaluation.is_some() || !self.queue.is_empty();
        let is_sound = self.pid == memory.pid && self.ppid != self.pid && (self.mode == Mode::Resident || !waits);
        is_sound.then(|| ProgramSnapshot {
            pid: self.pid,
            ppid: self.ppid,
            lineage: self.lineage,
            command: self.command,
            mode: self.mode,
            streams: self.streams,
            output: OutputSnapshot { stdout: self.stdout, stderr: self.stderr },
            input: self.input,
            time: self.time,
            cpu_ns: self.cpu_ns,
            ended_root: self.ended_root,
            limits: self.limits,
            evaluation: self.evaluation,
            queue: self.queue,
            vm: VmState { snapshot: memory.snapshot, image: memory.image },
        })
    }
}

fn damaged(reason: &str) -> Error {
    Error::SnapshotDamaged { path: String::new(), reason: reason.to_owned() }
}

impl Snapshot {
    /// Returns the state without the memories and the facts.
    pub(crate) fn state_bytes(&self) -> Result<Vec<u8>, Error> {
        let above = RuntimeState {
            env: self.env.clone(),
            cwd: self.cwd.clone(),
            secrets: self.secrets.clone(),
            limits: Limits::NAMES.iter().map(|name| ((*name).to_owned(), self.limits.value(name))).collect(),
            programs: self.programs.iter().map(ProgramState::of).collect(),
        };
        let above = postcard::to_stdvec(&above).map_err(|error| Error::Snapshot { reason: error.to_string() })?;
        let mut bytes = (above.len() as u64).to_le_bytes().to_vec();
        bytes.extend(above);
        bytes.extend(self.kernel.encode()?);
        Ok(bytes)
    }

    /// Returns the memories of the programs, in the order of their pids.
    pub(crate) fn memories(&self) -> Vec<StoredMemory> {
        let memory = |program: &ProgramSnapshot| StoredMemory {
            pid: program.pid,
            image: program.vm.image,
            snapshot: program.vm.snapshot.clone(),
        };
        self.programs.iter().map(memory).collect()
    }

    /// Makes a snapshot from its parts, after checking every part.
    pub(crate) fn assemble(
        installation: &Installation,
        info: SnapshotInfo,
        state: &[u8],
        memories: Vec<StoredMemory>,
    ) -> Result<Arc<Self>, Error> {
        let length = state.first_chunk::<LENGTH>().map(|bytes| u64::from_le_bytes(*bytes));
        let length = length.and_then(|length| usize::try_from(length).ok());
        let parts = length.and_then(|length| state[LENGTH..].split_at_checked(length));
        let (above, kernel) = parts.ok_or_else(|| damaged("its state is cut short"))?;
        let (mut above, rest) =
            postcard::take_from_bytes::<RuntimeState>(above).map_err(|_| damaged("its programs cannot be read"))?;
        if !rest.is_empty() || above.programs.len() != memories.len() || info.programs as usize != memories.len() {
            return Err(damaged("its programs do not match its memories"));
        }
        check_cwd(&above.cwd).map_err(|_| damaged("its working directory is invalid"))?;
        check_env(&above.env).map_err(|_| damaged("its environment is invalid"))?;
        check_stored(&above.secrets).map_err(|_| damaged("its secrets are invalid"))?;
        let mut limits = Limits::default();
        for (name, value) in &above.limits {
            limits.set(name, *value).map_err(|_| damaged("its limits are invalid"))?;
        }
        limits.check(installation.image_len()).map_err(|_| damaged("its limits are invalid"))?;
        let programs = std::mem::take(&mut above.programs).into_iter().zip(memories).map(|(above, memory)| above.with(memory));
        let programs: Vec<ProgramSnapshot> = programs.collect::<Option<_>>().ok_or_else(|| damaged("a program is invalid"))?;
        let kernel = KernelSnapshot::decode(kernel)?;
        if !kernel.pids().eq(programs.iter().map(|program| program.pid)) {
            return Err(damaged("its kernel has other programs"));
        }
        let RuntimeState { env, cwd, secrets, .. } = above;
        Ok(Arc::new(Self { info, env, cwd, secrets, limits, kernel, programs, users: SnapshotUse::default() }))
    }
}
