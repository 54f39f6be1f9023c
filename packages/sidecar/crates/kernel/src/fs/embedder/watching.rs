//! The embedder's watches on files and directories. The embedder requests the changes of a watch in
//! batches. Next: `../feed.rs`, which stores the changes.

use super::super::feed::{ChangeFeed, Waiter};
use super::super::node::Type;
use super::super::watch::{self, Subscriber};
use super::EmbedderFiles;
use crate::fs::reports::Changes;
use coldframe_error::Error;
use std::sync::Arc;

/// A watch of the embedder. The embedder must end the watch with [`EmbedderFiles::unwatch`].
pub struct EmbedderWatch(Arc<ChangeFeed>);

impl EmbedderWatch {
    /// Requests the next batch of changes. Returns false if another request already waits.
    pub fn next(&self, waiter: Waiter) -> bool {
        self.0.next(waiter)
    }
}

impl EmbedderFiles<'_> {
    /// Starts a watch, with typed events if `typed` is set. Returns the watch, and whether the
    /// watched file is a directory.
    pub fn watch(&self, path: &str, recursive: bool, typed: bool) -> Result<(EmbedderWatch, bool), Error> {
        self.explained("watch", path, |path| {
            let is_directory = self.view.stat(path, true)?.kind == Type::Directory;
            let feed = Arc::new(ChangeFeed::new(typed));
            watch::begin(&self.view, path, recursive && is_directory, &Subscriber::Embedder(feed.clone()), None)?;
            Ok((EmbedderWatch(feed), is_directory))
        })
    }

    /// Returns the changes until now that no request has received.
    pub fn drain(&self, watch: &EmbedderWatch) -> Changes {
        let tree = self.view.lock();
        tree.host_watchers.pump();
        watch.0.drain()
    }

    /// Ends a watch. A waiting request receives `None`.
    pub fn unwatch(&self, watch: &EmbedderWatch) {
        self.view.lock().unwatch_subscriber(&Subscriber::Embedder(watch.0.clone()));
        watch.0.end();
    }
}
