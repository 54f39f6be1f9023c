//! What a process has of the filesystem for itself: descriptors, working directory, umask. Next: `open.rs`.

mod snapshot;

pub(crate) use snapshot::ProcessFilesSnapshot;

use super::guard;
use super::node::Ino;
use super::tree::{FileSystem, SEARCH, User};
use super::view::View;
use super::walk::Place;
use crate::descriptors::Descriptors;
use crate::permissions::Permissions;
use coldframe_error::Errno;
use parking_lot::Mutex;
use std::sync::Arc;

/// The umask that a process begins with.
const UMASK: u32 = 0o022;

/// See the module.
pub(crate) struct ProcessFiles {
    pub(crate) descriptors: Mutex<Descriptors>,
    standing: Mutex<Standing>,
    permissions: Arc<Permissions>,
}

struct Standing {
    /// The working directory; none when it did not exist, and then the path that was asked for.
    directory: Option<Place>,
    path: Vec<u8>,
    umask: u32,
}

/// The node that a working directory holds on to.
fn held(place: Option<&Place>) -> Option<Ino> {
    if let Some(Place::Here(ino)) = place { Some(*ino) } else { None }
}

/// A directory that the guest may make its own.
fn enter(permissions: &Permissions, tree: &FileSystem, from: Option<&Place>, path: &[u8]) -> Result<Place, Errno> {
    let place = guard::find_directory(permissions, tree, from, path)?;
    // Who stays where it is goes nowhere.
    if path != b"." {
        guard::check_enter(permissions, tree, &place)?;
    }
    if !tree.is_directory(&place) {
        return Err(Errno::ENOTDIR);
    }
    match &place {
        Place::Here(ino) => tree.check(User::Guest, *ino, SEARCH)?,
        Place::There(mount, path) if tree.mount(*mount)?.stat(*mount, path)?.allows(User::Guest, SEARCH) => {}
        Place::There(..) => return Err(Errno::EACCES),
    }
    Ok(place)
}

impl ProcessFiles {
    /// Begins in `cwd`; if that is no directory, relative paths lead nowhere.
    pub(crate) fn new(tree: &Mutex<FileSystem>, cwd: &str, descriptors: Descriptors, permissions: Arc<Permissions>) -> Self {
        let mut tree = tree.lock();
        let found = tree.place(User::Guest, None, cwd.as_bytes()).ok();
        let directory = found.filter(|place| tree.is_directory(place));
        if let Some(ino) = held(directory.as_ref()) {
            tree.hold(ino);
        }
        let standing = Standing { directory, path: cwd.into(), umask: UMASK };
        Self { descriptors: Mutex::new(descriptors), standing: Mutex::new(standing), permissions }
    }

    /// The filesystem as this process sees it.
    pub(crate) fn view<'k>(&'k self, files: &'k Mutex<FileSystem>) -> View<'k> {
        let standing = self.standing.lock();
        View {
            files,
            user: User::Guest,
            cwd: standing.directory.clone(),
            umask: standing.umask,
            permissions: Some(&self.permissions),
        }
    }

    /// The old umask.
    pub(crate) fn set_umask(&self, mask: u32) -> u32 {
        std::mem::replace(&mut self.standing.lock().umask, mask & 0o777)
    }

    pub(crate) fn umask(&self) -> u32 {
        self.standing.lock().umask
    }

    /// The working directory, if there is one.
    pub(crate) fn standing_place(&self) -> Option<Place> {
        self.standing.lock().directory.clone()
    }

    pub(crate) fn chdir(&self, files: &Mutex<FileSystem>, path: &[u8]) -> Result<(), Errno> {
        let mut tree = files.lock();
        // Not locked while the path is walked: `/proc/self/cwd` looks at it.
        let from = self.standing_place();
        let place = enter(&self.permissions, &tree, from.as_ref(), path)?;
        let mut standing = self.standing.lock();
        if let Some(ino) = held(Some(&place)) {
            tree.hold(ino);
        }
        let left = standing.directory.replace(place);
        if let Some(ino) = held(left.as_ref()) {
            tree.release(ino);
        }
        Ok(())
    }

    /// The working directory's path as it is now.
    pub(crate) fn getcwd(&self, tree: &FileSystem) -> Result<Vec<u8>, Errno> {
        let standing = self.standing.lock();
        match &standing.directory {
            Some(place) => tree.path_of(place),
            None => Ok(standing.path.clone()),
        }
    }

    /// What a child begins with: the directory `cwd`, as seen from here, and this umask.
    pub(crate) fn child(
        &self,
        files: &Mutex<FileSystem>,
        cwd: &[u8],
        descriptors: Descriptors,
    ) -> Result<(Self, Vec<u8>), Errno> {
        let mut tree = files.lock();
        let from = self.standing_place();
        let place = enter(&self.permissions, &tree, from.as_ref(), cwd)?;
        let standing = self.standing.lock();
        if let Some(ino) = held(Some(&place)) {
            tree.hold(ino);
        }
        let path = tree.path_of(&place)?;
        let standing = Standing { directory: Some(place), path: path.clone(), umask: standing.umask };
        let permissions = self.permissions.clone();
        Ok((Self { descriptors: Mutex::new(descriptors), standing: Mutex::new(standing), permissions }, path))
    }

    /// The process has ended: it is nowhere any more.
    pub(crate) fn leave(&self, tree: &mut FileSystem) {
        let cwd = self.standing.lock().directory.take();
        if let Some(ino) = held(cwd.as_ref()) {
            tree.release(ino);
        }
    }
}
