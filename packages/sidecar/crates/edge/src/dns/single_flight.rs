//! Equal queries at the same time: the first caller sends the query, and all callers receive the
//! result.
//!
//! The table belongs to one runtime, so that no runtime learns from the time of a look-up which
//! names another runtime looks up.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::poll_fn;
use std::hash::Hash;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// The queries in progress.
pub struct SingleFlight<K, V>(RefCell<HashMap<K, Rc<Flight<V>>>>);

struct Flight<V>(RefCell<State<V>>);

enum State<V> {
    /// The query is in progress. The wakers belong to the other callers.
    Runs(Vec<Waker>),
    /// The result. `None` means that the first caller has ended without a result.
    Over(Option<V>),
}

impl<K, V> Default for SingleFlight<K, V> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: Clone + Eq + Hash, V: Clone> SingleFlight<K, V> {
    /// Queries with `ask`, or waits for the result of an equal query. If the first caller of the
    /// equal query ends early, the next caller queries.
    pub async fn ask(&self, key: K, ask: impl AsyncFnOnce() -> V) -> V {
        loop {
            let present = self.0.borrow().get(&key).cloned();
            match present {
                Some(flight) => {
                    if let Some(value) = flight.result().await {
                        return value;
                    }
                }
                None => {
                    let flight = Rc::new(Flight(RefCell::new(State::Runs(Vec::new()))));
                    self.0.borrow_mut().insert(key.clone(), flight.clone());
                    let mut running = Running { all: self, key, flight, value: None };
                    let value = ask().await;
                    running.value = Some(value.clone());
                    return value;
                }
            }
        }
    }
}

impl<V: Clone> Flight<V> {
    async fn result(&self) -> Option<V> {
        poll_fn(|cx| match &mut *self.0.borrow_mut() {
            State::Over(value) => Poll::Ready(value.clone()),
            State::Runs(wakers) => {
                if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
                    wakers.push(cx.waker().clone());
                }
                Poll::Pending
            }
        })
        .await
    }
}

/// The first caller. Dropping the value ends the query, also if the caller's future is dropped.
struct Running<'a, K: Eq + Hash, V> {
    all: &'a SingleFlight<K, V>,
    key: K,
    flight: Rc<Flight<V>>,
    value: Option<V>,
}

impl<K: Eq + Hash, V> Drop for Running<'_, K, V> {
    fn drop(&mut self) {
        self.all.0.borrow_mut().remove(&self.key);
        let before = std::mem::replace(&mut *self.flight.0.borrow_mut(), State::Over(self.value.take()));
        if let State::Runs(wakers) = before {
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use std::cell::Cell;
    use std::future::pending;

    #[test]
    fn equal_queries_are_sent_once_and_a_dropped_caller_is_replaced() {
        let flights = SingleFlight::<&str, u32>::default();
        let (count, gate) = (Cell::new(0), Cell::new(false));
        let slow = async || {
            count.set(count.get() + 1);
            let value = count.get();
            poll_fn(|_| if gate.get() { Poll::Ready(()) } else { Poll::Pending }).await;
            value
        };
        let mut dropped = Box::pin(flights.ask("a", async || pending().await));
        assert!(dropped.as_mut().now_or_never().is_none());
        let mut waiting = Box::pin(join_all((0..3).map(|_| flights.ask("a", &slow))));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert_eq!(count.get(), 0, "the first caller still runs");
        drop(dropped);
        assert!(waiting.as_mut().now_or_never().is_none());
        assert_eq!(flights.ask("b", async || 9).now_or_never(), Some(9), "another query does not wait");
        gate.set(true);
        assert_eq!(waiting.as_mut().now_or_never(), Some(vec![1, 1, 1]));
        assert_eq!((count.get(), flights.0.borrow().len()), (1, 0));
        assert_eq!(flights.ask("a", &slow).now_or_never(), Some(2), "no result is kept");
    }
}
