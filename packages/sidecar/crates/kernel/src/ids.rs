//! Ids of the kernel's objects. A guest, a snapshot or a log shows them as plain numbers.

use coldframe_error::Errno;
use coldframe_ids::{id, non_zero_id};

/// The highest id of an operation, a socket, a job or a context. A system call returns the id as a
/// positive `i32`.
pub(crate) const MAX_ID: u32 = 0x7fff_ffff;

id! {
    /// A descriptor of a process.
    Fd
}

impl Fd {
    /// Reads a guest's number. `EBADF` if no descriptor can have the number.
    pub(crate) fn read(number: i64) -> Result<Self, Errno> {
        u32::try_from(number).map(Self).map_err(|_| Errno::EBADF)
    }

    /// Makes the descriptor at `index` of a table. `EMFILE` if no descriptor can have the number.
    pub(crate) fn of_index(index: usize) -> Result<Self, Errno> {
        u32::try_from(index).map(Self).map_err(|_| Errno::EMFILE)
    }

    /// Returns the index in a table.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

id! {
    /// An inode of a runtime's filesystem.
    Ino: u64
}

non_zero_id! {
    /// An operation of a process.
    OperationId
}

impl OperationId {
    /// Returns the result of the system call that begins the operation.
    pub(crate) fn answer(self) -> i64 {
        i64::from(self.get())
    }
}

non_zero_id! {
    /// A socket of a runtime, or an end of a pipe. A runtime reuses a number only after `MAX_ID`
    /// others.
    SocketId
}

non_zero_id! {
    /// A job of a process: a long computation of the family `crypto`.
    JobId
}

non_zero_id! {
    /// A context of a process: a digest or a cipher that several system calls use.
    ContextId
}
