//! The sink of a program that came with a snapshot and that no request waits for, until one does (`process.attach`).

use std::any::Any;
use std::sync::Arc;

use coldframe_core::{Outcome, Sink, Timings};
use parking_lot::Mutex;

use crate::sinks::Answers;
use crate::table::Place;
use crate::wire;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Adopted {
    place: Place,
    answers: Answers,
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
    pub fn new(place: Place, answers: Answers) -> Self {
        Self { place, answers, state: Arc::new(Mutex::new(State::Alone)) }
    }

    /// From now on the request hears of it. False: another one does.
    pub fn attach(&self, id: u32) -> bool {
        let mut state = self.state.lock();
        match std::mem::replace(&mut *state, State::Heard(id)) {
            State::Alone => true,
            State::Heard(other) => {
                *state = State::Heard(other);
                false
            }
            State::Ended(outcome) => {
                drop(state);
                self.answers.answer(id, || wire::outcome(id, &outcome, self.place));
                true
            }
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
            self.answers.output(id, fd, &data);
        }
    }
    fn evaluated(&self, _eval: u32, _outcome: Outcome) {}
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, outcome: Outcome) {
        let mut state = self.state.lock();
        match *state {
            State::Heard(id) => {
                drop(state);
                self.answers.answer(id, || wire::outcome(id, &outcome, self.place));
            }
            _ => *state = State::Ended(Box::new(outcome)),
        }
    }
    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}
