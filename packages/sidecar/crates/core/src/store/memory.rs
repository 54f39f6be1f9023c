//! Snapshots in memory, by tenant. What is forgotten here lives on for as long as a runtime or a pool maps its pages.
//!
//! Sizes are what each holds beyond the image; what several share counts for each, so that the room is never exceeded, and often not used up. Of a tenant's
//! those go first from which no runtime lives: the pages of the others stay anyway, and more may be to come from them, as from a pool's template. A snapshot
//! that was opened from its file costs its kernel's state and a descriptor, for its pages are the disk's: a few of those are remembered, because opening
//! checks every byte. Next: `shares.rs`, who gives when it is full; `folder.rs`, the same on disk.

use super::SnapshotInfo;
use super::names;
use super::shares::{Holding, victims};
use super::subject::Subject;
use coldframe_error::Error;
use coldframe_ids::Digest;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// How many opened ones are remembered.
const MAX_OPENED: usize = 64;

/// See the module.
pub(super) struct Memory<S> {
    room: u64,
    shelf: Mutex<Shelf<S>>,
}

struct Shelf<S> {
    tenants: HashMap<String, Tenant<S>>,
    total: u64,
    /// Counts uses.
    tick: u64,
    opened: usize,
}

struct Tenant<S> {
    kept: HashMap<String, Entry<S>>,
    names: HashMap<String, Name>,
}

/// The snapshots of a name.
#[derive(Default)]
struct Name {
    /// When made, in which order entered, and which.
    ids: BTreeSet<(u64, u64, String)>,
    /// Whether the newest one was pushed out: the disk may have it.
    is_outdated: bool,
}

struct Entry<S> {
    snapshot: Arc<S>,
    bytes: u64,
    used: u64,
    entered: u64,
    digest: Option<Digest>,
    /// Its file's inode, if it was opened from the disk.
    file: Option<u64>,
}

/// What is here.
pub(super) struct Kept<S> {
    pub(super) snapshot: Arc<S>,
    pub(super) digest: Option<Digest>,
    /// See [`Entry::file`].
    pub(super) file: Option<u64>,
}

impl<S: Subject> Memory<S> {
    pub(super) fn new(room: u64) -> Self {
        Self { room, shelf: Mutex::new(Shelf { tenants: HashMap::new(), total: 0, tick: 0, opened: 0 }) }
    }

    /// Enters a snapshot, and forgets others to make room. `file` is the inode of what it was opened from, and the bytes that it takes then.
    pub(super) fn keep(&self, snapshot: &Arc<S>, digest: Option<Digest>, file: Option<(u64, u64)>) -> Result<(), Error> {
        let info = snapshot.info();
        let bytes = file.map_or(info.size, |(_, bytes)| bytes);
        let mut shelf = self.shelf.lock();
        shelf.tick += 1;
        let tick = shelf.tick;
        if let Some(entry) = shelf.entry(&info.tenant, &info.id) {
            entry.used = tick;
            entry.digest = entry.digest.or(digest);
            // One that is kept for its own sake stays so.
            if entry.file.is_none() || file.is_some() {
                return Ok(());
            }
        }
        let before = shelf.remove(&info.tenant, &info.id, false);
        let mut gone = Vec::from_iter(before);
        // What can be opened again pushes nothing out, and goes first.
        let most = if file.is_some() { MAX_OPENED - 1 } else { MAX_OPENED };
        let most = if shelf.fits(bytes, self.room) { most } else { 0 };
        gone.extend(shelf.forget_opened(most));
        if !shelf.fits(bytes, self.room) {
            if file.is_some() {
                return Ok(());
            }
            gone.extend(shelf.make_room(&info.tenant, bytes, self.room)?);
        }
        shelf.enter(
            snapshot.clone(),
            Entry { snapshot: snapshot.clone(), bytes, used: tick, entered: tick, digest, file: file.map(|(inode, _)| inode) },
        );
        drop(shelf);
        // Giving memory back takes a while: nobody waits for it.
        drop(gone);
        Ok(())
    }

    /// The one with this id, or else the newest one with this name. Never one that was opened from a file: that may be gone.
    pub(super) fn held(&self, tenant: &str, name: &str) -> Option<Arc<S>> {
        let mut shelf = self.shelf.lock();
        let id = shelf.newest(tenant, name).filter(|_| !shelf.has(tenant, name)).unwrap_or_else(|| name.to_owned());
        shelf.tick += 1;
        let tick = shelf.tick;
        let entry = shelf.entry(tenant, &id).filter(|entry| entry.file.is_none())?;
        entry.used = tick;
        Some(entry.snapshot.clone())
    }

    /// The one with this id.
    pub(super) fn get(&self, tenant: &str, id: &str) -> Option<Kept<S>> {
        let mut shelf = self.shelf.lock();
        shelf.tick += 1;
        let tick = shelf.tick;
        let entry = shelf.entry(tenant, id)?;
        entry.used = tick;
        Some(Kept { snapshot: entry.snapshot.clone(), digest: entry.digest, file: entry.file })
    }

    /// What is known of all that a tenant has here for its own sake.
    pub(super) fn list(&self, tenant: &str) -> Vec<(SnapshotInfo, Option<Digest>)> {
        let shelf = self.shelf.lock();
        let entries = shelf.tenants.get(tenant).into_iter().flat_map(|tenant| tenant.kept.values());
        let mut entries: Vec<_> = entries.filter(|entry| entry.file.is_none()).collect();
        entries.sort_by_key(|entry| entry.entered);
        entries.into_iter().map(|entry| (entry.snapshot.info().clone(), entry.digest)).collect()
    }

    /// Remembers what was computed.
    pub(super) fn learn(&self, tenant: &str, id: &str, digest: Digest) {
        if let Some(entry) = self.shelf.lock().entry(tenant, id) {
            entry.digest = Some(digest);
        }
    }

    /// Forgets one. Whether it was here for its own sake.
    pub(super) fn forget(&self, tenant: &str, id: &str) -> bool {
        let mut shelf = self.shelf.lock();
        let was_kept = shelf.entry(tenant, id).is_some_and(|entry| entry.file.is_none());
        let gone = shelf.remove(tenant, id, false);
        drop(shelf);
        drop(gone);
        was_kept
    }

    /// Forgets all that were opened from files: their descriptors are needed.
    pub(super) fn forget_opened(&self) {
        let gone = self.shelf.lock().forget_opened(0);
        drop(gone);
    }

    #[cfg(test)]
    pub(super) fn total(&self) -> u64 {
        self.shelf.lock().total
    }
}

impl<S: Subject> Shelf<S> {
    fn has(&self, tenant: &str, id: &str) -> bool {
        self.tenants.get(tenant).is_some_and(|tenant| tenant.kept.contains_key(id))
    }

    fn entry(&mut self, tenant: &str, id: &str) -> Option<&mut Entry<S>> {
        self.tenants.get_mut(tenant)?.kept.get_mut(id)
    }

    /// The newest of a name, unless there may be a newer one on disk. What looks like an id is never a name: that one may be on disk.
    fn newest(&self, tenant: &str, name: &str) -> Option<String> {
        if names::is_id(name) {
            return None;
        }
        let name = self.tenants.get(tenant)?.names.get(name).filter(|name| !name.is_outdated)?;
        name.ids.last().map(|(_, _, id)| id.clone())
    }

    fn enter(&mut self, snapshot: Arc<S>, entry: Entry<S>) {
        let info = snapshot.info();
        self.total += entry.bytes;
        self.opened += usize::from(entry.file.is_some());
        let tenant =
            self.tenants.entry(info.tenant.clone()).or_insert_with(|| Tenant { kept: HashMap::new(), names: HashMap::new() });
        if let Some(name) = info.name.clone().filter(|_| entry.file.is_none()) {
            let name = tenant.names.entry(name).or_default();
            let is_newest = name.ids.last().is_none_or(|(created, _, _)| *created <= info.created_ms);
            name.is_outdated &= !is_newest;
            name.ids.insert((info.created_ms, entry.entered, info.id.clone()));
        }
        tenant.kept.insert(info.id.clone(), entry);
    }

    /// `pushed`: for want of room, so that it may still be on disk.
    fn remove(&mut self, tenant: &str, id: &str, pushed: bool) -> Option<Arc<S>> {
        let of = self.tenants.get_mut(tenant)?;
        let entry = of.kept.remove(id)?;
        self.total -= entry.bytes;
        self.opened -= usize::from(entry.file.is_some());
        let info = entry.snapshot.info();
        if let Some(called) = info.name.as_ref().filter(|_| entry.file.is_none())
            && let Some(name) = of.names.get_mut(called)
        {
            name.is_outdated |= pushed && name.ids.last().is_some_and(|(_, _, last)| last == id);
            name.ids.remove(&(info.created_ms, entry.entered, id.to_owned()));
            if name.ids.is_empty() {
                of.names.remove(called);
            }
        }
        if of.kept.is_empty() {
            self.tenants.remove(tenant);
        }
        Some(entry.snapshot)
    }

    fn fits(&self, bytes: u64, room: u64) -> bool {
        self.total.saturating_add(bytes) <= room
    }

    fn make_room(&mut self, tenant: &str, need: u64, room: u64) -> Result<Vec<Arc<S>>, Error> {
        let mut which = Vec::new();
        let mut holdings = Vec::new();
        for (whose, tenant) in &self.tenants {
            for (id, entry) in &tenant.kept {
                which.push((whose.clone(), id.clone()));
                let used = (entry.snapshot.is_used(), entry.used);
                holdings.push(Holding { whose: whose.as_str(), bytes: entry.bytes, used, protected: false });
            }
        }
        let gone = victims(&holdings, (&tenant, need), room, |_| true);
        let gone = gone.ok_or(Error::ResourceExhausted { resource: "snapshot bytes", limit: room })?;
        Ok(gone.into_iter().filter_map(|index| self.remove(&which[index].0, &which[index].1, true)).collect())
    }

    /// Forgets the least recently used of those that were opened, until no more than `most` are here.
    fn forget_opened(&mut self, most: usize) -> Vec<Arc<S>> {
        if self.opened <= most {
            return Vec::new();
        }
        let mut opened: Vec<(u64, String, String)> = Vec::new();
        for (whose, tenant) in &self.tenants {
            let of_it = tenant.kept.iter().filter(|(_, entry)| entry.file.is_some());
            opened.extend(of_it.map(|(id, entry)| (entry.used, whose.clone(), id.clone())));
        }
        opened.sort();
        opened.truncate(self.opened - most);
        opened.into_iter().filter_map(|(_, tenant, id)| self.remove(&tenant, &id, false)).collect()
    }
}
