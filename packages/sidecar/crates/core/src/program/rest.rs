//! A program at rest: between two turns, while a value of its runtime is taken. Nothing of it runs; it can still be told to end, and so can its
//! evaluation: then it rests no more. Next: `saved.rs`.

use super::moment::{Blocked, Rest};
use super::saved::SavedVm;
use super::{Moment, Program};
use crate::vm::Vm;
use coldframe_error::Error;
use coldframe_sys as sys;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

/// A place among those who rest, given up in any case.
struct Place<'a>(&'a Program);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.moment().stir(self.0.pid);
    }
}

/// Rests until all may go on.
pub(super) async fn rest(program: &Arc<Program>, vm: &mut Vm, is_shell: bool) {
    let _place = Place(program);
    poll_fn(|context| {
        loop {
            if program.must_end.load(Ordering::Acquire) || program.is_interrupted() {
                return Poll::Ready(());
            }
            match program.moment().rest(program, context.waker()) {
                Rest::Go => return Poll::Ready(()),
                Rest::Wait => return Poll::Pending,
                Rest::Save => {
                    let saved = save(program, vm, is_shell);
                    program.aside(|| program.moment().deposit(program, saved));
                }
            }
        }
    })
    .await;
}

fn save(program: &Program, vm: &mut Vm, is_shell: bool) -> Result<SavedVm, Error> {
    let saved = program.aside(|| vm.save());
    // The value has what it has computed until now.
    program.settle();
    saved.map(|saved| SavedVm { saved, is_shell })
}

impl Program {
    /// That of its runtime's kernel.
    pub(super) fn moment(&self) -> &Moment {
        &self.process.kernel.moment
    }

    /// It waits in the middle of a turn, while this lives: perhaps for another program.
    pub(crate) fn block(&self) -> Blocked<'_> {
        self.moment().block()
    }

    /// Does what is not its own on its thread: the CPU time does not count for its limit.
    fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        let began = sys::thread_usage().cpu_ns;
        let done = work();
        let cpu_ns = sys::thread_usage().cpu_ns.saturating_sub(began);
        self.cpu_baseline.fetch_add(cpu_ns, Ordering::Relaxed);
        if !self.is_root()
            && let Some(root) = self.process.kernel.processes.root_of(self.pid)
        {
            root.cpu_baseline.fetch_add(cpu_ns, Ordering::Relaxed);
        }
        done
    }
}
