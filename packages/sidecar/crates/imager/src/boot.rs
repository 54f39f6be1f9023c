//! Runs the guest's initialisation and returns the guest's memory.
//!
//! The steps have the order of `docs/internals/guest-abi.md`: `_initialize`, `cf_boot`,
//! `cf_freeze`, `cf_info`. The imports of this module exist only for this run: `build_file` reads
//! the inputs, and `write` prints the guest's output. The clock and the entropy are fixed, so that
//! equal inputs make equal images. Each program later starts with the real clock and new entropy.
//! Next: `boot/wasi.rs`, the files of guests that read their library during the initialisation;
//! then `module/strip.rs`.

mod wasi;

use std::path::{Component, Path, PathBuf};

use coldframe_abi::{InfoBlock, VERSION};
use wasmtime::{Caller, Engine, Instance, Linker, Memory, Module, Store, WasmParams, WasmResults};

use crate::Failure;

/// The memory and the info block of an initialised guest.
pub(crate) struct Initial {
    pub(crate) memory: Vec<u8>,
    pub(crate) info: InfoBlock,
}

/// The data of wasmtime's store: the state of the imports.
struct StoreData {
    /// The folders that `build_file` searches, in this order.
    inputs: Vec<PathBuf>,
    /// The message that the guest passed to `fatal`.
    fatal_message: String,
    /// The time since the start of the run, in nanoseconds.
    elapsed: i64,
    /// The files that the guest has opened with WASI.
    files: wasi::Files,
}

type Call<'a> = Caller<'a, StoreData>;

const ENOENT: i32 = -2;
const EFAULT: i32 = -14;
/// The result of every system call: the image build has no kernel.
const ENOSYS: i64 = -38;
/// 2026-01-01T00:00:00Z in nanoseconds. The time is early, so that no time in the image is in the
/// future.
const BUILD_TIME: i64 = 1_767_225_600_000_000_000;
/// The difference between two readings of the clock, in nanoseconds.
const CLOCK_STEP: i64 = 1_000;
/// The native stack of the run in bytes: parsing and evaluating the library recurses deeply.
const STACK: usize = 256 << 20;

/// Initialises the guest in `wasm`, which has passed [`crate::module::check`].
pub(crate) fn run(engine: &Engine, wasm: &[u8], inputs: &[PathBuf]) -> Result<Initial, Failure> {
    // The guest runs on the stack of the thread, which must be larger than the engine's limit.
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
    let data = StoreData { inputs: inputs.to_owned(), fatal_message: String::new(), elapsed: 0, files: wasi::Files::default() };
    let mut store = Store::new(engine, data);
    let instance = linker.instantiate(&mut store, &module).map_err(|error| Failure::Module(format!("{error:#}")))?;
    call::<(), ()>(&mut store, &instance, "_initialize", ())?;
    for step in ["cf_boot", "cf_freeze"] {
        let result: i32 = call(&mut store, &instance, step, ())?;
        if result != 0 {
            return Err(Failure::Boot(format!("{step} returned {result}: {}", store.data().fatal_message)));
        }
    }
    store.data().files.check()?;
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

/// Calls the export `name`. An error contains the message that the guest passed to `fatal`.
fn call<P: WasmParams, R: WasmResults>(
    store: &mut Store<StoreData>,
    instance: &Instance,
    name: &str,
    parameters: P,
) -> Result<R, Failure> {
    let function = instance.get_typed_func::<P, R>(&mut *store, name).map_err(|error| Failure::Module(format!("{error:#}")))?;
    function
        .call(&mut *store, parameters)
        .map_err(|error| Failure::Boot(format!("{name}: {} {error:#}", store.data().fatal_message)))
}

/// Returns the guest's linear memory.
fn memory(caller: &mut Call<'_>) -> Option<Memory> {
    caller.get_export("memory").and_then(wasmtime::Extern::into_memory)
}

/// Returns a part of the guest's memory, or `None` for a bad address.
fn bytes<'a>(caller: &'a mut Call<'_>, ptr: u32, len: u32) -> Option<&'a mut [u8]> {
    let memory = memory(caller)?;
    let (ptr, len) = (ptr as usize, len as usize);
    memory.data_mut(caller).get_mut(ptr..ptr.checked_add(len)?)
}

/// Returns the imports of the ABI, with fixed results in place of a kernel, clocks and entropy.
fn linker(engine: &Engine, module: &Module) -> wasmtime::Result<Linker<StoreData>> {
    const MODULE: &str = "coldframe";
    let mut linker: Linker<StoreData> = Linker::new(engine);
    wasi::define(&mut linker, module)?;
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
    linker.func_wrap(MODULE, "clock", |mut caller: Call<'_>, id: i32| now(&mut caller, id == 0))?;
    linker.func_wrap(MODULE, "random", |mut caller: Call<'_>, ptr: u32, len: u32| {
        if let Some(bytes) = bytes(&mut caller, ptr, len) {
            bytes.fill(0x5a);
        }
    })?;
    linker.func_wrap(MODULE, "fatal", |mut caller: Call<'_>, _kind: i32, ptr: u32, len: u32| -> wasmtime::Result<()> {
        let text = bytes(&mut caller, ptr, len).map(|text| String::from_utf8_lossy(text).into_owned());
        caller.data_mut().fatal_message = text.unwrap_or_default();
        Err(wasmtime::Error::msg("the guest called `fatal`"))
    })?;
    linker.func_wrap(MODULE, "build_file", build_file)?;
    Ok(linker)
}

/// Returns the fixed time of the wall clock or of the monotonic clock, which then moves on.
fn now(caller: &mut Call<'_>, is_wall: bool) -> i64 {
    caller.data_mut().elapsed += CLOCK_STEP;
    caller.data().elapsed + if is_wall { BUILD_TIME } else { 0 }
}

/// The import `build_file`: copies at most `capacity` bytes of an input into the guest's memory and
/// returns the input's length.
fn build_file(mut caller: Call<'_>, name: u32, name_len: u32, buffer: u32, capacity: u32) -> i32 {
    let Some(name) = bytes(&mut caller, name, name_len).and_then(|name| String::from_utf8(name.to_vec()).ok()) else {
        return EFAULT;
    };
    let inside = Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
    let content =
        if inside { caller.data().inputs.iter().find_map(|folder| std::fs::read(folder.join(&name)).ok()) } else { None };
    let Some(content) = content else { return ENOENT };
    let copied = content.len().min(capacity as usize);
    match bytes(&mut caller, buffer, copied as u32) {
        Some(buffer) => buffer.copy_from_slice(&content[..copied]),
        None => return EFAULT,
    }
    i32::try_from(content.len()).unwrap_or(i32::MAX)
}
