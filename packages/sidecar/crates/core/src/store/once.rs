//! One at a time for each snapshot: whoever wants what is being done already waits and has the same answer.

use crate::error::Error;
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

type Key = (String, String);
type Answer = Result<(), Error>;

/// See the module.
#[derive(Default)]
pub(super) struct Once {
    under_way: Mutex<HashMap<Key, Arc<Flight>>>,
}

#[derive(Default)]
struct Flight {
    answer: Mutex<Option<Answer>>,
    done: Condvar,
}

/// Answers when the work is done, or cannot be done any more.
struct Landing<'a> {
    once: &'a Once,
    key: Key,
    flight: Arc<Flight>,
    answer: Answer,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.once.under_way.lock().remove(&self.key);
        *self.flight.answer.lock() = Some(self.answer.clone());
        self.flight.done.notify_all();
    }
}

impl Once {
    /// Does `work` for a snapshot of a tenant's, or waits for whoever is at it.
    pub(super) fn join(&self, tenant: &str, id: &str, work: impl FnOnce() -> Answer) -> Answer {
        let key = (tenant.to_owned(), id.to_owned());
        let flight = match self.under_way.lock().entry(key.clone()) {
            Entry::Occupied(other) => Err(other.get().clone()),
            Entry::Vacant(place) => Ok(place.insert(Arc::default()).clone()),
        };
        match flight {
            Err(other) => Self::wait(&other),
            Ok(flight) => {
                let died = Err(Error::Snapshot { reason: "it could not be written".to_owned() });
                let mut landing = Landing { once: self, key, flight, answer: died };
                landing.answer = work();
                landing.answer.clone()
            }
        }
    }

    /// Does `work` when nothing is being done for the snapshot.
    pub(super) fn after<T>(&self, tenant: &str, id: &str, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let mut work = Some(work);
        let mut done = None;
        while let Some(waiting) = work.take() {
            let mut waiting = Some(waiting);
            let _ = self.join(tenant, id, || {
                done = waiting.take().map(|work| work());
                Ok(())
            });
            work = waiting;
        }
        done.unwrap_or_else(|| Err(Error::Snapshot { reason: "it could not be done".to_owned() }))
    }

    fn wait(flight: &Flight) -> Answer {
        let mut answer = flight.answer.lock();
        loop {
            if let Some(answer) = &*answer {
                return answer.clone();
            }
            flight.done.wait(&mut answer);
        }
    }
}
