//! Checks a runtime's permissions on files. Every walk of a program states the operations that
//! follow, and the check applies to the file at the walk's end.
//!
//! The check uses the real path of the file, without links, dots and `/proc`, never the path that
//! the program passed. If a walk fails, the check uses the part of the path that is known. A denied
//! directory therefore does not reveal its content. An open descriptor was checked when it was
//! opened. Operations other than reading and writing, such as `fchmod`, are checked again with the
//! file's present path. A file without a name has no path, so operations on it are not checked.
//! Next: `open.rs`.

use super::node::Ino;
use super::node::Type;
use super::tree::FileSystem;
use super::view::View;
use super::walk::{End, FinalLink, Location, Name, PathEnd, join};
use crate::Process;
use crate::descriptors::Target;
use crate::permissions::operations::{Operations, files};
use crate::permissions::policy::Scope;
use crate::permissions::{About, Denied, Permissions};
use coldframe_error::Errno;

/// The operations of a call, for each file that the call's walk can find.
#[derive(Clone, Copy)]
pub(crate) struct RequestedOperations {
    pub(super) found: Operations,
    pub(super) directory: Operations,
    pub(super) missing: Operations,
}

impl RequestedOperations {
    pub(crate) const fn only(operations: Operations) -> Self {
        Self { found: operations, directory: operations, missing: operations }
    }
}

impl<'k> View<'k> {
    /// Returns the permissions to check about files. Returns `None` if no rules exist or the
    /// embedder makes the call.
    fn permissions_to_check(&self) -> Option<&'k Permissions> {
        self.permissions.filter(|permissions| permissions.checks(Scope::Fs))
    }

    /// Walks along a path and checks the permissions on the file at the end.
    pub(crate) fn walk(
        &self,
        tree: &FileSystem,
        path: &[u8],
        last: FinalLink,
        wanted: RequestedOperations,
    ) -> Result<PathEnd, Errno> {
        match self.permissions_to_check() {
            None => tree.walk(self.user, self.cwd.as_ref(), path, last),
            Some(permissions) => tree.side(self.end(tree, permissions, path, last, wanted)?.0),
        }
    }

    /// Repeats a walk of the present call. The permissions are not checked again.
    pub(super) fn walk_again(&self, tree: &FileSystem, path: &[u8], last: FinalLink) -> Result<PathEnd, Errno> {
        let mut course = tree.course(self.cwd.as_ref(), path, self.permissions_to_check().is_some())?;
        tree.side(tree.steps(self.user, last, &mut course)?)
    }

    /// Returns the real path of a file. Fails unless the program may read the file's attributes.
    pub(crate) fn real_path(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let tree = self.lock();
        match self.permissions_to_check() {
            None => tree.real_path(self.user, self.cwd.as_ref(), path),
            Some(permissions) => {
                let (end, _) = self.end(&tree, permissions, path, FinalLink::Follow, RequestedOperations::only(files::STAT))?;
                tree.real_path_of(&end)
            }
        }
    }

    /// Walks along a path and checks the permissions. Returns the walk's end and the checked path.
    fn end(
        &self,
        tree: &FileSystem,
        permissions: &Permissions,
        path: &[u8],
        last: FinalLink,
        wanted: RequestedOperations,
    ) -> Result<(End, Option<Vec<u8>>), Errno> {
        let mut course = tree.course(self.cwd.as_ref(), path, true)?;
        course.permissions = Some(permissions);
        match tree.steps(self.user, last, &mut course) {
            Ok(end) => {
                let real = tree.path_to_check(&end)?;
                if let Some(real) = &real {
                    let operations = match tree.kind_at(&end)? {
                        None => wanted.missing,
                        Some(Type::Directory) => wanted.directory,
                        Some(_) => wanted.found,
                    };
                    tree.check_path(permissions, real, operations)?;
                }
                Ok((end, real))
            }
            // A host call has no reply yet, so the whole system call will run again.
            Err(Errno::ERESTART) => Err(Errno::ERESTART),
            Err(error) => {
                let known = tree.path_of(&course.at).map_err(|_| error)?;
                tree.check_path(permissions, &extend_known_path(known, course.left()), wanted.missing)?;
                Err(error)
            }
        }
    }

    /// Checks the permissions for a rename. If `both` is set, checks a link instead, after which
    /// the file has both paths. Both paths must have been walked before.
    pub(super) fn may_move(&self, tree: &FileSystem, from: (&[u8], FinalLink), to: &[u8], both: bool) -> Result<(), Errno> {
        let Some(permissions) = self.permissions_to_check() else { return Ok(()) };
        let end = |path: &[u8], last| tree.steps(self.user, last, &mut tree.course(self.cwd.as_ref(), path, true)?);
        let (one, other) = (end(from.0, from.1)?, end(to, FinalLink::Name)?);
        let (Some(real), Some(new)) = (tree.path_to_check(&one)?, tree.path_to_check(&other)?) else { return Ok(()) };
        let is_directory = tree.kind_at(&one)? == Some(Type::Directory);
        permissions.check_move(&real, &new, is_directory, both).map_err(|denied| tree.explain(denied))
    }

    /// Removes the environment variables that a child must not get.
    pub(crate) fn filter_env(&self, env: &mut Vec<(String, String)>, given: Option<&[(String, String)]>) {
        if let Some(permissions) = self.permissions {
            permissions.filter_env(crate::caller_scope::current_caller(), env, given);
        }
    }

    /// Returns whether operations on the file at a path's end are allowed. The listener of
    /// decisions receives no report. Used for operations that are only a part of a call.
    pub(super) fn allows(&self, tree: &FileSystem, path: &[u8], operations: Operations) -> bool {
        let Some(permissions) = self.permissions_to_check() else { return true };
        let end = tree
            .course(self.cwd.as_ref(), path, true)
            .and_then(|mut course| tree.steps(self.user, FinalLink::Follow, &mut course));
        let real = end.and_then(|end| tree.path_to_check(&end));
        real.is_ok_and(|real| real.is_none_or(|real| permissions.sees(&real, operations)))
    }

    /// Fails if a file must not be executed. `name` is the name of the program in the file.
    pub(super) fn may_run(&self, tree: &FileSystem, path: &[u8], name: Option<&str>) -> Result<(), Errno> {
        let Some(permissions) = self.permissions.filter(|permissions| permissions.checks(Scope::ChildProcess)) else {
            return Ok(());
        };
        let end = tree.steps(self.user, FinalLink::Follow, &mut tree.course(self.cwd.as_ref(), path, true)?)?;
        // A file without a name has no path. The check then uses `/`.
        let real = tree.path_to_check(&end)?.unwrap_or_else(|| b"/".to_vec());
        let last = real.rsplit(|byte| *byte == b'/').next().map(String::from_utf8_lossy).unwrap_or_default();
        let about = About::Program(&real, name.unwrap_or(&last));
        permissions.check(about, crate::permissions::operations::children::SPAWN).map_err(|denied| tree.explain(denied))
    }
}

/// Appends the names of `left` to a known path, up to the first `..`.
fn extend_known_path(mut path: Vec<u8>, left: &[u8]) -> Vec<u8> {
    for name in left.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".") {
        if name == b".." {
            break;
        }
        path = join(path, name);
    }
    path
}

impl FileSystem {
    fn check_path(&self, permissions: &Permissions, path: &[u8], operations: Operations) -> Result<(), Errno> {
        permissions.check(About::Path(path), operations).map_err(|denied| self.explain(denied))
    }

    /// Stores the explanation of a denied operation and returns the error number.
    pub(super) fn explain(&self, denied: Denied) -> Errno {
        self.reason.set(denied.to_string());
        denied.errno()
    }

    /// Fails if a walk must not leave a directory through `..`. A program cannot leave a directory
    /// whose existence is secret.
    pub(super) fn may_leave(&self, permissions: &Permissions, at: &Location) -> Result<(), Errno> {
        match self.path_of(at) {
            Ok(path) => self.check_path(permissions, &path, files::STAT),
            Err(_) => Ok(()),
        }
    }

    /// Returns the path to check for the end of an exact walk. Returns `None` for a file without a
    /// name and for an open stream.
    fn path_to_check(&self, end: &End) -> Result<Option<Vec<u8>>, Errno> {
        match (&end.node, &end.name) {
            (None, Name::Plain(name)) => Ok(Some(join(self.path_of(&end.parent)?, name))),
            (None, _) => Err(Errno::EACCES),
            (Some(Location::Mount(_, path)), _) if path.contains(&0) => Ok(None),
            (Some(place @ Location::Mount(..)), _) => self.path_of(place).map(Some),
            (Some(Location::Memory(ino)), Name::Plain(name)) if !self.node(*ino)?.is_directory() => {
                Ok(Some(join(self.path_of(&end.parent)?, name)))
            }
            (Some(Location::Memory(ino)), _) => self.name_of(*ino),
        }
    }

    /// Returns the path of an inode that the walk did not reach by a name.
    fn name_of(&self, ino: Ino) -> Result<Option<Vec<u8>>, Errno> {
        if self.node(ino)?.meta.links == 0 {
            return Ok(None);
        }
        self.path_of(&Location::Memory(ino)).map(Some).map_err(|_| Errno::EACCES)
    }

    fn kind_at(&self, end: &End) -> Result<Option<Type>, Errno> {
        Ok(match (&end.node, end.stat) {
            (None, _) => None,
            (_, Some(stat)) => Some(stat.kind),
            (Some(Location::Memory(ino)), None) => Some(self.node(*ino)?.kind()),
            (Some(Location::Mount(mount, path)), None) => Some(self.mount(*mount)?.stat(*mount, path)?.kind),
        })
    }
}

/// Checks an operation on an open descriptor, other than reading and writing.
pub(super) fn check_open(process: &Process, tree: &FileSystem, target: &Target, operations: Operations) -> Result<(), Errno> {
    let permissions = &process.kernel.permissions;
    if !permissions.checks(Scope::Fs) {
        return Ok(());
    }
    let path = match target {
        Target::Stream { .. } | Target::Socket(_) | Target::Lost => None,
        Target::File(ino) | Target::Device(_, ino) | Target::Directory(Location::Memory(ino)) => tree.name_of(*ino)?,
        Target::Directory(place) => Some(tree.path_of(place)?),
        Target::Host(file) => Some(tree.path_of(&Location::Mount(file.number, file.path.clone()))?),
    };
    path.map_or(Ok(()), |path| tree.check_path(permissions, &path, operations))
}

/// Fails if a process must not change to a directory. The process needs the permission to read the
/// directory's attributes and the permission to change its working directory.
pub(super) fn check_enter(permissions: &Permissions, tree: &FileSystem, place: &Location) -> Result<(), Errno> {
    if !permissions.checks(Scope::Fs) && !permissions.checks(Scope::Process) {
        return Ok(());
    }
    let path = tree.path_of(place)?;
    tree.check_path(permissions, &path, files::STAT)?;
    let about = String::from_utf8_lossy(&path);
    let operation = crate::permissions::operations::process::CHDIR;
    permissions.check(About::Process(&about), operation).map_err(|denied| tree.explain(denied))
}

/// Finds the directory for `chdir`. If the walk fails, the error reveals only facts that the
/// permissions allow.
pub(super) fn find_directory(
    permissions: &Permissions,
    tree: &FileSystem,
    from: Option<&Location>,
    path: &[u8],
) -> Result<Location, Errno> {
    let user = super::tree::User::Guest;
    let mut course = tree.course(from, path, true)?;
    course.permissions = permissions.checks(Scope::Fs).then_some(permissions);
    match tree.steps(user, FinalLink::Follow, &mut course) {
        Ok(End { node: Some(place), .. }) => Ok(place),
        Err(Errno::ERESTART) => Err(Errno::ERESTART),
        ended => {
            let error = ended.err().unwrap_or(Errno::ENOENT);
            let known = tree.path_of(&course.at).map_err(|_| error)?;
            tree.check_path(permissions, &extend_known_path(known, course.left()), files::STAT)?;
            Err(error)
        }
    }
}
