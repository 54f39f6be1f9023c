//! A runtime's files as bytes. Inodes are sorted by number, and names are sorted by their bytes, so
//! that equal files have equal bytes. The chunks of a file are written unchanged. A range that was
//! never written has no chunk.
//!
//! Every runtime starts with the standard inodes (`../base.rs`). Only changes of the standard
//! inodes are written. An ordinary runtime has mostly the 200 standard inodes, and reading these
//! inodes took a third of a resume. The hash [`standard`] must be stored beside the bytes. Next:
//! `check.rs`.

use super::FilesSnapshot;
use crate::encoding::bounded;
use crate::fs::base;
use crate::fs::content::Content;
use crate::fs::mounts::{HostWatchSnapshot, MountSnapshot};
use crate::fs::node::{Body, Device, Directory, Ino, Meta, Node};
use crate::fs::overlay::Below;
use crate::fs::tree::{Dense, Space};
use crate::fs::user_attributes::UserAttributes;
use crate::fs::watch::WatchSnapshot;
use rpds::{HashTrieMapSync, RedBlackTreeMapSync, RedBlackTreeSetSync};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_bytes::Bytes;
use sha2::{Digest, Sha256};
use std::sync::{Arc, LazyLock};

/// A bound above the number of standard inodes.
const MAX_GONE: usize = 16_384;
/// A bound above the number of mounts that fit into one request.
const MAX_MOUNTS: usize = 1 << 20;
/// The highest value of the limit `watches`.
const MAX_WATCHES: usize = 65_536;

/// The serialized form of [`FilesSnapshot`].
#[derive(Serialize, Deserialize)]
struct Record<'a> {
    /// The inodes that differ from the standard inodes.
    #[serde(borrow)]
    nodes: Nodes<'a>,
    /// The numbers of the standard inodes that were removed.
    #[serde(deserialize_with = "bounded::<_, _, MAX_GONE>")]
    gone: Vec<Ino>,
    last: Ino,
    used: Space,
    #[serde(borrow)]
    raised: Vec<(usize, &'a Bytes, Ino)>,
    #[serde(deserialize_with = "bounded::<_, _, MAX_MOUNTS>")]
    mounts: Vec<MountSnapshot>,
    #[serde(deserialize_with = "bounded::<_, _, MAX_WATCHES>")]
    watches: Vec<WatchSnapshot>,
    #[serde(deserialize_with = "bounded::<_, _, MAX_WATCHES>")]
    host_watches: Vec<HostWatchSnapshot>,
}

/// The inodes to write, or the inodes that were read. Writing converts the inodes one by one.
enum Nodes<'a> {
    Tree(&'a HashTrieMapSync<Ino, Node, Dense>),
    Read(Vec<NodeRecord<'a>>),
}

#[derive(PartialEq, Serialize, Deserialize)]
struct NodeRecord<'a> {
    ino: Ino,
    meta: Meta,
    parent: Ino,
    #[serde(borrow)]
    name: &'a Bytes,
    #[serde(borrow)]
    body: BodyRecord<'a>,
    /// The user attributes, sorted by name.
    #[serde(borrow)]
    attributes: Vec<(&'a Bytes, &'a Bytes)>,
}

#[derive(PartialEq, Serialize, Deserialize)]
enum BodyRecord<'a> {
    File {
        len: u64,
        #[serde(borrow)]
        chunks: Vec<(u64, &'a Bytes)>,
    },
    Directory {
        #[serde(borrow)]
        names: Vec<(&'a Bytes, Ino)>,
        #[serde(borrow)]
        below: Option<BelowRecord<'a>>,
    },
    Link(#[serde(borrow)] &'a Bytes),
    Device(Device),
    Socket,
    Mount(usize),
}

#[derive(PartialEq, Serialize, Deserialize)]
struct BelowRecord<'a> {
    mount: usize,
    #[serde(borrow)]
    path: &'a Bytes,
    #[serde(borrow)]
    gone: Vec<&'a Bytes>,
}

static STANDARD: LazyLock<[u8; 32]> = LazyLock::new(|| {
    let mut nodes: Vec<_> = base::nodes().iter().map(|(ino, node)| NodeRecord::of(*ino, node)).collect();
    nodes.sort_unstable_by_key(|record| record.ino);
    // The standard inodes are constants and are written to memory, so the call cannot fail.
    Sha256::digest(postcard::to_stdvec(&nodes).unwrap_or_default()).into()
});

/// Returns the hash of the standard inodes. The bytes of a snapshot can be read only by a build
/// whose standard inodes have this hash.
pub(crate) fn standard() -> &'static [u8; 32] {
    &STANDARD
}

/// Returns whether an inode equals the standard inode of its number. An inode also counts as equal
/// after a change was undone, so that equal files have equal bytes.
fn is_standard(ino: Ino, node: &Node) -> bool {
    base::nodes()
        .get(&ino)
        .is_some_and(|first| std::ptr::eq(first, node) || NodeRecord::of(ino, first) == NodeRecord::of(ino, node))
}

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tree(tree) => {
                let mut nodes: Vec<(&Ino, &Node)> = tree.iter().filter(|(ino, node)| !is_standard(**ino, node)).collect();
                nodes.sort_unstable_by_key(|(ino, _)| **ino);
                serializer.collect_seq(nodes.into_iter().map(|(ino, node)| NodeRecord::of(*ino, node)))
            }
            Self::Read(records) => records.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Nodes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::Read)
    }
}

impl<'a> NodeRecord<'a> {
    fn of(ino: Ino, node: &'a Node) -> Self {
        let body = match &node.body {
            Body::File(content) => BodyRecord::File {
                len: content.len(),
                chunks: content.chunks().map(|(index, chunk)| (index, Bytes::new(chunk))).collect(),
            },
            Body::Directory(directory) => BodyRecord::Directory {
                names: directory.names.recorded().map(|(name, ino)| (Bytes::new(name), ino)).collect(),
                below: directory.below.as_deref().map(|below| BelowRecord {
                    mount: below.mount,
                    path: Bytes::new(&below.path),
                    gone: below.gone.iter().map(|name| Bytes::new(name)).collect(),
                }),
            },
            Body::Link(target) => BodyRecord::Link(Bytes::new(target)),
            Body::Device(device) => BodyRecord::Device(*device),
            Body::Socket => BodyRecord::Socket,
            Body::Mount(number) => BodyRecord::Mount(*number),
        };
        let attributes = node.attributes.pairs().map(|(name, value)| (Bytes::new(name), Bytes::new(value))).collect();
        Self { ino, meta: node.meta, parent: node.recorded_parent(), name: Bytes::new(&node.name), body, attributes }
    }

    fn node(&self) -> Result<Node, &'static str> {
        let body = match &self.body {
            BodyRecord::File { len, chunks } => {
                let chunks = chunks.iter().map(|(index, chunk)| (*index, &chunk[..]));
                Body::File(Content::of_chunks(*len, chunks).ok_or("a file with chunks that do not fit together")?)
            }
            BodyRecord::Directory { names, below } => {
                let mut directory = Directory::new();
                for (name, ino) in names {
                    directory.names.insert(name, *ino);
                }
                directory.below = below.as_ref().map(|below| {
                    let mut gone = RedBlackTreeSetSync::new_sync();
                    below.gone.iter().for_each(|name| gone.insert_mut(name[..].into()));
                    Box::new(Below { mount: below.mount, path: below.path.to_vec(), gone })
                });
                if directory.names.len() != names.len() {
                    return Err("a directory with a name twice");
                }
                Body::Directory(directory)
            }
            BodyRecord::Link(target) => Body::Link(Arc::from(&target[..])),
            BodyRecord::Device(device) => Body::Device(*device),
            BodyRecord::Socket => Body::Socket,
            BodyRecord::Mount(number) => Body::Mount(*number),
        };
        let mut node = Node::new(self.meta, body, self.parent, Arc::from(&self.name[..]));
        let attributes = UserAttributes::of(self.attributes.iter().map(|(name, value)| (&name[..], &value[..])));
        node.attributes = attributes.ok_or("a file with impossible user attributes")?;
        Ok(node)
    }
}

impl Serialize for FilesSnapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut gone: Vec<Ino> = base::nodes().keys().filter(|ino| !self.nodes.contains_key(ino)).copied().collect();
        gone.sort_unstable();
        let record = Record {
            nodes: Nodes::Tree(&self.nodes),
            gone,
            last: self.last,
            used: self.used,
            raised: self.raised.iter().map(|((mount, path), ino)| (*mount, Bytes::new(path), *ino)).collect(),
            mounts: self.mounts.clone(),
            watches: self.watches.clone(),
            host_watches: self.host_watches.clone(),
        };
        record.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FilesSnapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Record { nodes, gone, last, used, raised, mounts, watches, host_watches } = Record::deserialize(deserializer)?;
        let mut made = Self {
            nodes: base::nodes().clone(),
            last,
            used,
            raised: RedBlackTreeMapSync::new_sync(),
            mounts,
            watches,
            host_watches,
            nameless: Vec::new(),
        };
        let Nodes::Read(records) = nodes else { return Err(D::Error::custom("inodes that were not read from bytes")) };
        if !records.is_sorted_by(|one, next| one.ino < next.ino) {
            return Err(D::Error::custom("two inodes with one number"));
        }
        for ino in gone {
            if !made.nodes.remove_mut(&ino) {
                return Err(D::Error::custom("a removed inode that is not a standard inode"));
            }
        }
        for record in records {
            if record.meta.links == 0 {
                made.nameless.push(record.ino);
            }
            let node = record.node().map_err(D::Error::custom)?;
            made.nodes.insert_mut(record.ino, node);
        }
        for (mount, path, ino) in raised {
            made.raised.insert_mut((mount, path[..].into()), ino);
        }
        Ok(made)
    }
}
