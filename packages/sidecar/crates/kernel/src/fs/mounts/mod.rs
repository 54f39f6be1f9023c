//! Mounts: folders of the host machine, app file systems, `/proc` and the standard library of
//! Python inside the guest's tree.
//!
//! A mounted folder is an open handle. All files below the folder are opened relative to the handle
//! and beneath the folder (`cap-std`). Therefore `..`, links and races with other processes cannot
//! lead out of the folder. If a link's target is in another mounted folder, the path walk continues
//! in that mount. A link to any other target outside the folder fails with `EACCES`. Only regular
//! files and directories can be opened. The kernel reads a folder only when a program or the
//! embedder requests a file. `/proc` is a mount without a folder (`proc/`). `/proc` and the library
//! are in every runtime, with the numbers 0 and 1.
//!
//! Next: `walk.rs`, then `files.rs`.

mod change;
mod files;
mod library;
mod snapshot;
mod traps;
mod walk;
mod watching;

pub(super) use files::OpenedAs;
pub(crate) use files::{HostFile, HostFileSnapshot, Listing, ListingSnapshot, OpenFlags};
pub use library::Library;
pub(super) use library::{LIBRARY, LIBRARY_PATH};
pub(super) use snapshot::{MountKind, MountSnapshot};
pub(super) use watching::{HostWatchSnapshot, HostWatchers};

use super::app_file_system::App;
use super::content::Content;
use super::node::{Body, Directory, Ino, MAX_NAME};
use super::proc::Proc;
use super::tree::{FileSystem, now};
use super::user::{Owner, User};
use super::walk::{FinalLink, Location, Name, PathEnd};
use crate::fs::options::FileSystemOptions;
use crate::fs::options::MountOptions;
use cap_std::fs::Dir;
use coldframe_error::Errno;
use coldframe_error::Error;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

/// A host directory, an app file system, `/proc` or the library of Python at a guest path.
pub(crate) struct Mount {
    source: Source,
    pub(super) read_only: bool,
    /// Whether changes are made in memory (`overlay.rs`).
    pub(super) overlay: bool,
    /// The directory of the mount point. `name` is the mount point's name in the directory.
    pub(super) parent: Location,
    pub(super) name: Box<[u8]>,
    /// The guest path from the embedder's options, without slashes at the end. Empty for `/proc`,
    /// which no option mounts.
    guest_path: Box<[u8]>,
    /// The mounts inside this mount, each with its path from this mount's root.
    inner: coldframe_panics::runtime::RwLock<Vec<(Vec<u8>, usize)>>,
}

/// The source of a mount's files.
enum Source {
    Folder {
        root: Dir,
        /// The folder's path on the host machine, without links. The path walk compares the targets
        /// of links with this path.
        host_path: Vec<u8>,
        /// The id of the host machine's user whose files the guest sees as the guest's own files.
        owner: u32,
    },
    /// `/proc`.
    Proc(Proc),
    /// An app file system.
    App(App),
    /// The standard library of Python. `None` if Python is not installed.
    Library(Option<library::LibraryFolder>),
}

impl Source {
    /// Opens the folder at the host path of `options`. Fails if the path is no folder that can be
    /// opened.
    fn folder(options: &MountOptions) -> Result<Self, Error> {
        let host = &options.host_path;
        let read_only = options.read_only || options.overlay;
        let folder = coldframe_sys::host_access().folder(host, read_only).map_err(|error| Error::InvalidRequest {
            what: "mounts.hostPath".to_owned(),
            expected: "a folder that can be opened".to_owned(),
            received: format!("{:?}: {error}", host.display().to_string()),
        })?;
        let (root, host_path) = (Dir::from_std_file(folder.file), folder.path.into_os_string().into_vec());
        Ok(Self::Folder { root, host_path, owner: coldframe_sys::user_id() })
    }
}

/// Removes `.`, `..` and repeated slashes from a path.
fn plain(path: &[u8]) -> Vec<u8> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.iter().flat_map(|name| [b"/", *name]).flatten().copied().collect()
}

/// Returns a guest path without slashes at the end. Mounts are identified by this path.
fn trimmed(guest_path: &str) -> &[u8] {
    guest_path.trim_end_matches('/').as_bytes()
}

impl Mount {
    /// Makes the mount of `/proc` in the directory `parent`.
    pub(super) fn of_proc(proc: Proc, parent: Location) -> Self {
        let (name, guest_path, inner) = (b"proc"[..].into(), Box::default(), coldframe_panics::runtime::RwLock::default());
        Self { source: Source::Proc(proc), read_only: true, overlay: false, parent, name, guest_path, inner }
    }

    pub(super) fn proc(&self) -> Option<&Proc> {
        if let Source::Proc(proc) = &self.source { Some(proc) } else { None }
    }

    /// Returns whether every runtime has this mount: `/proc` and the library of Python.
    pub(super) fn is_built_in(&self) -> bool {
        self.proc().is_some() || self.is_library()
    }

    /// Returns the app file system of the mount. Returns `None` for a mount of another kind.
    pub(super) fn app(&self) -> Option<&App> {
        if let Source::App(app) = &self.source { Some(app) } else { None }
    }

    fn root(&self) -> Result<&Dir, Errno> {
        match &self.source {
            Source::Folder { root, .. } => Ok(root),
            _ => self.library_root().unwrap_or(Err(Errno::EROFS)),
        }
    }

    /// Returns the path of the mounted folder on the host machine. Returns `None` for a mount of
    /// another kind.
    pub(super) fn host_path(&self) -> Option<&[u8]> {
        if let Source::Folder { host_path, .. } = &self.source { Some(host_path) } else { None }
    }
}

impl FileSystem {
    pub(super) fn mount(&self, number: usize) -> Result<&Arc<Mount>, Errno> {
        self.mounts.get(number).ok_or(Errno::ENOENT)
    }

    /// Mounts a folder. Creates missing directories above the mount point. A directory at the mount
    /// point is hidden. Fails if the folder cannot be opened, or if the guest path cannot be a
    /// mount point.
    pub(crate) fn add_mount(&mut self, options: &MountOptions) -> Result<(), Error> {
        let source = Source::folder(options)?;
        let wrong_place = |errno: Errno| Error::InvalidRequest {
            what: "mounts.guestPath".to_owned(),
            expected: "an absolute path below directories".to_owned(),
            received: format!("{:?}: {}", options.guest_path, errno.name()),
        };
        let guest_path = trimmed(&options.guest_path);
        let (parent, name) = self.mount_point(guest_path).map_err(wrong_place)?;
        let mount = Mount {
            source,
            guest_path: guest_path.into(),
            read_only: options.read_only || options.overlay,
            overlay: options.overlay,
            parent: parent.clone(),
            name: name.clone(),
            inner: coldframe_panics::runtime::RwLock::default(),
        };
        let number = self.mounts.len();
        match &parent {
            // The inode of an overlay's root is created below, after the mount is in the table.
            Location::Memory(_) if options.overlay => {}
            Location::Memory(parent) => self.put_mount(*parent, &name, Body::Mount(number)).map_err(wrong_place)?,
            Location::Mount(..) if options.overlay => return Err(wrong_place(Errno::EBUSY)),
            Location::Mount(outer, path) => {
                let at = if path.is_empty() { name.to_vec() } else { super::walk::join(path.clone(), &name) };
                self.mount(*outer).map_err(wrong_place)?.inner.write().push((at, number));
            }
        }
        self.mounts.push(Arc::new(mount));
        if let (true, Location::Memory(parent)) = (options.overlay, &parent) {
            self.put_mount(*parent, &name, Self::overlay_root(number)).map_err(wrong_place)?;
        }
        Ok(())
    }

    /// Mounts an app file system. Creates missing directories above the mount point. Fails if the
    /// guest path cannot be a mount point.
    pub(crate) fn add_file_system(&mut self, options: &FileSystemOptions) -> Result<(), Error> {
        let FileSystemOptions { guest_path, number, read_only } = options;
        let wrong_place = |errno: Errno| Error::InvalidRequest {
            what: "mounts.guestPath".to_owned(),
            expected: "an absolute path below directories".to_owned(),
            received: format!("{guest_path:?}: {}", errno.name()),
        };
        let guest_path = trimmed(guest_path);
        let (parent, name) = self.mount_point(guest_path).map_err(wrong_place)?;
        let place = self.mounts.len();
        match &parent {
            Location::Memory(parent) => self.put_mount(*parent, &name, Body::Mount(place)).map_err(wrong_place)?,
            Location::Mount(outer, path) => {
                let at = if path.is_empty() { name.to_vec() } else { super::walk::join(path.clone(), &name) };
                self.mount(*outer).map_err(wrong_place)?.inner.write().push((at, place));
            }
        }
        let (source, inner) = (Source::App(App::new(*number)), coldframe_panics::runtime::RwLock::default());
        let guest_path = guest_path.into();
        self.mounts.push(Arc::new(Mount { source, read_only: *read_only, overlay: false, parent, name, guest_path, inner }));
        Ok(())
    }

    /// Returns the directory and the name of a new mount point. Creates missing directories above.
    /// Fails with `ELOOP` if a link is on the path. Permission rules use the path of the options,
    /// and checks use the mount's real path.
    fn mount_point(&mut self, path: &[u8]) -> Result<(Location, Box<[u8]>), Errno> {
        let cut = path.iter().rposition(|byte| *byte == b'/').ok_or(Errno::EINVAL)?;
        let (holder, name) = (&path[..cut], &path[cut + 1..]);
        if path.first() != Some(&b'/') || name.is_empty() || name == b"." || name == b".." || name.len() > MAX_NAME {
            return Err(Errno::EINVAL);
        }
        let holder = if holder.is_empty() { b"/" } else { holder };
        self.make_directories(&User::EMBEDDER, holder)?;
        let place = match self.place(&User::EMBEDDER, None, holder)? {
            Location::Mount(mount, path) if self.is_overlay(mount) => {
                Location::Memory(self.raise_path(mount, &path, &Content::new())?)
            }
            place => place,
        };
        match &place {
            Location::Memory(ino) => drop(self.directory(*ino)?),
            Location::Mount(mount, _) if self.mount(*mount)?.is_built_in() => return Err(Errno::EBUSY),
            Location::Mount(..) => {}
        }
        if super::walk::join(self.path_of(&place)?, name) != plain(path) {
            return Err(Errno::ELOOP);
        }
        Ok((place, name.into()))
    }

    fn put_mount(&mut self, parent: Ino, name: &[u8], body: Body) -> Result<(), Errno> {
        if let Some(hidden) = self.directory(parent)?.names.get(name)? {
            let is_mount = matches!(self.node(hidden)?.body, Body::Mount(_)) || self.is_overlay_root(hidden);
            if is_mount || !self.node(hidden)?.is_directory() {
                return Err(if is_mount { Errno::EBUSY } else { Errno::ENOTDIR });
            }
            self.node_mut(parent)?.meta.links -= 1;
        }
        let below = if let Body::Directory(directory) = &body { directory.below.clone() } else { None };
        let ino = self.add(body, 0o755, Owner::GUEST)?;
        self.enter(parent, name, ino)?;
        if let Some(below) = below {
            self.take_root(ino, &below)?;
        }
        self.node_mut(parent)?.meta.links += 1;
        Ok(())
    }

    /// Creates the directory `path`, which must be absolute, and missing directories above. New
    /// directories belong to the user's owner. In a mount that is no overlay, a missing directory
    /// fails with `ENOENT`.
    pub(crate) fn make_directories(&mut self, user: &User, path: &[u8]) -> Result<(), Errno> {
        let ends = path.iter().enumerate().filter(|(at, byte)| **byte == b'/' && *at > 0).map(|(at, _)| at);
        let ends: Vec<usize> = ends.chain([path.len()]).collect();
        for end in ends {
            match self.walk(user, None, &path[..end], FinalLink::Follow)? {
                PathEnd::Mount(found) if found.stat.is_none() && self.is_overlay(found.mount) => {
                    let holder = found.path.iter().rposition(|byte| *byte == b'/').map_or(&[][..], |end| &found.path[..end]);
                    self.raise_path(found.mount, holder, &Content::new())?;
                    self.make_directories(user, &path[..end])?;
                }
                PathEnd::Memory(found) if found.node.is_none() && matches!(found.name, Name::Plain(_)) => {
                    self.create(user, &found, Body::Directory(Directory::new()), 0o755)?;
                }
                PathEnd::Memory(found) => {
                    self.directory(found.existing()?)?;
                }
                PathEnd::Mount(found) if found.stat.is_none() => return Err(Errno::ENOENT),
                PathEnd::Mount(_) => {}
            }
        }
        Ok(())
    }
}

/// Returns `time`, or the present time if the host machine has no time for the file.
fn or_now(time: Option<i64>) -> i64 {
    time.unwrap_or_else(now)
}
