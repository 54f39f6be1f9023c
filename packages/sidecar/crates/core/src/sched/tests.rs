//! Tests of the alarms and of the workers with the real clock.

use super::{Freeze, Scheduled, Scheduler, Task, Timers};
use coldframe_fair::{DEFAULT_WEIGHT, Flow};
use coldframe_sys::monotonic_ns;
use std::sync::atomic::{AtomicBool, Ordering};
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
    fn must_end(&self) -> bool {
        false
    }
}

#[test]
fn a_task_runs_although_other_tasks_hold_all_workers() {
    let scheduler = Scheduler::new(2, Duration::ZERO);
    let run = |work: Box<dyn FnOnce() + Send>| {
        let flow = Flow::new(DEFAULT_WEIGHT);
        scheduler.enqueue(Task::new(Arc::new(Unlimited), Box::pin(async move { work() }), flow, Arc::default(), &scheduler));
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

/// A program that can be ended.
#[derive(Default)]
struct Ending(AtomicBool);

impl Scheduled for Ending {
    fn begin_slice(&self, _slice: Duration) {}
    fn end_slice(&self) {}
    fn has_yielded(&self) -> bool {
        false
    }
    fn check_running(&self) {}
    fn must_end(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

#[test]
fn a_frozen_task_runs_after_the_freeze_or_when_its_program_must_end() {
    let scheduler = Scheduler::new(1, Duration::ZERO);
    let (flow, freeze) = (Flow::new(DEFAULT_WEIGHT), Arc::<Freeze>::default());
    let (send, receive) = mpsc::channel();
    let programs = [(); 2].map(|()| Arc::<Ending>::default());
    freeze.freeze();
    for (name, program) in programs.iter().enumerate() {
        let send = send.clone();
        let work = async move { send.send(name).expect("the test receives") };
        scheduler.enqueue(Task::new(program.clone(), Box::pin(work), flow.clone(), freeze.clone(), &scheduler));
    }
    assert!(receive.recv_timeout(Duration::from_millis(50)).is_err());
    programs[1].0.store(true, Ordering::Release);
    freeze.recheck();
    assert_eq!(receive.recv(), Ok(1));
    assert!(receive.recv_timeout(Duration::from_millis(20)).is_err());
    let before = freeze.total_ns();
    let frozen_ns = freeze.thaw();
    assert!(before <= frozen_ns && frozen_ns >= 70_000_000, "{before} {frozen_ns}");
    assert_eq!((freeze.total_ns(), freeze.thaw()), (frozen_ns, 0));
    assert_eq!(receive.recv(), Ok(0));
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
