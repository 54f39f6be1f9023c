//! Overlay mounts: a folder of the host below, which is never written, and the sandbox's own changes above it.
//!
//! What nobody has changed is the mounted folder as it is, read-only (`host/`). Before something is changed it is *raised*: it and the directories
//! above it become nodes in memory, and from then on the call goes on as in memory, with its rules, its limits and its watchers. A raised
//! directory knows which folder lies below it and which of that folder's names are gone; other names that it does not have itself are looked
//! up there. So a directory can be renamed without touching what is in it, and no call but those that change something knows of any of this.
//!
//! ```text
//! memory:  /project ─► src ─► main.js (changed)         names that went: src/old.js
//!             │below    │below
//! host:    project ───► src ─► main.js, util.js (read as it is), old.js
//! ```
//!
//! A file that is raised gets a number of its own, and a descriptor that had it open for reading keeps the bytes below. Next: `host/`.

use super::content::Content;
use super::guard::Wanted;
use super::mounts::{How, Listing};
use super::node::{Body, Directory, Ino, Meta, Type};
use super::open::PIECE;
use super::stat::Stat;
use super::tree::{FileSystem, User};
use super::view::{Guard, View};
use super::walk::{Found, HostSpot, Last, Name, Place, Side};
use super::watch::Change;
use coldframe_error::Errno;
use rpds::RedBlackTreeSetSync;
use std::sync::Arc;

/// What lies under a raised directory.
#[derive(Clone)]
pub(crate) struct Below {
    /// The overlay's number, and the path from its root.
    pub(super) mount: usize,
    pub(super) path: Vec<u8>,
    /// Names that are not seen any more, whatever the host has under them. Each counts as an inode.
    pub(super) gone: RedBlackTreeSetSync<Box<[u8]>>,
}

/// How often a call begins anew because others changed what it was about to change.
const ATTEMPTS: usize = 16;

/// What of a path must be raised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Raise {
    /// What is there, or where it is to be made.
    Itself,
    /// The directory that holds the name.
    Holder,
}

/// Whether others may have changed the tree while something was raised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Raised {
    /// No.
    AtOnce,
    /// They may.
    Unlocked,
}

/// A path's holder and its last name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(end) => (&path[..end], &path[end + 1..]),
        None => (b"", path),
    }
}

impl Below {
    /// The root of an overlay.
    pub(super) fn root(mount: usize) -> Self {
        Self { mount, path: Vec::new(), gone: RedBlackTreeSetSync::new_sync() }
    }

    /// Inodes that count for it.
    pub(super) fn inodes(&self) -> u64 {
        self.gone.size() as u64
    }
}

impl FileSystem {
    pub(super) fn is_overlay(&self, mount: usize) -> bool {
        self.mounts.get(mount).is_some_and(|mount| mount.overlay)
    }

    /// Whether a directory is where an overlay is mounted.
    pub(super) fn is_overlay_root(&self, ino: Ino) -> bool {
        let at_root = |number: usize| self.raised.get(&(number, Box::default())) == Some(&ino);
        !self.raised.is_empty() && (0..self.mounts.len()).any(at_root)
    }

    /// The same place as it is by now: a directory of an overlay may have been raised since.
    pub(super) fn present(&self, place: Place) -> Place {
        let Place::There(mount, path) = place else { return place };
        if !self.is_overlay(mount) {
            return Place::There(mount, path);
        }
        match self.raised.get(&(mount, path.as_slice().into())) {
            Some(ino) => Place::Here(*ino),
            None => Place::There(mount, path),
        }
    }

    /// The raised directory that is nearest above a place of an overlay, and the path from there.
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

    /// Looks for a name that a raised directory does not have itself.
    pub(super) fn look_below(&self, directory: &Directory, name: &[u8]) -> Result<Option<Found>, Errno> {
        let Some(below) = &directory.below else { return Ok(None) };
        if below.gone.contains(name) {
            return Ok(None);
        }
        match self.mount(below.mount)?.look(below.mount, &below.path, name) {
            // The folder itself may have gone.
            Err(Errno::ENOENT | Errno::ENOTDIR) => Ok(None),
            found => found,
        }
    }

    /// Everything that a raised directory shows; none when nothing lies below it.
    pub(super) fn merged(&self, ino: Ino) -> Result<Option<Listing>, Errno> {
        let directory = self.directory(ino)?;
        let Some(below) = &directory.below else { return Ok(None) };
        let mut own = Vec::new();
        for (name, child) in &directory.names {
            own.push((name.to_vec(), self.node(*child)?.kind()));
        }
        let gone = below.gone.iter().map(|name| name.to_vec());
        self.mount(below.mount)?.list_under(&below.path, own, gone).map(Some)
    }

    /// Whether nothing is in a directory.
    pub(super) fn is_empty(&self, ino: Ino) -> Result<bool, Errno> {
        if !self.directory(ino)?.names.is_empty() {
            return Ok(false);
        }
        let Some(mut listing) = self.merged(ino)? else { return Ok(true) };
        Ok(listing.next()?.is_none())
    }

    /// A name has been taken out of a directory: what the host has under it must not come to light.
    pub(super) fn hide(&mut self, directory: Ino, name: &[u8]) -> Result<(), Errno> {
        let Some(below) = &self.directory(directory)?.below else { return Ok(()) };
        if below.gone.contains(name) || self.mount(below.mount)?.look(below.mount, &below.path, name)?.is_none() {
            return Ok(());
        }
        if let Body::Directory(Directory { below: Some(below), .. }) = &mut self.node_mut(directory)?.body {
            below.gone.insert_mut(name.into());
        }
        // Over the limit if need be: the host's folder bounds it, and removing must not fail halfway.
        self.used.inodes += 1;
        self.rose();
        Ok(())
    }

    /// The node of something in an overlay; it is made if there is none yet, and those of the directories above it. A file has `content`.
    pub(super) fn raise_path(&mut self, mount: usize, path: &[u8], content: &Content) -> Result<Ino, Errno> {
        let (mut at, rest) = self.nearest(mount, path)?;
        let names: Vec<&[u8]> = rest.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
        for (done, name) in names.iter().enumerate() {
            let Some(found) = self.look_below(self.directory(at)?, name)? else { return Err(Errno::ENOENT) };
            let Place::There(_, below) = found.place else { return Err(Errno::EBUSY) };
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
            // Sockets, pipes and devices of the host.
            _ => return Err(Errno::EACCES),
        };
        let ino = self.add(body, stat.mode & 0o1777, (stat.uid, stat.gid))?;
        let links = if stat.kind == Type::Directory { u32::try_from(stat.links).unwrap_or(u32::MAX).max(2) } else { 1 };
        let node = self.node_mut(ino)?;
        node.meta =
            Meta { links, atime: stat.atime, mtime: stat.mtime, ctime: stat.ctime, birthtime: stat.birthtime, ..node.meta };
        (node.parent, node.name) = (parent, Arc::from(name));
        // The directory does not change by this: it had the name before.
        if let Body::Directory(directory) = &mut self.node_mut(parent)?.body {
            directory.names.insert_mut(name.into(), ino);
        }
        if stat.kind == Type::Directory {
            self.raised.insert_mut((mount, path.into()), ino);
        }
        Ok(ino)
    }

    /// Whether the folder below is still what answers for a path: nobody has raised, replaced or removed it meanwhile.
    fn is_below(&self, mount: usize, path: &[u8]) -> Result<bool, Errno> {
        let (at, rest) = self.nearest(mount, path)?;
        let name = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
        let directory = self.directory(at)?;
        Ok(!name.is_empty() && !directory.names.contains_key(name) && self.look_below(directory, name)?.is_some())
    }

    /// `unlink` of what nobody has raised: only its name goes.
    pub(super) fn unlink_below(&mut self, user: User, spot: &HostSpot) -> Result<(), Errno> {
        let Name::Plain(name) = &spot.name else { return Err(Errno::EISDIR) };
        let stat = spot.stat.ok_or(Errno::ENOENT)?;
        if spot.slash {
            return Err(if stat.kind == Type::Directory { Errno::EISDIR } else { Errno::ENOTDIR });
        }
        if stat.kind == Type::Directory {
            return Err(Errno::EISDIR);
        }
        let holder = self.raise_path(spot.mount, split(&spot.path).0, &Content::new())?;
        self.may_remove_from(user, holder, stat.uid)?;
        self.hide(holder, name)?;
        self.touch(holder)?;
        self.tell_name(Change::Name, holder, name);
        Ok(())
    }

    /// Where a directory of an overlay begins in memory: for mounting one.
    pub(super) fn overlay_root(number: usize) -> Body {
        Body::Directory(Directory { below: Some(Box::new(Below::root(number))), ..Directory::new() })
    }

    /// A directory has become an overlay's root: it looks like the folder's.
    pub(super) fn take_root(&mut self, ino: Ino, below: &Below) -> Result<(), Errno> {
        let stat = self.mount(below.mount)?.stat(below.mount, b"")?;
        let meta = &mut self.node_mut(ino)?.meta;
        (meta.mode, meta.uid, meta.gid) = (stat.mode & 0o1777, stat.uid, stat.gid);
        (meta.atime, meta.mtime, meta.ctime) = (stat.atime, stat.mtime, stat.ctime);
        meta.links = u32::try_from(stat.links).unwrap_or(u32::MAX).max(2);
        self.raised.insert_mut((below.mount, Box::default()), ino);
        Ok(())
    }

    /// What is known of a place that something has open.
    pub(super) fn stat_of(&self, place: &Place) -> Result<Stat, Errno> {
        match self.present(place.clone()) {
            Place::Here(ino) => Ok(Stat::of(ino, self.node(ino)?)),
            Place::There(mount, path) => self.mount(mount)?.stat(mount, &path),
        }
    }
}

impl View<'_> {
    /// Walks to what a call is about to change. In an overlay it is raised first. Memory may be unlocked on the way, and so each walk asks
    /// whether what it has found may be changed.
    pub(super) fn walk_to(
        &self,
        tree: &mut Guard<'_>,
        path: &[u8],
        last: Last,
        wanted: Wanted,
        what: Raise,
    ) -> Result<Side, Errno> {
        let mut found = self.walk(tree, path, last, wanted)?;
        for _ in 0..ATTEMPTS {
            match found {
                // A call that makes a name finds one that is there: nothing is changed.
                Side::Host(spot) if tree.is_overlay(spot.mount) && (what == Raise::Itself || spot.stat.is_none()) => {
                    found = match raise(tree, &spot, what, true)? {
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

/// Makes what a call is about to change changeable. Whoever calls it walks again: while bytes were copied, all may have changed.
pub(super) fn raise(tree: &mut Guard<'_>, spot: &HostSpot, what: Raise, with_bytes: bool) -> Result<Raised, Errno> {
    let there = spot.stat.is_some() && what == Raise::Itself;
    if !there {
        return tree.raise_path(spot.mount, split(&spot.path).0, &Content::new()).map(|_| Raised::AtOnce);
    }
    if !with_bytes || spot.stat.is_none_or(|stat| stat.kind != Type::File) {
        return tree.raise_path(spot.mount, &spot.path, &Content::new()).map(|_| Raised::AtOnce);
    }
    let content = copy_up(tree, spot)?;
    // Counted already; from here on the node counts it.
    tree.underway -= content.stored();
    tree.give_back(content.stored(), 0);
    if tree.is_below(spot.mount, &spot.path)? {
        tree.raise_path(spot.mount, &spot.path, &content)?;
    }
    Ok(Raised::Unlocked)
}

/// The bytes of a file below. They are read while memory is not locked, so that however large it is nobody else waits; what has been read
/// is counted meanwhile.
fn copy_up(tree: &mut Guard<'_>, spot: &HostSpot) -> Result<Content, Errno> {
    let how = How { read: true, write: false, append: false, truncate: false, create: None };
    let file = tree.mount(spot.mount)?.open(spot.mount, &spot.path, how)?;
    let (mut content, mut buffer, mut at) = (Content::new(), vec![0; PIECE], 0);
    let copied = loop {
        if tree.must_stop() {
            break Err(Errno::EINTR);
        }
        let count = match Guard::unlocked_fair(tree, || file.read(at, &mut buffer)) {
            Ok(0) => break Ok(()),
            Ok(count) => count,
            Err(error) => break Err(error),
        };
        let room = tree.limits.bytes.saturating_sub(tree.used.bytes);
        let before = content.stored();
        let written = content.write(at, &buffer[..count], room);
        tree.used.bytes += content.stored() - before;
        tree.underway += content.stored() - before;
        if written < count {
            break Err(Errno::ENOSPC);
        }
        at += count as u64;
    };
    if copied.is_err() {
        tree.underway -= content.stored();
        tree.give_back(content.stored(), 0);
    }
    copied.map(|()| content)
}
