//! Access to the host machine's files and facts outside of the process's own folders.
//!
//! A process without a second wall opens a path itself ([`Direct`]). A process behind the wall asks
//! its broker: the crate `wall` installs the other implementation with [`set_host_access`]. The
//! callers are the mounts of the crate `kernel`, and the files that the crate `core` imports and
//! exports.

use crate::available_memory as own_available_memory;
use crate::edge_process::{EdgeProcess, start};
use rustix::fs::{Mode, OFlags, open};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// An open folder of the host machine.
#[derive(Debug)]
pub struct HostFolder {
    /// The folder's descriptor, for calls relative to the folder.
    pub file: File,
    /// The folder's path without links.
    pub path: PathBuf,
}

/// A new file that replaces the file at a path when the new file is complete. If the replacement is
/// dropped without a commit, the old file is unchanged.
pub trait Replacement: Send {
    /// Returns the new file, which is open for reading and writing.
    fn file(&mut self) -> &mut File;

    /// Replaces the file, and flushes the folder to the disk. The caller has flushed the bytes.
    fn commit(self: Box<Self>) -> io::Result<()>;
}

/// Opens what is outside of the process's own folders.
pub trait HostAccess: Send + Sync {
    /// Opens a folder that the embedder mounts.
    fn folder(&self, path: &Path, read_only: bool) -> io::Result<HostFolder>;

    /// Opens a file that the embedder imports. The open does not wait for the writer of a pipe.
    fn file(&self, path: &Path) -> io::Result<File>;

    /// Makes a new file beside the file that the embedder exports to. `suffix` is the end of the
    /// new file's name.
    fn replace(&self, path: &Path, suffix: &str) -> io::Result<Box<dyn Replacement>>;

    /// Returns the memory that the process can still allocate (`available_memory`).
    fn available_memory(&self) -> Option<u64>;

    /// Starts the process that opens connections out of runtimes. A broker ignores `program`, and
    /// starts the program that it knows since its own start.
    fn start_edge(&self, program: &Path) -> io::Result<EdgeProcess>;
}

static ACCESS: OnceLock<Box<dyn HostAccess>> = OnceLock::new();

/// Returns how this process reaches files outside of its own folders.
pub fn host_access() -> &'static dyn HostAccess {
    ACCESS.get().map_or(&Direct, |access| &**access)
}

/// Sets how this process reaches files outside of its own folders. Only the first call has an
/// effect.
pub fn set_host_access(access: Box<dyn HostAccess>) {
    let _ = ACCESS.set(access);
}

/// Opens paths in the calling process.
#[derive(Debug, Clone, Copy)]
pub struct Direct;

impl HostAccess for Direct {
    fn folder(&self, path: &Path, _read_only: bool) -> io::Result<HostFolder> {
        let path = std::fs::canonicalize(path)?;
        let file = open(&path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(HostFolder { file: file.into(), path })
    }

    fn file(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
    }

    fn replace(&self, path: &Path, suffix: &str) -> io::Result<Box<dyn Replacement>> {
        Ok(Box::new(PartFile::create(path, suffix)?))
    }

    fn available_memory(&self) -> Option<u64> {
        own_available_memory()
    }

    fn start_edge(&self, program: &Path) -> io::Result<EdgeProcess> {
        start(program)
    }
}

/// A part file beside its target.
#[derive(Debug)]
pub struct PartFile {
    file: File,
    part: PathBuf,
    path: PathBuf,
}

impl PartFile {
    /// Makes an empty part file beside `path`.
    pub fn create(path: &Path, suffix: &str) -> io::Result<Self> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        name.push(format!(".{}-{}{suffix}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed)));
        let part = folder_of(path).join(name);
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&part)?;
        Ok(Self { file, part, path: path.to_owned() })
    }
}

impl Replacement for PartFile {
    fn file(&mut self) -> &mut File {
        &mut self.file
    }

    fn commit(self: Box<Self>) -> io::Result<()> {
        // After the rename, the removal in `drop` finds no file.
        std::fs::rename(&self.part, &self.path)?;
        File::open(folder_of(&self.path))?.sync_all()
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.part);
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
