//! A program at rest: between two turns, while a snapshot of its runtime is taken.
//!
//! No code of the program runs. A request can still end the program or its evaluation, which ends
//! the program's rest. Next: `snapshot.rs`.

use super::Program;
use super::quiesce::RestStep;
use super::snapshot::VmState;
use crate::installation::ImageKind;
use coldframe_error::Error;
use coldframe_sys as sys;
use coldframe_vm::Vm;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

/// A program's entry in the resting programs, removed when the guard is dropped.
struct RestGuard<'a>(&'a Program);

impl Drop for RestGuard<'_> {
    fn drop(&mut self) {
        self.0.quiesce.leave_rest(self.0.pid);
    }
}

/// Rests until all programs may resume, the program must end, or its evaluation is interrupted.
pub(super) async fn rest(program: &Arc<Program>, vm: &mut Vm, image: ImageKind) {
    let _resting = RestGuard(program);
    poll_fn(|context| {
        loop {
            if program.must_end.load(Ordering::Acquire) || program.is_interrupted() {
                return Poll::Ready(());
            }
            match program.quiesce.rest(program, context.waker()) {
                RestStep::Resume => return Poll::Ready(()),
                RestStep::Wait => return Poll::Pending,
                RestStep::Save => {
                    let saved = snapshot(program, vm, image);
                    program.uncharged(|| program.quiesce.deposit(program, saved));
                }
            }
        }
    })
    .await;
}

fn snapshot(program: &Program, vm: &mut Vm, image: ImageKind) -> Result<VmState, Error> {
    let saved = program.uncharged(|| vm.snapshot());
    // The snapshot includes the CPU time spent until now.
    program.settle();
    saved.map(|snapshot| VmState { snapshot, image })
}

impl Program {
    /// Runs `work` on the program's thread. The CPU time of `work` does not count for the program's
    /// limit.
    fn uncharged<T>(&self, work: impl FnOnce() -> T) -> T {
        let began = sys::thread_usage().cpu_ns;
        let done = work();
        let cpu_ns = sys::thread_usage().cpu_ns.saturating_sub(began);
        self.cpu_baseline.fetch_add(cpu_ns, Ordering::Relaxed);
        match (self.root(), self.tree.get()) {
            (Some(root), _) => {
                root.cpu_baseline.fetch_add(cpu_ns, Ordering::Relaxed);
            }
            (None, Some(tree)) if !self.is_root() => tree.exempt(cpu_ns),
            _ => {}
        }
        done
    }
}
