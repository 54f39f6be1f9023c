//! Checks a runtime's permissions on files. Every path walk of a program has the operations that
//! follow as an argument. The check applies to the file at the end of the path.
//!
//! The check uses the real path of the file, without links, dots and `/proc`, never the path that
//! the program passed. If the path walk fails, the check uses the part of the path that is known. A
//! denied directory therefore does not reveal its content. A descriptor's file was checked at the
//! open. Operations other than reading and writing, such as `fchmod`, are checked again with the
//! file's present path. A file without a name has no path, so operations on such a file are not
//! checked. No rule denies a read of Python's library (`mounts/library.rs`). Next: `open.rs`.

use super::node::Ino;
use super::node::Type;
use super::tree::FileSystem;
use super::user::User;
use super::view::View;
use super::walk::{End, FinalLink, Location, Name, PathEnd, join};
use crate::Process;
use crate::descriptors::Target;
use crate::permissions::operations::{Operations, files};
use crate::permissions::policy::Scope;
use crate::permissions::{About, Denied, Permissions};
use crate::steps::StepScope;
use crate::text::{Text, Variables};
use coldframe_error::Errno;

/// The operations of a call for the end of a path: for a file, for a directory, and for a missing
/// file.
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
    /// Returns the permissions, if the call must be checked against the rules about files. Returns
    /// `None` if no such rules exist or the embedder makes the call.
    fn permissions_to_check(&self) -> Option<&'k Permissions> {
        self.permissions.filter(|permissions| permissions.checks(Scope::Fs))
    }

    /// Resolves a path and checks the permissions on the file at the end.
    pub(crate) fn walk(
        &self,
        tree: &FileSystem,
        path: &[u8],
        last: FinalLink,
        wanted: RequestedOperations,
    ) -> Result<PathEnd, Errno> {
        match self.permissions_to_check() {
            None => tree.walk(&self.user, self.cwd.as_ref(), path, last),
            Some(permissions) => tree.side(self.end(tree, permissions, path, last, wanted)?.0),
        }
    }

    /// Resolves a path of the present call again. The permissions are not checked again.
    pub(super) fn walk_again(&self, tree: &FileSystem, path: &[u8], last: FinalLink) -> Result<PathEnd, Errno> {
        let mut course = tree.course(self.cwd.as_ref(), path, self.permissions_to_check().is_some())?;
        tree.side(tree.steps(&self.user, last, &mut course)?)
    }

    /// Returns the real path of a file. Fails with `EACCES` if the program may not read the file's
    /// attributes.
    pub(crate) fn real_path(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let tree = self.lock();
        match self.permissions_to_check() {
            None => tree.real_path(&self.user, self.cwd.as_ref(), path),
            Some(permissions) => {
                let (end, _) = self.end(&tree, permissions, path, FinalLink::Follow, RequestedOperations::only(files::STAT))?;
                tree.real_path_of(&end)
            }
        }
    }

    /// Resolves a path and checks the permissions. Returns the path's end and the checked path. The
    /// checked path is `None` for a file without a name and for an open stream.
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
        let walked = tree.steps(&self.user, last, &mut course);
        // The check has its own steps. Otherwise the steps that are left would reveal to the
        // program whether a denied file exists.
        let _steps = StepScope::begin();
        match walked {
            Ok(end) => {
                let real = tree.path_to_check(&end)?;
                if let Some(real) = &real {
                    let operations = match tree.kind_at(&end)? {
                        None => wanted.missing,
                        Some(Type::Directory) => wanted.directory,
                        Some(_) => wanted.found,
                    };
                    let place = end.node.as_ref().unwrap_or(&end.parent);
                    tree.check_path(permissions, real, FileSystem::deniable(place, operations))?;
                }
                Ok((end, real))
            }
            // A host call has no reply yet, so the whole system call will run again.
            Err(Errno::ERESTART) => Err(Errno::ERESTART),
            Err(error) => {
                let known = tree.path_of(&course.at).map_err(|_| error)?;
                let operations = FileSystem::deniable(&course.at, wanted.missing);
                tree.check_path(permissions, &extend_known_path(known, course.left()), operations)?;
                Err(error)
            }
        }
    }

    /// Checks the permissions for a rename, or for a hard link if `both` is set. After a hard link,
    /// the file has both paths. The caller must have resolved both paths before.
    pub(super) fn may_move(&self, tree: &FileSystem, from: (&[u8], FinalLink), to: &[u8], both: bool) -> Result<(), Errno> {
        let Some(permissions) = self.permissions_to_check() else { return Ok(()) };
        let end = |path: &[u8], last| tree.steps(&self.user, last, &mut tree.course(self.cwd.as_ref(), path, true)?);
        let (one, other) = (end(from.0, from.1)?, end(to, FinalLink::Name)?);
        let (Some(real), Some(new)) = (tree.path_to_check(&one)?, tree.path_to_check(&other)?) else { return Ok(()) };
        let is_directory = tree.kind_at(&one)? == Some(Type::Directory);
        permissions.check_move(&real, &new, is_directory, both).map_err(|denied| tree.explain(denied))
    }

    /// Removes the environment variables that a child must not receive.
    pub(crate) fn filter_env(&self, env: &mut Variables, given: Option<&[(Text, Text)]>) {
        if let Some(permissions) = self.permissions {
            permissions.filter_env(crate::caller_scope::current_caller(), env, given);
        }
    }

    /// Returns whether operations on the file at a path's end are allowed. The listener of
    /// decisions receives no report, because the operations are only a part of a call.
    pub(super) fn allows(&self, tree: &FileSystem, path: &[u8], operations: Operations) -> bool {
        let Some(permissions) = self.permissions_to_check() else { return true };
        let end = tree
            .course(self.cwd.as_ref(), path, true)
            .and_then(|mut course| tree.steps(&self.user, FinalLink::Follow, &mut course));
        let Ok(end) = end else { return false };
        let operations = FileSystem::deniable(end.node.as_ref().unwrap_or(&end.parent), operations);
        let real = tree.path_to_check(&end);
        real.is_ok_and(|real| real.is_none_or(|real| permissions.sees(&real, operations)))
    }

    /// Fails with `EACCES` if the policy denies the execution of a file. `name` is the name of the
    /// program in the file. `None` means the file's own name.
    pub(super) fn may_run(&self, tree: &FileSystem, path: &[u8], name: Option<&str>) -> Result<(), Errno> {
        let Some(permissions) = self.permissions.filter(|permissions| permissions.checks(Scope::ChildProcess)) else {
            return Ok(());
        };
        let end = tree.steps(&self.user, FinalLink::Follow, &mut tree.course(self.cwd.as_ref(), path, true)?)?;
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

    /// Stores the reason of a denied operation and returns the error number.
    pub(crate) fn explain(&self, denied: Denied) -> Errno {
        self.reason.set(denied.to_string());
        denied.errno()
    }

    /// Fails with `EACCES` if the program may not read the attributes of the directory `at`, which
    /// a path leaves through `..`. Otherwise such a path would reveal whether the directory exists.
    pub(super) fn may_leave(&self, permissions: &Permissions, at: &Location) -> Result<(), Errno> {
        match self.path_of(at) {
            Ok(path) => self.check_path(permissions, &path, Self::deniable(at, files::STAT)),
            // A removed directory has no path.
            Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the path to check for the end of a path walk. Returns `None` for a file without a
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

    /// Returns the path of an inode, or `None` for a file without a name. Fails with `EACCES` if
    /// the path is unknown.
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
    let operations = match target {
        Target::Directory(place) => FileSystem::deniable(place, operations),
        Target::Host(file) => FileSystem::deniable(&Location::Mount(file.number, Vec::new()), operations),
        _ => operations,
    };
    path.map_or(Ok(()), |path| tree.check_path(permissions, &path, operations))
}

/// Fails with `EACCES` if a process must not change to a directory. The process needs the
/// permission to read the directory's attributes and the permission to change its working
/// directory.
pub(super) fn check_enter(permissions: &Permissions, tree: &FileSystem, place: &Location) -> Result<(), Errno> {
    if !permissions.checks(Scope::Fs) && !permissions.checks(Scope::Process) {
        return Ok(());
    }
    let path = tree.path_of(place)?;
    tree.check_path(permissions, &path, FileSystem::deniable(place, files::STAT))?;
    let about = String::from_utf8_lossy(&path);
    let operation = crate::permissions::operations::process::CHDIR;
    permissions.check(About::Process(&about), operation).map_err(|denied| tree.explain(denied))
}

/// Finds the directory for `chdir`. If the path walk fails, the error reveals only facts that the
/// permissions allow.
pub(super) fn find_directory(
    user: &User,
    permissions: &Permissions,
    tree: &FileSystem,
    from: Option<&Location>,
    path: &[u8],
) -> Result<Location, Errno> {
    let mut course = tree.course(from, path, true)?;
    course.permissions = permissions.checks(Scope::Fs).then_some(permissions);
    let walked = tree.steps(user, FinalLink::Follow, &mut course);
    // As in `View::end`.
    let _steps = StepScope::begin();
    match walked {
        Ok(End { node: Some(place), .. }) => Ok(place),
        Err(Errno::ERESTART) => Err(Errno::ERESTART),
        ended => {
            let error = ended.err().unwrap_or(Errno::ENOENT);
            let known = tree.path_of(&course.at).map_err(|_| error)?;
            let operations = FileSystem::deniable(&course.at, files::STAT);
            tree.check_path(permissions, &extend_known_path(known, course.left()), operations)?;
            Err(error)
        }
    }
}
