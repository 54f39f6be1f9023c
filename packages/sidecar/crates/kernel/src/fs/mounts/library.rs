//! The standard library of Python: a folder of the installation that every runtime sees, read-only,
//! at [`LIBRARY_PATH`].
//!
//! The mount is the same object in all runtimes of a core, so a new runtime opens nothing. The
//! mount point is in the base tree, and the directory is empty if Python is not installed. All
//! files belong to root. All programs share the open file of the host machine. The library
//! therefore needs at most one descriptor for each of its files, and the limit on host files does
//! not apply.
//!
//! The permission policy does not apply to reads, because the library is a part of the installation
//! like the image. A snapshot stores only that the mount exists. Next: `files.rs`.

use super::super::base;
use super::super::node::Type;
use super::super::stat::{DEVICE, Stat};
use super::super::tree::FileSystem;
use super::super::user::ROOT_USER;
use super::super::walk::Location;
use super::walk::{kind_of, path};
use super::{HostFile, Mount, Source};
use crate::permissions::operations::{Operations, files};
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use coldframe_error::Errno;
use coldframe_panics::process::Mutex;
use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::{Arc, LazyLock, Weak};

/// The guest path of the library.
pub(in crate::fs) const LIBRARY_PATH: &str = "/usr/lib/python3.13";
/// The index of the library in the table of mounts.
pub(in crate::fs) const LIBRARY: usize = 1;
/// The mode of the library's directories and of its files.
const MODES: (u32, u32) = (0o555, 0o444);
/// The operations that the permission policy cannot deny in the library.
const READING: Operations = files::READ | files::STAT | files::READDIR | files::READLINK;

static MISSING: LazyLock<Library> = LazyLock::new(|| Library::of(None));

/// The standard library of Python, or its absence. Cheap to clone.
#[derive(Clone)]
pub struct Library(Arc<Mount>);

/// The folder of the library.
pub(super) struct LibraryFolder {
    root: Dir,
    /// The files that programs have open, by path.
    open: Mutex<HashMap<Box<[u8]>, Weak<File>>>,
}

impl Library {
    /// Returns the absent library of an installation without Python.
    pub fn missing() -> &'static Self {
        &MISSING
    }

    /// Opens the folder of the library.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(folder, cap_std::ambient_authority())?;
        Ok(Self::of(Some(LibraryFolder { root, open: Mutex::default() })))
    }

    fn of(folder: Option<LibraryFolder>) -> Self {
        let (parent, name) = base::library_place();
        Self(Arc::new(Mount {
            source: Source::Library(folder),
            read_only: true,
            overlay: false,
            parent: Location::Memory(parent),
            name: name.into(),
            guest_path: LIBRARY_PATH.as_bytes().into(),
            inner: coldframe_panics::runtime::RwLock::default(),
        }))
    }

    /// Returns the mount that all runtimes share.
    pub(in crate::fs) fn mount(&self) -> Arc<Mount> {
        self.0.clone()
    }
}

impl Mount {
    /// Returns whether this is the mount of the library, with or without a folder.
    pub(in crate::fs) fn is_library(&self) -> bool {
        matches!(self.source, Source::Library(_))
    }

    /// Returns whether this is the mount of the library, and Python is not installed.
    pub(in crate::fs) fn is_missing_library(&self) -> bool {
        matches!(self.source, Source::Library(None))
    }

    pub(super) fn library_root(&self) -> Option<Result<&Dir, Errno>> {
        let Source::Library(folder) = &self.source else { return None };
        Some(folder.as_ref().map(|folder| &folder.root).ok_or(Errno::ENOENT))
    }

    /// Returns the attributes that the guest sees instead of the attributes on the host machine.
    pub(super) fn as_library(&self, stat: Stat) -> Stat {
        let mode = if stat.kind == Type::Directory { MODES.0 } else { MODES.1 };
        Stat { mode, uid: ROOT_USER, gid: ROOT_USER, ..stat }
    }

    /// Returns the attributes of the mount point if Python is not installed.
    pub(super) fn stat_of_missing(&self, number: usize, at: &[u8]) -> Result<Stat, Errno> {
        if !at.is_empty() {
            return Err(Errno::ENOENT);
        }
        Ok(Stat {
            dev: DEVICE + 1 + number as u64,
            kind: Type::Directory,
            mode: MODES.0,
            links: 2,
            uid: ROOT_USER,
            gid: ROOT_USER,
            rdev: 0,
            ino: 1,
            size: 0,
            blocks: 0,
            atime: base::MADE,
            mtime: base::MADE,
            ctime: base::MADE,
            birthtime: base::MADE,
        })
    }

    /// Returns the names in a directory of the library.
    pub(super) fn list_library(&self, at: &[u8]) -> Result<Vec<(Vec<u8>, Type)>, Errno> {
        let Source::Library(Some(folder)) = &self.source else { return Ok(Vec::new()) };
        let of = |error: io::Error| Errno::of(&error);
        let entries = if at.is_empty() { folder.root.entries() } else { folder.root.read_dir(path(at)) }.map_err(of)?;
        let named = entries.map(|entry| {
            let entry = entry.map_err(of)?;
            Ok((entry.file_name().into_vec(), entry.file_type().map_or(Type::Unknown, kind_of)))
        });
        named.collect()
    }

    /// Opens a file of the library for reading.
    pub(in crate::fs) fn open_library(self: &Arc<Self>, number: usize, at: &[u8]) -> Result<HostFile, Errno> {
        let Source::Library(Some(folder)) = &self.source else { return Err(Errno::ENOENT) };
        let known = folder.open.lock().get(at).and_then(Weak::upgrade);
        let file = match known {
            Some(file) => file,
            None => folder.open_file(at)?,
        };
        Ok(HostFile::of_library(file, self.clone(), number, at))
    }
}

impl LibraryFolder {
    fn open_file(&self, at: &[u8]) -> Result<Arc<File>, Errno> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC);
        let file = self.root.open_with(path(at), &options).map_err(super::files::of)?;
        if !file.metadata().map_err(|error| Errno::of(&error))?.is_file() {
            return Err(Errno::EACCES);
        }
        let file = Arc::new(file);
        let mut open = self.open.lock();
        // Closed files are removed each time the list has doubled, so the work for each open is
        // constant on average.
        if open.len().is_power_of_two() {
            open.retain(|_, file| file.strong_count() > 0);
        }
        // Another thread may have opened the file meanwhile. Its descriptor is kept.
        if let Some(other) = open.get(at).and_then(Weak::upgrade) {
            return Ok(other);
        }
        open.insert(at.into(), Arc::downgrade(&file));
        Ok(file)
    }
}

impl FileSystem {
    /// Returns the operations of `operations` that the permission policy may deny at a place.
    pub(in crate::fs) fn deniable(place: &Location, operations: Operations) -> Operations {
        if matches!(place, Location::Mount(LIBRARY, _)) { operations & !READING } else { operations }
    }
}
