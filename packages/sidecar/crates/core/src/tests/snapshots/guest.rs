//! A resident program, driven by the test.

use super::*;
use crate::kernel::usage::{Charge, Resource};
use crate::kernel::{Kernel, Process as KernelProcess};
use crate::memory::{Remains, Save};
use crate::options::Limits;
use crate::program::{Parts, Program};
use crate::vm::abi::{Event, Restore, Start, State};
use crate::vm::saved::Saved;
use crate::vm::{Factory, Vm};
use std::future::Future;
use std::pin::pin;
use std::sync::Weak;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

pub(super) struct Guest {
    pub(super) vm: Vm,
    pub(super) factory: Arc<Factory>,
    program: Arc<Program>,
    told: Receiver<Told>,
    evaluations: u32,
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.program.process.close();
    }
}

/// A saved VM, and what that took.
pub(super) struct Snapshot {
    pub(super) saved: Arc<Saved>,
    /// Bytes that were copied, and bytes that were taken over as they were.
    pub(super) copied: usize,
    pub(super) frozen: usize,
}

/// Polls until it is ready: the guest makes way now and then.
pub(super) fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

pub(super) fn roomy() -> Limits {
    Limits { memory_bytes: 2 << 30, total_memory_bytes: 4 << 30, cpu_ms: 300_000, ..Limits::default() }
}

/// What a VM is made for, without one: everything of a program that lies above.
pub(super) type Above = (Arc<Program>, Receiver<Told>);

impl Guest {
    pub(super) fn above(core: &Core) -> Above {
        program(core, roomy())
    }

    /// As [`Guest::of`], with a program that exists already.
    pub(super) fn under(above: Above, factory: Arc<Factory>, saved: &Saved) -> Self {
        let (program, told) = above;
        let (vm, _cost) = wait(Vm::restore(&factory, saved, &program, unpaid(&program), Restore::default())).expect("a VM");
        Self { vm, factory, program, told, evaluations: 1_000 }
    }
}

fn program(core: &Core, limits: Limits) -> (Arc<Program>, Receiver<Told>) {
    let (sink, told) = Ear::new();
    let kernel = Arc::new(Kernel::new(&limits));
    let pid = kernel.processes.enter_root().expect("a pid");
    let process = KernelProcess::new(kernel, pid, "/");
    let program = Program::new(Parts {
        command: "node".to_owned(),
        ppid: 1,
        mode: Mode::Resident,
        streams: Streams { stdout: true, stderr: true },
        stdin: Vec::new(),
        scheduler: core.shared().scheduler().clone(),
        sink,
        home: Weak::new(),
        process,
    });
    (program, told)
}

fn unpaid(program: &Program) -> Charge {
    Charge::none(&program.process.kernel.usage, Resource::Memory)
}

fn node(core: &Core) -> Arc<Factory> {
    core.shared().factory(&crate::kernel::processes::Image::Node).expect("the image")
}

impl Guest {
    pub(super) fn start(core: &Core) -> Self {
        Self::start_with(core, roomy())
    }

    pub(super) fn start_with(core: &Core, limits: Limits) -> Self {
        let (program, told) = program(core, limits);
        let factory = node(core);
        let (mut vm, _cost) = wait(Vm::instantiate(&factory, &program, unpaid(&program))).expect("a VM");
        let block =
            Start { pid: program.pid, ppid: 1, cwd: "/", url: "file:///main", source: "", argv: &[], env: &[], exec_argv: &[] };
        vm.deliver(Event::Start { mode: 2, block: &block.encode() });
        let mut guest = Self { vm, factory, program, told, evaluations: 0 };
        guest.turn();
        guest
    }

    /// Another program out of a saved one, which has not run yet.
    pub(super) fn of(core: &Core, saved: &Saved) -> Self {
        Self::try_of(core, saved, roomy(), Restore { pid: 2, ppid: 1, ..Restore::default() }).expect("a VM")
    }

    pub(super) fn try_of(core: &Core, saved: &Saved, limits: Limits, restore: Restore) -> Result<Self, Error> {
        let (program, told) = program(core, limits);
        let factory = node(core);
        let (vm, _cost) = wait(Vm::restore(&factory, saved, &program, unpaid(&program), restore))?;
        Ok(Self { vm, factory, program, told, evaluations: 1_000 })
    }

    /// Puts a VM of a saved one in the place of the present one, whatever that is in the middle of.
    pub(super) fn rollback(&mut self, saved: &Saved) -> Remains {
        let restore = Restore { pid: self.program.pid, ppid: 1, ..Restore::default() };
        let made = wait(Vm::restore(&self.factory, saved, &self.program, unpaid(&self.program), restore));
        let before = std::mem::replace(&mut self.vm, made.expect("a VM").0);
        before.leave().expect("it lived")
    }

    /// One turn; how the guest stands after it.
    pub(super) fn turn(&mut self) -> State {
        self.program.begin_slice(Duration::from_secs(60));
        let state = wait(self.vm.turn()).expect("a turn");
        self.program.end_slice();
        self.program.flush_all();
        state
    }

    /// A turn that makes way at once and is then given up, as when a program must end.
    pub(super) fn cut_turn(&mut self) {
        self.program.begin_slice(Duration::ZERO);
        {
            let mut turn = pin!(self.vm.turn());
            assert!(turn.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending(), "it makes way");
        }
        self.program.end_slice();
    }

    pub(super) fn save(&mut self) -> Snapshot {
        let (saved, Save { copied, frozen, .. }) = self.vm.take().expect("a save");
        Snapshot { saved, copied, frozen }
    }

    /// What it has written since the last look.
    pub(super) fn output(&mut self) -> String {
        let mut all = Vec::new();
        while let Ok(told) = self.told.try_recv() {
            if let Told::Output(_, _, bytes) = told {
                self.program.credit(bytes.len() as u64);
                all.extend_from_slice(&bytes);
            }
        }
        text(&all)
    }

    /// Evaluates `code` and what it waits for; what the guest has written by then, without the last line's end.
    pub(super) fn eval(&mut self, code: &str) -> String {
        self.evaluations += 1;
        self.vm.deliver(Event::Eval { id: self.evaluations, source: code });
        let began = Instant::now();
        loop {
            let state = self.turn();
            if state.eval_done == self.evaluations {
                break;
            }
            self.sleep(&state);
            assert!(began.elapsed() < PATIENCE, "{code} does not end; it wrote {}", self.output());
        }
        self.output().trim_end().to_owned()
    }

    /// Runs its timers until `done` says that it has written enough.
    pub(super) fn run_until(&mut self, done: impl Fn(&str) -> bool) -> String {
        let mut written = String::new();
        let began = Instant::now();
        loop {
            let state = self.turn();
            written.push_str(&self.output());
            if done(&written) {
                return written;
            }
            assert!(began.elapsed() < PATIENCE, "it only wrote {written:?}");
            self.sleep(&state);
        }
    }

    fn sleep(&mut self, state: &State) {
        let due = self.vm.due(state).expect("the guest waits for nothing");
        std::thread::sleep(Duration::from_nanos(due.saturating_sub(coldframe_sys::monotonic_ns())));
        self.vm.deliver(Event::Timer);
    }
}
