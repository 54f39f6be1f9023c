//! Facts about a process, and the caller of the present system call. `/proc/self` differs for each
//! caller, and a walk does not know its caller. A thread-local variable therefore names the caller.
//! Next: `machine.rs`.

use crate::caller::Caller;
use crate::processes::ProgramKind;
use coldframe_ids::Pid;
use coldframe_sys as sys;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

thread_local! {
    static ASKING: Cell<Option<Pid>> = const { Cell::new(None) };
}

/// Marks this thread's calls as calls of a program until it is dropped.
pub(crate) struct Asking(Option<Pid>);

/// Marks `program` as the caller on this thread, and records the length of its memory.
pub(crate) fn ask(program: &dyn Caller, memory: usize) -> Asking {
    program.process().facts.memory.store(memory as u64, Ordering::Relaxed);
    Asking(ASKING.replace(Some(program.pid())))
}

impl Drop for Asking {
    fn drop(&mut self) {
        ASKING.set(self.0);
    }
}

/// Returns the process that makes this call. `None` means the embedder.
pub(crate) fn asking() -> Option<Pid> {
    ASKING.get()
}

/// The program of a process, its arguments and its environment, at the start of the process.
type Told = (ProgramKind, Vec<String>, Vec<(String, String)>);

/// The snapshot of [`Facts`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessFactsSnapshot {
    told: Option<Arc<Told>>,
    memory: u64,
    age_ns: u64,
}

/// Facts about a process.
pub struct Facts {
    told: OnceLock<Arc<Told>>,
    /// The length of the process's memory at its last call, in bytes.
    memory: AtomicU64,
    /// The start of the process, by the monotonic clock. A start before the clock's zero wraps
    /// around.
    began_ns: u64,
}

impl Default for Facts {
    fn default() -> Self {
        Self { told: OnceLock::new(), memory: AtomicU64::new(0), began_ns: sys::monotonic_ns() }
    }
}

impl ProcessFactsSnapshot {
    /// Returns the number of bytes of the arguments and the environment.
    pub(crate) fn own_bytes(&self) -> u64 {
        let of = |(_, argv, env): &Told| {
            let words: usize = argv.iter().map(String::len).sum();
            (words + env.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>()) as u64
        };
        self.told.as_deref().map_or(0, of)
    }
}

impl Facts {
    /// Sets the facts once, when the process starts.
    pub fn set(&self, kind: &ProgramKind, argv: &[String], env: &[(String, String)]) {
        let _ = self.told.set(Arc::new((kind.clone(), argv.to_vec(), env.to_vec())));
    }

    fn kind(&self) -> Option<&ProgramKind> {
        self.told.get().map(|told| &told.0)
    }

    /// Returns the name of the program.
    pub(super) fn name(&self) -> &str {
        match self.kind() {
            Some(ProgramKind::Shell(name)) => name,
            _ => "node",
        }
    }

    /// Returns the path of the program.
    pub(super) fn executable(&self) -> String {
        let folder = if matches!(self.kind(), Some(ProgramKind::Shell(_))) { "/bin" } else { "/usr/local/bin" };
        format!("{folder}/{}", self.name())
    }

    pub(super) fn argv(&self) -> &[String] {
        self.told.get().map_or(&[], |told| &told.1)
    }

    pub(crate) fn env(&self) -> &[(String, String)] {
        self.told.get().map_or(&[], |told| &told.2)
    }

    pub(crate) fn memory(&self) -> u64 {
        self.memory.load(Ordering::Relaxed)
    }

    pub(super) fn age_ns(&self) -> u64 {
        sys::monotonic_ns().wrapping_sub(self.began_ns)
    }

    pub(crate) fn snapshot(&self) -> ProcessFactsSnapshot {
        ProcessFactsSnapshot { told: self.told.get().cloned(), memory: self.memory(), age_ns: self.age_ns() }
    }

    /// Restores facts. The process keeps its age, regardless of the machine's clock.
    pub(crate) fn restore(saved: &ProcessFactsSnapshot) -> Self {
        let began_ns = sys::monotonic_ns().wrapping_sub(saved.age_ns);
        let told = saved.told.clone().map_or_else(OnceLock::new, OnceLock::from);
        Self { told, memory: AtomicU64::new(saved.memory), began_ns }
    }
}
