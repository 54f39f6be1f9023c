//! Overlay mounts: a folder of the host machine that is read but never written. The runtime's
//! changes stay in memory.
//!
//! Unchanged files are read from the mounted folder (`mounts/`). Before a call changes a file, the
//! call *raises* the file: the file and the directories above it become inodes in memory. The call
//! then continues in memory, with the rules, limits and watchers of memory.
//!
//! A raised directory refers to its folder on the host machine and has a list of the folder's
//! removed names. Names that are not in the raised directory are looked up in the folder. A rename
//! of a raised directory therefore leaves the content unchanged. Path walks and listings combine a
//! raised directory with its folder.
//!
//! ```text
//! memory:  /project ─► src ─► main.js (changed)         removed names: src/old.js
//!             │below    │below
//! host:    project ───► src ─► main.js, util.js (unchanged), old.js
//! ```
//!
//! A raised file has a new inode number. A descriptor that was opened for reading before the raise
//! still reads the unchanged file. Next: `mounts/`.

use super::content::Content;
use super::guard::RequestedOperations;
use super::lock::Guard;
use super::mounts::{Listing, OpenFlags};
use super::node::{Body, Directory, Ino, Meta, Type};
use super::open::PIECE;
use super::stat::Stat;
use super::tree::FileSystem;
use super::user::{Owner, User};
use super::view::View;
use super::walk::{FinalLink, Found, Location, MountEnd, Name, PathEnd};
use super::watch::Change;
use crate::steps;
use coldframe_error::Errno;
use rpds::RedBlackTreeSetSync;
use std::sync::Arc;

/// The folder under a raised directory.
#[derive(Clone)]
pub(crate) struct Below {
    /// The overlay's number.
    pub(super) mount: usize,
    pub(super) path: Vec<u8>,
    /// The hidden names of the folder. Each name counts as an inode.
    pub(super) gone: RedBlackTreeSetSync<Box<[u8]>>,
}

/// The maximum number of times that a call raises a file again because other programs changed the
/// file.
const ATTEMPTS: usize = 16;

/// The part of a path that must be raised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Raise {
    /// The file at the path's end. If the file does not exist, the directory of the last name.
    Itself,
    /// The directory of the last name.
    Holder,
}

/// Whether another program may have changed the tree during a raise.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Raised {
    /// The tree stayed locked.
    AtOnce,
    /// The tree was unlocked during the raise.
    Unlocked,
}

/// Splits a path into its directory and its last name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(end) => (&path[..end], &path[end + 1..]),
        None => (b"", path),
    }
}

impl Below {
    /// Returns the folder of the root of the overlay `mount`, without hidden names.
    pub(super) fn root(mount: usize) -> Self {
        Self { mount, path: Vec::new(), gone: RedBlackTreeSetSync::new_sync() }
    }

    /// Returns the number of inodes that the hidden names count as.
    pub(super) fn inodes(&self) -> u64 {
        self.gone.size() as u64
    }
}

impl FileSystem {
    pub(super) fn is_overlay(&self, mount: usize) -> bool {
        self.mounts.get(mount).is_some_and(|mount| mount.overlay)
    }

    /// Returns whether a directory is the root of an overlay.
    pub(super) fn is_overlay_root(&self, ino: Ino) -> bool {
        let at_root = |number: usize| self.raised.get(&(number, Box::default())) == Some(&ino);
        !self.raised.is_empty() && (0..self.mounts.len()).any(at_root)
    }

    /// Returns the present location of a file. A directory of an overlay may have been raised since
    /// `place` was found.
    pub(super) fn present(&self, place: Location) -> Location {
        let Location::Mount(mount, path) = place else { return place };
        if !self.is_overlay(mount) {
            return Location::Mount(mount, path);
        }
        match self.raised.get(&(mount, path.as_slice().into())) {
            Some(ino) => Location::Memory(*ino),
            None => Location::Mount(mount, path),
        }
    }

    /// Returns the nearest raised directory above a location in an overlay, and the path from that
    /// directory.
    pub(super) fn nearest(&self, mount: usize, path: &[u8]) -> Result<(Ino, Vec<u8>), Errno> {
        let mut end = path.len();
        loop {
            if let Some(ino) = self.raised.get(&(mount, path[..end].into())) {
                let rest = path[end..].iter().copied().skip_while(|byte| *byte == b'/').collect();
                return Ok((*ino, rest));
            }
            if end == 0 {
                return Err(Errno::ENOENT);
            }
            end = path[..end].iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        }
    }

    /// Looks up a name in the folder of a raised directory. Returns `None` if the name is hidden or
    /// missing.
    pub(super) fn look_below(&self, directory: &Directory, name: &[u8]) -> Result<Option<Found>, Errno> {
        let Some(below) = &directory.below else { return Ok(None) };
        if below.gone.contains(name) {
            return Ok(None);
        }
        match self.mount(below.mount)?.look(below.mount, &below.path, name) {
            // The folder may have been removed on the host machine.
            Err(Errno::ENOENT | Errno::ENOTDIR) => Ok(None),
            found => found,
        }
    }

    /// Lists a raised directory together with its folder. Returns `None` if the directory has no
    /// folder.
    pub(super) fn merged(&self, ino: Ino) -> Result<Option<Listing>, Errno> {
        let directory = self.directory(ino)?;
        let Some(below) = &directory.below else { return Ok(None) };
        let mut own = Vec::new();
        // Between two parts of the listing, a file of the folder could become a file in memory. The
        // listing would then miss the file. The limit on inodes bounds the names.
        for (name, child) in directory.names.recorded() {
            own.push((name.to_vec(), self.node(child)?.kind()));
        }
        let gone = below.gone.iter().map(|name| name.to_vec());
        self.mount(below.mount)?.list_under(&below.path, own, gone).map(Some)
    }

    /// Returns whether a directory has no names, neither in memory nor in its folder on the host
    /// machine.
    pub(super) fn is_empty(&self, ino: Ino) -> Result<bool, Errno> {
        if !self.directory(ino)?.names.is_empty() {
            return Ok(false);
        }
        let Some(mut listing) = self.merged(ino)? else { return Ok(true) };
        Ok(listing.next()?.is_none())
    }

    /// Hides a name of a raised directory's folder, so that a removed file does not appear again.
    pub(super) fn hide(&mut self, directory: Ino, name: &[u8]) -> Result<(), Errno> {
        let Some(below) = &self.directory(directory)?.below else { return Ok(()) };
        if below.gone.contains(name) || self.mount(below.mount)?.look(below.mount, &below.path, name)?.is_none() {
            return Ok(());
        }
        if let Body::Directory(Directory { below: Some(below), .. }) = &mut self.node_mut(directory)?.body {
            below.gone.insert_mut(name.into());
        }
        // The count may exceed the limit, because a removal must not fail halfway. The number of
        // names in the folder bounds the excess.
        self.used.inodes += 1;
        self.update_marks();
        Ok(())
    }

    /// Returns the inode of a path in an overlay. Raises the file and its directories if they are
    /// not raised. A raised file has the content `content`.
    pub(super) fn raise_path(&mut self, mount: usize, path: &[u8], content: &Content) -> Result<Ino, Errno> {
        let (mut at, rest) = self.nearest(mount, path)?;
        let names: Vec<&[u8]> = rest.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
        for (done, name) in names.iter().enumerate() {
            let Some(found) = self.look_below(self.directory(at)?, name)? else { return Err(Errno::ENOENT) };
            let Location::Mount(_, below) = found.place else { return Err(Errno::EBUSY) };
            let is_last = done + 1 == names.len();
            if !is_last && found.kind != Type::Directory {
                return Err(Errno::ENOTDIR);
            }
            at = self.raise_one(at, name, mount, below, content)?;
        }
        Ok(at)
    }

    fn raise_one(&mut self, parent: Ino, name: &[u8], mount: usize, path: Vec<u8>, content: &Content) -> Result<Ino, Errno> {
        let source = self.mount(mount)?.clone();
        let stat = source.stat(mount, &path)?;
        let body = match stat.kind {
            Type::Directory => {
                let below = Below { mount, path: path.clone(), gone: RedBlackTreeSetSync::new_sync() };
                Body::Directory(Directory { below: Some(Box::new(below)), ..Directory::new() })
            }
            Type::Link => Body::Link(Arc::from(source.read_link(&path)?)),
            Type::File => Body::File(content.clone()),
            // Sockets, pipes and devices of the host machine cannot be raised.
            _ => return Err(Errno::EACCES),
        };
        let ino = self.add(body, stat.mode & 0o1777, Owner { uid: stat.uid, gid: stat.gid })?;
        let links = if stat.kind == Type::Directory { u32::try_from(stat.links).unwrap_or(u32::MAX).max(2) } else { 1 };
        let node = self.node_mut(ino)?;
        node.meta =
            Meta { links, atime: stat.atime, mtime: stat.mtime, ctime: stat.ctime, birthtime: stat.birthtime, ..node.meta };
        node.set_place(parent, Arc::from(name));
        // The directory's times stay unchanged, because the directory showed the name before.
        if let Body::Directory(directory) = &mut self.node_mut(parent)?.body {
            directory.names.insert(name, ino);
        }
        if stat.kind == Type::Directory {
            self.raised.insert_mut((mount, path.into()), ino);
        }
        Ok(ino)
    }

    /// Returns whether a path leads to a file in the folder. Returns false if the file was raised,
    /// replaced or removed.
    fn is_below(&self, mount: usize, path: &[u8]) -> Result<bool, Errno> {
        let (at, rest) = self.nearest(mount, path)?;
        let name = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
        let directory = self.directory(at)?;
        Ok(!name.is_empty() && directory.names.get(name)?.is_none() && self.look_below(directory, name)?.is_some())
    }

    /// Removes a file that is not raised, by hiding its name.
    pub(super) fn unlink_below(&mut self, user: &User, end: &MountEnd) -> Result<(), Errno> {
        let Name::Plain(name) = &end.name else { return Err(Errno::EISDIR) };
        let stat = end.stat.ok_or(Errno::ENOENT)?;
        if end.slash {
            return Err(if stat.kind == Type::Directory { Errno::EISDIR } else { Errno::ENOTDIR });
        }
        if stat.kind == Type::Directory {
            return Err(Errno::EISDIR);
        }
        let holder = self.raise_path(end.mount, split(&end.path).0, &Content::new())?;
        self.may_remove_from(user, holder, stat.uid)?;
        self.hide(holder, name)?;
        self.touch(holder)?;
        self.notify_name(Change::Removed, holder, name);
        Ok(())
    }

    /// Returns the inode body of an overlay's root.
    pub(super) fn overlay_root(number: usize) -> Body {
        Body::Directory(Directory { below: Some(Box::new(Below::root(number))), ..Directory::new() })
    }

    /// Copies the attributes of an overlay's folder to the overlay's root inode, and records the
    /// root as raised.
    pub(super) fn take_root(&mut self, ino: Ino, below: &Below) -> Result<(), Errno> {
        let stat = self.mount(below.mount)?.stat(below.mount, b"")?;
        let meta = &mut self.node_mut(ino)?.meta;
        (meta.mode, meta.uid, meta.gid) = (stat.mode & 0o1777, stat.uid, stat.gid);
        (meta.atime, meta.mtime, meta.ctime) = (stat.atime, stat.mtime, stat.ctime);
        meta.links = u32::try_from(stat.links).unwrap_or(u32::MAX).max(2);
        self.raised.insert_mut((below.mount, Box::default()), ino);
        Ok(())
    }

    /// Returns the attributes of an open directory, which may have been raised since the open.
    pub(super) fn stat_of(&self, place: &Location) -> Result<Stat, Errno> {
        match self.present(place.clone()) {
            Location::Memory(ino) => Ok(Stat::of(ino, self.node(ino)?)),
            Location::Mount(mount, path) => self.mount(mount)?.stat(mount, &path),
        }
    }
}

impl View<'_> {
    /// Resolves the path of a file that a call will change, and raises a file in an overlay. If the
    /// tree was unlocked during the raise, the permissions are checked again. Fails with `EBUSY`
    /// after [`ATTEMPTS`] raises.
    pub(super) fn walk_to(
        &self,
        tree: &mut Guard<'_>,
        path: &[u8],
        last: FinalLink,
        wanted: RequestedOperations,
        what: Raise,
    ) -> Result<PathEnd, Errno> {
        let mut found = self.walk(tree, path, last, wanted)?;
        for _ in 0..ATTEMPTS {
            match found {
                // A call that creates a name changes nothing if the name exists, so no raise is
                // needed.
                PathEnd::Mount(end) if tree.is_overlay(end.mount) && (what == Raise::Itself || end.stat.is_none()) => {
                    found = match raise(tree, &end, what, true)? {
                        Raised::AtOnce => self.walk_again(tree, path, last)?,
                        Raised::Unlocked => self.walk(tree, path, last, wanted)?,
                    };
                }
                side => return Ok(side),
            }
        }
        Err(Errno::EBUSY)
    }
}

/// Raises a file before a call changes the file. The caller must resolve the path again, because
/// the tree may have changed while the bytes were copied.
pub(super) fn raise(tree: &mut Guard<'_>, end: &MountEnd, what: Raise, with_bytes: bool) -> Result<Raised, Errno> {
    let there = end.stat.is_some() && what == Raise::Itself;
    if !there {
        return tree.raise_path(end.mount, split(&end.path).0, &Content::new()).map(|_| Raised::AtOnce);
    }
    if !with_bytes || end.stat.is_none_or(|stat| stat.kind != Type::File) {
        return tree.raise_path(end.mount, &end.path, &Content::new()).map(|_| Raised::AtOnce);
    }
    let content = copy_up(tree, end)?;
    // `copy_up` counted the bytes. The inode counts the bytes from now on, so `copy_up`'s count is
    // removed.
    tree.raising_bytes -= content.stored();
    tree.return_space(content.stored(), 0);
    if tree.is_below(end.mount, &end.path)? {
        tree.raise_path(end.mount, &end.path, &content)?;
    }
    Ok(Raised::Unlocked)
}

/// Reads the bytes of a file on the host machine. The tree is unlocked during each read, so that
/// calls of other programs do not wait for a large file. The bytes read so far count for the limit.
fn copy_up(tree: &mut Guard<'_>, end: &MountEnd) -> Result<Content, Errno> {
    let how = OpenFlags { read: true, write: false, append: false, truncate: false, create: None };
    let file = tree.mount(end.mount)?.open(end.mount, &end.path, how)?;
    let (mut content, mut buffer, mut at) = (Content::new(), vec![0; PIECE], 0);
    let copied = loop {
        let _piece = match steps::piece(tree.must_stop()) {
            Ok(piece) => piece,
            Err(error) => break Err(error),
        };
        let count = match Guard::unlocked_fair(tree, || file.read(at, &mut buffer)) {
            Ok(0) => break Ok(()),
            Ok(count) => count,
            Err(error) => break Err(error),
        };
        let room = tree.limits.bytes.saturating_sub(tree.used.bytes);
        let before = content.stored();
        let written = match content.write(at, &buffer[..count], room) {
            Ok(written) => written,
            Err(error) => break Err(error),
        };
        tree.used.bytes += content.stored() - before;
        tree.raising_bytes += content.stored() - before;
        if written < count {
            break Err(Errno::ENOSPC);
        }
        at += count as u64;
    };
    if copied.is_err() {
        tree.raising_bytes -= content.stored();
        tree.return_space(content.stored(), 0);
    }
    copied.map(|()| content)
}
