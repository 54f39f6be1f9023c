//! The threads for long computations, shared by all runtimes of the process. A thread starts when
//! work arrives and ends after an idle time.
//!
//! The pool is separate from the scheduler's workers, because a long computation must never delay a
//! worker. The runtimes share the pool by weight (crate `fair`). As many computations run at a time
//! as the machine has processors. A computation that has run for [`SLICE_NS`] pauses if another
//! computation waits, and its thread sleeps meanwhile. A short computation therefore does not wait
//! for the end of a long computation.
//!
//! ```text
//! add ─► waiting (at most `per_runtime` started) ─► run on a thread ─► finished
//!                                                    │   ▲
//!                                 slice used up ─────┴───┘ resumed
//! ```
//!
//! A started computation needs a thread and memory also while it is paused. So a runtime has at
//! most as many started computations as the pool runs at a time, and the pool has [`MAX_THREADS`].
//! A program has at most two jobs in the pool at a time. `jobs.rs` queues the program's other jobs.
//! Next: `snapshot.rs`.

use coldframe_fair::{DEFAULT_WEIGHT, FairQueue, Flow, Lane};
use coldframe_panics::process::{Condvar, Mutex, MutexGuard};
use coldframe_sys as sys;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A computation. The computation calls [`Turn::pause`] at its steps.
pub(super) type Work = Box<dyn FnOnce(&mut Turn) + Send>;

/// The maximum number of threads.
const MAX_THREADS: usize = 128;
/// The smallest and the largest number of computations that run at a time.
const RUNNING: (usize, usize) = (2, 8);
/// The time that a computation runs before it pauses for a waiting computation.
const SLICE_NS: u64 = 2_000_000;
/// The time that a thread waits for more work before the thread ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// A runtime's share of the pool.
pub struct CryptoShare {
    flow: Arc<Flow<Item>>,
    /// Locked only while the pool is locked.
    own: Mutex<Own>,
}

#[derive(Default)]
struct Own {
    /// The number of computations that are in the pool's queue, run or are paused.
    started: usize,
    /// The computations beyond the bound of a runtime.
    rest: VecDeque<Work>,
}

impl CryptoShare {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { flow: Flow::new(DEFAULT_WEIGHT), own: Mutex::default() })
    }

    /// Sets the runtime's weight.
    pub fn set_weight(&self, weight: u64) {
        self.flow.set_weight(weight);
    }
}

/// An entry of the pool's queue.
enum Item {
    Start(Arc<CryptoShare>, Work),
    Resume(Arc<Resumption>),
}

/// The place where the thread of a paused computation waits.
#[derive(Default)]
struct Resumption {
    /// Locked by the waiting thread, and by a thread that has the pool's lock.
    may_run: Mutex<bool>,
    resumed: Condvar,
}

struct Pool {
    state: Mutex<State>,
    /// Wakes idle threads.
    news: Condvar,
    /// The number of computations that run at a time.
    max_running: usize,
}

struct State {
    queue: FairQueue<Item>,
    running: usize,
    threads: usize,
    /// The number of threads that wait for work.
    idle: usize,
    /// Computations that were chosen to run, for idle threads.
    chosen: VecDeque<(Arc<CryptoShare>, Work)>,
}

/// The present turn of a computation, which ends when the computation pauses or finishes.
pub(super) struct Turn {
    pool: &'static Pool,
    share: Arc<CryptoShare>,
    began: u64,
}

/// Runs `work` of a runtime on a thread of the pool. Returns false if the pool has no thread and no
/// thread can be started.
pub(super) fn run(share: &Arc<CryptoShare>, work: Work) -> bool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(Pool::default).add(share, work)
}

impl Default for Pool {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(RUNNING.0, usize::from);
        Self::with_processors(processors.clamp(RUNNING.0, RUNNING.1))
    }
}

impl Pool {
    fn with_processors(max_running: usize) -> Self {
        let state = State { queue: FairQueue::new(SLICE_NS), running: 0, threads: 0, idle: 0, chosen: VecDeque::new() };
        Self { state: Mutex::new(state), news: Condvar::new(), max_running }
    }

    fn add(&'static self, share: &Arc<CryptoShare>, work: Work) -> bool {
        let mut state = self.state.lock();
        if state.threads == 0 && !self.start_thread(&mut state) {
            return false;
        }
        let mut own = share.own.lock();
        if own.started < self.max_running {
            own.started += 1;
            state.queue.push(&share.flow, Lane::Fresh, Item::Start(share.clone(), work));
        } else {
            own.rest.push_back(work);
        }
        drop(own);
        self.dispatch(&mut state);
        true
    }

    /// Starts a thread, which waits for work.
    fn start_thread(&'static self, state: &mut State) -> bool {
        let thread = std::thread::Builder::new().name("coldframe-crypto".to_owned());
        let has_started = thread.spawn(move || self.serve()).is_ok();
        if has_started {
            state.threads += 1;
            state.idle += 1;
        }
        has_started
    }

    /// Lets the next computations run, until [`Pool::max_running`] run.
    fn dispatch(&'static self, state: &mut State) {
        while state.running < self.max_running {
            let has_thread = state.idle > state.chosen.len()
                || (state.threads < MAX_THREADS && !state.queue.is_empty() && self.start_thread(state));
            let Some((_, item)) = state.queue.pop(has_thread) else { return };
            state.running += 1;
            match item {
                Item::Start(share, work) => {
                    state.chosen.push_back((share, work));
                    self.news.notify_one();
                }
                Item::Resume(paused) => {
                    *paused.may_run.lock() = true;
                    paused.resumed.notify_one();
                }
            }
        }
    }

    fn serve(&'static self) {
        let mut state = self.state.lock();
        loop {
            if let Some((share, work)) = state.chosen.pop_front() {
                state.idle -= 1;
                let mut turn = Turn { pool: self, share, began: sys::monotonic_ns() };
                // `job.rs` contains the panics of a computation.
                MutexGuard::unlocked(&mut state, || work(&mut turn));
                turn.settle(&mut state);
                state.idle += 1;
                state.running -= 1;
                turn.share.finish_one(&mut state);
                self.dispatch(&mut state);
                continue;
            }
            let is_late = self.news.wait_for(&mut state, IDLE_TIMEOUT).timed_out();
            if is_late && state.chosen.is_empty() {
                state.idle -= 1;
                state.threads -= 1;
                return;
            }
        }
    }
}

impl CryptoShare {
    /// Passes the next computation beyond the runtime's bound to the queue, after one computation
    /// has finished.
    fn finish_one(self: &Arc<Self>, state: &mut State) {
        let mut own = self.own.lock();
        match own.rest.pop_front() {
            Some(work) => state.queue.push(&self.flow, Lane::Fresh, Item::Start(self.clone(), work)),
            None => own.started -= 1,
        }
    }
}

impl Turn {
    /// Pauses the computation if its slice is used up and another computation waits. Returns when
    /// the computation may continue.
    pub(super) fn pause(&mut self) {
        if sys::monotonic_ns() < self.began.saturating_add(SLICE_NS) {
            return;
        }
        let mut state = self.pool.state.lock();
        self.settle(&mut state);
        let paused = Arc::<Resumption>::default();
        state.queue.push(&self.share.flow, Lane::Continued, Item::Resume(paused.clone()));
        state.running -= 1;
        // This computation is the next computation again if no other computation has precedence.
        self.pool.dispatch(&mut state);
        drop(state);
        let mut may_run = paused.may_run.lock();
        while !*may_run {
            paused.resumed.wait(&mut may_run);
        }
        self.began = sys::monotonic_ns();
    }

    /// Charges the runtime for the time since the start of the turn.
    fn settle(&self, state: &mut State) {
        state.queue.settle(&self.share.flow, sys::monotonic_ns().saturating_sub(self.began));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    /// The time after which a test that hangs fails.
    const HANG: Duration = Duration::from_secs(60);

    fn pool(max_running: usize) -> &'static Pool {
        Box::leak(Box::new(Pool::with_processors(max_running)))
    }

    /// A computation that runs until `is_over`.
    fn endless(is_over: &Arc<AtomicBool>, ended: &std::sync::mpsc::Sender<()>) -> Work {
        let (is_over, ended) = (is_over.clone(), ended.clone());
        Box::new(move |turn| {
            while !is_over.load(Ordering::Relaxed) {
                turn.pause();
            }
            let _ = ended.send(());
        })
    }

    #[test]
    fn a_short_computation_does_not_wait_for_the_end_of_long_ones() {
        let pool = pool(2);
        let is_over = Arc::new(AtomicBool::new(false));
        let (ended, all_ended) = channel();
        let hostile = CryptoShare::new();
        for _ in 0..64 {
            assert!(pool.add(&hostile, endless(&is_over, &ended)));
        }
        let neighbour = CryptoShare::new();
        for _ in 0..20 {
            let (send, receive) = channel();
            assert!(pool.add(&neighbour, Box::new(move |_| send.send(()).expect("the test receives"))));
            receive.recv_timeout(HANG).expect("a long computation runs meanwhile");
        }
        assert!(pool.state.lock().threads <= 2 + 1 + 1, "the runtime has two started computations");
        is_over.store(true, Ordering::Relaxed);
        for _ in 0..64 {
            all_ended.recv_timeout(HANG).expect("each computation runs");
        }
    }

    #[test]
    fn runtimes_with_long_computations_take_turns() {
        let pool = pool(1);
        let is_over = Arc::new(AtomicBool::new(false));
        let (ended, all_ended) = channel();
        let turns: Vec<Arc<AtomicUsize>> = (0..3).map(|_| Arc::default()).collect();
        let (enough, done) = channel();
        for (runtime, count) in turns.iter().enumerate() {
            let share = CryptoShare::new();
            // The first runtime has many computations, and the others have one.
            for _ in 0..if runtime == 0 { 10 } else { 1 } {
                let (is_over, ended, enough) = (is_over.clone(), ended.clone(), enough.clone());
                let all = turns.clone();
                let count = count.clone();
                let work: Work = Box::new(move |turn| {
                    while !is_over.load(Ordering::Relaxed) {
                        let began = turn.began;
                        turn.pause();
                        count.fetch_add(usize::from(turn.began != began), Ordering::Relaxed);
                        if all.iter().all(|count| count.load(Ordering::Relaxed) >= 5) {
                            let _ = enough.send(());
                        }
                    }
                    let _ = ended.send(());
                });
                assert!(pool.add(&share, work));
            }
        }
        done.recv_timeout(HANG).expect("each runtime has turns");
        is_over.store(true, Ordering::Relaxed);
        for _ in 0..12 {
            all_ended.recv_timeout(HANG).expect("each computation runs");
        }
    }
}
