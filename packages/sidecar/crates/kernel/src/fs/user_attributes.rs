//! User attributes of files: pairs of a name that begins with `user.` and bytes, as Linux's
//! extended attributes.
//!
//! The attributes belong to the inode, so a rename keeps them and all hard links share them. A
//! snapshot shares the attributes with the runtime until one of both changes them. The number and
//! the bytes of an inode's attributes are bounded, because a change copies all of them. The bytes
//! count for the limit of the filesystem. Files of mounts have no user attributes. Next: `view.rs`.

use super::guard::RequestedOperations;
use super::node::{Ino, Node, Type};
use super::overlay::Raise;
use super::tree::{FileSystem, READ, WRITE, now};
use super::view::View;
use super::walk::{FinalLink, PathEnd};
use super::watch::Change;
use crate::permissions::operations::files;
use crate::steps;
use coldframe_error::Errno;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The beginning of every name. Linux's other namespaces do not exist.
const NAMESPACE: &[u8] = b"user.";
/// The length of the longest name in bytes.
const MAX_NAME: usize = 255;
/// The largest sum of the names and values of one inode, in bytes.
pub(crate) const MAX_BYTES: usize = 64 << 10;
/// The largest number of attributes of one inode.
pub(crate) const MAX_COUNT: usize = 256;
/// The bytes that an attribute counts besides its name and value.
const ENTRY: usize = 32;

/// The attribute must be new.
const CREATE: u32 = 1;
/// The attribute must exist.
const REPLACE: u32 = 2;

type Pairs = BTreeMap<Box<[u8]>, Box<[u8]>>;

/// The user attributes of one inode.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UserAttributes(Option<Arc<Pairs>>);

/// Fails unless an attribute can have the name.
fn check_name(name: &[u8]) -> Result<(), Errno> {
    match name.strip_prefix(NAMESPACE) {
        _ if name.len() > MAX_NAME => Err(Errno::ERANGE),
        None => Err(Errno::EOPNOTSUPP),
        Some(rest) if rest.is_empty() || rest.contains(&0) => Err(Errno::EINVAL),
        Some(_) => Ok(()),
    }
}

impl UserAttributes {
    /// Makes attributes from the pairs of a snapshot. Returns `None` if no inode can have the
    /// pairs.
    pub(crate) fn of<'a>(pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Option<Self> {
        let mut made = Pairs::new();
        for (name, value) in pairs {
            check_name(name).ok()?;
            if made.insert(name.into(), value.into()).is_some() {
                return None;
            }
        }
        fits(&made).then(|| Self::new(made))
    }

    fn new(pairs: Pairs) -> Self {
        Self((!pairs.is_empty()).then(|| Arc::new(pairs)))
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().flat_map(|pairs| pairs.iter()).map(|(name, value)| (&**name, &**value))
    }

    fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.as_ref()?.get(name).map(|value| &**value)
    }

    /// Returns the bytes that count for the limit of the filesystem.
    pub(crate) fn stored(&self) -> u64 {
        self.pairs().map(|(name, value)| (name.len() + value.len() + ENTRY) as u64).sum()
    }
}

fn fits(pairs: &Pairs) -> bool {
    let bytes: usize = pairs.iter().map(|(name, value)| name.len() + value.len()).sum();
    pairs.len() <= MAX_COUNT && bytes <= MAX_BYTES
}

impl FileSystem {
    /// Replaces the attributes of an inode by attributes that `change` has changed.
    fn change_attributes(&mut self, ino: Ino, change: impl FnOnce(&mut Pairs) -> Result<(), Errno>) -> Result<(), Errno> {
        let before = &self.node(ino)?.attributes;
        let held = before.stored();
        steps::take_bytes(usize::try_from(held).unwrap_or(usize::MAX))?;
        let mut pairs = before.0.as_deref().cloned().unwrap_or_default();
        change(&mut pairs)?;
        if !fits(&pairs) {
            return Err(Errno::ENOSPC);
        }
        let made = UserAttributes::new(pairs);
        let stored = made.stored();
        self.reserve(stored.saturating_sub(held), 0)?;
        self.return_space(held.saturating_sub(stored), 0);
        let node = self.node_mut(ino)?;
        (node.attributes, node.meta.ctime) = (made, now());
        self.notify_content(Change::Attributes, ino);
        Ok(())
    }
}

/// Fails with `EPERM` unless a file of this type can have user attributes, as on Linux.
fn check_kind(node: &Node) -> Result<(), Errno> {
    if matches!(node.kind(), Type::File | Type::Directory) { Ok(()) } else { Err(Errno::EPERM) }
}

fn last(follow: bool) -> FinalLink {
    if follow { FinalLink::Follow } else { FinalLink::Stay }
}

impl View<'_> {
    /// Sets a user attribute. `flags` are Linux's `XATTR_CREATE` and `XATTR_REPLACE`. Fails with
    /// `EOPNOTSUPP` for another name than `user.*` and in a mount. Fails with `E2BIG` for a long
    /// value, and with `ENOSPC` beyond the bounds of an inode.
    pub(crate) fn set_attribute(&self, path: &[u8], name: &[u8], value: &[u8], flags: u32, follow: bool) -> Result<(), Errno> {
        if flags & !(CREATE | REPLACE) != 0 {
            return Err(Errno::EINVAL);
        }
        check_name(name)?;
        if value.len() > MAX_BYTES {
            return Err(Errno::E2BIG);
        }
        self.change_attributes(path, follow, |pairs| {
            match pairs.contains_key(name) {
                true if flags & CREATE != 0 => return Err(Errno::EEXIST),
                false if flags & REPLACE != 0 => return Err(Errno::ENODATA),
                _ => pairs.insert(name.into(), value.into()),
            };
            Ok(())
        })
    }

    /// Removes a user attribute. Fails with `ENODATA` if the file has no such attribute.
    pub(crate) fn remove_attribute(&self, path: &[u8], name: &[u8], follow: bool) -> Result<(), Errno> {
        check_name(name)?;
        self.change_attributes(path, follow, |pairs| pairs.remove(name).map(drop).ok_or(Errno::ENODATA))
    }

    fn change_attributes(
        &self,
        path: &[u8],
        follow: bool,
        change: impl FnOnce(&mut Pairs) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let mut tree = self.lock();
        let wanted = RequestedOperations::only(files::WRITE);
        let PathEnd::Memory(end) = self.walk_to(&mut tree, path, last(follow), wanted, Raise::Itself)? else {
            return Err(Errno::EOPNOTSUPP);
        };
        let ino = end.existing()?;
        check_kind(tree.node(ino)?)?;
        tree.check(&self.user, ino, WRITE)?;
        tree.change_attributes(ino, change)
    }

    /// Returns the value of a user attribute. Fails with `ENODATA` if the file has no such
    /// attribute.
    pub(crate) fn attribute(&self, path: &[u8], name: &[u8], follow: bool) -> Result<Vec<u8>, Errno> {
        check_name(name)?;
        self.with_attributes(path, follow, files::READ, |tree, ino, attributes| {
            tree.check(&self.user, ino, READ)?;
            let value = attributes.get(name).ok_or(Errno::ENODATA)?;
            steps::take_bytes(value.len())?;
            Ok(value.to_vec())
        })
    }

    /// Returns the names of all user attributes. A NUL follows each name.
    pub(crate) fn attribute_names(&self, path: &[u8], follow: bool) -> Result<Vec<u8>, Errno> {
        self.with_attributes(path, follow, files::STAT, |_, _, attributes| {
            steps::take(attributes.pairs().count())?;
            Ok(attributes.pairs().flat_map(|(name, _)| [name, b"\0"].concat()).collect())
        })
    }

    /// Calls `read` with the attributes of a file. A file in a mount has no attributes.
    pub(crate) fn with_attributes<T>(
        &self,
        path: &[u8],
        follow: bool,
        operation: u32,
        read: impl FnOnce(&FileSystem, Ino, &UserAttributes) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let tree = self.lock();
        match self.walk(&tree, path, last(follow), RequestedOperations::only(operation))? {
            PathEnd::Memory(end) => {
                let ino = end.existing()?;
                read(&tree, ino, &tree.node(ino)?.attributes)
            }
            PathEnd::Mount(_) => Err(Errno::EOPNOTSUPP),
        }
    }
}
