//! Tests random operations against a plain model. Every snapshot that the store lists exists and
//! has its original content. The store lists no other snapshot.

use super::super::faults::{Fault, Step};
use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

const TENANTS: [&str; 3] = ["a", "b", "c"];
const NAMES: [&str; 2] = ["x", "y"];
/// The capacity is so small that snapshots are often removed.
const ROOM_PAGES: u64 = 12;

#[derive(Debug, Clone)]
enum Action {
    Keep { tenant: usize, name: Option<usize>, pages: usize },
    Write { which: usize, retention: Retention },
    WriteNew { tenant: usize, name: Option<usize>, pages: usize },
    Fail { which: usize, step: usize },
    Crash { which: usize, step: usize },
    Get { which: usize, by: usize },
    Forget { which: usize },
    Delete { which: usize },
    Protect { which: usize, retention: Retention },
    Move { which: usize, to: usize },
    RemoveFile { which: usize },
    Reopen,
}

fn retentions() -> impl Strategy<Value = Retention> {
    prop_oneof![Just(Retention::No), Just(Retention::WhileOpen), Just(Retention::Always)]
}

fn action() -> impl Strategy<Value = Action> {
    let new = || (0..3_usize, prop::option::of(0..2_usize), 1..5_usize);
    prop_oneof![
        4 => new().prop_map(|(tenant, name, pages)| Action::Keep { tenant, name, pages }),
        4 => new().prop_map(|(tenant, name, pages)| Action::WriteNew { tenant, name, pages }),
        4 => (any::<usize>(), prop_oneof![6 => Just(Retention::No), 1 => retentions()])
            .prop_map(|(which, retention)| Action::Write { which, retention }),
        1 => (any::<usize>(), 0..5_usize).prop_map(|(which, step)| Action::Fail { which, step }),
        1 => (any::<usize>(), 0..5_usize).prop_map(|(which, step)| Action::Crash { which, step }),
        6 => (any::<usize>(), 0..3_usize).prop_map(|(which, by)| Action::Get { which, by }),
        1 => any::<usize>().prop_map(|which| Action::Forget { which }),
        2 => any::<usize>().prop_map(|which| Action::Delete { which }),
        1 => (any::<usize>(), retentions()).prop_map(|(which, retention)| Action::Protect { which, retention }),
        2 => (any::<usize>(), 0..3_usize).prop_map(|(which, to)| Action::Move { which, to }),
        1 => any::<usize>().prop_map(|which| Action::RemoveFile { which }),
        1 => Just(Action::Reopen),
    ]
}

/// A snapshot that was made, and its state in the model.
struct Expected {
    snapshot: Arc<FakeSnapshot>,
    /// Whether the memory layer may have the snapshot: the snapshot was inserted, and was not
    /// deleted since.
    in_memory: bool,
    on_disk: bool,
    retention: Retention,
}

struct TestStore {
    core: Core,
    scratch: Scratch,
    store: LayeredStore<FakeSnapshot>,
    expected: Vec<Expected>,
    memory_room: u64,
    disk_room: u64,
}

const STEPS: [Step; 5] = [Step::Create, Step::Write, Step::Sync, Step::Rename, Step::SyncFolder];

impl TestStore {
    fn new(core: &Core) -> Self {
        let scratch = Scratch::new();
        // A file is four pages longer than its snapshot's memory: the head of the file, two pages
        // of state, and the head of the memory.
        let (memory_room, disk_room) = (ROOM_PAGES * PAGE as u64, 3 * ROOM_PAGES * PAGE as u64);
        let store = LayeredStore::new(core.installation().clone(), memory_room, scratch.0.clone(), disk_room);
        Self { core: core.clone(), scratch, store, expected: Vec::new(), memory_room, disk_room }
    }

    fn reopen(&mut self) {
        self.store =
            LayeredStore::new(self.core.installation().clone(), self.memory_room, self.scratch.0.clone(), self.disk_room);
        for entry in &mut self.expected {
            entry.in_memory = false;
            // Closing a store ends the retention `WhileOpen`.
            if entry.retention == Retention::WhileOpen {
                entry.retention = Retention::No;
            }
        }
    }

    fn make(&mut self, tenant: usize, name: Option<usize>, pages: usize) -> usize {
        let snapshot = fake(&self.core, TENANTS[tenant], name.map(|name| NAMES[name]), pages, self.expected.len() as u8);
        self.expected.push(Expected { snapshot, in_memory: false, on_disk: false, retention: Retention::No });
        self.expected.len() - 1
    }

    fn write(&mut self, at: usize, retention: Retention) {
        let snapshot = self.expected[at].snapshot.clone();
        match self.store.write(&snapshot, retention) {
            Ok(()) => {
                self.expected[at].on_disk = true;
                if retention != Retention::No {
                    self.expected[at].retention = retention;
                }
                assert!(self.store.get(&snapshot.info.tenant, &snapshot.info.id).is_ok(), "the written snapshot exists");
            }
            Err(error) => {
                let protected = |entry: &&Expected| entry.retention != Retention::No && entry.on_disk;
                let protected_bytes: u64 =
                    self.expected.iter().filter(protected).map(|entry| 4 * PAGE as u64 + entry.snapshot.info.size).sum();
                let need = 4 * PAGE as u64 + snapshot.info.size;
                assert!(
                    error.code() == "ERR_RESOURCE_EXHAUSTED" && protected_bytes + need > self.disk_room,
                    "{error}: {protected_bytes} and {need}"
                );
            }
        }
    }

    fn act(&mut self, action: &Action) {
        let some = |which: usize, expected: &[Expected]| (!expected.is_empty()).then(|| which % expected.len());
        match *action {
            Action::Keep { tenant, name, pages } => {
                let at = self.make(tenant, name, pages);
                self.store.layers.memory.keep(&self.expected[at].snapshot, None, None).expect("kept");
                self.expected[at].in_memory = true;
                assert!(self.store.layers.memory.held(TENANTS[tenant], &self.expected[at].snapshot.info.id).is_some());
            }
            Action::WriteNew { tenant, name, pages } => {
                let at = self.make(tenant, name, pages);
                self.write(at, Retention::No);
            }
            Action::Reopen => self.reopen(),
            Action::Write { which, retention } => {
                if let Some(at) = some(which, &self.expected) {
                    self.write(at, retention);
                }
            }
            Action::Fail { which, step } | Action::Crash { which, step } => {
                let Some(at) = some(which, &self.expected) else { return };
                let snapshot = self.expected[at].snapshot.clone();
                let present =
                    self.store.find(&snapshot.info.tenant, &snapshot.info.id).is_ok_and(|(_, stored)| stored != Stored::Memory);
                let crashes = matches!(action, Action::Crash { .. });
                self.store
                    .layers
                    .folder
                    .faults
                    .plan(STEPS[step], if crashes { Fault::Death } else { Fault::Errno(libc::ENOSPC) });
                let done = self.store.write(&snapshot, Retention::No);
                assert!(present || done.is_err());
                // A writer that ended after the rename leaves a complete file.
                self.expected[at].on_disk =
                    present || (crashes && STEPS[step] == Step::SyncFolder && code(done) == "ERR_SNAPSHOT_FILE");
                if !self.expected[at].on_disk {
                    self.expected[at].retention = Retention::No;
                }
                self.reopen();
            }
            Action::Get { which, by } => {
                let Some(at) = some(which, &self.expected) else { return };
                let info = self.expected[at].snapshot.info.clone();
                let name = if by == 0 { info.name.as_ref().unwrap_or(&info.id) } else { &info.id };
                let is_meant = |entry: &&Expected| {
                    let of = &entry.snapshot.info;
                    of.tenant == info.tenant
                        && (of.id == *name || of.name.as_ref() == Some(name))
                        && (entry.in_memory || entry.on_disk)
                };
                let meant = self.expected.iter().filter(is_meant).max_by_key(|entry| entry.snapshot.info.created_ms);
                match (self.store.get(&info.tenant, name), meant) {
                    (Ok(found), Some(meant)) => assert!(are_equal(&self.core, &meant.snapshot, &found)),
                    (Err(error), None) => assert_eq!(error.code(), "ERR_SNAPSHOT_NOT_FOUND"),
                    (found, meant) => panic!("{found:?} for {:?}", meant.map(|entry| &entry.snapshot.info)),
                }
            }
            Action::Forget { which } => {
                let Some(at) = some(which, &self.expected) else { return };
                self.store.layers.memory.forget(&self.expected[at].snapshot.info.tenant, &self.expected[at].snapshot.info.id);
                self.expected[at].in_memory = false;
            }
            Action::Delete { which } => {
                let Some(at) = some(which, &self.expected) else { return };
                let info = &self.expected[at].snapshot.info;
                let deleted = code(self.store.delete(&info.tenant, &info.id));
                let could = self.expected[at].in_memory || self.expected[at].on_disk;
                assert_eq!(deleted, if could { "no error" } else { "ERR_SNAPSHOT_NOT_FOUND" });
                (self.expected[at].in_memory, self.expected[at].on_disk, self.expected[at].retention) =
                    (false, false, Retention::No);
            }
            Action::Protect { which, retention } => {
                let Some(at) = some(which, &self.expected) else { return };
                let info = &self.expected[at].snapshot.info;
                if self.store.protect(&info.tenant, &info.id, retention).is_ok() {
                    self.expected[at].retention = retention;
                }
            }
            Action::Move { which, to } => self.export_and_import(which, to),
            Action::RemoveFile { which } => {
                let Some(at) = some(which, &self.expected) else { return };
                let info = &self.expected[at].snapshot.info;
                let _ = std::fs::remove_file(self.store.layers.folder.file(&info.tenant, &info.id).expect("a name"));
                (self.expected[at].on_disk, self.expected[at].retention) = (false, Retention::No);
            }
        }
    }

    /// Exports a snapshot and imports it for another tenant.
    fn export_and_import(&mut self, which: usize, to: usize) {
        if self.expected.is_empty() {
            return;
        }
        let snapshot = self.expected[which % self.expected.len()].snapshot.clone();
        let file = self.scratch.0.with_extension("exported");
        if let Err(error) = self.store.export(&snapshot.info.tenant, &snapshot.info.id, &file) {
            return assert_eq!(error.code(), "ERR_SNAPSHOT_NOT_FOUND");
        }
        let info = SnapshotInfo { tenant: TENANTS[to].to_owned(), ..snapshot.info.clone() };
        let existing = self.expected.iter().position(|entry| entry.snapshot.info == info);
        match self.store.import(TENANTS[to], &file) {
            Ok((found, stored)) => {
                assert_eq!(found, info);
                let at = existing.unwrap_or_else(|| {
                    let snapshot =
                        Arc::new(FakeSnapshot { info, state: snapshot.state.clone(), memories: snapshot.memories.clone() });
                    self.expected.push(Expected { snapshot, in_memory: false, on_disk: false, retention: Retention::No });
                    self.expected.len() - 1
                });
                self.expected[at].on_disk |= stored != Stored::Memory;
            }
            Err(error) => assert_eq!(error.code(), "ERR_RESOURCE_EXHAUSTED", "all remaining snapshots are protected"),
        }
        std::fs::remove_file(&file).expect("removed");
    }

    /// Compares the store's lists of all tenants with the model.
    fn check(&mut self) {
        let mut present: HashMap<(String, String), Stored> = HashMap::new();
        for tenant in TENANTS {
            present.extend(listed(&self.store, tenant).into_iter().map(|(id, stored)| ((tenant.to_owned(), id), stored)));
        }
        for entry in &mut self.expected {
            let info = &entry.snapshot.info;
            let stored = present.remove(&(info.tenant.clone(), info.id.clone()));
            let (in_memory, on_disk) = match stored {
                None => (false, false),
                Some(Stored::Memory) => (true, false),
                Some(Stored::Disk) => (false, true),
                Some(Stored::Both) => (true, true),
            };
            // A snapshot may only have been removed to free capacity for other snapshots.
            assert!(entry.in_memory || !in_memory, "{info:?}");
            assert!((entry.on_disk || !on_disk) && (on_disk || !entry.on_disk || entry.retention == Retention::No), "{info:?}");
            (entry.in_memory, entry.on_disk) = (in_memory, on_disk);
            if !on_disk {
                entry.retention = Retention::No;
            }
        }
        assert!(present.is_empty(), "{present:?}");
        assert!(self.store.layers.memory.total() <= self.memory_room);
        let names = self.scratch.names();
        assert!(names.iter().all(|name| !name.ends_with(".part")), "{names:?}");
        let bytes: u64 = names.iter().map(|name| self.scratch.0.join(name).metadata().expect("the file exists").len()).sum();
        assert!(bytes <= self.disk_room, "{bytes}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn every_listed_snapshot_has_its_content_after_any_operations(actions in prop::collection::vec(action(), 1..40)) {
        let core = shared_core();
        let mut test_store = TestStore::new(&core);
        for action in &actions {
            test_store.act(action);
            test_store.check();
        }
    }
}

/// One core for all cases, because loading the image takes longer than a case.
fn shared_core() -> Core {
    static CORE: std::sync::OnceLock<Core> = std::sync::OnceLock::new();
    CORE.get_or_init(crate::tests::core).clone()
}
