//! What a process has of the filesystem for itself: descriptors, working directory, umask. Next: `open.rs`.

use super::node::Ino;
use super::tree::{FileSystem, SEARCH, User};
use super::view::View;
use super::walk::Place;
use crate::kernel::descriptors::Descriptors;
use crate::kernel::{Errno, Operations};
use parking_lot::Mutex;
use std::sync::Arc;

/// The umask that a process begins with.
const UMASK: u32 = 0o022;

/// See the module.
pub(crate) struct ProcessFiles {
    pub(crate) descriptors: Mutex<Descriptors>,
    standing: Mutex<Standing>,
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

impl ProcessFiles {
    /// Begins in `cwd`; if that is no directory, relative paths lead nowhere.
    pub(crate) fn new(tree: &Mutex<FileSystem>, cwd: &str, descriptors: usize) -> Self {
        let mut tree = tree.lock();
        let found = tree.place(User::Guest, None, cwd.as_bytes()).ok();
        let directory = found.filter(|place| tree.is_directory(place));
        if let Some(ino) = held(directory.as_ref()) {
            tree.hold(ino);
        }
        let standing = Standing { directory, path: cwd.into(), umask: UMASK };
        Self { descriptors: Mutex::new(Descriptors::new(descriptors)), standing: Mutex::new(standing) }
    }

    /// The filesystem as this process sees it.
    pub(crate) fn view<'k>(&self, files: &'k Mutex<FileSystem>) -> View<'k> {
        let standing = self.standing.lock();
        View { files, user: User::Guest, cwd: standing.directory.clone(), umask: standing.umask }
    }

    /// The old umask.
    pub(crate) fn set_umask(&self, mask: u32) -> u32 {
        std::mem::replace(&mut self.standing.lock().umask, mask & 0o777)
    }

    pub(crate) fn chdir(&self, files: &Mutex<FileSystem>, path: &[u8]) -> Result<(), Errno> {
        let mut tree = files.lock();
        let mut standing = self.standing.lock();
        let place = tree.place(User::Guest, standing.directory.as_ref(), path)?;
        if !tree.is_directory(&place) {
            return Err(Errno::ENOTDIR);
        }
        match &place {
            Place::Here(ino) => tree.check(User::Guest, *ino, SEARCH)?,
            Place::There(mount, path) if tree.mount(*mount)?.stat(*mount, path)?.allows(User::Guest, SEARCH) => {}
            Place::There(..) => return Err(Errno::EACCES),
        }
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

    /// The process has ended.
    pub(crate) fn close(&self, tree: &Mutex<FileSystem>, operations: &Arc<Operations>) {
        let open = self.descriptors.lock().close_all();
        let cwd = self.standing.lock().directory.take();
        let mut tree = tree.lock();
        tree.unwatch_all(operations);
        for ino in open.into_iter().chain(held(cwd.as_ref())) {
            tree.release(ino);
        }
    }
}
