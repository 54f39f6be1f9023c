//! The object that `open` gives: its state and its functions. All of it lives on Node's thread; only [`crate::outlet`] is shared.
//!
//! The core ends in one of three ways, whichever comes first: `shutdown()`, the collection of the object, or the end of the environment
//! (a worker thread that ends, or the process). Each ends all guests and closes the outlet; after it the functions throw.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use coldframe_core::{
    Core, CoreOptions, Dispatch, Error, Mode, Process, ProcessOptions, Runtime, RuntimeOptions, Store, StoreOptions,
};
use napi::bindgen_prelude::{Function, FunctionCallContext, JsObjectValue, Object, Result};
use napi::threadsafe_function::ThreadsafeCallContext;
use napi::{Env, JsValue, Property, PropertyAttributes, Status};

use crate::arguments::{Arguments, wrong};
use crate::casting::Waiting;
use crate::copies;
use crate::files;
use crate::held::Held;
use crate::host;
use crate::inline;
use crate::limits;
use crate::network;
use crate::opened;
use crate::outlet::{Event, EventArguments, Outlet, Program};
use crate::permissions;
use crate::processes;
use crate::requests::Requests;
use crate::runners;
use crate::sleep::{self, Asleep, Falling};
use crate::snapshots::{self, Ended};
use crate::table::{Place, Table};
use crate::values::{self, OutcomeArguments, Raw};

pub const MAX_RUNTIMES: usize = 65_536;
const MAX_RUNNERS: usize = 65_536;
const ANY: u64 = u64::MAX;

/// What the second argument of `onEvent` may be.
mod kind {
    pub const OUTCOME: u32 = 1;
    pub const FAILURE: u32 = 2;
    pub const STDOUT: u32 = 3;
    pub const STDERR: u32 = 4;
    pub const RUNNER: u32 = 5;
    pub const HOST_CALL: u32 = 6;
    pub const HOST_CANCEL: u32 = 7;
    pub const PERMISSIONS: u32 = 8;
    pub const WARNING: u32 = 64;
    pub const SNAPSHOT: u32 = 70;
    pub const NOTHING: u32 = 0;
    pub const CHANGES: u32 = 9;
}

/// See the module.
pub struct Embedded {
    pub(crate) core: RefCell<Option<Core>>,
    pub(crate) store: RefCell<Option<Store>>,
    pub(crate) outlet: Arc<Outlet>,
    pub(crate) dispatch: Dispatch,
    /// How long this thread looks for the end of a request before it leaves it to the event loop.
    linger: Duration,
    /// Set once, by `open`; gone after `shut_down`.
    object: RefCell<Option<Held>>,
    pub(crate) runtimes: RefCell<Table<Live>>,
    pub(crate) runners: RefCell<Table<Process>>,
    pub(crate) requests: Requests,
    /// Runtimes on their way to sleep, by their numbers.
    pub(crate) falling: RefCell<HashMap<u32, Falling>>,
    /// Runtimes that sleep on disk.
    pub(crate) asleep: RefCell<HashMap<u32, Asleep>>,
}

/// A runtime of the core.
pub(crate) struct Live {
    pub runtime: Runtime,
    /// Numbers of the runners that were made in it and not disposed.
    pub runners: Vec<u32>,
    /// Whose it is; none: the default tenant's.
    pub tenant: Option<Arc<str>>,
    /// Programs that came with a snapshot, and that nobody hears yet.
    pub waiting: Option<Box<Waiting>>,
}

/// What a function of the object does.
pub(crate) type Body = fn(&Embedded, &Env, Arguments<'_>) -> Result<Option<Raw>>;

/// Held by the object's functions alone: when the last of them is collected, nobody can use the core any more.
struct Owner(Rc<Embedded>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.shut_down();
    }
}

impl Embedded {
    /// Opens a core and makes the object.
    pub fn open<'env>(
        env: &'env Env,
        options: &CoreOptions,
        store: StoreOptions,
        inline: Duration,
        on_event: Function<'env, EventArguments, ()>,
        make_outcome: Function<'env, OutcomeArguments, Raw>,
    ) -> Result<Object<'env>> {
        let core = Core::open(options).map_err(|error| values::thrown(env, &error, None))?;
        let (image_id, load_ns) = (core.image_id().to_owned(), core.load_ns() as f64);
        let store = Store::open(&core, store);
        let this = Rc::new(Self {
            core: RefCell::new(Some(core)),
            store: RefCell::new(Some(store)),
            outlet: Arc::default(),
            dispatch: if inline.is_zero() { Dispatch::Worker } else { Dispatch::Inline(inline) },
            linger: if inline.is_zero() { options.spin } else { Duration::ZERO },
            object: RefCell::default(),
            runtimes: RefCell::new(Table::new("runtimes", MAX_RUNTIMES)),
            runners: RefCell::new(Table::new("runners", MAX_RUNNERS)),
            requests: Requests::default(),
            falling: RefCell::default(),
            asleep: RefCell::default(),
        });
        let mut object = Self::functions(env, &this, on_event, make_outcome)?;
        object.set("version", env!("CARGO_PKG_VERSION"))?;
        object.set("imageId", image_id)?;
        object.set("loadNs", load_ns)?;
        *this.object.borrow_mut() = Some(Held::new(env, &object)?);
        let weak = Rc::downgrade(&this);
        let deliver = move |context: ThreadsafeCallContext<Event>| Self::deliver(&weak, &context.env, context.value);
        let relay = Self::relay(env, Rc::downgrade(&this))?;
        this.outlet.open(relay.build_threadsafe_function().weak::<true>().build_callback(deliver)?);
        // Added after the threadsafe function, so it runs before Node tears that down.
        env.add_env_cleanup_hook(Rc::downgrade(&this), |this: Weak<Self>| {
            if let Some(this) = this.upgrade() {
                this.shut_down();
            }
        })?;
        Ok(object)
    }

    /// The object with its functions. The callbacks hang on it, and it hangs on each function (see [`crate::held`]).
    fn functions<'env>(
        env: &'env Env,
        this: &Rc<Self>,
        on_event: Function<'env, EventArguments, ()>,
        make_outcome: Function<'env, OutcomeArguments, Raw>,
    ) -> Result<Object<'env>> {
        let hidden = |name: &str| {
            Ok::<_, napi::Error>(Property::new().with_utf8_name(name)?.with_property_attributes(PropertyAttributes::Default))
        };
        let owner = Rc::new(Owner(Rc::clone(this)));
        let mut object = Object::new(env)?;
        object
            .define_properties(&[hidden("onEvent")?.with_value(&on_event), hidden("makeOutcome")?.with_value(&make_outcome)])?;
        let mut function = |name: &str, body: Body| {
            let owner = Rc::clone(&owner);
            let call = move |context: FunctionCallContext<'_>| body(&owner.0, context.env, Arguments::new(&context));
            let function = env.create_function_from_closure::<(), _, _>(name, call)?;
            Object::from_raw(env.raw(), function.raw()).define_properties(&[hidden("core")?.with_value(&object)])?;
            object.set(name, function)
        };
        function("noop", |_, _, _| Ok(None))?;
        function("createRuntime", Self::create_runtime)?;
        function("disposeRuntime", Self::dispose_runtime)?;
        function("start", Self::start)?;
        function("cancel", Self::cancel)?;
        function("credit", Self::credit)?;
        function("resources", Self::resources)?;
        let families = [
            files::FUNCTIONS,
            opened::FUNCTIONS,
            processes::FUNCTIONS,
            host::FUNCTIONS,
            limits::FUNCTIONS,
            network::FUNCTIONS,
            permissions::FUNCTIONS,
            snapshots::FUNCTIONS,
            copies::FUNCTIONS,
            sleep::FUNCTIONS,
            runners::FUNCTIONS,
        ];
        for (name, body) in families.into_iter().flatten() {
            function(name, *body)?;
        }
        function("shutdown", |this, _, _| {
            this.shut_down();
            Ok(None)
        })?;
        Ok(object)
    }

    /// What the threadsafe function calls: `onEvent`, found on the object. What it throws becomes an uncaught exception.
    fn relay<'env>(env: &'env Env, this: Weak<Self>) -> Result<Function<'env, EventArguments, ()>> {
        env.create_function_from_closure("relay", move |context: FunctionCallContext<'_>| {
            let Some(this) = this.upgrade() else { return Ok(()) };
            // Nobody holds a core that is idle: then there is nobody to tell what comes unasked.
            let Some(object) = this.object.borrow().as_ref().and_then(|held| held.get(context.env).ok()) else {
                return Ok(());
            };
            let Some(on_event) = object.get::<Function<'_, EventArguments, Raw>>("onEvent")? else { return Ok(()) };
            on_event.call((context.get(0)?, context.get(1)?, context.get(2)?).into()).map(drop)
        })
    }

    fn create_runtime(&self, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
        let env_vars = arguments.environment(0)?;
        let cwd = arguments.optional(1, "cwd", "a string")?;
        let limits = limits::build(env, &arguments, 2)?;
        let (mounts, file_systems) = files::mounts(&arguments, 5)?;
        let told = Arc::new(OnceLock::new());
        let warn = arguments.optional(6, "warn", "true or false")?.unwrap_or(false);
        let warnings = warn.then(|| limits::listener(&self.outlet, &told));
        let core = self.core(env)?;
        let options = RuntimeOptions { env: env_vars, cwd, limits, mounts, file_systems, warnings, ..RuntimeOptions::default() };
        let mut runtimes = self.runtimes.borrow_mut();
        let created = runtimes.check_room().and_then(|()| core.create_runtime(options));
        let runtime = created.map_err(|error| values::thrown(env, &error, None))?;
        let number = runtimes.reserve();
        runtime.attach(Arc::new(host::Asking { runtime: number, outlet: Arc::clone(&self.outlet) }));
        let _ = told.set(number);
        let tenant: Option<String> = arguments.optional(7, "tenant", "a string")?;
        runtimes.put(number, Live { runtime, runners: Vec::new(), tenant: tenant.map(Arc::from), waiting: None });
        Raw::new(env, number).map(Some)
    }

    fn dispose_runtime(&self, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
        self.core(env)?;
        let number = arguments.number(0, "runtime")?;
        let falling = self.falling.borrow_mut().remove(&number).map(|falling| falling.live);
        let live = falling.or_else(|| self.runtimes.borrow_mut().remove(number));
        let Some(live) = live else {
            return if self.dispose_asleep(number) { Ok(None) } else { Err(self.no_runtime(env, number)) };
        };
        live.runners.into_iter().for_each(|runner| drop(self.runners.borrow_mut().remove(runner)));
        live.runtime.dispose();
        Ok(None)
    }

    fn start(&self, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
        let id = self.new_id(env, &arguments)?;
        let number = arguments.number(1, "runtime")?;
        let mode = match arguments.whole(2, "mode", 3)? {
            0 => Mode::Exec,
            1 => Mode::Run,
            2 => Mode::File,
            _ => Mode::Command,
        };
        let options = ProcessOptions {
            mode,
            code: arguments.required(3, "code", "a string")?,
            args: arguments.optional(4, "args", "a list of strings")?.unwrap_or_default(),
            env: arguments.environment(5)?,
            cwd: arguments.optional(6, "cwd", "a string")?,
            stdin: arguments.optional::<&[u8]>(7, "stdin", "a Uint8Array")?.unwrap_or_default().to_vec(),
            timeout: arguments.milliseconds(8, "timeoutMs")?,
            streams: arguments.streams(9)?,
            live: arguments.optional(11, "live", "true or false")?.unwrap_or(false),
            exec_argv: arguments.optional(10, "execArgv", "a list of strings")?.unwrap_or_default(),
        };
        let runtime = self.runtime(env, number)?;
        let sink = Arc::new(Program { id, place: Place { runtime: number, runner: 0 }, outlet: Arc::clone(&self.outlet) });
        if options.live {
            // Its number is the answer, and its end an event.
            let process = runtime.start(options, sink, Dispatch::Worker).map_err(|error| values::thrown(env, &error, None))?;
            let pid = process.pid();
            self.wait(env, id, process, 0, None)?;
            return Raw::new(env, pid).map(Some);
        }
        let (started, end) = self.begin(id, || runtime.start(options, sink, self.dispatch));
        let process = started.map_err(|error| values::thrown(env, &error, None))?;
        self.wait(env, id, process, 0, end)
    }

    fn cancel(&self, _env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
        self.requests.cancel(arguments.number(0, "id")?);
        Ok(None)
    }

    fn credit(&self, _env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
        let (id, bytes) = (arguments.number(0, "id")?, arguments.whole(1, "bytes", ANY)?);
        self.requests.credit(id, bytes);
        Ok(None)
    }

    fn resources(&self, env: &Env, _: Arguments<'_>) -> Result<Option<Raw>> {
        values::resources(env, self.core(env)?.resources()).map(Some)
    }

    /// Begins request `id`; gives what the core returned, and the request's end if it came meanwhile.
    pub(crate) fn begin<T>(
        &self,
        id: u32,
        call: impl FnOnce() -> std::result::Result<T, Error>,
    ) -> (std::result::Result<T, Error>, Option<Event>) {
        if self.linger.is_zero() || !self.requests.is_empty() {
            return inline::run(id, call);
        }
        self.outlet.linger.expect(id);
        let started = call();
        let limit = if started.is_ok() { self.linger } else { Duration::ZERO };
        (started, self.outlet.linger.wait(limit))
    }

    /// The end of a call that began a request: what it gives if it is over, or it waits.
    pub(crate) fn wait(&self, env: &Env, id: u32, process: Process, runner: u32, end: Option<Event>) -> Result<Option<Raw>> {
        match end {
            Some(Event::Failure(_, place, error)) => Err(values::thrown(env, &error, place.facts(&error))),
            Some(event) => self.payload(env, event).map(|(_, payload)| Some(payload)),
            None => {
                if self.requests.add(id, Some(process), runner) {
                    self.hold(env, true);
                }
                Ok(None)
            }
        }
    }

    /// A request begins to wait that is about no program.
    pub(crate) fn wait_without_program(&self, env: &Env, id: u32) {
        if self.requests.add(id, None, 0) {
            self.hold(env, true);
        }
    }

    /// A request begins to wait for a program that runs already.
    pub(crate) fn wait_for(&self, env: &Env, id: u32, process: Process) {
        if self.requests.add(id, Some(process), 0) {
            self.hold(env, true);
        }
    }

    /// It does not wait any more, and no event ends it.
    pub(crate) fn waits_no_more(&self, env: &Env, id: u32) {
        if self.requests.remove(id) {
            self.hold(env, false);
        }
    }

    /// On Node's thread, for an event that came from any: the arguments of `onEvent`. When nobody waits for it any more, which happens
    /// after `shutdown` and when a runner ends, its kind is 0 and there is nothing to do.
    fn deliver(this: &Weak<Self>, env: &Env, event: Event) -> Result<EventArguments> {
        let id = event.id();
        let nothing = || Ok((id, 0, Raw::new(env, ())?).into());
        let Some(this) = this.upgrade() else { return nothing() };
        if !event.is_question() && !this.requests.has(id) {
            return nothing();
        }
        // From here on the object is in the present scope: it outlives the call of `onEvent` also when it is no longer held.
        let object = this.object.borrow().as_ref().map(|held| held.get(env)).transpose();
        if event.is_question() && object.is_err() {
            return nothing(); // nobody holds an idle core, and nobody is left to ask
        }
        object?;
        let ends = event.is_end();
        let (kind, payload) = this.payload(env, event)?;
        if ends && this.requests.remove(id) {
            this.hold(env, false);
        }
        Ok((id, kind, payload).into())
    }

    /// Whether Node's event loop and the object stay alive for this core.
    fn hold(&self, env: &Env, alive: bool) {
        self.outlet.hold(env, alive);
        if let Some(object) = &*self.object.borrow() {
            object.hold(env, alive);
        }
    }

    fn make_outcome<'env>(&self, env: &'env Env) -> Result<Function<'env, OutcomeArguments, Raw>> {
        let object = self.object.borrow().as_ref().map(|held| held.get(env)).transpose()?;
        let found = object.map(|object| object.get("makeOutcome")).transpose()?.flatten();
        found.ok_or_else(|| napi::Error::new(Status::GenericFailure, "the core has been shut down".to_owned()))
    }

    fn payload(&self, env: &Env, event: Event) -> Result<(u32, Raw)> {
        Ok(match event {
            Event::Outcome(_, place, outcome) => {
                (kind::OUTCOME, values::outcome(env, &self.make_outcome(env)?, *outcome, place)?)
            }
            Event::Failure(_, place, error) => {
                (kind::FAILURE, Raw::new(env, values::failure(env, &error, place.facts(&error))?)?)
            }
            Event::Output(_, fd, data) => (if fd == 1 { kind::STDOUT } else { kind::STDERR }, values::bytes(env, data)?),
            Event::Runner(_, runner, pid, timings) => (kind::RUNNER, values::runner(env, runner, pid, timings)?),
            Event::Then(_, make) => match make(self, env) {
                Ok(value) => (kind::SNAPSHOT, value),
                Err(Ended::Core(error)) => (kind::FAILURE, Raw::new(env, values::failure(env, &error, None)?)?),
                Err(Ended::Script(error)) => return Err(error),
            },
            Event::Note(work) => {
                work(self, env);
                (kind::NOTHING, Raw::new(env, ())?)
            }
            Event::Changes(_, changes) => (kind::CHANGES, opened::changes(env, changes)?),
            Event::HostCall(runtime, call) => (kind::HOST_CALL, host::question(env, runtime, call)?),
            Event::Network(runtime, _, event) => network::payload(env, runtime, event)?,
            Event::HostCancel(runtime, _) => (kind::HOST_CANCEL, Raw::new(env, runtime)?),
            Event::Permissions(_, decisions) => (kind::PERMISSIONS, permissions::events(env, decisions)?),
            Event::Warning(_, warning) => (kind::WARNING, limits::warning(env, warning)?),
        })
    }

    pub(crate) fn core(&self, env: &Env) -> Result<Core> {
        self.core.borrow().clone().ok_or_else(|| wrong(env, "core", "one that is open", "one that has been shut down"))
    }

    pub(crate) fn runtime(&self, env: &Env, number: u32) -> Result<Runtime> {
        let runtime = self.runtimes.borrow().get(number).map(|live| live.runtime.clone());
        runtime.ok_or_else(|| self.no_runtime(env, number))
    }

    /// The same, also when it is on its way to sleep: for what belongs to something that is open in it.
    pub(crate) fn still_awake(&self, env: &Env, number: u32) -> Result<Runtime> {
        let falling = self.falling.borrow().get(&number).map(|falling| falling.live.runtime.clone());
        falling.map_or_else(|| self.runtime(env, number), Ok)
    }

    /// Whose a runtime is.
    pub(crate) fn tenant(&self, number: u32) -> String {
        let runtimes = self.runtimes.borrow();
        let tenant = runtimes.get(number).and_then(|live| live.tenant.as_deref());
        tenant.unwrap_or(snapshots::DEFAULT_TENANT).to_owned()
    }

    /// The id of a request that begins, on a core that is open.
    pub(crate) fn new_id(&self, env: &Env, arguments: &Arguments<'_>) -> Result<u32> {
        self.core(env)?;
        let id = arguments.number(0, "id")?;
        if id == 0 || self.requests.has(id) {
            return Err(wrong(env, "id", "a number other than 0 that no request has that waits", &id.to_string()));
        }
        Ok(id)
    }

    /// Whether a runtime sleeps, or is on its way there.
    pub(crate) fn is_paused(&self, number: u32) -> bool {
        self.asleep.borrow().contains_key(&number) || self.falling.borrow().contains_key(&number)
    }

    fn no_runtime(&self, env: &Env, number: u32) -> napi::Error {
        if self.is_paused(number) {
            return values::thrown(env, &Error::RuntimePaused, Some(("runtime", number)));
        }
        if self.runtimes.borrow().has_been(number) {
            return values::thrown(env, &Error::RuntimeDisposed, Some(("runtime", number)));
        }
        wrong(env, "runtime", "the number of a runtime", &number.to_string())
    }

    pub(crate) fn no_runner(&self, env: &Env, number: u32) -> napi::Error {
        if let Some(runtime) = self.paused_with(number) {
            return values::thrown(env, &Error::RuntimePaused, Some(("runtime", runtime)));
        }
        if self.runners.borrow().has_been(number) {
            return values::thrown(
                env,
                &Error::RunnerExited { exit_code: Error::Canceled.exit_code() },
                Some(("runner", number)),
            );
        }
        wrong(env, "runner", "the number of a runner", &number.to_string())
    }

    fn shut_down(&self) {
        let Some(core) = self.core.take() else { return };
        core.shutdown();
        self.outlet.close();
        drop(self.object.take());
        self.requests.clear();
        drop(self.store.take());
        self.falling.borrow_mut().clear();
        self.asleep.borrow_mut().clear();
        *self.runners.borrow_mut() = Table::new("runners", MAX_RUNNERS);
        *self.runtimes.borrow_mut() = Table::new("runtimes", MAX_RUNTIMES);
    }
}
