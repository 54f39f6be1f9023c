//! One at a time for each snapshot. Whoever wants what is being done already waits and has the same answer; whoever wants something else waits, and does it then.

use super::Stay;
use coldframe_error::Error;
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

/// What is done with a snapshot, as far as one answer can be another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// It is written, and stays for so long when others need room.
    Write(Stay),
    /// Anything else: its answer is nobody else's.
    Own,
}

struct Flight {
    work: Work,
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
    /// Does `work` for a snapshot of a tenant's, or waits for whoever is at the same.
    pub(super) fn join(&self, tenant: &str, id: &str, what: Work, work: impl FnOnce() -> Answer) -> Answer {
        let key = (tenant.to_owned(), id.to_owned());
        let flight = loop {
            let other = match self.under_way.lock().entry(key.clone()) {
                Entry::Occupied(other) => other.get().clone(),
                Entry::Vacant(place) => {
                    let flight = Flight { work: what, answer: Mutex::default(), done: Condvar::default() };
                    break place.insert(Arc::new(flight)).clone();
                }
            };
            let answer = Self::wait(&other);
            if what != Work::Own && other.work == what {
                return answer;
            }
        };
        let died = Err(Error::Snapshot { reason: "it could not be written".to_owned() });
        let mut landing = Landing { once: self, key, flight, answer: died };
        landing.answer = work();
        landing.answer.clone()
    }

    /// Does `work` when nothing is being done for the snapshot.
    pub(super) fn after<T>(&self, tenant: &str, id: &str, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let mut done = None;
        let ended = self.join(tenant, id, Work::Own, || {
            done = Some(work());
            Ok(())
        });
        done.unwrap_or_else(|| Err(ended.err().unwrap_or(Error::Snapshot { reason: "it could not be done".to_owned() })))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread::{scope, yield_now};

    /// What comes of `second`, which begins while `first` is under way: its answer, and what was done, in order.
    fn beside(first: Work, second: Work) -> (Answer, Vec<u8>) {
        let (once, done) = (Once::default(), Mutex::new(Vec::new()));
        let (begun, has_begun) = mpsc::channel();
        let answer = scope(|scope| {
            let (once, done) = (&once, &done);
            let refused = || Err(Error::Snapshot { reason: "refused".to_owned() });
            scope.spawn(move || {
                let _ = once.join("t", "s", first, || {
                    begun.send(()).expect("it is waited for");
                    // The other one waits: it holds the flight too.
                    while once.under_way.lock().values().all(|flight| Arc::strong_count(flight) < 3) {
                        yield_now();
                    }
                    done.lock().push(1);
                    refused()
                });
            });
            has_begun.recv().expect("it begins");
            once.join("t", "s", second, || {
                done.lock().push(2);
                Ok(())
            })
        });
        assert!(once.under_way.lock().is_empty());
        (answer, done.into_inner())
    }

    #[test]
    fn an_answer_is_for_those_who_want_the_same() {
        for same in [Stay::No, Stay::WhileOpen, Stay::Always].map(Work::Write) {
            let (answer, done) = beside(same, same);
            assert!(answer.is_err());
            assert_eq!(done, [1]);
        }
        for (first, second) in [
            (Work::Own, Work::Write(Stay::No)),
            (Work::Own, Work::Own),
            (Work::Write(Stay::No), Work::Own),
            (Work::Write(Stay::No), Work::Write(Stay::Always)),
            (Work::Write(Stay::Always), Work::Write(Stay::WhileOpen)),
        ] {
            assert_eq!(beside(first, second), (Ok(()), vec![1, 2]), "{first:?}, {second:?}");
        }
    }
}
