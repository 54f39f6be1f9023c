//! From a path to an inode or a host's file, as Linux walks: one name after the other, links followed in place, permissions checked in every
//! directory.
//!
//! What a walk ends in is an [`End`]: the directory and the name that came last, and what is there, if anything. Calls that make, remove or
//! rename look at the name; all others at the thing. Everything in memory is a [`Spot`], everything on the host a [`HostSpot`]; which
//! one it is decides who carries out the call. Next: `names.rs`; `host/walk.rs` for steps inside a mount.

use super::node::{Body, Ino, MAX_NAME, Type};
use super::stat::Stat;
use super::tree::{FileSystem, ROOT, SEARCH, User};
use crate::permissions::Permissions;
use coldframe_error::Errno;
use serde::{Deserialize, Serialize};

/// Links that one walk follows.
const MAX_LINKS: u32 = 40;

/// Names that one walk passes: more than a path can have, and an end to links whose targets are full of names.
const MAX_STEPS: u32 = 10_000;

/// What happens with a link at the path's end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    /// It is followed.
    Follow,
    /// It is what the path means, unless a slash comes after it.
    Stay,
    /// It is what the path means: the call is about the name.
    Name,
    /// It is followed, and a slash after the path's last name, or a followed link's, is `EISDIR`: what the call makes is no directory.
    Create,
    /// The same, but the link is what the path means.
    CreateNew,
}

/// Where something lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Place {
    /// In memory.
    Here(Ino),
    /// In a mounted folder: the mount's number and the path from its root, without slashes at its ends.
    There(usize, #[serde(with = "serde_bytes")] Vec<u8>),
}

/// How far a walk has come. After an error, what failed is the first name that is left, seen from where it is.
pub(super) struct Course<'p> {
    pub(super) at: Place,
    /// The path that is walked: the caller's, until a link is followed.
    rest: Vec<u8>,
    /// Where in it the walk is.
    position: usize,
    /// The place must be without links, because its path matters.
    exact: bool,
    /// Who is asked about directories that are left again; the place is without links then, too.
    pub(super) permissions: Option<&'p Permissions>,
}

/// Where a path leads.
#[derive(Debug)]
pub(crate) struct End {
    pub(super) parent: Place,
    pub(super) name: Name,
    pub(super) node: Option<Place>,
    pub(super) slash: bool,
    pub(super) stat: Option<Stat>,
}

/// The end of a path in memory.
#[derive(Debug)]
pub(crate) struct Spot {
    /// The directory that holds, or would hold, the name.
    pub(crate) parent: Ino,
    pub(crate) name: Name,
    pub(crate) node: Option<Ino>,
    /// Whether a slash came after the name.
    pub(crate) slash: bool,
}

/// The end of a path in a mounted folder.
#[derive(Debug)]
pub(crate) struct HostSpot {
    pub(crate) mount: usize,
    pub(crate) path: Vec<u8>,
    pub(crate) name: Name,
    /// What is there, if anything.
    pub(crate) stat: Option<Stat>,
    pub(crate) slash: bool,
}

/// See [`Spot`] and [`HostSpot`].
#[derive(Debug)]
pub(crate) enum Side {
    Memory(Spot),
    Host(HostSpot),
}

/// A path's last part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Name {
    Plain(Box<[u8]>),
    /// A filesystem's root: `/`, or where something is mounted.
    Root,
    Dot,
    DotDot,
}

/// What a name stands for.
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) kind: Type,
    pub(super) stat: Option<Stat>,
}

impl Course<'_> {
    /// What is left of the path: what failed comes first.
    pub(super) fn left(&self) -> &[u8] {
        self.rest.get(self.position..).unwrap_or_default()
    }
}

impl Spot {
    /// The node; `ENOENT` when there is none.
    pub(crate) fn existing(&self) -> Result<Ino, Errno> {
        self.node.ok_or(Errno::ENOENT)
    }
}

impl FileSystem {
    /// Walks along `path`. `from` is where a relative one begins; none when the working directory does not exist.
    pub(crate) fn walk(&self, user: User, from: Option<&Place>, path: &[u8], last: Last) -> Result<Side, Errno> {
        self.side(self.steps(user, last, &mut self.course(from, path, false)?)?)
    }

    /// The place that `path` leads to; `ENOENT` when nothing is there.
    pub(crate) fn place(&self, user: User, from: Option<&Place>, path: &[u8]) -> Result<Place, Errno> {
        self.steps(user, Last::Follow, &mut self.course(from, path, true)?)?.node.ok_or(Errno::ENOENT)
    }

    /// The absolute path that `path` has without links and dots.
    pub(crate) fn real_path(&self, user: User, from: Option<&Place>, path: &[u8]) -> Result<Vec<u8>, Errno> {
        self.real_path_of(&self.steps(user, Last::Follow, &mut self.course(from, path, true)?)?)
    }

    /// The absolute path, without links and dots, of where an exact walk has ended and something is.
    pub(super) fn real_path_of(&self, end: &End) -> Result<Vec<u8>, Errno> {
        let node = end.node.as_ref().ok_or(Errno::ENOENT)?;
        let (Place::Here(ino), Name::Plain(name)) = (node, &end.name) else { return self.path_of(node) };
        if self.node(*ino)?.is_directory() { self.path_of(node) } else { Ok(join(self.path_of(&end.parent)?, name)) }
    }

    /// The beginning of a walk. `from` is where a relative path begins; `exact`: see [`Course`].
    pub(super) fn course<'p>(&self, from: Option<&Place>, path: &[u8], exact: bool) -> Result<Course<'p>, Errno> {
        let at = match path.first() {
            None => return Err(Errno::ENOENT),
            Some(b'/') => Place::Here(ROOT),
            Some(_) => self.present(from.ok_or(Errno::ENOENT)?.clone()),
        };
        Ok(Course { at, rest: path.to_vec(), position: 0, exact, permissions: None })
    }

    pub(super) fn steps(&self, user: User, last: Last, course: &mut Course<'_>) -> Result<End, Errno> {
        let exact = course.exact || course.permissions.is_some();
        let permissions = course.permissions;
        let Course { at, rest, position, .. } = course;
        let (mut links, mut passed, mut name) = (0, 0, Name::Root);
        let mut asked_host = exact;
        loop {
            if let Place::There(mount, at) = &*at
                && !std::mem::replace(&mut asked_host, true)
                && let Some(end) = self.mount(*mount)?.leap(*mount, at, &rest[*position..], last)?
            {
                return Ok(end);
            }
            while rest.get(*position) == Some(&b'/') {
                *position += 1;
            }
            let part = &rest[*position..];
            if part.is_empty() {
                // Only slashes were left: a root, or a directory that dots or a link have led to.
                return Ok(End { parent: self.parent_of(at)?, name, node: Some(at.clone()), slash: false, stat: None });
            }
            passed += 1;
            if passed > MAX_STEPS {
                return Err(Errno::ELOOP);
            }
            let len = part.iter().position(|byte| *byte == b'/').unwrap_or(part.len());
            let (part, after) = part.split_at(len);
            let is_last = after.iter().all(|byte| *byte == b'/');
            let slash = !after.is_empty();
            self.may_search(user, at)?;
            let next = *position + len;
            match part {
                b"." => {
                    (name, *position) = (Name::Dot, next);
                    continue;
                }
                b".." => {
                    if let Some(permissions) = permissions {
                        self.may_leave(permissions, at)?;
                    }
                    (name, *position) = (Name::DotDot, next);
                    *at = self.parent_of(at)?;
                    continue;
                }
                _ if len > MAX_NAME => return Err(Errno::ENAMETOOLONG),
                _ if is_last && slash && matches!(last, Last::Create | Last::CreateNew) => return Err(Errno::EISDIR),
                _ => {}
            }
            let Some(found) = self.look(at, part)? else {
                if is_last {
                    return Ok(End { parent: at.clone(), name: Name::Plain(part.into()), node: None, slash, stat: None });
                }
                return Err(Errno::ENOENT);
            };
            let follow = !is_last || matches!(last, Last::Follow | Last::Create) || (last == Last::Stay && slash);
            if found.kind == Type::Link && follow {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::ELOOP);
                }
                let (start, target) = self.follow(at.clone(), &found.place)?;
                *rest = [&target[..], after].concat();
                (*at, *position, name, asked_host) = (self.present(start), 0, Name::Root, exact);
                continue;
            }
            if is_last {
                if slash && last != Last::Name && found.kind != Type::Directory {
                    return Err(Errno::ENOTDIR);
                }
                let name = if self.is_root(&found.place) { Name::Root } else { Name::Plain(part.into()) };
                return Ok(End { parent: at.clone(), name, node: Some(found.place), slash, stat: found.stat });
            }
            if found.kind != Type::Directory {
                return Err(Errno::ENOTDIR);
            }
            // Once per mount: what the host cannot answer for a path, it cannot for the rest of it either.
            asked_host |= matches!(found.place, Place::There(..)) && matches!(at, Place::There(..));
            *at = found.place;
            *position = next;
        }
    }

    fn is_root(&self, place: &Place) -> bool {
        match place {
            Place::Here(ino) => self.is_overlay_root(*ino),
            Place::There(_, path) => path.is_empty(),
        }
    }

    fn may_search(&self, user: User, at: &Place) -> Result<(), Errno> {
        match at {
            Place::Here(ino) => {
                self.directory(*ino)?;
                self.check(user, *ino, SEARCH)
            }
            // The host checks whether we may, and what we may not the guest may not.
            Place::There(..) => Ok(()),
        }
    }

    fn look(&self, at: &Place, name: &[u8]) -> Result<Option<Found>, Errno> {
        match at {
            Place::Here(ino) => {
                let directory = self.directory(*ino)?;
                let Some(&child) = directory.names.get(name) else { return self.look_below(directory, name) };
                let node = self.node(child)?;
                let place = if let Body::Mount(mount) = node.body { Place::There(mount, Vec::new()) } else { Place::Here(child) };
                Ok(Some(Found { place, kind: node.kind(), stat: None }))
            }
            Place::There(mount, path) => self.mount(*mount)?.look(*mount, path, name),
        }
    }

    /// Where a link's target begins, and the target. `at` is the directory that holds the link.
    fn follow(&self, at: Place, link: &Place) -> Result<(Place, Vec<u8>), Errno> {
        match link {
            Place::Here(ino) => {
                let Body::Link(target) = &self.node(*ino)?.body else { return Err(Errno::EINVAL) };
                let start = if target.first() == Some(&b'/') { Place::Here(ROOT) } else { at };
                Ok((start, target.to_vec()))
            }
            Place::There(mount, path) => self.follow_on_host(at, *mount, path),
        }
    }

    /// A directory's parent; a root's is itself.
    fn parent_of(&self, at: &Place) -> Result<Place, Errno> {
        match at {
            Place::Here(ino) => Ok(Place::Here(self.node(*ino)?.parent)),
            Place::There(mount, path) if path.is_empty() => Ok(self.mount(*mount)?.parent.clone()),
            Place::There(mount, path) => {
                let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                Ok(self.present(Place::There(*mount, path[..end].to_vec())))
            }
        }
    }

    pub(super) fn side(&self, end: End) -> Result<Side, Errno> {
        let End { parent, name, node, slash, stat } = end;
        let (mount, path) = match (node, parent) {
            (Some(Place::There(mount, path)), _) => (mount, path),
            (None, Place::There(mount, path)) => {
                let Name::Plain(name) = &name else { return Err(Errno::EIO) };
                let path = if path.is_empty() { name.to_vec() } else { join(path, name) };
                return Ok(Side::Host(HostSpot { mount, path, name: Name::Plain(name.clone()), stat: None, slash }));
            }
            (Some(Place::Here(ino)), Place::Here(parent)) => {
                return Ok(Side::Memory(Spot { parent, name, node: Some(ino), slash }));
            }
            // Dots lead out of a mount to a directory in memory, whose name does not matter any more.
            (Some(Place::Here(ino)), Place::There(..)) => {
                return Ok(Side::Memory(Spot { parent: ino, name: Name::DotDot, node: Some(ino), slash }));
            }
            (None, Place::Here(parent)) => return Ok(Side::Memory(Spot { parent, name, node: None, slash })),
        };
        let stat = match stat {
            Some(stat) => stat,
            None => self.mount(mount)?.stat(mount, &path)?,
        };
        Ok(Side::Host(HostSpot { mount, path, name, stat: Some(stat), slash }))
    }

    /// The absolute path of a directory in memory, or of anything on the host; `ENOENT` when it has no name any more.
    pub(crate) fn path_of(&self, place: &Place) -> Result<Vec<u8>, Errno> {
        let (mut place, mut parts) = (place.clone(), Vec::new());
        loop {
            place = match place {
                Place::Here(ROOT) => break,
                Place::Here(ino) => {
                    let node = self.node(ino)?;
                    if node.meta.links == 0 {
                        return Err(Errno::ENOENT);
                    }
                    parts.push(node.name.to_vec());
                    Place::Here(node.parent)
                }
                Place::There(mount, path) if self.is_overlay(mount) => {
                    let (ino, rest) = self.nearest(mount, &path)?;
                    if !rest.is_empty() {
                        parts.push(rest);
                    }
                    Place::Here(ino)
                }
                Place::There(mount, path) => {
                    if !path.is_empty() {
                        parts.push(path);
                    }
                    let mount = self.mount(mount)?;
                    parts.push(mount.name.to_vec());
                    mount.parent.clone()
                }
            };
        }
        parts.reverse();
        Ok([&b"/"[..], &parts.join(&b'/')].concat())
    }
}

/// A directory's path and a name in it.
pub(super) fn join(mut directory: Vec<u8>, name: &[u8]) -> Vec<u8> {
    if directory.last() != Some(&b'/') {
        directory.push(b'/');
    }
    directory.extend_from_slice(name);
    directory
}
