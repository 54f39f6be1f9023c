//! The edge process of a core, which is started with its first use and after its end. Next:
//! `link.rs`.
//!
//! A guest can cause a start with every connection, and possibly the end of the process too. The
//! starts are therefore limited: after a burst, one start for each [`START_INTERVAL`]. Between two
//! starts every use fails. The pause is short, because it affects all runtimes of the core.

use super::link::{Launch, Link};
use super::options::{invalid, is_pem};
use coldframe_edge_link::{ToEdge, WallPart};
use coldframe_error::Error;
use coldframe_panics::process::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The shortest time from a start that failed to the next start.
const RESTART_PAUSE: Duration = Duration::from_millis(500);
/// The number of starts without a pause.
const MAX_STARTS: u32 = 32;
/// The time after which one more start is possible.
const START_INTERVAL: Duration = Duration::from_millis(500);
/// The time without a runtime that has used the edge process, after which the process ends. The
/// process has the pinned addresses and the used budgets of runtimes, so that no process with a
/// runtime ends.
const IDLE_TIME: Duration = Duration::from_secs(30);
/// The largest number of bytes of the embedder's authorities. The bytes are one message of the
/// link.
const MAX_ROOTS_BYTES: usize = 1_000_000;

/// The edge process of a core.
pub(crate) struct Edge {
    launch: Launch,
    idle: Duration,
    /// Whether an edge process whose wall lacks a part is ended.
    requires_walls: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    present: Option<(Arc<Link>, Instant)>,
    starts: Starts,
    /// The embedder's authorities in PEM, which each edge process gets.
    roots: Option<String>,
    is_closed: bool,
}

/// The budget of starts.
#[derive(Default)]
struct Starts {
    used: u32,
    /// The time from which on the used starts become available again.
    since: Option<Instant>,
}

impl Starts {
    /// Takes one start. Returns false if too many were taken.
    fn take(&mut self, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        let intervals = now.saturating_duration_since(since).as_nanos() / START_INTERVAL.as_nanos();
        let back = u32::try_from(intervals).unwrap_or(u32::MAX);
        self.used = self.used.saturating_sub(back);
        self.since = Some(if self.used == 0 { now } else { since + START_INTERVAL * back });
        let has_room = self.used < MAX_STARTS;
        self.used += u32::from(has_room);
        has_room
    }
}

impl Edge {
    /// Makes the place of an edge process, which is not started yet.
    pub fn new(launch: Launch) -> Self {
        Self::with_idle_time(launch, IDLE_TIME)
    }

    /// Makes the place of an edge process that ends after the time `idle` without a runtime.
    pub fn with_idle_time(launch: Launch, idle: Duration) -> Self {
        Self { launch, idle, requires_walls: false, state: Mutex::default() }
    }

    /// Sets whether an edge process whose wall lacks a part is ended before it gets a message.
    pub fn requiring_walls(mut self, requires_walls: bool) -> Self {
        self.requires_walls = requires_walls;
        self
    }

    /// Returns the parts of the wall around the present edge process, or around the last process if
    /// none is running. Empty before the greeting of the process.
    pub fn walls(&self) -> Vec<WallPart> {
        let present = self.state.lock().present.as_ref().map(|(link, _)| link.clone());
        present.and_then(|link| link.greeting().walls().map(<[WallPart]>::to_vec)).unwrap_or_default()
    }

    /// Returns the link to the edge process. Starts a process if none is running. Does not wait for
    /// the process. A link whose process could not be started, or has ended too often, is returned
    /// for a while, so that its requests fail.
    pub fn link(&self) -> Arc<Link> {
        let mut state = self.state.lock();
        let now = Instant::now();
        if let Some((link, started)) = &state.present {
            let is_paused = now.saturating_duration_since(*started) < RESTART_PAUSE && !link.greeting().is_over();
            if !link.is_over() || state.is_closed || is_paused {
                return link.clone();
            }
        }
        let link = if state.is_closed {
            Link::ended("the sidecar is ending")
        } else if state.starts.take(now) {
            let link = Link::start(self.launch.clone(), self.idle, self.requires_walls);
            if let Some(pem) = &state.roots {
                link.send(0, &ToEdge::Roots { pem: pem.clone() });
            }
            link
        } else {
            // The process of the present link has ended. The budget always suffices for the
            // first start.
            let present = state.present.as_ref().map(|(link, _)| link.clone());
            return present.unwrap_or_else(|| Link::ended("it was started too often"));
        };
        state.present = Some((link.clone(), now));
        link
    }

    /// Replaces the authorities that sessions trust by default. Starts no edge process.
    ///
    /// # Errors
    /// Fails if the text has no certificate, or more than [`MAX_ROOTS_BYTES`].
    pub fn set_roots(&self, pem: &str) -> Result<(), Error> {
        let what = || "outside.roots.pem".to_owned();
        if pem.len() > MAX_ROOTS_BYTES {
            return Err(invalid(what(), "at most 1000000 bytes", &format!("{} bytes", pem.len())));
        }
        if !is_pem(pem) {
            return Err(invalid(what(), "certificates in PEM", "another text"));
        }
        let mut state = self.state.lock();
        state.roots = Some(pem.to_owned());
        if let Some((link, _)) = &state.present {
            link.send(0, &ToEdge::Roots { pem: pem.to_owned() });
        }
        Ok(())
    }

    /// Ends the edge process. Later links end at once.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        if let Some((link, _)) = &state.present {
            link.close();
        }
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_limited_after_a_burst() {
        let begin = Instant::now();
        let at = |intervals: u32| begin + START_INTERVAL * intervals;
        let mut starts = Starts::default();
        let taken = |starts: &mut Starts, now| (0..100).take_while(|_| starts.take(now)).count();
        assert_eq!(taken(&mut starts, begin), 32);
        assert!(!starts.take(at(1) - Duration::from_nanos(1)));
        assert_eq!(taken(&mut starts, at(1)), 1);
        assert_eq!(taken(&mut starts, at(3)), 2);
        assert_eq!(taken(&mut starts, at(10_000)), 32, "the burst is available again");
        assert_eq!(taken(&mut starts, at(10_001)), 1);
    }
}
