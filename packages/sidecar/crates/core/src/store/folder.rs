//! Snapshots on disk. One folder has one file for each snapshot. A file is complete or absent.
//!
//! ```text
//! lock                      locked to make, rename and remove files
//! TENANT.snap-ID.snapshot   a snapshot; TENANT is a hash. The modification time is the last use.
//!                           Mode 0400 protects the snapshot
//! needed                    has a locked byte for each file that a live process needs
//!                           (`needed_files.rs`)
//! snap-ID.TIME-SERIAL.part  written by the holder of its lock; if unlocked, its writer has ended
//! ```
//! Each snapshot is a file and not a folder, because a flush costs milliseconds. A file needs two
//! flushes: the bytes are flushed before the file is renamed, and the folder is flushed afterwards.
//! All tenants share one folder, because a new folder would cost a further flush.
//!
//! Several sidecars may share the folder. Files appear by rename and are never written in place.
//! Removing a file does not affect processes that have mapped it. Readers take no lock and expect
//! files to disappear. The locks are `flock`s, which the system releases whenever a process ends.
//! Next: `shares.rs`, which selects the files to remove; `content.rs`, the bytes of a file.

use super::Retention;
use super::faults::{Faults, Step};
use super::names::{self, PART};
use super::needed_files::NeededFiles;
use super::shares::{Holding, victims};
use coldframe_error::Error;
use coldframe_panics::process::Mutex;
use rustix::fs::{FlockOperation, Timespec, Timestamps, flock, futimens};
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest wait for a lock that another process holds. The holder removes and renames files,
/// and flushes nothing.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const LOCK: &str = "lock";
const WRITABLE: u32 = 0o600;
const PROTECTED: u32 = 0o400;

/// The folder of snapshots.
pub(super) struct Folder {
    path: PathBuf,
    room: u64,
    opened: Mutex<Option<OpenFolder>>,
    is_swept: AtomicBool,
    needed: NeededFiles,
    pub(super) faults: Faults,
}

struct OpenFolder {
    lock: File,
    folder: Arc<File>,
    /// The number of bytes of all snapshots, and the folder's modification time when the bytes were
    /// counted. If another process changes the folder, the folder's modification time differs, and
    /// the bytes are counted again.
    total: Option<(FolderTime, u64)>,
}

type FolderTime = (i64, i64);

/// A file whose name has the form of a snapshot's file name.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
}

/// The identity and the last use of a file. The stamp changes when the file is replaced or used.
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
    /// Makes the folder's object without disk access.
    pub(super) fn new(path: PathBuf, room: u64) -> Self {
        let needed = NeededFiles::new(&path);
        Self { path, room, opened: Mutex::default(), is_swept: AtomicBool::new(false), needed, faults: Faults::default() }
    }

    /// Returns the folder's path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a snapshot's file, which need not exist. Returns `None` if `id` has not
    /// the form of an id.
    pub(super) fn file(&self, tenant: &str, id: &str) -> Option<PathBuf> {
        names::of_file(tenant, id).map(|name| self.path.join(name))
    }

    /// Lists the files of a tenant, sorted by id.
    pub(super) fn list(&self, tenant: &str) -> Result<Vec<Found>, Error> {
        self.sweep();
        let owner = names::of_tenant(tenant);
        let mut found = Vec::new();
        self.scan(|name, entry| {
            if let Some((_, id)) = names::parse(name).filter(|(tenant, _)| *tenant == owner) {
                // A file that was removed since is not listed.
                let meta = std::fs::symlink_metadata(entry.path());
                found.extend(meta.map(|meta| Found { id: id.to_owned(), path: entry.path(), stamp: Stamp::of(&meta) }));
            }
        })?;
        found.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(found)
    }

    /// Writes a file of `len` bytes. Fails if the file does not fit into the folder's capacity.
    /// `fill` writes and checks the bytes. After a failure, no part of the file exists.
    pub(super) fn write(
        &self,
        (tenant, id): (&str, &str),
        len: u64,
        retention: Retention,
        fill: impl FnOnce(&mut File, &Path) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let path = self.file(tenant, id).ok_or_else(|| Error::SnapshotNotFound { snapshot: id.to_owned() })?;
        if len > self.room {
            return Err(self.full());
        }
        let (part, mut file) = self.locked(|opened| self.begin(opened, id))?;
        let failed = |error: io::Error| Error::snapshot_file(&part, &error);
        let write = || {
            fill(&mut file, &part)?;
            self.faults.at(Step::Write).inspect_err(|_| self.faults.tear(&file)).map_err(failed)?;
            if retention == Retention::Always {
                file.set_permissions(Permissions::from_mode(PROTECTED)).map_err(failed)?;
            }
            self.faults.at(Step::Sync).and_then(|()| file.sync_data()).map_err(failed)?;
            let folder = self.locked(|opened| {
                self.make_room(opened, tenant, len, &path)?;
                if retention == Retention::WhileOpen {
                    self.needed.hold(&path).map_err(|error| Error::snapshot_file(&path, &error))?;
                } else {
                    self.needed.release(&path);
                }
                self.changing(opened, len, || {
                    self.faults.at(Step::Rename)?;
                    std::fs::rename(&part, &path)
                })?;
                Ok(opened.folder.clone())
            })?;
            // The file's name must also be on disk.
            self.faults
                .at(Step::SyncFolder)
                .and_then(|()| folder.sync_all())
                .map_err(|error| Error::snapshot_file(&self.path, &error))
        };
        write().inspect_err(|_| {
            self.needed.release(&path);
            if !self.faults.is_dead() {
                let _ = std::fs::remove_file(&part);
                let is_it = std::fs::symlink_metadata(&path).and_then(|meta| Ok(meta.ino() == file.metadata()?.ino()));
                if is_it.unwrap_or(false) {
                    let _ = std::fs::remove_file(&path);
                }
            }
        })
    }

    /// Removes a file. Returns whether the file existed.
    pub(super) fn remove(&self, path: &Path) -> Result<bool, Error> {
        if let Err(error) = std::fs::symlink_metadata(path) {
            if !is_absent(&error) {
                return Err(Error::snapshot_file(path, &error));
            }
            self.needed.release(path);
            return Ok(false);
        }
        let removed = self.locked(|opened| {
            opened.total = None;
            let removed = match std::fs::remove_file(path) {
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => std::fs::remove_dir_all(path),
                removed => removed,
            };
            match removed {
                Ok(()) => Ok(Some(opened.folder.clone())),
                Err(error) if is_absent(&error) => Ok(None),
                Err(error) => Err(Error::snapshot_file(path, &error)),
            }
        })?;
        // A file that could not be removed stays needed.
        self.needed.release(path);
        let Some(folder) = removed else { return Ok(false) };
        // A deleted file must not reappear after a crash.
        folder.sync_all().map_err(|error| Error::snapshot_file(&self.path, &error))?;
        Ok(true)
    }

    /// Records the use of a file. An error is ignored, because snapshots in a read-only folder can
    /// be read.
    pub(super) fn touch(&self, file: &File) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = Timespec { tv_sec: now.as_secs() as i64, tv_nsec: i64::from(now.subsec_nanos()) };
        let _ = futimens(file, &Timestamps { last_access: now, last_modification: now });
    }

    /// Sets the retention of a file. The earlier retention applies until the change succeeds.
    pub(super) fn protect(&self, path: &Path, file: &File, retention: Retention) -> Result<(), Error> {
        let change = || match retention {
            Retention::Always => {
                file.set_permissions(Permissions::from_mode(PROTECTED))?;
                file.sync_all()?;
                self.needed.release(path);
                Ok(())
            }
            Retention::WhileOpen => {
                self.needed.hold(path)?;
                file.set_permissions(Permissions::from_mode(WRITABLE))
            }
            Retention::No => {
                self.needed.release(path);
                file.set_permissions(Permissions::from_mode(WRITABLE))
            }
        };
        change().map_err(|error| Error::snapshot_file(path, &error))
    }

    /// Removes the part files of ended writers, at the first use of the folder.
    pub(super) fn sweep(&self) {
        if !self.is_swept.swap(true, Ordering::Relaxed) && self.path.is_dir() {
            // The call fails for a read-only folder, whose snapshots can still be read.
            let _ = self.locked(|_| Ok(()));
        }
    }

    fn full(&self) -> Error {
        Error::ResourceExhausted { resource: "snapshot bytes", limit: self.room }
    }

    /// Calls `work` while no other thread or process changes the folder.
    fn locked<T>(&self, work: impl FnOnce(&mut OpenFolder) -> Result<T, Error>) -> Result<T, Error> {
        let mut opened = self.opened.lock();
        let found = match opened.take() {
            Some(found) => {
                self.acquire(&found.lock)?;
                // The folder may have been removed or replaced. Other processes then use another
                // lock.
                if is_file_at(&self.path.join(LOCK), &found.lock) { found } else { self.open()? }
            }
            None => self.open()?,
        };
        let found = opened.insert(found);
        let done = work(found);
        let _ = flock(&found.lock, FlockOperation::Unlock);
        done
    }

    /// Opens the folder, makes a missing folder, takes the lock, and removes the part files of
    /// ended writers.
    fn open(&self) -> Result<OpenFolder, Error> {
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
        Ok(OpenFolder { lock, folder: Arc::new(folder), total: None })
    }

    /// Makes the folder and its missing parents. The names of these folders must be on disk before
    /// the folder has files.
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
        let until = Instant::now() + LOCK_TIMEOUT;
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

    /// Makes a locked part file.
    fn begin(&self, opened: &mut OpenFolder, id: &str) -> Result<(PathBuf, File), Error> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let part = self.path.join(format!("{id}.{time:x}-{}{PART}", SERIAL.fetch_add(1, Ordering::Relaxed)));
        let mut made = None;
        let failed = |error: io::Error| Error::snapshot_file(&part, &error);
        self.changing(opened, 0, || {
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

    /// Runs a change that adds `len` bytes of snapshots, and updates the counted bytes.
    fn changing(&self, opened: &mut OpenFolder, len: u64, change: impl FnOnce() -> io::Result<()>) -> Result<(), Error> {
        let time = |opened: &OpenFolder| opened.folder.metadata().map(|meta| (meta.mtime(), meta.mtime_nsec()));
        let total = opened.total.take().filter(|(at, _)| time(opened).is_ok_and(|now| now == *at));
        change().map_err(|error| Error::snapshot_file(&self.path, &error))?;
        opened.total = total.and_then(|(_, total)| Some((time(opened).ok()?, total.saturating_add(len))));
        Ok(())
    }

    /// Removes files so that `len` bytes of `tenant` fit. An existing file at `path` is about to be
    /// replaced.
    fn make_room(&self, opened: &mut OpenFolder, tenant: &str, len: u64, path: &Path) -> Result<(), Error> {
        let time = opened.folder.metadata().map(|meta| (meta.mtime(), meta.mtime_nsec())).ok();
        if opened.total.is_some_and(|(at, total)| Some(at) == time && total.saturating_add(len) <= self.room) {
            return Ok(());
        }
        let (mut holdings, mut paths) = (Vec::new(), Vec::new());
        self.scan(|name, entry| {
            let Some((owner, _)) = names::parse(name).filter(|_| entry.path() != path) else { return };
            let Ok(meta) = std::fs::symlink_metadata(entry.path()) else { return };
            let (used, protected) = ((meta.mtime(), meta.mtime_nsec()), meta.mode() & 0o200 == 0);
            holdings.push(Holding { owner: owner.to_owned(), bytes: meta.len(), used, protected });
            paths.push(entry.path());
        })?;
        let owner = names::of_tenant(tenant);
        let is_needed = self.needed.check().map_err(|error| Error::snapshot_file(&self.path, &error))?;
        // If the check fails, the file counts as needed.
        let can_go = |index: usize| !is_needed(&paths[index]).unwrap_or(true);
        let victims = victims(&holdings, (&owner, len), self.room, can_go).ok_or_else(|| self.full())?;
        let mut total = holdings.iter().map(|one| one.bytes).sum::<u64>();
        for index in victims {
            match std::fs::remove_file(&paths[index]) {
                Ok(()) => total -= holdings[index].bytes,
                Err(error) if is_absent(&error) => total -= holdings[index].bytes,
                Err(error) => return Err(Error::snapshot_file(&paths[index], &error)),
            }
        }
        let time = opened.folder.metadata().map(|meta| (meta.mtime(), meta.mtime_nsec())).ok();
        opened.total = time.map(|time| (time, total));
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

/// Removes a part file whose lock is free.
fn remove_if_dead(path: &Path) {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    if file.is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()) {
        let _ = std::fs::remove_file(path);
    }
}

/// Returns whether `path` names `file` now.
pub(super) fn is_file_at(path: &Path, file: &File) -> bool {
    let of = |meta: Metadata| (meta.dev(), meta.ino());
    let present = std::fs::symlink_metadata(path).map(of);
    matches!((file.metadata().map(of), present), (Ok(own), Ok(present)) if own == present)
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}
