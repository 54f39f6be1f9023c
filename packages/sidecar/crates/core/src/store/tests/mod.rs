//! Tests of the store with small fake snapshots: a few pages of a file in memory replace a program.
//! `src/tests/snapshots/runtimes/stored.rs` tests the store with real runtimes.

mod copies;
mod costs;
mod crash;
mod disk;
mod faults;
mod files;
mod model;
mod places;

use super::layered_store::LayeredStore;
use super::storable::Storable;
use super::{Retention, SnapshotInfo, Stored};
use crate::core::Core;
use crate::installation::ImageKind;
use crate::installation::Installation;
use crate::snapshot::StoredMemory;
use coldframe_error::Error;
use coldframe_ids::Pid;
use coldframe_memory::{Extent, Piece, overlay};
use coldframe_sys::{self as sys, PAGE};
use coldframe_vm::VmSnapshot;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const STATE: &[u8] = b"state ";
const MIB: u64 = 1 << 20;

/// A fake snapshot. All bytes of its pages are equal.
#[derive(Debug)]
struct FakeSnapshot {
    info: SnapshotInfo,
    state: Vec<u8>,
    memories: Vec<StoredMemory>,
}

impl Storable for FakeSnapshot {
    fn info(&self) -> &SnapshotInfo {
        &self.info
    }

    fn state_bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(self.state.clone())
    }

    fn memories(&self) -> Vec<StoredMemory> {
        self.memories.clone()
    }

    fn is_used(&self) -> bool {
        self.info.labels.iter().any(|(name, _)| name == "used")
    }

    fn assemble(_: &Installation, info: SnapshotInfo, state: &[u8], memories: Vec<StoredMemory>) -> Result<Arc<Self>, Error> {
        if !state.starts_with(STATE) {
            return Err(Error::SnapshotDamaged { path: "state".to_owned(), reason: "an invalid state".to_owned() });
        }
        Ok(Arc::new(Self { info, state: state.to_vec(), memories }))
    }
}

/// Returns an id that no other test uses.
fn fresh_id() -> String {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    format!("snap-{:013x}{:013x}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed))
}

/// Makes a memory with `pages` pages that differ from the image. All bytes of these pages are
/// `byte`.
fn memory(core: &Core, pid: Pid, image: ImageKind, pages: usize, byte: u8) -> StoredMemory {
    let factory = core.installation().factory(image).expect("the image");
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
    let saved = VmSnapshot::of(factory.image().saved(extents, end.next_multiple_of(1 << 16), 0, Arc::default()), 5, 6);
    StoredMemory { pid, image, snapshot: Arc::new(saved) }
}

/// Makes a snapshot of one program whose memory has `pages` pages of `byte`.
fn fake(core: &Core, tenant: &str, name: Option<&str>, pages: usize, byte: u8) -> Arc<FakeSnapshot> {
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
    Arc::new(FakeSnapshot { info, state, memories: vec![memory(core, Pid::new(2), ImageKind::Node, pages, byte)] })
}

/// Returns the bytes of the snapshot's memories that differ from the image.
fn memory_bytes(core: &Core, snapshot: &FakeSnapshot) -> Vec<(Pid, Vec<u8>)> {
    let of = |memory: &StoredMemory| {
        let factory = core.installation().factory(memory.image).expect("the image");
        let laid = memory.snapshot.lay_out(&factory, None, Vec::new()).expect("laid out");
        (memory.pid, laid.pages().flatten().copied().collect())
    };
    snapshot.memories.iter().map(of).collect()
}

fn are_equal(core: &Core, one: &FakeSnapshot, other: &FakeSnapshot) -> bool {
    one.info == other.info && one.state == other.state && memory_bytes(core, one) == memory_bytes(core, other)
}

/// A folder that is removed when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("coldframe-store-{}", fresh_id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    /// Returns the names of the files in the folder.
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

fn open_store(core: &Core, path: &Path) -> LayeredStore<FakeSnapshot> {
    LayeredStore::new(core.installation().clone(), 64 * MIB, path.to_owned(), 64 * MIB)
}

fn code<T>(result: Result<T, Error>) -> &'static str {
    result.err().map_or("no error", |error| error.code())
}

/// Returns the ids of all snapshots of a tenant, and the layers that have each snapshot.
fn listed(store: &LayeredStore<FakeSnapshot>, tenant: &str) -> Vec<(String, Stored)> {
    let (all, damaged) = store.list(tenant);
    assert_eq!(damaged, vec![]);
    all.into_iter().map(|(info, stored)| (info.id, stored)).collect()
}
