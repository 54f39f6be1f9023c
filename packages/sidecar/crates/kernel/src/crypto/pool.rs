//! The threads for long computations, shared by all runtimes of the process. A thread starts when
//! work arrives and ends after an idle time.
//!
//! The pool is separate from the scheduler's workers, because a long computation must never delay a
//! worker. A program has at most two jobs in the pool at a time. `jobs.rs` queues the program's
//! other jobs. A program with many jobs therefore does not delay the single job of another program.
//! Next: `snapshot.rs`.

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::time::Duration;

type Work = Box<dyn FnOnce() + Send>;

/// The maximum number of threads. The number exceeds the usual number of processors, so that the
/// operating system shares the processors among the jobs of several programs.
const MAX_THREADS: usize = 8;
/// The time that a thread waits for more work before the thread ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Default)]
struct Pool {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    work: VecDeque<Work>,
    threads: usize,
    idle: usize,
}

/// Runs `work` on a thread of the pool. Returns false if the pool has no thread and no thread can
/// be started.
pub(super) fn run(work: Work) -> bool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    let pool = POOL.get_or_init(Pool::default);
    let mut state = pool.state.lock();
    state.work.push_back(work);
    if state.idle < state.work.len() && state.threads < MAX_THREADS {
        let started = std::thread::Builder::new().name("coldframe-crypto".to_owned()).spawn(move || serve(pool));
        match started {
            Ok(_) => state.threads += 1,
            Err(_) if state.threads == 0 => {
                state.work.pop_back();
                return false;
            }
            Err(_) => {}
        }
    }
    drop(state);
    pool.news.notify_one();
    true
}

fn serve(pool: &Pool) {
    let mut state = pool.state.lock();
    loop {
        if let Some(work) = state.work.pop_front() {
            drop(state);
            // `work` does not panic: `job.rs` catches the panics of a computation, and the program
            // receives a fault.
            work();
            state = pool.state.lock();
            continue;
        }
        state.idle += 1;
        let late = pool.news.wait_for(&mut state, IDLE_TIMEOUT).timed_out();
        state.idle -= 1;
        if late && state.work.is_empty() {
            state.threads -= 1;
            return;
        }
    }
}
