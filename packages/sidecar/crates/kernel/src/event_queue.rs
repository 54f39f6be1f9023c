//! A queue of events, from which the embedder takes events. The queue is bounded, so that a slow
//! embedder costs a bounded amount of memory. Next: `networks/events.rs`.

use coldframe_panics::process::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The largest number of events in a queue. The queue of permission decisions has an
/// equal bound.
const MAX_EVENTS: usize = 4_096;

/// Receives notifications of a queue's events.
pub trait QueueListener: Send + Sync {
    /// Notifies the listener that the queue has events, which [`EventQueue::take`] returns. The
    /// next notification follows after a `take` has returned no events. Must not block.
    fn pending(&self);
}

/// An event and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedEvent<E> {
    /// The time at which the event arrived, in microseconds since 1970.
    pub time_us: u64,
    /// The event.
    pub event: E,
}

/// Events in their order, and the number of lost events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenEvents<E> {
    /// The events.
    pub events: Vec<TimedEvent<E>>,
    /// The number of events that were lost since the last take.
    pub lost: u64,
}

impl<E> Default for TakenEvents<E> {
    fn default() -> Self {
        Self { events: Vec::new(), lost: 0 }
    }
}

/// A queue. Without a listener, the queue stays empty.
pub struct EventQueue<E>(Mutex<State<E>>);

struct State<E> {
    listener: Option<Arc<dyn QueueListener>>,
    /// Whether the listener has been notified since the last take that returned no events.
    notified: bool,
    events: VecDeque<TimedEvent<E>>,
    lost: u64,
}

impl<E> Default for State<E> {
    fn default() -> Self {
        Self { listener: None, notified: false, events: VecDeque::new(), lost: 0 }
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self(Mutex::new(State::default()))
    }
}

/// Returns the time in microseconds since 1970.
pub fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

impl<E> EventQueue<E> {
    /// Replaces or removes the listener. Waiting events are dropped.
    pub fn listen(&self, listener: Option<Arc<dyn QueueListener>>) {
        let mut state = self.0.lock();
        *state = State { listener, ..State::default() };
    }

    /// Adds an event. `lost` is the number of events that were lost before this event.
    pub fn push(&self, event: E, lost: u64) {
        let listener = {
            let mut state = self.0.lock();
            let Some(listener) = state.listener.clone() else { return };
            state.lost = state.lost.saturating_add(lost);
            if state.events.len() < MAX_EVENTS {
                state.events.push_back(TimedEvent { time_us: now_us(), event });
            } else {
                state.lost = state.lost.saturating_add(1);
            }
            (!std::mem::replace(&mut state.notified, true)).then_some(listener)
        };
        if let Some(listener) = listener {
            listener.pending();
        }
    }

    /// Takes at most `most` events.
    pub fn take(&self, most: usize) -> TakenEvents<E> {
        let mut state = self.0.lock();
        let count = state.events.len().min(most);
        let events: Vec<_> = state.events.drain(..count).collect();
        // The number of lost events follows the last event of the queue.
        let lost = if state.events.is_empty() { std::mem::take(&mut state.lost) } else { 0 };
        if events.is_empty() && lost == 0 {
            state.notified = false;
        }
        TakenEvents { events, lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Default)]
    struct Counter(AtomicU64);

    impl QueueListener for Counter {
        fn pending(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn holds_a_bounded_number_of_events_and_counts_the_others() {
        let (queue, counter) = (EventQueue::<usize>::default(), Arc::new(Counter::default()));
        queue.push(0, 0);
        assert_eq!(queue.take(10), TakenEvents::default(), "there is no listener");
        queue.listen(Some(counter.clone()));
        (0..MAX_EVENTS + 10).for_each(|number| queue.push(number, u64::from(number == 5)));
        assert_eq!(counter.0.load(Ordering::Relaxed), 1, "one notification until a take returns nothing");
        let first = queue.take(1);
        assert_eq!((first.events[0].event, first.lost), (0, 0));
        let rest = queue.take(usize::MAX);
        assert_eq!((rest.events.len(), rest.lost), (MAX_EVENTS - 1, 11));
        queue.push(1, 0);
        assert_eq!(counter.0.load(Ordering::Relaxed), 1);
        assert_eq!(queue.take(usize::MAX).events.len(), 1);
        assert_eq!(queue.take(usize::MAX), TakenEvents::default());
        queue.push(2, 0);
        assert_eq!(counter.0.load(Ordering::Relaxed), 2);
        queue.listen(None);
        assert_eq!(queue.take(usize::MAX), TakenEvents::default());
    }
}
