//! A VM: one instance of the guest image, driven by turns.
//!
//! [`Factory`] is what all VMs share; [`Vm::instantiate`] maps the image into a slot and makes the instance, [`Vm::turn`] delivers
//! events and lets the guest run until nothing is due. Between two turns a VM can be saved ([`saved`]). Next: `program/run.rs`, the life of a
//! program in a VM.

pub(crate) mod abi;
mod clock;
mod config;
pub(crate) mod imports;
mod patient;
pub(crate) mod saved;
mod stack;

pub use config::{CPU_FEATURES, engine_config};

use crate::image::{Image, TURNS};
use crate::kernel::usage::Charge;
use crate::memory::{Creator, Lodging, Remains, with_lodging};
use crate::program::Program;
use abi::{STATE_LEN, State};
use clock::Clock;
use coldframe_error::Error;
use coldframe_sys as sys;
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
    /// What it began as; addresses in the guest are in its header.
    image: Arc<Image>,
    lodging: Arc<Lodging>,
    events: Vec<u8>,
    /// No turn is under way or was cut short: no wasm frame is on a stack.
    quiet: bool,
    /// How many turns it has had, of its first ones.
    turns: u8,
    is_copy: bool,
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
        Self::make(factory, &factory.image, program, charge, Clock::default()).await
    }

    /// The one way in which a VM is made: `image` is mapped, be it the installation's or a saved one.
    async fn make(
        factory: &Factory,
        image: &Arc<Image>,
        program: &Arc<Program>,
        mut charge: Charge,
        clock: Clock,
    ) -> Result<(Self, StartCost), Error> {
        let began = sys::monotonic_ns();
        if image.len() > factory.image.len() {
            // A saved memory that has grown: the engine asks only for what the module begins with.
            if !charge.raise_to(image.len() as u64) {
                return Err(Refusal::Total.error(program.limits()));
            }
            program.grows(factory.image.len() as u64, image.len() as u64);
        }
        let made_of = factory.instance(program.process.kernel.asks.load(Ordering::Relaxed))?;
        let slot = image.pool().take(image)?;
        let lodging = Lodging::new(slot, image.clone(), program.gate().clone(), program.meter().clone());
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
            clock,
        };
        let mut store = Store::new(&factory.engine, host);
        store.limiter(|host| host);
        let instance = {
            let mut instantiation = std::pin::pin!(made_of.instantiate_async(&mut store));
            let mut first = true;
            std::future::poll_fn(|context| match std::mem::take(&mut first) {
                true => with_lodging(&lodging, || instantiation.as_mut().poll(context)),
                false => instantiation.as_mut().poll(context),
            })
            .await
        };
        // Instantiation may have failed before it came to the memory.
        let instance = instance.inspect_err(|_| drop(lodging.leave()));
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
        let image = factory.image.clone();
        Ok((Self { store, memory, turn, inbox, image, lodging, events: Vec::new(), quiet: true, turns: 0, is_copy: false }, cost))
    }

    /// Queues an event for the next turn.
    pub(crate) fn deliver(&mut self, event: abi::Event<'_>) {
        event.encode(&mut self.events);
    }

    /// Delivers the queued events and runs the guest until nothing is due.
    pub(crate) async fn turn(&mut self) -> wasmtime::Result<State> {
        // Stays so when the turn is cut short: what the guest was in the middle of is lost, and what is in its memory is half done.
        self.quiet = false;
        if self.turns == 0 && !self.lodging.prepare() {
            return Err(wasmtime::Error::msg("its memory cannot be read"));
        }
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
        self.quiet = true;
        if self.turns < TURNS {
            self.turns += 1;
            if self.is_copy {
                self.lodging.learn(self.turns);
            }
        }
        self.state()
    }

    /// What the guest said after its last turn.
    pub(crate) fn state(&mut self) -> wasmtime::Result<State> {
        let mut block = [0; STATE_LEN];
        self.access(self.image.header().state_ptr, STATE_LEN as u32, |bytes| block.copy_from_slice(bytes))?;
        Ok(State::decode(&block))
    }

    /// When the guest's next timer is due, in nanoseconds of the host's monotonic clock.
    pub(crate) fn due(&self, state: &State) -> Option<u64> {
        (state.timer_at >= 0.0).then(|| self.store.data().clock.host((state.timer_at * 1e6) as u64))
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

    /// It is gone. What is left of its memory, to be given back.
    pub(crate) fn leave(self) -> Option<Remains> {
        self.lodging.leave()
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
