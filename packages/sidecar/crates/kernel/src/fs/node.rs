//! Inodes: what a file, a directory, a link or a device is, apart from its names.
//!
//! Nodes are values: the table that holds them (`tree.rs`) shares them between clones and copies one when it is changed. A directory
//! is a persistent map in the order of its names, so that a listing can go on from the name where it stopped, whatever has changed
//! meanwhile. Next: `tree.rs`.

use super::content::Content;
use super::overlay::Below;
use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An inode's number. Never used twice in one filesystem.
pub(crate) type Ino = u64;

/// Longest name in bytes.
pub(crate) const MAX_NAME: usize = 255;

/// See the module.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) meta: Meta,
    pub(crate) body: Body,
    /// The directory that holds it, and its name there: the last that it was given, if it has several. A directory has one only, and so
    /// its path is known without a search. The root is its own parent.
    pub(crate) parent: Ino,
    pub(crate) name: Arc<[u8]>,
}

/// What all nodes have. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meta {
    /// Permissions with set-id and sticky bits; the type is the body's.
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) links: u32,
    pub(crate) atime: i64,
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    pub(crate) birthtime: i64,
}

/// What a node is.
#[derive(Clone)]
pub(crate) enum Body {
    File(Content),
    Directory(Directory),
    Link(Arc<[u8]>),
    Device(Device),
    /// The name of a socket (`net/names.rs`).
    Socket,
    /// A host's folder is mounted here: its number in the table of mounts.
    Mount(usize),
}

/// Names and what they name.
#[derive(Clone)]
pub(crate) struct Directory {
    pub(crate) names: RedBlackTreeMapSync<Box<[u8]>, Ino>,
    /// The folder of an overlay that lies below (`overlay.rs`).
    pub(crate) below: Option<Box<Below>>,
}

/// Character devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Device {
    Null,
    Zero,
    Full,
    Random,
    /// The terminal that a process has; here none has one.
    Tty,
    /// A stream or socket that the process has open already, as `/proc/self/fd` names it. No node has this.
    Descriptor(u32),
}

/// A node's type, with the bits that `st_mode` has for it and the number that Node's `Dirent` has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Type {
    File,
    Directory,
    Link,
    Pipe,
    Socket,
    Character,
    Block,
    Unknown,
}

impl Type {
    pub(crate) fn mode_bits(self) -> u32 {
        match self {
            Self::Pipe => 0o010_000,
            Self::Character => 0o020_000,
            Self::Directory => 0o040_000,
            Self::Block => 0o060_000,
            Self::File => 0o100_000,
            Self::Link => 0o120_000,
            Self::Socket => 0o140_000,
            Self::Unknown => 0,
        }
    }

    /// `UV_DIRENT_*`.
    pub(crate) fn dirent(self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::File => 1,
            Self::Directory => 2,
            Self::Link => 3,
            Self::Pipe => 4,
            Self::Socket => 5,
            Self::Character => 6,
            Self::Block => 7,
        }
    }
}

impl Directory {
    pub(crate) fn new() -> Self {
        Self { names: RedBlackTreeMapSync::new_sync(), below: None }
    }
}

impl Node {
    pub(crate) fn kind(&self) -> Type {
        match self.body {
            Body::File(_) => Type::File,
            Body::Directory(_) | Body::Mount(_) => Type::Directory,
            Body::Link(_) => Type::Link,
            Body::Device(_) => Type::Character,
            Body::Socket => Type::Socket,
        }
    }

    pub(crate) fn directory(&self) -> Option<&Directory> {
        if let Body::Directory(directory) = &self.body { Some(directory) } else { None }
    }

    pub(crate) fn is_directory(&self) -> bool {
        matches!(self.body, Body::Directory(_))
    }

    pub(crate) fn size(&self) -> u64 {
        match &self.body {
            Body::File(content) => content.len(),
            Body::Link(target) => target.len() as u64,
            Body::Directory(_) | Body::Mount(_) => 4_096,
            Body::Device(_) | Body::Socket => 0,
        }
    }

    /// Inodes that count against the limit: the node, and names of an overlay that are hidden.
    pub(crate) fn inodes(&self) -> u64 {
        1 + self.directory().and_then(|directory| directory.below.as_ref()).map_or(0, |below| below.inodes())
    }

    /// Bytes that count against the limit.
    pub(crate) fn stored(&self) -> u64 {
        match &self.body {
            Body::File(content) => content.stored(),
            Body::Link(target) => target.len() as u64,
            Body::Directory(_) | Body::Device(_) | Body::Mount(_) | Body::Socket => 0,
        }
    }
}
