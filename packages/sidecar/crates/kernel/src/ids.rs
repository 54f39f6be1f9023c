//! Ids of the kernel's objects. A guest, a snapshot or a log shows an id as a plain number.

use coldframe_error::Errno;
use coldframe_ids::{id, non_zero_id};

/// The highest id of an operation, a socket, a job or a context. A system call returns an id as a
/// positive `i32`.
pub(crate) const MAX_ID: u32 = 0x7fff_ffff;

id! {
    /// A descriptor: an index in the descriptor table of a process.
    Fd
}

impl Fd {
    /// Makes the descriptor that a guest passed. Fails with `EBADF` if no table has such an index.
    pub fn from_guest(number: impl Into<i64>) -> Result<Self, Errno> {
        u32::try_from(number.into()).map(Self::new).map_err(|_| Errno::EBADF)
    }

    /// Returns the index in the table.
    pub(crate) fn index(self) -> usize {
        self.get() as usize
    }
}

non_zero_id! {
    /// An operation of a process.
    OperationId
}

non_zero_id! {
    /// A context of a program: an open digest or cipher.
    ContextId
}

non_zero_id! {
    /// A job of a program: a long computation.
    JobId
}

non_zero_id! {
    /// A socket of a runtime, or an end of a pipe. A runtime uses a number again only after
    /// `MAX_ID` other numbers.
    SocketId
}

/// Defines `answer` for ids that system calls return.
macro_rules! answers {
    ($($id:ident)*) => {
        $(
            impl $id {
                /// Returns the result of the system call that assigns the id.
                pub(crate) fn answer(self) -> i64 {
                    i64::from(self.get())
                }
            }
        )*
    };
}

answers! { Fd OperationId ContextId JobId }
