//! The filesystem in memory: a table of inodes in a persistent map, with the counters that its limits are about.
//!
//! Cloning one shares everything, so making a runtime is copying a few words out of the base tree (`base.rs`), and so is a snapshot. A
//! change copies the node and the path of the table that leads to it, once, if somebody else still holds them. Next: `walk.rs`, how a
//! path becomes an inode; `names.rs` and `attributes.rs`, what can be done with it.

use super::mounts::{HostWatchers, Mount};
use super::node::{Body, Directory, Ino, Meta, Node, Type};
use super::walk::Place;
use super::watch::Watchers;
use crate::usage::{Mark, Usage};
use coldframe_error::Errno;
use coldframe_sys as sys;
use parking_lot::Mutex;
use rpds::{HashTrieMapSync, RedBlackTreeMapSync};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

/// The root directory's number.
pub(crate) const ROOT: Ino = 1;

/// The user whose programs run in a sandbox, and its group.
pub(crate) const GUEST: u32 = 1_000;

/// In whose name something is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum User {
    Guest,
    /// The caller outside, who owns the sandbox: no permission stops it, and what it makes belongs to the guest.
    Host,
}

/// What a filesystem may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Space {
    pub(crate) bytes: u64,
    pub(crate) inodes: u64,
}

impl Space {
    /// With what counts for a node, all its names included.
    pub(super) fn plus(self, node: &Node) -> Self {
        let further = if node.is_directory() { 0 } else { u64::from(node.meta.links.saturating_sub(1)) };
        let inodes = self.inodes.saturating_add(node.inodes()).saturating_add(further);
        Self { bytes: self.bytes.saturating_add(node.stored()), inodes }
    }
}

/// See the module.
#[derive(Clone)]
pub(crate) struct FileSystem {
    pub(super) nodes: HashTrieMapSync<Ino, Node, Dense>,
    pub(super) last: Ino,
    /// How often a node is held by descriptors and working directories: it lives on without a name.
    pub(super) holds: HashMap<Ino, u32>,
    pub(crate) limits: Space,
    /// As in Linux's tmpfs, every further name of a file counts as an inode.
    pub(crate) used: Space,
    /// Bytes of `used` for a file of an overlay that is being raised, and has no node yet.
    pub(super) underway: u64,
    /// The highest that `used` has been: bytes and inodes.
    pub(crate) marks: [Mark; 2],
    /// The runtime's.
    pub(crate) usage: Arc<Usage>,
    pub(super) mounts: Vec<Arc<Mount>>,
    /// The directories of overlays that have a node: by the overlay's number and the path below it.
    pub(super) raised: RedBlackTreeMapSync<(usize, Box<[u8]>), Ino>,
    /// What there is to say about the last `EACCES` that a mount's link caused, for whoever asks before the next.
    pub(super) reason: Reason,
    pub(super) watchers: Watchers,
    pub(super) host_watchers: HostWatchers,
}

/// A sentence that belongs to one filesystem: a clone begins without.
#[derive(Default)]
pub(super) struct Reason(Mutex<Option<Sentence>>);

struct Sentence {
    text: String,
    /// The call that failed so has ended.
    is_of_an_ended_call: bool,
}

impl Reason {
    pub(super) fn set(&self, text: String) {
        *self.0.lock() = Some(Sentence { text, is_of_an_ended_call: false });
    }

    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().take().map(|sentence| sentence.text)
    }

    /// A call has failed with `EACCES`. A sentence that is older than the call says nothing about it.
    pub(super) fn end_call(&self) {
        let mut held = self.0.lock();
        match held.as_mut() {
            Some(sentence) if !sentence.is_of_an_ended_call => sentence.is_of_an_ended_call = true,
            _ => *held = None,
        }
    }
}

impl Clone for Reason {
    fn clone(&self) -> Self {
        Self::default()
    }
}

pub(crate) const READ: u32 = 4;
pub(crate) const WRITE: u32 = 2;
pub(crate) const SEARCH: u32 = 1;

impl FileSystem {
    /// An empty root.
    pub(crate) fn new(limits: Space) -> Self {
        let nodes = HashTrieMapSync::new_with_hasher_and_ptr_kind(Dense);
        let mut made = Self {
            nodes,
            last: ROOT,
            holds: HashMap::new(),
            limits,
            used: Space { bytes: 0, inodes: 0 },
            underway: 0,
            marks: Default::default(),
            usage: Arc::default(),
            mounts: Vec::new(),
            raised: RedBlackTreeMapSync::new_sync(),
            reason: Reason::default(),
            watchers: Watchers::default(),
            host_watchers: HostWatchers::default(),
        };
        let now = now();
        let meta = Meta { mode: 0o755, uid: 0, gid: 0, links: 2, atime: now, mtime: now, ctime: now, birthtime: now };
        made.nodes
            .insert_mut(ROOT, Node { meta, body: Body::Directory(Directory::new()), parent: ROOT, name: Arc::from(&b""[..]) });
        made
    }

    /// The node of a number that came from this filesystem; `ENOENT` for one that is gone.
    pub(crate) fn node(&self, ino: Ino) -> Result<&Node, Errno> {
        self.nodes.get(&ino).ok_or(Errno::ENOENT)
    }

    /// The same, to be changed.
    pub(crate) fn node_mut(&mut self, ino: Ino) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&ino).ok_or(Errno::ENOENT)
    }

    pub(crate) fn directory(&self, ino: Ino) -> Result<&Directory, Errno> {
        self.node(ino)?.directory().ok_or(Errno::ENOTDIR)
    }

    pub(crate) fn is_directory(&self, place: &Place) -> bool {
        match place {
            Place::Here(ino) => self.directory(*ino).is_ok(),
            Place::There(number, path) => {
                self.mount(*number).and_then(|mount| mount.stat(*number, path)).is_ok_and(|stat| stat.kind == Type::Directory)
            }
        }
    }

    /// Whether `user` may do what `wanted` says with the node.
    pub(crate) fn check(&self, user: User, ino: Ino, wanted: u32) -> Result<(), Errno> {
        if self.node(ino)?.meta.allows(user, wanted) { Ok(()) } else { Err(Errno::EACCES) }
    }

    /// Adds a node without a name. `ENOSPC` when the limits forbid it.
    pub(crate) fn add(&mut self, body: Body, mode: u32, owner: (u32, u32)) -> Result<Ino, Errno> {
        let now = now();
        let links = if matches!(body, Body::Directory(_)) { 2 } else { 1 };
        let meta = Meta { mode, uid: owner.0, gid: owner.1, links, atime: now, mtime: now, ctime: now, birthtime: now };
        let node = Node { meta, body, parent: ROOT, name: Arc::from(&b""[..]) };
        self.reserve(node.stored(), 1)?;
        self.last += 1;
        self.nodes.insert_mut(self.last, node);
        Ok(self.last)
    }

    /// Counts what is about to be used.
    pub(crate) fn reserve(&mut self, bytes: u64, inodes: u64) -> Result<(), Errno> {
        if self.used.inodes + inodes > self.limits.inodes || bytes > self.limits.bytes.saturating_sub(self.used.bytes) {
            return Err(Errno::ENOSPC);
        }
        self.used.bytes += bytes;
        self.used.inodes += inodes;
        self.rose();
        Ok(())
    }

    /// More is used now.
    pub(super) fn rose(&mut self) {
        let [bytes, inodes] = &mut self.marks;
        if bytes.rose(self.used.bytes, self.limits.bytes) {
            self.usage.warnings.add("filesystemBytes", self.used.bytes, self.limits.bytes, None);
        }
        if inodes.rose(self.used.inodes, self.limits.inodes) {
            self.usage.warnings.add("inodes", self.used.inodes, self.limits.inodes, None);
        }
    }

    /// What stood in the base tree was never counted: the counters stop at zero.
    pub(crate) fn give_back(&mut self, bytes: u64, inodes: u64) {
        self.used.bytes = self.used.bytes.saturating_sub(bytes);
        self.used.inodes = self.used.inodes.saturating_sub(inodes);
        self.marks[0].fell(self.used.bytes, self.limits.bytes);
        self.marks[1].fell(self.used.inodes, self.limits.inodes);
    }

    /// A descriptor or a working directory points at the node from now on.
    pub(crate) fn hold(&mut self, ino: Ino) {
        *self.holds.entry(ino).or_insert(0) += 1;
    }

    /// ... and no longer does.
    pub(crate) fn release(&mut self, ino: Ino) {
        let Some(count) = self.holds.get_mut(&ino) else { return };
        *count -= 1;
        if *count == 0 {
            self.holds.remove(&ino);
            self.collect(ino);
        }
    }

    /// Forgets the node if nothing leads to it any more.
    pub(crate) fn collect(&mut self, ino: Ino) {
        let Some(node) = self.nodes.get(&ino) else { return };
        if node.meta.links > 0 || self.holds.contains_key(&ino) {
            return;
        }
        let (stored, inodes) = (node.stored(), node.inodes());
        self.nodes.remove_mut(&ino);
        self.give_back(stored, inodes);
    }
}

impl Meta {
    pub(crate) fn allows(&self, user: User, wanted: u32) -> bool {
        allows(user, (self.uid, self.gid), self.mode, wanted)
    }

    pub(crate) fn owned_by(&self, user: User) -> bool {
        user == User::Host || self.uid == GUEST
    }
}

/// The owner's, the group's or the others' bits, as Linux chooses them.
pub(crate) fn allows(user: User, owner: (u32, u32), mode: u32, wanted: u32) -> bool {
    let shift = match (user, owner) {
        (User::Host, _) => return true,
        (User::Guest, (GUEST, _)) => 6,
        (User::Guest, (_, GUEST)) => 3,
        (User::Guest, _) => 0,
    };
    (mode >> shift) & wanted == wanted
}

/// The wall clock in nanoseconds.
pub(crate) fn now() -> i64 {
    i64::try_from(sys::wall_ns()).unwrap_or(i64::MAX)
}

/// Hashes inode numbers, which are dense and not the guest's to choose, as themselves.
#[derive(Clone, Copy, Default)]
pub(crate) struct Dense;

/// The state of [`Dense`].
#[derive(Default)]
pub(crate) struct DenseHasher(u64);

impl BuildHasher for Dense {
    type Hasher = DenseHasher;
    fn build_hasher(&self) -> DenseHasher {
        DenseHasher(0)
    }
}

impl Hasher for DenseHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
