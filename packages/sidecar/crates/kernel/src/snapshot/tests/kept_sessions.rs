//! Tests of a root process whose session is kept, in a snapshot.

use super::*;
use crate::processes::Status;
use std::task::Waker;

/// Makes a root program whose session is kept, and a child with the same output.
fn kept() -> (TestKernel, usize) {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    let pid = kernel.processes.enter_root().expect("room");
    let mut process = Process::new(kernel.clone(), pid, "/workspace");
    process.keep_session();
    let mut world = TestKernel { kernel, guests: vec![guest(process)] };
    let child = world.fork(0);
    (world, child)
}

#[test]
fn the_output_of_a_copy_is_open_until_the_last_process_closes_it() {
    let (world, child) = kept();
    let copy = world.copy();
    for world in [&world, &copy] {
        let [root, child] = [0, child].map(|at| world.guests[at].program.process());
        assert!(root.keeps_session && !child.keeps_session && !child.has_open_output(Waker::noop()));
        root.close();
        assert!(root.has_open_output(Waker::noop()), "the child has the output");
        child.close();
        assert!(!root.has_open_output(Waker::noop()));
    }
}

#[test]
fn a_copy_keeps_the_session() {
    let (world, child) = kept();
    let copy = world.copy();
    let [root, child] = [0, child].map(|at| copy.guests[at].program.clone());
    copy.kernel.processes.exited(root.pid(), Status::Code(0), false);
    assert!(!child.is_ending() && copy.kernel.processes.is_live(child.pid()));
}
