//! The filesystem in memory: a table of inodes in a persistent map, and counters of the used space.
//!
//! A clone shares all inodes with the original. A new runtime copies a few words of the base tree
//! (`base.rs`), and a snapshot copies as little. A change copies the inode and the inode's path in
//! the table if another clone shares the inode.
//!
//! Next: `walk.rs`, which finds the inode of a path. `names.rs` and `attributes.rs` change inodes.

use super::mounts::{HostWatchers, Mount};
use super::node::{Body, Directory, Ino, Meta, Node, Type};
use super::user::{Owner, User};
use super::walk::Location;
use super::watch::Watchers;
use crate::caller_scope::current_caller;
use crate::usage::{Mark, Usage};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use coldframe_sys as sys;
use rpds::{HashTrieMapSync, RedBlackTreeMapSync};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

/// The root directory's inode number.
pub(crate) const ROOT: Ino = Ino::new(1);

/// Amounts of space: a limit, or the space in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Space {
    pub(crate) bytes: u64,
    pub(crate) inodes: u64,
}

impl Space {
    /// Returns the sum of this space and the space of an inode with all its names.
    pub(super) fn plus(self, node: &Node) -> Self {
        let further = if node.is_directory() { 0 } else { u64::from(node.meta.links.saturating_sub(1)) };
        let inodes = self.inodes.saturating_add(node.inodes()).saturating_add(further);
        Self { bytes: self.bytes.saturating_add(node.stored()), inodes }
    }
}

/// The files of one runtime.
#[derive(Clone)]
pub(crate) struct FileSystem {
    pub(super) nodes: HashTrieMapSync<Ino, Node, Dense>,
    pub(super) last: Ino,
    /// The number of descriptors and working directories that hold each inode. A held inode is not
    /// removed with its last name.
    pub(super) holds: HashMap<Ino, u32>,
    pub(crate) limits: Space,
    /// The space in use. Each name of a file after the first counts as an inode, as in Linux's
    /// tmpfs.
    pub(crate) used: Space,
    /// The part of `used.bytes` for files of overlays that are being raised and have no inode yet.
    pub(super) raising_bytes: u64,
    /// The highest values of `used`: bytes and inodes.
    pub(crate) marks: [Mark; 2],
    /// The runtime's usage.
    pub(crate) usage: Arc<Usage>,
    pub(super) mounts: Vec<Arc<Mount>>,
    /// The raised directories of overlays, by the overlay's number and the path in the overlay.
    pub(super) raised: RedBlackTreeMapSync<(usize, Box<[u8]>), Ino>,
    /// The explanation of the last `EACCES` that a link of a mount or a denied permission caused,
    /// in any system call. The next such error replaces the explanation.
    pub(super) reason: Reason,
    pub(super) watchers: Watchers,
    pub(super) host_watchers: HostWatchers,
}

/// A sentence that explains an error. A clone of the filesystem has no sentence.
#[derive(Default)]
pub(super) struct Reason(Mutex<Option<Sentence>>);

struct Sentence {
    text: String,
    /// The process whose call caused the sentence. `None` means the embedder.
    caller: Option<Pid>,
    /// Whether the call that caused the sentence has ended.
    call_has_ended: bool,
}

impl Reason {
    pub(super) fn set(&self, text: String) {
        *self.0.lock() = Some(Sentence { text, caller: current_caller(), call_has_ended: false });
    }

    /// Removes and returns the sentence, unless a call of another process caused the sentence.
    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().take_if(|sentence| sentence.caller == current_caller()).map(|sentence| sentence.text)
    }

    /// Marks the end of a call that failed with `EACCES`. Removes the sentence of an earlier call,
    /// because that sentence does not explain this error.
    pub(super) fn end_call(&self) {
        let mut held = self.0.lock();
        match held.as_mut() {
            Some(sentence) if sentence.caller != current_caller() => {}
            Some(sentence) if !sentence.call_has_ended => sentence.call_has_ended = true,
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
    /// Returns a filesystem with an empty root.
    pub(crate) fn new(limits: Space) -> Self {
        let nodes = HashTrieMapSync::new_with_hasher_and_ptr_kind(Dense);
        let mut made = Self {
            nodes,
            last: ROOT,
            holds: HashMap::new(),
            limits,
            used: Space { bytes: 0, inodes: 0 },
            raising_bytes: 0,
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
        made.nodes.insert_mut(ROOT, Node::new(meta, Body::Directory(Directory::new()), ROOT, Arc::from(&b""[..])));
        made
    }

    /// Returns an inode of this filesystem. Fails with `ENOENT` if the inode was removed.
    pub(crate) fn node(&self, ino: Ino) -> Result<&Node, Errno> {
        self.nodes.get(&ino).ok_or(Errno::ENOENT)
    }

    /// Returns an inode of this filesystem for a change. Fails with `ENOENT` if the inode was
    /// removed.
    pub(crate) fn node_mut(&mut self, ino: Ino) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&ino).ok_or(Errno::ENOENT)
    }

    pub(crate) fn directory(&self, ino: Ino) -> Result<&Directory, Errno> {
        self.node(ino)?.directory().ok_or(Errno::ENOTDIR)
    }

    pub(crate) fn is_directory(&self, place: &Location) -> bool {
        match place {
            Location::Memory(ino) => self.directory(*ino).is_ok(),
            Location::Mount(number, path) => {
                self.mount(*number).and_then(|mount| mount.stat(*number, path)).is_ok_and(|stat| stat.kind == Type::Directory)
            }
        }
    }

    /// Fails with `EACCES` if `user` does not have the permission bits `wanted` for the inode.
    pub(crate) fn check(&self, user: &User, ino: Ino, wanted: u32) -> Result<(), Errno> {
        if self.node(ino)?.allows(user, wanted) { Ok(()) } else { Err(Errno::EACCES) }
    }

    /// Adds an inode without a name. Fails with `ENOSPC` if the limits do not allow the inode.
    pub(crate) fn add(&mut self, body: Body, mode: u32, owner: Owner) -> Result<Ino, Errno> {
        let now = now();
        let links = if matches!(body, Body::Directory(_)) { 2 } else { 1 };
        let meta = Meta { mode, uid: owner.uid, gid: owner.gid, links, atime: now, mtime: now, ctime: now, birthtime: now };
        let node = Node::new(meta, body, ROOT, Arc::from(&b""[..]));
        self.reserve(node.stored(), 1)?;
        self.last = self.last.next();
        self.nodes.insert_mut(self.last, node);
        Ok(self.last)
    }

    /// Counts space before the space is used. Fails with `ENOSPC` if the limits do not allow the
    /// space.
    pub(crate) fn reserve(&mut self, bytes: u64, inodes: u64) -> Result<(), Errno> {
        if self.used.inodes + inodes > self.limits.inodes || bytes > self.limits.bytes.saturating_sub(self.used.bytes) {
            return Err(Errno::ENOSPC);
        }
        self.used.bytes += bytes;
        self.used.inodes += inodes;
        self.update_marks();
        Ok(())
    }

    /// Updates the marks and warnings after the space in use has grown.
    pub(super) fn update_marks(&mut self) {
        let [bytes, inodes] = &mut self.marks;
        if bytes.raise(self.used.bytes, self.limits.bytes) {
            self.usage.warnings.add("filesystemBytes", self.used.bytes, self.limits.bytes, None);
        }
        if inodes.raise(self.used.inodes, self.limits.inodes) {
            self.usage.warnings.add("inodes", self.used.inodes, self.limits.inodes, None);
        }
    }

    /// Lowers the counters of the space in use. The counters stop at zero, because the files of the
    /// base tree were never counted.
    pub(crate) fn return_space(&mut self, bytes: u64, inodes: u64) {
        self.used.bytes = self.used.bytes.saturating_sub(bytes);
        self.used.inodes = self.used.inodes.saturating_sub(inodes);
        self.marks[0].lower(self.used.bytes, self.limits.bytes);
        self.marks[1].lower(self.used.inodes, self.limits.inodes);
    }

    /// Counts a descriptor or a working directory that refers to the inode.
    pub(crate) fn hold(&mut self, ino: Ino) {
        *self.holds.entry(ino).or_insert(0) += 1;
    }

    /// Drops one hold of the inode. Removes the inode if the inode has no name and no other hold.
    pub(crate) fn release(&mut self, ino: Ino) {
        let Some(count) = self.holds.get_mut(&ino) else { return };
        *count -= 1;
        if *count == 0 {
            self.holds.remove(&ino);
            self.collect(ino);
        }
    }

    /// Removes an inode that has no name and no hold, and returns its space. Other inodes stay.
    pub(crate) fn collect(&mut self, ino: Ino) {
        let Some(node) = self.nodes.get(&ino) else { return };
        if node.meta.links > 0 || self.holds.contains_key(&ino) {
            return;
        }
        let (stored, inodes) = (node.stored(), node.inodes());
        self.nodes.remove_mut(&ino);
        self.return_space(stored, inodes);
    }
}

/// Returns the wall clock's time in nanoseconds since 1970.
pub(crate) fn now() -> i64 {
    i64::try_from(sys::wall_ns()).unwrap_or(i64::MAX)
}

/// Uses inode numbers as hashes. Inode numbers are dense, and the guest cannot choose a number.
#[derive(Clone, Copy, Default)]
pub(crate) struct Dense;

/// The hasher of [`Dense`].
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
