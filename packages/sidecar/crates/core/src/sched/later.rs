//! Work that nobody waits for, such as giving back a large memory: one thread, started with the first of it, does one thing after the other, so that workers
//! go on with what somebody waits for. It begins a moment later, when those who brought the work (ten rollbacks at once, say) have most likely been answered. What comes faster than it can be done is done by who brings it: memory that nobody uses must not pile up.

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce() + Send>;

/// Things that may wait.
const MOST: usize = 64;
/// For how long work that comes after none lies there, unless there is much of it.
const MOMENT: Duration = Duration::from_millis(10);

/// See the module.
#[derive(Default)]
pub(crate) struct Later {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    running: bool,
    closed: bool,
}

impl Later {
    /// Has `job` done some time, unless that is now.
    pub(crate) fn run(&self, job: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.state.lock();
        if !state.running && !state.closed {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("coldframe-later".to_owned());
            state.running = thread.spawn(move || shared.work()).is_ok();
        }
        if !state.running || state.closed || state.jobs.len() >= MOST {
            drop(state);
            job();
            return;
        }
        state.jobs.push_back(Box::new(job));
        self.shared.changed.notify_one();
    }

    /// The thread ends when it has done what waits.
    pub(crate) fn close(&self) {
        self.shared.state.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn work(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                parking_lot::MutexGuard::unlocked(&mut state, job);
            } else if state.closed {
                return;
            } else {
                self.changed.wait(&mut state);
                let begin = Instant::now() + MOMENT;
                while !state.closed && state.jobs.len() < MOST / 2 && !self.changed.wait_until(&mut state, begin).timed_out() {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn all_of_it_is_done_and_what_is_too_much_at_once() {
        let later = Later::default();
        let (go, wait) = channel::<()>();
        let (tell, told) = channel();
        later.run(move || assert!(wait.recv().is_err()));
        for number in 0..2 * MOST {
            let tell = tell.clone();
            later.run(move || {
                tell.send((number, std::thread::current().name() == Some("coldframe-later"))).expect("the test listens")
            });
        }
        let at_once: Vec<_> = told.try_iter().collect();
        assert!(at_once.len() >= MOST - 1 && at_once.iter().all(|(_, later)| !later), "{}", at_once.len());
        drop(go);
        later.close();
        let rest: Vec<_> =
            std::iter::from_fn(|| told.recv_timeout(Duration::from_secs(10)).ok()).take(2 * MOST - at_once.len()).collect();
        assert_eq!(at_once.len() + rest.len(), 2 * MOST);
        assert!(rest.iter().all(|(_, later)| *later));
        later.run(move || tell.send((0, false)).expect("the test listens"));
        assert_eq!(told.try_recv(), Ok((0, false)), "closed: by who brings it");
    }
}
