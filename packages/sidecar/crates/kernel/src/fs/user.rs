//! The user of an operation on files, and the check of permission bits.
//!
//! A program acts with its effective ids (`../processes/credentials.rs`). The rules are Linux's:
//! user 0 reads and writes every file, and executes files with an execute bit. Permission bits do
//! not apply to the embedder. Permission policies are separate, and apply to every user of a
//! runtime. Next: `tree.rs`.

use coldframe_error::Errno;

/// The user id and the group id of `root`.
pub(crate) const ROOT_USER: u32 = 0;

/// The user id and the group id of `nobody`: the owner that programs see for files of the host
/// machine's other users.
pub(crate) const NOBODY: u32 = 65_534;

/// The user id and the group id of `user`. Programs run as this user unless the embedder or a
/// program chooses another user.
pub(crate) const GUEST: u32 = 1_000;

/// The maximum number of supplementary groups of a process.
pub(crate) const MAX_GROUPS: usize = 16;

const READ: u32 = 4;
const WRITE: u32 = 2;
const EXECUTE: u32 = 1;

/// The owner and the group of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// The number of the user.
    pub uid: u32,
    /// The number of the group.
    pub gid: u32,
}

impl Owner {
    /// The owner `user`.
    pub const GUEST: Self = Self { uid: GUEST, gid: GUEST };
    /// The owner `root`.
    pub const ROOT: Self = Self { uid: ROOT_USER, gid: ROOT_USER };
}

/// The supplementary groups of a process. The unused places are 0, so that equal lists are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Groups {
    count: u8,
    ids: [u32; MAX_GROUPS],
}

impl Groups {
    /// Fails with `EINVAL` for more than [`MAX_GROUPS`] groups.
    pub(crate) fn of(list: &[u32]) -> Result<Self, Errno> {
        let mut ids = [0; MAX_GROUPS];
        ids.get_mut(..list.len()).ok_or(Errno::EINVAL)?.copy_from_slice(list);
        Ok(Self { count: u8::try_from(list.len()).map_err(|_| Errno::EINVAL)?, ids })
    }

    /// Returns the list with one group.
    pub(crate) const fn one(gid: u32) -> Self {
        let mut ids = [0; MAX_GROUPS];
        ids[0] = gid;
        Self { count: 1, ids }
    }

    pub(crate) fn list(&self) -> &[u32] {
        &self.ids[..usize::from(self.count).min(MAX_GROUPS)]
    }
}

/// The ids with which a program accesses files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) groups: Groups,
}

impl Identity {
    pub(crate) fn is_in(&self, gid: u32) -> bool {
        self.gid == gid || self.groups.list().contains(&gid)
    }
}

/// The user of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum User {
    Program(Identity),
    /// The embedder. Permission bits do not apply to the embedder. The files that the embedder
    /// creates belong to this owner.
    Embedder(Owner),
}

impl User {
    /// A program of the user `user`.
    #[cfg(test)]
    pub(crate) const GUEST: Self = Self::Program(Identity { uid: GUEST, gid: GUEST, groups: Groups::one(GUEST) });

    /// The embedder, whose new files belong to `user`.
    pub(crate) const EMBEDDER: Self = Self::Embedder(Owner::GUEST);

    pub(crate) fn is_embedder(&self) -> bool {
        matches!(self, Self::Embedder(_))
    }

    /// Returns whether the user is a program without the privileges of `root`.
    pub(crate) fn is_restricted(&self) -> bool {
        matches!(self, Self::Program(identity) if identity.uid != ROOT_USER)
    }

    /// Returns whether the user is a program of neither `root` nor `user`.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self, Self::Program(identity) if identity.uid != ROOT_USER && identity.uid != GUEST)
    }

    /// Returns the owner of the files that the user creates.
    pub(crate) fn owner(&self) -> Owner {
        match self {
            Self::Program(identity) => Owner { uid: identity.uid, gid: identity.gid },
            Self::Embedder(owner) => *owner,
        }
    }

    /// Returns whether the user may change the attributes of a file of the user `uid`.
    pub(crate) fn owns(&self, uid: u32) -> bool {
        match self {
            Self::Program(identity) => identity.uid == uid || identity.uid == ROOT_USER,
            Self::Embedder(_) => true,
        }
    }

    /// Returns whether the user may set the group `gid` for a file of its own.
    pub(crate) fn is_in(&self, gid: u32) -> bool {
        match self {
            Self::Program(identity) => identity.is_in(gid) || identity.uid == ROOT_USER,
            Self::Embedder(_) => true,
        }
    }

    /// Returns whether `mode` grants the permission bits `wanted` for a file of `owner`. The bits
    /// of the owner, of the group or of all other users apply, as on Linux.
    pub(crate) fn may(&self, (uid, gid): (u32, u32), mode: u32, is_directory: bool, wanted: u32) -> bool {
        let Self::Program(identity) = self else { return true };
        if identity.uid == ROOT_USER {
            return wanted & EXECUTE == 0 || is_directory || mode & 0o111 != 0;
        }
        let shift = match (identity.uid == uid, identity.is_in(gid)) {
            (true, _) => 6,
            (false, true) => 3,
            (false, false) => 0,
        };
        (mode >> shift) & wanted == wanted & (READ | WRITE | EXECUTE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(uid: u32, groups: &[u32]) -> User {
        User::Program(Identity { uid, gid: uid, groups: Groups::of(groups).expect("few groups") })
    }

    #[test]
    fn the_bits_of_the_first_class_that_matches_apply() {
        let file = |user: User, mode, wanted| user.may((5, 50), mode, false, wanted);
        assert!(file(program(5, &[]), 0o400, READ) && !file(program(5, &[50]), 0o077, READ));
        assert!(file(program(6, &[50]), 0o040, READ) && !file(program(6, &[50]), 0o707, READ));
        assert!(file(program(6, &[7]), 0o004, READ) && !file(program(6, &[7]), 0o770, READ));
        assert!(User::EMBEDDER.may((5, 50), 0, false, 7));
    }

    #[test]
    fn root_executes_only_files_with_an_execute_bit() {
        let root = program(0, &[]);
        assert!(root.may((5, 5), 0, false, READ | WRITE) && !root.may((5, 5), 0o666, false, EXECUTE));
        assert!(root.may((5, 5), 0o001, false, EXECUTE) && root.may((5, 5), 0, true, EXECUTE));
    }

    #[test]
    fn the_number_of_groups_is_bounded() {
        assert_eq!(Groups::of(&[1; MAX_GROUPS]).expect("the most").list().len(), MAX_GROUPS);
        assert_eq!(Groups::of(&[1; MAX_GROUPS + 1]), Err(Errno::EINVAL));
    }
}
