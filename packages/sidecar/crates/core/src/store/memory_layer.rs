//! The memory layer: snapshots in memory, by tenant. A removed snapshot stays in memory while a
//! runtime or a pool maps its pages.
//!
//! A snapshot's size is the number of its bytes beyond the image. Bytes that several snapshots
//! share are counted for each of these snapshots, so the layer never exceeds its capacity and often
//! uses less. Of a tenant's snapshots, the layer first removes the snapshots without a live
//! restored runtime. The pages of a snapshot with a live restored runtime stay mapped anyway, and
//! further restores from such a snapshot are likely. An example is a pool's template.
//!
//! A snapshot that was opened from its file uses only memory for the kernel's state and one
//! descriptor, because its pages are in the file. A few opened snapshots are cached, because
//! opening checks every byte.
//! Next: `shares.rs`, which selects the snapshots to remove; `folder.rs`, the layer on disk.

use super::SnapshotInfo;
use super::names;
use super::shares::{Holding, victims};
use super::storable::Storable;
use coldframe_error::Error;
use coldframe_ids::Digest;
use coldframe_panics::process::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The largest number of cached snapshots that were opened from files.
const MAX_OPENED: usize = 64;

/// The snapshots in memory.
pub(super) struct MemoryLayer<S> {
    room: u64,
    entries: Mutex<Entries<S>>,
}

struct Entries<S> {
    tenants: HashMap<String, Tenant<S>>,
    total: u64,
    /// A counter of the uses of snapshots. An entry stores the counter's value at its last use.
    tick: u64,
    opened: usize,
}

struct Tenant<S> {
    kept: HashMap<String, Entry<S>>,
    names: HashMap<String, Name>,
}

/// The snapshots with one name.
#[derive(Default)]
struct Name {
    /// The time of creation, the order of insertion, and the id of each snapshot.
    ids: BTreeSet<(u64, u64, String)>,
    /// Whether the newest snapshot was removed for lack of space. That snapshot may still be on
    /// disk.
    is_outdated: bool,
}

struct Entry<S> {
    snapshot: Arc<S>,
    bytes: u64,
    used: u64,
    entered: u64,
    digest: Option<Digest>,
    /// The file's inode, if the snapshot was opened from a file.
    file: Option<u64>,
}

/// A snapshot in memory.
pub(super) struct Kept<S> {
    pub(super) snapshot: Arc<S>,
    pub(super) digest: Option<Digest>,
    /// The file's inode, as in [`Entry::file`].
    pub(super) file: Option<u64>,
}

impl<S: Storable> MemoryLayer<S> {
    pub(super) fn new(room: u64) -> Self {
        Self { room, entries: Mutex::new(Entries { tenants: HashMap::new(), total: 0, tick: 0, opened: 0 }) }
    }

    /// Adds a snapshot, and removes other snapshots to free capacity. `file` has the inode of the
    /// opened file, and the number of bytes that the opened snapshot occupies.
    pub(super) fn keep(&self, snapshot: &Arc<S>, digest: Option<Digest>, file: Option<(u64, u64)>) -> Result<(), Error> {
        let info = snapshot.info();
        let bytes = file.map_or(info.size, |(_, bytes)| bytes);
        let mut entries = self.entries.lock();
        entries.tick += 1;
        let tick = entries.tick;
        if let Some(entry) = entries.entry(&info.tenant, &info.id) {
            entry.used = tick;
            entry.digest = entry.digest.or(digest);
            // A kept snapshot must not become a cached snapshot.
            if entry.file.is_none() || file.is_some() {
                return Ok(());
            }
        }
        let before = entries.remove(&info.tenant, &info.id, false);
        let mut removed = Vec::from_iter(before);
        // A cached snapshot can be opened again. Therefore a cached snapshot displaces no kept
        // snapshot and is removed first.
        let most = if file.is_some() { MAX_OPENED - 1 } else { MAX_OPENED };
        let most = if entries.fits(bytes, self.room) { most } else { 0 };
        removed.extend(entries.forget_opened(most));
        if !entries.fits(bytes, self.room) {
            if file.is_some() {
                return Ok(());
            }
            removed.extend(entries.make_room(&info.tenant, bytes, self.room)?);
        }
        entries.add(
            snapshot.clone(),
            Entry { snapshot: snapshot.clone(), bytes, used: tick, entered: tick, digest, file: file.map(|(inode, _)| inode) },
        );
        drop(entries);
        // Freeing memory takes long, so the lock is released first.
        drop(removed);
        Ok(())
    }

    /// Returns the snapshot with this id, or otherwise the newest snapshot with this name. Never
    /// returns a snapshot opened from a file, because the file may have been removed.
    pub(super) fn held(&self, tenant: &str, name: &str) -> Option<Arc<S>> {
        let mut entries = self.entries.lock();
        let id = entries.newest(tenant, name).filter(|_| !entries.has(tenant, name)).unwrap_or_else(|| name.to_owned());
        entries.tick += 1;
        let tick = entries.tick;
        let entry = entries.entry(tenant, &id).filter(|entry| entry.file.is_none())?;
        entry.used = tick;
        Some(entry.snapshot.clone())
    }

    /// Returns the snapshot with this id, kept or cached.
    pub(super) fn get(&self, tenant: &str, id: &str) -> Option<Kept<S>> {
        let mut entries = self.entries.lock();
        entries.tick += 1;
        let tick = entries.tick;
        let entry = entries.entry(tenant, id)?;
        entry.used = tick;
        Some(Kept { snapshot: entry.snapshot.clone(), digest: entry.digest, file: entry.file })
    }

    /// Returns the facts about all kept snapshots of a tenant.
    pub(super) fn list(&self, tenant: &str) -> Vec<(SnapshotInfo, Option<Digest>)> {
        let entries = self.entries.lock();
        let entries = entries.tenants.get(tenant).into_iter().flat_map(|tenant| tenant.kept.values());
        let mut entries: Vec<_> = entries.filter(|entry| entry.file.is_none()).collect();
        entries.sort_by_key(|entry| entry.entered);
        entries.into_iter().map(|entry| (entry.snapshot.info().clone(), entry.digest)).collect()
    }

    /// Stores the computed digest of a snapshot.
    pub(super) fn set_digest(&self, tenant: &str, id: &str, digest: Digest) {
        if let Some(entry) = self.entries.lock().entry(tenant, id) {
            entry.digest = Some(digest);
        }
    }

    /// Removes a snapshot. Returns whether the snapshot was kept, and not only cached.
    pub(super) fn forget(&self, tenant: &str, id: &str) -> bool {
        let mut entries = self.entries.lock();
        let was_kept = entries.entry(tenant, id).is_some_and(|entry| entry.file.is_none());
        let removed = entries.remove(tenant, id, false);
        drop(entries);
        drop(removed);
        was_kept
    }

    /// Removes all snapshots opened from files, because their descriptors are needed.
    pub(super) fn forget_opened(&self) {
        let removed = self.entries.lock().forget_opened(0);
        drop(removed);
    }

    #[cfg(test)]
    pub(super) fn total(&self) -> u64 {
        self.entries.lock().total
    }
}

impl<S: Storable> Entries<S> {
    fn has(&self, tenant: &str, id: &str) -> bool {
        self.tenants.get(tenant).is_some_and(|tenant| tenant.kept.contains_key(id))
    }

    fn entry(&mut self, tenant: &str, id: &str) -> Option<&mut Entry<S>> {
        self.tenants.get_mut(tenant)?.kept.get_mut(id)
    }

    /// Returns the newest snapshot with a name, unless the disk may have a newer snapshot. Text in
    /// the form of an id is never a name, because a snapshot with that id may be on disk.
    fn newest(&self, tenant: &str, name: &str) -> Option<String> {
        if names::is_id(name) {
            return None;
        }
        let name = self.tenants.get(tenant)?.names.get(name).filter(|name| !name.is_outdated)?;
        name.ids.last().map(|(_, _, id)| id.clone())
    }

    fn add(&mut self, snapshot: Arc<S>, entry: Entry<S>) {
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

    /// Removes an entry. `displaced` means a removal for lack of space, so that the snapshot may
    /// still be on disk.
    fn remove(&mut self, tenant: &str, id: &str, displaced: bool) -> Option<Arc<S>> {
        let of = self.tenants.get_mut(tenant)?;
        let entry = of.kept.remove(id)?;
        self.total -= entry.bytes;
        self.opened -= usize::from(entry.file.is_some());
        let info = entry.snapshot.info();
        if let Some(called) = info.name.as_ref().filter(|_| entry.file.is_none())
            && let Some(name) = of.names.get_mut(called)
        {
            name.is_outdated |= displaced && name.ids.last().is_some_and(|(_, _, last)| last == id);
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
        for (owner, tenant) in &self.tenants {
            for (id, entry) in &tenant.kept {
                which.push((owner.clone(), id.clone()));
                let used = (entry.snapshot.is_used(), entry.used);
                holdings.push(Holding { owner: owner.as_str(), bytes: entry.bytes, used, protected: false });
            }
        }
        let victims = victims(&holdings, (&tenant, need), room, |_| true);
        let victims = victims.ok_or(Error::ResourceExhausted { resource: "snapshot bytes", limit: room })?;
        Ok(victims.into_iter().filter_map(|index| self.remove(&which[index].0, &which[index].1, true)).collect())
    }

    /// Removes the least recently used cached snapshots, until at most `most` are left.
    fn forget_opened(&mut self, most: usize) -> Vec<Arc<S>> {
        if self.opened <= most {
            return Vec::new();
        }
        let mut opened: Vec<(u64, String, String)> = Vec::new();
        for (owner, tenant) in &self.tenants {
            let of_it = tenant.kept.iter().filter(|(_, entry)| entry.file.is_some());
            opened.extend(of_it.map(|(id, entry)| (entry.used, owner.clone(), id.clone())));
        }
        opened.sort();
        opened.truncate(self.opened - most);
        opened.into_iter().filter_map(|(_, tenant, id)| self.remove(&tenant, &id, false)).collect()
    }
}
