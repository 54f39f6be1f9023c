//! The calls of WASI for connections. The calls that WASI lacks, such as `connect`, are calls of
//! the kernel, which the Python guest imports. Next: `command_line.rs`.

use super::context::{Failure, Outcome, plain_call, put, put_u32};
use super::transfer::{NON_BLOCKING, is_non_blocking, transfer};
use crate::access::Call;
use coldframe_abi::system_calls::{FileCall, SocketCall};
use coldframe_error::Errno;
use coldframe_kernel::{self as kernel, Fd};

/// WASI's flag of a non-blocking descriptor.
const FLAG_NON_BLOCKING: u32 = 4;
/// WASI's flags of a shutdown.
const READS: u32 = 1;
const WRITES: u32 = 2;
/// The offset that means no offset.
const STREAM: i64 = -1;

/// Accepts a connection. Waits unless the listener is set to non-blocking.
pub(super) async fn sock_accept(call: &mut Call<'_>, fd: u32, flags: u32, out: u32) -> Outcome {
    let accepted = loop {
        match plain_call(call, SocketCall::Accept, &[fd.into()]).await {
            Err(Failure::Errno(Errno::EAGAIN)) if !is_non_blocking(call, fd).await? => {
                let caller = call.data().refs.caller.clone();
                kernel::wait_ready(&caller, Fd::from_guest(fd)?, kernel::IN).await?;
            }
            accepted => break accepted?,
        }
    };
    if flags & FLAG_NON_BLOCKING != 0 {
        plain_call(call, FileCall::SetStatusFlags, &[accepted, NON_BLOCKING]).await?;
    }
    put_u32(call, out, accepted)
}

/// Reads from a connection. Fails with `EOPNOTSUPP` for the flags of a peek and of a wait for all
/// bytes.
pub(super) async fn sock_recv(
    call: &mut Call<'_>,
    fd: u32,
    vectors: u32,
    count: u32,
    flags: u32,
    len_out: u32,
    flags_out: u32,
) -> Outcome {
    if flags != 0 {
        return Err(Errno::EOPNOTSUPP.into());
    }
    let moved = transfer(call, FileCall::Read, fd, (vectors, count), STREAM).await?;
    put_u32(call, len_out, moved)?;
    put(call, flags_out, &[0; 2])
}

pub(super) async fn sock_send(call: &mut Call<'_>, fd: u32, vectors: u32, count: u32, _flags: u32, out: u32) -> Outcome {
    let moved = transfer(call, FileCall::Write, fd, (vectors, count), STREAM).await?;
    put_u32(call, out, moved)
}

/// Ends the sending direction. A socket of the kernel has no separate end of the receiving
/// direction, so that part has no effect.
pub(super) async fn sock_shutdown(call: &mut Call<'_>, fd: u32, how: u32) -> Outcome {
    if how == 0 || how & !(READS | WRITES) != 0 {
        return Err(Errno::EINVAL.into());
    }
    if how & WRITES != 0 {
        plain_call(call, SocketCall::Shutdown, &[fd.into()]).await?;
    }
    Ok(())
}
