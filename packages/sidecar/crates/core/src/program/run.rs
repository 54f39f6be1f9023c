//! The run of a program: makes the VM, starts the guest, runs turns until the program ends, and
//! reports the outcome.
//!
//! [`run`] is an async function that `sched/task.rs` polls. The function waits only at `await`. A
//! panic of the guest's work ends the program (`containment.rs`).
//! When the program must end, the future is dropped together with the guest's unfinished turn.
//! Next: `rest.rs`.

use super::Membership;
use super::Program;
use super::containment::contained;
use super::evaluations::Request;
use super::rest::rest;
use crate::containment::refuse_broken;
use crate::installation::{ImageKind, Installation};
use crate::options::Mode;
use crate::outcome::Timings;
use coldframe_abi::{ExitCode, ExitReason, ProgramMode, StateBlock};
use coldframe_error::Error;
use coldframe_ids::EvaluationId;
use coldframe_kernel as kernel;
use coldframe_kernel::processes::{Command, ProgramKind, lowest_byte};
use coldframe_kernel::text::{Text, Variables};
use coldframe_kernel::usage::Charge;
use coldframe_sys as sys;
use coldframe_vm::abi::{Event, Start};
use coldframe_vm::{MemoryRefusal, StartCost, Vm, checkpoint};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

/// The parameters of a program's start.
pub(crate) struct Launch {
    pub(crate) kind: ProgramKind,
    pub(crate) code: String,
    pub(crate) argv: Vec<Text>,
    pub(crate) exec_argv: Vec<String>,
    pub(crate) env: Variables,
    pub(crate) cwd: String,
}

impl Launch {
    /// Makes the start of a command. The guest reads the command line itself, so the code is empty.
    /// The options name the shell's command, or the binding of a binding's command.
    pub(crate) fn of(command: Command, cwd: String) -> Self {
        let exec_argv = match &command.kind {
            ProgramKind::Shell(name) => vec![name.clone()],
            ProgramKind::Binding(name) => vec!["binding".to_owned(), name.clone()],
            ProgramKind::Node | ProgramKind::Python | ProgramKind::Env => Vec::new(),
        };
        Self { kind: command.kind, code: String::new(), argv: command.argv, exec_argv, env: command.env, cwd }
    }
}

impl Launch {
    /// Makes the start of a program that replaces a child of this program kind, because Python is
    /// not installed. As for a missing command in a shell, the program prints a sentence and exits
    /// with code 127.
    pub(crate) fn without_python(self, error: &Error) -> Self {
        const PRINT: &str = "console.error(process.argv[1]); process.exitCode = 127";
        let name = self.argv.first().cloned().unwrap_or_else(|| "python3".into());
        let sentence = format!("{name}: {error}");
        let argv = vec![name, "-e".into(), PRINT.into(), "--".into(), sentence.into()];
        Self { kind: ProgramKind::Node, argv, exec_argv: Vec::new(), ..self }
    }
}

/// The next work of a program.
enum Step {
    Timer,
    Complete(Vec<kernel::Event>),
    Evaluate(Request),
    /// Ends the running evaluation without running guest code.
    Abandon,
    End,
}

/// The result of running the guest's turns.
enum Exit {
    Normal(StateBlock),
    Failed(Option<wasmtime::Error>),
}

/// The origin of a program's VM.
pub(crate) enum Origin {
    /// The installation's image, and the charge for the program's memory.
    Launch(Launch, Charge),
    /// A snapshot. The VM's first event is RESTORE.
    Restored(Box<RestoredVm>),
}

/// A VM that was restored from a snapshot.
pub(crate) struct RestoredVm {
    pub(crate) vm: Vm,
    pub(crate) cost: StartCost,
    /// The kind of the VM's image.
    pub(crate) image: ImageKind,
}

impl Origin {
    /// Makes the VM. Returns the parameters of a start unless the VM was restored.
    async fn make(self, program: &Arc<Program>, installation: &Installation) -> Result<(RestoredVm, Option<Launch>), Error> {
        let (launch, memory) = match self {
            Self::Launch(launch, memory) => (launch, memory),
            Self::Restored(vm) => return Ok((*vm, None)),
        };
        let image = ImageKind::of(&launch.kind);
        let (vm, cost) = Vm::instantiate(&*installation.factory(image)?, program.clone(), memory).await?;
        Ok((RestoredVm { vm, cost, image }, Some(launch)))
    }
}

/// Runs `program` to its end. The program leaves its runtime before its memory is freed.
pub(crate) async fn run(program: Arc<Program>, installation: Arc<Installation>, origin: Origin, mut membership: Membership) {
    let made = contained(&program, origin.make(&program, &installation)).await;
    drop(installation);
    let made = match made {
        Ok(Ok(made)) => Some(made),
        Ok(Err(error)) => {
            program.control.lock().failure.get_or_insert(error);
            None
        }
        Err(panic) => {
            program.fail(panic);
            None
        }
    };
    let (RestoredVm { mut vm, cost, image }, launch) = match made {
        Some(made) => made,
        None => {
            program.contain_end(|| {
                program.finish_terminal();
                program.process.close();
            });
            membership.leave();
            program.report_exit(ExitCode::Interrupted.code(), None, Timings::default());
            program.end_broken();
            return;
        }
    };
    let mut timings = Timings { memory_map_ns: cost.map_ns, instantiate_ns: cost.instantiate_ns, ..Timings::default() };
    let ended = contained(&program, run_guest(&program, &mut vm, image, launch, &mut timings)).await;
    let (exit_code, value) = ended.unwrap_or_else(|panic| {
        program.fail(panic);
        (ExitCode::Interrupted.code(), None)
    });
    program.contain_end(|| {
        program.finish_terminal();
        program.process.close();
    });
    membership.leave();
    vm.return_charge();
    if program.process.keeps_session {
        // The program may wait long for the end of its output, and needs no memory meanwhile.
        free(&program, vm);
        let mut membership = Some(membership);
        program.wait_for_open_output(exit_code, &mut membership).await;
        program.report_exit(exit_code, value, timings);
        program.end_broken();
        return;
    }
    program.report_exit(exit_code, value, timings);
    program.end_broken();
    drop(membership);
    free(&program, vm);
}

/// Frees the memory of a program that has ended.
fn free(program: &Program, vm: Vm) {
    // Restoring a slot takes a fifth of a millisecond or more. When many programs are ended at
    // once, the next request must not wait until the slots of all of them are restored.
    let is_one_of_many = program.is_ending() && program.scheduler.is_busy();
    if let Some(slot) = vm.vacate().filter(|slot| is_one_of_many || slot.is_large()) {
        program.scheduler.in_background(move || drop(slot));
    }
}

/// Runs the guest from its first event to its end. Returns the exit code and the value.
async fn run_guest(
    program: &Arc<Program>,
    vm: &mut Vm,
    image: ImageKind,
    launch: Option<Launch>,
    timings: &mut Timings,
) -> (i32, Option<String>) {
    let began = sys::monotonic_ns();
    let is_new = launch.is_some();
    if let Some(launch) = launch {
        start(program, vm, launch);
    } else {
        // A restore has completed the operations of connections and calls that are not part of a
        // snapshot. The program receives these events before its timers and its listeners run.
        complete(vm, program.process.operations.take());
    }
    let ready = (is_new && program.mode == Mode::Resident).then_some(|vm: &Vm| {
        timings.guest_start_ns = vm.data().program_began.unwrap_or_else(sys::monotonic_ns).saturating_sub(began);
        *timings
    });
    let exit = give_turns(program, vm, image, ready).await;
    let program_began = vm.data().program_began.unwrap_or(began);
    timings.guest_start_ns = program_began.saturating_sub(began);
    timings.guest_run_ns = sys::monotonic_ns().saturating_sub(program_began);
    match exit {
        Exit::Normal(state) => finish_normally(program, vm, &state),
        Exit::Failed(error) => {
            explain(program, vm, error);
            (ExitCode::Interrupted.code(), None)
        }
    }
}

/// Queues the START event of a new program.
fn start(program: &Program, vm: &mut Vm, launch: Launch) {
    let block = Start {
        pid: program.pid.get(),
        ppid: program.ppid.get(),
        cwd: &launch.cwd,
        url: &entry_url(&launch.cwd),
        source: &launch.code,
        argv: &launch.argv,
        env: &launch.env,
        exec_argv: &launch.exec_argv,
    }
    .encode();
    let mode = match program.mode {
        Mode::Exec => ProgramMode::Exec,
        Mode::Run => ProgramMode::Run,
        Mode::Resident => ProgramMode::Resident,
        Mode::File | Mode::Command => ProgramMode::File,
    };
    vm.deliver(Event::Start { mode, block: &block });
}

/// Runs turns until the program exits or must end. The first event is already queued.
async fn give_turns(
    program: &Arc<Program>,
    vm: &mut Vm,
    image: ImageKind,
    mut ready: Option<impl FnOnce(&Vm) -> Timings>,
) -> Exit {
    loop {
        let state = match turn(program, vm).await {
            Ok(state) => state,
            Err(error) => return Exit::Failed(error),
        };
        if let Some(ready) = ready.take() {
            let timings = ready(vm);
            program.sink.send(|sink| sink.ready(timings));
        }
        program.flush_all();
        let mut abandoned = None;
        if EvaluationId::new(state.eval_done).is_some_and(|done| program.control.lock().evaluations.current_id() == Some(done)) {
            abandoned = (state.eval_reason == ExitReason::Interrupted.number()).then_some(state.eval_done);
            let failure = (state.eval_reason == ExitReason::Memory.number()).then(|| memory_limit(program, vm));
            match value_of(program, vm, &state) {
                Ok(value) => program.finish_evaluation(lowest_byte(state.eval_exit_code).into(), value, failure),
                Err(error) => program.finish_evaluation(ExitCode::Interrupted.code(), None, Some(failure.unwrap_or(error))),
            }
        }
        if state.has_exited() {
            return Exit::Normal(state);
        }
        program.forget_interrupt();
        // A guest that ends its turns without a poll must yield like every other guest.
        checkpoint(&**program).await;
        if let Some(id) = abandoned {
            vm.deliver(Event::Abandon { id });
            continue;
        }
        let step = loop {
            match next_step(program, vm.due(&state)).await {
                Some(step) => break step,
                None => rest(program, vm, image).await,
            }
        };
        match step {
            Step::Timer => vm.deliver(Event::Timer),
            Step::Complete(events) => complete(vm, events),
            Step::Evaluate(Request { id, code, settings, .. }) => {
                let place = settings.place();
                vm.deliver(Event::Eval { id: id.get(), source: &code, flags: settings.flags(), place: &place });
            }
            Step::Abandon => {
                let id = program.control.lock().evaluations.current_id();
                program.finish_evaluation(ExitCode::Interrupted.code(), None, None);
                program.forget_interrupt();
                vm.deliver(Event::Abandon { id: id.map_or(0, EvaluationId::get) });
            }
            Step::End => return Exit::Failed(None),
        }
    }
}

/// Queues the events of completed operations.
fn complete(vm: &mut Vm, events: Vec<kernel::Event>) {
    for kernel::Event { operation, result, bytes } in events {
        vm.deliver(Event::Complete { operation: operation.get(), result, bytes: &bytes });
    }
}

/// Runs one turn. When the program must end, the turn is dropped and the guest does not run again.
/// A signal that stops the program suspends the turn. The beginning of a turn is not suspended,
/// because the events of a restored program must reach the guest before the next snapshot.
async fn turn(program: &Program, vm: &mut Vm) -> Result<StateBlock, Option<wasmtime::Error>> {
    let mut turn = std::pin::pin!(vm.turn());
    let mut has_begun = false;
    poll_fn(|context| {
        if program.must_end.load(Ordering::Acquire) {
            return Poll::Ready(Err(None));
        }
        if std::mem::replace(&mut has_begun, true) && program.process.is_stopped() {
            return wait_for_continuation(program, context);
        }
        let polled = turn.as_mut().poll(context).map_err(Some);
        if polled.is_pending() && program.process.is_stopped() {
            return wait_for_continuation(program, context);
        }
        polled
    })
    .await
}

/// Waits until a stopped program continues or must end. Without the stored waker, nothing would
/// refer to the program's task.
fn wait_for_continuation<T>(program: &Program, context: &Context<'_>) -> Poll<T> {
    let mut control = program.control.lock();
    control.waiting = Some(context.waker().clone());
    if control.failure.is_some() || program.is_interrupted() || !program.process.is_stopped() {
        // The state changed between the checks and the lock, so the task must check again.
        context.waker().wake_by_ref();
    }
    Poll::Pending
}

/// Waits for work. Returns `None` if the program must rest for a snapshot.
async fn next_step(program: &Program, due: Option<u64>) -> Option<Step> {
    if due.is_none() && program.mode != Mode::Resident && !program.process.operations.are_under_way() {
        // No event can ever wake the guest.
        program.end(Error::EngineFault { reason: "the program waits without a timer and without an operation".to_owned() });
    }
    let mut alarm = None;
    let step = poll_fn(|context| {
        if program.must_end.load(Ordering::Acquire) {
            return Poll::Ready(Some(Step::End));
        }
        if program.is_interrupted() {
            return Poll::Ready(Some(Step::Abandon));
        }
        if program.quiesce.must_rest() {
            return Poll::Ready(None);
        }
        if program.process.is_stopped() {
            return wait_for_continuation(program, context);
        }
        if let Some(request) = program.next_evaluation() {
            return Poll::Ready(Some(Step::Evaluate(request)));
        }
        let events = program.process.operations.take();
        if !events.is_empty() {
            return Poll::Ready(Some(Step::Complete(events)));
        }
        if due.is_some_and(|due| sys::monotonic_ns() >= due) {
            return Poll::Ready(Some(Step::Timer));
        }
        let mut control = program.control.lock();
        if control.failure.is_some() || control.evaluations.can_start() || program.is_interrupted() {
            // Work arrived between the checks and the lock, so the task must check again.
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

/// Returns the entry module's URL, which is in `import.meta.url` and in stack traces. `node
/// --input-type=module -e` uses an equal URL.
fn entry_url(cwd: &str) -> String {
    let slash = if cwd.ends_with('/') { "" } else { "/" };
    format!("file://{cwd}{slash}[eval1]")
}

/// Returns the error of the limit that refused memory to the guest.
fn memory_limit(program: &Program, vm: &Vm) -> Error {
    vm.data().refused_memory.unwrap_or(MemoryRefusal::Process).error(program.limits())
}

fn finish_normally(program: &Program, vm: &mut Vm, state: &StateBlock) -> (i32, Option<String>) {
    if state.exit_reason == ExitReason::Memory.number() {
        program.control.lock().failure.get_or_insert(memory_limit(program, vm));
    }
    match value_of(program, vm, state) {
        Ok(value) => (lowest_byte(state.exit_code).into(), value),
        Err(error) => {
            program.control.lock().failure.get_or_insert(error);
            (ExitCode::Interrupted.code(), None)
        }
    }
}

/// Returns the JSON text that the program or the evaluation returned. Fails if the text is longer
/// than the limit, or outside the guest's memory.
fn value_of(program: &Program, vm: &mut Vm, state: &StateBlock) -> Result<Option<String>, Error> {
    if state.value_ptr == 0 {
        return Ok(None);
    }
    let most = program.limits().result_bytes;
    if u64::from(state.value_len) > most {
        return Err(Error::ResultLimit { bytes: most });
    }
    let value = vm.text(state.value_ptr, state.value_len);
    value.map(Some).map_err(|error| Error::EngineFault { reason: format!("{error:#}") })
}

/// Records the reason of a failure, unless the program already has a reason to end.
fn explain(program: &Program, vm: &Vm, error: Option<wasmtime::Error>) {
    let data = vm.data();
    // The calls of a broken runtime fail before all of its programs have been ended.
    let broken = refuse_broken(&program.health).err();
    let reason = broken.unwrap_or_else(|| match (&data.fatal, error) {
        (Some(fatal), _) if fatal.out_of_memory => memory_limit(program, vm),
        (Some(fatal), _) => Error::EngineFault { reason: fatal.message.clone() },
        (None, _) if data.refused_memory.is_some() => memory_limit(program, vm),
        (None, Some(error)) => Error::EngineFault { reason: format!("{error:#}") },
        (None, None) => Error::Canceled,
    });
    program.control.lock().failure.get_or_insert(reason);
}
