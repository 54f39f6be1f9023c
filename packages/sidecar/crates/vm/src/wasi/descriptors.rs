//! Calls of one descriptor, except reads and writes. Next: `listing.rs`.

use super::context::{Outcome, ROOT, WORKING_DIRECTORY, call_beside, plain_call, put, put_u64};
use super::stat::{Attributes, FileType, KERNEL_LEN};
use super::transfer::NON_BLOCKING;
use crate::access::Call;
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Errno;
use coldframe_kernel::Start;

const ACCESS: i64 = 3;
const WRITE_ONLY: i64 = 1;
const READ_WRITE: i64 = 2;
const APPEND: i64 = 0o2000;

/// WASI's flags of a descriptor.
const FLAG_APPEND: u32 = 1;
const FLAG_NON_BLOCKING: u32 = 4;

/// WASI's rights. Programs read them to find out the access mode and whether a character device is
/// a terminal, which has neither [`SEEK`] nor [`TELL`].
pub(super) const READ: u64 = 1 << 1;
const SEEK: u64 = 1 << 2;
const TELL: u64 = 1 << 5;
pub(super) const WRITE: u64 = 1 << 6;
const ALL: u64 = (1 << 30) - 1;

/// WASI's flags of a change of times.
const SET_ATIME: u32 = 1;
const SET_ATIME_NOW: u32 = 2;
const SET_MTIME: u32 = 4;
const SET_MTIME_NOW: u32 = 8;

pub(super) async fn fd_advise(call: &mut Call<'_>, fd: u32, _offset: u64, _len: u64, advice: u32) -> Outcome {
    if advice > 5 {
        return Err(Errno::EINVAL.into());
    }
    match attributes(call, fd).await?.file_type() {
        FileType::Regular => Ok(()),
        FileType::Directory => Err(Errno::EBADF.into()),
        _ => Err(Errno::ESPIPE.into()),
    }
}

/// Makes a file at least as long as the end of the range. The bytes are not reserved.
pub(super) async fn fd_allocate(call: &mut Call<'_>, fd: u32, offset: u64, len: u64) -> Outcome {
    let end = offset.checked_add(len).filter(|_| len > 0).ok_or(Errno::EINVAL)?;
    if attributes(call, fd).await?.size() < end {
        fd_filestat_set_size(call, fd, end).await?;
    }
    Ok(())
}

pub(super) async fn fd_close(call: &mut Call<'_>, fd: u32) -> Outcome {
    call.data_mut().wasi.listings.forget(fd);
    plain_call(call, FileCall::Close, &[fd.into()]).await.map(drop)
}

/// Executes `fd_sync` and `fd_datasync`.
pub(super) async fn fd_sync(call: &mut Call<'_>, fd: u32) -> Outcome {
    plain_call(call, FileCall::Fsync, &[fd.into()]).await.map(drop)
}

pub(super) async fn fd_fdstat_get(call: &mut Call<'_>, fd: u32, out: u32) -> Outcome {
    if matches!(fd, ROOT | WORKING_DIRECTORY) {
        return put_fdstat(call, out, FileType::Directory, 0, ALL);
    }
    let file_type = attributes(call, fd).await?.file_type();
    let status = plain_call(call, FileCall::StatusFlags, &[fd.into()]).await?;
    let has_position = plain_call(call, FileCall::Lseek, &[fd.into(), 0, 1]).await.is_ok();
    let is_terminal = plain_call(call, FileCall::Kind, &[fd.into()]).await? == TERMINAL;
    let mut rights = ALL;
    if status & ACCESS == WRITE_ONLY {
        rights &= !READ;
    }
    if !matches!(status & ACCESS, WRITE_ONLY | READ_WRITE) {
        rights &= !WRITE;
    }
    if !has_position || is_terminal {
        rights &= !(SEEK | TELL);
    }
    let append = if status & APPEND != 0 { FLAG_APPEND } else { 0 };
    let non_blocking = if status & NON_BLOCKING != 0 { FLAG_NON_BLOCKING } else { 0 };
    put_fdstat(call, out, file_type, append | non_blocking, rights)
}

/// Writes WASI's `fdstat`.
fn put_fdstat(call: &mut Call<'_>, out: u32, file_type: FileType, flags: u32, rights: u64) -> Outcome {
    let mut bytes = [0; 24];
    bytes[0] = file_type as u8;
    bytes[2] = flags as u8;
    bytes[8..16].copy_from_slice(&rights.to_le_bytes());
    bytes[16..].copy_from_slice(&rights.to_le_bytes());
    put(call, out, &bytes)
}

/// The number of a terminal among the kinds of descriptors.
const TERMINAL: i64 = 1;

pub(super) async fn fd_fdstat_set_flags(call: &mut Call<'_>, fd: u32, flags: u32) -> Outcome {
    let append = if flags & FLAG_APPEND != 0 { APPEND } else { 0 };
    let non_blocking = if flags & FLAG_NON_BLOCKING != 0 { NON_BLOCKING } else { 0 };
    plain_call(call, FileCall::SetStatusFlags, &[fd.into(), append | non_blocking]).await.map(drop)
}

/// Checks only that the descriptor is open. Permissions and modes limit a program, not rights.
pub(super) async fn fd_fdstat_set_rights(call: &mut Call<'_>, fd: u32, _base: u64, _inheriting: u64) -> Outcome {
    plain_call(call, FileCall::StatusFlags, &[fd.into()]).await.map(drop)
}

pub(super) async fn fd_filestat_get(call: &mut Call<'_>, fd: u32, out: u32) -> Outcome {
    let filestat = attributes(call, fd).await?.filestat();
    put(call, out, &filestat)
}

pub(super) async fn fd_filestat_set_size(call: &mut Call<'_>, fd: u32, len: u64) -> Outcome {
    let len = i64::try_from(len).map_err(|_| Errno::EFBIG)?;
    plain_call(call, FileCall::Ftruncate, &[fd.into(), len]).await.map(drop)
}

pub(super) async fn fd_filestat_set_times(call: &mut Call<'_>, fd: u32, atime: u64, mtime: u64, flags: u32) -> Outcome {
    let [atime, mtime] = times(atime, mtime, flags)?;
    plain_call(call, FileCall::Futimes, &[fd.into(), atime, mtime]).await.map(drop)
}

/// Returns the times of a change in the form of the kernel's calls. Fails with `EINVAL` if a time
/// has two values.
pub(super) fn times(atime: u64, mtime: u64, flags: u32) -> Result<[i64; 2], Errno> {
    let time = |value: u64, set: u32, now: u32| match (flags & set != 0, flags & now != 0) {
        (true, true) => Err(Errno::EINVAL),
        (false, true) => Ok(i64::MAX),
        (false, false) => Ok(i64::MIN),
        (true, false) => Ok(i64::try_from(value).unwrap_or(i64::MAX - 1)),
    };
    Ok([time(atime, SET_ATIME, SET_ATIME_NOW)?, time(mtime, SET_MTIME, SET_MTIME_NOW)?])
}

/// Describes a directory that was open at the start of a WASI command. The Python guest has none.
pub(super) async fn fd_prestat_get(call: &mut Call<'_>, fd: u32, out: u32) -> Outcome {
    let path = call.data().wasi.preopened(fd)?;
    let mut bytes = [0; 8];
    bytes[4..].copy_from_slice(&(path.len() as u32).to_le_bytes());
    put(call, out, &bytes)
}

pub(super) async fn fd_prestat_dir_name(call: &mut Call<'_>, fd: u32, address: u32, len: u32) -> Outcome {
    let path = call.data().wasi.preopened(fd)?;
    let path = path.get(..len as usize).ok_or(Errno::ENAMETOOLONG)?;
    put(call, address, path.as_bytes())
}

/// Moves a descriptor to another number.
pub(super) async fn fd_renumber(call: &mut Call<'_>, fd: u32, to: u32) -> Outcome {
    plain_call(call, FileCall::DuplicateTo, &[fd.into(), to.into()]).await?;
    call.data_mut().wasi.listings.forget(to);
    if fd == to { Ok(()) } else { fd_close(call, fd).await }
}

pub(super) async fn fd_seek(call: &mut Call<'_>, fd: u32, offset: i64, whence: u32, out: u32) -> Outcome {
    let position = plain_call(call, FileCall::Lseek, &[fd.into(), offset, whence.into()]).await?;
    put_u64(call, out, position.cast_unsigned())
}

pub(super) async fn fd_tell(call: &mut Call<'_>, fd: u32, out: u32) -> Outcome {
    fd_seek(call, fd, 0, 1, out).await
}

async fn attributes(call: &mut Call<'_>, fd: u32) -> Outcome<Attributes> {
    let mut numbers = [0; KERNEL_LEN];
    call_beside(call, FileCall::Fstat, Start::default(), &[fd.into(), 0, KERNEL_LEN as i64], &mut numbers).await?;
    Ok(Attributes::of(&numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_times_names_each_time_once() {
        assert_eq!(times(5, 6, SET_ATIME | SET_MTIME), Ok([5, 6]));
        assert_eq!(times(5, 6, SET_MTIME_NOW), Ok([i64::MIN, i64::MAX]));
        assert_eq!(times(u64::MAX, 6, SET_ATIME), Ok([i64::MAX - 1, i64::MIN]));
        assert_eq!(times(5, 6, SET_ATIME | SET_ATIME_NOW), Err(Errno::EINVAL));
        assert_eq!(times(5, 6, SET_MTIME | SET_MTIME_NOW), Err(Errno::EINVAL));
    }
}
