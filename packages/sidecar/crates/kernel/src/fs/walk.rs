//! Resolves paths to inodes or to files of mounts, as Linux does. A walk proceeds name by name,
//! follows links, and checks the search permission of every directory in memory.
//!
//! The result of a walk is an [`End`]: the last directory, the last name, and the file of that
//! name, if the file exists. Calls that create, remove or rename files use the name. All other
//! calls use the file. [`MemoryEnd`] is an end in memory, and [`MountEnd`] is an end in a mount.
//! Next: `names.rs`, and `mounts/walk.rs` for the steps inside a mount.

use super::node::{Body, Ino, MAX_NAME, Type};
use super::stat::Stat;
use super::tree::{FileSystem, ROOT, SEARCH, WRITE};
use super::user::User;
use crate::permissions::Permissions;
use crate::steps;
use coldframe_error::Errno;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The maximum number of links that one walk follows.
const MAX_LINKS: u32 = 40;

/// The maximum number of names that one walk passes. A path without links has fewer names. The
/// bound stops walks through links with long targets.
const MAX_STEPS: u32 = 10_000;

/// How a walk treats a link at the path's end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FinalLink {
    /// Follows the link.
    Follow,
    /// Does not follow the link, unless a slash follows the name.
    Stay,
    /// Does not follow the link, because the call creates, removes or renames the name.
    Name,
    /// Follows the link. A slash after the last name of the path or of a followed link fails with
    /// `EISDIR`, because the call makes a file.
    Create,
    /// Does not follow the link. A slash after the last name fails with `EISDIR`, because the call
    /// makes a file.
    CreateNew,
}

/// The location of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Location {
    /// A file in memory, by its inode number.
    Memory(Ino),
    /// A file in a mount: the mount's number, and the path from the mount's root without a slash at
    /// either end.
    Mount(usize, #[serde(with = "serde_bytes")] Vec<u8>),
}

/// The progress of a walk. After an error, the remaining part starts with the name that failed,
/// relative to `at`.
pub(super) struct WalkProgress<'p> {
    pub(super) at: Location,
    /// The path to resolve: the caller's path, or the target of a followed link and the names after
    /// the link.
    rest: Vec<u8>,
    /// The offset in `rest` of the part that is not resolved yet.
    position: usize,
    /// Whether the result must contain no links, because the caller uses the result's path.
    exact: bool,
    /// The permissions to check for every directory that `..` leaves. If permissions are set, the
    /// result contains no links.
    pub(super) permissions: Option<&'p Permissions>,
}

/// The end of a path.
#[derive(Debug)]
pub(crate) struct End {
    pub(super) parent: Location,
    pub(super) name: Name,
    pub(super) node: Option<Location>,
    pub(super) slash: bool,
    pub(super) stat: Option<Stat>,
}

/// The end of a path in memory.
#[derive(Debug)]
pub(crate) struct MemoryEnd {
    /// The directory of the name. A file of that name need not exist.
    pub(crate) parent: Ino,
    pub(crate) name: Name,
    pub(crate) node: Option<Ino>,
    /// Whether a slash follows the name.
    pub(crate) slash: bool,
}

/// The end of a path in a mount.
#[derive(Debug)]
pub(crate) struct MountEnd {
    pub(crate) mount: usize,
    pub(crate) path: Vec<u8>,
    pub(crate) name: Name,
    /// The attributes of the file. `None` if the file does not exist.
    pub(crate) stat: Option<Stat>,
    pub(crate) slash: bool,
}

/// The end of a path in memory or in a mount.
#[derive(Debug)]
pub(crate) enum PathEnd {
    Memory(MemoryEnd),
    Mount(MountEnd),
}

/// The last part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Name {
    Plain(Box<[u8]>),
    /// The root of a filesystem: `/` or a mount point.
    Root,
    Dot,
    DotDot,
}

/// The file of a name.
pub(super) struct Found {
    pub(super) place: Location,
    pub(super) kind: Type,
    pub(super) stat: Option<Stat>,
}

impl WalkProgress<'_> {
    /// Returns the part of the path that is not resolved yet. After an error, this part starts with
    /// the name that failed.
    pub(super) fn left(&self) -> &[u8] {
        self.rest.get(self.position..).unwrap_or_default()
    }
}

impl MemoryEnd {
    /// Returns the inode. Fails with `ENOENT` if the path's end does not exist.
    pub(crate) fn existing(&self) -> Result<Ino, Errno> {
        self.node.ok_or(Errno::ENOENT)
    }
}

impl FileSystem {
    /// Resolves `path`. A relative path starts at `from`, and fails with `ENOENT` if `from` is
    /// `None`.
    pub(crate) fn walk(&self, user: &User, from: Option<&Location>, path: &[u8], last: FinalLink) -> Result<PathEnd, Errno> {
        self.side(self.steps(user, last, &mut self.course(from, path, false)?)?)
    }

    /// Returns the location of `path`. Fails with `ENOENT` if the file does not exist.
    pub(crate) fn place(&self, user: &User, from: Option<&Location>, path: &[u8]) -> Result<Location, Errno> {
        self.steps(user, FinalLink::Follow, &mut self.course(from, path, true)?)?.node.ok_or(Errno::ENOENT)
    }

    /// Returns the absolute path of `path`, without links and dots.
    pub(crate) fn real_path(&self, user: &User, from: Option<&Location>, path: &[u8]) -> Result<Vec<u8>, Errno> {
        self.real_path_of(&self.steps(user, FinalLink::Follow, &mut self.course(from, path, true)?)?)
    }

    /// Returns the absolute path of an existing end, without links and dots. The walk must have
    /// been exact.
    pub(super) fn real_path_of(&self, end: &End) -> Result<Vec<u8>, Errno> {
        let node = end.node.as_ref().ok_or(Errno::ENOENT)?;
        let (Location::Memory(ino), Name::Plain(name)) = (node, &end.name) else { return self.path_of(node) };
        if self.node(*ino)?.is_directory() { self.path_of(node) } else { Ok(join(self.path_of(&end.parent)?, name)) }
    }

    /// Starts a walk. A relative path starts at `from`. `exact` is [`WalkProgress::exact`]. Fails
    /// with `ENOENT` for an empty path.
    pub(super) fn course<'p>(&self, from: Option<&Location>, path: &[u8], exact: bool) -> Result<WalkProgress<'p>, Errno> {
        let at = match path.first() {
            None => return Err(Errno::ENOENT),
            Some(b'/') => Location::Memory(ROOT),
            Some(_) => self.present(from.ok_or(Errno::ENOENT)?.clone()),
        };
        Ok(WalkProgress { at, rest: path.to_vec(), position: 0, exact, permissions: None })
    }

    pub(super) fn steps(&self, user: &User, last: FinalLink, course: &mut WalkProgress<'_>) -> Result<End, Errno> {
        let exact = course.exact || course.permissions.is_some();
        let permissions = course.permissions;
        let WalkProgress { at, rest, position, .. } = course;
        let (mut links, mut passed, mut name) = (0, 0, Name::Root);
        // The host machine does not check the modes for a user that it does not know.
        let mut asked_host = exact || user.is_foreign();
        let mut followed = None;
        loop {
            if let Location::Mount(mount, at) = &*at
                && !std::mem::replace(&mut asked_host, true)
                && let Some(end) = self.mount(*mount)?.walk_at_once(*mount, at, &rest[*position..], last)?
            {
                return Ok(end);
            }
            while rest.get(*position) == Some(&b'/') {
                *position += 1;
            }
            let part = &rest[*position..];
            if part.is_empty() {
                // Only slashes are left. The path ends at a root, or at a directory that dots or a
                // link led to.
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
                    steps::take(1)?;
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
                _ if is_last && slash && matches!(last, FinalLink::Create | FinalLink::CreateNew) => return Err(Errno::EISDIR),
                _ => {}
            }
            let Some(found) = self.look(at, part)? else {
                if is_last {
                    self.may_change_mount(user, at, last)?;
                    return Ok(End { parent: at.clone(), name: Name::Plain(part.into()), node: None, slash, stat: None });
                }
                return Err(Errno::ENOENT);
            };
            self.may_enter(followed.as_ref(), &found.place)?;
            let follow = !is_last || matches!(last, FinalLink::Follow | FinalLink::Create) || (last == FinalLink::Stay && slash);
            if found.kind == Type::Link && follow {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::ELOOP);
                }
                if user.is_embedder() && followed.is_none() {
                    followed = self.guest_link(at, part, &found.place)?;
                }
                let (start, target) = self.follow(at.clone(), &found.place)?;
                self.may_enter(followed.as_ref(), &start)?;
                *rest = [&target[..], after].concat();
                (*at, *position, name, asked_host) = (self.present(start), 0, Name::Root, exact || user.is_foreign());
                continue;
            }
            if is_last {
                if slash && last != FinalLink::Name && found.kind != Type::Directory {
                    return Err(Errno::ENOTDIR);
                }
                if last == FinalLink::Name {
                    self.may_change_mount(user, at, last)?;
                }
                let name = if self.is_root(&found.place) { Name::Root } else { Name::Plain(part.into()) };
                return Ok(End { parent: at.clone(), name, node: Some(found.place), slash, stat: found.stat });
            }
            if found.kind != Type::Directory {
                return Err(Errno::ENOTDIR);
            }
            // The walk makes one attempt per mount. If the host machine cannot resolve a path at
            // once, another attempt with the remaining path fails too.
            asked_host |= matches!(found.place, Location::Mount(..)) && matches!(at, Location::Mount(..));
            *at = found.place;
            *position = next;
        }
    }

    fn is_root(&self, place: &Location) -> bool {
        match place {
            Location::Memory(ino) => self.is_overlay_root(*ino),
            Location::Mount(_, path) => path.is_empty(),
        }
    }

    fn may_search(&self, user: &User, at: &Location) -> Result<(), Errno> {
        match at {
            Location::Memory(ino) => {
                self.directory(*ino)?;
                self.check(user, *ino, SEARCH)
            }
            // The host machine checks the access of the sidecar's user, which is the access of
            // `user` and of `root`.
            Location::Mount(..) if !user.is_foreign() => Ok(()),
            Location::Mount(mount, path) => {
                let stat = self.mount(*mount)?.stat(*mount, path)?;
                if stat.allows(user, SEARCH) { Ok(()) } else { Err(Errno::EACCES) }
            }
        }
    }

    /// Fails with `EACCES` if a user that the host machine does not know may not change the names
    /// of a directory in a mount. The calls check directories in memory.
    fn may_change_mount(&self, user: &User, at: &Location, last: FinalLink) -> Result<(), Errno> {
        let Location::Mount(mount, path) = at else { return Ok(()) };
        if !user.is_foreign() || matches!(last, FinalLink::Follow | FinalLink::Stay) {
            return Ok(());
        }
        let stat = self.mount(*mount)?.stat(*mount, path)?;
        if stat.allows(user, SEARCH | WRITE) { Ok(()) } else { Err(Errno::EACCES) }
    }

    fn look(&self, at: &Location, name: &[u8]) -> Result<Option<Found>, Errno> {
        match at {
            Location::Memory(ino) => {
                let directory = self.directory(*ino)?;
                let Some(child) = directory.names.get(name)? else { return self.look_below(directory, name) };
                let node = self.node(child)?;
                let place =
                    if let Body::Mount(mount) = node.body { Location::Mount(mount, Vec::new()) } else { Location::Memory(child) };
                Ok(Some(Found { place, kind: node.kind(), stat: None }))
            }
            Location::Mount(mount, path) => {
                steps::take(1)?;
                self.mount(*mount)?.look(*mount, path, name)
            }
        }
    }

    /// Returns the location where a link's target starts, and the target. `at` is the directory of
    /// the link.
    fn follow(&self, at: Location, link: &Location) -> Result<(Location, Vec<u8>), Errno> {
        match link {
            Location::Memory(ino) => {
                let Body::Link(target) = &self.node(*ino)?.body else { return Err(Errno::EINVAL) };
                let start = if target.first() == Some(&b'/') { Location::Memory(ROOT) } else { at };
                Ok((start, target.to_vec()))
            }
            Location::Mount(mount, path) => self.follow_on_host(at, *mount, path),
        }
    }

    /// Returns a directory's parent. The parent of `/` is `/`, and the parent of a mount's root is
    /// the directory of the mount point.
    fn parent_of(&self, at: &Location) -> Result<Location, Errno> {
        match at {
            Location::Memory(ino) => Ok(Location::Memory(self.node(*ino)?.parent()?)),
            Location::Mount(mount, path) if path.is_empty() => Ok(self.mount(*mount)?.parent.clone()),
            Location::Mount(mount, path) => {
                steps::take(1)?;
                let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                Ok(self.present(Location::Mount(*mount, path[..end].to_vec())))
            }
        }
    }

    pub(super) fn side(&self, end: End) -> Result<PathEnd, Errno> {
        let End { parent, name, node, slash, stat } = end;
        let (mount, path) = match (node, parent) {
            (Some(Location::Mount(mount, path)), _) => (mount, path),
            (None, Location::Mount(mount, path)) => {
                let Name::Plain(name) = &name else { return Err(Errno::EIO) };
                let path = if path.is_empty() { name.to_vec() } else { join(path, name) };
                return Ok(PathEnd::Mount(MountEnd { mount, path, name: Name::Plain(name.clone()), stat: None, slash }));
            }
            (Some(Location::Memory(ino)), Location::Memory(parent)) => {
                return Ok(PathEnd::Memory(MemoryEnd { parent, name, node: Some(ino), slash }));
            }
            // Dots led out of the mount to a directory in memory. No call uses the name of such an
            // end.
            (Some(Location::Memory(ino)), Location::Mount(..)) => {
                return Ok(PathEnd::Memory(MemoryEnd { parent: ino, name: Name::DotDot, node: Some(ino), slash }));
            }
            (None, Location::Memory(parent)) => return Ok(PathEnd::Memory(MemoryEnd { parent, name, node: None, slash })),
        };
        let stat = match stat {
            Some(stat) => stat,
            None => self.mount(mount)?.stat(mount, &path)?,
        };
        Ok(PathEnd::Mount(MountEnd { mount, path, name, stat: Some(stat), slash }))
    }

    /// Returns the absolute path of a directory in memory or of any file in a mount. Fails with
    /// `ENOENT` if a name on the path was removed.
    pub(crate) fn path_of(&self, place: &Location) -> Result<Vec<u8>, Errno> {
        let (mut place, mut parts): (_, Vec<Arc<[u8]>>) = (place.clone(), Vec::new());
        loop {
            place = match place {
                Location::Memory(ROOT) => break,
                Location::Memory(ino) => {
                    let node = self.node(ino)?;
                    if node.meta.links == 0 {
                        return Err(Errno::ENOENT);
                    }
                    parts.push(node.name.clone());
                    Location::Memory(node.parent()?)
                }
                Location::Mount(mount, path) if self.is_overlay(mount) => {
                    let (ino, rest) = self.nearest(mount, &path)?;
                    if !rest.is_empty() {
                        parts.push(rest.into());
                    }
                    Location::Memory(ino)
                }
                Location::Mount(mount, path) => {
                    if !path.is_empty() {
                        parts.push(path.into());
                    }
                    let mount = self.mount(mount)?;
                    parts.push(mount.name[..].into());
                    mount.parent.clone()
                }
            };
        }
        let mut path = Vec::with_capacity(parts.iter().map(|name| name.len() + 1).sum::<usize>().max(1));
        for name in parts.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        if path.is_empty() {
            path.push(b'/');
        }
        Ok(path)
    }
}

/// Appends a name to a directory's path.
pub(super) fn join(mut directory: Vec<u8>, name: &[u8]) -> Vec<u8> {
    if directory.last() != Some(&b'/') {
        directory.push(b'/');
    }
    directory.extend_from_slice(name);
    directory
}
