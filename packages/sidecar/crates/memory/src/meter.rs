//! The CPU time and the page faults of a VM, summed over all threads that ran the VM.
//!
//! A VM's memory is accessed only while its task is polled, by the guest or by the sidecar's code
//! for the guest. Therefore the sum of the differences of the polling thread's counters around each
//! poll is exact. Next: `slot.rs`, which uses the faults.

use coldframe_panics::process::Mutex;
use coldframe_sys::{ThreadClock, ThreadUsage, thread_usage};
use std::thread::{self, ThreadId};

/// The meter of one VM, shared by its task, its memory and its limits.
#[derive(Debug, Default)]
pub struct Meter {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    faults: u64,
    cpu_ns: u64,
    /// The running poll, if any.
    running: Option<RunningPoll>,
}

/// A running poll.
#[derive(Debug, Clone, Copy)]
struct RunningPoll {
    thread: ThreadId,
    /// The thread's use at the last count.
    before: ThreadUsage,
    clock: Option<ThreadClock>,
}

impl Meter {
    /// Starts a poll on this thread.
    pub fn begin(&self) {
        let poll = RunningPoll { thread: thread::current().id(), before: thread_usage(), clock: ThreadClock::of_this_thread() };
        self.state.lock().running = Some(poll);
    }

    /// Ends the poll. Returns the CPU time so far and the part that was not counted before, in
    /// nanoseconds.
    pub fn end(&self) -> (u64, u64) {
        let now = thread_usage();
        let mut state = self.state.lock();
        let counted = state.count(now);
        state.running = None;
        counted
    }

    /// Counts the use of the poll that runs on this thread, up to now. Returns the values of
    /// [`Self::end`].
    pub fn count(&self) -> (u64, u64) {
        let now = thread_usage();
        self.state.lock().count(now)
    }

    /// Adds CPU time that other threads spent for the VM without touching its memory. Returns the
    /// CPU time so far.
    pub fn charge(&self, cpu_ns: u64) -> u64 {
        let mut state = self.state.lock();
        state.cpu_ns += cpu_ns;
        state.cpu_ns
    }

    /// Returns the CPU time that was counted so far, in nanoseconds: finished polls, the counted
    /// part of the running poll, and charges.
    pub fn cpu_ns(&self) -> u64 {
        self.state.lock().cpu_ns
    }

    /// Returns the CPU time so far, including the running poll, in nanoseconds. Any thread may call
    /// this function.
    pub fn cpu_ns_now(&self) -> u64 {
        let state = self.state.lock();
        let now = state.running.and_then(|poll| Some(poll.clock?.now_ns()?.saturating_sub(poll.before.cpu_ns)));
        state.cpu_ns + now.unwrap_or(0)
    }

    /// Returns the number of page faults so far. On the polling thread, the running poll is
    /// included.
    pub fn faults(&self) -> u64 {
        let state = self.state.lock();
        let now = state.running.filter(|poll| poll.thread == thread::current().id());
        state.faults + now.map_or(0, |poll| thread_usage().faults.saturating_sub(poll.before.faults))
    }

    /// Returns whether no page fault can have happened since the memory was taken from its pool.
    /// Returns true only inside a poll and on the polling thread, because the count is complete
    /// only on that thread.
    pub fn no_faults_so_far(&self) -> bool {
        let state = self.state.lock();
        match state.running {
            Some(poll) if poll.thread == thread::current().id() => {
                state.faults == 0 && thread_usage().faults == poll.before.faults
            }
            _ => false,
        }
    }
}

impl State {
    fn count(&mut self, now: ThreadUsage) -> (u64, u64) {
        let Some(poll) = &mut self.running else { return (self.cpu_ns, 0) };
        let before = std::mem::replace(&mut poll.before, now);
        let spent = now.cpu_ns.saturating_sub(before.cpu_ns);
        self.faults += now.faults.saturating_sub(before.faults);
        self.cpu_ns += spent;
        (self.cpu_ns, spent)
    }
}

#[cfg(test)]
mod tests {
    use super::Meter;

    #[test]
    fn is_certain_only_inside_a_poll_on_the_polling_thread() {
        let meter = Meter::default();
        assert!(!meter.no_faults_so_far());
        meter.begin();
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(!meter.no_faults_so_far()));
        });
        meter.end();
        assert!(!meter.no_faults_so_far());
    }

    #[test]
    fn counts_no_time_twice_within_a_poll() {
        let meter = Meter::default();
        assert_eq!(meter.count(), (0, 0), "no poll is running");
        meter.begin();
        let began = coldframe_sys::thread_usage().cpu_ns;
        while coldframe_sys::thread_usage().cpu_ns < began + 2_000_000 {}
        let (early, spent) = meter.count();
        assert!(early >= 2_000_000 && spent == early && meter.cpu_ns() == early);
        let (all, rest) = meter.end();
        assert_eq!((all, meter.cpu_ns()), (early + rest, all));
        assert_eq!(meter.count(), (all, 0));
    }

    #[test]
    fn counts_the_faults_of_earlier_polls() {
        let meter = Meter::default();
        meter.begin();
        let fresh = vec![0_u8; 64 << 20];
        std::hint::black_box(&fresh);
        for page in fresh.chunks(4_096) {
            std::hint::black_box(page[0]);
        }
        let mut written = vec![1_u8; 8 << 20];
        written[4_096] = 2;
        std::hint::black_box(&written);
        assert!(meter.faults() >= 2_048, "the faults of the running poll count");
        meter.end();
        meter.begin();
        assert!(meter.faults() >= 2_048, "the faults of the earlier poll count");
        assert!(!meter.no_faults_so_far());
        meter.end();
    }
}
