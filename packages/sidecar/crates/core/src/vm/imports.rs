//! The guest's system calls: one import module, checked here, answered by the process that the VM belongs to.
//!
//! A pointer from the guest is a number: every access checks it against the memory's size and passes the gate
//! (`memory/gate.rs`). Errors go back as negative Linux error numbers; only a process that must end traps.

use super::abi::errno;
use super::clock::Clock;
use super::patient;
use crate::kernel::processes::SIGPIPE;
use crate::kernel::usage::Charge;
use crate::kernel::{self, Arguments};
use crate::limits::Limits;
use crate::program::{Checkpoint, Program};
use coldframe_error::Error;
use coldframe_sys as sys;
use std::sync::Arc;
use wasmtime::{Caller, Engine, Linker, Memory, Module, ResourceLimiter, Val};

/// What a VM's store holds.
pub(crate) struct Host {
    pub(crate) program: Arc<Program>,
    /// Set as soon as the instance exists.
    pub(crate) memory: Option<Memory>,
    pub(crate) memory_limit: usize,
    /// What its memory is paid with.
    pub(crate) charge: Charge,
    /// Why the guest was refused memory last.
    pub(crate) refused_memory: Option<Refusal>,
    /// What the guest said with `fatal`.
    pub(crate) fatal: Option<Fatal>,
    /// When the user's program began, in nanoseconds of the monotonic clock.
    pub(crate) program_began: Option<u64>,
    /// What the guest sees as the monotonic clock.
    pub(crate) clock: Clock,
}

/// Which limit forbids more memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// That of the process.
    Own,
    /// That of all processes of the runtime together.
    Total,
}

impl Refusal {
    /// What the caller is told.
    pub(crate) fn error(self, limits: &Limits) -> Error {
        match self {
            Self::Own => Error::MemoryLimit { limit: "memoryBytes", bytes: limits.memory_bytes },
            Self::Total => Error::MemoryLimit { limit: "totalMemoryBytes", bytes: limits.total_memory_bytes },
        }
    }
}

/// The guest's last words.
#[derive(Debug, Clone)]
pub(crate) struct Fatal {
    pub(crate) out_of_memory: bool,
    pub(crate) message: String,
}

impl ResourceLimiter for Host {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let refused = if desired > self.memory_limit || maximum.is_some_and(|maximum| desired > maximum) {
            Some(Refusal::Own)
        } else if !self.charge.raise_to(desired as u64) {
            Some(Refusal::Total)
        } else {
            self.program.grows(current as u64, desired as u64);
            None
        };
        self.refused_memory = refused.or(self.refused_memory);
        Ok(refused.is_none())
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= MAX_TABLE)
    }
}

/// Functions that the guest can call indirectly; the module brings about six hundred.
const MAX_TABLE: usize = 65_536;

/// Bytes of entropy that are made at a time.
const MOST_RANDOM: u32 = 256 << 10;

pub(super) type Call<'a> = Caller<'a, Host>;

/// Runs `access` on `len` bytes of guest memory at `ptr`; `EFAULT` when they are not there.
pub(super) fn with_bytes<R>(
    caller: &mut Call<'_>,
    ptr: u32,
    len: u32,
    access: impl FnOnce(&mut [u8], &Program) -> R,
) -> wasmtime::Result<Result<R, i32>> {
    let program = caller.data().program.clone();
    let Some(memory) = caller.data().memory else { return Ok(Err(errno::EFAULT)) };
    let Ok(_open) = program.gate().enter() else { return Err(stopped()) };
    let (ptr, len) = (ptr as usize, len as usize);
    let bytes = memory.data_mut(caller).get_mut(ptr..ptr.saturating_add(len));
    Ok(bytes.map(|bytes| access(bytes, &program)).ok_or(errno::EFAULT))
}

/// Ends the guest's turn. The process knows why.
pub(super) fn stopped() -> wasmtime::Error {
    wasmtime::Error::msg("the process was ended")
}

/// Defines everything that the guest's module imports. `is_patient`: see `patient.rs`.
pub(crate) fn linker(engine: &Engine, module: &Module, is_patient: bool) -> wasmtime::Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    if is_patient {
        patient::define(&mut linker)?;
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
    without_a_host(&mut linker, module)?;
    Ok(linker)
}

pub(super) const MODULE: &str = "coldframe";

fn output(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "write", |mut caller: Call<'_>, fd: i32, ptr: u32, len: u32| {
        let written = with_bytes(&mut caller, ptr, len, |bytes, program| write(program, fd, bytes))?;
        Ok(written.map_or_else(|error| error, short))
    })?;
    Ok(())
}

pub(super) fn write(program: &Program, fd: i32, bytes: &mut [u8]) -> kernel::Answer {
    let written = kernel::write(program, i64::from(fd), bytes);
    if written == Err(coldframe_error::Errno::EPIPE) {
        // Nobody looks at the answer: this is the short way of `console.log`. Without an end, a program that prints for ever would run for ever.
        program.end(Error::Signal { signal: SIGPIPE });
    }
    written
}

/// A result of 32 bits.
pub(super) fn short(answer: kernel::Answer) -> i32 {
    i32::try_from(answer.unwrap_or_else(coldframe_error::Errno::negative)).unwrap_or(i32::MAX)
}

fn waiting(linker: &mut Linker<Host>, name: &str, mask: u32) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, name, move |caller: Call<'_>, (fd,): (i32,)| {
        let program = caller.data().program.clone();
        Box::new(async move {
            let ready = kernel::wait_ready(&program, i64::from(fd), mask).await;
            if program.is_ending() { Err(stopped()) } else { Ok(short(ready)) }
        })
    })?;
    Ok(())
}

fn input(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "read", |mut caller: Call<'_>, fd: i32, ptr: u32, len: u32| {
        let read = with_bytes(&mut caller, ptr, len, |bytes, program| kernel::read(program, i64::from(fd), bytes))?;
        Ok(read.map_or_else(|error| error, short))
    })?;
    Ok(())
}

pub(super) type Integers = (i32, i64, i64, i64, i64, i64, i64, i64, i64);

fn system_calls(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap(
        MODULE,
        "sys",
        |mut caller: Call<'_>, number: i32, a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64, h: i64| {
            let program = caller.data().program.clone();
            let Some(memory) = caller.data().memory else { return Ok(i64::from(errno::EFAULT)) };
            let Ok(_open) = program.gate().enter() else { return Err(stopped()) };
            let mut arguments = Arguments::new([a, b, c, d, e, f, g, h], memory.data_mut(&mut caller));
            let answer = kernel::call(&program, number.cast_unsigned(), &mut arguments);
            // A program that has sent itself a signal goes no further.
            if program.is_ending() {
                return Err(stopped());
            }
            Ok(answer.unwrap_or_else(coldframe_error::Errno::negative))
        },
    )?;
    Ok(())
}

fn waiting_system_calls(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "sys_wait", |caller: Call<'_>, (number, a, b, c, d, e, f, g, h): Integers| {
        let program = caller.data().program.clone();
        Box::new(async move {
            let answer = kernel::call_and_wait(&program, number.cast_unsigned(), [a, b, c, d, e, f, g, h]).await;
            if program.is_ending() {
                return Err(stopped());
            }
            Ok(answer.unwrap_or_else(coldframe_error::Errno::negative))
        })
    })?;
    Ok(())
}

fn scheduling(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "poll", |caller: Call<'_>, (): ()| {
        let program = caller.data().program.clone();
        Box::new(async move {
            match program.checkpoint().await {
                Checkpoint::Continue => Ok(0_i32),
                Checkpoint::Interrupt => Ok(1_i32),
                Checkpoint::End => Err(stopped()),
            }
        })
    })?;
    linker.func_wrap(MODULE, "mark", |mut caller: Call<'_>, kind: i32| {
        if kind == 1 {
            caller.data_mut().program_began = Some(sys::monotonic_ns());
        }
    })?;
    linker.func_wrap(MODULE, "fatal", |mut caller: Call<'_>, kind: i32, ptr: u32, len: u32| -> wasmtime::Result<()> {
        let len = len.min(4_096);
        let message = with_bytes(&mut caller, ptr, len, |bytes, _| String::from_utf8_lossy(bytes).into_owned())?;
        caller.data_mut().fatal = Some(Fatal { out_of_memory: kind == 1, message: message.unwrap_or_default() });
        Err(stopped())
    })?;
    Ok(())
}

fn time_and_entropy(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "clock", |caller: Call<'_>, id: i32| -> i64 {
        let nanoseconds = if id == 0 { sys::wall_ns() } else { caller.data().clock.now() };
        i64::try_from(nanoseconds).unwrap_or(i64::MAX)
    })?;
    linker.func_wrap(MODULE, "random", |mut caller: Call<'_>, ptr: u32, len: u32| -> wasmtime::Result<()> {
        let mut done = 0;
        while done < len {
            if caller.data().program.is_ending() {
                return Err(stopped());
            }
            // The gate is open for a piece at a time.
            let piece = (len - done).min(MOST_RANDOM);
            match with_bytes(&mut caller, ptr.saturating_add(done), piece, |bytes, _| sys::entropy(bytes))? {
                Ok(Ok(())) => done += piece,
                // A guest without entropy must not run on: it would hand out predictable secrets.
                _ => return Err(wasmtime::Error::msg("no entropy for the guest")),
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// Imports that exist for the image build or because libc names them; a running VM gets an error number.
fn without_a_host(linker: &mut Linker<Host>, module: &Module) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "build_file", |_name: u32, _len: u32, _buffer: u32, _capacity: u32| errno::ENOSYS)?;
    for import in module.imports().filter(|import| import.module() == "wasi_snapshot_preview1") {
        let Some(ty) = import.ty().func().cloned() else { continue };
        linker.func_new(import.module(), import.name(), ty, |_caller, _arguments, results| {
            results.iter_mut().for_each(|result| *result = Val::I32(errno::WASI_ENOSYS));
            Ok(())
        })?;
    }
    Ok(())
}
