//! Adds archive entries to the tree, below one directory and in no other place.
//!
//! An absolute name, or a name that contains `..`, is refused. Links are created unchanged and
//! never followed: all names between the directory and the entry must be directories. An archive
//! therefore cannot create a link and then write through the link. An entry replaces a file of the
//! same name, as in tar. An existing directory stays, and only a directory's entry may have the
//! directory's name. Modes, times and owners of directories are set at the end. Otherwise a mode
//! could forbid new entries, and new entries would change the times. Next: `reader.rs`, which calls
//! this module; `import.rs`.

use super::super::node::{MAX_NAME, Type};
use super::super::open::{self, Opened};
use super::super::tree::now;
use super::super::user::Owner;
use super::super::view::View;
use super::Refusal;
use super::reader::{Entry, EntryKind, Failed, Sink};
use crate::arguments::MAX_PATH;
use coldframe_error::Errno;
use std::collections::BTreeMap;

const CREATE_NEW: u32 = 0o301;
const PERMISSIONS: u32 = 0o1777;
const NEW_DIRECTORY: u32 = 0o755;

/// The state of an import between two calls.
#[derive(Default)]
pub(super) struct Progress {
    /// The file whose data is being received.
    current: Option<(Vec<u8>, Opened)>,
    /// The modes, times and kept owners of directories, which are set at the end.
    directories: BTreeMap<Vec<u8>, DirectoryFacts>,
}

/// The mode, the time and the kept owner of a directory.
type DirectoryFacts = (u32, i64, Option<Owner>);

/// Adds the entries of one import to the tree.
pub(super) struct Unpacker<'u> {
    pub(super) view: &'u View<'u>,
    /// The directory's path without a slash at the end. Empty for the root.
    pub(super) base: &'u [u8],
    /// Whether each file has the owner in the archive.
    pub(super) keeps_owners: bool,
    pub(super) progress: &'u mut Progress,
}

fn refuse<T>(entry: &Entry, reason: impl Into<String>) -> Result<T, Failed> {
    Err(Failed::Archive(Refusal::new(&entry.path, reason)))
}

fn failed<'p>(call: &'static str, path: &'p [u8]) -> impl Fn(Errno) -> Failed + 'p {
    move |errno| Failed::File(errno, call, path.to_vec())
}

impl Unpacker<'_> {
    /// Returns the names of an entry's path. Fails for an absolute path and for a path with `..`.
    fn names<'p>(&self, entry: &Entry, path: &'p [u8]) -> Result<Vec<&'p [u8]>, Failed> {
        if path.first() == Some(&b'/') {
            return refuse(entry, "it has an absolute name");
        }
        if path.contains(&0) {
            return refuse(entry, "its name has a NUL in it");
        }
        let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".").collect();
        if names.contains(&&b".."[..]) {
            return refuse(entry, "its name has '..' in it");
        }
        if self.base.len() + path.len() > MAX_PATH || names.iter().any(|name| name.len() > MAX_NAME) {
            return Err(Failed::File(Errno::ENAMETOOLONG, "open", path.to_vec()));
        }
        Ok(names)
    }

    /// Returns the path of `names` in the tree. Fails unless all names except the last are
    /// directories. If `make` is set, missing directories are created.
    fn place(&self, entry: &Entry, names: &[&[u8]], make: bool) -> Result<Vec<u8>, Failed> {
        let mut path = self.base.to_vec();
        for (done, name) in names.iter().enumerate() {
            path.push(b'/');
            path.extend_from_slice(name);
            if done + 1 == names.len() {
                break;
            }
            match self.view.stat(&path, false) {
                Ok(stat) if stat.kind == Type::Directory => {}
                Ok(_) => return refuse(entry, "its parent is a link or a file, not a directory"),
                Err(Errno::ENOENT) if make => self.view.mkdir(&path, NEW_DIRECTORY).map_err(failed("mkdir", &path))?,
                Err(errno) => return Err(failed("stat", &path)(errno)),
            }
        }
        Ok(path)
    }

    /// Removes an existing file that has the entry's path. Fails if a directory has the path.
    fn make_room(&self, entry: &Entry, path: &[u8]) -> Result<(), Failed> {
        match self.view.stat(path, false) {
            Ok(stat) if stat.kind == Type::Directory => refuse(entry, "a directory has its name"),
            Ok(_) => self.view.unlink(path).map_err(failed("unlink", path)),
            Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(failed("stat", path)(errno)),
        }
    }

    fn make_directory(&mut self, entry: &Entry, path: Vec<u8>) -> Result<(), Failed> {
        match self.view.stat(&path, false) {
            Ok(stat) if stat.kind == Type::Directory => {}
            Ok(_) => return refuse(entry, "a file or a link has its name"),
            Err(Errno::ENOENT) => self.view.mkdir(&path, NEW_DIRECTORY).map_err(failed("mkdir", &path))?,
            Err(errno) => return Err(failed("stat", &path)(errno)),
        }
        let owner = self.kept_owner(entry)?;
        self.set_attributes(&path, entry)?;
        self.progress.directories.insert(path, (entry.mode & PERMISSIONS, entry.mtime, owner));
        Ok(())
    }

    /// Returns the owner that the entry keeps, if the import keeps owners.
    fn kept_owner(&self, entry: &Entry) -> Result<Option<Owner>, Failed> {
        match entry.owner {
            _ if !self.keeps_owners => Ok(None),
            None => refuse(entry, "its owner is no number of a user and a group"),
            owner => Ok(owner),
        }
    }

    /// Sets the kept owner of a file. A mount has fixed owners.
    fn chown(&self, path: &[u8], owner: Option<Owner>) -> Result<(), Failed> {
        let Some(Owner { uid, gid }) = owner else { return Ok(()) };
        match self.view.chown(path, Some(uid), Some(gid), false) {
            Ok(()) | Err(Errno::EPERM | Errno::EROFS | Errno::ENOENT) => Ok(()),
            Err(errno) => Err(failed("chown", path)(errno)),
        }
    }

    /// Sets the attributes `user.*` of an entry. Attributes of Linux's other namespaces are
    /// ignored, and a mount has no attributes.
    fn set_attributes(&self, path: &[u8], entry: &Entry) -> Result<(), Failed> {
        for (name, value) in &entry.attributes {
            match self.view.set_attribute(path, name, value, 0, false) {
                Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOENT) => {}
                Err(errno) => return Err(failed("setxattr", path)(errno)),
            }
        }
        Ok(())
    }

    /// Sets the modes, times and kept owners of directories, at the end of the archive.
    pub(super) fn finish(&mut self) -> Result<(), Failed> {
        // Reverse order sets deeper directories first.
        for (path, (mode, mtime, owner)) in std::mem::take(&mut self.progress.directories).into_iter().rev() {
            self.chown(&path, owner)?;
            let set = self.view.chmod(&path, mode, false).and_then(|()| self.view.utimes(&path, now(), mtime, false));
            match set {
                // A program may have removed the directory after the directory was unpacked.
                Ok(()) | Err(Errno::ENOENT) => {}
                Err(errno) => return Err(failed("chmod", &path)(errno)),
            }
        }
        Ok(())
    }

    /// Closes and removes the file whose data is incomplete, if there is such a file.
    pub(super) fn give_up(&mut self) {
        if let Some((path, opened)) = self.progress.current.take() {
            opened.release(&mut self.view.lock());
            // The file may already be removed.
            let _ = self.view.unlink(&path);
        }
    }
}

impl Sink for Unpacker<'_> {
    fn begin(&mut self, entry: &Entry) -> Result<(), Failed> {
        let names = self.names(entry, &entry.path)?;
        if names.is_empty() {
            if entry.kind != EntryKind::Directory {
                return refuse(entry, "it has no name");
            }
            // The entry names the import's directory, which exists.
            let path = if self.base.is_empty() { b"/" } else { self.base };
            let owner = self.kept_owner(entry)?;
            self.progress.directories.insert(path.to_vec(), (entry.mode & PERMISSIONS, entry.mtime, owner));
            return Ok(());
        }
        let path = self.place(entry, &names, true)?;
        if entry.kind == EntryKind::Directory {
            return self.make_directory(entry, path);
        }
        let original = match entry.kind {
            EntryKind::HardLink => Some(self.place(entry, &self.names(entry, &entry.link)?, false)?),
            _ => None,
        };
        if original.as_ref() == Some(&path) {
            return refuse(entry, "it is a hard link to itself");
        }
        let owner = self.kept_owner(entry)?;
        self.make_room(entry, &path)?;
        match (entry.kind, original) {
            (EntryKind::Symlink, _) => {
                self.view.symlink(&entry.link, &path).map_err(failed("symlink", &path))?;
                self.chown(&path, owner)
            }
            (_, Some(original)) => self.view.link(&original, &path).map_err(failed("link", &original)),
            _ => {
                let mut tree = self.view.lock();
                let opened = open::find(&mut tree, self.view, &path, CREATE_NEW, entry.mode & PERMISSIONS);
                let opened = opened.map_err(failed("open", &path))?;
                if let (Opened::Memory(ino), Some(Owner { uid, gid })) = (&opened, owner) {
                    tree.chown(&self.view.user, *ino, Some(uid), Some(gid)).map_err(failed("chown", &path))?;
                }
                opened.hold(&mut tree);
                drop(tree);
                self.progress.current = Some((path, opened));
                Ok(())
            }
        }
    }

    fn data(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Failed> {
        let Some((path, opened)) = &self.progress.current else { return Ok(()) };
        let mut tree = self.view.lock();
        let mut done = 0;
        while done < bytes.len() {
            done += opened.write(&mut tree, offset + done as u64, &bytes[done..]).map_err(failed("write", path))?;
        }
        Ok(())
    }

    fn end(&mut self, entry: &Entry) -> Result<(), Failed> {
        let Some((path, opened)) = self.progress.current.take() else {
            if entry.kind == EntryKind::Symlink {
                let path = self.place(entry, &self.names(entry, &entry.path)?, false)?;
                // Some filesystems cannot set the times of a link.
                let _ = self.view.utimes(&path, now(), entry.mtime, false);
            }
            return Ok(());
        };
        let mut tree = self.view.lock();
        let sized = match opened.size(&tree) {
            Ok(size) if size != entry.size => opened.truncate(&mut tree, entry.size),
            sized => sized.map(drop),
        };
        opened.release(&mut tree);
        drop(tree);
        sized.map_err(failed("ftruncate", &path))?;
        self.set_attributes(&path, entry)?;
        match self.view.utimes(&path, now(), entry.mtime, false) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(failed("utime", &path)(errno)),
        }
    }
}
