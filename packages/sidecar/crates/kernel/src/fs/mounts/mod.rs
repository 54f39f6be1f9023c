//! Folders of the host inside the guest's tree.
//!
//! A mount is a handle to one folder. Everything below it is opened relative to that handle and beneath it (`cap-std`), so neither `..` nor
//! a link nor a race with another process leads out. Links are never followed by the host: the walk reads them and goes on itself, within
//! the mount, or into another mount if that is where the link leads on the host; anywhere else is `EACCES`. Only regular files and
//! directories can be opened. Nothing is read before the guest asks for it. `/proc` is mounted here too, and is no folder (`proc/`).
//! Next: `walk.rs`, then `files.rs`.

mod change;
mod files;
mod snapshot;
mod traps;
mod walk;
mod watching;

pub(super) use files::OpenedSnapshot;
pub(crate) use files::{HostFile, HostFileSnapshot, How, Listing, ListingSnapshot};
pub(super) use snapshot::{Kind, MountSnapshot};
pub(super) use watching::{HostWatchSnapshot, HostWatchers};

use super::app_file_system::App;
use super::content::Content;
use super::node::{Body, Directory, MAX_NAME};
use super::proc::Proc;
use super::tree::{FileSystem, GUEST, User, now};
use super::walk::{Last, Name, Place, Side};
use crate::fs::options::FileSystemOptions;
use crate::fs::options::MountOptions;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use coldframe_error::Errno;
use coldframe_error::Error;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

/// One mounted folder.
pub(crate) struct Mount {
    source: Source,
    pub(super) read_only: bool,
    /// Changes are made in memory (`overlay.rs`).
    pub(super) overlay: bool,
    /// The directory in the guest that holds it, and its name there.
    pub(super) parent: Place,
    pub(super) name: Box<[u8]>,
    /// The guest's path of it as the caller gave it, without slashes at its end. `/proc` has none: no caller gives it.
    guest_path: Box<[u8]>,
    /// Mounts inside this one, by the path from its root.
    inner: parking_lot::RwLock<Vec<(Vec<u8>, usize)>>,
}

/// What is mounted.
enum Source {
    Folder {
        root: Dir,
        /// The folder's own path on the host, without links: what links on the host are compared with.
        host_path: Vec<u8>,
        /// The user whose files are the guest's.
        owner: u32,
    },
    /// `/proc`.
    Proc(Proc),
    /// A file system of the caller's.
    App(App),
}

impl Source {
    /// The folder of the host that the options name.
    fn folder(options: &MountOptions) -> Result<Self, Error> {
        let host = &options.host_path;
        let folder = std::fs::canonicalize(host).and_then(|path| Ok((Dir::open_ambient_dir(&path, ambient_authority())?, path)));
        let (root, path) = folder.map_err(|error| Error::InvalidRequest {
            what: "mounts.hostPath".to_owned(),
            expected: "a folder that can be opened".to_owned(),
            received: format!("{:?}: {error}", host.display().to_string()),
        })?;
        Ok(Self::Folder { root, host_path: path.into_os_string().into_vec(), owner: coldframe_sys::user_id() })
    }
}

/// A path without dots and without slashes that mean nothing.
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

/// A guest path by which mounts are told apart.
fn trimmed(guest_path: &str) -> &[u8] {
    guest_path.trim_end_matches('/').as_bytes()
}

impl Mount {
    /// `/proc`, in the directory `parent`.
    pub(super) fn of_proc(proc: Proc, parent: Place) -> Self {
        let (name, guest_path, inner) = (b"proc"[..].into(), Box::default(), parking_lot::RwLock::default());
        Self { source: Source::Proc(proc), read_only: true, overlay: false, parent, name, guest_path, inner }
    }

    pub(super) fn proc(&self) -> Option<&Proc> {
        if let Source::Proc(proc) = &self.source { Some(proc) } else { None }
    }

    /// The caller's file system, if it is one.
    pub(super) fn app(&self) -> Option<&App> {
        if let Source::App(app) = &self.source { Some(app) } else { None }
    }

    fn root(&self) -> Result<&Dir, Errno> {
        if let Source::Folder { root, .. } = &self.source { Ok(root) } else { Err(Errno::EROFS) }
    }

    fn host_path(&self) -> Option<&[u8]> {
        if let Source::Folder { host_path, .. } = &self.source { Some(host_path) } else { None }
    }
}

impl FileSystem {
    pub(super) fn mount(&self, number: usize) -> Result<&Arc<Mount>, Errno> {
        self.mounts.get(number).ok_or(Errno::ENOENT)
    }

    /// Mounts a folder; the directories above it are made if they are not there, and what lies at its place is hidden.
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
            inner: parking_lot::RwLock::default(),
        };
        let number = self.mounts.len();
        match &parent {
            // Its root is looked at below, when the mount is in the table.
            Place::Here(_) if options.overlay => {}
            Place::Here(parent) => self.put_mount(*parent, &name, Body::Mount(number)).map_err(wrong_place)?,
            Place::There(..) if options.overlay => return Err(wrong_place(Errno::EBUSY)),
            Place::There(outer, path) => {
                let at = if path.is_empty() { name.to_vec() } else { super::walk::join(path.clone(), &name) };
                self.mount(*outer).map_err(wrong_place)?.inner.write().push((at, number));
            }
        }
        self.mounts.push(Arc::new(mount));
        if let (true, Place::Here(parent)) = (options.overlay, &parent) {
            self.put_mount(*parent, &name, Self::overlay_root(number)).map_err(wrong_place)?;
        }
        Ok(())
    }

    /// Mounts a file system of the caller's.
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
            Place::Here(parent) => self.put_mount(*parent, &name, Body::Mount(place)).map_err(wrong_place)?,
            Place::There(outer, path) => {
                let at = if path.is_empty() { name.to_vec() } else { super::walk::join(path.clone(), &name) };
                self.mount(*outer).map_err(wrong_place)?.inner.write().push((at, place));
            }
        }
        let (source, inner) = (Source::App(App::new(*number)), parking_lot::RwLock::default());
        let guest_path = guest_path.into();
        self.mounts.push(Arc::new(Mount { source, read_only: *read_only, overlay: false, parent, name, guest_path, inner }));
        Ok(())
    }

    /// The directory that will hold the mount, and the name. No link leads there: rules of permissions are written for the path that the caller gives, and
    /// are asked about the one that the mount has.
    fn mount_point(&mut self, path: &[u8]) -> Result<(Place, Box<[u8]>), Errno> {
        let cut = path.iter().rposition(|byte| *byte == b'/').ok_or(Errno::EINVAL)?;
        let (holder, name) = (&path[..cut], &path[cut + 1..]);
        if path.first() != Some(&b'/') || name.is_empty() || name == b"." || name == b".." || name.len() > MAX_NAME {
            return Err(Errno::EINVAL);
        }
        let holder = if holder.is_empty() { b"/" } else { holder };
        self.make_directories(holder)?;
        let place = match self.place(User::Host, None, holder)? {
            Place::There(mount, path) if self.is_overlay(mount) => Place::Here(self.raise_path(mount, &path, &Content::new())?),
            place => place,
        };
        match &place {
            Place::Here(ino) => drop(self.directory(*ino)?),
            Place::There(mount, _) if self.mount(*mount)?.proc().is_some() => return Err(Errno::EBUSY),
            Place::There(..) => {}
        }
        if super::walk::join(self.path_of(&place)?, name) != plain(path) {
            return Err(Errno::ELOOP);
        }
        Ok((place, name.into()))
    }

    fn put_mount(&mut self, parent: u64, name: &[u8], body: Body) -> Result<(), Errno> {
        if let Some(&hidden) = self.directory(parent)?.names.get(name) {
            let is_mount = matches!(self.node(hidden)?.body, Body::Mount(_)) || self.is_overlay_root(hidden);
            if is_mount || !self.node(hidden)?.is_directory() {
                return Err(if is_mount { Errno::EBUSY } else { Errno::ENOTDIR });
            }
            self.node_mut(parent)?.meta.links -= 1;
        }
        let below = if let Body::Directory(directory) = &body { directory.below.clone() } else { None };
        let ino = self.add(body, 0o755, (GUEST, GUEST))?;
        self.enter(parent, name, ino)?;
        if let Some(below) = below {
            self.take_root(ino, &below)?;
        }
        self.node_mut(parent)?.meta.links += 1;
        Ok(())
    }

    /// Makes the directory `path` (absolute) and those above it that are not there; they belong to the guest. Below a mount it only looks.
    pub(crate) fn make_directories(&mut self, path: &[u8]) -> Result<(), Errno> {
        let ends = path.iter().enumerate().filter(|(at, byte)| **byte == b'/' && *at > 0).map(|(at, _)| at);
        let ends: Vec<usize> = ends.chain([path.len()]).collect();
        for end in ends {
            match self.walk(User::Host, None, &path[..end], Last::Follow)? {
                Side::Host(spot) if spot.stat.is_none() && self.is_overlay(spot.mount) => {
                    let holder = spot.path.iter().rposition(|byte| *byte == b'/').map_or(&[][..], |end| &spot.path[..end]);
                    self.raise_path(spot.mount, holder, &Content::new())?;
                    self.make_directories(&path[..end])?;
                }
                Side::Memory(spot) if spot.node.is_none() && matches!(spot.name, Name::Plain(_)) => {
                    self.create(User::Host, &spot, Body::Directory(Directory::new()), 0o755)?;
                }
                Side::Memory(spot) => {
                    self.directory(spot.existing()?)?;
                }
                Side::Host(spot) if spot.stat.is_none() => return Err(Errno::ENOENT),
                Side::Host(_) => {}
            }
        }
        Ok(())
    }
}

/// Host times are the present when the host does not know them.
fn or_now(time: Option<i64>) -> i64 {
    time.unwrap_or_else(now)
}
