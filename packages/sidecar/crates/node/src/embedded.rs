//! The object that `open` returns: a session and its functions, on Node's thread.
//!
//! Three events end the session: `shutdown()`, the collection of the object, and the end of the
//! environment, which is a worker thread or the process. Each event ends all guests and closes the
//! outlet. Afterwards the functions throw.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use coldframe_core::{Core, CoreOptions, Store, StoreOptions};
use coldframe_ids::RequestId;
use coldframe_protocol::messages::{
    Mode, Numbers, Pairs, ProcessRequest, ProcessStart, RunnerEval, RunnerRequest, RuntimeCreate,
};
use coldframe_protocol::{Frame, Kind, Request};
use coldframe_session::{ErrorContext, Job, JobThread, Message, Session, Violation};
use napi::bindgen_prelude::{Function, FunctionCallContext, JsObjectValue, Object, Result};
use napi::threadsafe_function::ThreadsafeCallContext;
use napi::{Env, JsValue, Property, PropertyAttributes};

use crate::arguments::{Arguments, wrong};
use crate::capture;
use crate::held::Held;
use crate::outlet::{Event, EventArguments, NodeOutlet};
use crate::values::{self, OutcomeArguments, Raw};

/// The first argument of `onEvent`.
mod kind {
    /// The event has no payload, so `onEvent` is not called.
    pub const NOTHING: u32 = 0;
    /// The payload is one or more frames.
    pub const FRAMES: u32 = 1;
    /// The payload is the outcome of the request `id`.
    pub const OUTCOME: u32 = 2;
}

/// The session and the state of its object.
pub struct Embedded {
    /// The session. `None` after `shut_down`.
    session: RefCell<Option<Session>>,
    outlet: Arc<NodeOutlet>,
    /// The longest time that this thread waits for the reply of a program before it returns to the
    /// event loop.
    linger: Duration,
    /// The reference to the object, set once by `open`. `None` after `shut_down`.
    object: RefCell<Option<Held>>,
    is_held: Cell<bool>,
}

/// A function of the object.
type Body = fn(&Embedded, &Env, Arguments<'_>) -> Result<Option<Raw>>;

/// The owner of the session. Only the object's functions refer to the owner, so the session ends
/// when the last function is collected.
struct Owner(Rc<Embedded>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.shut_down();
    }
}

impl Embedded {
    /// Opens a session and makes its object.
    pub fn open<'env>(
        env: &'env Env,
        options: &CoreOptions,
        store: StoreOptions,
        inline: Duration,
        on_event: Function<'env, EventArguments, ()>,
        make_outcome: Function<'env, OutcomeArguments, Raw>,
    ) -> Result<Object<'env>> {
        let core = Core::open(options).map_err(|error| values::thrown(env, &error, ErrorContext::NONE))?;
        let store = Store::open(&core, store);
        let outlet = Arc::new(NodeOutlet::default());
        let session = Session::new(core, store, Arc::clone(&outlet) as _, inline, JobThread::Control);
        let hello = session.hello(Vec::new()).into_frame();
        let this = Rc::new(Self {
            session: RefCell::new(Some(session)),
            outlet,
            linger: if inline.is_zero() { options.spin } else { Duration::ZERO },
            object: RefCell::default(),
            is_held: Cell::new(false),
        });
        let mut object = Self::functions(env, &this, on_event, make_outcome)?;
        object.set("hello", values::bytes(env, hello)?)?;
        *this.object.borrow_mut() = Some(Held::new(env, &object)?);
        let weak = Rc::downgrade(&this);
        let deliver = move |context: ThreadsafeCallContext<Event>| Self::deliver(&weak, &context.env, context.value);
        let relay = Self::relay(env, Rc::downgrade(&this))?;
        this.outlet.open(relay.build_threadsafe_function().weak::<true>().build_callback(deliver)?);
        // The hook is added after the threadsafe function, so the hook runs before Node destroys
        // that function.
        env.add_env_cleanup_hook(Rc::downgrade(&this), |this: Weak<Self>| {
            if let Some(this) = this.upgrade() {
                this.shut_down();
            }
        })?;
        Ok(object)
    }

    /// Makes the object. The callbacks are properties of the object, and the object is a property
    /// of each function (see [`crate::held`]).
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
        let functions: [(&str, Body); 6] = [
            ("send", Self::send),
            ("createRuntime", Self::create_runtime),
            ("start", Self::start),
            ("evaluate", Self::evaluate),
            ("hold", Self::hold),
            ("shutdown", |this, _, _| {
                this.shut_down();
                Ok(None)
            }),
        ];
        for (name, body) in functions {
            let owner = Rc::clone(&owner);
            let call = move |context: FunctionCallContext<'_>| body(&owner.0, context.env, Arguments::new(&context));
            let function = env.create_function_from_closure::<(), _, _>(name, call)?;
            Object::from_raw(env.raw(), function.raw()).define_properties(&[hidden("session")?.with_value(&object)])?;
            object.set(name, function)?;
        }
        Ok(object)
    }

    /// Makes the function that the threadsafe function calls. This function calls the object's
    /// property `onEvent`. An exception of `onEvent` becomes an uncaught exception.
    fn relay<'env>(env: &'env Env, this: Weak<Self>) -> Result<Function<'env, EventArguments, ()>> {
        env.create_function_from_closure("relay", move |context: FunctionCallContext<'_>| {
            if context.get::<u32>(0)? == kind::NOTHING {
                return Ok(());
            }
            let Some(this) = this.upgrade() else { return Ok(()) };
            // The reference to an idle session's object is weak. If the object was collected, the
            // event is dropped.
            let Some(object) = this.object.borrow().as_ref().and_then(|held| held.get(context.env).ok()) else {
                return Ok(());
            };
            let Some(on_event) = object.get::<Function<'_, EventArguments, Raw>>("onEvent")? else { return Ok(()) };
            on_event.call((context.get(0)?, context.get(1)?, context.get(2)?).into()).map(drop)
        })
    }

    /// Makes the arguments of `onEvent` for an event, on Node's thread.
    fn deliver(this: &Weak<Self>, env: &Env, event: Event) -> Result<EventArguments> {
        let nothing = || Ok((kind::NOTHING, 0, Raw::new(env, ())?).into());
        let Some(this) = this.upgrade() else { return nothing() };
        match event {
            Event::Message(Message::Outcome { request, outcome, context }) => {
                // After a shutdown the outcomes that wait for Node's thread have no receiver.
                let Some(make_outcome) = this.make_outcome(env)? else { return nothing() };
                let outcome = values::outcome(env, &make_outcome, *outcome, context)?;
                Ok((kind::OUTCOME, request.get(), outcome).into())
            }
            Event::Message(message) => Ok((kind::FRAMES, 0, values::bytes(env, message.into_frame())?).into()),
            Event::Wake => {
                // The replies of the tasks are returned with this event, because a further event
                // would delay them.
                let ((), replies) = capture::frames(|| this.run_tasks());
                if replies.is_empty() {
                    return nothing();
                }
                let frames = replies.into_iter().flat_map(Message::into_frame).collect();
                Ok((kind::FRAMES, 0, values::bytes(env, frames)?).into())
            }
        }
    }

    fn run_tasks(&self) {
        if let Some(session) = &mut *self.session.borrow_mut() {
            session.run_tasks();
        }
    }

    /// `send(frame)`: handles one frame. Returns the reply as a frame, if the reply is ready when
    /// the call ends.
    fn send(&self, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
        let bytes: &[u8] = arguments.required(0, "frame", "a Uint8Array")?;
        let payload = bytes.get(4..).ok_or_else(|| wrong(env, "frame", "at least 4 bytes", &bytes.len().to_string()))?;
        let frame = Frame::parse(payload).map_err(|error| violation(env, coldframe_session::frame_violation(&error)))?;
        let Some(id) = RequestId::new(frame.id) else {
            self.handle(env, |session| session.handle(&frame, true))?;
            return Ok(None);
        };
        let runs_program = [Kind::RunnerCreate, Kind::ProcessStart, Kind::RunnerEval].map(Kind::number);
        let lingers = runs_program.contains(&frame.kind);
        let reply = self.reply_of(env, id, lingers, |session| session.handle(&frame, true))?;
        reply.map(|message| values::bytes(env, message.into_frame())).transpose()
    }

    /// `createRuntime(env, cwd, profile, limits, values, tenant)`: returns the runtime's id.
    fn create_runtime(&self, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
        let variables = arguments.environment(0)?;
        let cwd: Option<String> = arguments.optional(1, "cwd", "a string")?;
        let profile: Option<String> = arguments.optional(2, "profile", "a string")?;
        let limits = arguments.limits(3)?;
        let tenant: Option<String> = arguments.optional(5, "tenant", "a string")?;
        let create = RuntimeCreate {
            env: Some(pairs(&variables)),
            cwd: cwd.as_deref(),
            profile: profile.as_deref(),
            limits: Some(Numbers(limits.iter().map(|(name, value)| (name.as_str(), *value)).collect())),
            tenant: tenant.as_deref(),
            ..RuntimeCreate::default()
        };
        let mut session = self.session.borrow_mut();
        let session = session.as_mut().ok_or_else(|| closed(env))?;
        let created = session.create_runtime(create);
        let runtime = created.map_err(|error| values::thrown(env, &error, ErrorContext::NONE))?;
        Raw::new(env, runtime.get()).map(Some)
    }

    /// `start(id, runtime, mode, code, args, env, cwd, stdin, timeoutMs, execArgv)`: starts a
    /// program. Returns the program's outcome or the error frame, if the program has ended.
    fn start(&self, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
        let id = arguments.id(0, "id")?;
        let code: String = arguments.required(3, "code", "a string")?;
        let args: Option<Vec<String>> = arguments.optional(4, "args", "a list of strings")?;
        let variables = arguments.environment(5)?;
        let cwd: Option<String> = arguments.optional(6, "cwd", "a string")?;
        let exec_argv: Option<Vec<String>> = arguments.optional(9, "execArgv", "a list of strings")?;
        let start = ProcessStart {
            runtime: arguments.id(1, "runtime")?,
            mode: match arguments.whole(2, "mode", 3)? {
                0 => Mode::Exec,
                1 => Mode::Run,
                2 => Mode::File,
                _ => Mode::Command,
            },
            code: &code,
            language: None,
            args: args.as_deref().map(texts),
            exec_argv: exec_argv.as_deref().map(texts),
            env: Some(pairs(&variables)),
            cwd: cwd.as_deref(),
            stdin: arguments.optional(7, "stdin", "a Uint8Array")?,
            timeout_ms: arguments.optional_whole(8, "timeoutMs")?,
            limits: None,
            stream: None,
            live: None,
            user: None,
            terminal: None,
            keep_orphans: None,
        };
        self.run_program(env, id, ProcessRequest::ProcessStart(start))
    }

    /// `evaluate(id, runner, code, timeoutMs)`: evaluates a snippet. Returns values like `start`.
    fn evaluate(&self, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
        let id = arguments.id(0, "id")?;
        let code: String = arguments.required(2, "code", "a string")?;
        let (runner, timeout_ms) = (arguments.id(1, "runner")?, arguments.optional_whole(3, "timeoutMs")?);
        let eval = RunnerEval { timeout_ms, ..RunnerEval::new(runner, &code) };
        self.run_program(env, id, RunnerRequest::RunnerEval(eval))
    }

    fn run_program<'a>(&self, env: &Env, id: RequestId, request: impl Into<Request<'a>>) -> Result<Option<Raw>> {
        match self.reply_of(env, id, true, |session| session.request(id, request, true))? {
            Some(Message::Outcome { outcome, context, .. }) => {
                let make_outcome = self.make_outcome(env)?.ok_or_else(|| closed(env))?;
                values::outcome(env, &make_outcome, *outcome, context).map(Some)
            }
            Some(message) => values::bytes(env, message.into_frame()).map(Some),
            None => Ok(None),
        }
    }

    /// Handles a request. Returns the reply, if the reply is ready when the call ends. `lingers`
    /// states that the request runs a program, whose end may be waited for.
    fn reply_of(
        &self,
        env: &Env,
        id: RequestId,
        lingers: bool,
        call: impl FnOnce(&mut Session) -> std::result::Result<Option<Job>, Violation>,
    ) -> Result<Option<Message>> {
        let is_alone = self.session.borrow().as_ref().is_some_and(Session::is_idle);
        if !lingers || self.linger.is_zero() || !is_alone {
            let (handled, reply) = capture::run(id, || self.handle(env, call));
            return handled.map(|()| reply);
        }
        self.outlet.linger.expect(id);
        let handled = self.handle(env, call);
        let limit = if handled.is_ok() { self.linger } else { Duration::ZERO };
        let reply = self.outlet.linger.wait(limit);
        handled.map(|()| reply)
    }

    /// Calls the session, then runs the program that the session returned, if any.
    fn handle(&self, env: &Env, call: impl FnOnce(&mut Session) -> std::result::Result<Option<Job>, Violation>) -> Result<()> {
        let handled = {
            let mut session = self.session.borrow_mut();
            call(session.as_mut().ok_or_else(|| closed(env))?)
        };
        if let Some(job) = handled.map_err(|failure| violation(env, failure))? {
            job();
        }
        Ok(())
    }

    /// `hold(alive)`: sets whether Node's event loop and the object stay alive for this session.
    fn hold(&self, env: &Env, arguments: Arguments<'_>) -> Result<Option<Raw>> {
        let alive: bool = arguments.required(0, "alive", "true or false")?;
        if self.is_held.replace(alive) != alive {
            self.outlet.hold(env, alive);
            if let Some(object) = &*self.object.borrow() {
                object.hold(env, alive);
            }
        }
        Ok(None)
    }

    /// Returns the object's function `makeOutcome`. Returns `None` if the session has been shut
    /// down or the object has been collected.
    fn make_outcome<'env>(&self, env: &'env Env) -> Result<Option<Function<'env, OutcomeArguments, Raw>>> {
        let object = self.object.borrow().as_ref().and_then(|held| held.get(env).ok());
        Ok(object.map(|object| object.get("makeOutcome")).transpose()?.flatten())
    }

    fn shut_down(&self) {
        let Some(session) = self.session.take() else { return };
        session.shut_down();
        self.outlet.close();
        drop(self.object.take());
        drop(session);
    }
}

fn pairs(pairs: &[(String, String)]) -> Pairs<'_> {
    Pairs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect())
}

fn texts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn closed(env: &Env) -> napi::Error {
    wrong(env, "session", "one that is open", "one that has been shut down")
}

fn violation(env: &Env, failure: Violation) -> napi::Error {
    values::thrown_failure(env, &failure)
}
