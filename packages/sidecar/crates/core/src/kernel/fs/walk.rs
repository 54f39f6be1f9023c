//! From a path to an inode, as Linux walks: one name after the other, links followed in place, permissions checked in every directory.
//!
//! What a walk ends in is an [`End`]: the directory and the name that came last, and the node if there is one. Calls that make, remove or
//! rename look at the name; all others at the node. Next: `names.rs`.

use super::node::{Body, Ino, MAX_NAME};
use super::tree::{FileSystem, ROOT, SEARCH, User};
use crate::kernel::Errno;

/// Links that one walk follows.
const MAX_LINKS: u32 = 40;

/// What happens with a link at the path's end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    /// It is followed.
    Follow,
    /// It is what the path means, unless a slash comes after it.
    Stay,
    /// It is what the path means: the call is about the name.
    Name,
}

/// Where a path leads.
#[derive(Debug)]
pub(crate) struct End {
    /// The directory that holds, or would hold, the name.
    pub(crate) parent: Ino,
    pub(crate) name: Name,
    pub(crate) node: Option<Ino>,
    /// Whether a slash came after the name.
    pub(crate) slash: bool,
}

/// A path's last part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Name {
    Plain(Box<[u8]>),
    Root,
    Dot,
    DotDot,
}

impl End {
    /// The node; `ENOENT` when there is none.
    pub(crate) fn existing(&self) -> Result<Ino, Errno> {
        self.node.ok_or(Errno::ENOENT)
    }
}

impl FileSystem {
    /// Walks along `path`. `from` is where a relative one begins; none when the working directory does not exist.
    pub(crate) fn walk(&self, user: User, from: Option<Ino>, path: &[u8], last: Last) -> Result<End, Errno> {
        let mut rest = path.to_vec();
        let mut at = if path.first() == Some(&b'/') { ROOT } else { from.ok_or(Errno::ENOENT)? };
        if path.is_empty() {
            return Err(Errno::ENOENT);
        }
        let mut links = 0;
        let mut position = 0;
        let mut name = Name::Root;
        loop {
            while rest.get(position) == Some(&b'/') {
                position += 1;
            }
            let part = &rest[position..];
            if part.is_empty() {
                // Only slashes were left: a root, or a directory that dots or a link have led to.
                return Ok(End { parent: self.directory(at)?.parent, name, node: Some(at), slash: false });
            }
            let len = part.iter().position(|byte| *byte == b'/').unwrap_or(part.len());
            let (part, after) = part.split_at(len);
            let is_last = after.iter().all(|byte| *byte == b'/');
            let slash = !after.is_empty();
            let directory = self.directory(at)?;
            self.check(user, at, SEARCH)?;
            position += len;
            match part {
                b"." => {
                    name = Name::Dot;
                    continue;
                }
                b".." => {
                    name = Name::DotDot;
                    at = directory.parent;
                    continue;
                }
                _ if len > MAX_NAME => return Err(Errno::ENAMETOOLONG),
                _ => {}
            }
            let Some(&child) = directory.names.get(part) else {
                if is_last {
                    return Ok(End { parent: at, name: Name::Plain(part.into()), node: None, slash });
                }
                return Err(Errno::ENOENT);
            };
            let node = self.node(child)?;
            let follow = !is_last || last == Last::Follow || (last == Last::Stay && slash);
            match &node.body {
                Body::Link(target) if follow => {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(Errno::ELOOP);
                    }
                    if target.first() == Some(&b'/') {
                        at = ROOT;
                    }
                    rest = [&target[..], after].concat();
                    position = 0;
                    name = Name::Root;
                }
                _ if is_last => {
                    if slash && last != Last::Name && !node.is_directory() {
                        return Err(Errno::ENOTDIR);
                    }
                    return Ok(End { parent: at, name: Name::Plain(part.into()), node: Some(child), slash });
                }
                _ => at = child,
            }
        }
    }

    /// The absolute path of a directory; `ENOENT` when it has no name any more.
    pub(crate) fn path_of(&self, directory: Ino) -> Result<Vec<u8>, Errno> {
        let mut names: Vec<&[u8]> = Vec::new();
        let mut at = directory;
        while at != ROOT {
            if self.node(at)?.meta.links == 0 {
                return Err(Errno::ENOENT);
            }
            let directory = self.directory(at)?;
            names.push(&directory.name);
            at = directory.parent;
        }
        names.reverse();
        Ok([&b"/"[..], &names.join(&b'/')].concat())
    }
}
