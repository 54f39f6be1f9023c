//! Runs the guest's initialisation and takes its memory.
//!
//! The order is that of `docs/internals/guest-abi.md`: `_initialize`, `cf_boot`, `cf_freeze`, `cf_info`. The imports here serve only
//! this run: `build_file` reads the inputs, `write` shows what the guest says, and the clock and entropy are fixed, so that the same
//! inputs give the same image; a start makes all of them fresh.

use crate::Failure;
use coldframe_abi::{InfoBlock, VERSION};
use std::path::{Path, PathBuf};
use wasmtime::{Caller, Engine, Instance, Linker, Memory, Module, Store, Val, WasmParams, WasmResults};

/// Memory and addresses of an initialised guest.
pub(crate) struct Initial {
    pub(crate) memory: Vec<u8>,
    pub(crate) info: InfoBlock,
}

struct Host {
    /// Folders; a file is looked for in each.
    inputs: Vec<PathBuf>,
    last_words: String,
    ticks: i64,
}

type Call<'a> = Caller<'a, Host>;

const ENOENT: i32 = -2;
/// There is no kernel while the image is built.
const ENOSYS: i64 = -38;
/// Linux's error number for bad addresses.
const EFAULT: i32 = -14;
/// 2026-01-01T00:00:00Z in nanoseconds: an early wall clock, so that nothing baked in lies in the future.
const BUILD_TIME: i64 = 1_767_225_600_000_000_000;
/// A native stack for the run: parsing and evaluating the library recurses deeply.
const STACK: usize = 256 << 20;

/// Initialises the guest in `wasm`.
pub(crate) fn run(engine: &Engine, wasm: &[u8], inputs: &[PathBuf]) -> Result<Initial, Failure> {
    // wasm runs on the thread's own stack here, which must be larger than the engine's limit.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let running = thread.spawn_scoped(scope, || on_large_stack(engine, wasm, inputs));
        let running = running.map_err(|error| Failure::Boot(error.to_string()))?;
        running.join().map_err(|_| Failure::Boot("the builder panicked".to_owned()))?
    })
}

fn on_large_stack(engine: &Engine, wasm: &[u8], inputs: &[PathBuf]) -> Result<Initial, Failure> {
    let module = Module::new(engine, wasm).map_err(|error| Failure::Module(format!("{error:#}")))?;
    let linker = linker(engine, &module).map_err(|error| Failure::Module(format!("{error:#}")))?;
    let host = Host { inputs: inputs.to_owned(), last_words: String::new(), ticks: 0 };
    let mut store = Store::new(engine, host);
    let instance = linker.instantiate(&mut store, &module).map_err(|error| Failure::Module(format!("{error:#}")))?;
    call::<(), ()>(&mut store, &instance, "_initialize", ())?;
    for step in ["cf_boot", "cf_freeze"] {
        let result: i32 = call(&mut store, &instance, step, ())?;
        if result != 0 {
            return Err(Failure::Boot(format!("{step} returned {result}: {}", store.data().last_words)));
        }
    }
    let info: u32 = call(&mut store, &instance, "cf_info", ())?;
    let memory = instance.get_memory(&mut store, "memory").ok_or_else(|| Failure::Module("it exports no memory".to_owned()))?;
    let data = memory.data(&store);
    let block = data.get(info as usize..).and_then(|rest| rest.first_chunk());
    let info = InfoBlock::decode(block.ok_or_else(|| Failure::Boot("the info block is outside the memory".to_owned()))?);
    if info.abi_version != VERSION {
        return Err(Failure::Module(format!("its ABI version is {}, this builder's is {VERSION}", info.abi_version)));
    }
    Ok(Initial { memory: data.to_vec(), info })
}

fn call<P: WasmParams, R: WasmResults>(
    store: &mut Store<Host>,
    instance: &Instance,
    name: &str,
    parameters: P,
) -> Result<R, Failure> {
    let function = instance.get_typed_func::<P, R>(&mut *store, name).map_err(|error| Failure::Module(format!("{error:#}")))?;
    function
        .call(&mut *store, parameters)
        .map_err(|error| Failure::Boot(format!("{name}: {} {error:#}", store.data().last_words)))
}

fn memory(caller: &mut Call<'_>) -> Option<Memory> {
    caller.get_export("memory").and_then(wasmtime::Extern::into_memory)
}

fn bytes<'a>(caller: &'a mut Call<'_>, ptr: u32, len: u32) -> Option<&'a mut [u8]> {
    let memory = memory(caller)?;
    let (ptr, len) = (ptr as usize, len as usize);
    memory.data_mut(caller).get_mut(ptr..ptr.checked_add(len)?)
}

fn linker(engine: &Engine, module: &Module) -> wasmtime::Result<Linker<Host>> {
    const MODULE: &str = "coldframe";
    let mut linker: Linker<Host> = Linker::new(engine);
    linker.func_wrap(MODULE, "write", |mut caller: Call<'_>, _fd: i32, ptr: u32, len: u32| {
        match bytes(&mut caller, ptr, len) {
            Some(text) => {
                eprint!("{}", String::from_utf8_lossy(text));
                i32::try_from(len).unwrap_or(i32::MAX)
            }
            None => EFAULT,
        }
    })?;
    linker.func_wrap(MODULE, "wait_writable", |_fd: i32| 0_i32)?;
    linker.func_wrap(MODULE, "read", |_fd: i32, _ptr: u32, _len: u32| 0_i32)?;
    linker.func_wrap(MODULE, "wait_readable", |_fd: i32| 0_i32)?;
    for name in ["sys", "sys_wait"] {
        linker.func_wrap(MODULE, name, |_: i32, _: i64, _: i64, _: i64, _: i64, _: i64, _: i64, _: i64, _: i64| ENOSYS)?;
    }
    linker.func_wrap(MODULE, "poll", || 0_i32)?;
    linker.func_wrap(MODULE, "mark", |_kind: i32| {})?;
    linker.func_wrap(MODULE, "clock", |mut caller: Call<'_>, id: i32| -> i64 {
        caller.data_mut().ticks += 1_000;
        caller.data().ticks + if id == 0 { BUILD_TIME } else { 0 }
    })?;
    linker.func_wrap(MODULE, "random", |mut caller: Call<'_>, ptr: u32, len: u32| {
        if let Some(bytes) = bytes(&mut caller, ptr, len) {
            bytes.fill(0x5a);
        }
    })?;
    linker.func_wrap(MODULE, "fatal", |mut caller: Call<'_>, _kind: i32, ptr: u32, len: u32| -> wasmtime::Result<()> {
        let text = bytes(&mut caller, ptr, len).map(|text| String::from_utf8_lossy(text).into_owned());
        caller.data_mut().last_words = text.unwrap_or_default();
        Err(wasmtime::Error::msg("the guest gave up"))
    })?;
    linker.func_wrap(MODULE, "build_file", build_file)?;
    for import in module.imports().filter(|import| import.module() == "wasi_snapshot_preview1") {
        let Some(ty) = import.ty().func().cloned() else { continue };
        linker.func_new(import.module(), import.name(), ty, |_caller, _arguments, results| {
            results.iter_mut().for_each(|result| *result = Val::I32(52));
            Ok(())
        })?;
    }
    Ok(linker)
}

fn build_file(mut caller: Call<'_>, name: u32, name_len: u32, buffer: u32, capacity: u32) -> i32 {
    let Some(name) = bytes(&mut caller, name, name_len).and_then(|name| String::from_utf8(name.to_vec()).ok()) else {
        return EFAULT;
    };
    let inside = Path::new(&name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let content =
        if inside { caller.data().inputs.iter().find_map(|folder| std::fs::read(folder.join(&name)).ok()) } else { None };
    let Some(content) = content else { return ENOENT };
    let copied = content.len().min(capacity as usize);
    match bytes(&mut caller, buffer, copied as u32) {
        Some(place) => place.copy_from_slice(&content[..copied]),
        None => return EFAULT,
    }
    i32::try_from(content.len()).unwrap_or(i32::MAX)
}
