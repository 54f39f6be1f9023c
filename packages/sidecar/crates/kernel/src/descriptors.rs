//! A process's descriptor table: small numbers that refer to open descriptions.
//!
//! The descriptors 0, 1 and 2 are the standard streams at first: the embedder's streams, or the
//! descriptions that the parent passes. Several descriptors can share a description and the
//! description's position. For example, `/dev/stdin` opens the description of descriptor 0 again,
//! and a child inherits the descriptions of its parent. Closing the last descriptor of a file or
//! socket releases the file or socket. When a process ends, the kernel closes the process's
//! descriptors. Next: `fs/io.rs`.

mod open_output;
mod snapshot;

pub(crate) use open_output::OpenOutput;
pub(crate) use snapshot::{DescriptionCollector, DescriptionsSnapshot, RestoredDescriptions};

use super::fs::{Device, HostFile, Ino, Listing, Location};
use super::usage::{Charge, Mark};
use crate::ids::{Fd, SocketId};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use coldframe_panics::runtime::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// An open file, socket, pipe end or stream.
pub(crate) struct Description {
    pub(crate) target: Target,
    /// The flags of the open call, with the present `O_APPEND` and `O_NONBLOCK`.
    flags: AtomicU32,
    pub(crate) position: Mutex<Position>,
}

/// The object behind a description.
pub(crate) enum Target {
    /// A standard stream of the program `owner`, connected to the embedder: 0, 1 or 2.
    Stream {
        owner: Pid,
        fd: u8,
        /// Keeps the output of `owner` open, if the end of `owner` waits for its output.
        open: Option<Arc<OpenOutput>>,
    },
    Socket(SocketId),
    File(Ino),
    Directory(Location),
    Device(Device, Ino),
    /// A file of a mounted host directory.
    Host(Box<HostFile>),
    /// An object that could not be opened again when the runtime was restored. Every operation on
    /// the description, except closing, fails with `EIO`.
    Lost,
}

/// The object that a description keeps alive. The object is released when the description's last
/// descriptor closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeldObject {
    Node(Ino),
    Socket(SocketId),
}

/// The position of the next read, write or directory listing.
#[derive(Default)]
pub(crate) struct Position {
    pub(crate) offset: u64,
    /// The last name that the directory's listing returned. The listing continues after this name.
    pub(crate) after: Option<Box<[u8]>>,
    /// The state of a host directory's listing.
    pub(crate) listing: Option<Box<Listing>>,
    /// The charges for the listing's memory.
    pub(crate) held: Vec<Charge>,
}

/// The descriptor table of a process.
pub(crate) struct Descriptors {
    slots: Vec<Option<Arc<Description>>>,
    limit: usize,
    /// The number of slots in use.
    open: usize,
    mark: Mark,
}

const READ_ONLY: u32 = 0;
const WRITE_ONLY: u32 = 1;
pub(crate) const READ_WRITE: u32 = 2;
const ACCESS: u32 = 3;
pub(crate) const APPEND: u32 = 0o2000;
const NON_BLOCKING: u32 = 0o4000;
/// The flags that a program can change.
const STATUS: u32 = APPEND | NON_BLOCKING;

impl Description {
    pub(crate) fn new(target: Target, flags: u32) -> Self {
        Self::at(target, flags, Position::default())
    }

    fn at(target: Target, flags: u32, position: Position) -> Self {
        Self { target, flags: AtomicU32::new(flags), position: Mutex::new(position) }
    }

    fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }

    pub(crate) fn reads(&self) -> bool {
        self.flags() & ACCESS != WRITE_ONLY
    }

    pub(crate) fn writes(&self) -> bool {
        self.flags() & ACCESS != READ_ONLY
    }

    pub(crate) fn appends(&self) -> bool {
        self.flags() & APPEND != 0
    }

    /// Returns the flags that a program can read: the access mode and [`STATUS`].
    pub(crate) fn status_flags(&self) -> u32 {
        self.flags() & (ACCESS | STATUS)
    }

    /// Replaces the flags of [`STATUS`]. Fails with `EOPNOTSUPP` if `O_APPEND` of a file in a mount
    /// would change, because the host machine appends.
    pub(crate) fn set_status_flags(&self, flags: u32) -> Result<(), Errno> {
        let old = self.flags();
        if matches!(self.target, Target::Host(_)) && (old ^ flags) & APPEND != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        self.flags.store(old & !STATUS | flags & STATUS, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the object that the description keeps alive. Returns `None` for a standard stream
    /// and for objects of mounts.
    pub(crate) fn held(&self) -> Option<HeldObject> {
        match self.target {
            Target::File(ino) | Target::Directory(Location::Memory(ino)) | Target::Device(_, ino) => Some(HeldObject::Node(ino)),
            Target::Socket(id) => Some(HeldObject::Socket(id)),
            Target::Stream { .. } | Target::Host(_) | Target::Directory(Location::Mount(..)) | Target::Lost => None,
        }
    }
}

impl Descriptors {
    /// Makes a table whose descriptors 0, 1 and 2 are the embedder's standard streams.
    pub(crate) fn new(owner: Pid, limit: usize) -> Self {
        let streams = [(0, READ_ONLY), (1, WRITE_ONLY), (2, WRITE_ONLY)];
        let slots = streams.map(|(fd, flags)| Some(Arc::new(Description::new(Target::Stream { owner, fd, open: None }, flags))));
        Self::inherited(slots.into(), limit)
    }

    /// Replaces the descriptors 1 and 2 of a new process by streams that keep the output of `owner`
    /// open.
    pub(crate) fn track_output(&mut self, owner: Pid, open: &Arc<OpenOutput>) {
        for (slot, fd) in self.slots.iter_mut().skip(1).zip([1, 2]) {
            let target = Target::Stream { owner, fd, open: Some(open.clone()) };
            *slot = Some(Arc::new(Description::new(target, WRITE_ONLY)));
        }
    }

    /// Makes a table with the descriptions that a parent passes to its child.
    pub(crate) fn inherited(slots: Vec<Option<Arc<Description>>>, limit: usize) -> Self {
        let open = slots.iter().flatten().count();
        let mut mark = Mark::default();
        // The limit is `u64::MAX`, so that inherited descriptors cause no warning.
        mark.raise(open as u64, u64::MAX);
        Self { slots, limit, open, mark }
    }

    /// Allocates the lowest free descriptor that is at least `lowest`. Returns the descriptor, and
    /// whether a warning about the limit is due. Fails with `EMFILE` if no descriptor is free.
    pub(crate) fn add_from(&mut self, lowest: usize, description: Arc<Description>) -> Result<(Fd, bool), Errno> {
        let free = self.slots.iter().skip(lowest).position(Option::is_none).map(|at| at + lowest);
        let at = free.unwrap_or(self.slots.len().max(lowest));
        if at >= self.limit {
            return Err(Errno::EMFILE);
        }
        match free {
            Some(at) => self.slots[at] = Some(description),
            None => {
                self.slots.resize(at, None);
                self.slots.push(Some(description));
            }
        }
        self.open += 1;
        let near = self.mark.raise(self.open as u64, self.limit as u64);
        u32::try_from(at).map(|at| (Fd::new(at), near)).map_err(|_| Errno::EMFILE)
    }

    /// Makes `fd` refer to `description`. Returns the old description of `fd`, which the caller
    /// must drop. Fails with `EBADF` if the table may not have the descriptor.
    pub(crate) fn replace(&mut self, fd: Fd, description: Arc<Description>) -> Result<Option<Arc<Description>>, Errno> {
        let at = fd.index();
        if at >= self.limit {
            return Err(Errno::EBADF);
        }
        if at >= self.slots.len() {
            self.slots.resize(at + 1, None);
        }
        let old = self.slots[at].replace(description);
        if old.is_none() {
            self.open += 1;
            self.mark.raise(self.open as u64, self.limit as u64);
        }
        Ok(old)
    }

    /// Replaces the description of a descriptor without releasing the old description's object. The
    /// old description must therefore be a standard stream.
    pub(crate) fn put(&mut self, fd: Fd, description: Arc<Description>) {
        if let Some(slot) = self.slots.get_mut(fd.index()) {
            *slot = Some(description);
        }
    }

    /// Returns the number of open descriptors, and the highest such number so far.
    pub(crate) fn used_and_highest(&self) -> (u64, u64) {
        (self.open as u64, self.mark.high())
    }

    /// Returns the number of descriptors that the table may have.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) fn has_room(&self) -> bool {
        self.slots.len() < self.limit || self.slots.iter().any(Option::is_none)
    }

    pub(crate) fn get(&self, fd: Fd) -> Result<Arc<Description>, Errno> {
        self.slots.get(fd.index()).cloned().flatten().ok_or(Errno::EBADF)
    }

    /// Returns the slots from 0 to the highest open descriptor.
    pub(crate) fn slots(&self) -> &[Option<Arc<Description>>] {
        let end = self.slots.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        &self.slots[..end]
    }

    /// Returns a reference to the description of a descriptor. The reference is valid while the
    /// table is locked.
    pub(crate) fn peek(&self, fd: Fd) -> Option<&Description> {
        self.slots.get(fd.index())?.as_deref()
    }

    /// Returns the open descriptors, in ascending order.
    pub(crate) fn open(&self) -> Vec<Fd> {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.is_some()).map(|(at, _)| Fd::new(at)).collect()
    }

    /// Closes a descriptor. If no other descriptor refers to the description, returns the
    /// description's object, which the caller must release. Fails with `EBADF` if the descriptor is
    /// not open.
    pub(crate) fn close(&mut self, fd: Fd) -> Result<Option<HeldObject>, Errno> {
        let description = self.slots.get_mut(fd.index()).and_then(Option::take).ok_or(Errno::EBADF)?;
        self.open -= 1;
        self.mark.lower(self.open as u64, self.limit as u64);
        Ok(Arc::into_inner(description).and_then(|last| last.held()))
    }

    /// Removes and returns all descriptions of the table.
    pub(crate) fn take_all(&mut self) -> Vec<Arc<Description>> {
        self.open = 0;
        std::mem::take(&mut self.slots).into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocates_the_lowest_number_up_to_the_limit() {
        let mut descriptors = Descriptors::new(Pid::INIT, 5);
        let file = || Arc::new(Description::new(Target::File(Ino::new(9)), 0));
        assert_eq!(
            (descriptors.add_from(0, file()), descriptors.add_from(0, file())),
            (Ok((Fd::new(3), true)), Ok((Fd::new(4), false)))
        );
        assert_eq!(descriptors.add_from(0, file()), Err(Errno::EMFILE));
        assert_eq!(descriptors.close(Fd::new(3)), Ok(Some(HeldObject::Node(Ino::new(9)))));
        assert_eq!(descriptors.close(Fd::new(3)), Err(Errno::EBADF));
        assert_eq!(descriptors.add_from(0, file()), Ok((Fd::new(3), false)));
        assert_eq!(descriptors.used_and_highest(), (5, 5));
        for fd in [-1, 5, i64::from(u32::MAX) + 1, i64::MAX, i64::MIN] {
            assert!(Fd::from_guest(fd).and_then(|fd| descriptors.get(fd)).is_err(), "{fd}");
        }
    }

    #[test]
    fn releases_a_file_when_its_second_descriptor_closes() {
        let mut descriptors = Descriptors::new(Pid::INIT, 10);
        let file = Arc::new(Description::new(Target::File(Ino::new(9)), 0));
        descriptors.add_from(0, file.clone()).expect("room");
        descriptors.add_from(0, file).expect("room");
        assert_eq!(descriptors.close(Fd::new(3)), Ok(None));
        assert_eq!(descriptors.close(Fd::new(4)), Ok(Some(HeldObject::Node(Ino::new(9)))));
    }
}
