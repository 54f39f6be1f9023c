//! Reads and writes. A call waits until at least one byte was moved or the stream has ended, unless
//! the descriptor has `O_NONBLOCK`. Next: `stat.rs`.

use super::context::{Failure, Outcome, plain_call, put_u32, vectors};
use crate::access::Call;
use coldframe_abi::MAX_TRANSFER;
use coldframe_abi::system_calls::FileCall;
use coldframe_error::{Errno, Error};
use coldframe_kernel::processes::SIGPIPE;
use coldframe_kernel::{self as kernel, Fd};

pub(super) const NON_BLOCKING: i64 = 0o4000;
/// The offset that means the description's position.
const POSITION: i64 = -1;

pub(super) async fn fd_read(call: &mut Call<'_>, fd: u32, vectors: u32, count: u32, out: u32) -> Outcome {
    let moved = transfer(call, FileCall::Read, fd, (vectors, count), POSITION).await?;
    put_u32(call, out, moved)
}

pub(super) async fn fd_write(call: &mut Call<'_>, fd: u32, vectors: u32, count: u32, out: u32) -> Outcome {
    let moved = transfer(call, FileCall::Write, fd, (vectors, count), POSITION).await?;
    put_u32(call, out, moved)
}

pub(super) async fn fd_pread(call: &mut Call<'_>, fd: u32, vectors: u32, count: u32, offset: u64, out: u32) -> Outcome {
    let offset = i64::try_from(offset).map_err(|_| Errno::EINVAL)?;
    let moved = transfer(call, FileCall::Read, fd, (vectors, count), offset).await?;
    put_u32(call, out, moved)
}

pub(super) async fn fd_pwrite(call: &mut Call<'_>, fd: u32, vectors: u32, count: u32, offset: u64, out: u32) -> Outcome {
    let offset = i64::try_from(offset).map_err(|_| Errno::EINVAL)?;
    let moved = transfer(call, FileCall::Write, fd, (vectors, count), offset).await?;
    put_u32(call, out, moved)
}

/// Moves bytes between a descriptor and vectors of the guest's memory. Returns the number of bytes.
/// The call stops after [`MAX_TRANSFER`] bytes, so that a list of vectors does not occupy the
/// worker. After the first byte the call waits no more, and the next call reports an error of a
/// later vector.
pub(super) async fn transfer(
    call: &mut Call<'_>,
    direction: FileCall,
    fd: u32,
    (list, count): (u32, u32),
    offset: i64,
) -> Outcome<i64> {
    let vectors = vectors(call, list, count)?;
    let mut moved = 0;
    for (address, len) in vectors {
        let at = if offset == POSITION { POSITION } else { offset + moved };
        let part = match part(call, direction, fd, (address, len), at, moved == 0).await {
            Ok(part) => part,
            Err(Failure::Errno(_)) if moved > 0 => break,
            Err(failure) => return Err(failure),
        };
        moved += part;
        if part < i64::from(len) || moved >= MAX_TRANSFER as i64 {
            break;
        }
    }
    Ok(moved)
}

/// Moves bytes of one vector. Waits if `may_wait` is set and the descriptor is not set to
/// non-blocking.
async fn part(
    call: &mut Call<'_>,
    direction: FileCall,
    fd: u32,
    (address, len): (u32, u32),
    offset: i64,
    may_wait: bool,
) -> Outcome<i64> {
    let integers = [i64::from(fd), i64::from(address), i64::from(len), offset];
    loop {
        match plain_call(call, direction, &integers).await {
            Err(Failure::Errno(Errno::EAGAIN)) if may_wait && len > 0 && !is_non_blocking(call, fd).await? => {
                let mask = if direction == FileCall::Read { kernel::IN } else { kernel::OUT };
                let caller = call.data().refs.caller.clone();
                kernel::wait_ready(&caller, Fd::from_guest(fd)?, mask).await?;
            }
            Err(Failure::Errno(Errno::EPIPE)) => return Err(broken_pipe(call).into()),
            moved => return moved,
        }
    }
}

pub(super) async fn is_non_blocking(call: &mut Call<'_>, fd: u32) -> Outcome<bool> {
    Ok(plain_call(call, FileCall::StatusFlags, &[fd.into()]).await? & NON_BLOCKING != 0)
}

/// Ends the program with SIGPIPE, unless the program listens to the signal or ignores the signal.
/// Returns the error for a program that continues.
fn broken_pipe(call: &Call<'_>) -> Errno {
    let caller = &call.data().refs.caller;
    if !caller.process().withstands(SIGPIPE) {
        caller.end(Error::Signal { signal: SIGPIPE });
    }
    Errno::EPIPE
}
