//! System calls of runtimes in which file systems of the caller outside are mounted.
//!
//! A call may need answers of the caller. It is carried out in rounds (`kernel/fs/app/exchange.rs`): each ends with a question, and this VM alone
//! waits for the answer, without a lock and with the gate to its memory closed. A call that asks nothing costs one allocation more than
//! elsewhere; runtimes without such file systems have the plain import, and pay nothing. Next: `imports.rs`.

use super::abi::errno;
use super::imports::{Call, Host, Integers, MODULE, short, stopped, with_bytes, write};
use crate::kernel::{self, Arguments, Asked, Exchange};
use crate::program::Program;
use std::sync::Arc;
use wasmtime::Linker;

/// Defines what may have to wait for the caller: `sys`, and `read` and `write`, whose descriptor may be a file of its.
pub(super) fn define(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    system_calls(linker)?;
    short_way(linker, "read", |program, fd, bytes| kernel::read(program, i64::from(fd), bytes))?;
    short_way(linker, "write", write)
}

/// Has a question answered, for the next round. An error when the program was told to end meanwhile.
async fn learn(program: &Arc<Program>, exchange: &mut Exchange, asked: Asked) -> wasmtime::Result<()> {
    let answer = kernel::ask_file_system(program, &asked).await;
    if program.is_ending() {
        return Err(stopped());
    }
    exchange.answer(asked, answer);
    Ok(())
}

type Way = fn(&Program, i32, &mut [u8]) -> kernel::Answer;

fn short_way(linker: &mut Linker<Host>, name: &str, way: Way) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, name, move |mut caller: Call<'_>, (fd, ptr, len): (i32, u32, u32)| {
        Box::new(async move {
            let program = caller.data().program.clone();
            let mut exchange = Exchange::default();
            loop {
                let answer = exchange.round(|| with_bytes(&mut caller, ptr, len, |bytes, program| way(program, fd, bytes)))?;
                let Some(asked) = exchange.wanted() else { return Ok(answer.map_or_else(|error| error, short)) };
                learn(&program, &mut exchange, asked).await?;
            }
        })
    })?;
    Ok(())
}

fn system_calls(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "sys", |mut caller: Call<'_>, (number, a, b, c, d, e, f, g, h): Integers| {
        Box::new(async move {
            let program = caller.data().program.clone();
            let Some(memory) = caller.data().memory else { return Ok(i64::from(errno::EFAULT)) };
            let mut exchange = Exchange::default();
            loop {
                let answer = {
                    let Ok(_open) = program.gate().enter() else { return Err(stopped()) };
                    let mut arguments = Arguments::new([a, b, c, d, e, f, g, h], memory.data_mut(&mut caller));
                    exchange.round(|| kernel::call(&program, number.cast_unsigned(), &mut arguments))
                };
                // A program that has sent itself a signal goes no further.
                if program.is_ending() {
                    return Err(stopped());
                }
                let Some(asked) = exchange.wanted() else {
                    return Ok(answer.unwrap_or_else(coldframe_error::Errno::negative));
                };
                learn(&program, &mut exchange, asked).await?;
            }
        })
    })?;
    Ok(())
}
