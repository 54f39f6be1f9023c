//! A resident program that a test drives turn by turn. Next: `restores.rs`.

use super::*;
use crate::budget::{BudgetUse, RuntimeBudget};
use crate::program::{Parts, Program, Quiesce};
use crate::runtime::Inner;
use crate::sched::Scheduled;
use coldframe_abi::{ProgramMode, StateBlock};
use coldframe_ids::Pid;
use coldframe_kernel::Limits;
use coldframe_kernel::usage::{Charge, Resource};
use coldframe_kernel::{Kernel, Process as KernelProcess};
use coldframe_memory::{Save, VacatedSlot};
use coldframe_vm::VmSnapshot;
use coldframe_vm::abi::{Event, Restore, Start};
use coldframe_vm::{Factory, Vm};
use std::future::Future;
use std::pin::pin;
use std::sync::Weak;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

pub(super) struct Guest {
    pub(super) vm: Vm,
    pub(super) factory: Arc<Factory>,
    program: Arc<Program>,
    events: Receiver<SinkEvent>,
    evaluations: u32,
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.program.process.close();
    }
}

/// A VM snapshot, and its costs.
pub(super) struct Snapshot {
    pub(super) saved: Arc<VmSnapshot>,
    /// The number of bytes that the save copied.
    pub(super) copied: usize,
    pub(super) frozen: usize,
}

/// Polls `future` until the future is ready. The guest yields at times.
pub(super) fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

pub(super) fn large_limits() -> Limits {
    Limits { memory_bytes: 2 << 30, total_memory_bytes: 4 << 30, cpu_ms: 300_000, ..Limits::default() }
}

/// A program without a VM, and its sink's events.
pub(super) type BareProgram = (Arc<Program>, Receiver<SinkEvent>);

impl Guest {
    pub(super) fn bare_program(core: &Core) -> BareProgram {
        program(core, large_limits())
    }

    /// Restores `saved` like [`Guest::of`], for an existing program.
    pub(super) fn with_program(bare: BareProgram, factory: Arc<Factory>, saved: &VmSnapshot) -> Self {
        let (program, events) = bare;
        let (vm, _cost) =
            wait(Vm::restore(&factory, saved, program.clone(), uncharged(&program), Restore::default())).expect("a VM");
        Self { vm, factory, program, events, evaluations: 1_000 }
    }
}

fn program(core: &Core, limits: Limits) -> (Arc<Program>, Receiver<SinkEvent>) {
    let (sink, events) = TestSink::new();
    let kernel = Arc::new(Kernel::new(&limits));
    let pid = kernel.processes.enter_root().expect("a pid");
    let process = KernelProcess::new(kernel, pid, "/");
    let program = Program::new(Parts {
        command: "node".to_owned(),
        ppid: Pid::INIT,
        mode: Mode::Resident,
        streams: Streams { stdout: true, stderr: true },
        stdin: Vec::new(),
        scheduler: core.scheduler().clone(),
        sink,
        home: Weak::<Inner>::new(),
        quiesce: Quiesce::new(core.scheduler().clone()),
        process,
        budget: Arc::new(RuntimeBudget::new(&limits, BudgetUse::default())),
        freeze: Arc::default(),
        health: Arc::default(),
    });
    (program, events)
}

fn uncharged(program: &Program) -> Charge {
    Charge::none(&program.process.kernel.usage, Resource::Memory)
}

fn node(core: &Core) -> Arc<Factory> {
    core.installation().factory(crate::installation::ImageKind::Node).expect("the image")
}

impl Guest {
    pub(super) fn start(core: &Core) -> Self {
        Self::start_with(core, large_limits())
    }

    pub(super) fn start_with(core: &Core, limits: Limits) -> Self {
        let (program, events) = program(core, limits);
        let factory = node(core);
        let (mut vm, _cost) = wait(Vm::instantiate(&factory, program.clone(), uncharged(&program))).expect("a VM");
        let block = Start {
            pid: program.pid.get(),
            ppid: 1,
            cwd: "/",
            url: "file:///main",
            source: "",
            argv: &["node"; 0],
            env: &[],
            exec_argv: &[],
        };
        vm.deliver(Event::Start { mode: ProgramMode::Resident, block: &block.encode() });
        let mut guest = Self { vm, factory, program, events, evaluations: 0 };
        guest.turn();
        guest
    }

    /// Restores `saved` in another program, which has not run yet.
    pub(super) fn of(core: &Core, saved: &VmSnapshot) -> Self {
        Self::try_of(core, saved, large_limits(), Restore { pid: 2, ppid: 1, ..Restore::default() }).expect("a VM")
    }

    pub(super) fn try_of(core: &Core, saved: &VmSnapshot, limits: Limits, restore: Restore) -> Result<Self, Error> {
        let (program, events) = program(core, limits);
        let factory = node(core);
        let (vm, _cost) = wait(Vm::restore(&factory, saved, program.clone(), uncharged(&program), restore))?;
        Ok(Self { vm, factory, program, events, evaluations: 1_000 })
    }

    /// Replaces the present VM by a VM of `saved`, even in the middle of a turn.
    pub(super) fn rollback(&mut self, saved: &VmSnapshot) -> VacatedSlot {
        let restore = Restore { pid: self.program.pid.get(), ppid: 1, ..Restore::default() };
        let made = wait(Vm::restore(&self.factory, saved, self.program.clone(), uncharged(&self.program), restore));
        let before = std::mem::replace(&mut self.vm, made.expect("a VM").0);
        before.vacate().expect("a live VM")
    }

    /// Runs one turn. Returns the guest's state after the turn.
    pub(super) fn turn(&mut self) -> StateBlock {
        self.program.begin_slice(Duration::from_secs(60));
        let state = wait(self.vm.turn()).expect("a turn");
        self.program.end_slice();
        self.program.flush_all();
        state
    }

    /// Starts a turn and drops the turn at the guest's first yield, like the end of a program.
    pub(super) fn interrupt_turn(&mut self) {
        self.program.begin_slice(Duration::ZERO);
        {
            let mut turn = pin!(self.vm.turn());
            assert!(turn.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending(), "the guest yields");
        }
        self.program.end_slice();
    }

    pub(super) fn snapshot(&mut self) -> Snapshot {
        let (saved, Save { copied, frozen, .. }) = self.vm.take().expect("a save");
        Snapshot { saved, copied, frozen }
    }

    /// Returns the output since the last call.
    pub(super) fn output(&mut self) -> String {
        let mut all = Vec::new();
        while let Ok(events) = self.events.try_recv() {
            if let SinkEvent::Output(_, _, bytes) = events {
                self.program.credit(bytes.len() as u64);
                all.extend_from_slice(&bytes);
            }
        }
        text(&all)
    }

    /// Evaluates `code` and runs the event loop until `code` has settled. Returns the output
    /// without the last line break.
    pub(super) fn eval(&mut self, code: &str) -> String {
        self.evaluations += 1;
        self.vm.deliver(Event::Eval { id: self.evaluations, source: code, flags: 0, place: &[] });
        let began = Instant::now();
        loop {
            let state = self.turn();
            if state.eval_done == self.evaluations {
                break;
            }
            self.sleep(&state);
            assert!(began.elapsed() < STEP_TIMEOUT, "{code} does not end; the output is {}", self.output());
        }
        self.output().trim_end().to_owned()
    }

    /// Runs the guest's timers until `done` accepts the output. Returns the output.
    pub(super) fn run_until(&mut self, done: impl Fn(&str) -> bool) -> String {
        let mut written = String::new();
        let began = Instant::now();
        loop {
            let state = self.turn();
            written.push_str(&self.output());
            if done(&written) {
                return written;
            }
            assert!(began.elapsed() < STEP_TIMEOUT, "the output is {written:?}");
            self.sleep(&state);
        }
    }

    fn sleep(&mut self, state: &StateBlock) {
        let due = self.vm.due(state).expect("a timer");
        std::thread::sleep(Duration::from_nanos(due.saturating_sub(coldframe_sys::monotonic_ns())));
        self.vm.deliver(Event::Timer);
    }
}
