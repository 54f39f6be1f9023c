//! Calls of paths. Each path starts at the directory of a descriptor, and an absolute path starts
//! at `/`. The kernel's permissions bound a program, so a path may leave the directory. Next:
//! `descriptors.rs`.

use super::context::{Failure, Outcome, Path, call_beside, kernel_call, path_call, put, put_u32, take};
use super::descriptors::{READ, WRITE, times};
use super::stat::{Attributes, KERNEL_LEN};
use crate::access::Call;
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Errno;

/// The mode of new files, of which the kernel clears the bits of the umask.
const FILE_MODE: i64 = 0o666;
const DIRECTORY_MODE: i64 = 0o777;
/// The longest path that the kernel accepts, plus 1.
const TOO_LONG: u32 = 4_096;

/// WASI's flags of an open.
const CREATE: u32 = 1;
const DIRECTORY: u32 = 2;
const EXCLUSIVE: u32 = 4;
const TRUNCATE: u32 = 8;
/// WASI's flag of a lookup that follows a link at the path's end.
const FOLLOW: u32 = 1;

/// Linux's flags of an open, for each flag of WASI.
const OPEN_FLAGS: [(u32, i64); 4] = [(CREATE, 0o100), (DIRECTORY, 0o200_000), (EXCLUSIVE, 0o200), (TRUNCATE, 0o1000)];
/// Linux's flags of a descriptor, for WASI's flags append, dsync, non-blocking, rsync and sync.
/// Writes reach the disk of a mount with `fsync`, so the flags of synchronous writes do nothing.
const STATUS_FLAGS: [(u32, i64); 2] = [(1, 0o2000), (4, 0o4000)];
const NO_FOLLOW: i64 = 0o400_000;

fn converted(flags: u32, table: &[(u32, i64)]) -> i64 {
    table.iter().filter(|(wasi, _)| flags & wasi != 0).fold(0, |all, (_, linux)| all | linux)
}

fn follows(lookup: u32) -> i64 {
    i64::from(lookup & FOLLOW != 0)
}

#[expect(clippy::too_many_arguments, reason = "WASI's signature")]
pub(super) async fn path_open(
    call: &mut Call<'_>,
    fd: u32,
    lookup: u32,
    path: u32,
    len: u32,
    how: u32,
    rights: u64,
    _inheriting: u64,
    flags: u32,
    out: u32,
) -> Outcome {
    let access = match (rights & READ != 0, rights & WRITE != 0) {
        (true, true) => 2,
        (false, true) => 1,
        (_, false) => 0,
    };
    let stays = if follows(lookup) == 0 { NO_FOLLOW } else { 0 };
    let flags = access | stays | converted(how, &OPEN_FLAGS) | converted(flags, &STATUS_FLAGS);
    let opened = path_call(call, FileCall::Open, Path::at(fd, path, len)?, &[flags, FILE_MODE]).await?;
    if let Ok(opened) = u32::try_from(opened) {
        call.data_mut().wasi.listings.forget(opened);
    }
    put_u32(call, out, opened)
}

pub(super) async fn path_create_directory(call: &mut Call<'_>, fd: u32, path: u32, len: u32) -> Outcome {
    path_call(call, FileCall::Mkdir, Path::at(fd, path, len)?, &[DIRECTORY_MODE]).await.map(drop)
}

pub(super) async fn path_remove_directory(call: &mut Call<'_>, fd: u32, path: u32, len: u32) -> Outcome {
    path_call(call, FileCall::Rmdir, Path::at(fd, path, len)?, &[]).await.map(drop)
}

pub(super) async fn path_unlink_file(call: &mut Call<'_>, fd: u32, path: u32, len: u32) -> Outcome {
    path_call(call, FileCall::Unlink, Path::at(fd, path, len)?, &[]).await.map(drop)
}

pub(super) async fn path_filestat_get(call: &mut Call<'_>, fd: u32, lookup: u32, path: u32, len: u32, out: u32) -> Outcome {
    if len >= TOO_LONG {
        return Err(Errno::ENAMETOOLONG.into());
    }
    let start = Path::at(fd, path, len)?.start;
    let mut buffer = vec![0; KERNEL_LEN];
    buffer.extend(take(call, path, len)?);
    let integers = [KERNEL_LEN as i64, len.into(), 0, KERNEL_LEN as i64, follows(lookup)];
    call_beside(call, FileCall::Stat, start, &integers, &mut buffer).await?;
    let numbers = buffer.first_chunk().ok_or(Failure::Errno(Errno::EFAULT))?;
    put(call, out, &Attributes::of(numbers).filestat())
}

#[expect(clippy::too_many_arguments, reason = "WASI's signature")]
pub(super) async fn path_filestat_set_times(
    call: &mut Call<'_>,
    fd: u32,
    lookup: u32,
    path: u32,
    len: u32,
    atime: u64,
    mtime: u64,
    flags: u32,
) -> Outcome {
    let [atime, mtime] = times(atime, mtime, flags)?;
    path_call(call, FileCall::Utimes, Path::at(fd, path, len)?, &[atime, mtime, follows(lookup)]).await.map(drop)
}

/// Adds a name to a file. The kernel's call does not follow a link at the end of the old path, as
/// `link` of Linux. A call that asks to follow such a link fails with `EINVAL`.
#[expect(clippy::too_many_arguments, reason = "WASI's signature")]
pub(super) async fn path_link(
    call: &mut Call<'_>,
    from_fd: u32,
    lookup: u32,
    from: u32,
    from_len: u32,
    to_fd: u32,
    to: u32,
    to_len: u32,
) -> Outcome {
    if follows(lookup) != 0 {
        return Err(Errno::EINVAL.into());
    }
    two_paths(call, FileCall::Link, Path::at(from_fd, from, from_len)?, Path::at(to_fd, to, to_len)?).await
}

pub(super) async fn path_rename(
    call: &mut Call<'_>,
    from_fd: u32,
    from: u32,
    from_len: u32,
    to_fd: u32,
    to: u32,
    to_len: u32,
) -> Outcome {
    two_paths(call, FileCall::Rename, Path::at(from_fd, from, from_len)?, Path::at(to_fd, to, to_len)?).await
}

async fn two_paths(call: &mut Call<'_>, number: FileCall, from: Path, to: Path) -> Outcome {
    let integers = [from.integers(), to.integers()].concat();
    kernel_call(call, number, [from.start, to.start], &integers).await.map(drop)
}

/// Makes a symbolic link. The target is stored unchanged.
pub(super) async fn path_symlink(call: &mut Call<'_>, target: u32, target_len: u32, fd: u32, path: u32, len: u32) -> Outcome {
    let path = Path::at(fd, path, len)?;
    let [address, len] = path.integers();
    let integers = [target.into(), target_len.into(), address, len];
    kernel_call(call, FileCall::Symlink, [path.start, path.start], &integers).await.map(drop)
}

pub(super) async fn path_readlink(
    call: &mut Call<'_>,
    fd: u32,
    path: u32,
    len: u32,
    buffer: u32,
    capacity: u32,
    out: u32,
) -> Outcome {
    let target = path_call(call, FileCall::Readlink, Path::at(fd, path, len)?, &[buffer.into(), capacity.into()]).await?;
    put_u32(call, out, target.min(capacity.into()))
}
