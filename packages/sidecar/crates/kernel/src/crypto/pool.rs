//! The threads that long computations run on: a few for the whole process, started when there is work and gone when there was none for a while.
//!
//! They are not the scheduler's workers, because those must never be held up. A program has at most two jobs here at a time (`jobs.rs` keeps the
//! rest back), so that one program's pile does not stand before another's single job.

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::time::Duration;

type Work = Box<dyn FnOnce() + Send>;

/// Threads at most. More than there are processors: the system then shares the processors out among the jobs of several programs.
const MAX_THREADS: usize = 8;
/// How long a thread waits for more work.
const PATIENCE: Duration = Duration::from_secs(5);

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

/// Has a thread run `work`. False when there is none and none can be started.
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
            // A panic would be a defect; `job.rs` catches it where the program can still be told.
            work();
            state = pool.state.lock();
            continue;
        }
        state.idle += 1;
        let late = pool.news.wait_for(&mut state, PATIENCE).timed_out();
        state.idle -= 1;
        if late && state.work.is_empty() {
            state.threads -= 1;
            return;
        }
    }
}
