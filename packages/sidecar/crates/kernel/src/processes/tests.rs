//! Tests of the process table call by call, and of system calls with arbitrary numbers.

use super::status::Status;
use super::table::{Change, Placement, ProcessTable, Waiter};
use crate::limits::Limits;
use crate::testing::{FakeCaller, operation};
use crate::{Arguments, Kernel, call};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use proptest::prelude::*;
use std::sync::Arc;

const DONE: Status = Status::Code(0);

fn waiter(number: u32, reaps: bool) -> Waiter {
    Waiter { operation: operation(number), reaps, changes: 0 }
}

/// Makes a root process, a child of the root process, and a detached child of the root process.
fn family() -> (ProcessTable, Pid, Pid, Pid) {
    let mut table = ProcessTable::new(16);
    let root = table.enter_root().expect("room");
    let child = table.enter_child(root, Placement::OfParent).expect("room");
    let detached = table.enter_child(root, Placement::NewSession).expect("room");
    (table, root, child, detached)
}

#[test]
fn an_end_waits_for_the_parent_and_is_reported_once() {
    let (mut table, root, child, detached) = family();
    assert_eq!(table.wait(child, root, waiter(1, true)), Err(Errno::ECHILD), "not a child of the caller");
    assert_eq!(table.wait(root, Pid::new(999), waiter(1, true)), Err(Errno::ECHILD));
    assert_eq!(table.exited(child, Status::Code(3), false).notified, None);
    assert_eq!(table.targets(root, i64::from(child.get())), Ok(vec![child]), "the ended child still has its pid");
    assert_eq!(table.wait(root, child, waiter(1, true)), Ok(Some(Status::Code(3).number())));
    assert_eq!(table.wait(root, child, waiter(1, true)), Err(Errno::ECHILD));
    assert_eq!(table.wait(root, detached, waiter(7, true)), Ok(None));
    assert_eq!(table.wait(root, detached, waiter(8, true)), Err(Errno::EBUSY));
    assert_eq!(table.exited(detached, DONE, false).notified, Some((root, operation(7))));
    assert_eq!(table.exited(detached, DONE, false), Default::default(), "a process ends once");
    assert_eq!(table.entries.len(), 1);
}

#[test]
fn a_kept_session_ends_only_if_the_embedder_ends_its_root_process() {
    for by_caller in [false, true] {
        let (mut table, root, child, detached) = family();
        table.keep_session(root);
        let ended = table.exited(root, DONE, by_caller).ended;
        assert_eq!(ended, if by_caller { vec![child, detached] } else { Vec::new() });
        assert_eq!((table.parent(child), table.enter_child(child, Placement::OfParent).is_ok()), (Pid::INIT, !by_caller));
    }
}

#[test]
fn the_pid_of_an_ended_process_with_open_output_is_not_assigned_again() {
    let mut table = ProcessTable::new(4);
    let root = table.enter_root().expect("room");
    table.exited(root, DONE, false);
    table.reserve(root, true);
    table.last = Pid::INIT;
    let next = table.enter_root().expect("room");
    assert_ne!(next, root);
    table.remove(next);
    table.reserve(root, false);
    table.last = Pid::INIT;
    assert_eq!(table.enter_root(), Ok(root));
}

#[test]
fn reaping_returns_an_end_once_and_leaves_no_waiter() {
    let mut table = ProcessTable::new(8);
    let root = table.enter_root().expect("room");
    let child = table.enter_child(root, Placement::OfParent).expect("room");
    assert_eq!(table.reap(root, child), Err(Errno::EAGAIN));
    assert_eq!(table.reap(child, root), Err(Errno::ECHILD), "not a child of the caller");
    // An earlier reap, which failed with `EAGAIN`, left no waiter, so the ended child stays in the
    // table for this reap.
    assert_eq!(table.exited(child, Status::Code(7), false).notified, None);
    assert_eq!(table.reap(root, child), Ok(Status::Code(7)));
    assert_eq!(table.reap(root, child), Err(Errno::ECHILD));
}

#[test]
fn a_wait_without_reaping_keeps_the_entry() {
    let (mut table, root, child, _) = family();
    assert_eq!(table.wait(root, child, waiter(5, false)), Ok(None));
    assert_eq!(table.exited(child, DONE, false).notified, Some((root, operation(5))));
    assert_eq!(table.wait(root, child, waiter(6, false)), Ok(Some(DONE.number())));
    assert_eq!(table.wait(root, child, waiter(6, true)), Ok(Some(DONE.number())));
    assert_eq!(table.wait(root, child, waiter(6, true)), Err(Errno::ECHILD));
}

#[test]
fn the_end_of_a_root_ends_its_session_but_not_detached_processes() {
    let (mut table, root, child, detached) = family();
    let grandchild = table.enter_child(child, Placement::OfParent).expect("room");
    let of_detached = table.enter_child(detached, Placement::OfParent).expect("room");
    assert_eq!(table.exited(child, DONE, false).ended, [], "a child's children continue");
    assert_eq!(table.parent(grandchild), Pid::INIT);
    assert_eq!(table.exited(root, DONE, false).ended, [grandchild]);
    assert_eq!((table.parent(detached), table.parent(of_detached)), (Pid::INIT, detached));
    table.exited(grandchild, DONE, false);
    assert_eq!(table.entries.keys().copied().collect::<Vec<_>>(), [detached, of_detached]);
}

#[test]
fn an_embedder_that_ends_a_root_ends_all_processes_under_it() {
    let (mut table, root, child, detached) = family();
    let of_detached = table.enter_child(detached, Placement::OfParent).expect("room");
    let other = table.enter_root().expect("room");
    let mut ended = table.exited(root, Status::Signal(9), true).ended;
    ended.sort_unstable();
    assert_eq!(ended, [child, detached, of_detached]);
    assert!(table.entries.contains_key(&other));
    assert_eq!(table.enter_child(child, Placement::NewSession), Err(Errno::EAGAIN), "a process that must end starts no children");
}

#[test]
fn kill_addresses_a_process_a_group_or_all_others() {
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
    assert_eq!(table.set_group(child, Some(root), None), Err(Errno::ESRCH), "not a child of the caller");
    assert_eq!(table.set_group(root, None, None), Err(Errno::EPERM), "the first of a session");
}

#[test]
fn a_child_starts_in_a_group_of_its_session() {
    let (mut table, root, child, detached) = family();
    let leader = table.enter_child(root, Placement::NewGroup).expect("room");
    let member = table.enter_child(root, Placement::Group(leader)).expect("room");
    assert_eq!((table.group(member), table.session(member)), (Ok(leader), Ok(root)));
    assert_eq!(table.enter_child(root, Placement::Group(detached)), Err(Errno::EPERM), "another session");
    assert_eq!(table.enter_child(root, Placement::Group(child)), Err(Errno::EPERM), "no such group");
    assert_eq!(table.set_session(leader), Err(Errno::EPERM), "the leader of a group");
    assert_eq!(table.set_session(member), Ok(member));
    assert_eq!(
        (table.group(member), table.session(member), table.session(Pid::new(999))),
        (Ok(member), Ok(member), Err(Errno::ESRCH))
    );
}

#[test]
fn a_wait_for_changes_reports_each_stop_and_continuation_once() {
    let (mut table, root, child, _) = family();
    let wait = |number, changes| Waiter { operation: operation(number), reaps: true, changes };
    assert_eq!(table.changed(child, Change::Stopped(20)), None);
    assert_eq!(table.wait(root, child, wait(1, 2)), Ok(None), "a stop is no continuation");
    assert_eq!(table.changed(child, Change::Continued), Some((root, operation(1))));
    assert_eq!(table.wait(root, child, wait(2, 3)), Ok(None), "the change was reported");
    assert_eq!(table.changed(child, Change::Stopped(19)), Some((root, operation(2))));
    assert_eq!(table.changed(child, Change::Continued), None);
    assert_eq!(table.wait(root, child, wait(3, 3)), Ok(Some(0xffff)));
    assert_eq!(table.wait(root, child, wait(4, 0)), Ok(None));
    assert_eq!(table.changed(child, Change::Stopped(22)), None, "a plain wait");
    assert_eq!(table.exited(child, DONE, false).notified, Some((root, operation(4))));
    assert_eq!(Change::Stopped(20).number(), 0x147f);
}

#[test]
fn a_stopped_group_is_abandoned_when_its_last_parent_outside_the_group_ends() {
    let (mut table, root, shell, _) = family();
    let job = table.enter_child(shell, Placement::NewGroup).expect("room");
    let of_job = table.enter_child(job, Placement::OfParent).expect("room");
    assert!(table.is_orphaned(root) && !table.is_orphaned(job), "the parent of a root process is in no session");
    table.changed(of_job, Change::Stopped(20));
    let ended = table.exited(shell, DONE, false);
    assert_eq!((ended.abandoned, ended.ended), (vec![job, of_job], vec![]));
    assert!(table.is_orphaned(job));
}

#[test]
fn the_limit_counts_ended_processes_until_they_are_reaped() {
    let mut table = ProcessTable::new(3);
    let root = table.enter_root().expect("room");
    let child = table.enter_child(root, Placement::OfParent).expect("room");
    table.enter_child(root, Placement::OfParent).expect("room");
    assert_eq!(table.enter_child(root, Placement::OfParent), Err(Errno::EAGAIN));
    table.exited(child, DONE, false);
    assert_eq!(table.enter_root(), Err(Errno::EAGAIN));
    table.wait(root, child, waiter(1, true)).expect("a child");
    assert!(table.enter_child(root, Placement::OfParent).is_ok());
}

#[test]
fn does_not_reuse_the_number_of_a_group() {
    let mut table = ProcessTable::new(4);
    let root = table.enter_root().expect("room");
    for _ in 0..10_000 {
        let pid = table.enter_child(root, Placement::NewSession).expect("room");
        assert!(pid != root && pid > Pid::INIT);
        table.exited(pid, DONE, false);
        table.wait(root, pid, waiter(1, true)).expect("a child");
    }
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![4 => -3_i64..70, 1 => any::<i64>(), 1 => Just(i64::MIN), 1 => Just(i64::MAX), 1 => Just(1 << 32)]
}

proptest! {
    /// After arbitrary calls, the program's own table entry exists, and the program of another
    /// runtime has not ended.
    #[test]
    fn forged_calls_have_no_effect_on_other_runtimes(
        calls in prop::collection::vec((0x400_u32..0x40f, prop::array::uniform8(number())), 1..60),
    ) {
        let (own, other) = (Arc::new(Kernel::new(&Limits::default())), Arc::new(Kernel::new(&Limits::default())));
        let (program, stranger) = (FakeCaller::root(&own, "/"), FakeCaller::root(&other, "/"));
        let mut memory = vec![0_u8; 256];
        for (at, integers) in calls {
            let answer = call(&program, at, &mut Arguments::new(integers, &mut memory));
            if let Ok(value) = answer {
                prop_assert!(value >= 0);
            }
        }
        prop_assert!(!stranger.is_ending(), "no process of another runtime is reached");
        prop_assert_eq!(own.counts().0, 1);
    }
}
