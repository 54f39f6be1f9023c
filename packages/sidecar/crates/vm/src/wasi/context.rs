//! The helpers of all calls: results, guest memory, and calls of the kernel. Next: `transfer.rs`.

use super::errors;
use crate::access::{Call, stopped, with_bytes};
use crate::async_imports::system_call;
use coldframe_error::Errno;
use coldframe_kernel::{Fd, Start};
use std::pin::Pin;

/// The descriptor that stands for `/` in calls with a path and in `fd_fdstat_get`. No table of
/// descriptors is this long.
pub(super) const ROOT: u32 = 0x7fff_0000;
/// The descriptor that stands for the working directory, in the same calls.
pub(super) const WORKING_DIRECTORY: u32 = 0x7fff_0001;
/// The most vectors of one call, as Linux's `IOV_MAX`.
const MAX_VECTORS: u32 = 1_024;

/// The reason why a call has no result.
pub(super) enum Failure {
    /// The guest receives an error number.
    Errno(Errno),
    /// The turn ends.
    Trap(wasmtime::Error),
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<wasmtime::Error> for Failure {
    fn from(error: wasmtime::Error) -> Self {
        Self::Trap(error)
    }
}

pub(super) type Outcome<T = ()> = Result<T, Failure>;
/// A call that runs.
pub(super) type Running<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// Runs a call, and converts its outcome to WASI's error number. If the program must end, the turn
/// ends with a trap.
pub(super) async fn finish<'c>(
    call: &mut Call<'c>,
    run: impl for<'a> FnOnce(&'a mut Call<'c>) -> Running<'a>,
) -> wasmtime::Result<i32> {
    if call.data().refs.caller.is_ending() {
        return Err(stopped());
    }
    let outcome = run(call).await;
    if call.data().refs.caller.is_ending() {
        return Err(stopped());
    }
    match outcome {
        Ok(()) => Ok(errors::SUCCESS),
        Err(Failure::Errno(errno)) => Ok(errors::number(errno)),
        Err(Failure::Trap(error)) => Err(error),
    }
}

/// A path in the guest's memory, and the directory at which a relative path starts.
#[derive(Clone, Copy)]
pub(super) struct Path {
    pub(super) start: Start,
    address: u32,
    len: u32,
}

impl Path {
    /// Makes a path that starts at the directory of `fd`.
    pub(super) fn at(fd: u32, address: u32, len: u32) -> Outcome<Self> {
        let start = match fd {
            ROOT => Start::Root,
            WORKING_DIRECTORY => Start::WorkingDirectory,
            fd => Start::Descriptor(Fd::from_guest(fd)?),
        };
        Ok(Self { start, address, len })
    }

    /// Returns the two integers of a path in a call of the kernel.
    pub(super) fn integers(self) -> [i64; 2] {
        [self.address.into(), self.len.into()]
    }
}

/// Makes a call of the kernel. The addresses are addresses in the guest's memory.
pub(super) async fn kernel_call(
    call: &mut Call<'_>,
    number: impl Into<u32>,
    starts: [Start; 2],
    integers: &[i64],
) -> Outcome<i64> {
    Ok(system_call(call, number.into(), padded(integers), starts, None).await??)
}

/// Makes a call of the kernel with one path, which is the first argument.
pub(super) async fn path_call(call: &mut Call<'_>, number: impl Into<u32>, path: Path, rest: &[i64]) -> Outcome<i64> {
    let integers = [&path.integers()[..], rest].concat();
    kernel_call(call, number, [path.start, path.start], &integers).await
}

/// Makes a call of the kernel without a path.
pub(super) async fn plain_call(call: &mut Call<'_>, number: impl Into<u32>, integers: &[i64]) -> Outcome<i64> {
    kernel_call(call, number, Default::default(), integers).await
}

/// Makes a call of the kernel whose addresses are offsets in `buffer`, a buffer of the sidecar.
pub(super) async fn call_beside(
    call: &mut Call<'_>,
    number: impl Into<u32>,
    start: Start,
    integers: &[i64],
    buffer: &mut [u8],
) -> Outcome<i64> {
    Ok(system_call(call, number.into(), padded(integers), [start, start], Some(buffer)).await??)
}

fn padded(integers: &[i64]) -> [i64; 8] {
    std::array::from_fn(|index| integers.get(index).copied().unwrap_or(0))
}

/// Writes bytes to the guest's memory.
pub(super) fn put(call: &mut Call<'_>, address: u32, bytes: &[u8]) -> Outcome {
    let len = u32::try_from(bytes.len()).map_err(|_| Errno::EFAULT)?;
    let copied = with_bytes(call, address, len, |memory, _| memory.copy_from_slice(bytes))?;
    copied.map_err(|_| Errno::EFAULT.into())
}

/// Returns a copy of bytes of the guest's memory.
pub(super) fn take(call: &mut Call<'_>, address: u32, len: u32) -> Outcome<Vec<u8>> {
    let copied = with_bytes(call, address, len, |memory, _| memory.to_vec())?;
    copied.map_err(|_| Errno::EFAULT.into())
}

/// Writes a result of 32 bits.
pub(super) fn put_u32(call: &mut Call<'_>, address: u32, value: i64) -> Outcome {
    let value = u32::try_from(value).map_err(|_| Errno::EOVERFLOW)?;
    put(call, address, &value.to_le_bytes())
}

/// Writes a result of 64 bits.
pub(super) fn put_u64(call: &mut Call<'_>, address: u32, value: u64) -> Outcome {
    put(call, address, &value.to_le_bytes())
}

/// Reads a list of vectors: addresses and lengths in the guest's memory. Fails with `EINVAL` for
/// more than [`MAX_VECTORS`].
pub(super) fn vectors(call: &mut Call<'_>, address: u32, count: u32) -> Outcome<Vec<(u32, u32)>> {
    if count > MAX_VECTORS {
        return Err(Errno::EINVAL.into());
    }
    let bytes = take(call, address, count * 8)?;
    let numbers = bytes.chunks_exact(8).map(|vector| (u32_at(vector, 0), u32_at(vector, 4)));
    Ok(numbers.collect())
}

/// Returns the u32 at `offset`. Returns 0 outside the bytes.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    bytes.get(offset..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

/// Returns the u64 at `offset`. Returns 0 outside the bytes.
pub(super) fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    bytes.get(offset..).and_then(|rest| rest.first_chunk()).map_or(0, |chunk| u64::from_le_bytes(*chunk))
}
