//! The table's behaviour, call by call, and calls with numbers that nobody should send.

use super::status::Status;
use super::table::{Table, Waiter};
use crate::limits::Limits;
use crate::testing::{FakeCaller, operation};
use crate::{Arguments, Kernel, call};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use proptest::prelude::*;
use std::sync::Arc;

const DONE: Status = Status::Code(0);

fn waiter(number: u32, reaps: bool) -> Waiter {
    Waiter { operation: operation(number), reaps }
}

/// A root, its child, and a detached child.
fn family() -> (Table, Pid, Pid, Pid) {
    let mut table = Table::new(16);
    let root = table.enter_root().expect("room");
    let child = table.enter_child(root, false).expect("room");
    let detached = table.enter_child(root, true).expect("room");
    (table, root, child, detached)
}

#[test]
fn an_end_waits_for_the_parent_and_is_told_once() {
    let (mut table, root, child, detached) = family();
    assert_eq!(table.wait(child, root, waiter(1, true)), Err(Errno::ECHILD), "no child of the one that asks");
    assert_eq!(table.wait(root, Pid::new(999), waiter(1, true)), Err(Errno::ECHILD));
    assert_eq!(table.exited(child, Status::Code(3), false).told, None);
    assert_eq!(table.targets(root, i64::from(child.get())), Ok(vec![child]), "it can still be named");
    assert_eq!(table.wait(root, child, waiter(1, true)), Ok(Some(Status::Code(3))));
    assert_eq!(table.wait(root, child, waiter(1, true)), Err(Errno::ECHILD));
    assert_eq!(table.wait(root, detached, waiter(7, true)), Ok(None));
    assert_eq!(table.wait(root, detached, waiter(8, true)), Err(Errno::EBUSY));
    assert_eq!(table.exited(detached, DONE, false).told, Some((root, operation(7))));
    assert_eq!(table.exited(detached, DONE, false), Default::default(), "nobody ends twice");
    assert_eq!(table.entries.len(), 1);
}

#[test]
fn reaping_takes_an_end_once_and_leaves_no_waiter_behind() {
    let mut table = Table::new(8);
    let root = table.enter_root().expect("room");
    let child = table.enter_child(root, false).expect("room");
    assert_eq!(table.reap(root, child), Err(Errno::EAGAIN));
    assert_eq!(table.reap(child, root), Err(Errno::ECHILD), "no child of the one that asks");
    // Whoever looked while it lived is not told of its end: it is there for the next look.
    assert_eq!(table.exited(child, Status::Code(7), false).told, None);
    assert_eq!(table.reap(root, child), Ok(Status::Code(7)));
    assert_eq!(table.reap(root, child), Err(Errno::ECHILD));
}

#[test]
fn a_look_does_not_reap() {
    let (mut table, root, child, _) = family();
    assert_eq!(table.wait(root, child, waiter(5, false)), Ok(None));
    assert_eq!(table.exited(child, DONE, false).told, Some((root, operation(5))));
    assert_eq!(table.wait(root, child, waiter(6, false)), Ok(Some(DONE)));
    assert_eq!(table.wait(root, child, waiter(6, true)), Ok(Some(DONE)));
    assert_eq!(table.wait(root, child, waiter(6, true)), Err(Errno::ECHILD));
}

#[test]
fn the_end_of_a_root_ends_its_session_and_leaves_what_is_detached() {
    let (mut table, root, child, detached) = family();
    let grandchild = table.enter_child(child, false).expect("room");
    let of_detached = table.enter_child(detached, false).expect("room");
    assert_eq!(table.exited(child, DONE, false).ended, [], "a child's children live on");
    assert_eq!(table.parent(grandchild), Pid::INIT);
    assert_eq!(table.exited(root, DONE, false).ended, [grandchild]);
    assert_eq!((table.parent(detached), table.parent(of_detached)), (Pid::INIT, detached));
    table.exited(grandchild, DONE, false);
    assert_eq!(table.entries.keys().copied().collect::<Vec<_>>(), [detached, of_detached]);
}

#[test]
fn a_caller_who_ends_a_root_ends_everything_under_it() {
    let (mut table, root, child, detached) = family();
    let of_detached = table.enter_child(detached, false).expect("room");
    let other = table.enter_root().expect("room");
    let mut ended = table.exited(root, Status::Signal(9), true).ended;
    ended.sort_unstable();
    assert_eq!(ended, [child, detached, of_detached]);
    assert!(table.entries.contains_key(&other));
    assert_eq!(table.enter_child(child, true), Err(Errno::EAGAIN), "who is ended starts nothing any more");
}

#[test]
fn kill_means_a_process_a_group_or_all_others() {
    let (mut table, root, child, detached) = family();
    let other = table.enter_root().expect("room");
    assert_eq!(table.targets(root, 0), Ok(vec![root, child]));
    assert_eq!(table.targets(root, -i64::from(detached.get())), Ok(vec![detached]));
    assert_eq!(table.targets(child, -1), Ok(vec![root, detached, other]));
    assert_eq!(table.targets(root, 1), Err(Errno::EPERM));
    for number in [999, -999, i64::MAX, i64::MIN, 1 << 33] {
        assert_eq!(table.targets(root, number), Err(Errno::ESRCH), "{number}");
    }
    assert_eq!(table.set_group(root, Some(child), None), Ok(()));
    assert_eq!(table.targets(root, -i64::from(child.get())), Ok(vec![child]));
    assert_eq!(table.set_group(root, Some(child), Some(root)), Ok(()));
    assert_eq!(table.set_group(root, Some(child), Some(detached)), Err(Errno::EPERM), "another session");
    assert_eq!(table.set_group(child, Some(root), None), Err(Errno::ESRCH), "no child of the one that asks");
    assert_eq!(table.set_group(root, None, None), Err(Errno::EPERM), "the first of a session");
}

#[test]
fn the_limit_counts_who_has_ended_and_was_not_asked_about() {
    let mut table = Table::new(3);
    let root = table.enter_root().expect("room");
    let child = table.enter_child(root, false).expect("room");
    table.enter_child(root, false).expect("room");
    assert_eq!(table.enter_child(root, false), Err(Errno::EAGAIN));
    table.exited(child, DONE, false);
    assert_eq!(table.enter_root(), Err(Errno::EAGAIN));
    table.wait(root, child, waiter(1, true)).expect("a child");
    assert!(table.enter_child(root, false).is_ok());
}

#[test]
fn a_number_in_use_as_a_group_is_not_given_again() {
    let mut table = Table::new(4);
    let root = table.enter_root().expect("room");
    for _ in 0..10_000 {
        let pid = table.enter_child(root, true).expect("room");
        assert!(pid != root && pid > Pid::INIT);
        table.exited(pid, DONE, false);
        table.wait(root, pid, waiter(1, true)).expect("a child");
    }
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![4 => -3_i64..70, 1 => any::<i64>(), 1 => Just(i64::MIN), 1 => Just(i64::MAX), 1 => Just(1 << 32)]
}

proptest! {
    /// Whatever a program sends: nothing breaks, its own table entry stays, and the neighbour is not ended except by a signal it may be sent.
    #[test]
    fn forged_calls_do_no_harm(calls in prop::collection::vec((0x400_u32..0x40c, prop::array::uniform8(number())), 1..60)) {
        let (own, other) = (Arc::new(Kernel::new(&Limits::default())), Arc::new(Kernel::new(&Limits::default())));
        let (program, stranger) = (FakeCaller::root(&own, "/"), FakeCaller::root(&other, "/"));
        let mut memory = vec![0_u8; 256];
        for (at, integers) in calls {
            let answer = call(&program, at, &mut Arguments::new(integers, &mut memory));
            if let Ok(value) = answer {
                prop_assert!(value >= 0);
            }
        }
        prop_assert!(!stranger.is_ending(), "nobody of another runtime is reached");
        prop_assert_eq!(own.counts().0, 1);
    }
}
