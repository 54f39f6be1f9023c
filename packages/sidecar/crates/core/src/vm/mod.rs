//! A VM: one instance of the guest image, driven by turns.
//!
//! [`Factory`] is what all VMs share; [`Vm::instantiate`] maps the image into a slot and makes the instance, [`Vm::turn`] delivers
//! events and lets the guest run until nothing is due. Next: `program/run.rs`, the life of a program in a VM.

pub(crate) mod abi;
mod config;
pub(crate) mod imports;
mod patient;
mod stack;

pub use config::engine_config;

use crate::error::Error;
use crate::image::Image;
use crate::kernel::usage::Charge;
use crate::memory::{Creator, with_slot};
use crate::program::Program;
use crate::sys;
use abi::{STATE_LEN, State};
use imports::Host;
pub(crate) use imports::Refusal;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use wasmtime::{Engine, InstancePre, Memory, Module, ModuleExport, Store, TypedFunc};

/// What all VMs of an image share.
pub(crate) struct Factory {
    instance: InstancePre<Host>,
    /// The same for runtimes whose system calls may have to wait for the caller outside (`patient.rs`), once there is one.
    patient: OnceLock<InstancePre<Host>>,
    engine: Engine,
    image: Arc<Image>,
    turn: ModuleExport,
    inbox: ModuleExport,
    memory: ModuleExport,
}

/// See the module.
pub(crate) struct Vm {
    store: Store<Host>,
    memory: Memory,
    turn: TypedFunc<(u32, u32), i32>,
    inbox: TypedFunc<u32, u32>,
    image: Arc<Image>,
    events: Vec<u8>,
}

/// The longest queue of events whose room is used again.
const KEPT_EVENTS: usize = 64 << 10;

/// Nanoseconds that the parts of a start took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StartCost {
    pub(crate) map_ns: u64,
    pub(crate) instantiate_ns: u64,
}

impl Factory {
    /// Loads the precompiled module that belongs to `image`. `folder` is where both lie.
    pub(crate) fn load(folder: &Path, image: Arc<Image>) -> Result<Self, Error> {
        let path = folder.join(&image.header().module_file);
        let fail = |reason: String| Error::Image { path: path.display().to_string(), reason };
        let mut config = engine_config();
        config.with_host_memory(Arc::new(Creator));
        config.with_host_stack(Arc::new(stack::Stacks::default()));
        let engine = Engine::new(&config).map_err(|error| fail(format!("{error:#}")))?;
        // SAFETY: the file is code, and trusted as this program's own binary is: both were made by the same build and lie in the
        // installation's folder.
        let module = unsafe { Module::deserialize_file(&engine, &path) }.map_err(|error| fail(format!("{error:#}")))?;
        let export = |name: &str| module.get_export_index(name).ok_or_else(|| fail(format!("it does not export {name}")));
        let (turn, inbox, memory) = (export("cf_turn")?, export("cf_inbox")?, export("memory")?);
        let linker = imports::linker(&engine, &module, false).map_err(|error| fail(format!("{error:#}")))?;
        let instance = linker.instantiate_pre(&module).map_err(|error| fail(format!("{error:#}")))?;
        Ok(Self { instance, patient: OnceLock::new(), engine, image, turn, inbox, memory })
    }

    /// The instance that a runtime's programs are made of.
    fn instance(&self, asks: bool) -> Result<&InstancePre<Host>, Error> {
        if !asks {
            return Ok(&self.instance);
        }
        if let Some(patient) = self.patient.get() {
            return Ok(patient);
        }
        let module = self.instance.module();
        let made = imports::linker(&self.engine, module, true).and_then(|linker| linker.instantiate_pre(module));
        let made = made.map_err(|error| Error::EngineFault { reason: format!("{error:#}") })?;
        Ok(self.patient.get_or_init(|| made))
    }

    pub(crate) fn image(&self) -> &Arc<Image> {
        &self.image
    }
}

impl Vm {
    /// Makes the VM of `program`. `charge` is what pays for its memory: already for that of the image that most programs are.
    pub(crate) async fn instantiate(
        factory: &Factory,
        program: &Arc<Program>,
        charge: Charge,
    ) -> Result<(Self, StartCost), Error> {
        let began = sys::monotonic_ns();
        let image = &factory.image;
        let slot = image.pool().take(image)?;
        let mapped = sys::monotonic_ns();
        let limit = usize::try_from(program.limits().memory_bytes).unwrap_or(usize::MAX);
        let host = Host {
            program: program.clone(),
            memory: None,
            memory_limit: limit,
            charge,
            refused_memory: None,
            fatal: None,
            program_began: None,
        };
        let mut store = Store::new(&factory.engine, host);
        store.limiter(|host| host);
        let made_of = factory.instance(program.process.kernel.asks.load(Ordering::Relaxed))?;
        let instance = {
            let mut instantiation = std::pin::pin!(made_of.instantiate_async(&mut store));
            let mut slot = Some(slot);
            std::future::poll_fn(|context| match slot.take() {
                Some(slot) => with_slot(slot, image, program.gate(), program.meter(), || instantiation.as_mut().poll(context)),
                None => instantiation.as_mut().poll(context),
            })
            .await
        };
        let fault = |error: wasmtime::Error| Error::EngineFault { reason: format!("{error:#}") };
        let missing = |name: &str| Error::EngineFault { reason: format!("the module's {name} is not what it must be") };
        if let (Err(_), Some(refusal)) = (&instance, store.data().refused_memory) {
            return Err(refusal.error(program.limits()));
        }
        let instance = instance.map_err(fault)?;
        let function = |export: &ModuleExport, store: &mut Store<Host>| instance.get_module_export(store, export)?.into_func();
        let memory = instance.get_module_export(&mut store, &factory.memory).and_then(|export| export.into_memory());
        let memory = memory.ok_or_else(|| missing("memory"))?;
        let turn = function(&factory.turn, &mut store).ok_or_else(|| missing("cf_turn"))?;
        let inbox = function(&factory.inbox, &mut store).ok_or_else(|| missing("cf_inbox"))?;
        let turn = turn.typed(&store).map_err(fault)?;
        let inbox = inbox.typed(&store).map_err(fault)?;
        store.data_mut().memory = Some(memory);
        let cost = StartCost { map_ns: mapped - began, instantiate_ns: sys::monotonic_ns() - mapped };
        Ok((Self { store, memory, turn, inbox, image: image.clone(), events: Vec::new() }, cost))
    }

    /// Queues an event for the next turn.
    pub(crate) fn deliver(&mut self, event: abi::Event<'_>) {
        event.encode(&mut self.events);
    }

    /// Delivers the queued events and runs the guest until nothing is due.
    pub(crate) async fn turn(&mut self) -> wasmtime::Result<State> {
        let events = std::mem::take(&mut self.events);
        let len = u32::try_from(events.len()).map_err(wasmtime::Error::msg)?;
        let header = self.image.header();
        let ptr = if len <= header.inbox_len {
            header.inbox_ptr
        } else {
            match self.inbox.call_async(&mut self.store, len).await? {
                0 => {
                    self.store.data_mut().refused_memory.get_or_insert(Refusal::Own);
                    return Err(wasmtime::Error::msg("no memory for the events"));
                }
                ptr => ptr,
            }
        };
        self.access(ptr, len, |bytes| bytes.copy_from_slice(&events))?;
        // What was long once does not keep its room.
        self.events = if events.capacity() > KEPT_EVENTS { Vec::new() } else { events };
        self.events.clear();
        self.turn.call_async(&mut self.store, (ptr, len)).await?;
        let mut block = [0; STATE_LEN];
        self.access(self.image.header().state_ptr, STATE_LEN as u32, |bytes| block.copy_from_slice(bytes))?;
        Ok(State::decode(&block))
    }

    /// Text that the guest left in its memory; lossy, because the guest may have written anything.
    pub(crate) fn text(&mut self, ptr: u32, len: u32) -> wasmtime::Result<String> {
        let mut text = String::new();
        self.access(ptr, len, |bytes| text = String::from_utf8_lossy(bytes).into_owned())?;
        Ok(text)
    }

    /// Its memory counts no longer: it runs no more and is about to be dropped. Who hears of its end can use what it had.
    pub(crate) fn pay_back(&mut self) {
        self.store.data_mut().charge.shrink(u64::MAX);
    }

    /// What the guest told the host besides its state.
    pub(crate) fn host(&self) -> &Host {
        self.store.data()
    }

    fn access(&mut self, ptr: u32, len: u32, access: impl FnOnce(&mut [u8])) -> wasmtime::Result<()> {
        let program = self.store.data().program.clone();
        let Ok(_open) = program.gate().enter() else {
            return Err(wasmtime::Error::msg("the process was ended"));
        };
        let (ptr, len) = (ptr as usize, len as usize);
        let bytes = self.memory.data_mut(&mut self.store).get_mut(ptr..ptr.saturating_add(len));
        access(bytes.ok_or_else(|| wasmtime::Error::msg("a pointer outside the guest's memory"))?);
        Ok(())
    }
}
