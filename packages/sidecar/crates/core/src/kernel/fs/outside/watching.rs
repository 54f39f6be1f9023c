//! Watching from outside. Next: `feed.rs` beside this folder, what is told and how much is kept.

use super::super::feed::{Feed, Waiter};
use super::super::node::Type;
use super::super::watch::{self, Ear};
use super::Outside;
use coldframe_error::Error;
use std::sync::Arc;

/// A watch of the caller outside. It must be ended with [`Outside::unwatch`].
pub(crate) struct OutsideWatch(Arc<Feed>);

impl OutsideWatch {
    /// Asks for the next batch of changes; false when somebody is asking already.
    pub(crate) fn next(&self, waiter: Waiter) -> bool {
        self.0.next(waiter)
    }
}

impl Outside<'_> {
    /// Begins a watch; whether what is watched is a directory.
    pub(crate) fn watch(&self, path: &str, recursive: bool) -> Result<(OutsideWatch, bool), Error> {
        self.explained("watch", path, |path| {
            let is_directory = self.view.stat(path, true)?.kind == Type::Directory;
            let feed = Arc::new(Feed::default());
            watch::begin(&self.view, path, recursive && is_directory, &Ear::Outside(feed.clone()), None)?;
            Ok((OutsideWatch(feed), is_directory))
        })
    }

    /// Ends a watch. Whoever waits for its next batch hears of it.
    pub(crate) fn unwatch(&self, watch: &OutsideWatch) {
        self.view.lock().unwatch_ear(&Ear::Outside(watch.0.clone()));
        watch.0.end();
    }
}
