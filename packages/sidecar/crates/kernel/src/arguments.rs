//! The arguments of a system call: integers, and the guest memory that the integers point into.
//!
//! The methods check ranges of memory, paths and the range of numbers. A call with an invalid
//! argument fails with the error number that Linux returns. Next: `descriptors.rs`, the table of a
//! process's open files and sockets.

use crate::ids::{Fd, OperationId};
use coldframe_error::Errno;
use std::num::NonZeroU32;
use std::ops::Range;

/// The length of the longest path in bytes, as on Linux (`PATH_MAX` without its NUL).
pub(crate) const MAX_PATH: usize = 4_095;

/// The result of a system call: a number, or an error number.
pub type Answer = Result<i64, Errno>;

/// The directory at which a relative path of a call starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// The working directory of the process.
    #[default]
    WorkingDirectory,
    /// The directory `/`.
    Root,
    /// The directory of a descriptor.
    Descriptor(Fd),
}

/// The arguments of one system call.
pub struct Arguments<'a> {
    integers: [i64; 8],
    memory: &'a mut [u8],
    /// The length of the guest's memory in bytes.
    guest_len: usize,
    /// The starts of the first and the second path. The guest's own calls start at the working
    /// directory. The calls of WASI name a start for each path.
    starts: [Start; 2],
}

impl<'a> Arguments<'a> {
    /// Combines the integers of one call with the guest's memory.
    pub fn new(integers: [i64; 8], memory: &'a mut [u8]) -> Self {
        Self { integers, guest_len: memory.len(), memory, starts: Default::default() }
    }

    /// Combines the integers with a buffer of the sidecar, which the addresses of the call point
    /// into. `guest_len` is the length of the guest's memory.
    pub fn beside(guest_len: usize, integers: [i64; 8], buffer: &'a mut [u8]) -> Self {
        Self { guest_len, ..Self::new(integers, buffer) }
    }

    /// Sets the starts of the first and the second relative path.
    #[must_use]
    pub fn relative_to(self, starts: [Start; 2]) -> Self {
        Self { starts, ..self }
    }

    /// Returns the starts of the first and the second relative path.
    pub(crate) fn starts(&self) -> [Start; 2] {
        self.starts
    }

    /// Returns the length of the guest's memory in bytes.
    pub(crate) fn guest_len(&self) -> usize {
        self.guest_len
    }

    /// Returns the integer at `index`, or 0 if `index` is greater than 7.
    pub(crate) fn int(&self, index: usize) -> i64 {
        self.integers.get(index).copied().unwrap_or(0)
    }

    /// Returns the integer at `index` as a `T`. Fails with `EINVAL` if the value does not fit.
    pub(crate) fn number<T: TryFrom<i64>>(&self, index: usize) -> Result<T, Errno> {
        T::try_from(self.int(index)).map_err(|_| Errno::EINVAL)
    }

    /// Returns the descriptor at `index`. Fails with `EBADF` if no table has such an index.
    pub(crate) fn fd(&self, index: usize) -> Result<Fd, Errno> {
        Fd::from_guest(self.int(index))
    }

    /// Returns the id at `index`. Fails with `EINVAL` if the value does not fit, and with `EBADF`
    /// for 0, which is no id.
    pub(crate) fn id<T: From<NonZeroU32>>(&self, index: usize) -> Result<T, Errno> {
        NonZeroU32::new(self.number(index)?).map(T::from).ok_or(Errno::EBADF)
    }

    /// Returns the operation that the integer at `index` names, or `None` if the integer is 0.
    /// Fails with `EINVAL` if the integer is not a u32.
    pub(crate) fn operation(&self, index: usize) -> Result<Option<OperationId>, Errno> {
        self.number(index).map(OperationId::new)
    }

    fn range(&self, index: usize) -> Result<Range<usize>, Errno> {
        let start = usize::try_from(self.int(index)).map_err(|_| Errno::EFAULT)?;
        let len = usize::try_from(self.int(index + 1)).map_err(|_| Errno::EFAULT)?;
        let end = start.checked_add(len).filter(|end| *end <= self.memory.len()).ok_or(Errno::EFAULT)?;
        Ok(start..end)
    }

    /// Returns the guest memory at the address in the integer at `index`. The next integer is the
    /// length. Fails with `EFAULT` if the range is outside the memory.
    pub(crate) fn bytes(&self, index: usize) -> Result<&[u8], Errno> {
        let range = self.range(index)?;
        self.memory.get(range).ok_or(Errno::EFAULT)
    }

    /// Returns the guest memory at the address in the integer at `index`, for writing. Fails like
    /// [`Self::bytes`].
    pub(crate) fn bytes_mut(&mut self, index: usize) -> Result<&mut [u8], Errno> {
        let range = self.range(index)?;
        self.memory.get_mut(range).ok_or(Errno::EFAULT)
    }

    /// Returns a copy of the path at the address in the integer at `index`. Fails with
    /// `ENAMETOOLONG` if the path is longer than [`MAX_PATH`], and with `EINVAL` if the path
    /// contains NUL. The copy is necessary because calls also write to the memory.
    pub(crate) fn path(&self, index: usize) -> Result<Vec<u8>, Errno> {
        let bytes = self.bytes(index)?;
        if bytes.len() > MAX_PATH {
            return Err(Errno::ENAMETOOLONG);
        }
        if bytes.contains(&0) {
            return Err(Errno::EINVAL);
        }
        Ok(bytes.to_vec())
    }

    /// Writes as many of `bytes` as fit into the guest's buffer, whose address and length are the
    /// integers at `index` and `index + 1`. Returns the length of `bytes`, also if the buffer is
    /// smaller.
    pub(crate) fn put(&mut self, index: usize, bytes: &[u8]) -> Result<i64, Errno> {
        let room = self.bytes_mut(index)?;
        let count = bytes.len().min(room.len());
        room[..count].copy_from_slice(&bytes[..count]);
        i64::try_from(bytes.len()).map_err(|_| Errno::EOVERFLOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_outside_the_memory_fail_with_efault() {
        let mut memory = [7; 16];
        for (start, len) in [(0, 17), (16, 1), (-1, 1), (1, -1), (i64::MAX, i64::MAX), (0, i64::MIN)] {
            let mut arguments = Arguments::new([start, len, 0, 0, 0, 0, 0, 0], &mut memory);
            assert_eq!(arguments.bytes(0), Err(Errno::EFAULT), "{start} {len}");
            assert_eq!(arguments.bytes_mut(0).map(|_| ()), Err(Errno::EFAULT), "{start} {len}");
        }
        let arguments = Arguments::new([15, 1, 16, 0, 0, 0, 0, 0], &mut memory);
        assert_eq!(arguments.bytes(0), Ok(&[7][..]));
        assert_eq!(arguments.bytes(2), Ok(&[][..]));
    }

    #[test]
    fn refuses_paths_that_are_too_long_or_contain_nul() {
        let mut memory = vec![b'a'; 8_192];
        let path = |len| Arguments::new([0, len, 0, 0, 0, 0, 0, 0], &mut memory.clone()).path(0).map(|path| path.len());
        assert_eq!(path(4_095), Ok(4_095));
        assert_eq!(path(4_096), Err(Errno::ENAMETOOLONG));
        memory[3] = 0;
        assert_eq!(Arguments::new([0, 8, 0, 0, 0, 0, 0, 0], &mut memory).path(0), Err(Errno::EINVAL));
    }
}
