//! The filesystem state of one process: descriptors, working directory, umask, ids. The working
//! directory keeps its inode alive. Next: `open.rs`.

mod snapshot;

pub(crate) use snapshot::ProcessFilesSnapshot;

use super::guard;
use super::lock::FilesLock;
use super::node::Ino;
use super::tree::{FileSystem, SEARCH};
use super::user::{Owner, User};
use super::view::View;
use super::walk::Location;
use crate::descriptors::Descriptors;
use crate::permissions::Permissions;
use crate::processes::Credentials;
use coldframe_error::Errno;
use coldframe_panics::runtime::Mutex;
use std::sync::Arc;

/// The umask that a process starts with.
const UMASK: u32 = 0o022;

/// The descriptors, the working directory, the umask and the ids of one process.
pub(crate) struct ProcessFiles {
    pub(crate) descriptors: Mutex<Descriptors>,
    context: Mutex<PathContext>,
    permissions: Arc<Permissions>,
}

struct PathContext {
    /// The working directory. `None` if the directory did not exist at the start. `path` is then
    /// the requested path.
    directory: Option<Location>,
    path: Vec<u8>,
    umask: u32,
    credentials: Credentials,
}

/// Returns the inode that a working directory keeps alive. Returns `None` for a directory of a
/// mount.
fn held(place: Option<&Location>) -> Option<Ino> {
    if let Some(Location::Memory(ino)) = place { Some(*ino) } else { None }
}

/// Finds the working directory for `chdir` or for a new child. Fails with `ENOTDIR` for a file, and
/// with `EACCES` if `user` may not enter the directory.
fn enter(
    user: &User,
    permissions: &Permissions,
    tree: &FileSystem,
    from: Option<&Location>,
    path: &[u8],
) -> Result<Location, Errno> {
    let place = guard::find_directory(user, permissions, tree, from, path)?;
    // `chdir(".")` keeps the directory, so no permission is needed.
    if path != b"." {
        guard::check_enter(permissions, tree, &place)?;
    }
    if !tree.is_directory(&place) {
        return Err(Errno::ENOTDIR);
    }
    match &place {
        Location::Memory(ino) => tree.check(user, *ino, SEARCH)?,
        Location::Mount(mount, path) if tree.mount(*mount)?.stat(*mount, path)?.allows(user, SEARCH) => {}
        Location::Mount(..) => return Err(Errno::EACCES),
    }
    Ok(place)
}

impl ProcessFiles {
    /// Makes the state of a process that starts in `cwd`. If `cwd` is not a directory, the process
    /// has no working directory, and relative paths fail.
    pub(crate) fn new(
        tree: &FilesLock,
        cwd: &str,
        descriptors: Descriptors,
        permissions: Arc<Permissions>,
        owner: Owner,
    ) -> Self {
        let mut tree = tree.lock();
        let credentials = Credentials::of(owner);
        let found = tree.place(&User::Program(credentials.effective()), None, cwd.as_bytes()).ok();
        let directory = found.filter(|place| tree.is_directory(place));
        if let Some(ino) = held(directory.as_ref()) {
            tree.hold(ino);
        }
        let context = PathContext { directory, path: cwd.into(), umask: UMASK, credentials };
        Self { descriptors: Mutex::new(descriptors), context: Mutex::new(context), permissions }
    }

    /// Returns the filesystem as this process sees it.
    pub(crate) fn view<'k>(&'k self, files: &'k FilesLock) -> View<'k> {
        let context = self.context.lock();
        View {
            files,
            user: User::Program(context.credentials.effective()),
            cwd: context.directory.clone(),
            umask: context.umask,
            permissions: Some(&self.permissions),
        }
    }

    /// Returns the real user of the process, whose access the call `access` checks.
    pub(crate) fn real_user(&self) -> User {
        User::Program(self.credentials().real())
    }

    /// Returns the user that accesses files.
    pub(crate) fn user(&self) -> User {
        User::Program(self.context.lock().credentials.effective())
    }

    pub(crate) fn credentials(&self) -> Credentials {
        self.context.lock().credentials
    }

    /// Changes the ids. After an error, the ids are unchanged.
    pub(crate) fn change_credentials(&self, change: impl FnOnce(&mut Credentials) -> Result<(), Errno>) -> Result<(), Errno> {
        let mut context = self.context.lock();
        let mut changed = context.credentials;
        change(&mut changed)?;
        context.credentials = changed;
        Ok(())
    }

    /// Sets the ids for the start of a program, as [`Credentials::started`] describes.
    pub(crate) fn start_program(&self, raises: bool) {
        let mut context = self.context.lock();
        context.credentials = context.credentials.started(raises);
    }

    /// Sets the umask. Returns the old umask.
    pub(crate) fn set_umask(&self, mask: u32) -> u32 {
        std::mem::replace(&mut self.context.lock().umask, mask & 0o777)
    }

    pub(crate) fn umask(&self) -> u32 {
        self.context.lock().umask
    }

    /// Returns the working directory. Returns `None` if the directory did not exist at the start.
    pub(crate) fn working_directory(&self) -> Option<Location> {
        self.context.lock().directory.clone()
    }

    /// Sets the working directory. A relative path starts at `start`, or at the working directory.
    pub(crate) fn chdir(&self, files: &FilesLock, start: Option<Location>, path: &[u8]) -> Result<(), Errno> {
        let mut tree = files.lock();
        // The working directory's lock must be free during the path walk, because `/proc/self/cwd`
        // reads the working directory.
        let from = start.or_else(|| self.working_directory());
        let place = enter(&self.user(), &self.permissions, &tree, from.as_ref(), path)?;
        let mut context = self.context.lock();
        if let Some(ino) = held(Some(&place)) {
            tree.hold(ino);
        }
        let left = context.directory.replace(place);
        if let Some(ino) = held(left.as_ref()) {
            tree.release(ino);
        }
        Ok(())
    }

    /// Returns the working directory's present path. If the directory did not exist at the start,
    /// returns the requested path.
    pub(crate) fn getcwd(&self, tree: &FileSystem) -> Result<Vec<u8>, Errno> {
        let context = self.context.lock();
        match &context.directory {
            Some(place) => tree.path_of(place),
            None => Ok(context.path.clone()),
        }
    }

    /// Makes the state of a child. The child's directory is `cwd`, relative to the directory of
    /// this process. The child has the umask and the ids of this process. Also returns the
    /// directory's path.
    pub(crate) fn child(&self, files: &FilesLock, cwd: &[u8], descriptors: Descriptors) -> Result<(Self, Vec<u8>), Errno> {
        let mut tree = files.lock();
        let from = self.working_directory();
        let place = enter(&self.user(), &self.permissions, &tree, from.as_ref(), cwd)?;
        let context = self.context.lock();
        if let Some(ino) = held(Some(&place)) {
            tree.hold(ino);
        }
        let path = tree.path_of(&place)?;
        let context = PathContext { directory: Some(place), path: path.clone(), ..*context };
        let permissions = self.permissions.clone();
        Ok((Self { descriptors: Mutex::new(descriptors), context: Mutex::new(context), permissions }, path))
    }

    /// Releases the inode of the working directory when the process ends.
    pub(crate) fn leave(&self, tree: &mut FileSystem) {
        let cwd = self.context.lock().directory.take();
        if let Some(ino) = held(cwd.as_ref()) {
            tree.release(ino);
        }
    }
}
