//! Runs one operation at a time for each snapshot. A caller whose write equals the running write
//! waits and shares the result of that write. Any other caller waits, and then runs its own
//! operation. Next: `atomic_replace.rs`.

use super::Retention;
use coldframe_error::Error;
use coldframe_panics::process::{Condvar, Mutex};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

type Key = (String, String);
type Outcome = Result<(), Error>;

/// The running operations.
#[derive(Default)]
pub(super) struct SingleFlight {
    running: Mutex<HashMap<Key, Arc<Flight>>>,
}

/// An operation on a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Writing the snapshot with this retention.
    Write(Retention),
    /// Any other operation. Its result is never shared with a waiting caller.
    Own,
}

struct Flight {
    operation: Operation,
    outcome: Mutex<Option<Outcome>>,
    done: Condvar,
}

/// Ends a flight: stores the outcome, also after a panic, and wakes the waiting callers.
struct Landing<'a> {
    flights: &'a SingleFlight,
    key: Key,
    flight: Arc<Flight>,
    outcome: Outcome,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        self.flights.running.lock().remove(&self.key);
        *self.flight.outcome.lock() = Some(self.outcome.clone());
        self.flight.done.notify_all();
    }
}

impl SingleFlight {
    /// Runs `work` for a snapshot of a tenant. If an equal write is running, waits and returns the
    /// result of that write. If a different operation is running, waits and then runs `work`.
    pub(super) fn join(&self, tenant: &str, id: &str, operation: Operation, work: impl FnOnce() -> Outcome) -> Outcome {
        let key = (tenant.to_owned(), id.to_owned());
        let flight = loop {
            let other = match self.running.lock().entry(key.clone()) {
                Entry::Occupied(other) => other.get().clone(),
                Entry::Vacant(place) => {
                    let flight = Flight { operation, outcome: Mutex::default(), done: Condvar::default() };
                    break place.insert(Arc::new(flight)).clone();
                }
            };
            let outcome = Self::wait(&other);
            if operation != Operation::Own && other.operation == operation {
                return outcome;
            }
        };
        let aborted = Err(Error::Snapshot { reason: "it could not be written".to_owned() });
        let mut landing = Landing { flights: self, key, flight, outcome: aborted };
        landing.outcome = work();
        landing.outcome.clone()
    }

    /// Runs `work` when no other operation on the snapshot runs.
    pub(super) fn after<T>(&self, tenant: &str, id: &str, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let mut done = None;
        let ended = self.join(tenant, id, Operation::Own, || {
            done = Some(work());
            Ok(())
        });
        done.unwrap_or_else(|| Err(ended.err().unwrap_or(Error::Snapshot { reason: "it could not be done".to_owned() })))
    }

    fn wait(flight: &Flight) -> Outcome {
        let mut outcome = flight.outcome.lock();
        loop {
            if let Some(outcome) = &*outcome {
                return outcome.clone();
            }
            flight.done.wait(&mut outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread::{scope, yield_now};

    /// Runs `second` while `first` runs. Returns the outcome of `second`, and the operations that
    /// ran, in order.
    fn run_beside(first: Operation, second: Operation) -> (Outcome, Vec<u8>) {
        let (flights, done) = (SingleFlight::default(), Mutex::new(Vec::new()));
        let (begun, has_begun) = mpsc::channel();
        let outcome = scope(|scope| {
            let (flights, done) = (&flights, &done);
            let refused = || Err(Error::Snapshot { reason: "refused".to_owned() });
            scope.spawn(move || {
                let _ = flights.join("t", "s", first, || {
                    begun.send(()).expect("the second thread waits");
                    // Each waiting caller has a reference to the flight.
                    while flights.running.lock().values().all(|flight| Arc::strong_count(flight) < 3) {
                        yield_now();
                    }
                    done.lock().push(1);
                    refused()
                });
            });
            has_begun.recv().expect("the first operation starts");
            flights.join("t", "s", second, || {
                done.lock().push(2);
                Ok(())
            })
        });
        assert!(flights.running.lock().is_empty());
        (outcome, done.into_inner())
    }

    #[test]
    fn shares_an_outcome_with_callers_of_an_equal_operation() {
        for same in [Retention::No, Retention::WhileOpen, Retention::Always].map(Operation::Write) {
            let (outcome, done) = run_beside(same, same);
            assert!(outcome.is_err());
            assert_eq!(done, [1]);
        }
        for (first, second) in [
            (Operation::Own, Operation::Write(Retention::No)),
            (Operation::Own, Operation::Own),
            (Operation::Write(Retention::No), Operation::Own),
            (Operation::Write(Retention::No), Operation::Write(Retention::Always)),
            (Operation::Write(Retention::Always), Operation::Write(Retention::WhileOpen)),
        ] {
            assert_eq!(run_beside(first, second), (Ok(()), vec![1, 2]), "{first:?}, {second:?}");
        }
    }
}
