//! Watching from outside. Next: `feed.rs` beside this folder, what is told and how much is kept.

use super::super::feed::{Feed, Waiter};
use super::super::node::Type;
use super::super::watch::{self, Ear};
use super::EmbedderFiles;
use coldframe_error::Error;
use std::sync::Arc;

/// A watch of the caller outside. It must be ended with [`EmbedderFiles::unwatch`].
pub struct EmbedderWatch(Arc<Feed>);

impl EmbedderWatch {
    /// Asks for the next batch of changes; false when somebody is asking already.
    pub fn next(&self, waiter: Waiter) -> bool {
        self.0.next(waiter)
    }
}

impl EmbedderFiles<'_> {
    /// Begins a watch; whether what is watched is a directory.
    pub fn watch(&self, path: &str, recursive: bool) -> Result<(EmbedderWatch, bool), Error> {
        self.explained("watch", path, |path| {
            let is_directory = self.view.stat(path, true)?.kind == Type::Directory;
            let feed = Arc::new(Feed::default());
            watch::begin(&self.view, path, recursive && is_directory, &Ear::EmbedderFiles(feed.clone()), None)?;
            Ok((EmbedderWatch(feed), is_directory))
        })
    }

    /// Ends a watch. Whoever waits for its next batch hears of it.
    pub fn unwatch(&self, watch: &EmbedderWatch) {
        self.view.lock().unwatch_ear(&Ear::EmbedderFiles(watch.0.clone()));
        watch.0.end();
    }
}
