//! The threads for long computations: a few for the whole host process. They start when there is
//! work and end after an idle time.
//!
//! They are not the scheduler's workers, because a worker must never be delayed. A program has at
//! most two jobs here at a time, and `jobs.rs` queues the rest. A program with many jobs therefore
//! does not delay the single job of another. Next: `snapshot.rs`.

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::time::Duration;

type Work = Box<dyn FnOnce() + Send>;

/// Maximum number of threads. The bound exceeds the number of processors, so that the system shares
/// the processors among the jobs of several programs.
const MAX_THREADS: usize = 8;
/// The time that a thread waits for more work before it ends.
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

/// Runs `work` on a thread. Returns false if there is no thread and none can be started.
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
            // A panic would be a defect. `job.rs` catches it, where the program can still be
            // notified.
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
