//! Where the permissions of a runtime meet its files: every walk of a program says what it is going to do, and is asked about where it ended.
//!
//! What counts is the path of the thing itself, after links, dots and `/proc` have led there, never the path that was given. Where a walk fails,
//! the path as far as it is known counts, so that a place that is closed does not show what is in it. A descriptor that is open was
//! asked about when it was opened; what is no reading or writing (`fchmod` and the like) is asked about by the path that the thing has
//! now. What has no name any more cannot be found by any path, and nobody asks about it. Next: `open.rs`.

use super::node::Ino;
use super::node::Type;
use super::tree::FileSystem;
use super::view::View;
use super::walk::{End, Last, Name, Place, Side, join};
use crate::Process;
use crate::descriptors::Target;
use crate::permissions::operations::{Operations, files};
use crate::permissions::policy::Scope;
use crate::permissions::{About, Denied, Permissions};
use coldframe_error::Errno;

/// What a call is going to do, by what it finds.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(super) found: Operations,
    pub(super) directory: Operations,
    pub(super) missing: Operations,
}

impl Wanted {
    pub(crate) const fn only(operations: Operations) -> Self {
        Self { found: operations, directory: operations, missing: operations }
    }
}

impl<'k> View<'k> {
    /// Who must be asked about files; nobody when there are no rules, or when it is the caller outside who looks.
    fn asked(&self) -> Option<&'k Permissions> {
        self.permissions.filter(|permissions| permissions.asks(Scope::Fs))
    }

    /// Walks, and asks whether that may be done with what is there.
    pub(crate) fn walk(&self, tree: &FileSystem, path: &[u8], last: Last, wanted: Wanted) -> Result<Side, Errno> {
        match self.asked() {
            None => tree.walk(self.user, self.cwd.as_ref(), path, last),
            Some(permissions) => tree.side(self.end(tree, permissions, path, last, wanted)?.0),
        }
    }

    /// Walks where a walk has been before, in the same call.
    pub(super) fn walk_again(&self, tree: &FileSystem, path: &[u8], last: Last) -> Result<Side, Errno> {
        let mut course = tree.course(self.cwd.as_ref(), path, self.asked().is_some())?;
        tree.side(tree.steps(self.user, last, &mut course)?)
    }

    /// The path of the thing itself, which may be looked at.
    pub(crate) fn real_path(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let tree = self.lock();
        match self.asked() {
            None => tree.real_path(self.user, self.cwd.as_ref(), path),
            Some(permissions) => {
                let (end, _) = self.end(&tree, permissions, path, Last::Follow, Wanted::only(files::STAT))?;
                tree.real_path_of(&end)
            }
        }
    }

    /// Where a walk ends, and the path by which it was asked about.
    fn end(
        &self,
        tree: &FileSystem,
        permissions: &Permissions,
        path: &[u8],
        last: Last,
        wanted: Wanted,
    ) -> Result<(End, Option<Vec<u8>>), Errno> {
        let mut course = tree.course(self.cwd.as_ref(), path, true)?;
        course.permissions = Some(permissions);
        match tree.steps(self.user, last, &mut course) {
            Ok(end) => {
                let real = tree.asked_path(&end)?;
                if let Some(real) = &real {
                    let operations = match tree.kind_at(&end)? {
                        None => wanted.missing,
                        Some(Type::Directory) => wanted.directory,
                        Some(_) => wanted.found,
                    };
                    tree.ask(permissions, real, operations)?;
                }
                Ok((end, real))
            }
            // A question waits for its answer: then it all begins anew.
            Err(Errno::ERESTART) => Err(Errno::ERESTART),
            Err(error) => {
                let known = tree.path_of(&course.at).map_err(|_| error)?;
                tree.ask(permissions, &as_far_as_known(known, course.left()), wanted.missing)?;
                Err(error)
            }
        }
    }

    /// Whether a thing may get a second name (`both`), or another one. Both paths have been walked before.
    pub(super) fn may_move(&self, tree: &FileSystem, from: (&[u8], Last), to: &[u8], both: bool) -> Result<(), Errno> {
        let Some(permissions) = self.asked() else { return Ok(()) };
        let end = |path: &[u8], last| tree.steps(self.user, last, &mut tree.course(self.cwd.as_ref(), path, true)?);
        let (one, other) = (end(from.0, from.1)?, end(to, Last::Name)?);
        let (Some(real), Some(new)) = (tree.asked_path(&one)?, tree.asked_path(&other)?) else { return Ok(()) };
        let is_directory = tree.kind_at(&one)? == Some(Type::Directory);
        permissions.check_move(&real, &new, is_directory, both).map_err(|denied| tree.explain(denied))
    }

    /// Takes the variables out that a child may not be given.
    pub(crate) fn filter_env(&self, env: &mut Vec<(String, String)>, given: Option<&[(String, String)]>) {
        if let Some(permissions) = self.permissions {
            permissions.filter_env(crate::caller_scope::current_caller(), env, given);
        }
    }

    /// Whether something may be done with what a path leads to, without telling anybody: for what is only a part of a call.
    pub(super) fn allows(&self, tree: &FileSystem, path: &[u8], operations: Operations) -> bool {
        let Some(permissions) = self.asked() else { return true };
        let end =
            tree.course(self.cwd.as_ref(), path, true).and_then(|mut course| tree.steps(self.user, Last::Follow, &mut course));
        let real = end.and_then(|end| tree.asked_path(&end));
        real.is_ok_and(|real| real.is_none_or(|real| permissions.sees(&real, operations)))
    }

    /// Whether a file may be run: `name` is that of the program in it.
    pub(super) fn may_run(&self, tree: &FileSystem, path: &[u8], name: Option<&str>) -> Result<(), Errno> {
        let Some(permissions) = self.permissions.filter(|permissions| permissions.asks(Scope::ChildProcess)) else {
            return Ok(());
        };
        let end = tree.steps(self.user, Last::Follow, &mut tree.course(self.cwd.as_ref(), path, true)?)?;
        // A file without a name is a program without one.
        let real = tree.asked_path(&end)?.unwrap_or_else(|| b"/".to_vec());
        let last = real.rsplit(|byte| *byte == b'/').next().map(String::from_utf8_lossy).unwrap_or_default();
        let about = About::Program(&real, name.unwrap_or(&last));
        permissions.check(about, crate::permissions::operations::children::SPAWN).map_err(|denied| tree.explain(denied))
    }
}

/// The path of a place and what is left, up to where it would lead back.
fn as_far_as_known(mut path: Vec<u8>, left: &[u8]) -> Vec<u8> {
    for name in left.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".") {
        if name == b".." {
            break;
        }
        path = join(path, name);
    }
    path
}

impl FileSystem {
    fn ask(&self, permissions: &Permissions, path: &[u8], operations: Operations) -> Result<(), Errno> {
        permissions.check(About::Path(path), operations).map_err(|denied| self.explain(denied))
    }

    /// Keeps what there is to say about a denial.
    pub(super) fn explain(&self, denied: Denied) -> Errno {
        self.reason.set(denied.to_string());
        denied.errno()
    }

    /// Whether a walk may leave a directory through `..`: not one that must not be known to be there.
    pub(super) fn may_leave(&self, permissions: &Permissions, at: &Place) -> Result<(), Errno> {
        match self.path_of(at) {
            Ok(path) => self.ask(permissions, &path, files::STAT),
            Err(_) => Ok(()),
        }
    }

    /// The path by which the end of an exact walk is asked about; none for what has no name any more and for streams that are open.
    fn asked_path(&self, end: &End) -> Result<Option<Vec<u8>>, Errno> {
        match (&end.node, &end.name) {
            (None, Name::Plain(name)) => Ok(Some(join(self.path_of(&end.parent)?, name))),
            (None, _) => Err(Errno::EACCES),
            (Some(Place::There(_, path)), _) if path.contains(&0) => Ok(None),
            (Some(place @ Place::There(..)), _) => self.path_of(place).map(Some),
            (Some(Place::Here(ino)), Name::Plain(name)) if !self.node(*ino)?.is_directory() => {
                Ok(Some(join(self.path_of(&end.parent)?, name)))
            }
            (Some(Place::Here(ino)), _) => self.name_of(*ino),
        }
    }

    /// The path of a node that was not reached by its name.
    fn name_of(&self, ino: Ino) -> Result<Option<Vec<u8>>, Errno> {
        if self.node(ino)?.meta.links == 0 {
            return Ok(None);
        }
        self.path_of(&Place::Here(ino)).map(Some).map_err(|_| Errno::EACCES)
    }

    fn kind_at(&self, end: &End) -> Result<Option<Type>, Errno> {
        Ok(match (&end.node, end.stat) {
            (None, _) => None,
            (_, Some(stat)) => Some(stat.kind),
            (Some(Place::Here(ino)), None) => Some(self.node(*ino)?.kind()),
            (Some(Place::There(mount, path)), None) => Some(self.mount(*mount)?.stat(*mount, path)?.kind),
        })
    }
}

/// Whether something may be done with what a descriptor stands for, besides reading and writing it.
pub(super) fn check_open(process: &Process, tree: &FileSystem, target: &Target, operations: Operations) -> Result<(), Errno> {
    let permissions = &process.kernel.permissions;
    if !permissions.asks(Scope::Fs) {
        return Ok(());
    }
    let path = match target {
        Target::Stream { .. } | Target::Socket(_) | Target::Lost => None,
        Target::File(ino) | Target::Device(_, ino) | Target::Directory(Place::Here(ino)) => tree.name_of(*ino)?,
        Target::Directory(place) => Some(tree.path_of(place)?),
        Target::Host(file) => Some(tree.path_of(&Place::There(file.number, file.path.clone()))?),
    };
    path.map_or(Ok(()), |path| tree.ask(permissions, &path, operations))
}

/// Whether a process may go to a directory: it may be looked at, and the process may leave where it is.
pub(super) fn check_enter(permissions: &Permissions, tree: &FileSystem, place: &Place) -> Result<(), Errno> {
    if !permissions.asks(Scope::Fs) && !permissions.asks(Scope::Process) {
        return Ok(());
    }
    let path = tree.path_of(place)?;
    tree.ask(permissions, &path, files::STAT)?;
    let about = String::from_utf8_lossy(&path);
    let operation = crate::permissions::operations::process::CHDIR;
    permissions.check(About::Process(&about), operation).map_err(|denied| tree.explain(denied))
}

/// Where a directory lies that a process wants to go to. A walk that fails says no more than it may.
pub(super) fn find_directory(
    permissions: &Permissions,
    tree: &FileSystem,
    from: Option<&Place>,
    path: &[u8],
) -> Result<Place, Errno> {
    let user = super::tree::User::Guest;
    let mut course = tree.course(from, path, true)?;
    course.permissions = permissions.asks(Scope::Fs).then_some(permissions);
    match tree.steps(user, Last::Follow, &mut course) {
        Ok(End { node: Some(place), .. }) => Ok(place),
        Err(Errno::ERESTART) => Err(Errno::ERESTART),
        ended => {
            let error = ended.err().unwrap_or(Errno::ENOENT);
            let known = tree.path_of(&course.at).map_err(|_| error)?;
            tree.ask(permissions, &as_far_as_known(known, course.left()), files::STAT)?;
            Err(error)
        }
    }
}
