//! The store with two layers: the memory, and the folder on disk. Next: `memory_layer.rs`,
//! `folder.rs`, `content.rs`.
//!
//! Requests name a snapshot by id, by name or by digest. An id names one snapshot. A name names its
//! newest snapshot. Eight or more first digits of a digest name the newest snapshot with this
//! digest, unless different digests begin with these digits. Every request has a tenant and reaches
//! the snapshots of that tenant only.

use super::atomic_replace::atomic_replace;
use super::content::{Content, Source, encoded, with_info};
use super::folder::{Folder, Found, Stamp};
use super::index::{Index, Indexed, is_absent};
use super::memory_layer::{Kept, MemoryLayer};
use super::single_flight::{Operation, SingleFlight};
use super::storable::Storable;
use super::threads::Threads;
use super::{DamagedSnapshot, Listing, Retention, SnapshotInfo, StoreOptions, Stored, names};
use crate::core::Core;
use crate::installation::Installation;
use coldframe_error::Error;
use coldframe_ids::Digest;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The smallest number of digits of a digest that names a snapshot.
const MIN_DIGITS: usize = 8;

/// A store of snapshots in memory and on disk. Cheap to clone.
pub struct LayeredStore<S> {
    pub(super) layers: Arc<Layers<S>>,
}

pub(super) struct Layers<S> {
    pub(super) installation: Arc<Installation>,
    pub(super) memory: MemoryLayer<S>,
    pub(super) folder: Folder,
    index: Index,
    writes: SingleFlight,
    threads: Arc<Threads>,
}

impl<S> Clone for LayeredStore<S> {
    fn clone(&self) -> Self {
        Self { layers: self.layers.clone() }
    }
}

/// A snapshot in either layer.
struct Located {
    info: SnapshotInfo,
    digest: Option<Digest>,
    stored: Stored,
}

impl<S: Storable> LayeredStore<S> {
    /// Makes the store. Accesses the disk only when the store is used.
    pub fn open(core: &Core, options: StoreOptions) -> Self {
        Self::new(core.installation().clone(), options.memory_bytes, options.folder(), options.max_bytes)
    }

    pub(super) fn new(installation: Arc<Installation>, memory_bytes: u64, folder: PathBuf, max_bytes: u64) -> Self {
        let layers = Layers {
            installation,
            memory: MemoryLayer::new(memory_bytes),
            folder: Folder::new(folder, max_bytes),
            index: Index::default(),
            writes: SingleFlight::default(),
            threads: Arc::default(),
        };
        Self { layers: Arc::new(layers) }
    }

    /// Runs `job` on one of the store's threads. All calls except [`Self::held`], [`Self::keep`]
    /// and [`Self::forget`] may wait for the disk.
    pub fn in_background(&self, job: impl FnOnce(&Self) + Send + 'static) {
        let this = self.clone();
        self.layers.threads.run(move || job(&this));
    }

    /// Returns the snapshot in memory that has this id, or otherwise the newest snapshot in memory
    /// that has this name. Never blocks.
    pub fn held(&self, tenant: &str, name: &str) -> Option<Arc<S>> {
        self.layers.memory.held(tenant, name)
    }

    /// Keeps a snapshot in memory. To free memory, the layer removes the least recently used
    /// snapshots of the tenant with the highest use.
    pub fn keep(&self, snapshot: &Arc<S>) -> Result<(), Error> {
        self.layers.memory.keep(snapshot, None, None)
    }

    /// Removes a snapshot from memory, by its id. A file on disk stays.
    pub fn forget(&self, tenant: &str, id: &str) {
        self.layers.memory.forget(tenant, id);
    }

    /// Writes a snapshot to disk. If the disk already has the snapshot, only changes the retention.
    /// After a failure, no part of the file exists. Concurrent calls for one snapshot with one
    /// retention share one write.
    pub fn write(&self, snapshot: &S, retention: Retention) -> Result<(), Error> {
        let info = snapshot.info();
        self.layers.writes.join(&info.tenant, &info.id, Operation::Write(retention), || self.write_now(snapshot, retention))
    }

    /// Writes the snapshot of an id, a name or a digest to disk.
    pub fn persist(&self, tenant: &str, name: &str) -> Result<(), Error> {
        let id = self.id_of(tenant, name)?;
        self.layers.writes.join(tenant, &id, Operation::Write(Retention::No), || {
            // The snapshot is looked up inside the operation, because a concurrent call may have
            // deleted the snapshot.
            self.write_now(&*self.get(tenant, &id)?, Retention::No)
        })
    }

    fn write_now(&self, snapshot: &S, retention: Retention) -> Result<(), Error> {
        let info = snapshot.info();
        let (tenant, id) = (&*info.tenant, &*info.id);
        if self.is_written(tenant, id) {
            return if retention == Retention::No { Ok(()) } else { self.protect(tenant, id, retention) };
        }
        let content = Content::of(&self.layers.installation, snapshot)?;
        let head = encoded(content.head())?;
        let len = head.len() as u64 + content.body_len();
        self.layers.folder.write((tenant, id), len, retention, |file, path| {
            let written = file.write_all(&head).and_then(|()| content.write_body(file));
            written.map_err(|error| Error::snapshot_file(path, &error))
        })?;
        self.layers.memory.set_digest(tenant, id, content.head().digest());
        Ok(())
    }

    /// Returns the snapshot of an id, a name or a digest, from memory or from its checked file.
    pub fn get(&self, tenant: &str, name: &str) -> Result<Arc<S>, Error> {
        let id = self.id_of(tenant, name)?;
        let path = self.layers.folder.file(tenant, &id);
        if let Some(kept) = self.layers.memory.get(tenant, &id) {
            let Some(inode) = kept.file else { return Ok(kept.snapshot) };
            let is_it = |path: &&Path| path.symlink_metadata().is_ok_and(|meta| Stamp::of(&meta).inode == inode);
            if let Some(path) = path.as_deref().filter(is_it) {
                if let Ok(file) = std::fs::File::open(path) {
                    self.layers.folder.touch(&file);
                }
                return Ok(kept.snapshot);
            }
            // The file was removed or replaced.
            self.layers.memory.forget(tenant, &id);
        }
        let path = path.ok_or_else(|| not_found(name))?;
        let opened = match self.read(tenant, &id, &path) {
            Err(Error::ResourceExhausted { .. }) => {
                self.layers.memory.forget_opened();
                self.read(tenant, &id, &path)
            }
            opened => opened,
        };
        if is_absent(&opened) { Err(not_found(name)) } else { opened }
    }

    fn read(&self, tenant: &str, id: &str, path: &Path) -> Result<Arc<S>, Error> {
        let source = Source::open_own(path, tenant, id)?;
        let (stamp, digest, state_len) = (Stamp::of(&source.meta), source.head.digest(), source.head.state_len);
        let used = source.file.try_clone();
        let snapshot: Arc<S> =
            source.assemble(&self.layers.installation, path).inspect_err(|error| self.mark(path, stamp, error))?;
        if let Ok(file) = used {
            self.layers.folder.touch(&file);
        }
        // The snapshot is usable even if the memory layer cannot keep it.
        let _ = self.layers.memory.keep(&snapshot, Some(digest), Some((stamp.inode, state_len)));
        Ok(snapshot)
    }

    /// Returns the facts about a snapshot, and the layers that have the snapshot.
    pub fn find(&self, tenant: &str, name: &str) -> Result<(SnapshotInfo, Stored), Error> {
        let id = self.id_of(tenant, name)?;
        let kept = self.kept(tenant, &id).map(|kept| kept.snapshot.info().clone());
        let indexed = self.indexed(tenant, &id);
        match (kept, indexed) {
            (Some(info), Some(Ok(_))) => Ok((info, Stored::Both)),
            (Some(info), _) => Ok((info, Stored::Memory)),
            (None, Some(indexed)) => indexed.map(|indexed| (indexed.info.clone(), Stored::Disk)),
            (None, None) => Err(not_found(name)),
        }
    }

    /// Returns a tenant's snapshots, oldest first, and the files that cannot be used.
    pub fn list(&self, tenant: &str) -> Listing {
        let (all, damaged) = self.all(tenant);
        let mut all: Vec<_> = all.into_values().map(|one| (one.info, one.stored)).collect();
        all.sort_by(|(a, _), (b, _)| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        (all, damaged)
    }

    /// Deletes a snapshot in memory and on disk. A damaged file is deleted by its id. Runtimes that
    /// were restored from the snapshot are not affected.
    pub fn delete(&self, tenant: &str, name: &str) -> Result<(), Error> {
        let id = self.id_of(tenant, name)?;
        self.layers.writes.after(tenant, &id, || {
            let on_disk = self.layers.folder.file(tenant, &id).map_or(Ok(false), |path| self.layers.folder.remove(&path))?;
            let in_memory = self.layers.memory.forget(tenant, &id);
            if on_disk || in_memory { Ok(()) } else { Err(not_found(name)) }
        })
    }

    /// Sets the retention of a snapshot on disk.
    pub fn protect(&self, tenant: &str, name: &str, retention: Retention) -> Result<(), Error> {
        let id = self.id_of(tenant, name)?;
        let path = self.layers.folder.file(tenant, &id).ok_or_else(|| not_found(name))?;
        let source = Source::open_own(&path, tenant, &id);
        if is_absent(&source) {
            return Err(not_found(name));
        }
        self.layers.folder.protect(&path, &source?.file, retention)
    }

    /// Returns the SHA-256 of a snapshot's content, in hex. Hashes a snapshot that was never
    /// written.
    pub fn digest(&self, tenant: &str, name: &str) -> Result<String, Error> {
        let id = self.id_of(tenant, name)?;
        self.digest_of(tenant, &id)?.map(|digest| digest.to_string()).ok_or_else(|| not_found(name))
    }

    fn digest_of(&self, tenant: &str, id: &str) -> Result<Option<Digest>, Error> {
        let indexed = self.indexed(tenant, id).transpose();
        if let Ok(Some(indexed)) = indexed {
            return Ok(Some(indexed.digest));
        }
        // A snapshot in memory is valid, regardless of its file.
        let Some(kept) = self.kept(tenant, id) else { return indexed.map(|_| None) };
        if kept.digest.is_some() {
            return Ok(kept.digest);
        }
        let digest = Content::of(&self.layers.installation, &*kept.snapshot)?.head().digest();
        self.layers.memory.set_digest(tenant, id, digest);
        Ok(Some(digest))
    }

    /// Writes a snapshot to a file that any store can import, and replaces an existing file. The
    /// file does not name the tenant.
    pub fn export(&self, tenant: &str, name: &str, path: &Path) -> Result<(), Error> {
        let id = self.id_of(tenant, name)?;
        // A snapshot in memory is valid, regardless of its file.
        if let Some(kept) = self.kept(tenant, &id) {
            let content = Content::of(&self.layers.installation, &*kept.snapshot)?.without_tenant();
            let head = encoded(content.head())?;
            return atomic_replace(path, |file| {
                let written = file.write_all(&head).and_then(|()| content.write_body(file));
                written.map_err(|error| Error::snapshot_file(path, &error))
            });
        }
        let own = self.layers.folder.file(tenant, &id).ok_or_else(|| not_found(name))?;
        let source = Source::open_own(&own, tenant, &id);
        if is_absent(&source) {
            return Err(not_found(name));
        }
        let source = source?;
        let head = with_info(&source.head, SnapshotInfo { tenant: String::new(), ..source.head.info.clone() })?;
        let (stamp, used) = (Stamp::of(&source.meta), source.file.try_clone());
        atomic_replace(path, |file| source.copy(&head, &self.layers.installation, (file, path), &own).map(drop))
            .inspect_err(|error| self.mark(&own, stamp, error))?;
        if let Ok(file) = used {
            self.layers.folder.touch(&file);
        }
        Ok(())
    }

    /// Remembers that the body of a file of the folder is damaged or foreign.
    fn mark(&self, path: &Path, stamp: Stamp, error: &Error) {
        if matches!(error, Error::SnapshotDamaged { .. } | Error::SnapshotForeign { .. }) {
            self.layers.index.mark(path, stamp, error);
        }
    }

    /// Checks an exported file and imports the snapshot to disk under its id. If the store already
    /// has a snapshot with this id, the import succeeds if the contents are equal, and otherwise
    /// fails.
    pub fn import(&self, tenant: &str, path: &Path) -> Result<(SnapshotInfo, Stored), Error> {
        let file = coldframe_sys::host_access().file(path).map_err(|error| Error::snapshot_file(path, &error))?;
        let source = Source::of(file, path)?;
        source.check_image(&self.layers.installation)?;
        let id = source.head.info.id.clone();
        let head = with_info(&source.head, SnapshotInfo { tenant: tenant.to_owned(), ..source.head.info.clone() })?;
        let len = head.len() as u64 + super::content::body_len(&source.head);
        let own = source.head.digest();
        self.layers.writes.after(tenant, &id, || {
            // A damaged file is replaced.
            match self.digest_of(tenant, &id) {
                Ok(Some(digest)) if digest != own => return Err(Error::SnapshotExists { id: id.clone() }),
                Ok(Some(_)) if self.is_written(tenant, &id) => return Ok(()),
                Ok(_) | Err(_) => {}
            }
            let mut opened = None;
            self.layers.folder.write((tenant, &id), len, Retention::No, |file, part| {
                let checked = source.copy(&head, &self.layers.installation, (file, part), path)?;
                // No other process can change the copy.
                let copy = std::fs::File::open(part).map_err(|error| Error::snapshot_file(part, &error))?;
                let copy = Source::of(copy, part)?;
                let origin = (Stamp::of(&copy.meta).inode, copy.head.state_len);
                opened = Some((copy.assemble_copy::<S>(&self.layers.installation, path, checked)?, origin));
                Ok(())
            })?;
            // The first restore then reads no byte again. The snapshot is usable even if the memory
            // layer cannot keep it.
            if let Some((snapshot, origin)) = opened {
                let _ = self.layers.memory.keep(&snapshot, Some(own), Some(origin));
            }
            Ok(())
        })?;
        self.find(tenant, &id)
    }

    /// Returns the id of the snapshot that a request names.
    fn id_of(&self, tenant: &str, name: &str) -> Result<String, Error> {
        let is_here = self.layers.memory.get(tenant, name).is_some() || self.on_disk(tenant, name).is_some();
        if is_here {
            return Ok(name.to_owned());
        }
        let (all, damaged) = self.all(tenant);
        let newest = |fits: &dyn Fn(&Located) -> bool| {
            let fitting = all.values().filter(|one| fits(one));
            fitting.max_by_key(|one| one.info.created_ms).map(|one| one.info.id.clone())
        };
        // A request in the form of an id is never a name.
        if let Some(id) = newest(&|one| one.info.name.as_deref() == Some(name)).filter(|_| !names::is_id(name)) {
            return Ok(id);
        }
        let digits = name.to_ascii_lowercase();
        if digits.len() >= MIN_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let fits = |digest: &Digest| digest.to_string().starts_with(&digits);
            let mut digests: Vec<_> = all.values().filter_map(|one| one.digest).filter(fits).collect();
            digests.sort_unstable();
            digests.dedup();
            if let [digest] = digests[..] {
                return newest(&|one| one.digest == Some(digest)).ok_or_else(|| not_found(name));
            }
        }
        // If the folder cannot be read, the snapshot may exist, so the folder's error is returned.
        match damaged.into_iter().find(|one| one.id.is_empty()) {
            Some(folder) => Err(folder.error),
            None => Err(not_found(name)),
        }
    }

    /// Returns all snapshots of a tenant, by id, and the files that cannot be used.
    fn all(&self, tenant: &str) -> (BTreeMap<String, Located>, Vec<DamagedSnapshot>) {
        let in_memory = self.layers.memory.list(tenant).into_iter();
        let mut all: BTreeMap<String, Located> =
            in_memory.map(|(info, digest)| (info.id.clone(), Located { info, digest, stored: Stored::Memory })).collect();
        let found = match self.layers.folder.list(tenant) {
            Ok(found) => found,
            Err(error) => return (all, vec![DamagedSnapshot::of(String::new(), self.layers.folder.path().to_owned(), error)]),
        };
        let prefix = names::of_tenant(tenant);
        let is_its = |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&prefix));
        self.layers.index.prune(&found, is_its);
        let mut damaged = Vec::new();
        for found in found {
            match self.layers.index.read(&self.layers.installation, tenant, &found) {
                None => {}
                Some(Err(error)) => damaged.push(DamagedSnapshot::of(found.id, found.path, error)),
                Some(Ok(indexed)) => {
                    let disk = |indexed: &Indexed| Located { info: indexed.info.clone(), digest: None, stored: Stored::Disk };
                    let one = all.entry(found.id).and_modify(|one| one.stored = Stored::Both).or_insert_with(|| disk(&indexed));
                    one.digest = Some(indexed.digest);
                }
            }
        }
        (all, damaged)
    }

    /// Returns a snapshot that the memory layer keeps and did not open from a file.
    fn kept(&self, tenant: &str, id: &str) -> Option<Kept<S>> {
        self.layers.memory.get(tenant, id).filter(|kept| kept.file.is_none())
    }

    /// Returns whether the snapshot's file exists without a known defect.
    fn is_written(&self, tenant: &str, id: &str) -> bool {
        self.indexed(tenant, id).is_some_and(|indexed| indexed.is_ok())
    }

    /// Returns the facts of the file of an id, if the file exists.
    fn indexed(&self, tenant: &str, id: &str) -> Option<Result<Arc<Indexed>, Error>> {
        self.layers.index.read(&self.layers.installation, tenant, &self.on_disk(tenant, id)?)
    }

    fn on_disk(&self, tenant: &str, id: &str) -> Option<Found> {
        let path = self.layers.folder.file(tenant, id)?;
        self.layers.folder.sweep();
        let meta = std::fs::symlink_metadata(&path).ok()?;
        Some(Found { id: id.to_owned(), path, stamp: Stamp::of(&meta) })
    }
}

fn not_found(name: &str) -> Error {
    Error::SnapshotNotFound { snapshot: name.chars().take(200).collect() }
}
