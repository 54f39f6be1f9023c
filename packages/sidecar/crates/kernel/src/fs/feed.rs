//! What the caller outside hears of a watch: changes are kept, up to a bound, until it asks for them.
//!
//! It asks for one batch at a time and hears at once if there is one, else when something happens. Who does not ask costs no more than
//! the bound: what came after it is lost, and the next batch says so. Next: `watch.rs`, who tells; `outside/watching.rs`, who asks.

use super::watch::Change;
use crate::fs::reports::ChangeKind;
use crate::fs::reports::Changes;
use crate::fs::reports::FileChange;
use parking_lot::Mutex;

/// Bytes that are kept for a listener that does not ask; a change counts as its name and a little more.
const MAX_KEPT: usize = 64 << 10;
const ENTRY: usize = 16;

/// Hears of the next batch; none when the watch has ended.
pub type Waiter = Box<dyn FnOnce(Option<Changes>) + Send>;

/// See the module.
#[derive(Default)]
pub(crate) struct Feed(Mutex<State>);

#[derive(Default)]
struct State {
    kept: Changes,
    bytes: usize,
    waiter: Option<Waiter>,
    ended: bool,
}

impl Feed {
    /// Called while the tree is locked, or by the thread that listens to the host: the waiter must not block or call back.
    pub(super) fn tell(&self, change: Change, name: &[u8]) {
        let mut state = self.0.lock();
        if state.ended {
            return;
        }
        let kind = if change == Change::Name { ChangeKind::Name } else { ChangeKind::Content };
        let change = FileChange { kind, name: String::from_utf8_lossy(name).into_owned() };
        // As inotify does: the same change twice in a row is one.
        if state.kept.changes.last() == Some(&change) {
            return;
        }
        if state.bytes + change.name.len() + ENTRY > MAX_KEPT {
            state.kept.overflow = true;
        } else {
            state.bytes += change.name.len() + ENTRY;
            state.kept.changes.push(change);
        }
        if let Some(waiter) = state.waiter.take() {
            waiter(Some(state.take()));
        }
    }

    /// Asks for the next batch. False: somebody is asking already.
    pub(super) fn next(&self, waiter: Waiter) -> bool {
        let mut state = self.0.lock();
        if state.waiter.is_some() {
            return false;
        }
        if state.ended {
            waiter(None);
        } else if state.kept.changes.is_empty() && !state.kept.overflow {
            state.waiter = Some(waiter);
        } else {
            waiter(Some(state.take()));
        }
        true
    }

    /// Nothing more is told.
    pub(super) fn end(&self) {
        let mut state = self.0.lock();
        state.ended = true;
        state.take();
        if let Some(waiter) = state.waiter.take() {
            waiter(None);
        }
    }
}

impl State {
    fn take(&mut self) -> Changes {
        self.bytes = 0;
        std::mem::take(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    fn ask(feed: &Feed) -> Receiver<Option<Changes>> {
        let (sender, receiver) = channel();
        let asked = feed.next(Box::new(move |batch| sender.send(batch).expect("somebody listens")));
        assert!(asked);
        receiver
    }

    #[test]
    fn a_batch_comes_when_there_is_one_and_the_same_change_twice_is_one() {
        let feed = Feed::default();
        let waiting = ask(&feed);
        assert!(waiting.try_recv().is_err());
        assert!(!feed.next(Box::new(|_| {})), "one at a time");
        feed.tell(Change::Name, b"a");
        assert_eq!(waiting.try_recv().expect("told").expect("a batch").changes.len(), 1);
        feed.tell(Change::Content, b"b");
        feed.tell(Change::Content, b"b");
        feed.tell(Change::Name, b"b");
        let batch = ask(&feed).try_recv().expect("at once").expect("a batch");
        assert_eq!((batch.changes.len(), batch.overflow), (2, false));
    }

    #[test]
    fn what_nobody_asks_for_is_bounded_and_the_loss_is_told() {
        let feed = Feed::default();
        for n in 0..100_000 {
            feed.tell(Change::Name, format!("file{n}").as_bytes());
        }
        let batch = ask(&feed).try_recv().expect("at once").expect("a batch");
        assert!(batch.overflow && batch.changes.len() < 10_000, "{}", batch.changes.len());
        feed.tell(Change::Name, b"next");
        let batch = ask(&feed).try_recv().expect("at once").expect("a batch");
        assert_eq!((batch.changes.len(), batch.overflow), (1, false));
    }

    #[test]
    fn an_end_is_told_to_who_waits_and_to_who_asks_later() {
        let feed = Feed::default();
        let waiting = ask(&feed);
        feed.end();
        assert_eq!(waiting.try_recv(), Ok(None));
        feed.tell(Change::Name, b"late");
        assert_eq!(ask(&feed).try_recv(), Ok(None));
    }
}
