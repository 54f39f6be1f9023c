//! The list of listeners for the embedder, and waits for listeners that do not exist yet.
//!
//! Nothing polls. The call that makes a socket listen also ends the waits for this listener. The
//! end of the runtime ends all waits. The embedder measures the time limit of a wait and cancels
//! the wait. Next: `requests.rs`.

use super::{ListenerEntry, NetworkEvent};
use crate::ids::SocketId;
use crate::net::address::{Address, reaches};
use crate::net::socket::{Role, Socket};
use crate::net::sockets::SocketState;
use coldframe_error::{Errno, Error};
use coldframe_ids::{ConnectionId, Pid};
use std::collections::BTreeMap;

/// The maximum number of waits of a runtime at a time.
const MAX_WAITS: usize = 1_024;

/// The waits for listeners, by the embedder's ids.
#[derive(Default)]
pub(in crate::net) struct ListenerWaits(BTreeMap<ConnectionId, Awaited>);

/// The listener that a wait is for.
pub(in crate::net) enum Awaited {
    /// A listener that at least one of these addresses reaches.
    Addresses(Vec<Address>),
    /// A listener on the Unix socket at this path.
    Path(String),
}

impl SocketState {
    /// Returns the first listener that one of the addresses reaches.
    pub(super) fn listener_at(&self, addresses: &[Address]) -> Option<SocketId> {
        addresses.iter().filter_map(|address| self.network.index().listener_at(address)).min()
    }

    /// Returns the process and the address of each listener.
    pub(super) fn listeners(&self) -> Vec<(Pid, Address)> {
        let entry = |socket: &Socket| match (&socket.role, &socket.local) {
            (Role::Listening(listener), Some(local)) => Some((listener.pid, local.clone())),
            _ => None,
        };
        self.network.sockets.values().filter_map(|socket| entry(socket)).collect()
    }

    /// Returns the process and the address of a listener. Returns `None` if the socket does not
    /// listen.
    pub(super) fn listener(&self, id: SocketId) -> Option<(Pid, Address)> {
        match (self.network.get(id).ok()?, self.network.get(id).ok()?.local.clone()) {
            (Socket { role: Role::Listening(listener), .. }, Some(local)) => Some((listener.pid, local)),
            _ => None,
        }
    }

    /// Adds a wait. Fails with `EEXIST` if the id is in use, and with `ENOBUFS` if the runtime has
    /// too many waits.
    pub(super) fn await_listener(&mut self, wait: ConnectionId, awaited: Awaited) -> Result<(), Errno> {
        self.embedder()?;
        if self.waits.0.contains_key(&wait) {
            return Err(Errno::EEXIST);
        }
        if self.waits.0.len() >= MAX_WAITS {
            return Err(Errno::ENOBUFS);
        }
        self.waits.0.insert(wait, awaited);
        Ok(())
    }

    /// Returns the waits for an address of the socket `id`. Waits for a path are not included: the
    /// caller has access to the files and compares the paths.
    pub(super) fn waits_for(&self, id: SocketId) -> Vec<ConnectionId> {
        let Ok(socket) = self.network.get(id) else { return Vec::new() };
        let is_met = |awaited: &Awaited| match awaited {
            Awaited::Addresses(addresses) => addresses.iter().any(|address| reaches(socket, address)),
            Awaited::Path(_) => false,
        };
        self.waits.0.iter().filter(|(_, awaited)| is_met(awaited)).map(|(wait, _)| *wait).collect()
    }

    /// Returns the waits for a path, with their paths.
    pub(super) fn awaited_paths(&self) -> Vec<(ConnectionId, String)> {
        let path = |(wait, awaited): (&ConnectionId, &Awaited)| match awaited {
            Awaited::Path(path) => Some((*wait, path.clone())),
            Awaited::Addresses(_) => None,
        };
        self.waits.0.iter().filter_map(path).collect()
    }

    /// Ends a wait with `result`. Has no effect if the wait has ended already.
    pub(super) fn end_wait(&mut self, wait: ConnectionId, result: Result<ListenerEntry, Error>) {
        if self.waits.0.remove(&wait).is_some()
            && let Some(embedder) = &self.embedder
        {
            embedder.network(wait, NetworkEvent::Listener(result));
        }
    }

    /// Ends all waits. The embedder receives `error` for each wait.
    pub(super) fn end_waits(&mut self, error: &Error) {
        for wait in std::mem::take(&mut self.waits.0).into_keys() {
            if let Some(embedder) = &self.embedder {
                embedder.network(wait, NetworkEvent::Listener(Err(error.clone())));
            }
        }
    }
}
