//! The imports of runtimes with mounted app file systems.
//!
//! A system call may need replies of the embedder. Such a call is made in rounds (`exchange.rs` of
//! the app file systems in the crate `kernel`). Each round except the last ends with a host call.
//! Only the calling VM waits for the reply. During the wait the sidecar holds no lock and is not
//! inside the gate. In these runtimes, a system call without a host call costs one additional
//! allocation. Runtimes without app file systems use the plain imports, which have no additional
//! cost. Next: `access.rs`.

use crate::access::{Call, Integers, MODULE, read, short, stopped, with_bytes, write};
use crate::data::StoreData;
use coldframe_error::Errno;
use coldframe_kernel::{self as kernel, Arguments, Caller, Exchange, FileSystemRequest, Start};
use std::sync::Arc;
use wasmtime::Linker;

/// Defines the imports that may wait for the embedder: `sys`, and `read` and `write`, whose
/// descriptor may be a file of an app file system.
pub(crate) fn define(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    system_calls(linker)?;
    transfer(linker, "read", read)?;
    transfer(linker, "write", write)
}

/// Makes a host call for the next round. Fails if the program must end.
async fn ask(caller: &Arc<dyn Caller>, exchange: &mut Exchange, asked: FileSystemRequest) -> wasmtime::Result<()> {
    let answer = kernel::ask_file_system(caller, &asked).await;
    if caller.is_ending() {
        return Err(stopped());
    }
    exchange.answer(asked, answer);
    Ok(())
}

type Transfer = fn(&dyn Caller, i32, &mut [u8]) -> kernel::Answer;

fn transfer(linker: &mut Linker<StoreData>, name: &str, transfer: Transfer) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, name, move |mut call: Call<'_>, (fd, ptr, len): (i32, u32, u32)| {
        Box::new(async move {
            let caller = call.data().refs.caller.clone();
            let mut exchange = Exchange::new(&caller.process().kernel.usage);
            loop {
                let answer = exchange.round(|| with_bytes(&mut call, ptr, len, |bytes, caller| transfer(caller, fd, bytes)))?;
                let Some(asked) = exchange.wanted() else { return Ok(answer.map_or_else(|error| error, short)) };
                ask(&caller, &mut exchange, asked).await?;
            }
        })
    })?;
    Ok(())
}

fn system_calls(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "sys", |mut call: Call<'_>, (number, a, b, c, d, e, f, g, h): Integers| {
        Box::new(async move {
            let integers = [a, b, c, d, e, f, g, h];
            let answer = system_call(&mut call, number.cast_unsigned(), integers, Default::default(), None).await?;
            Ok(answer.unwrap_or_else(Errno::negative))
        })
    })?;
    Ok(())
}

/// Makes a system call, which may wait for the embedder. The addresses of the call are offsets in
/// `buffer`, or addresses in the guest's memory. Fails with a trap if the program must end.
pub(crate) async fn system_call(
    call: &mut Call<'_>,
    number: u32,
    integers: [i64; 8],
    starts: [Start; 2],
    mut buffer: Option<&mut [u8]>,
) -> wasmtime::Result<kernel::Answer> {
    let Some(memory) = call.data().memory else { return Ok(Err(Errno::EFAULT)) };
    let refs = call.data().refs.clone();
    let mut exchange = Exchange::new(&refs.caller.process().kernel.usage);
    loop {
        let answer = {
            let Ok(_open) = refs.gate.enter() else { return Err(stopped()) };
            let arguments = match buffer.as_deref_mut() {
                Some(buffer) => Arguments::beside(memory.data_size(&*call), integers, buffer),
                None => Arguments::new(integers, memory.data_mut(&mut *call)),
            };
            let mut arguments = arguments.relative_to(starts);
            exchange.round(|| kernel::call(&refs.caller, number, &mut arguments))
        };
        // A program that has sent a signal to itself must not continue.
        if refs.caller.is_ending() {
            return Err(stopped());
        }
        let Some(asked) = exchange.wanted() else { return Ok(answer) };
        ask(&refs.caller, &mut exchange, asked).await?;
    }
}
