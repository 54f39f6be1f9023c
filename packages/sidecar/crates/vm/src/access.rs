//! Accesses guest memory for imports, and converts the results of imports.
//!
//! A pointer from the guest is a number. Every access checks the number against the memory's size
//! and passes the gate. Next: `imports.rs`.

use crate::abi::errno;
use crate::data::StoreData;
use coldframe_abi::MAX_TRANSFER;
use coldframe_error::{Errno, Error};
use coldframe_kernel::processes::SIGPIPE;
use coldframe_kernel::{self as kernel, Answer};
use wasmtime::Caller;

/// The import module.
pub(crate) const MODULE: &str = "coldframe";

/// wasmtime's view of the VM that calls an import.
pub(crate) type Call<'a> = Caller<'a, StoreData>;

/// The arguments of the imports `sys` and `sys_wait`: a number and eight integers.
pub(crate) type Integers = (i32, i64, i64, i64, i64, i64, i64, i64, i64);

/// Runs `access` on `len` bytes of guest memory at `ptr`. Returns `EFAULT` if the range is not in
/// the memory. Fails with a trap if the gate is closed.
pub(crate) fn with_bytes<R>(
    call: &mut Call<'_>,
    ptr: u32,
    len: u32,
    access: impl FnOnce(&mut [u8], &dyn kernel::Caller) -> R,
) -> wasmtime::Result<Result<R, i32>> {
    let Some(memory) = call.data().memory else { return Ok(Err(errno::EFAULT)) };
    let refs = call.data().refs.clone();
    let Ok(_open) = refs.gate.enter() else { return Err(stopped()) };
    let (ptr, len) = (ptr as usize, len as usize);
    let bytes = memory.data_mut(call).get_mut(ptr..ptr.saturating_add(len));
    Ok(bytes.map(|bytes| access(bytes, &*refs.caller)).ok_or(errno::EFAULT))
}

/// Returns the trap that ends the guest's turn. The program has stored the reason.
pub(crate) fn stopped() -> wasmtime::Error {
    wasmtime::Error::msg("the process was ended")
}

/// Executes the import `read`. Reads at most [`MAX_TRANSFER`] bytes.
pub(crate) fn read(caller: &dyn kernel::Caller, fd: i32, bytes: &mut [u8]) -> Answer {
    let most = bytes.len().min(MAX_TRANSFER);
    kernel::read(caller, kernel::Fd::from_guest(fd)?, &mut bytes[..most])
}

/// Executes the import `write`. Writes at most [`MAX_TRANSFER`] bytes. Ends the program with
/// `SIGPIPE` if the write fails with `EPIPE`.
pub(crate) fn write(caller: &dyn kernel::Caller, fd: i32, bytes: &mut [u8]) -> Answer {
    let most = bytes.len().min(MAX_TRANSFER);
    let written = kernel::Fd::from_guest(fd).and_then(|fd| kernel::write(caller, fd, &mut bytes[..most]));
    if written == Err(Errno::EPIPE) {
        // `console.log` ignores the result of this import. Without a signal, a program that prints
        // forever would run forever.
        caller.end(Error::Signal { signal: SIGPIPE });
    }
    written
}

/// Converts the result of an import to 32 bits. An error becomes a negative number, and a larger
/// result becomes `i32::MAX`.
pub(crate) fn short(answer: Answer) -> i32 {
    i32::try_from(answer.unwrap_or_else(Errno::negative)).unwrap_or(i32::MAX)
}
