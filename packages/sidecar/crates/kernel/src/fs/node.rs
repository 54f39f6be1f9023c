//! Inodes: the attributes and the data of a file, a directory, a link or a device.
//!
//! Inodes are values. The table in `tree.rs` shares inodes between clones, and copies an inode
//! before a clone changes the inode. A directory is a persistent map sorted by name. A listing can
//! therefore continue after the last returned name, even if names were added or removed in the
//! meantime.
//!
//! A guest chooses the number of names in a directory and the depth of a directory. [`Names`] and
//! [`Node::parent`] therefore charge steps (`steps.rs`). Next: `tree.rs`.

use super::content::Content;
use super::overlay::Below;
use super::user::User;
use super::user_attributes::UserAttributes;
use crate::steps;
use coldframe_error::Errno;
use coldframe_ids::id;
use rpds::RedBlackTreeMapSync;
use serde::{Deserialize, Serialize};
use std::ops::Bound;
use std::sync::Arc;

id! {
    /// An inode's number. A filesystem never uses the number of a removed inode again.
    Ino: u64
}

impl Ino {
    /// Returns the number that a filesystem assigns after this number.
    pub(crate) fn next(self) -> Self {
        Self::new(self.get() + 1)
    }
}

/// The steps of an entry in a listing: the next name, a lookup of the inode, and a copy of the
/// name.
const STEPS_PER_ENTRY: usize = 6;

/// The length of the longest name in bytes.
pub(crate) const MAX_NAME: usize = 255;

/// One inode of the filesystem in memory.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) meta: Meta,
    pub(crate) body: Body,
    /// The inode's directory. `name` is the inode's name in this directory. If a file has several
    /// names, the newest name is stored. A directory has only one name, so its path is found
    /// without a search. The root is its own parent.
    parent: Ino,
    pub(crate) name: Arc<[u8]>,
    pub(crate) attributes: UserAttributes,
}

/// The attributes of every inode. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Meta {
    /// Permissions with set-id and sticky bits. The file type is in `Node::body`.
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) links: u32,
    pub(crate) atime: i64,
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    pub(crate) birthtime: i64,
}

/// The type of an inode and the data of that type.
#[derive(Clone)]
pub(crate) enum Body {
    File(Content),
    Directory(Directory),
    Link(Arc<[u8]>),
    Device(Device),
    /// A bound Unix socket (`net/names.rs`).
    Socket,
    /// A mount point, with the mount's index in the table of mounts.
    Mount(usize),
}

/// The names in a directory and their inodes.
#[derive(Clone)]
pub(crate) struct Directory {
    pub(crate) names: Names,
    /// The host machine's folder under a raised directory (`overlay.rs`).
    pub(crate) below: Option<Box<Below>>,
}

/// The names of one directory, sorted.
#[derive(Clone)]
pub(crate) struct Names(RedBlackTreeMapSync<Box<[u8]>, Ino>);

/// Character devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Device {
    Null,
    Zero,
    Full,
    Random,
    /// `/dev/tty`: an open opens the terminal that controls the process's session.
    Tty,
    /// `/dev/ptmx`: an open makes a terminal, and opens its master.
    TerminalMaker,
    /// A file of `/dev/pts`: an open opens the slave of the terminal with this number.
    Terminal(u32),
}

/// A file type. Each type has bits in `st_mode` and a number in Node's `Dirent`.
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

    /// Returns the `UV_DIRENT_*` number, which Node's `Dirent` uses.
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
        Self { names: Names(RedBlackTreeMapSync::new_sync()), below: None }
    }
}

impl Names {
    /// Returns the inode of a name. Fails with `ELOOP` if the steps of the call are used up.
    pub(crate) fn get(&self, name: &[u8]) -> Result<Option<Ino>, Errno> {
        steps::take_lookup(self.0.size())?;
        Ok(self.0.get(name).copied())
    }

    /// Returns the names after `name` in order, or all names, with their inodes. Each name costs
    /// [`STEPS_PER_ENTRY`]. If the steps are used up, the last item is `ELOOP`.
    pub(crate) fn after(&self, name: Option<&[u8]>) -> impl Iterator<Item = Result<(&[u8], Ino), Errno>> {
        let from = name.map_or(Bound::Unbounded, Bound::Excluded);
        let mut names = self.0.range::<[u8], _>((from, Bound::Unbounded));
        let mut ended = false;
        std::iter::from_fn(move || {
            let (name, ino) = names.next().filter(|_| !ended)?;
            let charged = steps::take(STEPS_PER_ENTRY);
            ended = charged.is_err();
            Some(charged.map(|()| (&**name, *ino)))
        })
    }

    /// Returns all names in order without a charge. A snapshot belongs to no call, and some
    /// listings must be taken at once.
    pub(super) fn recorded(&self) -> impl Iterator<Item = (&[u8], Ino)> {
        self.0.iter().map(|(name, ino)| (&**name, *ino))
    }

    /// Adds a name, or changes the inode of a name. A call adds a bounded number of names.
    pub(crate) fn insert(&mut self, name: &[u8], ino: Ino) {
        self.0.insert_mut(name.into(), ino);
    }

    pub(crate) fn remove(&mut self, name: &[u8]) {
        self.0.remove_mut(name);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.size()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Node {
    /// Makes an inode at `parent` and `name`.
    pub(crate) fn new(meta: Meta, body: Body, parent: Ino, name: Arc<[u8]>) -> Self {
        Self { meta, body, parent, name, attributes: UserAttributes::default() }
    }

    /// Returns the inode's directory. Costs steps, because a path can have any number of
    /// directories. Fails with `ELOOP` if the steps of the call are used up.
    pub(crate) fn parent(&self) -> Result<Ino, Errno> {
        steps::take_ascent(self.name.len()).map(|()| self.parent)
    }

    /// Returns the inode's directory for a snapshot, which belongs to no call.
    pub(super) fn recorded_parent(&self) -> Ino {
        self.parent
    }

    /// Stores the inode's directory and the inode's name in this directory.
    pub(crate) fn set_place(&mut self, parent: Ino, name: Arc<[u8]>) {
        (self.parent, self.name) = (parent, name);
    }

    pub(crate) fn kind(&self) -> Type {
        match self.body {
            Body::File(_) => Type::File,
            Body::Directory(_) | Body::Mount(_) => Type::Directory,
            Body::Link(_) => Type::Link,
            Body::Device(_) => Type::Character,
            Body::Socket => Type::Socket,
        }
    }

    /// Returns whether the owner, the group and the mode grant `user` the permission bits `wanted`.
    pub(crate) fn allows(&self, user: &User, wanted: u32) -> bool {
        let is_directory = matches!(self.body, Body::Directory(_) | Body::Mount(_));
        user.may((self.meta.uid, self.meta.gid), self.meta.mode, is_directory, wanted)
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

    /// Returns the number of inodes that count for the limit: this inode, and one for each hidden
    /// name of an overlay.
    pub(crate) fn inodes(&self) -> u64 {
        1 + self.directory().and_then(|directory| directory.below.as_ref()).map_or(0, |below| below.inodes())
    }

    /// Returns the bytes that count for the limit: the content and the user attributes.
    pub(crate) fn stored(&self) -> u64 {
        self.content_stored() + self.attributes.stored()
    }

    /// Returns the bytes of the content that count for the limit.
    pub(crate) fn content_stored(&self) -> u64 {
        match &self.body {
            Body::File(content) => content.stored(),
            Body::Link(target) => target.len() as u64,
            Body::Directory(_) | Body::Device(_) | Body::Mount(_) | Body::Socket => 0,
        }
    }
}
