//! Who asks, and what a process has told of itself. `/proc/self` is somebody else for each program, and a walk does not know in whose call it
//! runs: the thread that carries out a call does. Next: `machine.rs`.

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

/// While it lives, this thread's calls are those of a program.
pub(crate) struct Asking(Option<Pid>);

/// `program` makes a call; its memory has `memory` bytes.
pub(crate) fn ask(program: &dyn Caller, memory: usize) -> Asking {
    program.process().facts.memory.store(memory as u64, Ordering::Relaxed);
    Asking(ASKING.replace(Some(program.pid())))
}

impl Drop for Asking {
    fn drop(&mut self) {
        ASKING.set(self.0);
    }
}

/// The process whose call this is; none for the caller outside.
pub(crate) fn asking() -> Option<Pid> {
    ASKING.get()
}

/// What runs a process, its arguments and its environment, as it began.
type Told = (ProgramKind, Vec<String>, Vec<(String, String)>);

/// [`Facts`] as a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessFactsSnapshot {
    told: Option<Arc<Told>>,
    memory: u64,
    age_ns: u64,
}

/// What a process has told of itself.
pub struct Facts {
    told: OnceLock<Arc<Told>>,
    /// Bytes of its memory when it last made a call.
    memory: AtomicU64,
    /// When it began, by the monotonic clock. May lie before the clock's zero, and then at the end of the numbers.
    began_ns: u64,
}

impl Default for Facts {
    fn default() -> Self {
        Self { told: OnceLock::new(), memory: AtomicU64::new(0), began_ns: sys::monotonic_ns() }
    }
}

impl ProcessFactsSnapshot {
    /// Bytes that it holds.
    pub(crate) fn own_bytes(&self) -> u64 {
        let of = |(_, argv, env): &Told| {
            let words: usize = argv.iter().map(String::len).sum();
            (words + env.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>()) as u64
        };
        self.told.as_deref().map_or(0, of)
    }
}

impl Facts {
    /// Once, when it begins.
    pub fn set(&self, kind: &ProgramKind, argv: &[String], env: &[(String, String)]) {
        let _ = self.told.set(Arc::new((kind.clone(), argv.to_vec(), env.to_vec())));
    }

    fn kind(&self) -> Option<&ProgramKind> {
        self.told.get().map(|told| &told.0)
    }

    /// The name of the program that it runs.
    pub(super) fn name(&self) -> &str {
        match self.kind() {
            Some(ProgramKind::Shell(name)) => name,
            _ => "node",
        }
    }

    /// ... and the path.
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

    /// As they were saved: as old as then, whatever the clock of the machine says now.
    pub(crate) fn restore(saved: &ProcessFactsSnapshot) -> Self {
        let began_ns = sys::monotonic_ns().wrapping_sub(saved.age_ns);
        let told = saved.told.clone().map_or_else(OnceLock::new, OnceLock::from);
        Self { told, memory: AtomicU64::new(saved.memory), began_ns }
    }
}
