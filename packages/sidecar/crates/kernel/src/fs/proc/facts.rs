//! Facts about a process: its program, arguments, environment, memory and age. `/proc` shows the
//! facts, and a snapshot contains the facts. Next: `machine.rs`.

use crate::processes::ProgramKind;
use crate::text::{Text, Variables};
use coldframe_sys as sys;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The program, the arguments and the environment at the start of a process.
type StartFacts = (ProgramKind, Vec<Text>, Variables);

/// The snapshot of [`Facts`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessFactsSnapshot {
    start: Option<Arc<StartFacts>>,
    memory: u64,
    age_ns: u64,
}

/// Facts about a process.
pub struct Facts {
    start: OnceLock<Arc<StartFacts>>,
    /// The length of the process's memory at its last system call, in bytes.
    memory: AtomicU64,
    /// The start of the process in nanoseconds of the monotonic clock. A restored process can be
    /// older than the clock. The number then wraps around.
    began_ns: u64,
}

impl Default for Facts {
    fn default() -> Self {
        Self { start: OnceLock::new(), memory: AtomicU64::new(0), began_ns: sys::monotonic_ns() }
    }
}

impl ProcessFactsSnapshot {
    /// Returns the number of bytes of the arguments and the environment.
    pub(crate) fn own_bytes(&self) -> u64 {
        let of = |(_, argv, env): &StartFacts| {
            let words: usize = argv.iter().map(|text| text.len()).sum();
            (words + env.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>()) as u64
        };
        self.start.as_deref().map_or(0, of)
    }
}

impl Facts {
    /// Sets the program, the arguments and the environment at the start of the process. A second
    /// call has no effect.
    pub fn set(&self, kind: &ProgramKind, argv: &[Text], env: &[(Text, Text)]) {
        let _ = self.start.set(Arc::new((kind.clone(), argv.to_vec(), env.to_vec())));
    }

    fn kind(&self) -> Option<&ProgramKind> {
        self.start.get().map(|start| &start.0)
    }

    /// Returns the name of the shell's command that runs, `python3`, or `node` for any other
    /// program.
    pub(super) fn name(&self) -> &str {
        match self.kind() {
            Some(ProgramKind::Shell(name)) => name,
            Some(ProgramKind::Python) => "python3",
            _ => "node",
        }
    }

    /// Returns the path of the program, which is the target of the link `exe`.
    pub(super) fn executable(&self) -> String {
        let folder = match self.kind() {
            Some(ProgramKind::Shell(_)) => "/bin",
            Some(ProgramKind::Python) => "/usr/bin",
            _ => "/usr/local/bin",
        };
        format!("{folder}/{}", self.name())
    }

    pub(super) fn argv(&self) -> &[Text] {
        self.start.get().map_or(&[], |start| &start.1)
    }

    pub(crate) fn env(&self) -> &[(Text, Text)] {
        self.start.get().map_or(&[], |start| &start.2)
    }

    /// Records the length of the process's memory. Each system call that does not block the VM
    /// calls this function.
    pub(crate) fn set_memory(&self, bytes: u64) {
        self.memory.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn memory(&self) -> u64 {
        self.memory.load(Ordering::Relaxed)
    }

    pub(super) fn age_ns(&self) -> u64 {
        sys::monotonic_ns().wrapping_sub(self.began_ns)
    }

    pub(crate) fn snapshot(&self) -> ProcessFactsSnapshot {
        ProcessFactsSnapshot { start: self.start.get().cloned(), memory: self.memory(), age_ns: self.age_ns() }
    }

    /// Restores facts. The process keeps its age from the snapshot.
    pub(crate) fn restore(saved: &ProcessFactsSnapshot) -> Self {
        let began_ns = sys::monotonic_ns().wrapping_sub(saved.age_ns);
        let start = saved.start.clone().map_or_else(OnceLock::new, OnceLock::from);
        Self { start, memory: AtomicU64::new(saved.memory), began_ns }
    }
}
