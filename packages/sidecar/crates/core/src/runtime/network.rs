//! A runtime's loopback, for its owner: connections to who listens there, and waiting for somebody who will.
//!
//! The owner gives each connection and each wait a number of its own; what happens to it is told to the [`crate::Host`] by that number. A number
//! that means nothing (any more) is no error: it crossed an end.

use super::{Inner, Runtime};
use crate::network::{ListenerEntry, Target};
use coldframe_error::Error;
use std::sync::Arc;

/// See the module.
pub struct Network {
    inner: Arc<Inner>,
}

impl Runtime {
    /// Its loopback.
    pub fn network(&self) -> Network {
        Network { inner: self.inner.clone() }
    }
}

impl Network {
    fn alive(&self) -> Result<(), Error> {
        if self.inner.programs.lock().disposed { Err(Error::RuntimeDisposed) } else { Ok(()) }
    }

    /// Connects to a listener. A code such as `ECONNREFUSED` says why not.
    pub fn connect(&self, number: u32, target: &Target) -> Result<(), Error> {
        self.alive()?;
        self.inner.kernel().visit(number, target)
    }

    /// Writes to a connection. What exceeds the credit loses it.
    pub fn write(&self, number: u32, bytes: &[u8]) {
        self.inner.kernel().sockets.visitor_writes(number, bytes, false);
    }

    /// Writes no more.
    pub fn end(&self, number: u32) {
        self.inner.kernel().sockets.visitor_writes(number, &[], true);
    }

    /// Has read so many bytes.
    pub fn credit(&self, number: u32, bytes: u64) {
        self.inner.kernel().sockets.visitor_has_read(number, bytes);
    }

    /// Leaves a connection, of which nothing more is told. `reset`: the guest sees a reset and not the end.
    pub fn close(&self, number: u32, reset: bool) {
        self.inner.kernel().sockets.visitor_leaves(number, reset);
    }

    /// Who listens; with a target, who would be connected to there.
    pub fn listeners(&self, target: Option<&Target>) -> Result<Vec<ListenerEntry>, Error> {
        self.alive()?;
        match target {
            Some(target) => Ok(self.inner.kernel().listener(target)?.into_iter().collect()),
            None => Ok(self.inner.kernel().listeners()),
        }
    }

    /// Waits for somebody who listens; told as [`crate::NetworkEvent::Listener`], within this call when there is one.
    pub fn wait(&self, number: u32, target: &Target) -> Result<(), Error> {
        self.alive()?;
        self.inner.kernel().await_listener(number, target)
    }

    /// Waits no more: the wait is answered with `ERR_CANCELED`, unless it has been answered.
    pub fn stop_waiting(&self, number: u32) {
        self.inner.kernel().sockets.stop_waiting(number);
    }
}
