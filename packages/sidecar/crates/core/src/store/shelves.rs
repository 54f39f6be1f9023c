//! Both places together: what is in memory, what is on disk, and which of them a caller means. Next: `memory.rs`, `folder.rs`, `content.rs`.
//!
//! An id means one snapshot and nothing else, a name the newest that has it, and eight or more digits of a digest the one that they fit. Every question has a
//! tenant, and every answer is of that tenant's snapshots alone.

use super::content::{Content, Source, encoded, retold};
use super::folder::{Folder, Found, Stamp};
use super::index::{Index, Known, is_absent};
use super::memory::{Kept, Memory};
use super::once::{Once, Work};
use super::subject::Subject;
use super::{DamagedSnapshot, Listing, SnapshotInfo, Stay, Stored, names};
use crate::core::Core;
use coldframe_error::Error;
use coldframe_ids::Digest;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Digits of a digest that are enough to ask by.
const DIGITS: usize = 8;

/// See the module.
pub(super) struct Shelves<S> {
    pub(super) core: Core,
    pub(super) memory: Memory<S>,
    pub(super) folder: Folder,
    index: Index,
    writes: Once,
}

/// A snapshot that is somewhere.
struct Somewhere {
    info: SnapshotInfo,
    digest: Option<Digest>,
    stored: Stored,
}

impl<S: Subject> Shelves<S> {
    pub(super) fn new(core: Core, memory_bytes: u64, folder: PathBuf, max_bytes: u64) -> Self {
        Self {
            core,
            memory: Memory::new(memory_bytes),
            folder: Folder::new(folder, max_bytes),
            index: Index::default(),
            writes: Once::default(),
        }
    }

    /// Writes a snapshot to disk, unless it is there.
    pub(super) fn write(&self, snapshot: &S, stay: Stay) -> Result<(), Error> {
        let info = snapshot.info();
        self.writes.join(&info.tenant, &info.id, Work::Write(stay), || self.write_now(snapshot, stay))
    }

    /// Writes one that is here to disk. One that is deleted meanwhile is not here.
    pub(super) fn persist(&self, tenant: &str, name: &str) -> Result<(), Error> {
        let id = self.id_of(tenant, name)?;
        self.writes.join(tenant, &id, Work::Write(Stay::No), || self.write_now(&*self.get(tenant, &id)?, Stay::No))
    }

    fn write_now(&self, snapshot: &S, stay: Stay) -> Result<(), Error> {
        let info = snapshot.info();
        let (tenant, id) = (&*info.tenant, &*info.id);
        if self.is_written(tenant, id) {
            return if stay == Stay::No { Ok(()) } else { self.protect(tenant, id, stay) };
        }
        let content = Content::of(&self.core, snapshot)?;
        let head = encoded(content.head())?;
        let len = head.len() as u64 + content.body_len();
        self.folder.write((tenant, id), len, stay, |file, path| {
            let written = file.write_all(&head).and_then(|()| content.write_body(file));
            written.map_err(|error| Error::snapshot_file(path, &error))
        })?;
        self.memory.learn(tenant, id, content.head().digest());
        Ok(())
    }

    /// The snapshot, from memory, or opened and checked.
    pub(super) fn get(&self, tenant: &str, name: &str) -> Result<Arc<S>, Error> {
        let id = self.id_of(tenant, name)?;
        let path = self.folder.file(tenant, &id);
        if let Some(kept) = self.memory.get(tenant, &id) {
            let Some(inode) = kept.file else { return Ok(kept.snapshot) };
            let is_it = |path: &&Path| path.symlink_metadata().is_ok_and(|meta| Stamp::of(&meta).inode == inode);
            if let Some(path) = path.as_deref().filter(is_it) {
                if let Ok(file) = std::fs::File::open(path) {
                    self.folder.touch(&file);
                }
                return Ok(kept.snapshot);
            }
            // Its file was removed or is another one now.
            self.memory.forget(tenant, &id);
        }
        let path = path.ok_or_else(|| not_found(name))?;
        let opened = match self.open(tenant, &id, &path) {
            Err(Error::ResourceExhausted { .. }) => {
                self.memory.forget_opened();
                self.open(tenant, &id, &path)
            }
            opened => opened,
        };
        if is_absent(&opened) { Err(not_found(name)) } else { opened }
    }

    fn open(&self, tenant: &str, id: &str, path: &Path) -> Result<Arc<S>, Error> {
        let source = Source::open_own(path, tenant, id)?;
        let (stamp, digest, state_len) = (Stamp::of(&source.meta), source.head.digest(), source.head.state_len);
        let used = source.file.try_clone();
        let snapshot: Arc<S> = source.assemble(&self.core, path).inspect_err(|error| {
            if matches!(error, Error::SnapshotDamaged { .. } | Error::SnapshotForeign { .. }) {
                self.index.mark(path, stamp, error);
            }
        })?;
        if let Ok(file) = used {
            self.folder.touch(&file);
        }
        // It is as good without being remembered.
        let _ = self.memory.keep(&snapshot, Some(digest), Some((stamp.inode, state_len)));
        Ok(snapshot)
    }

    /// What is known of a snapshot, and where it lies.
    pub(super) fn find(&self, tenant: &str, name: &str) -> Result<(SnapshotInfo, Stored), Error> {
        let id = self.id_of(tenant, name)?;
        let kept = self.kept(tenant, &id).map(|kept| kept.snapshot.info().clone());
        let known = self.known(tenant, &id);
        match (kept, known) {
            (Some(info), Some(Ok(_))) => Ok((info, Stored::Both)),
            (Some(info), _) => Ok((info, Stored::Memory)),
            (None, Some(known)) => known.map(|known| (known.info.clone(), Stored::Disk)),
            (None, None) => Err(not_found(name)),
        }
    }

    /// All of a tenant's, oldest first, and what is there and cannot be used.
    pub(super) fn list(&self, tenant: &str) -> Listing {
        let (all, damaged) = self.all(tenant);
        let mut all: Vec<_> = all.into_values().map(|one| (one.info, one.stored)).collect();
        all.sort_by(|(a, _), (b, _)| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        (all, damaged)
    }

    /// Deletes it everywhere. What is damaged too, by its id.
    pub(super) fn delete(&self, tenant: &str, name: &str) -> Result<(), Error> {
        let id = self.id_of(tenant, name)?;
        self.writes.after(tenant, &id, || {
            let on_disk = self.folder.file(tenant, &id).map_or(Ok(false), |path| self.folder.remove(&path))?;
            let in_memory = self.memory.forget(tenant, &id);
            if on_disk || in_memory { Ok(()) } else { Err(not_found(name)) }
        })
    }

    /// Says for how long a file stays when others need room.
    pub(super) fn protect(&self, tenant: &str, name: &str, stay: Stay) -> Result<(), Error> {
        let id = self.id_of(tenant, name)?;
        let path = self.folder.file(tenant, &id).ok_or_else(|| not_found(name))?;
        let source = Source::open_own(&path, tenant, &id);
        if is_absent(&source) {
            return Err(not_found(name));
        }
        self.folder.protect(&path, &source?.file, stay)
    }

    /// The digest of what a snapshot holds. Reads all of one that was never written.
    pub(super) fn digest(&self, tenant: &str, name: &str) -> Result<String, Error> {
        let id = self.id_of(tenant, name)?;
        self.digest_of(tenant, &id)?.map(|digest| digest.to_string()).ok_or_else(|| not_found(name))
    }

    fn digest_of(&self, tenant: &str, id: &str) -> Result<Option<Digest>, Error> {
        let known = self.known(tenant, id).transpose();
        if let Ok(Some(known)) = known {
            return Ok(Some(known.digest));
        }
        // What is in memory is good, whatever its file is.
        let Some(kept) = self.kept(tenant, id) else { return known.map(|_| None) };
        if kept.digest.is_some() {
            return Ok(kept.digest);
        }
        let digest = Content::of(&self.core, &*kept.snapshot)?.head().digest();
        self.memory.learn(tenant, id, digest);
        Ok(Some(digest))
    }

    /// Writes a snapshot to a file that any store can import. It does not say whose it was.
    pub(super) fn export(&self, tenant: &str, name: &str, path: &Path) -> Result<(), Error> {
        let snapshot = self.get(tenant, name)?;
        let id = &snapshot.info().id;
        // What is in memory is good, whatever its file is.
        if let Some(own) = self.folder.file(tenant, id).filter(|_| self.kept(tenant, id).is_none()) {
            let source = Source::open_own(&own, tenant, id);
            if !is_absent(&source) {
                let mut source = source?;
                let head = retold(&source.head, SnapshotInfo { tenant: String::new(), ..source.head.info.clone() })?;
                return super::aside::replace(path, |file, part| {
                    source.copy(&head, file).map_err(|error| Error::snapshot_file(part, &error))?;
                    // What is copied was not looked at: what was written is.
                    Source::open(part)?.assemble::<S>(&self.core, &own).map(drop)
                });
            }
        }
        let content = Content::of(&self.core, &*snapshot)?.of_nobody();
        let head = encoded(content.head())?;
        super::aside::replace(path, |file, part| {
            let written = file.write_all(&head).and_then(|()| content.write_body(file));
            written.map_err(|error| Error::snapshot_file(part, &error))
        })
    }

    /// Enters a file that was exported. It keeps its id; if that is here already with the same content, this is no error.
    pub(super) fn import(&self, tenant: &str, path: &Path) -> Result<(SnapshotInfo, Stored), Error> {
        let mut source = Source::open(path)?;
        source.check_image(&self.core)?;
        let id = source.head.info.id.clone();
        let head = retold(&source.head, SnapshotInfo { tenant: tenant.to_owned(), ..source.head.info.clone() })?;
        let len = head.len() as u64 + super::content::body_len(&source.head);
        self.writes.after(tenant, &id, || {
            // One that is damaged here is replaced.
            match self.digest_of(tenant, &id) {
                Ok(Some(digest)) if digest != source.head.digest() => return Err(Error::SnapshotExists { id: id.clone() }),
                Ok(Some(_)) if self.is_written(tenant, &id) => return Ok(()),
                Ok(_) | Err(_) => {}
            }
            self.folder.write((tenant, &id), len, Stay::No, |file, part| {
                source.copy(&head, file).map_err(|error| match error.kind() {
                    std::io::ErrorKind::UnexpectedEof => {
                        Error::SnapshotDamaged { path: path.display().to_string(), reason: "it became shorter".to_owned() }
                    }
                    _ => Error::snapshot_file(part, &error),
                })?;
                // The copy is checked: nobody else can change it.
                Source::open(part)?.assemble::<S>(&self.core, path).map(drop)
            })
        })?;
        self.find(tenant, &id)
    }

    /// Which snapshot is meant.
    fn id_of(&self, tenant: &str, name: &str) -> Result<String, Error> {
        let is_here = self.memory.get(tenant, name).is_some() || self.on_disk(tenant, name).is_some();
        if is_here {
            return Ok(name.to_owned());
        }
        let (all, damaged) = self.all(tenant);
        let newest = |fits: &dyn Fn(&Somewhere) -> bool| {
            let fitting = all.values().filter(|one| fits(one));
            fitting.max_by_key(|one| one.info.created_ms).map(|one| one.info.id.clone())
        };
        // One that is called as another's id is not meant.
        if let Some(id) = newest(&|one| one.info.name.as_deref() == Some(name)).filter(|_| !names::is_id(name)) {
            return Ok(id);
        }
        let digits = name.to_ascii_lowercase();
        if digits.len() >= DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let fits = |digest: &Digest| digest.to_string().starts_with(&digits);
            let mut digests: Vec<_> = all.values().filter_map(|one| one.digest).filter(fits).collect();
            digests.sort_unstable();
            digests.dedup();
            if let [digest] = digests[..] {
                return newest(&|one| one.digest == Some(digest)).ok_or_else(|| not_found(name));
            }
        }
        // A folder that cannot be read may have it.
        match damaged.into_iter().find(|one| one.id.is_empty()) {
            Some(folder) => Err(folder.error),
            None => Err(not_found(name)),
        }
    }

    /// All of a tenant's, by id.
    fn all(&self, tenant: &str) -> (BTreeMap<String, Somewhere>, Vec<DamagedSnapshot>) {
        let in_memory = self.memory.list(tenant).into_iter();
        let mut all: BTreeMap<String, Somewhere> =
            in_memory.map(|(info, digest)| (info.id.clone(), Somewhere { info, digest, stored: Stored::Memory })).collect();
        let found = match self.folder.list(tenant) {
            Ok(found) => found,
            Err(error) => return (all, vec![DamagedSnapshot::of(String::new(), self.folder.path().to_owned(), error)]),
        };
        let whose = names::of_tenant(tenant);
        let is_its = |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&whose));
        self.index.prune(&found, is_its);
        let mut damaged = Vec::new();
        for found in found {
            match self.index.look(&self.core, tenant, &found) {
                None => {}
                Some(Err(error)) => damaged.push(DamagedSnapshot::of(found.id, found.path, error)),
                Some(Ok(known)) => {
                    let disk = |known: &Known| Somewhere { info: known.info.clone(), digest: None, stored: Stored::Disk };
                    let one = all.entry(found.id).and_modify(|one| one.stored = Stored::Both).or_insert_with(|| disk(&known));
                    one.digest = Some(known.digest);
                }
            }
        }
        (all, damaged)
    }

    /// What is in memory for its own sake.
    fn kept(&self, tenant: &str, id: &str) -> Option<Kept<S>> {
        self.memory.get(tenant, id).filter(|kept| kept.file.is_none())
    }

    /// Whether its file is there and good, as far as anybody knows.
    fn is_written(&self, tenant: &str, id: &str) -> bool {
        self.known(tenant, id).is_some_and(|known| known.is_ok())
    }

    /// What the file of an id is, if there is one.
    fn known(&self, tenant: &str, id: &str) -> Option<Result<Arc<Known>, Error>> {
        self.index.look(&self.core, tenant, &self.on_disk(tenant, id)?)
    }

    fn on_disk(&self, tenant: &str, id: &str) -> Option<Found> {
        let path = self.folder.file(tenant, id)?;
        self.folder.sweep();
        let meta = std::fs::symlink_metadata(&path).ok()?;
        Some(Found { id: id.to_owned(), path, stamp: Stamp::of(&meta) })
    }
}

fn not_found(name: &str) -> Error {
    Error::SnapshotNotFound { snapshot: name.chars().take(200).collect() }
}
