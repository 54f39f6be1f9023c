//! Keeps the embedder's calls in the tree that the embedder named.
//!
//! A runtime's files are several trees: the files in memory, and the files of each mount. A program
//! can make a link anywhere in the trees that the program may change. The policy applies to the
//! program that follows the link, but not to the embedder. Without a further rule, the embedder's
//! `write('/workspace/upload.txt')` would change the file that a program chose. The file could be a
//! file of the host machine that the policy hides from the program.
//!
//! Therefore a path walk of the embedder that follows a link of a program enters no other mount
//! afterwards. The check is a part of the walk, so a program cannot replace the link between the
//! check and the use. Links inside one tree work as usual, and so do links from a mount to files in
//! memory. A link in a folder that no program can change was made on the host machine, and may lead
//! to another mount. `/proc` is no destination that needs protection, but its links lead to places
//! that programs choose. The library of Python needs no protection either. Next: `walk.rs`, which
//! asks for each step.

use super::mounts::Mount;
use super::tree::{FileSystem, ROOT};
use super::walk::{Location, join};
use crate::steps;
use coldframe_error::Errno;
use std::cell::RefCell;

/// The first link of a walk that a program may have made.
#[derive(Debug)]
pub(super) struct GuestLink {
    /// The mount that contains the link. `None` for the files in memory.
    tree: Option<usize>,
    directory: Location,
    name: Vec<u8>,
}

/// The reason why a walk of the embedder failed with `EXDEV`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Crossing {
    /// The guest path of the link.
    pub(super) link: String,
    /// The guest path of the mount that the link leads to.
    pub(super) mount: String,
}

thread_local! {
    static CROSSING: RefCell<Option<Crossing>> = const { RefCell::new(None) };
}

/// Removes and returns the reason of this thread's last walk that [`FileSystem::may_enter`] ended.
pub(super) fn take_crossing() -> Option<Crossing> {
    CROSSING.take()
}

impl FileSystem {
    /// Returns the link `name` in `directory`, if a program may have made the link. `place` is the
    /// location of the link.
    pub(super) fn guest_link(&self, directory: &Location, name: &[u8], place: &Location) -> Result<Option<GuestLink>, Errno> {
        if let Location::Mount(number, _) = place
            && self.is_unchangeable(*number)?
        {
            return Ok(None);
        }
        Ok(Some(GuestLink { tree: self.tree_of(directory)?, directory: directory.clone(), name: name.to_vec() }))
    }

    /// Fails with `EXDEV` if `place` is in a mount that does not contain the followed link. The
    /// caller must check each location that the walk reaches after the link.
    pub(super) fn may_enter(&self, followed: Option<&GuestLink>, place: &Location) -> Result<(), Errno> {
        let Some(link) = followed else { return Ok(()) };
        let Some(mount) = self.tree_of(place)? else { return Ok(()) };
        if link.tree == Some(mount) || self.mount(mount)?.is_built_in() {
            return Ok(());
        }
        let text = |path: Vec<u8>| String::from_utf8_lossy(&path).into_owned();
        let crossing = Crossing {
            link: text(join(self.path_of(&link.directory)?, &link.name)),
            mount: text(self.path_of(&Location::Mount(mount, Vec::new()))?),
        };
        CROSSING.set(Some(crossing));
        Err(Errno::EXDEV)
    }

    /// Returns the mount that contains a location. Returns `None` for a file of the runtime's own
    /// tree. The files of an overlay that are in memory belong to the overlay.
    fn tree_of(&self, place: &Location) -> Result<Option<usize>, Errno> {
        let mut ino = match place {
            Location::Mount(number, _) => return Ok(Some(*number)),
            Location::Memory(ino) => *ino,
        };
        while !self.raised.is_empty() {
            steps::take(1)?;
            if let Some(number) = (0..self.mounts.len()).find(|number| self.raised.get(&(*number, Box::default())) == Some(&ino))
            {
                return Ok(Some(number));
            }
            if ino == ROOT {
                break;
            }
            ino = self.node(ino)?.parent()?;
        }
        Ok(None)
    }

    /// Returns whether no program can make a link in the folder of a mount. The mount is then
    /// read-only or an overlay, and no other mount changes the same folder of the host machine.
    fn is_unchangeable(&self, number: usize) -> Result<bool, Errno> {
        let mount = self.mount(number)?;
        if mount.proc().is_some() || mount_is_writable(mount) {
            return Ok(false);
        }
        let Some(folder) = mount.host_path() else { return Ok(true) };
        let overlaps = |other: &[u8]| is_below(folder, other) || is_below(other, folder);
        Ok(!self.mounts.iter().any(|other| mount_is_writable(other) && other.host_path().is_some_and(overlaps)))
    }
}

/// Returns whether a program's changes reach the mounted folder or the app file system.
fn mount_is_writable(mount: &Mount) -> bool {
    mount.proc().is_none() && !mount.read_only && !mount.overlay
}

/// Returns whether `path` is `folder` or below `folder`.
fn is_below(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || folder.ends_with(b"/"))
}
