//! What is checked about files that come out of bytes, which anybody may have written: that a runtime could have brought them about. The rest of the
//! kernel relies on it: walks end, what is named is there, and what is counted is what is held. Next: `../tree.rs`.

use super::FilesSnapshot;
use crate::fs::base::uncounted;
use crate::fs::mounts::{HostFileSnapshot, Kind, MountSnapshot, OpenedSnapshot};
use crate::fs::node::{Body, Device, Directory, Ino, MAX_NAME, Node};
use crate::fs::process::ProcessFilesSnapshot;
use crate::fs::tree::{ROOT, Space};
use crate::fs::walk::Place;
use std::collections::HashMap;

/// More inodes than a program's numbers can tell apart.
const MOST: Ino = 1 << 53;
/// More names in a directory than there can be nodes that count.
const MOST_LINKS: u32 = 1 << 31;
/// The bits of a mode that nodes have.
const MODE: u32 = 0o7777;

type Checked = Result<(), &'static str>;

fn ensure(is_so: bool, otherwise: &'static str) -> Checked {
    if is_so { Ok(()) } else { Err(otherwise) }
}

/// Whether a directory may have this name in it.
pub(crate) fn is_name(name: &[u8]) -> bool {
    (1..=MAX_NAME).contains(&name.len()) && name != b"." && name != b".." && !name.iter().any(|byte| b"/\0".contains(byte))
}

/// Whether a node is what a mount has in the directory that holds it.
fn is_mounted(node: &Node, mount: &MountSnapshot) -> bool {
    mount.parent == Place::Here(node.parent) && node.name[..] == mount.name[..]
}

/// A path from a mount's root, without slashes at its ends.
fn is_path(path: &[u8]) -> bool {
    path.is_empty() || path.split(|byte| *byte == b'/').all(is_name)
}

impl FilesSnapshot {
    /// Whether a runtime could have brought them about.
    pub(crate) fn check(&self) -> Checked {
        ensure(self.last < MOST, "a number of a file that cannot be")?;
        self.check_nodes()?;
        self.check_mounts()?;
        self.check_parents()?;
        self.check_counters()?;
        for ((mount, path), ino) in &self.raised {
            let is_directory = self.nodes.get(ino).is_none_or(Node::is_directory);
            ensure(self.kind(*mount) == Some(Kind::Overlay) && is_path(path), "a raised directory of no overlay")?;
            ensure((1..=self.last).contains(ino) && is_directory, "a raised directory that is none")?;
        }
        for watch in &self.watches {
            ensure(watch.is_sound() && self.nodes.contains_key(&watch.node), "a watch that nobody can have made")?;
        }
        for host in &self.host_watches {
            let is_folder = matches!(self.kind(host.mount), Some(Kind::Folder | Kind::Overlay));
            ensure(host.watch.is_sound() && is_folder && is_path(&host.path), "a watch that nobody can have made")?;
        }
        Ok(())
    }

    fn kind(&self, mount: usize) -> Option<Kind> {
        self.mounts.get(mount).map(|mount| mount.kind)
    }

    fn check_mounts(&self) -> Checked {
        for (number, mount) in self.mounts.iter().enumerate() {
            ensure((mount.kind == Kind::Proc) == (number == 0), "more than one /proc, or none")?;
            ensure(is_name(&mount.name) && (number == 0 || mount.has_path()), "a mount with a name that cannot be")?;
            // A mount lies in memory or in one that was there before: so the way up from it has an end.
            let is_there = match &mount.parent {
                Place::Here(ino) => self.nodes.get(ino).is_some_and(Node::is_directory),
                Place::There(outer, path) => {
                    *outer < number && matches!(self.kind(*outer), Some(Kind::Folder | Kind::App)) && is_path(path)
                }
            };
            ensure(is_there, "a mount that lies nowhere")?;
            ensure(self.lies_where_it_was_mounted(mount) == Some(true), "a mount that lies elsewhere")?;
            if mount.kind == Kind::Overlay {
                let root = self.raised.get(&(number, Box::default())).and_then(|ino| self.nodes.get(ino));
                ensure(root.is_some_and(|root| is_mounted(root, mount)), "an overlay that lies elsewhere")?;
            }
        }
        ensure(!self.mounts.is_empty(), "more than one /proc, or none")
    }

    /// Whether the path that a mount has, by which rules of permissions know it, is the one that the caller gave: nobody moves what is mounted.
    fn lies_where_it_was_mounted(&self, mount: &MountSnapshot) -> Option<bool> {
        let path = mount.path();
        let above = |path: &[u8], name: &[u8]| path.strip_suffix(name)?.strip_suffix(b"/").map(<[u8]>::len);
        // What is left of the path. It becomes shorter with each name, so the way up has an end whatever the parents say.
        let mut left = above(&path, &mount.name)?;
        let mut place = mount.parent.clone();
        loop {
            place = match place {
                Place::Here(ROOT) => return Some(left == 0),
                Place::Here(ino) => {
                    let node = self.nodes.get(&ino).filter(|node| node.meta.links > 0)?;
                    left = above(&path[..left], &node.name)?;
                    Place::Here(node.parent)
                }
                Place::There(outer, inside) => {
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
        let root = self.nodes.get(&ROOT).filter(|root| root.is_directory()).ok_or("no root")?;
        ensure(root.parent == ROOT && root.name.is_empty() && root.meta.links > 0, "a root that cannot be")?;
        let mut named: HashMap<Ino, u32> = HashMap::new();
        for (ino, node) in &self.nodes {
            ensure((1..=self.last).contains(ino), "a number of a file that cannot be")?;
            ensure(node.meta.mode & !MODE == 0, "a mode that cannot be")?;
            ensure(*ino == ROOT || is_name(&node.name), "a name that cannot be")?;
            match &node.body {
                Body::Directory(directory) => self.check_directory(*ino, node, directory, &mut named)?,
                Body::Link(target) => ensure(!target.is_empty(), "a link to nothing")?,
                Body::Device(device) => ensure(!matches!(device, Device::Descriptor(_)), "a device that cannot be")?,
                Body::File(content) => ensure(i64::try_from(content.len()).is_ok(), "a file that is too long")?,
                Body::Mount(number) => {
                    let mount = self.mounts.get(*number).filter(|mount| mount.kind != Kind::Overlay);
                    ensure(mount.is_some_and(|mount| is_mounted(node, mount)), "a mount that is none")?;
                }
                Body::Socket => {}
            }
        }
        for (ino, node) in &self.nodes {
            let names = named.get(ino).copied().unwrap_or(0);
            // A directory that a mount lies over has no name, and is still there.
            let is_so = match &node.body {
                Body::Directory(_) | Body::Mount(_) => names <= u32::from(node.meta.links > 0 && *ino != ROOT),
                _ => names == node.meta.links,
            };
            ensure(is_so, "a file that has more names, or fewer, than it says")?;
        }
        Ok(())
    }

    fn check_directory(&self, ino: Ino, node: &Node, directory: &Directory, named: &mut HashMap<Ino, u32>) -> Checked {
        let links = node.meta.links;
        ensure(links == 0 || (2..MOST_LINKS).contains(&links), "a directory that has more names, or fewer, than it says")?;
        ensure(links > 0 || directory.names.is_empty(), "a removed directory with something in it")?;
        for (name, child) in &directory.names {
            let found = self.nodes.get(child).ok_or("a name of nothing")?;
            let is_single = matches!(found.body, Body::Directory(_) | Body::Mount(_));
            let is_here = !is_single || (found.parent == ino && found.name[..] == name[..]);
            ensure(is_name(name) && is_here, "a name that cannot be")?;
            let count = named.entry(*child).or_insert(0);
            *count = count.saturating_add(1);
        }
        if let Some(below) = &directory.below {
            ensure(self.kind(below.mount) == Some(Kind::Overlay), "a raised directory of no overlay")?;
            ensure(is_path(&below.path) && below.gone.iter().all(|name| is_name(name)), "a name that cannot be")?;
        }
        Ok(())
    }

    /// The way up from every node has an end: at the root, or where a directory was removed.
    fn check_parents(&self) -> Checked {
        let mut ended: HashMap<Ino, bool> = HashMap::with_capacity(self.nodes.size());
        ended.insert(ROOT, true);
        let mut way = Vec::new();
        for ino in self.nodes.keys() {
            let mut at = *ino;
            loop {
                match ended.get(&at) {
                    Some(true) => break,
                    Some(false) => return Err("a directory that lies in itself"),
                    None => {}
                }
                ended.insert(at, false);
                way.push(at);
                match self.nodes.get(&at) {
                    Some(node) => at = node.parent,
                    None => break,
                }
            }
            ended.extend(way.drain(..).map(|passed| (passed, true)));
        }
        Ok(())
    }

    /// What is used is what the nodes say, but for what was there from the start: that is not counted, and may have been counted as given back.
    fn check_counters(&self) -> Checked {
        let all = self.nodes.values().fold(Space { bytes: 0, inodes: 0 }, Space::plus);
        let least = uncounted();
        let between = |used: u64, all: u64, least: u64| used <= all && used >= all.saturating_sub(least);
        let is_so = between(self.used.bytes, all.bytes, least.bytes) && between(self.used.inodes, all.inodes, least.inodes);
        ensure(is_so, "counters that do not agree with what is there")
    }

    pub(crate) fn is_file(&self, ino: Ino) -> bool {
        self.nodes.get(&ino).is_some_and(|node| matches!(node.body, Body::File(_)))
    }

    pub(crate) fn is_device(&self, ino: Ino, device: Device) -> bool {
        self.nodes.get(&ino).is_some_and(|node| matches!(node.body, Body::Device(found) if found == device))
    }

    /// Whether a program can have a directory open there, or stand in it.
    pub(crate) fn is_directory(&self, place: &Place) -> bool {
        match place {
            Place::Here(ino) => self.nodes.get(ino).is_some_and(Node::is_directory),
            Place::There(mount, path) => self.kind(*mount).is_some() && is_path(path),
        }
    }

    /// Whether a program can have opened a file of a mount so.
    pub(crate) fn may_be_open(&self, file: &HostFileSnapshot) -> bool {
        let of_kind = matches!(
            (self.kind(file.mount), &file.what),
            (Some(Kind::Proc), OpenedSnapshot::Text(..))
                | (Some(Kind::App), OpenedSnapshot::App)
                | (Some(Kind::Folder | Kind::Overlay), OpenedSnapshot::Folder(_))
        );
        of_kind && !file.path.is_empty() && is_path(&file.path)
    }
}

impl ProcessFilesSnapshot {
    /// Whether a program could have it, in these files and with so many things open in all.
    pub(crate) fn check(&self, files: &FilesSnapshot, open: usize) -> Checked {
        let is_open = self.slots.iter().flatten().all(|at| usize::try_from(*at).is_ok_and(|at| at < open));
        ensure(is_open, "a descriptor that stands for nothing")?;
        ensure(self.directory.as_ref().is_none_or(|place| files.is_directory(place)), "a working directory that is none")
    }
}
