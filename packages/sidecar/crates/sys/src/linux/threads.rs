//! Clocks, and the CPU time and page faults of a thread.
//!
//! The code uses `libc` where rustix has no call: `getrusage` and the CPU clock of another thread.

use crate::ThreadUsage;
use rustix::process::setpriority_process;
use rustix::time::{ClockId, clock_gettime};

/// Returns the calling thread's resource use, with one system call of about 0.2 µs.
pub fn thread_usage() -> ThreadUsage {
    // SAFETY: rusage is plain data for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place to write to; RUSAGE_THREAD cannot fail with it.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    let nanos = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    ThreadUsage { faults: (usage.ru_minflt + usage.ru_majflt) as u64, cpu_ns: nanos(usage.ru_utime) + nanos(usage.ru_stime) }
}

/// The clock of a thread's CPU time. Any thread may read the clock.
#[derive(Debug, Clone, Copy)]
pub struct ThreadClock(libc::clockid_t);

impl ThreadClock {
    /// Returns the clock of the calling thread. Makes no system call.
    pub fn of_this_thread() -> Option<Self> {
        let mut clock = 0;
        // SAFETY: the calling thread exists, and `clock` is a valid place to write to.
        let result = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut clock) };
        (result == 0).then_some(Self(clock))
    }

    /// Returns the clock's time in nanoseconds. Returns `None` if the thread has ended.
    pub fn now_ns(self) -> Option<u64> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid place to write to; an unknown clock is an error.
        let result = unsafe { libc::clock_gettime(self.0, &mut time) };
        (result == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }
}

/// Lowers the calling thread's priority to the nice value 4. Threads of the default priority then
/// get most of the processor's time.
pub fn yield_to_others() {
    const NICE: i32 = 4;
    // On Linux, the argument `None` means the calling thread. If the system refuses, the priority
    // is unchanged.
    let _ = setpriority_process(None, NICE);
}

/// Returns the nanoseconds of `CLOCK_MONOTONIC`.
pub fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

/// Returns the nanoseconds since 1970.
pub fn wall_ns() -> u64 {
    clock_ns(ClockId::Realtime)
}

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PAGE, allow, release, reserve};

    #[test]
    fn the_fault_counter_counts_a_write_to_a_fresh_page() {
        let base = reserve(PAGE).expect("reserve");
        // SAFETY: the test owns the reservation.
        unsafe { allow(base, PAGE).expect("allow") };
        let before = thread_usage().faults;
        // SAFETY: the page is accessible.
        unsafe { *(base as *mut u8) = 1 };
        assert!(thread_usage().faults > before);
        // SAFETY: the reservation is no longer used.
        unsafe { release(base, PAGE) };
    }

    #[test]
    fn a_thread_reads_the_clock_of_another_thread() {
        let clock = ThreadClock::of_this_thread().expect("a clock");
        let spent = thread_usage().cpu_ns;
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(clock.now_ns().is_some_and(|now| now >= spent)));
        });
        let ended = std::thread::spawn(ThreadClock::of_this_thread).join().expect("the thread ends").expect("a clock");
        // `join` returns after the thread's last instruction. The kernel removes the thread later.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while ended.now_ns().is_some() && std::time::Instant::now() < until {
            std::thread::yield_now();
        }
        assert_eq!(ended.now_ns(), None);
    }
}
