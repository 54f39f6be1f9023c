//! WASI preview 1: the imports of the module `wasi_snapshot_preview1`, over the kernel's calls.
//!
//! The Python guest and WASI commands import these functions, and the guest of `node` does not.
//! Descriptors, paths and the working directory are the kernel's. So the limits, the permissions
//! and the snapshots of a runtime treat a file that Python opens as a file that `node` opens. The
//! numbers and layouts are in
//! <https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md>.
//!
//! WASI differs from the kernel's calls in three points. A call with a path names a directory, at
//! which the path starts ([`paths`]). A read or a write waits unless the descriptor is set to
//! non-blocking ([`transfer`]). A function returns a number of WASI's errors ([`errors`]).
//! Next: `context.rs`.

mod clocks;
mod command_line;
mod context;
mod descriptors;
mod errors;
mod listing;
mod paths;
mod polling;
mod sockets;
mod stat;
mod transfer;

pub(crate) use command_line::ProgramState;

use crate::access::Call;
use crate::data::StoreData;
use context::{Running, finish};
use wasmtime::{FuncType, Linker, Val, ValType};

/// The import module.
pub(crate) const MODULE: &str = "wasi_snapshot_preview1";

/// The most parameters of a function.
const MAX_PARAMETERS: usize = 9;

/// The numbers that a guest passed to a function.
type Numbers = [u64; MAX_PARAMETERS];

/// A function, over the numbers of its parameters.
type Run = for<'a, 'c> fn(&'a mut Call<'c>, Numbers) -> Running<'a>;

/// Defines a function that returns an error number. All functions share the code of this function,
/// which would otherwise be compiled for each list of parameters.
fn import(linker: &mut Linker<StoreData>, name: &str, parameters: &[ValType], run: Run) -> wasmtime::Result<()> {
    let ty = FuncType::new(linker.engine(), parameters.iter().cloned(), [ValType::I32]);
    linker.func_new_async(MODULE, name, ty, move |mut call, parameters, results| {
        let mut numbers = [0; MAX_PARAMETERS];
        for (number, parameter) in numbers.iter_mut().zip(parameters) {
            *number = match parameter {
                Val::I32(value) => value.cast_unsigned().into(),
                Val::I64(value) => value.cast_unsigned(),
                _ => 0,
            };
        }
        Box::new(async move {
            let number = finish(&mut call, |call| run(call, numbers)).await?;
            results.iter_mut().for_each(|result| *result = Val::I32(number));
            Ok(())
        })
    })?;
    Ok(())
}

/// A type of a parameter.
trait Parameter {
    const TYPE: ValType;

    fn of(number: u64) -> Self;
}

impl Parameter for u32 {
    const TYPE: ValType = ValType::I32;

    fn of(number: u64) -> Self {
        number as Self
    }
}

impl Parameter for u64 {
    const TYPE: ValType = ValType::I64;

    fn of(number: u64) -> Self {
        number
    }
}

impl Parameter for i64 {
    const TYPE: ValType = ValType::I64;

    fn of(number: u64) -> Self {
        number.cast_signed()
    }
}

/// Defines functions with the parameters of WASI. Pointers and lengths are `u32`.
macro_rules! imports {
    ($linker:ident: $($name:literal => $function:path, ($($parameter:ident: $type:ty),*);)+) => {
        $(import($linker, $name, &[$(<$type as Parameter>::TYPE),*], |call, numbers| {
            #[allow(unused_mut, reason = "`sched_yield` has no parameters")]
            let mut numbers = numbers.into_iter();
            $(let $parameter = <$type as Parameter>::of(numbers.next().unwrap_or(0));)*
            let _ = numbers;
            Box::pin($function(call, $($parameter),*))
        })?;)+
    };
}

/// Defines all functions of WASI preview 1.
pub(crate) fn define(linker: &mut Linker<StoreData>) -> wasmtime::Result<()> {
    // The only function that returns nothing.
    linker.func_wrap(MODULE, "proc_exit", |mut call: Call<'_>, code: u32| command_line::proc_exit(&mut call, code))?;
    imports! { linker:
        "args_get" => command_line::args_get, (pointers: u32, texts: u32);
        "args_sizes_get" => command_line::args_sizes_get, (count: u32, len: u32);
        "environ_get" => command_line::environ_get, (pointers: u32, texts: u32);
        "environ_sizes_get" => command_line::environ_sizes_get, (count: u32, len: u32);
        "proc_raise" => command_line::proc_raise, (signal: u32);
        "clock_res_get" => clocks::clock_res_get, (clock: u32, out: u32);
        "clock_time_get" => clocks::clock_time_get, (clock: u32, precision: u64, out: u32);
        "random_get" => clocks::random_get, (buffer: u32, len: u32);
        "sched_yield" => polling::sched_yield, ();
        "poll_oneoff" => polling::poll_oneoff, (subscriptions: u32, events: u32, count: u32, out: u32);
        "fd_advise" => descriptors::fd_advise, (fd: u32, offset: u64, len: u64, advice: u32);
        "fd_allocate" => descriptors::fd_allocate, (fd: u32, offset: u64, len: u64);
        "fd_close" => descriptors::fd_close, (fd: u32);
        "fd_datasync" => descriptors::fd_sync, (fd: u32);
        "fd_sync" => descriptors::fd_sync, (fd: u32);
        "fd_fdstat_get" => descriptors::fd_fdstat_get, (fd: u32, out: u32);
        "fd_fdstat_set_flags" => descriptors::fd_fdstat_set_flags, (fd: u32, flags: u32);
        "fd_fdstat_set_rights" => descriptors::fd_fdstat_set_rights, (fd: u32, base: u64, inheriting: u64);
        "fd_filestat_get" => descriptors::fd_filestat_get, (fd: u32, out: u32);
        "fd_filestat_set_size" => descriptors::fd_filestat_set_size, (fd: u32, len: u64);
        "fd_filestat_set_times" => descriptors::fd_filestat_set_times, (fd: u32, atime: u64, mtime: u64, flags: u32);
        "fd_prestat_get" => descriptors::fd_prestat_get, (fd: u32, out: u32);
        "fd_prestat_dir_name" => descriptors::fd_prestat_dir_name, (fd: u32, path: u32, len: u32);
        "fd_renumber" => descriptors::fd_renumber, (fd: u32, to: u32);
        "fd_seek" => descriptors::fd_seek, (fd: u32, offset: i64, whence: u32, out: u32);
        "fd_tell" => descriptors::fd_tell, (fd: u32, out: u32);
        "fd_read" => transfer::fd_read, (fd: u32, vectors: u32, count: u32, out: u32);
        "fd_write" => transfer::fd_write, (fd: u32, vectors: u32, count: u32, out: u32);
        "fd_pread" => transfer::fd_pread, (fd: u32, vectors: u32, count: u32, offset: u64, out: u32);
        "fd_pwrite" => transfer::fd_pwrite, (fd: u32, vectors: u32, count: u32, offset: u64, out: u32);
        "fd_readdir" => listing::fd_readdir, (fd: u32, buffer: u32, len: u32, cookie: u64, out: u32);
        "path_create_directory" => paths::path_create_directory, (fd: u32, path: u32, len: u32);
        "path_filestat_get" => paths::path_filestat_get, (fd: u32, flags: u32, path: u32, len: u32, out: u32);
        "path_filestat_set_times" => paths::path_filestat_set_times,
            (fd: u32, lookup: u32, path: u32, len: u32, atime: u64, mtime: u64, flags: u32);
        "path_link" => paths::path_link,
            (from_fd: u32, lookup: u32, from: u32, from_len: u32, to_fd: u32, to: u32, to_len: u32);
        "path_open" => paths::path_open,
            (fd: u32, lookup: u32, path: u32, len: u32, how: u32, rights: u64, inheriting: u64, flags: u32, out: u32);
        "path_readlink" => paths::path_readlink, (fd: u32, path: u32, len: u32, buffer: u32, capacity: u32, out: u32);
        "path_remove_directory" => paths::path_remove_directory, (fd: u32, path: u32, len: u32);
        "path_rename" => paths::path_rename, (from_fd: u32, from: u32, from_len: u32, to_fd: u32, to: u32, to_len: u32);
        "path_symlink" => paths::path_symlink, (target: u32, target_len: u32, fd: u32, path: u32, len: u32);
        "path_unlink_file" => paths::path_unlink_file, (fd: u32, path: u32, len: u32);
        "sock_accept" => sockets::sock_accept, (fd: u32, flags: u32, out: u32);
        "sock_recv" => sockets::sock_recv, (fd: u32, vectors: u32, count: u32, flags: u32, len_out: u32, flags_out: u32);
        "sock_send" => sockets::sock_send, (fd: u32, vectors: u32, count: u32, flags: u32, out: u32);
        "sock_shutdown" => sockets::sock_shutdown, (fd: u32, how: u32);
    }
    Ok(())
}
