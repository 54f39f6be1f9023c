//! Anything in any order, against a plain model: what the store says is there is there and is what it was, and nothing else is.

use super::super::faults::{Fault, Step};
use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

const TENANTS: [&str; 3] = ["a", "b", "c"];
const NAMES: [&str; 2] = ["x", "y"];
/// Small, so that there is pushing out all the time.
const ROOM: u64 = 12;

#[derive(Debug, Clone)]
enum Deed {
    Keep { tenant: usize, name: Option<usize>, pages: usize },
    Write { which: usize, stay: Stay },
    WriteNew { tenant: usize, name: Option<usize>, pages: usize },
    Fail { which: usize, step: usize },
    Die { which: usize, step: usize },
    Get { which: usize, by: usize },
    Forget { which: usize },
    Delete { which: usize },
    Protect { which: usize, stay: Stay },
    Move { which: usize, to: usize },
    Vanish { which: usize },
    Reopen,
}

fn stays() -> impl Strategy<Value = Stay> {
    prop_oneof![Just(Stay::No), Just(Stay::WhileOpen), Just(Stay::Always)]
}

fn deed() -> impl Strategy<Value = Deed> {
    let new = || (0..3_usize, prop::option::of(0..2_usize), 1..5_usize);
    prop_oneof![
        4 => new().prop_map(|(tenant, name, pages)| Deed::Keep { tenant, name, pages }),
        4 => new().prop_map(|(tenant, name, pages)| Deed::WriteNew { tenant, name, pages }),
        4 => (any::<usize>(), prop_oneof![6 => Just(Stay::No), 1 => stays()]).prop_map(|(which, stay)| Deed::Write { which, stay }),
        1 => (any::<usize>(), 0..5_usize).prop_map(|(which, step)| Deed::Fail { which, step }),
        1 => (any::<usize>(), 0..5_usize).prop_map(|(which, step)| Deed::Die { which, step }),
        6 => (any::<usize>(), 0..3_usize).prop_map(|(which, by)| Deed::Get { which, by }),
        1 => any::<usize>().prop_map(|which| Deed::Forget { which }),
        2 => any::<usize>().prop_map(|which| Deed::Delete { which }),
        1 => (any::<usize>(), stays()).prop_map(|(which, stay)| Deed::Protect { which, stay }),
        2 => (any::<usize>(), 0..3_usize).prop_map(|(which, to)| Deed::Move { which, to }),
        1 => any::<usize>().prop_map(|which| Deed::Vanish { which }),
        1 => Just(Deed::Reopen),
    ]
}

/// What was ever made, and what the model believes of it.
struct Fact {
    paper: Arc<Paper>,
    /// It may be there: it was entered, and not deleted since.
    in_memory: bool,
    on_disk: bool,
    stay: Stay,
}

struct World {
    core: Core,
    scratch: Scratch,
    shelves: Shelves<Paper>,
    facts: Vec<Fact>,
    memory_room: u64,
    disk_room: u64,
}

const STEPS: [Step; 5] = [Step::Create, Step::Write, Step::Sync, Step::Rename, Step::SyncFolder];

impl World {
    fn new(core: &Core) -> Self {
        let scratch = Scratch::new();
        // A file has four pages more: its head, two of state, the head of its memory.
        let (memory_room, disk_room) = (ROOM * PAGE as u64, 3 * ROOM * PAGE as u64);
        let shelves = Shelves::new(core.clone(), memory_room, scratch.0.clone(), disk_room);
        Self { core: core.clone(), scratch, shelves, facts: Vec::new(), memory_room, disk_room }
    }

    fn reopen(&mut self) {
        self.shelves = Shelves::new(self.core.clone(), self.memory_room, self.scratch.0.clone(), self.disk_room);
        for fact in &mut self.facts {
            fact.in_memory = false;
            // As if its process had ended: nobody needs what only that needed.
            if fact.stay == Stay::WhileOpen {
                fact.stay = Stay::No;
            }
        }
    }

    fn make(&mut self, tenant: usize, name: Option<usize>, pages: usize) -> usize {
        let paper = paper(&self.core, TENANTS[tenant], name.map(|name| NAMES[name]), pages, self.facts.len() as u8);
        self.facts.push(Fact { paper, in_memory: false, on_disk: false, stay: Stay::No });
        self.facts.len() - 1
    }

    fn write(&mut self, at: usize, stay: Stay) {
        let paper = self.facts[at].paper.clone();
        match self.shelves.write(&paper, stay) {
            Ok(()) => {
                self.facts[at].on_disk = true;
                if stay != Stay::No {
                    self.facts[at].stay = stay;
                }
                assert!(self.shelves.get(&paper.info.tenant, &paper.info.id).is_ok(), "what was just written is there");
            }
            Err(error) => {
                let protected = |fact: &&Fact| fact.stay != Stay::No && fact.on_disk;
                let stays: u64 = self.facts.iter().filter(protected).map(|fact| 4 * PAGE as u64 + fact.paper.info.size).sum();
                let need = 4 * PAGE as u64 + paper.info.size;
                assert!(error.code() == "ERR_RESOURCE_EXHAUSTED" && stays + need > self.disk_room, "{error}: {stays} and {need}");
            }
        }
    }

    fn act(&mut self, deed: &Deed) {
        let some = |which: usize, facts: &[Fact]| (!facts.is_empty()).then(|| which % facts.len());
        match *deed {
            Deed::Keep { tenant, name, pages } => {
                let at = self.make(tenant, name, pages);
                self.shelves.memory.keep(&self.facts[at].paper, None, None).expect("it fits");
                self.facts[at].in_memory = true;
                assert!(self.shelves.memory.held(TENANTS[tenant], &self.facts[at].paper.info.id).is_some());
            }
            Deed::WriteNew { tenant, name, pages } => {
                let at = self.make(tenant, name, pages);
                self.write(at, Stay::No);
            }
            Deed::Reopen => self.reopen(),
            Deed::Write { which, stay } => {
                if let Some(at) = some(which, &self.facts) {
                    self.write(at, stay);
                }
            }
            Deed::Fail { which, step } | Deed::Die { which, step } => {
                let Some(at) = some(which, &self.facts) else { return };
                let paper = self.facts[at].paper.clone();
                let there =
                    self.shelves.find(&paper.info.tenant, &paper.info.id).is_ok_and(|(_, stored)| stored != Stored::Memory);
                let dies = matches!(deed, Deed::Die { .. });
                self.shelves.folder.faults.plan(STEPS[step], if dies { Fault::Death } else { Fault::Errno(libc::ENOSPC) });
                let done = self.shelves.write(&paper, Stay::No);
                assert!(there || done.is_err());
                // One that died with its file named has a whole one.
                self.facts[at].on_disk = there || (dies && STEPS[step] == Step::SyncFolder && code(done) == "ERR_SNAPSHOT_FILE");
                if !self.facts[at].on_disk {
                    self.facts[at].stay = Stay::No;
                }
                self.reopen();
            }
            Deed::Get { which, by } => {
                let Some(at) = some(which, &self.facts) else { return };
                let info = self.facts[at].paper.info.clone();
                let name = if by == 0 { info.name.as_ref().unwrap_or(&info.id) } else { &info.id };
                let is_meant = |fact: &&Fact| {
                    let of = &fact.paper.info;
                    of.tenant == info.tenant
                        && (of.id == *name || of.name.as_ref() == Some(name))
                        && (fact.in_memory || fact.on_disk)
                };
                let meant = self.facts.iter().filter(is_meant).max_by_key(|fact| fact.paper.info.created_ms);
                match (self.shelves.get(&info.tenant, name), meant) {
                    (Ok(found), Some(meant)) => assert!(same(&self.core, &meant.paper, &found)),
                    (Err(error), None) => assert_eq!(error.code(), "ERR_SNAPSHOT_NOT_FOUND"),
                    (found, meant) => panic!("{found:?} for {:?}", meant.map(|fact| &fact.paper.info)),
                }
            }
            Deed::Forget { which } => {
                let Some(at) = some(which, &self.facts) else { return };
                self.shelves.memory.forget(&self.facts[at].paper.info.tenant, &self.facts[at].paper.info.id);
                self.facts[at].in_memory = false;
            }
            Deed::Delete { which } => {
                let Some(at) = some(which, &self.facts) else { return };
                let info = &self.facts[at].paper.info;
                let deleted = code(self.shelves.delete(&info.tenant, &info.id));
                let could = self.facts[at].in_memory || self.facts[at].on_disk;
                assert_eq!(deleted, if could { "no error" } else { "ERR_SNAPSHOT_NOT_FOUND" });
                (self.facts[at].in_memory, self.facts[at].on_disk, self.facts[at].stay) = (false, false, Stay::No);
            }
            Deed::Protect { which, stay } => {
                let Some(at) = some(which, &self.facts) else { return };
                let info = &self.facts[at].paper.info;
                if self.shelves.protect(&info.tenant, &info.id, stay).is_ok() {
                    self.facts[at].stay = stay;
                }
            }
            Deed::Move { which, to } => self.travel(which, to),
            Deed::Vanish { which } => {
                let Some(at) = some(which, &self.facts) else { return };
                let info = &self.facts[at].paper.info;
                let _ = std::fs::remove_file(self.shelves.folder.file(&info.tenant, &info.id).expect("a name"));
                (self.facts[at].on_disk, self.facts[at].stay) = (false, Stay::No);
            }
        }
    }

    /// Exports one and imports it for another tenant.
    fn travel(&mut self, which: usize, to: usize) {
        if self.facts.is_empty() {
            return;
        }
        let paper = self.facts[which % self.facts.len()].paper.clone();
        let file = self.scratch.0.with_extension("exported");
        if let Err(error) = self.shelves.export(&paper.info.tenant, &paper.info.id, &file) {
            return assert_eq!(error.code(), "ERR_SNAPSHOT_NOT_FOUND");
        }
        let info = SnapshotInfo { tenant: TENANTS[to].to_owned(), ..paper.info.clone() };
        let twin = self.facts.iter().position(|fact| fact.paper.info == info);
        match self.shelves.import(TENANTS[to], &file) {
            Ok((found, stored)) => {
                assert_eq!(found, info);
                let at = twin.unwrap_or_else(|| {
                    let paper = Arc::new(Paper { info, state: paper.state.clone(), memories: paper.memories.clone() });
                    self.facts.push(Fact { paper, in_memory: false, on_disk: false, stay: Stay::No });
                    self.facts.len() - 1
                });
                self.facts[at].on_disk |= stored != Stored::Memory;
            }
            Err(error) => assert_eq!(error.code(), "ERR_RESOURCE_EXHAUSTED", "all that is left is protected"),
        }
        std::fs::remove_file(&file).expect("removed");
    }

    /// All that the store says, of everybody.
    fn check(&mut self) {
        let mut there: HashMap<(String, String), Stored> = HashMap::new();
        for tenant in TENANTS {
            there.extend(listed(&self.shelves, tenant).into_iter().map(|(id, stored)| ((tenant.to_owned(), id), stored)));
        }
        for fact in &mut self.facts {
            let info = &fact.paper.info;
            let stored = there.remove(&(info.tenant.clone(), info.id.clone()));
            let (in_memory, on_disk) = match stored {
                None => (false, false),
                Some(Stored::Memory) => (true, false),
                Some(Stored::Disk) => (false, true),
                Some(Stored::Both) => (true, true),
            };
            // It may have made room for others, and only that.
            assert!(fact.in_memory || !in_memory, "{info:?}");
            assert!((fact.on_disk || !on_disk) && (on_disk || !fact.on_disk || fact.stay == Stay::No), "{info:?}");
            (fact.in_memory, fact.on_disk) = (in_memory, on_disk);
            if !on_disk {
                fact.stay = Stay::No;
            }
        }
        assert!(there.is_empty(), "{there:?}");
        assert!(self.shelves.memory.total() <= self.memory_room);
        let names = self.scratch.names();
        assert!(names.iter().all(|name| !name.ends_with(".part")), "{names:?}");
        let bytes: u64 = names.iter().map(|name| self.scratch.0.join(name).metadata().expect("there").len()).sum();
        assert!(bytes <= self.disk_room, "{bytes}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens_what_is_there_is_right(deeds in prop::collection::vec(deed(), 1..40)) {
        let core = shared_core();
        let mut world = World::new(&core);
        for deed in &deeds {
            world.act(deed);
            world.check();
        }
    }
}

/// One for all cases: loading the image takes longer than a case.
fn shared_core() -> Core {
    static CORE: std::sync::OnceLock<Core> = std::sync::OnceLock::new();
    CORE.get_or_init(crate::tests::core).clone()
}
