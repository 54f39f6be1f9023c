//! The ids of a process: its users, its groups and its supplementary groups, with Linux's rules for
//! changes.
//!
//! A process with the effective user 0 may change to any user. Every other process may only switch
//! between its own ids. Two command files raise the effective user: `/bin/su` and `/bin/sudo` of
//! the base tree (`fs/base.rs`), and only for [`MAY_BECOME_ROOT`]. No guest can write such a file,
//! so no other start of a program raises an id. A permission policy applies to every user alike.
//! Next: `../fs/user.rs`, which checks permission bits.

use crate::Answer;
use crate::encoding::bounded;
use crate::fs::{GUEST, Groups, Identity, MAX_GROUPS, Owner, ROOT_USER};
use coldframe_error::Errno;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The real users for which `su` and `sudo` start with the effective user 0.
const MAY_BECOME_ROOT: [u32; 2] = [ROOT_USER, GUEST];

/// The number that means "no id" in Linux's calls.
const NO_ID: u32 = u32::MAX;

/// The number of ids before the supplementary groups in the result of `getids`.
const IDS: usize = 6;

/// The ids of one kind: of the user, or of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Ids {
    real: u32,
    effective: u32,
    saved: u32,
}

impl Ids {
    const fn all(id: u32) -> Self {
        Self { real: id, effective: id, saved: id }
    }

    /// Sets the effective id. A privileged process also sets the other ids if `all` is set.
    fn set(&mut self, id: u32, privileged: bool, all: bool) -> Result<(), Errno> {
        match (privileged, all) {
            (true, true) => *self = Self::all(id),
            _ if privileged || [self.real, self.saved].contains(&id) || (!all && self.effective == id) => self.effective = id,
            _ => return Err(Errno::EPERM),
        }
        Ok(())
    }
}

/// The ids of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credentials {
    user: Ids,
    group: Ids,
    groups: Groups,
}

/// The serialized form of [`Credentials`].
#[derive(Serialize, Deserialize)]
struct Record {
    user: Ids,
    group: Ids,
    #[serde(deserialize_with = "bounded::<_, _, MAX_GROUPS>")]
    groups: Vec<u32>,
}

impl Serialize for Credentials {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Record { user: self.user, group: self.group, groups: self.groups.list().to_vec() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Credentials {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Record { user, group, groups } = Record::deserialize(deserializer)?;
        let groups = Groups::of(&groups).map_err(|_| serde::de::Error::custom("too many groups"))?;
        Ok(Self { user, group, groups })
    }
}

impl Default for Credentials {
    fn default() -> Self {
        Self::of(Owner::GUEST)
    }
}

impl Credentials {
    /// Returns the credentials of a login of `owner`: all ids are the owner's, and the list of
    /// groups has the owner's group.
    pub fn of(owner: Owner) -> Self {
        Self { user: Ids::all(owner.uid), group: Ids::all(owner.gid), groups: Groups::one(owner.gid) }
    }

    /// Returns the ids that apply to files.
    pub(crate) fn effective(&self) -> Identity {
        Identity { uid: self.user.effective, gid: self.group.effective, groups: self.groups }
    }

    /// Returns the ids that `access` checks.
    pub(crate) fn real(&self) -> Identity {
        Identity { uid: self.user.real, gid: self.group.real, groups: self.groups }
    }

    /// Returns the ids as `getids` reports the ids: real, effective and saved user, real, effective
    /// and saved group, and the supplementary groups.
    pub(crate) fn list(&self) -> Vec<u32> {
        let Self { user, group, groups } = self;
        let mut list = Vec::with_capacity(IDS + MAX_GROUPS);
        list.extend([user.real, user.effective, user.saved, group.real, group.effective, group.saved]);
        list.extend(groups.list());
        list
    }

    /// Returns the supplementary groups.
    pub(crate) fn groups(&self) -> &[u32] {
        self.groups.list()
    }

    /// Returns the ids of the user and of the group as `/proc` shows the ids: real, effective,
    /// saved and that of files.
    pub(crate) fn status(&self) -> [String; 2] {
        [self.user, self.group].map(|Ids { real, effective, saved }| format!("{real}\t{effective}\t{saved}\t{effective}"))
    }

    fn is_privileged(&self) -> bool {
        self.user.effective == ROOT_USER
    }

    /// Sets ids as Linux's `setuid`, `seteuid`, `setgid` and `setegid` do. Fails with `EPERM` if
    /// the process may not have the id.
    pub(crate) fn set(&mut self, which: i64, id: u32) -> Result<(), Errno> {
        if id == NO_ID {
            return Err(Errno::EINVAL);
        }
        let privileged = self.is_privileged();
        match which {
            0 => self.user.set(id, privileged, true),
            1 => self.user.set(id, privileged, false),
            2 => self.group.set(id, privileged, true),
            3 => self.group.set(id, privileged, false),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Replaces the supplementary groups. Fails with `EPERM` without the effective user 0.
    pub(crate) fn set_groups(&mut self, list: &[u32]) -> Result<(), Errno> {
        if !self.is_privileged() {
            return Err(Errno::EPERM);
        }
        if list.contains(&NO_ID) {
            return Err(Errno::EINVAL);
        }
        self.groups = Groups::of(list)?;
        Ok(())
    }

    /// Changes the ids of a child before its start, as libuv does: first the groups, then the user.
    pub(crate) fn become_user(&mut self, uid: Option<u32>, gid: Option<u32>) -> Result<(), Errno> {
        if self.is_privileged() && (uid.is_some() || gid.is_some()) {
            self.groups = Groups::of(&[])?;
        }
        gid.map_or(Ok(()), |gid| self.set(2, gid))?;
        uid.map_or(Ok(()), |uid| self.set(0, uid))
    }

    /// Returns the ids after the start of a program. `raises` is set for `su` and `sudo`.
    pub(crate) fn started(self, raises: bool) -> Self {
        let mut made = self;
        if raises && MAY_BECOME_ROOT.contains(&made.user.real) {
            made.user.effective = ROOT_USER;
        }
        (made.user.saved, made.group.saved) = (made.user.effective, made.group.effective);
        made
    }

    /// Returns whether a process with these ids may send a signal to a process with the ids of
    /// `target`.
    pub(crate) fn may_signal(&self, target: &Self) -> bool {
        let targets = [target.user.real, target.user.saved];
        self.is_privileged() || targets.contains(&self.user.effective) || targets.contains(&self.user.real)
    }

    /// Fails if no process can have these ids. The credentials may have been read from a file.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.list().contains(&NO_ID) { Err("an impossible user or group") } else { Ok(()) }
    }
}

/// Decodes a list of u32. Fails with `EINVAL` for an incomplete number, and for more than
/// [`MAX_GROUPS`] numbers.
pub(super) fn numbers(bytes: &[u8]) -> Result<Vec<u32>, Errno> {
    let chunks = bytes.chunks_exact(4);
    if !chunks.remainder().is_empty() || chunks.len() > MAX_GROUPS {
        return Err(Errno::EINVAL);
    }
    Ok(chunks.map(|chunk| u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]])).collect())
}

/// Writes the ids to `out`. Returns the number of ids. Fails with `EFAULT` if `out` is too short.
pub(super) fn put(credentials: &Credentials, out: &mut [u8]) -> Answer {
    let list = credentials.list();
    let room = out.get_mut(..list.len() * 4).ok_or(Errno::EFAULT)?;
    for (place, id) in room.chunks_exact_mut(4).zip(&list) {
        place.copy_from_slice(&id.to_le_bytes());
    }
    i64::try_from(list.len()).map_err(|_| Errno::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: Owner = Owner::ROOT;
    const OTHER: Owner = Owner { uid: 7, gid: 7 };

    #[test]
    fn a_user_cannot_become_another_user() {
        for which in 0..4 {
            let mut own = Credentials::default();
            assert_eq!(own.set(which, 0), Err(Errno::EPERM));
            assert_eq!(own.set(which, GUEST), Ok(()));
            assert_eq!(own, Credentials::default());
            assert_eq!(own.set(which, NO_ID), Err(Errno::EINVAL));
        }
        let mut own = Credentials::default();
        assert_eq!(own.set_groups(&[0]), Err(Errno::EPERM));
        assert_eq!(own.become_user(Some(0), None), Err(Errno::EPERM));
        assert_eq!(own.become_user(None, Some(0)), Err(Errno::EPERM));
        assert_eq!(own.become_user(Some(GUEST), Some(GUEST)), Ok(()));
        assert_eq!(own, Credentials::default());
    }

    #[test]
    fn root_drops_its_ids_for_good_with_setuid_and_for_a_while_with_seteuid() {
        let mut root = Credentials::of(ROOT);
        root.set(1, 5).expect("dropped");
        assert_eq!((root.effective().uid, root.real().uid), (5, 0));
        root.set(1, 0).expect("the real id");
        root.become_user(Some(5), Some(6)).expect("dropped");
        assert_eq!(root.list(), [5, 5, 5, 6, 6, 6]);
        assert_eq!(root.set(0, 0), Err(Errno::EPERM));
    }

    #[test]
    fn only_root_and_user_start_su_with_the_effective_user_0() {
        let raised = Credentials::default().started(true);
        assert_eq!(raised.list(), [1_000, 0, 0, 1_000, 1_000, 1_000, 1_000]);
        assert_eq!(Credentials::default().started(false), Credentials::default());
        assert_eq!(Credentials::of(OTHER).started(true), Credentials::of(OTHER));
    }

    #[test]
    fn the_start_of_a_program_forgets_the_saved_ids() {
        let mut root = Credentials::of(ROOT);
        root.set(1, 5).expect("dropped");
        let started = root.started(false);
        assert_eq!(started.list()[..3], [0, 5, 5]);
    }

    #[test]
    fn signals_reach_processes_of_the_same_user_and_root_signals_all() {
        let (own, root, other) = (Credentials::default(), Credentials::of(ROOT), Credentials::of(OTHER));
        assert!(own.may_signal(&own) && root.may_signal(&own) && own.may_signal(&own.started(true)));
        assert!(!own.may_signal(&root) && !own.may_signal(&other) && !other.may_signal(&own));
    }

    #[test]
    fn impossible_ids_of_a_snapshot_are_refused() {
        let bytes = |groups: &[u32], id| {
            let ids = Ids::all(id);
            postcard::to_stdvec(&Record { user: ids, group: ids, groups: groups.to_vec() }).expect("encoded")
        };
        let read = |bytes: Vec<u8>| postcard::from_bytes::<Credentials>(&bytes);
        assert_eq!(read(bytes(&[3; MAX_GROUPS], 3)).expect("possible").check(), Ok(()));
        assert!(read(bytes(&[3; MAX_GROUPS + 1], 3)).is_err());
        assert!(read(bytes(&[], NO_ID)).expect("decoded").check().is_err());
    }
}
