//! The edge process of a core, which is started with its first use and after its end. Next:
//! `link.rs`.

use super::link::{Launch, Link};
use coldframe_panics::process::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The shortest time from a start that failed to the next start. A guest can cause a start with
/// every connection.
const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// The edge process of a core.
pub(crate) struct Edge {
    launch: Launch,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    present: Option<(Arc<Link>, Instant)>,
    is_closed: bool,
}

impl Edge {
    /// Makes the place of an edge process, which is not started yet.
    pub fn new(launch: Launch) -> Self {
        Self { launch, state: Mutex::default() }
    }

    /// Returns the link to the edge process. Starts a process if none is running. Does not wait for
    /// the process. A link whose process could not be started is returned for a while, so that its
    /// requests fail.
    pub fn link(&self) -> Arc<Link> {
        let mut state = self.state.lock();
        let now = Instant::now();
        if let Some((link, started)) = &state.present {
            let is_paused = now.saturating_duration_since(*started) < RESTART_PAUSE && !link.was_greeted();
            if !link.is_over() || state.is_closed || is_paused {
                return link.clone();
            }
        }
        let link = if state.is_closed { Link::ended("the sidecar is ending") } else { Link::start(self.launch.clone()) };
        state.present = Some((link.clone(), now));
        link
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
