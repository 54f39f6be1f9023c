//! The sink of a program that came with a snapshot and that no request waits for, until one does (`attachProcess`).

use std::any::Any;
use std::sync::Arc;

use coldframe_core::{Outcome, Sink, Timings};
use parking_lot::Mutex;

use crate::outlet::{Event, Outlet};
use crate::table::Place;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Adopted {
    place: Place,
    outlet: Arc<Outlet>,
    state: Arc<Mutex<State>>,
}

enum State {
    /// Nobody hears it.
    Alone,
    /// This request does.
    Heard(u32),
    /// It has ended, unheard.
    Ended(Box<Outcome>),
}

impl Adopted {
    /// Of a program that runs there.
    pub fn new(place: Place, outlet: Arc<Outlet>) -> Self {
        Self { place, outlet, state: Arc::new(Mutex::new(State::Alone)) }
    }

    /// From now on the request hears of it; nobody did before.
    pub fn attach(&self, id: u32) {
        let before = std::mem::replace(&mut *self.state.lock(), State::Heard(id));
        if let State::Ended(outcome) = before {
            self.outlet.tell(Event::Outcome(id, self.place, outcome));
        }
    }

    /// The request that hears of it.
    pub fn request(&self) -> Option<u32> {
        if let State::Heard(id) = *self.state.lock() { Some(id) } else { None }
    }
}

impl Sink for Adopted {
    fn output(&self, _eval: u32, fd: u8, data: Vec<u8>) {
        if let Some(id) = self.request() {
            self.outlet.tell(Event::Output(id, fd, data));
        }
    }
    fn evaluated(&self, _eval: u32, _outcome: Outcome) {}
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, outcome: Outcome) {
        let mut state = self.state.lock();
        match *state {
            State::Heard(id) => {
                drop(state);
                self.outlet.tell(Event::Outcome(id, self.place, Box::new(outcome)));
            }
            _ => *state = State::Ended(Box::new(outcome)),
        }
    }
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
