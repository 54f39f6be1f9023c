//! The life of a program: make its VM, start it, give it turns until it ends, tell its sink.
//!
//! This is an async function that `sched/task.rs` polls: it waits at the marked places and nowhere else, and it is dropped, with
//! whatever the guest is in the middle of, when the program must end.

use super::Program;
use super::rest::rest;
use crate::core::Shared;
use crate::kernel;
use crate::kernel::processes::{Command, Image};
use crate::kernel::usage::Charge;
use crate::memory::Remains;
use crate::options::Mode;
use crate::outcome::Timings;
use crate::runtime::Membership;
use crate::vm::abi::{Event, REASON_MEMORY, Start, State};
use crate::vm::{Refusal, StartCost, Vm};
use coldframe_error::Error;
use coldframe_sys as sys;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

/// What a program starts with.
pub(crate) struct Launch {
    /// What it is an instance of.
    pub(crate) image: Image,
    pub(crate) code: String,
    pub(crate) argv: Vec<String>,
    pub(crate) exec_argv: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: String,
}

impl Launch {
    /// A command with its own command line, which the guest reads itself: therefore the empty path. The shell is told which of its commands it is,
    /// a binding's command which binding it calls.
    pub(crate) fn of(command: Command, cwd: String) -> Self {
        let exec_argv = match &command.image {
            Image::Shell(name) => vec![name.clone()],
            Image::Binding(name) => vec!["binding".to_owned(), name.clone()],
            Image::Node | Image::Env => Vec::new(),
        };
        Self { image: command.image, code: String::new(), argv: command.argv, exec_argv, env: command.env, cwd }
    }
}

/// Why the program got the worker again.
enum Step {
    Timer,
    Complete(Vec<kernel::Event>),
    Evaluate(u32, String),
    /// The evaluation under way must end, and no guest code runs that could be interrupted.
    Abandon,
    End,
}

/// How the guest came to its end.
enum Exit {
    Normal(State),
    Failed(Option<wasmtime::Error>),
}

/// What a life begins with.
pub(crate) enum Beginning {
    /// The image, and the memory that pays for it.
    Launch(Launch, Charge),
    /// A saved program's memory, with the news that it lives again.
    Copy(Box<Copy>),
}

/// A VM that was restored.
pub(crate) struct Copy {
    pub(crate) vm: Vm,
    pub(crate) cost: StartCost,
    /// Which image it is of.
    pub(crate) is_shell: bool,
}

impl Beginning {
    /// The VM, which image it is of, and what it begins with unless it goes on.
    async fn make(self, program: &Arc<Program>, core: &Shared) -> Result<(Copy, Option<Launch>), Error> {
        let (launch, memory) = match self {
            Self::Launch(launch, memory) => (launch, memory),
            Self::Copy(copy) => return Ok((*copy, None)),
        };
        let (vm, cost) = Vm::instantiate(&*core.factory(&launch.image)?, program, memory).await?;
        let is_shell = matches!(launch.image, Image::Shell(_));
        Ok((Copy { vm, cost, is_shell }, Some(launch)))
    }
}

/// Runs `program` to its end. `place` is its place in the runtime: it leaves before its memory is given back.
pub(crate) async fn run(program: Arc<Program>, core: Arc<Shared>, beginning: Beginning, mut place: Membership) {
    let made = beginning.make(&program, &core).await;
    drop(core);
    let (Copy { mut vm, cost, is_shell }, launch) = match made {
        Ok(made) => made,
        Err(error) => {
            program.control.lock().failure.get_or_insert(error);
            program.process.close();
            place.leave();
            program.tell_exit(137, None, Timings::default());
            return;
        }
    };
    let mut timings = Timings { memory_map_ns: cost.map_ns, instantiate_ns: cost.instantiate_ns, ..Timings::default() };
    let began = sys::monotonic_ns();
    let is_new = launch.is_some();
    if let Some(launch) = launch {
        start(&program, &mut vm, launch);
    }
    let ready = (is_new && program.mode == Mode::Resident).then_some(|vm: &Vm| {
        timings.guest_start_ns = vm.host().program_began.unwrap_or_else(sys::monotonic_ns).saturating_sub(began);
        timings
    });
    let exit = live(&program, &mut vm, is_shell, ready).await;
    let program_began = vm.host().program_began.unwrap_or(began);
    timings.guest_start_ns = program_began.saturating_sub(began);
    timings.guest_run_ns = sys::monotonic_ns().saturating_sub(program_began);
    let (exit_code, value) = match exit {
        Exit::Normal(state) => finish_normally(&program, &mut vm, &state),
        Exit::Failed(error) => {
            explain(&program, &vm, error);
            (137, None)
        }
    };
    program.process.close();
    place.leave();
    vm.pay_back();
    program.tell_exit(exit_code, value, timings);
    drop(place);
    if let Some(remains) = vm.leave().filter(Remains::is_large) {
        program.scheduler.later(move || drop(remains));
    }
}

/// Queues what a new program begins with.
fn start(program: &Program, vm: &mut Vm, launch: Launch) {
    let block = Start {
        pid: program.pid,
        ppid: program.ppid,
        cwd: &launch.cwd,
        url: &entry_url(&launch.cwd),
        source: &launch.code,
        argv: &launch.argv,
        env: &launch.env,
        exec_argv: &launch.exec_argv,
    }
    .encode();
    let mode = match program.mode {
        Mode::Exec => 0,
        Mode::Run => 1,
        Mode::Resident => 2,
        Mode::File | Mode::Command => 3,
    };
    vm.deliver(Event::Start { mode, block: &block });
}

/// Gives the guest turns until it exits or must end. The first thing that it hears is in its queue.
async fn live(program: &Arc<Program>, vm: &mut Vm, is_shell: bool, mut ready: Option<impl FnOnce(&Vm) -> Timings>) -> Exit {
    loop {
        let state = match turn(program, vm).await {
            Ok(state) => state,
            Err(error) => return Exit::Failed(error),
        };
        if let Some(ready) = ready.take() {
            let timings = ready(vm);
            program.voice.tell(|sink| sink.ready(timings));
        }
        program.flush_all();
        if state.eval_done != 0 && state.eval_done == program.control.lock().evaluations.current_id() {
            let failure = (state.eval_reason == REASON_MEMORY).then(|| memory_limit(program, vm));
            program.finish_evaluation(state.eval_exit_code, failure);
        }
        if state.exited {
            return Exit::Normal(state);
        }
        // A guest that ends its turns without polling must make way as any other.
        program.checkpoint().await;
        let step = loop {
            match next_step(program, vm.due(&state)).await {
                Some(step) => break step,
                None => rest(program, vm, is_shell).await,
            }
        };
        match step {
            Step::Timer => vm.deliver(Event::Timer),
            Step::Complete(events) => {
                for kernel::Event { operation, result, bytes } in events {
                    vm.deliver(Event::Complete { operation, result, bytes: &bytes });
                }
            }
            Step::Evaluate(id, source) => vm.deliver(Event::Eval { id, source: &source }),
            Step::Abandon => program.finish_evaluation(137, None),
            Step::End => return Exit::Failed(None),
        }
    }
}

/// One turn; cut short, without running the guest again, once the program must end.
async fn turn(program: &Program, vm: &mut Vm) -> Result<State, Option<wasmtime::Error>> {
    let mut turn = std::pin::pin!(vm.turn());
    poll_fn(|context| {
        if program.must_end.load(Ordering::Acquire) {
            return Poll::Ready(Err(None));
        }
        turn.as_mut().poll(context).map_err(Some)
    })
    .await
}

/// Waits for something to do; none when a value of the runtime is wanted, for which nothing may happen.
async fn next_step(program: &Program, due: Option<u64>) -> Option<Step> {
    if due.is_none() && program.mode != Mode::Resident && !program.process.operations.are_under_way() {
        // The guest says it waits, but for nothing that could ever come.
        program.end(Error::EngineFault { reason: "the program waits for nothing".to_owned() });
    }
    let mut alarm = None;
    let step = poll_fn(|context| {
        if program.must_end.load(Ordering::Acquire) {
            return Poll::Ready(Some(Step::End));
        }
        if program.is_interrupted() {
            return Poll::Ready(Some(Step::Abandon));
        }
        if program.moment().calls() {
            return Poll::Ready(None);
        }
        if let Some((id, code)) = program.next_evaluation() {
            return Poll::Ready(Some(Step::Evaluate(id, code)));
        }
        let events = program.process.operations.take();
        if !events.is_empty() {
            return Poll::Ready(Some(Step::Complete(events)));
        }
        if due.is_some_and(|due| sys::monotonic_ns() >= due) {
            return Poll::Ready(Some(Step::Timer));
        }
        let mut control = program.control.lock();
        if control.failure.is_some() || control.evaluations.has_news() || program.is_interrupted() {
            // It came between the looks above and the lock.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        control.waiting = Some(context.waker().clone());
        drop(control);
        if !program.process.operations.watch(context.waker()) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let (None, Some(due)) = (&alarm, due) {
            let waker = context.waker().clone();
            alarm = Some(program.timers().wait(due, move || waker.wake()));
            program.waits_for_timer.store(true, Ordering::Relaxed);
        }
        Poll::Pending
    })
    .await;
    program.waits_for_timer.store(false, Ordering::Relaxed);
    step
}

/// What `import.meta.url` and stacks show: the same as for `node --input-type=module -e`.
fn entry_url(cwd: &str) -> String {
    let slash = if cwd.ends_with('/') { "" } else { "/" };
    format!("file://{cwd}{slash}[eval1]")
}

/// The limit that the guest's memory has come up against.
fn memory_limit(program: &Program, vm: &Vm) -> Error {
    vm.host().refused_memory.unwrap_or(Refusal::Own).error(program.limits())
}

fn finish_normally(program: &Program, vm: &mut Vm, state: &State) -> (i32, Option<String>) {
    if state.exit_reason == REASON_MEMORY {
        program.control.lock().failure.get_or_insert(memory_limit(program, vm));
    }
    let most = program.limits().result_bytes;
    if state.value_ptr != 0 && u64::from(state.value_len) > most {
        program.control.lock().failure.get_or_insert(Error::ResultLimit { bytes: most });
        return (137, None);
    }
    let value = (state.value_ptr != 0).then(|| vm.text(state.value_ptr, state.value_len));
    match value.transpose() {
        Ok(value) => (state.exit_code, value),
        Err(error) => {
            program.control.lock().failure.get_or_insert(Error::EngineFault { reason: format!("{error:#}") });
            (137, None)
        }
    }
}

/// Finds the reason of a failure, if nobody has given one.
fn explain(program: &Program, vm: &Vm, error: Option<wasmtime::Error>) {
    let host = vm.host();
    let reason = match (&host.fatal, error) {
        (Some(fatal), _) if fatal.out_of_memory => memory_limit(program, vm),
        (Some(fatal), _) => Error::EngineFault { reason: fatal.message.clone() },
        (None, _) if host.refused_memory.is_some() => memory_limit(program, vm),
        (None, Some(error)) => Error::EngineFault { reason: format!("{error:#}") },
        (None, None) => Error::Canceled,
    };
    program.control.lock().failure.get_or_insert(reason);
}
