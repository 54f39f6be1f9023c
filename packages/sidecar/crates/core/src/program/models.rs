//! Models of quiescing: loom runs programs and requests in every order, with a bounded number of
//! preemptions.
//!
//! The models compile `quiesce.rs` itself, with loom's types. A program of a model has no VM: a
//! thread follows the steps of `run.rs` and `rest.rs`. A lost wake-up leaves a thread that waits
//! forever, which loom reports as a deadlock.
//!
//! loom weakens sequentially consistent loads and stores. The counters of blocked programs and of
//! members need this order, so no model has a program that blocks or ends.

#[path = "quiesce.rs"]
#[expect(clippy::duplicate_mod, reason = "the model compiles the module with other types")]
#[expect(dead_code, reason = "the models do not use all methods")]
mod quiesce;

use coldframe_error::Error;
use coldframe_ids::Pid;
use coldframe_testing::model::{Mutex, check};
use loom::sync::Notify;
use loom::thread;
use quiesce::{Quiesce, QuiesceRequest, Quiesced, RestStep};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

/// The types of quiescing in the models.
mod sync {
    pub(super) use coldframe_testing::model::{Mutex, RwLock, RwLockReadGuard, monotonic_ns};
    pub(super) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// No model checks waits for guests.
    pub(super) fn check_may_wait() {}
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The task of a program: a waiting thread.
struct Task(Notify);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }
}

/// A program of a model.
struct Program {
    pid: Pid,
    command: String,
    task: Arc<Task>,
}

impl Program {
    fn is_ending(&self) -> bool {
        false
    }

    #[expect(clippy::unnecessary_wraps, reason = "a program that starts has no task yet")]
    fn task(&self) -> Option<Arc<Task>> {
        Some(self.task.clone())
    }
}

trait Home: Send + Sync {
    fn programs(&self) -> Vec<Arc<Program>>;
}

/// The runtime of a model: the programs.
struct Members(Vec<Arc<Program>>);

impl Home for Members {
    fn programs(&self) -> Vec<Arc<Program>> {
        self.0.clone()
    }
}

/// The saved VM of a model.
struct VmState;

/// The number of an alarm.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Alarm(usize);

type Action = Box<dyn FnOnce() + Send>;

/// The alarms of a model, which the model triggers.
#[derive(Default)]
struct Timers(Mutex<Vec<Option<Action>>>);

impl Timers {
    fn set(&self, _at: u64, action: impl FnOnce() + Send + 'static) -> Alarm {
        let mut alarms = self.0.lock();
        alarms.push(Some(Box::new(action)));
        Alarm(alarms.len() - 1)
    }

    fn cancel(&self, Alarm(number): Alarm) {
        let action = self.0.lock()[number].take();
        drop(action);
    }

    /// Runs all present alarms.
    fn trigger(&self) {
        let due: Vec<Action> = self.0.lock().iter_mut().filter_map(Option::take).collect();
        due.into_iter().for_each(|action| action());
    }
}

#[derive(Default)]
struct Scheduler(Timers);

impl Scheduler {
    fn timers(&self) -> &Timers {
        &self.0
    }

    /// Runs `job` on another thread.
    fn hand_over(&self, job: impl FnOnce() + Send + 'static) {
        thread::spawn(job);
    }
}

/// A runtime with two programs, and the results of the requests.
struct Model {
    scheduler: Arc<Scheduler>,
    quiesce: Arc<Quiesce>,
    programs: Vec<Arc<Program>>,
    /// For each finished request: the number of saved programs, or `None` for an error.
    results: Arc<Mutex<Vec<Option<usize>>>>,
}

impl Model {
    fn new(programs: u32) -> Self {
        let scheduler = Arc::<Scheduler>::default();
        let quiesce = Quiesce::new(scheduler.clone());
        let program = |number| {
            quiesce.joined();
            let (pid, task) = (Pid::new(number), Arc::new(Task(Notify::new())));
            Arc::new(Program { pid, command: String::new(), task })
        };
        let programs = (2..2 + programs).map(program).collect();
        Self { scheduler, quiesce, programs, results: Arc::default() }
    }

    /// Requests a snapshot.
    fn request(&self) {
        let (results, programs) = (self.results.clone(), self.programs.clone());
        let take = move |quiesced: Quiesced| -> Action {
            let saved = quiesced.programs.map(|programs| programs.len()).ok();
            results.lock().push(saved);
            // The model's programs end after the last request.
            Box::new(move || programs.iter().for_each(|program| program.task.0.notify()))
        };
        let home = Arc::new(Members(self.programs.clone()));
        self.quiesce.request(QuiesceRequest { home, timeout: Duration::ZERO, hold: false, take: Box::new(take) });
    }

    /// Starts the thread of a program, which runs until `requests` requests have ended.
    fn start(&self, at: usize, requests: usize) -> thread::JoinHandle<()> {
        let (quiesce, program, results) = (self.quiesce.clone(), self.programs[at].clone(), self.results.clone());
        thread::spawn(move || {
            while results.lock().len() < requests {
                if quiesce.must_rest() {
                    rest(&quiesce, &program);
                } else {
                    program.task.0.wait();
                }
            }
        })
    }
}

/// Rests like `rest.rs`.
fn rest(quiesce: &Quiesce, program: &Arc<Program>) {
    let waker = Waker::from(program.task.clone());
    loop {
        match quiesce.rest(program, &waker) {
            RestStep::Resume => break,
            RestStep::Wait => program.task.0.wait(),
            RestStep::Save => quiesce.deposit(program, Ok::<_, Error>(VmState)),
        }
    }
    quiesce.leave_rest(program.pid);
}

#[test]
fn all_programs_are_saved_and_resume() {
    check(Some(2), || {
        let model = Model::new(2);
        let threads = [0, 1].map(|at| model.start(at, 1));
        model.request();
        threads.into_iter().for_each(|thread| thread.join().expect("the program resumes"));
        assert_eq!(*model.results.lock(), [Some(2)]);
    });
}

/// The timeout and the last program's save happen at the same time.
#[test]
fn a_request_has_one_result_when_its_timeout_passes() {
    check(Some(2), || {
        let model = Model::new(1);
        let program = model.start(0, 1);
        model.request();
        model.scheduler.timers().trigger();
        program.join().expect("the program resumes");
        assert_eq!(model.results.lock().len(), 1);
    });
}

#[test]
fn queued_requests_are_served_in_turn() {
    check(Some(1), || {
        let model = Model::new(1);
        let program = model.start(0, 2);
        model.request();
        model.request();
        program.join().expect("the program resumes");
        assert_eq!(*model.results.lock(), [Some(1), Some(1)]);
    });
}
