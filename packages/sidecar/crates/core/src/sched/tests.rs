//! Tests of the alarms and of the workers with the real clock.

use super::{Scheduled, Scheduler, Task, Timers};
use coldframe_fair::{DEFAULT_WEIGHT, Flow};
use coldframe_sys::monotonic_ns;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A program without limits, which never yields.
struct Unlimited;

impl Scheduled for Unlimited {
    fn begin_slice(&self, _slice: Duration) {}
    fn end_slice(&self) {}
    fn has_yielded(&self) -> bool {
        false
    }
    fn check_running(&self) {}
}

#[test]
fn a_task_runs_although_other_tasks_hold_all_workers() {
    let scheduler = Scheduler::new(2, Duration::ZERO);
    let run = |work: Box<dyn FnOnce() + Send>| {
        let flow = Flow::new(DEFAULT_WEIGHT);
        scheduler.enqueue(Task::new(Arc::new(Unlimited), Box::pin(async move { work() }), flow, &scheduler));
    };
    let (begun, has_begun) = mpsc::channel();
    let held: Vec<_> = (0..5)
        .map(|_| {
            let (release, released) = mpsc::channel::<()>();
            let begun = begun.clone();
            run(Box::new(move || {
                let _ = begun.send(());
                let _ = released.recv();
            }));
            release
        })
        .collect();
    // Each of the tasks begins, although no task ends.
    assert_eq!(has_begun.iter().take(held.len()).count(), held.len());
    let (send, receive) = mpsc::channel();
    run(Box::new(move || send.send(()).expect("the test receives")));
    receive.recv().expect("the task runs");
    drop(held);
}

#[test]
fn alarms_go_off_in_order_of_time_unless_cancelled() {
    let timers = Timers::default();
    let (send, receive) = mpsc::channel();
    let now = monotonic_ns();
    let action = |text: &'static str| {
        let send = send.clone();
        move || {
            let _ = send.send(text);
        }
    };
    timers.set(now + 20_000_000, action("third"));
    let second = timers.set(now + 10_000_000, action("cancelled"));
    timers.set(now, action("first"));
    timers.cancel(second);
    drop(send);
    let received: Vec<_> = receive.iter().take(2).collect();
    assert_eq!(received, ["first", "third"]);
}
