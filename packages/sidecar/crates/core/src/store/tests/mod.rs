//! The store with small snapshots that nobody runs: a few pages in a file in memory stand for a program. Real runtimes go through it in
//! `src/tests/snapshots/runtimes/stored.rs`.

mod costs;
mod crash;
mod disk;
mod faults;
mod files;
mod model;
mod places;

use super::shelves::Shelves;
use super::subject::{Memory, Subject};
use super::{SnapshotInfo, Stay, Stored};
use crate::core::Core;
use crate::image::{Extent, Piece, overlay};
use crate::vm::saved::Saved;
use coldframe_error::Error;
use coldframe_sys::{self as sys, PAGE};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const STATE: &[u8] = b"state ";
const MIB: u64 = 1 << 20;

/// What stands for a snapshot: pages of one byte each.
#[derive(Debug)]
struct Paper {
    info: SnapshotInfo,
    state: Vec<u8>,
    memories: Vec<Memory>,
}

impl Subject for Paper {
    fn info(&self) -> &SnapshotInfo {
        &self.info
    }

    fn state_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(self.state.clone())
    }

    fn memories(&self) -> Vec<Memory> {
        self.memories.clone()
    }

    fn is_used(&self) -> bool {
        self.info.labels.iter().any(|(name, _)| name == "used")
    }

    fn assemble(_: &Core, info: SnapshotInfo, state: &[u8], memories: Vec<Memory>) -> Result<Arc<Self>, Error> {
        if !state.starts_with(STATE) {
            return Err(Error::SnapshotDamaged { path: "state".to_owned(), reason: "it is no state".to_owned() });
        }
        Ok(Arc::new(Self { info, state: state.to_vec(), memories }))
    }
}

/// An id that no other test has.
fn fresh_id() -> String {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    format!("snap-{:013x}{:013x}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed))
}

/// The pages of one memory.
fn memory(core: &Core, pid: u32, is_shell: bool, pages: usize, byte: u8) -> Memory {
    let factory = core.shared().factory_of(is_shell).expect("the image");
    let file = sys::memory_file().expect("a file in memory");
    file.write_all_at(&vec![byte; pages * PAGE], 0).expect("written");
    let piece = Piece::new(file, (pages * PAGE) as u64, factory.image().budget()).expect("a piece");
    let first = pages.div_ceil(2);
    let run = |at: usize, from: usize, len: usize| Extent {
        at: at * PAGE,
        len: len * PAGE,
        piece: piece.clone(),
        offset: (from * PAGE) as u64,
    };
    let mut runs = vec![run(20, 0, first)];
    if pages > first {
        runs.push(run(40 + first, first, pages - first));
    }
    let extents = overlay(&factory.image().extents(), &runs);
    let end = extents.last().map_or(0, Extent::end).max(factory.image().len());
    let saved = Saved::of(factory.image().saved(extents, end.next_multiple_of(1 << 16), 0, Arc::default()), 5, 6);
    Memory { pid, is_shell, saved: Arc::new(saved) }
}

/// A snapshot of `pages` pages of `byte`, in one program.
fn paper(core: &Core, tenant: &str, name: Option<&str>, pages: usize, byte: u8) -> Arc<Paper> {
    static TIME: AtomicU64 = AtomicU64::new(1);
    let info = SnapshotInfo {
        id: fresh_id(),
        parent: None,
        created_ms: TIME.fetch_add(1, Ordering::Relaxed),
        image: core.image_id().to_owned(),
        name: name.map(str::to_owned),
        labels: vec![("a".to_owned(), "b".to_owned())],
        tenant: tenant.to_owned(),
        size: (pages * PAGE) as u64,
        programs: 1,
    };
    let state = [STATE, &[byte; 5_000]].concat();
    Arc::new(Paper { info, state, memories: vec![memory(core, 2, false, pages, byte)] })
}

/// What is in the memories of a snapshot, where it differs from the image.
fn bytes_of(core: &Core, paper: &Paper) -> Vec<(u32, Vec<u8>)> {
    let of = |memory: &Memory| {
        let factory = core.shared().factory_of(memory.is_shell).expect("the image");
        let laid = memory.saved.lay_out(&factory, None, Vec::new()).expect("laid out");
        (memory.pid, laid.pages().flatten().copied().collect())
    };
    paper.memories.iter().map(of).collect()
}

fn same(core: &Core, one: &Paper, other: &Paper) -> bool {
    one.info == other.info && one.state == other.state && bytes_of(core, one) == bytes_of(core, other)
}

/// A folder that is gone when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("coldframe-store-{}", fresh_id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    /// What lies in it.
    fn names(&self) -> Vec<String> {
        names_in(&self.0)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn names_in(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect();
    names.sort();
    names
}

fn shelves(core: &Core, path: &Path) -> Shelves<Paper> {
    Shelves::new(core.clone(), 64 * MIB, path.to_owned(), 64 * MIB)
}

fn code<T>(result: Result<T, Error>) -> &'static str {
    result.err().map_or("no error", |error| error.code())
}

/// Ids and places of all that a tenant has.
fn listed(shelves: &Shelves<Paper>, tenant: &str) -> Vec<(String, Stored)> {
    let (all, damaged) = shelves.list(tenant);
    assert_eq!(damaged, vec![]);
    all.into_iter().map(|(info, stored)| (info.id, stored)).collect()
}
