//! The lock of a socket table. The release of the lock delivers mail of private networks. This
//! thread has posted mail to other runtimes, and other threads may have posted mail to this table
//! while it was locked (`../networks/mailbox.rs`). Next: `members/`.

use super::sockets::{SocketState, Sockets};
use crate::networks::mailbox::deliver_posted;
use coldframe_panics::runtime::MutexGuard;
use std::ops::{Deref, DerefMut};

/// The locked state of a runtime's sockets.
pub(super) struct Turn<'a> {
    // The fields are dropped in this order: the lock is released first.
    state: MutexGuard<'a, SocketState>,
    _after: AfterRelease<'a>,
}

/// Delivers the signals of terminals, and mail, after the lock was released.
struct AfterRelease<'a>(&'a Sockets);

impl<'a> Turn<'a> {
    pub(super) fn new(sockets: &'a Sockets, state: MutexGuard<'a, SocketState>) -> Self {
        Self { state, _after: AfterRelease(sockets) }
    }
}

impl Deref for Turn<'_> {
    type Target = SocketState;

    fn deref(&self) -> &SocketState {
        &self.state
    }
}

impl DerefMut for Turn<'_> {
    fn deref_mut(&mut self) -> &mut SocketState {
        &mut self.state
    }
}

impl Drop for AfterRelease<'_> {
    fn drop(&mut self) {
        // A runtime that was never in a network has no mailbox, and posts nothing. After a panic
        // the runtime ends, and its end delivers the mail.
        if std::thread::panicking() {
            return;
        }
        self.0.posted.deliver(&self.0.processes);
        let Some(mailbox) = self.0.mailbox.get() else { return };
        if mailbox.has_mail() {
            mailbox.visit_later();
        }
        deliver_posted();
    }
}
