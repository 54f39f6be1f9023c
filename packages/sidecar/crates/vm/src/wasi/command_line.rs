//! The arguments, the environment and the end of a program.
//!
//! A WASI command reads its arguments and its environment with these calls. The Python guest gets
//! both with the START event, so its lists are empty here. Next: `clocks.rs`.

use super::context::{Outcome, plain_call, put, put_u32};
use super::listing::Listings;
use crate::access::{Call, stopped};
use coldframe_abi::system_calls::ProcessCall;
use coldframe_error::Errno;

/// The state of a program that imports WASI.
#[derive(Default)]
pub(crate) struct ProgramState {
    /// The exit code of a program that has called `proc_exit` in the middle of a turn.
    pub(crate) exit_code: Option<i32>,
    pub(super) listings: Listings,
    args: Vec<Vec<u8>>,
    env: Vec<Vec<u8>>,
    /// The directories that are open at the start, with their paths.
    preopened: Vec<(u32, String)>,
}

impl ProgramState {
    /// Returns the path of a directory that was open at the start. Fails with `EBADF` for another
    /// descriptor.
    pub(super) fn preopened(&self, fd: u32) -> Result<String, Errno> {
        let found = self.preopened.iter().find(|(other, _)| *other == fd);
        found.map(|(_, path)| path.clone()).ok_or(Errno::EBADF)
    }
}

pub(super) async fn args_sizes_get(call: &mut Call<'_>, count: u32, len: u32) -> Outcome {
    let (texts, bytes) = sizes(&call.data().wasi.args);
    put_u32(call, count, texts)?;
    put_u32(call, len, bytes)
}

pub(super) async fn args_get(call: &mut Call<'_>, pointers: u32, texts: u32) -> Outcome {
    let args = call.data().wasi.args.clone();
    put_texts(call, &args, pointers, texts)
}

pub(super) async fn environ_sizes_get(call: &mut Call<'_>, count: u32, len: u32) -> Outcome {
    let (texts, bytes) = sizes(&call.data().wasi.env);
    put_u32(call, count, texts)?;
    put_u32(call, len, bytes)
}

pub(super) async fn environ_get(call: &mut Call<'_>, pointers: u32, texts: u32) -> Outcome {
    let env = call.data().wasi.env.clone();
    put_texts(call, &env, pointers, texts)
}

/// Returns the number of texts, and their length with a NUL behind each text.
fn sizes(texts: &[Vec<u8>]) -> (i64, i64) {
    let bytes: usize = texts.iter().map(|text| text.len() + 1).sum();
    (texts.len() as i64, bytes as i64)
}

/// Writes the texts, each with a NUL, and a pointer to each text.
fn put_texts(call: &mut Call<'_>, texts: &[Vec<u8>], pointers: u32, address: u32) -> Outcome {
    let (mut list, mut bytes) = (Vec::new(), Vec::new());
    for text in texts {
        list.extend(address.wrapping_add(bytes.len() as u32).to_le_bytes());
        bytes.extend(text);
        bytes.push(0);
    }
    put(call, pointers, &list)?;
    put(call, address, &bytes)
}

/// Ends the turn and the program. `Vm::turn` reports the exit code, which is the lowest byte of
/// `code`, as on Linux.
pub(super) fn proc_exit(call: &mut Call<'_>, code: u32) -> wasmtime::Result<()> {
    call.data_mut().wasi.exit_code = Some((code & 0xff).cast_signed());
    Err(stopped())
}

/// Sends a signal to the program itself. WASI has Linux's numbers of signals without SIGSTKFLT, so
/// the numbers from 16 on are one lower than on Linux.
pub(super) async fn proc_raise(call: &mut Call<'_>, signal: u32) -> Outcome {
    let signal = if signal < 16 { signal } else { signal.saturating_add(1) };
    let pid = call.data().refs.caller.pid().get();
    plain_call(call, ProcessCall::Kill, &[pid.into(), signal.into()]).await.map(drop)
}
