//! What a process has of the filesystem for itself: descriptors, working directory, umask. Next: `open.rs`.

use super::node::Ino;
use super::tree::{FileSystem, SEARCH, User};
use super::walk::Last;
use crate::kernel::Errno;
use crate::kernel::descriptors::Descriptors;
use parking_lot::Mutex;

/// The umask that a process begins with.
const UMASK: u32 = 0o022;

/// See the module.
pub(crate) struct ProcessFiles {
    pub(crate) descriptors: Mutex<Descriptors>,
    place: Mutex<Place>,
}

struct Place {
    /// The working directory, and its path when it was entered. None when it did not exist.
    directory: Option<Ino>,
    path: Vec<u8>,
    umask: u32,
}

impl ProcessFiles {
    /// Begins in `cwd`; if that is no directory, relative paths lead nowhere.
    pub(crate) fn new(tree: &Mutex<FileSystem>, cwd: &str, descriptors: usize) -> Self {
        let mut tree = tree.lock();
        let found = tree.walk(User::Guest, None, cwd.as_bytes(), Last::Follow);
        let directory = found.ok().and_then(|end| end.node).filter(|ino| tree.directory(*ino).is_ok());
        if let Some(ino) = directory {
            tree.hold(ino);
        }
        let place = Place { directory, path: cwd.into(), umask: UMASK };
        Self { descriptors: Mutex::new(Descriptors::new(descriptors)), place: Mutex::new(place) }
    }

    pub(crate) fn cwd(&self) -> Option<Ino> {
        self.place.lock().directory
    }

    pub(crate) fn umask(&self) -> u32 {
        self.place.lock().umask
    }

    /// The old umask.
    pub(crate) fn set_umask(&self, mask: u32) -> u32 {
        std::mem::replace(&mut self.place.lock().umask, mask & 0o777)
    }

    pub(crate) fn chdir(&self, tree: &mut FileSystem, path: &[u8]) -> Result<(), Errno> {
        let ino = tree.walk(User::Guest, self.cwd(), path, Last::Follow)?.existing()?;
        tree.directory(ino)?;
        tree.check(User::Guest, ino, SEARCH)?;
        let path = tree.path_of(ino)?;
        tree.hold(ino);
        let mut place = self.place.lock();
        let left = place.directory.replace(ino);
        place.path = path;
        drop(place);
        if let Some(left) = left {
            tree.release(left);
        }
        Ok(())
    }

    /// The working directory's path as it is now.
    pub(crate) fn getcwd(&self, tree: &FileSystem) -> Result<Vec<u8>, Errno> {
        let place = self.place.lock();
        match place.directory {
            Some(ino) => tree.path_of(ino),
            None => Ok(place.path.clone()),
        }
    }

    /// The process has ended.
    pub(crate) fn close(&self, tree: &Mutex<FileSystem>) {
        let held = self.descriptors.lock().close_all();
        let cwd = self.place.lock().directory.take();
        let mut tree = tree.lock();
        for ino in held.into_iter().chain(cwd) {
            tree.release(ino);
        }
    }
}
