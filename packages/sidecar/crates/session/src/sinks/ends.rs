//! The ends of a runtime's programs, which are kept for a while, so that a request can attach to a
//! program that has just ended. The captured output is not kept. Next: `assignment.rs`.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use coldframe_core::{Error, Outcome, Timings};
use coldframe_ids::Pid;

use super::sync::Mutex;

/// The time for which an end is kept.
const KEPT: Duration = Duration::from_secs(30);
/// The largest number of kept ends of a runtime. The oldest ends are dropped first.
const MAX_ENDS: usize = 64;

/// The end of a program, without its output.
#[derive(Clone)]
pub(crate) struct ProgramEnd {
    exit_code: i32,
    signal: Option<u8>,
    failure: Option<Box<Error>>,
    timings: Timings,
}

impl ProgramEnd {
    /// Returns the end of a program with this outcome.
    pub fn of(outcome: &Outcome) -> Self {
        let failure = outcome.failure.clone().map(Box::new);
        Self { exit_code: outcome.exit_code, signal: outcome.signal, failure, timings: outcome.timings }
    }

    /// Returns the outcome without output.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            exit_code: self.exit_code,
            signal: self.signal,
            stdout: Vec::new(),
            stderr: Vec::new(),
            stdout_truncated: false,
            stderr_truncated: false,
            value: None,
            failure: self.failure.as_deref().cloned(),
            timings: self.timings,
        }
    }
}

/// The kept ends of a runtime's programs, oldest first.
#[derive(Default)]
pub(crate) struct Ends(Mutex<VecDeque<(Pid, Instant, ProgramEnd)>>);

impl Ends {
    /// Adds the end of a program, and drops old ends.
    pub fn add(&self, pid: Pid, end: ProgramEnd) {
        let now = Instant::now();
        let mut ends = self.0.lock();
        while ends.len() >= MAX_ENDS || ends.front().is_some_and(|(_, at, _)| now.duration_since(*at) > KEPT) {
            ends.pop_front();
        }
        ends.push_back((pid, now, end));
    }

    /// Returns the latest end of a program with this pid, if the end is kept.
    pub fn find(&self, pid: Pid) -> Option<ProgramEnd> {
        let now = Instant::now();
        let ends = self.0.lock();
        let found = ends.iter().rev().find(|(other, at, _)| *other == pid && now.duration_since(*at) <= KEPT);
        found.map(|(_, _, end)| end.clone())
    }

    /// Drops all ends, because a rollback assigns the pids again.
    pub fn clear(&self) {
        self.0.lock().clear();
    }
}
