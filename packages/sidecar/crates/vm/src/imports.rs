//! The functions that the guest imports. This module checks the arguments, and the kernel makes the
//! call for the VM's process.
//!
//! Errors are returned as negative Linux error numbers. An import traps only if the process must
//! end. Next: `async_imports.rs`, `access.rs`.

use crate::abi::errno;
use crate::access::{Call, Integers, MODULE, read, short, stopped, with_bytes, write};
use crate::async_imports;
use crate::data::{Fatal, StoreData};
use crate::owner::{Checkpoint, checkpoint};
use crate::wasi;
use coldframe_abi::{Clock, FatalKind, Mark};
use coldframe_error::Errno;
use coldframe_kernel::{self as kernel, Arguments};
use coldframe_sys as sys;
use wasmtime::{Engine, Linker, Module};

/// The largest number of entropy bytes that are filled while the gate is entered.
const MAX_RANDOM: u32 = 256 << 10;

/// Defines all functions that the guest's module imports. `is_async` selects the imports of
/// `async_imports.rs`.
pub(crate) fn linker(engine: &Engine, module: &Module, is_async: bool) -> wasmtime::Result<Linker<StoreData>> {
    let mut linker = Linker::new(engine);
    if is_async {
        async_imports::define(&mut linker)?;
    } else {
        output(&mut linker)?;
        input(&mut linker)?;
        system_calls(&mut linker)?;
    }
    waiting(&mut linker, "wait_writable", kernel::OUT)?;
    waiting(&mut linker, "wait_readable", kernel::IN)?;
    waiting_system_calls(&mut linker)?;
    scheduling(&mut linker)?;
    time_and_entropy(&mut linker)?;
    if module.imports().any(|import| import.module() == wasi::MODULE) {
        wasi::define(&mut linker)?;
    }
    build_file(&mut linker)?;
    Ok(linker)
}

fn output(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "write", |mut call: Call<'_>, fd: i32, ptr: u32, len: u32| {
        let written = with_bytes(&mut call, ptr, len, |bytes, caller| write(caller, fd, bytes))?;
        Ok(written.map_or_else(|error| error, short))
    })?;
    Ok(())
}

fn waiting(linker: &mut Linker<StoreData>, name: &str, mask: u32) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, name, move |call: Call<'_>, (fd,): (i32,)| {
        let caller = call.data().refs.caller.clone();
        Box::new(async move {
            let ready = match kernel::Fd::from_guest(fd) {
                Ok(fd) => kernel::wait_ready(&caller, fd, mask).await,
                Err(error) => Err(error),
            };
            if caller.is_ending() { Err(stopped()) } else { Ok(short(ready)) }
        })
    })?;
    Ok(())
}

fn input(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "read", |mut call: Call<'_>, fd: i32, ptr: u32, len: u32| {
        let read = with_bytes(&mut call, ptr, len, |bytes, caller| read(caller, fd, bytes))?;
        Ok(read.map_or_else(|error| error, short))
    })?;
    Ok(())
}

fn system_calls(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    linker.func_wrap(
        MODULE,
        "sys",
        |mut call: Call<'_>, number: i32, a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64, h: i64| {
            let Some(memory) = call.data().memory else { return Ok(i64::from(errno::EFAULT)) };
            let refs = call.data().refs.clone();
            // A system call must not use the state of a runtime that a panic broke.
            if refs.caller.is_ending() {
                return Err(stopped());
            }
            let Ok(_open) = refs.gate.enter() else { return Err(stopped()) };
            let mut arguments = Arguments::new([a, b, c, d, e, f, g, h], memory.data_mut(&mut call));
            let answer = kernel::call(&refs.caller, number.cast_unsigned(), &mut arguments);
            // A program that has sent a signal to itself must not continue.
            if refs.caller.is_ending() {
                return Err(stopped());
            }
            Ok(answer.unwrap_or_else(Errno::negative))
        },
    )?;
    Ok(())
}

fn waiting_system_calls(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "sys_wait", |call: Call<'_>, (number, a, b, c, d, e, f, g, h): Integers| {
        let caller = call.data().refs.caller.clone();
        Box::new(async move {
            let answer = kernel::call_and_wait(&caller, number.cast_unsigned(), [a, b, c, d, e, f, g, h]).await;
            if caller.is_ending() {
                return Err(stopped());
            }
            Ok(answer.unwrap_or_else(Errno::negative))
        })
    })?;
    Ok(())
}

fn scheduling(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "poll", |call: Call<'_>, (): ()| {
        let owner = call.data().refs.owner.clone();
        Box::new(async move {
            match checkpoint(&*owner).await {
                Checkpoint::Continue => Ok(0_i32),
                Checkpoint::Interrupt => Ok(1_i32),
                Checkpoint::End => Err(stopped()),
            }
        })
    })?;
    linker.func_wrap(MODULE, "mark", |mut call: Call<'_>, kind: i32| {
        if kind.cast_unsigned() == Mark::UserCode.number() {
            call.data_mut().program_began = Some(sys::monotonic_ns());
        }
    })?;
    linker.func_wrap(MODULE, "fatal", |mut call: Call<'_>, kind: i32, ptr: u32, len: u32| -> wasmtime::Result<()> {
        let len = len.min(4_096);
        let message = with_bytes(&mut call, ptr, len, |bytes, _| String::from_utf8_lossy(bytes).into_owned())?;
        call.data_mut().fatal = Some(Fatal {
            out_of_memory: kind.cast_unsigned() == FatalKind::Memory.number(),
            message: message.unwrap_or_default(),
        });
        Err(stopped())
    })?;
    Ok(())
}

fn time_and_entropy(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "clock", |call: Call<'_>, id: i32| -> i64 {
        let nanoseconds = if id.cast_unsigned() == Clock::Wall.number() { sys::wall_ns() } else { call.data().clock().now() };
        i64::try_from(nanoseconds).unwrap_or(i64::MAX)
    })?;
    linker.func_wrap(MODULE, "random", |mut call: Call<'_>, ptr: u32, len: u32| fill_with_entropy(&mut call, ptr, len))?;
    Ok(())
}

/// Fills guest memory with random bytes of the host machine.
pub(crate) fn fill_with_entropy(call: &mut Call<'_>, ptr: u32, len: u32) -> wasmtime::Result<()> {
    let mut done = 0;
    while done < len {
        if call.data().refs.caller.is_ending() {
            return Err(stopped());
        }
        // The gate is released between two parts, so that a kill does not wait for a long fill.
        let part = (len - done).min(MAX_RANDOM);
        match with_bytes(call, ptr.saturating_add(done), part, |bytes, _| sys::entropy(bytes))? {
            Ok(Ok(())) => done += part,
            // A guest without entropy must not continue, because its secrets would be predictable.
            _ => return Err(wasmtime::Error::msg("no entropy for the guest")),
        }
    }
    Ok(())
}

/// Defines the import that only the image build needs. In a running VM the import returns an error
/// number.
fn build_file(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "build_file", |_name: u32, _len: u32, _buffer: u32, _capacity: u32| errno::ENOSYS)?;
    Ok(())
}
