//! Snapshots on disk: one file each, in one folder, whole or not there at all.
//!
//! ```text
//! lock                                      who holds it may make, rename and remove files
//! TENANT.snap-ID.snapshot                   a snapshot; TENANT is a hash. Its modification time is when it was last used; mode 0400: it must stay
//! sleepers                                  a byte of it is locked for each file that must stay while a process lives (`sleepers.rs`)
//! snap-ID.TIME-SERIAL.part                  is being written by whoever holds its lock; nobody does: of one that died
//! ```
//! A file and not a folder for each, because a flush costs milliseconds and a file needs two: its bytes before it gets its name, then the folder. All
//! tenants are in one folder because a new one would cost another. Several sidecars may share it: files appear by rename, are never written in place,
//! and vanish by being removed, which harms nobody who has mapped them. Readers take no lock and expect files to vanish. The locks are `flock`s, which the system
//! releases when a process dies, however it dies. Next: `shares.rs`, which files make room; `content.rs`, what is in them.

use super::Stay;
use super::faults::{Faults, Step};
use super::names::{self, PART};
use super::shares::{Holding, victims};
use super::sleepers::Sleepers;
use coldframe_error::Error;
use parking_lot::Mutex;
use rustix::fs::{FlockOperation, Timespec, Timestamps, flock, futimens};
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long another process may hold the lock: it removes and renames meanwhile, and flushes nothing.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
const LOCK: &str = "lock";
const WRITABLE: u32 = 0o600;
const PROTECTED: u32 = 0o400;

/// See the module.
pub(super) struct Folder {
    path: PathBuf,
    room: u64,
    inside: Mutex<Option<Inside>>,
    is_swept: AtomicBool,
    sleepers: Sleepers,
    pub(super) faults: Faults,
}

struct Inside {
    lock: File,
    folder: Arc<File>,
    /// Bytes in all snapshots, and the folder's time when that was so: another process that changes something changes it.
    total: Option<(Changed, u64)>,
}

type Changed = (i64, i64);

/// A file that may be a snapshot.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
}

/// What is different when a file is another one, or was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) inode: u64,
    len: u64,
    used: (i64, i64),
}

impl Stamp {
    pub(super) fn of(meta: &Metadata) -> Self {
        Self { inode: meta.ino(), len: meta.len(), used: (meta.mtime(), meta.mtime_nsec()) }
    }
}

impl Folder {
    /// Nothing is touched.
    pub(super) fn new(path: PathBuf, room: u64) -> Self {
        let sleepers = Sleepers::new(&path);
        Self { path, room, inside: Mutex::default(), is_swept: AtomicBool::new(false), sleepers, faults: Faults::default() }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the file of a snapshot is or would be. `None`: that is no id.
    pub(super) fn file(&self, tenant: &str, id: &str) -> Option<PathBuf> {
        names::of_file(tenant, id).map(|name| self.path.join(name))
    }

    /// The files of a tenant.
    pub(super) fn list(&self, tenant: &str) -> Result<Vec<Found>, Error> {
        self.sweep();
        let whose = names::of_tenant(tenant);
        let mut found = Vec::new();
        self.scan(|name, entry| {
            if let Some((_, id)) = names::parse(name).filter(|(tenant, _)| *tenant == whose) {
                // One that has vanished meanwhile is not listed.
                let meta = std::fs::symlink_metadata(entry.path());
                found.extend(meta.map(|meta| Found { id: id.to_owned(), path: entry.path(), stamp: Stamp::of(&meta) }));
            }
        })?;
        found.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(found)
    }

    /// Writes a file of `len` bytes, if it fits. `fill` writes and checks them; when it fails, or anything else, nothing is left behind.
    pub(super) fn write(
        &self,
        (tenant, id): (&str, &str),
        len: u64,
        stay: Stay,
        fill: impl FnOnce(&mut File, &Path) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let path = self.file(tenant, id).ok_or_else(|| Error::SnapshotNotFound { snapshot: id.to_owned() })?;
        if len > self.room {
            return Err(self.full());
        }
        let (part, mut file) = self.locked(|inside| self.begin(inside, id))?;
        let failed = |error: io::Error| Error::snapshot_file(&part, &error);
        let write = || {
            fill(&mut file, &part)?;
            self.faults.at(Step::Write).inspect_err(|_| self.faults.tear(&file)).map_err(failed)?;
            if stay == Stay::Always {
                file.set_permissions(Permissions::from_mode(PROTECTED)).map_err(failed)?;
            }
            self.faults.at(Step::Sync).and_then(|()| file.sync_data()).map_err(failed)?;
            let folder = self.locked(|inside| {
                self.make_room(inside, tenant, len, &path)?;
                if stay == Stay::WhileOpen {
                    self.sleepers.hold(&path).map_err(|error| Error::snapshot_file(&path, &error))?;
                } else {
                    self.sleepers.let_go(&path);
                }
                self.changing(inside, len, || {
                    self.faults.at(Step::Rename)?;
                    std::fs::rename(&part, &path)
                })?;
                Ok(inside.folder.clone())
            })?;
            // The name must be on disk too.
            self.faults
                .at(Step::SyncFolder)
                .and_then(|()| folder.sync_all())
                .map_err(|error| Error::snapshot_file(&self.path, &error))
        };
        write().inspect_err(|_| {
            self.sleepers.let_go(&path);
            if !self.faults.is_dead() {
                let _ = std::fs::remove_file(&part);
                let is_it = std::fs::symlink_metadata(&path).and_then(|meta| Ok(meta.ino() == file.metadata()?.ino()));
                if is_it.unwrap_or(false) {
                    let _ = std::fs::remove_file(&path);
                }
            }
        })
    }

    /// Removes a file. Whether there was one.
    pub(super) fn remove(&self, path: &Path) -> Result<bool, Error> {
        if let Err(error) = std::fs::symlink_metadata(path) {
            if !is_absent(&error) {
                return Err(Error::snapshot_file(path, &error));
            }
            self.sleepers.let_go(path);
            return Ok(false);
        }
        let removed = self.locked(|inside| {
            inside.total = None;
            let removed = match std::fs::remove_file(path) {
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => std::fs::remove_dir_all(path),
                removed => removed,
            };
            match removed {
                Ok(()) => Ok(Some(inside.folder.clone())),
                Err(error) if is_absent(&error) => Ok(None),
                Err(error) => Err(Error::snapshot_file(path, &error)),
            }
        })?;
        // What could not be removed is needed as before.
        self.sleepers.let_go(path);
        let Some(folder) = removed else { return Ok(false) };
        // What was deleted must not come back.
        folder.sync_all().map_err(|error| Error::snapshot_file(&self.path, &error))?;
        Ok(true)
    }

    /// Records that a file was used now. A folder that cannot be written to is read all the same.
    pub(super) fn touch(&self, file: &File) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = Timespec { tv_sec: now.as_secs() as i64, tv_nsec: i64::from(now.subsec_nanos()) };
        let _ = futimens(file, &Timestamps { last_access: now, last_modification: now });
    }

    /// Says for how long a file must stay when room is needed. What held it before does so until that is settled.
    pub(super) fn protect(&self, path: &Path, file: &File, stay: Stay) -> Result<(), Error> {
        let change = || match stay {
            Stay::Always => {
                file.set_permissions(Permissions::from_mode(PROTECTED))?;
                file.sync_all()?;
                self.sleepers.let_go(path);
                Ok(())
            }
            Stay::WhileOpen => {
                self.sleepers.hold(path)?;
                file.set_permissions(Permissions::from_mode(WRITABLE))
            }
            Stay::No => {
                self.sleepers.let_go(path);
                file.set_permissions(Permissions::from_mode(WRITABLE))
            }
        };
        change().map_err(|error| Error::snapshot_file(path, &error))
    }

    /// At the first use of all: removes what writers left that have died.
    pub(super) fn sweep(&self) {
        if !self.is_swept.swap(true, Ordering::Relaxed) && self.path.is_dir() {
            // It may be a folder that nobody can write to.
            let _ = self.locked(|_| Ok(()));
        }
    }

    fn full(&self) -> Error {
        Error::ResourceExhausted { resource: "snapshot bytes", limit: self.room }
    }

    /// Calls `work` while no other thread or process changes the folder.
    fn locked<T>(&self, work: impl FnOnce(&mut Inside) -> Result<T, Error>) -> Result<T, Error> {
        let mut inside = self.inside.lock();
        let found = match inside.take() {
            Some(found) => {
                self.acquire(&found.lock)?;
                // The folder may have been removed, or moved away and made anew: others hold another lock there.
                if lies_at(&self.path.join(LOCK), &found.lock) { found } else { self.enter()? }
            }
            None => self.enter()?,
        };
        let found = inside.insert(found);
        let done = work(found);
        let _ = flock(&found.lock, FlockOperation::Unlock);
        done
    }

    /// Opens the folder, makes it if need be, takes the lock, and removes what dead writers left.
    fn enter(&self) -> Result<Inside, Error> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error: io::Error| Error::snapshot_file(&path, &error)
        };
        self.make()?;
        let folder = File::open(&self.path).map_err(failed(&self.path))?;
        let path = self.path.join(LOCK);
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(WRITABLE)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let lock = options.open(&path).map_err(failed(&path))?;
        self.acquire(&lock)?;
        self.scan(|name, entry| {
            if name.ends_with(PART) {
                remove_if_dead(&entry.path());
            }
        })?;
        Ok(Inside { lock, folder: Arc::new(folder), total: None })
    }

    /// Makes the folder, and those above it, if need be. Their names must be on disk before anything is in them.
    fn make(&self) -> Result<(), Error> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing: Vec<&Path> = self.path.ancestors().take_while(is_missing).collect();
        for path in missing.into_iter().rev() {
            match DirBuilder::new().mode(0o700).create(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                made => made.map_err(|error| Error::snapshot_file(path, &error))?,
            }
            let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let synced = self.faults.at(Step::SyncAbove).and_then(|()| File::open(above)?.sync_all());
            synced.map_err(|error| Error::snapshot_file(above, &error))?;
        }
        Ok(())
    }

    fn acquire(&self, lock: &File) -> Result<(), Error> {
        let until = Instant::now() + LOCK_PATIENCE;
        let mut pause = Duration::from_micros(100);
        loop {
            match flock(lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(()),
                Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < until => std::thread::sleep(pause),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Error::snapshot_file(&self.path.join(LOCK), &error.into())),
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// A new file to write to, locked.
    fn begin(&self, inside: &mut Inside, id: &str) -> Result<(PathBuf, File), Error> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let part = self.path.join(format!("{id}.{time:x}-{}{PART}", SERIAL.fetch_add(1, Ordering::Relaxed)));
        let mut made = None;
        let failed = |error: io::Error| Error::snapshot_file(&part, &error);
        self.changing(inside, 0, || {
            self.faults.at(Step::Create)?;
            let file = OpenOptions::new().read(true).write(true).create_new(true).mode(WRITABLE).open(&part)?;
            flock(&file, FlockOperation::NonBlockingLockExclusive).inspect_err(|_| {
                let _ = std::fs::remove_file(&part);
            })?;
            made = Some(file);
            Ok(())
        })?;
        made.map(|file| (part.clone(), file)).ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
    }

    /// Changes the folder by `change`, by which its snapshots grow by `len` bytes, and keeps the sum up to date.
    fn changing(&self, inside: &mut Inside, len: u64, change: impl FnOnce() -> io::Result<()>) -> Result<(), Error> {
        let time = |inside: &Inside| inside.folder.metadata().map(|meta| (meta.mtime(), meta.mtime_nsec()));
        let total = inside.total.take().filter(|(at, _)| time(inside).is_ok_and(|now| now == *at));
        change().map_err(|error| Error::snapshot_file(&self.path, &error))?;
        inside.total = total.and_then(|(_, total)| Some((time(inside).ok()?, total.saturating_add(len))));
        Ok(())
    }

    /// Removes what must go so that `len` bytes of `tenant` fit. `path` is about to be replaced, if it is there.
    fn make_room(&self, inside: &mut Inside, tenant: &str, len: u64, path: &Path) -> Result<(), Error> {
        let time = inside.folder.metadata().map(|meta| (meta.mtime(), meta.mtime_nsec())).ok();
        if inside.total.is_some_and(|(at, total)| Some(at) == time && total.saturating_add(len) <= self.room) {
            return Ok(());
        }
        let (mut holdings, mut paths) = (Vec::new(), Vec::new());
        self.scan(|name, entry| {
            let Some((whose, _)) = names::parse(name).filter(|_| entry.path() != path) else { return };
            let Ok(meta) = std::fs::symlink_metadata(entry.path()) else { return };
            let (used, protected) = ((meta.mtime(), meta.mtime_nsec()), meta.mode() & 0o200 == 0);
            holdings.push(Holding { whose: whose.to_owned(), bytes: meta.len(), used, protected });
            paths.push(entry.path());
        })?;
        let whose = names::of_tenant(tenant);
        let is_needed = self.sleepers.look().map_err(|error| Error::snapshot_file(&self.path, &error))?;
        // Where nobody can say whether it is needed, it is.
        let can_go = |index: usize| !is_needed(&paths[index]).unwrap_or(true);
        let gone = victims(&holdings, (&whose, len), self.room, can_go).ok_or_else(|| self.full())?;
        let mut total = holdings.iter().map(|one| one.bytes).sum::<u64>();
        for index in gone {
            match std::fs::remove_file(&paths[index]) {
                Ok(()) => total -= holdings[index].bytes,
                Err(error) if is_absent(&error) => total -= holdings[index].bytes,
                Err(error) => return Err(Error::snapshot_file(&paths[index], &error)),
            }
        }
        let time = inside.folder.metadata().map(|meta| (meta.mtime(), meta.mtime_nsec())).ok();
        inside.total = time.map(|time| (time, total));
        Ok(())
    }

    fn scan(&self, mut each: impl FnMut(&str, &std::fs::DirEntry)) -> Result<(), Error> {
        let failed = |error: io::Error| Error::snapshot_file(&self.path, &error);
        let entries = match std::fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if let Some(name) = entry.file_name().to_str() {
                each(name, &entry);
            }
        }
        Ok(())
    }
}

/// Removes a part that nobody holds the lock of.
fn remove_if_dead(path: &Path) {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    if file.is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()) {
        let _ = std::fs::remove_file(path);
    }
}

/// Whether an open file is the one that lies at `path` now.
pub(super) fn lies_at(path: &Path, file: &File) -> bool {
    let of = |meta: Metadata| (meta.dev(), meta.ino());
    let there = std::fs::symlink_metadata(path).map(of);
    matches!((file.metadata().map(of), there), (Ok(own), Ok(there)) if own == there)
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}
