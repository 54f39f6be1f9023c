//! The embedder's access to a runtime's loopback network: inbound connections, and waits for
//! listeners.
//!
//! The embedder numbers its connections and its waits. The [`crate::Embedder`] receives events with
//! those numbers. A call with an unknown number is ignored, because the connection may have ended
//! before the call arrived. Next: `embedder.rs`.

use super::{Inner, Runtime};
use crate::outside::RuntimeOutside;
use coldframe_error::Error;
use coldframe_ids::ConnectionId;
use coldframe_kernel::{ListenerEntry, Target};
use std::sync::Arc;

/// The embedder's access to a runtime's loopback network.
pub struct Network {
    inner: Arc<Inner>,
}

impl Runtime {
    /// Returns the embedder's access to the runtime's loopback network.
    pub fn network(&self) -> Network {
        Network { inner: self.inner.clone() }
    }
}

impl Network {
    fn alive(&self) -> Result<(), Error> {
        if self.inner.programs.lock().disposed { Err(Error::RuntimeDisposed) } else { Ok(()) }
    }

    /// Connects to a listener. Fails with `ECONNREFUSED` if no program listens at `target`.
    pub fn connect(&self, id: ConnectionId, target: &Target) -> Result<(), Error> {
        self.alive()?;
        self.inner.kernel().connect_inbound(id, target)
    }

    /// Opens a connection to the request out of the runtime that
    /// [`crate::Embedder::handler_wanted`] has named. If the request has ended, the connection is
    /// closed.
    pub fn handle(&self, id: ConnectionId, number: u32) -> Result<(), Error> {
        self.alive()?;
        match self.inner.outside.get() {
            Some(outside) => outside.open_handled(id, number),
            None => Err(Error::EdgeEnded { reason: "no process has the runtime".to_owned() }),
        }
    }

    /// Calls `call` with the connections to requests. Returns whether one of them is meant.
    fn is_handled(&self, call: impl FnOnce(&RuntimeOutside) -> bool) -> bool {
        self.inner.outside.get().is_some_and(|outside| call(outside))
    }

    /// Writes to a connection. A write that exceeds the credit closes the connection with an error.
    pub fn write(&self, id: ConnectionId, bytes: &[u8]) {
        if !self.is_handled(|outside| outside.write_handled(id, bytes, false)) {
            self.inner.kernel().sockets.inbound_write(id, bytes, false);
        }
    }

    /// Ends the embedder's direction of a connection.
    pub fn end(&self, id: ConnectionId) {
        if !self.is_handled(|outside| outside.write_handled(id, &[], true)) {
            self.inner.kernel().sockets.inbound_write(id, &[], true);
        }
    }

    /// Adds credit: the embedder has read `bytes`.
    pub fn credit(&self, id: ConnectionId, bytes: u64) {
        if !self.is_handled(|outside| outside.credit_handled(id, bytes)) {
            self.inner.kernel().sockets.inbound_credit(id, bytes);
        }
    }

    /// Closes a connection. No further events of the connection are sent. With `reset`, the guest
    /// receives a reset instead of the end.
    pub fn close(&self, id: ConnectionId, reset: bool) {
        if !self.is_handled(|outside| outside.close_handled(id)) {
            self.inner.kernel().sockets.inbound_close(id, reset);
        }
    }

    /// Returns the listeners. With a target, returns the listener that a connection would reach.
    pub fn listeners(&self, target: Option<&Target>) -> Result<Vec<ListenerEntry>, Error> {
        self.alive()?;
        match target {
            Some(target) => Ok(self.inner.kernel().listener(target)?.into_iter().collect()),
            None => Ok(self.inner.kernel().listeners()),
        }
    }

    /// Waits for a listener. The result is sent as [`crate::NetworkEvent::Listener`], within this
    /// call if a listener exists.
    pub fn wait(&self, id: ConnectionId, target: &Target) -> Result<(), Error> {
        self.alive()?;
        self.inner.kernel().await_listener(id, target)
    }

    /// Cancels a wait. A wait that has not ended ends with `ERR_CANCELED`.
    pub fn stop_waiting(&self, id: ConnectionId) {
        self.inner.kernel().sockets.stop_waiting(id);
    }
}
