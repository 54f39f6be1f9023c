//! Checks a filesystem snapshot that was read from bytes. The bytes can be hostile. A snapshot is
//! valid only if a runtime can reach the state. The other code of the kernel relies on the checks:
//! path walks end, every named inode exists, and the counters match the inodes. Next: `../tree.rs`.

use super::FilesSnapshot;
use crate::fs::base::{library_place, uncounted};
use crate::fs::mounts::{HostFileSnapshot, LIBRARY, MountKind, MountSnapshot, OpenedAs};
use crate::fs::node::{Body, Device, Directory, Ino, MAX_NAME, Node};
use crate::fs::process::ProcessFilesSnapshot;
use crate::fs::tree::{ROOT, Space};
use crate::fs::walk::Location;
use std::collections::HashMap;

/// The bound on inode numbers. A guest's double represents all smaller numbers exactly.
const MOST: Ino = Ino::new(1 << 53);
/// The bound on a directory's link count. The highest limit on inodes is lower.
const MOST_LINKS: u32 = 1 << 31;
/// The mode bits of inodes.
const MODE: u32 = 0o7777;

type Checked = Result<(), &'static str>;

fn ensure(is_so: bool, otherwise: &'static str) -> Checked {
    if is_so { Ok(()) } else { Err(otherwise) }
}

/// Returns whether a directory may contain this name.
pub(crate) fn is_name(name: &[u8]) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name != b"." && name != b".." && !name.iter().any(|byte| b"/\0".contains(byte))
}

/// Returns whether an inode is the mount point of a mount.
fn is_mounted(node: &Node, mount: &MountSnapshot) -> bool {
    mount.parent == Location::Memory(node.recorded_parent()) && node.name[..] == mount.name[..]
}

/// Returns whether a path is relative to a mount's root: valid names with single slashes between
/// the names.
fn is_path(path: &[u8]) -> bool {
    path.is_empty() || path.split(|byte| *byte == b'/').all(is_name)
}

impl FilesSnapshot {
    /// Fails if no runtime can have these files.
    pub(crate) fn check(&self) -> Checked {
        ensure(self.last < MOST, "an inode number out of range")?;
        self.check_nodes()?;
        self.check_mounts()?;
        self.check_parents()?;
        self.check_counters()?;
        for ((mount, path), ino) in &self.raised {
            let is_directory = self.nodes.get(ino).is_none_or(Node::is_directory);
            ensure(self.kind(*mount) == Some(MountKind::Overlay) && is_path(path), "a raised directory without an overlay")?;
            ensure((ROOT..=self.last).contains(ino) && is_directory, "a raised directory that is not a directory")?;
        }
        for watch in &self.watches {
            ensure(watch.is_sound() && watch.node.is_some_and(|node| self.nodes.contains_key(&node)), "an impossible watch")?;
        }
        for host in &self.host_watches {
            let is_folder = matches!(self.kind(host.mount), Some(MountKind::Folder | MountKind::Overlay));
            ensure(
                host.watch.is_sound() && host.watch.node.is_none() && is_folder && is_path(&host.path),
                "an impossible watch",
            )?;
        }
        Ok(())
    }

    fn kind(&self, mount: usize) -> Option<MountKind> {
        self.mounts.get(mount).map(|mount| mount.kind)
    }

    fn check_mounts(&self) -> Checked {
        for (number, mount) in self.mounts.iter().enumerate() {
            ensure((mount.kind == MountKind::Proc) == (number == 0), "a /proc that is not mount 0")?;
            ensure((mount.kind == MountKind::Library) == (number == LIBRARY), "a library that is not mount 1")?;
            let is_at_home = number != LIBRARY || mount.parent == Location::Memory(library_place().0);
            ensure(is_at_home, "a library at another place")?;
            ensure(is_name(&mount.name) && (number == 0 || mount.has_path()), "a mount with an invalid name")?;
            // A mount's parent must be in memory or in an earlier mount, so that the path from the
            // mount to the root is finite.
            let is_there = match &mount.parent {
                Location::Memory(ino) => self.nodes.get(ino).is_some_and(Node::is_directory),
                Location::Mount(outer, path) => {
                    *outer < number && matches!(self.kind(*outer), Some(MountKind::Folder | MountKind::App)) && is_path(path)
                }
            };
            ensure(is_there, "a mount without a parent directory")?;
            ensure(self.is_at_its_own_path(mount) == Some(true), "a mount at another path than its own")?;
            if mount.kind == MountKind::Overlay {
                let root = self.raised.get(&(number, Box::default())).and_then(|ino| self.nodes.get(ino));
                ensure(root.is_some_and(|root| is_mounted(root, mount)), "an overlay at another path than its own")?;
            }
        }
        ensure(self.mounts.len() > LIBRARY, "no /proc or no library")
    }

    /// Returns whether a mount's present path is the path that the embedder chose. Permission rules
    /// use the embedder's path, and a mount cannot be moved.
    fn is_at_its_own_path(&self, mount: &MountSnapshot) -> Option<bool> {
        let path = mount.path();
        let above = |path: &[u8], name: &[u8]| path.strip_suffix(name)?.strip_suffix(b"/").map(<[u8]>::len);
        // The part of the path that is left to compare. Each name shortens the part, so the loop
        // ends even if the parents form a cycle.
        let mut left = above(&path, &mount.name)?;
        let mut place = mount.parent.clone();
        loop {
            place = match place {
                Location::Memory(ROOT) => return Some(left == 0),
                Location::Memory(ino) => {
                    let node = self.nodes.get(&ino).filter(|node| node.meta.links > 0)?;
                    left = above(&path[..left], &node.name)?;
                    Location::Memory(node.recorded_parent())
                }
                Location::Mount(outer, inside) => {
                    if !inside.is_empty() {
                        left = above(&path[..left], &inside)?;
                    }
                    let outer = self.mounts.get(outer)?;
                    left = above(&path[..left], &outer.name)?;
                    outer.parent.clone()
                }
            };
        }
    }

    fn check_nodes(&self) -> Checked {
        let root = self.nodes.get(&ROOT).filter(|root| root.is_directory()).ok_or("no root directory")?;
        ensure(root.recorded_parent() == ROOT && root.name.is_empty() && root.meta.links > 0, "an impossible root directory")?;
        let mut named: HashMap<Ino, u32> = HashMap::new();
        for (ino, node) in &self.nodes {
            ensure((ROOT..=self.last).contains(ino), "an inode number out of range")?;
            ensure(node.meta.mode & !MODE == 0, "a mode with unknown bits")?;
            ensure(node.meta.uid != u32::MAX && node.meta.gid != u32::MAX, "an impossible owner")?;
            ensure(*ino == ROOT || is_name(&node.name), "an invalid name")?;
            match &node.body {
                Body::Directory(directory) => self.check_directory(*ino, node, directory, &mut named)?,
                Body::Link(target) => ensure(!target.is_empty(), "a link without a target")?,
                Body::File(content) => ensure(i64::try_from(content.len()).is_ok(), "a file above the largest size")?,
                Body::Mount(number) => {
                    let mount = self.mounts.get(*number).filter(|mount| mount.kind != MountKind::Overlay);
                    ensure(mount.is_some_and(|mount| is_mounted(node, mount)), "a mount point without a mount")?;
                }
                Body::Device(_) | Body::Socket => {}
            }
        }
        for (ino, node) in &self.nodes {
            let names = named.get(ino).copied().unwrap_or(0);
            // A directory under a mount point has no name but is not removed.
            let is_so = match &node.body {
                Body::Directory(_) | Body::Mount(_) => names <= u32::from(node.meta.links > 0 && *ino != ROOT),
                _ => names == node.meta.links,
            };
            ensure(is_so, "an inode with a wrong link count")?;
        }
        Ok(())
    }

    fn check_directory(&self, ino: Ino, node: &Node, directory: &Directory, named: &mut HashMap<Ino, u32>) -> Checked {
        let links = node.meta.links;
        ensure(links == 0 || (2..MOST_LINKS).contains(&links), "a directory with a wrong link count")?;
        ensure(links > 0 || directory.names.is_empty(), "a removed directory that is not empty")?;
        for (name, child) in directory.names.recorded() {
            let found = self.nodes.get(&child).ok_or("a name without an inode")?;
            let is_single = matches!(found.body, Body::Directory(_) | Body::Mount(_));
            let is_here = !is_single || (found.recorded_parent() == ino && found.name[..] == name[..]);
            ensure(is_name(name) && is_here, "an invalid name")?;
            let count = named.entry(child).or_insert(0);
            *count = count.saturating_add(1);
        }
        if let Some(below) = &directory.below {
            ensure(self.kind(below.mount) == Some(MountKind::Overlay), "a raised directory without an overlay")?;
            ensure(is_path(&below.path) && below.gone.iter().all(|name| is_name(name)), "an invalid name")?;
        }
        Ok(())
    }

    /// Fails if the parents of an inode do not lead to the root or to a removed directory.
    fn check_parents(&self) -> Checked {
        let mut ended: HashMap<Ino, bool> = HashMap::with_capacity(self.nodes.size());
        ended.insert(ROOT, true);
        let mut way = Vec::new();
        for ino in self.nodes.keys() {
            let mut at = *ino;
            loop {
                match ended.get(&at) {
                    Some(true) => break,
                    Some(false) => return Err("a directory inside itself"),
                    None => {}
                }
                ended.insert(at, false);
                way.push(at);
                match self.nodes.get(&at) {
                    Some(node) => at = node.recorded_parent(),
                    None => break,
                }
            }
            ended.extend(way.drain(..).map(|passed| (passed, true)));
        }
        Ok(())
    }

    /// Compares the counters with the inodes. The inodes of the base tree were never counted, but
    /// each removal of such an inode lowered the counters. The counters may therefore be lower than
    /// the sum. The difference is at most the space of the base tree.
    fn check_counters(&self) -> Checked {
        let all = self.nodes.values().fold(Space { bytes: 0, inodes: 0 }, Space::plus);
        let least = uncounted();
        let between = |used: u64, all: u64, least: u64| used <= all && used >= all.saturating_sub(least);
        let is_so = between(self.used.bytes, all.bytes, least.bytes) && between(self.used.inodes, all.inodes, least.inodes);
        ensure(is_so, "counters that do not match the inodes")
    }

    pub(crate) fn is_file(&self, ino: Ino) -> bool {
        self.nodes.get(&ino).is_some_and(|node| matches!(node.body, Body::File(_)))
    }

    pub(crate) fn is_device(&self, ino: Ino, device: Device) -> bool {
        self.nodes.get(&ino).is_some_and(|node| matches!(node.body, Body::Device(found) if found == device))
    }

    /// Returns whether a program can have `place` open as a directory or as its working directory.
    pub(crate) fn is_directory(&self, place: &Location) -> bool {
        match place {
            Location::Memory(ino) => self.nodes.get(ino).is_some_and(Node::is_directory),
            Location::Mount(mount, path) => self.kind(*mount).is_some() && is_path(path),
        }
    }

    /// Returns whether a program can have opened this file of a mount.
    pub(crate) fn may_be_open(&self, file: &HostFileSnapshot) -> bool {
        let of_kind = matches!(
            (self.kind(file.mount), &file.what),
            (Some(MountKind::Proc), OpenedAs::Text(..))
                | (Some(MountKind::App), OpenedAs::App)
                | (Some(MountKind::Library), OpenedAs::Library)
                | (Some(MountKind::Folder | MountKind::Overlay), OpenedAs::Folder(_))
        );
        of_kind && !file.path.is_empty() && is_path(&file.path)
    }
}

impl ProcessFilesSnapshot {
    /// Fails if no process can have this state, given these files and `open` descriptions.
    pub(crate) fn check(&self, files: &FilesSnapshot, open: usize) -> Checked {
        let is_open = self.slots.iter().flatten().all(|at| usize::try_from(*at).is_ok_and(|at| at < open));
        ensure(is_open, "a descriptor without a description")?;
        self.credentials.check()?;
        ensure(
            self.directory.as_ref().is_none_or(|place| files.is_directory(place)),
            "a working directory that is not a directory",
        )
    }
}
