//! A VM: one instance of the guest image on wasmtime, driven by turns.
//!
//! [`Factory`] is the state that all VMs of an image share. [`Vm::instantiate`] maps the image into
//! a slot and makes the instance. [`Vm::turn`] delivers events and runs the guest until the guest
//! is idle. Between two turns a snapshot of a VM can be taken (`snapshot/`).
//!
//! At run time, no other crate runs wasm. The core only names wasmtime's error type. This crate
//! depends on the kernel, on memories and on one trait of the program above, [`Owner`]. This crate
//! has no scheduler and no runtimes. Next: `owner.rs`.

pub mod abi;
mod access;
mod async_imports;
mod clock;
mod config;
mod creator;
mod data;
mod imports;
mod owner;
mod snapshot;
mod stack;
mod wasi;

pub use config::{CPU_FEATURES, engine_config};
pub use data::{Fatal, MemoryRefusal, StoreData};
pub use owner::{Checkpoint, Owner, checkpoint};
#[cfg(any(test, feature = "fuzzing"))]
pub use snapshot::fuzzing;
pub use snapshot::{CopyError, FormatError, HashedCopy, LaidOut, Opened, Pages, VmSnapshot};

use clock::Clock;
use coldframe_abi::{ExitReason, GuestStatus, StateBlock};
use coldframe_error::Error;
use coldframe_kernel::usage::Charge;
use coldframe_memory::{Image, OccupiedSlot, TURNS, VacatedSlot};
use coldframe_sys as sys;
use creator::{Creator, with_slot};
use data::OwnerRefs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use wasi::ProgramState;
use wasmtime::{Engine, InstancePre, Memory, Module, ModuleExport, Store, TypedFunc};

/// The state that all VMs of an image share.
pub struct Factory {
    instance: InstancePre<StoreData>,
    /// The instance of runtimes with app file systems (`async_imports.rs`). Set when the first VM
    /// of such a runtime is made.
    async_instance: OnceLock<InstancePre<StoreData>>,
    engine: Engine,
    image: Arc<Image>,
    /// The length of the memory that the module itself asks for, in bytes. No image is shorter.
    module_memory: u64,
    turn: ModuleExport,
    inbox: ModuleExport,
    memory: ModuleExport,
}

/// One instance of the guest image.
pub struct Vm {
    store: Store<StoreData>,
    memory: Memory,
    turn: TypedFunc<(u32, u32), i32>,
    inbox: TypedFunc<u32, u32>,
    /// The installation's image, whose header has the guest's addresses.
    image: Arc<Image>,
    slot: Arc<OccupiedSlot>,
    events: Vec<u8>,
    /// Whether no turn is running and no turn was dropped. If true, no wasm frame is on a stack.
    is_between_turns: bool,
    /// The number of turns so far, counted up to [`TURNS`].
    turns: u8,
    is_copy: bool,
}

/// The largest capacity of an event buffer that is reused, in bytes.
const KEPT_EVENTS: usize = 64 << 10;

/// The durations of the steps of a start, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub struct StartCost {
    /// The time to take a slot and to map the image.
    pub map_ns: u64,
    /// The time to make the instance.
    pub instantiate_ns: u64,
}

impl Factory {
    /// Loads the precompiled module of `image`. Both files are in `folder`.
    pub fn load(folder: &Path, image: Arc<Image>) -> Result<Self, Error> {
        let mut config = engine_config();
        config.with_host_memory(Arc::new(Creator));
        config.with_host_stack(Arc::new(stack::Stacks::default()));
        let engine = Engine::new(&config).map_err(|error| Error::EngineFault { reason: format!("{error:#}") })?;
        Self::load_into(engine, folder, image)
    }

    fn load_into(engine: Engine, folder: &Path, image: Arc<Image>) -> Result<Self, Error> {
        let path = folder.join(&image.header().module_file);
        let fail = |reason: String| Error::Image { path: path.display().to_string(), reason };
        // SAFETY: the file is code and trusted like this program's own binary. The build that made
        // the image also made this file, and both files are in the installation's folder.
        let module = unsafe { Module::deserialize_file(&engine, &path) }.map_err(|error| fail(format!("{error:#}")))?;
        let export = |name: &str| module.get_export_index(name).ok_or_else(|| fail(format!("it does not export {name}")));
        let (turn, inbox, memory) = (export("cf_turn")?, export("cf_inbox")?, export("memory")?);
        let module_memory = memory_of(&module).map_err(fail)?;
        let linker = imports::linker(&engine, &module, false).map_err(|error| fail(format!("{error:#}")))?;
        let instance = linker.instantiate_pre(&module).map_err(|error| fail(format!("{error:#}")))?;
        let factory = Self { instance, async_instance: OnceLock::new(), engine, image, module_memory, turn, inbox, memory };
        factory.check_length().map_err(fail)?;
        Ok(factory)
    }

    /// Returns the factory for another image, with the same engine and its kept stacks. If the
    /// image names the module of this factory, the module is not loaded again. Otherwise the module
    /// is in `folder`.
    pub fn with_image(&self, folder: &Path, image: Arc<Image>) -> Result<Self, Error> {
        if image.header().module_file != self.image.header().module_file {
            return Self::load_into(self.engine.clone(), folder, image);
        }
        let fail = |reason: String| Error::Image { path: folder.join(&image.header().module_file).display().to_string(), reason };
        let factory = Self {
            instance: self.instance.clone(),
            async_instance: OnceLock::new(),
            engine: self.engine.clone(),
            image: image.clone(),
            ..*self
        };
        factory.check_length().map_err(fail)?;
        Ok(factory)
    }

    /// Checks that the image is at least as long as the module's own memory.
    fn check_length(&self) -> Result<(), String> {
        let len = self.image.len() as u64;
        if len < self.module_memory {
            return Err(format!("its memory has {} bytes at least, the image {len}", self.module_memory));
        }
        Ok(())
    }

    /// Returns the instance for a runtime with or without app file systems.
    fn instance(&self, is_async: bool) -> Result<&InstancePre<StoreData>, Error> {
        if !is_async {
            return Ok(&self.instance);
        }
        if let Some(instance) = self.async_instance.get() {
            return Ok(instance);
        }
        let module = self.instance.module();
        let made = imports::linker(&self.engine, module, true).and_then(|linker| linker.instantiate_pre(module));
        let made = made.map_err(|error| Error::EngineFault { reason: format!("{error:#}") })?;
        Ok(self.async_instance.get_or_init(|| made))
    }

    /// Returns the installation's image.
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }
}

/// Returns the state of a guest that has ended in the middle of a turn. The VM is then not between
/// two turns, so no snapshot of the VM can be taken.
fn exited(exit_code: i32) -> StateBlock {
    StateBlock {
        status: GuestStatus::Exited.number(),
        exit_code,
        exit_reason: ExitReason::Normal.number(),
        timer_at: -1.0,
        value_ptr: 0,
        value_len: 0,
        eval_done: 0,
        eval_exit_code: 0,
        eval_reason: ExitReason::Normal.number(),
        keep_alive: 0,
        reserved: 0,
    }
}

/// Returns the length of the memory that `module` asks for, in bytes.
fn memory_of(module: &Module) -> Result<u64, String> {
    let memory = module.get_export("memory").and_then(|export| export.memory().cloned());
    let memory = memory.ok_or_else(|| "its export memory is not a memory".to_owned())?;
    Ok(memory.minimum() * memory.page_size())
}

impl Vm {
    /// Makes the VM of a new program. `charge` is the VM's charge for memory, and already includes
    /// the image's length.
    pub async fn instantiate(factory: &Factory, owner: Arc<dyn Owner>, charge: Charge) -> Result<(Self, StartCost), Error> {
        Self::make(factory, &factory.image, owner, charge, Clock::default()).await
    }

    /// Makes a VM that maps `image`: the installation's image, or the memory of a snapshot. All VMs
    /// are made by this function.
    async fn make(
        factory: &Factory,
        image: &Arc<Image>,
        owner: Arc<dyn Owner>,
        mut charge: Charge,
        clock: Clock,
    ) -> Result<(Self, StartCost), Error> {
        let began = sys::monotonic_ns();
        let kernel = owner.process().kernel.clone();
        let limits = owner.process().limits;
        let len = image.len() as u64;
        if len > factory.module_memory {
            // wasmtime checks and charges only the module's own memory.
            if len > limits.memory_bytes {
                return Err(MemoryRefusal::Process.error(&limits));
            }
            if !charge.raise_to(len) {
                return Err(MemoryRefusal::Runtime.error(&limits));
            }
            owner.grows(factory.module_memory, len);
        }
        let made_of = factory.instance(kernel.has_app_file_systems.load(Ordering::Relaxed))?;
        let slot = image.pool().take(image)?;
        let slot = OccupiedSlot::new(slot, image.clone(), owner.gate().clone(), owner.meter().clone());
        let mapped = sys::monotonic_ns();
        let limit = usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX);
        let data = StoreData {
            refs: OwnerRefs::new(owner),
            memory: None,
            memory_limit: limit,
            charge,
            refused_memory: None,
            fatal: None,
            program_began: None,
            clock,
            wasi: ProgramState::default(),
        };
        let mut store = Store::new(&factory.engine, data);
        store.limiter(|data| data);
        let instance = {
            let mut instantiation = std::pin::pin!(made_of.instantiate_async(&mut store));
            let mut first = true;
            std::future::poll_fn(|context| match std::mem::take(&mut first) {
                true => with_slot(&slot, || instantiation.as_mut().poll(context)),
                false => instantiation.as_mut().poll(context),
            })
            .await
        };
        // Instantiation may have failed before wasmtime made the memory.
        let instance = instance.inspect_err(|_| drop(slot.vacate()));
        let fault = |error: wasmtime::Error| Error::EngineFault { reason: format!("{error:#}") };
        let missing = |name: &str| Error::EngineFault { reason: format!("the module's {name} is not what it must be") };
        if let (Err(_), Some(refusal)) = (&instance, store.data().refused_memory) {
            return Err(refusal.error(&limits));
        }
        let instance = instance.map_err(fault)?;
        let function =
            |export: &ModuleExport, store: &mut Store<StoreData>| instance.get_module_export(store, export)?.into_func();
        let memory = instance.get_module_export(&mut store, &factory.memory).and_then(|export| export.into_memory());
        let memory = memory.ok_or_else(|| missing("memory"))?;
        let turn = function(&factory.turn, &mut store).ok_or_else(|| missing("cf_turn"))?;
        let inbox = function(&factory.inbox, &mut store).ok_or_else(|| missing("cf_inbox"))?;
        let turn = turn.typed(&store).map_err(fault)?;
        let inbox = inbox.typed(&store).map_err(fault)?;
        store.data_mut().memory = Some(memory);
        let cost = StartCost { map_ns: mapped - began, instantiate_ns: sys::monotonic_ns() - mapped };
        let image = factory.image.clone();
        let vm = Self {
            store,
            memory,
            turn,
            inbox,
            image,
            slot,
            events: Vec::new(),
            is_between_turns: true,
            turns: 0,
            is_copy: false,
        };
        Ok((vm, cost))
    }

    /// Queues an event for the next turn.
    pub fn deliver(&mut self, event: abi::Event<'_>) {
        event.encode(&mut self.events);
    }

    /// Delivers the queued events and runs the guest until the guest is idle.
    pub async fn turn(&mut self) -> wasmtime::Result<StateBlock> {
        // Stays false if the turn is dropped: the guest's frames are lost, and its memory is
        // inconsistent.
        self.is_between_turns = false;
        if self.turns == 0 && !self.slot.prepare() {
            return Err(wasmtime::Error::msg("the VM's memory cannot be read"));
        }
        let events = std::mem::take(&mut self.events);
        let len = u32::try_from(events.len()).map_err(wasmtime::Error::msg)?;
        let header = self.image.header();
        let ptr = if len <= header.inbox_len {
            header.inbox_ptr
        } else {
            match self.inbox.call_async(&mut self.store, len).await? {
                0 => {
                    self.store.data_mut().refused_memory.get_or_insert(MemoryRefusal::Process);
                    return Err(wasmtime::Error::msg("no memory for the events"));
                }
                ptr => ptr,
            }
        };
        self.access(ptr, len, |bytes| bytes.copy_from_slice(&events))?;
        // An unusually long buffer is not kept.
        self.events = if events.capacity() > KEPT_EVENTS { Vec::new() } else { events };
        self.events.clear();
        let turn = self.turn.call_async(&mut self.store, (ptr, len)).await;
        if let Some(exit_code) = self.store.data().wasi.exit_code {
            return Ok(exited(exit_code));
        }
        turn?;
        self.is_between_turns = true;
        if self.turns < TURNS {
            self.turns += 1;
            if self.is_copy {
                self.slot.learn(self.turns);
            }
        }
        self.state()
    }

    /// Returns the guest's state after its last turn.
    pub fn state(&mut self) -> wasmtime::Result<StateBlock> {
        let mut block = [0; StateBlock::LEN];
        self.access(self.image.header().state_ptr, StateBlock::LEN as u32, |bytes| block.copy_from_slice(bytes))?;
        Ok(StateBlock::decode(&block))
    }

    /// Returns the time of the guest's next timer, in nanoseconds of the host machine's monotonic
    /// clock.
    pub fn due(&self, state: &StateBlock) -> Option<u64> {
        (state.timer_at >= 0.0).then(|| self.store.data().clock().host((state.timer_at * 1e6) as u64))
    }

    /// Returns text in the guest's memory. The conversion is lossy, because the guest may have
    /// written any bytes.
    pub fn text(&mut self, ptr: u32, len: u32) -> wasmtime::Result<String> {
        let mut text = String::new();
        self.access(ptr, len, |bytes| text = String::from_utf8_lossy(bytes).into_owned())?;
        Ok(text)
    }

    /// Reduces the charge for the memory to 0, because the VM has ended and is about to be dropped.
    /// The charge is returned before the outcome is reported, so that a program started after the
    /// report can use the memory.
    pub fn return_charge(&mut self) {
        self.store.data_mut().charge.shrink(u64::MAX);
    }

    /// Drops the VM. The caller frees the memory by dropping the result.
    pub fn vacate(self) -> Option<VacatedSlot> {
        self.slot.vacate()
    }

    /// Returns the data of the VM's store, such as the guest's last message and the limit that
    /// refused memory.
    pub fn data(&self) -> &StoreData {
        self.store.data()
    }

    fn access(&mut self, ptr: u32, len: u32, access: impl FnOnce(&mut [u8])) -> wasmtime::Result<()> {
        let refs = self.store.data().refs.clone();
        let Ok(_open) = refs.gate.enter() else { return Err(access::stopped()) };
        let (ptr, len) = (ptr as usize, len as usize);
        let bytes = self.memory.data_mut(&mut self.store).get_mut(ptr..ptr.saturating_add(len));
        access(bytes.ok_or_else(|| wasmtime::Error::msg("a pointer outside the guest's memory"))?);
        Ok(())
    }
}
