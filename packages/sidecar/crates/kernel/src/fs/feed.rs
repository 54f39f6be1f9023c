//! The changes of one watch of the embedder. A bounded number of bytes is stored until the embedder
//! requests the changes.
//!
//! The embedder requests one batch at a time. If changes are stored, the reply follows immediately,
//! otherwise after the next change. If the embedder sends no requests, changes beyond the bound are
//! lost, and the next batch reports the loss. Next: `watch.rs`, which adds the changes, and
//! `embedder/watching.rs`, which requests the changes.

use super::watch::Change;
use crate::fs::reports::ChangeKind;
use crate::fs::reports::Changes;
use crate::fs::reports::FileChange;
use coldframe_panics::runtime::Mutex;

/// The maximum number of bytes that are stored without a request. A change counts the length of its
/// name and `ENTRY`.
const MAX_KEPT: usize = 64 << 10;
const ENTRY: usize = 16;

/// Receives the next batch of changes. Receives `None` when the watch has ended.
pub type Waiter = Box<dyn FnOnce(Option<Changes>) + Send>;

/// The stored changes of one watch.
#[derive(Default)]
pub(crate) struct ChangeFeed {
    /// Whether the embedder receives typed events.
    typed: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    kept: Changes,
    bytes: usize,
    waiter: Option<Waiter>,
    ended: bool,
}

impl ChangeFeed {
    /// Adds a change. The caller holds the lock of the tree, or is the thread that reads the host
    /// machine's events. The waiter must therefore not block, and must not call the kernel.
    pub(super) fn notify(&self, change: Change, name: &[u8]) {
        let kind = match change {
            Change::Created | Change::Removed | Change::Moved if !self.typed => ChangeKind::Name,
            Change::Written | Change::Attributes if !self.typed => ChangeKind::Content,
            Change::Created => ChangeKind::Created,
            Change::Removed => ChangeKind::Removed,
            Change::Moved => ChangeKind::Renamed,
            Change::Written => ChangeKind::Written,
            Change::Attributes => ChangeKind::Attributes,
        };
        self.add(FileChange { kind, name: text(name), to: None });
    }

    /// Adds a move from a name to another name. A name is `None` outside the watched directory. An
    /// untyped feed receives one change for each name. The rules of [`Self::notify`] apply.
    pub(super) fn notify_move(&self, from: Option<&[u8]>, to: Option<&[u8]>) {
        match (from, to) {
            (Some(from), Some(to)) if self.typed => {
                self.add(FileChange { kind: ChangeKind::Renamed, name: text(from), to: Some(text(to)) });
            }
            (from, to) => {
                from.into_iter().for_each(|name| self.notify(Change::Moved, name));
                to.into_iter().for_each(|name| self.notify(Change::Created, name));
            }
        }
    }

    fn add(&self, change: FileChange) {
        let mut state = self.state.lock();
        if state.ended {
            return;
        }
        // Two equal changes in a row are merged, as in inotify.
        if state.kept.changes.last() == Some(&change) {
            return;
        }
        let bytes = change.name.len() + change.to.as_ref().map_or(0, String::len) + ENTRY;
        if state.bytes + bytes > MAX_KEPT {
            state.kept.overflow = true;
        } else {
            state.bytes += bytes;
            state.kept.changes.push(change);
        }
        if let Some(waiter) = state.waiter.take() {
            waiter(Some(state.take()));
        }
    }

    /// Makes the feed of a watch. `typed` selects typed events.
    pub(super) fn new(typed: bool) -> Self {
        Self { typed, state: Mutex::default() }
    }

    /// Returns the stored changes at once. A waiting request has received all other changes.
    pub(super) fn drain(&self) -> Changes {
        self.state.lock().take()
    }

    /// Requests the next batch. Returns false if another request already waits.
    pub(super) fn next(&self, waiter: Waiter) -> bool {
        let mut state = self.state.lock();
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

    /// Ends the watch. The waiter receives `None`.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        state.take();
        if let Some(waiter) = state.waiter.take() {
            waiter(None);
        }
    }
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
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

    fn request(feed: &ChangeFeed) -> Receiver<Option<Changes>> {
        let (sender, receiver) = channel();
        let accepted = feed.next(Box::new(move |batch| sender.send(batch).expect("a receiver")));
        assert!(accepted);
        receiver
    }

    #[test]
    fn completes_a_request_when_a_change_is_added_and_joins_equal_changes() {
        let feed = ChangeFeed::default();
        let waiting = request(&feed);
        assert!(waiting.try_recv().is_err());
        assert!(!feed.next(Box::new(|_| {})), "one request at a time");
        feed.notify(Change::Created, b"a");
        assert_eq!(waiting.try_recv().expect("a reply").expect("a batch").changes.len(), 1);
        feed.notify(Change::Written, b"b");
        feed.notify(Change::Written, b"b");
        feed.notify(Change::Created, b"b");
        let batch = request(&feed).try_recv().expect("at once").expect("a batch");
        assert_eq!((batch.changes.len(), batch.overflow), (2, false));
    }

    #[test]
    fn a_typed_feed_joins_the_names_of_a_move() {
        let feed = ChangeFeed::new(true);
        feed.notify_move(Some(b"a"), Some(b"b"));
        feed.notify_move(Some(b"b"), None);
        feed.notify_move(None, Some(b"c"));
        let change = |kind, name: &str, to: Option<&str>| FileChange { kind, name: name.to_owned(), to: to.map(str::to_owned) };
        let expected = [
            change(ChangeKind::Renamed, "a", Some("b")),
            change(ChangeKind::Renamed, "b", None),
            change(ChangeKind::Created, "c", None),
        ];
        assert_eq!(feed.drain().changes, expected);
        assert_eq!(feed.drain(), Changes::default());
        let untyped = ChangeFeed::default();
        untyped.notify_move(Some(b"a"), Some(b"b"));
        let kinds: Vec<_> = untyped.drain().changes.into_iter().map(|change| (change.kind, change.name)).collect();
        assert_eq!(kinds, [(ChangeKind::Name, "a".to_owned()), (ChangeKind::Name, "b".to_owned())]);
    }

    #[test]
    fn unrequested_changes_are_bounded_and_the_loss_is_reported() {
        let feed = ChangeFeed::default();
        for n in 0..100_000 {
            feed.notify(Change::Created, format!("file{n}").as_bytes());
        }
        let batch = request(&feed).try_recv().expect("at once").expect("a batch");
        assert!(batch.overflow && batch.changes.len() < 10_000, "{}", batch.changes.len());
        feed.notify(Change::Created, b"next");
        let batch = request(&feed).try_recv().expect("at once").expect("a batch");
        assert_eq!((batch.changes.len(), batch.overflow), (1, false));
    }

    #[test]
    fn the_end_is_reported_to_waiting_and_later_requests() {
        let feed = ChangeFeed::default();
        let waiting = request(&feed);
        feed.end();
        assert_eq!(waiting.try_recv(), Ok(None));
        feed.notify(Change::Created, b"late");
        assert_eq!(request(&feed).try_recv(), Ok(None));
    }
}
