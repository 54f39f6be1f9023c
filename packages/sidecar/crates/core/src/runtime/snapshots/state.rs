//! A snapshot as bytes, without its memories and what is known of it: what a file holds between those two. Everything is checked when it is read, as if a
//! guest had written it.
//!
//! ```text
//! length of the first part (u64), the first part (postcard): what lies above the VMs; then the kernel's own bytes
//! ```
//! The store writes files (`store/`).

use super::{Heir, Snapshot, SnapshotInfo};
use crate::core::Core;
use crate::kernel::saved::{SavedKernel, at_most};
use crate::limits::Limits;
use crate::options::Mode;
use crate::program::{Remaining, SavedEvaluation, SavedOutput, SavedProgram, SavedVm};
use crate::runtime::checks::{MAX_ENV, check_cwd, check_env};
use crate::store::Memory;
use coldframe_error::Error;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const LENGTH: usize = 8;
const MAX_LIMITS: usize = 256;
/// More than a runtime may have processes.
const MAX_PROGRAMS: usize = 65_536;
/// More evaluations than anybody lets wait for one program.
const MAX_QUEUE: usize = 1 << 20;

/// What lies above the kernel and the VMs.
#[derive(Serialize, Deserialize)]
struct Above {
    #[serde(deserialize_with = "at_most::<_, _, MAX_ENV>")]
    env: Vec<(String, String)>,
    cwd: String,
    /// By name: a later version may have more of them.
    #[serde(deserialize_with = "at_most::<_, _, MAX_LIMITS>")]
    limits: Vec<(String, u64)>,
    #[serde(deserialize_with = "at_most::<_, _, MAX_PROGRAMS>")]
    programs: Vec<AboveVm>,
}

/// A program without its VM.
#[derive(Serialize, Deserialize)]
struct AboveVm {
    pid: u32,
    ppid: u32,
    lineage: u64,
    command: String,
    mode: u8,
    streams: [bool; 2],
    stdout: (Vec<u8>, bool),
    stderr: (Vec<u8>, bool),
    input: Vec<u8>,
    time: Option<Remaining>,
    cpu_ns: u64,
    evaluation: Option<SavedEvaluation>,
    #[serde(deserialize_with = "at_most::<_, _, MAX_QUEUE>")]
    queue: Vec<SavedEvaluation>,
}

const MODES: [Mode; 4] = [Mode::Exec, Mode::Run, Mode::Resident, Mode::File];

impl AboveVm {
    fn of(program: &SavedProgram) -> Self {
        Self {
            pid: program.pid,
            ppid: program.ppid,
            lineage: program.lineage,
            command: program.command.clone(),
            mode: MODES.iter().position(|mode| *mode == program.mode).unwrap_or(0) as u8,
            streams: program.streams,
            stdout: program.output.stdout.clone(),
            stderr: program.output.stderr.clone(),
            input: program.input.clone(),
            time: program.time,
            cpu_ns: program.cpu_ns,
            evaluation: program.evaluation.clone(),
            queue: program.queue.clone(),
        }
    }

    /// The program with this VM. `None`: no program was ever so.
    fn with(self, memory: Memory) -> Option<SavedProgram> {
        let mode = *MODES.get(usize::from(self.mode))?;
        let waits = self.evaluation.is_some() || !self.queue.is_empty();
        let is_sound = self.pid == memory.pid && self.ppid != self.pid && (mode == Mode::Resident || !waits);
        is_sound.then(|| SavedProgram {
            pid: self.pid,
            ppid: self.ppid,
            lineage: self.lineage,
            command: self.command,
            mode,
            streams: self.streams,
            output: SavedOutput { stdout: self.stdout, stderr: self.stderr },
            input: self.input,
            time: self.time,
            cpu_ns: self.cpu_ns,
            evaluation: self.evaluation,
            queue: self.queue,
            vm: SavedVm { saved: memory.saved, is_shell: memory.is_shell },
        })
    }
}

fn damaged(reason: &str) -> Error {
    Error::SnapshotDamaged { path: String::new(), reason: reason.to_owned() }
}

impl Snapshot {
    /// All but the memories and the info.
    pub(crate) fn state_bytes(&self) -> Result<Vec<u8>, Error> {
        let above = Above {
            env: self.env.clone(),
            cwd: self.cwd.clone(),
            limits: Limits::NAMES.iter().map(|name| ((*name).to_owned(), self.limits.value(name))).collect(),
            programs: self.programs.iter().map(AboveVm::of).collect(),
        };
        let above = postcard::to_stdvec(&above).map_err(|error| Error::Snapshot { reason: error.to_string() })?;
        let mut bytes = (above.len() as u64).to_le_bytes().to_vec();
        bytes.extend(above);
        bytes.extend(self.kernel.encode()?);
        Ok(bytes)
    }

    /// The memories of its programs, in their order.
    pub(crate) fn memories(&self) -> Vec<Memory> {
        let memory =
            |program: &SavedProgram| Memory { pid: program.pid, is_shell: program.vm.is_shell, saved: program.vm.saved.clone() };
        self.programs.iter().map(memory).collect()
    }

    /// Makes it again.
    pub(crate) fn assemble(core: &Core, info: SnapshotInfo, state: &[u8], memories: Vec<Memory>) -> Result<Arc<Self>, Error> {
        let length = state.first_chunk::<LENGTH>().map(|bytes| u64::from_le_bytes(*bytes));
        let length = length.and_then(|length| usize::try_from(length).ok());
        let parts = length.and_then(|length| state[LENGTH..].split_at_checked(length));
        let (above, kernel) = parts.ok_or_else(|| damaged("its state is cut short"))?;
        let (above, rest) = postcard::take_from_bytes::<Above>(above).map_err(|_| damaged("its programs cannot be read"))?;
        if !rest.is_empty() || above.programs.len() != memories.len() || info.programs as usize != memories.len() {
            return Err(damaged("its programs are not those that it says"));
        }
        check_cwd(&above.cwd).map_err(|_| damaged("its working directory is none"))?;
        check_env(&above.env).map_err(|_| damaged("its environment is none"))?;
        let mut limits = Limits::default();
        for (name, value) in &above.limits {
            limits.set(name, *value).map_err(|_| damaged("its limits are none"))?;
        }
        limits.check(core.shared().image_len()).map_err(|_| damaged("its limits are none"))?;
        let programs = above.programs.into_iter().zip(memories).map(|(above, memory)| above.with(memory));
        let programs: Vec<SavedProgram> = programs.collect::<Option<_>>().ok_or_else(|| damaged("a program is none"))?;
        let kernel = SavedKernel::decode(kernel)?;
        if !kernel.pids().eq(programs.iter().map(|program| program.pid)) {
            return Err(damaged("its kernel has other programs"));
        }
        Ok(Arc::new(Self { info, env: above.env, cwd: above.cwd, limits, kernel, programs, heirs: Heir::default() }))
    }
}
