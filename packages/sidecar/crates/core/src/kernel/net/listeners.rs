//! Who listens, for the caller outside: the list, and the wait for somebody who does not yet. Nothing looks again and again: a wait is answered by
//! the call that begins to listen, or by the end of the runtime. Time limits are the caller's: it takes its wait back. Next: `outside.rs`.

use super::address::{Address, reaches};
use super::ends::State;
use super::socket::{Id, Role, Socket};
use crate::network::{ListenerEntry, NetworkEvent};
use coldframe_error::Errno;
use coldframe_error::Error;
use std::collections::BTreeMap;

/// Waits that may be under way in a runtime.
const MAX_WAITS: usize = 1_024;

/// Waits by the caller's numbers.
#[derive(Default)]
pub(super) struct Waits(BTreeMap<u32, Awaited>);

/// Who is waited for.
pub(super) enum Awaited {
    /// Somebody who is reached at one of these addresses.
    Addresses(Vec<Address>),
    /// Somebody whose name is at this path.
    Path(String),
}

impl State {
    /// The first who listens at one of the addresses.
    pub(super) fn listener_at(&self, addresses: &[Address]) -> Option<Id> {
        let listens = |(id, socket): (&Id, &Socket)| {
            let found = matches!(socket.role, Role::Listening(_)) && addresses.iter().any(|address| reaches(socket, address));
            found.then_some(*id)
        };
        self.network.sockets.iter().find_map(listens)
    }

    /// Those who listen, with their own addresses.
    pub(super) fn listeners(&self) -> Vec<(u32, Address)> {
        let entry = |socket: &Socket| match (&socket.role, &socket.local) {
            (Role::Listening(listener), Some(local)) => Some((listener.pid, local.clone())),
            _ => None,
        };
        self.network.sockets.values().filter_map(entry).collect()
    }

    /// The same for one of them.
    pub(super) fn listener(&self, id: Id) -> Option<(u32, Address)> {
        match (self.network.get(id).ok()?, self.network.get(id).ok()?.local.clone()) {
            (Socket { role: Role::Listening(listener), .. }, Some(local)) => Some((listener.pid, local)),
            _ => None,
        }
    }

    /// Takes a wait in. `EEXIST` when its number is in use, `ENOBUFS` when there are too many.
    pub(super) fn await_listener(&mut self, number: u32, awaited: Awaited) -> Result<(), Errno> {
        self.host()?;
        if self.waits.0.contains_key(&number) {
            return Err(Errno::EEXIST);
        }
        if self.waits.0.len() >= MAX_WAITS {
            return Err(Errno::ENOBUFS);
        }
        self.waits.0.insert(number, awaited);
        Ok(())
    }

    /// The waits that somebody at `address` ends; those for a path are for who knows the files.
    pub(super) fn waits_for(&self, id: Id) -> Vec<u32> {
        let Ok(socket) = self.network.get(id) else { return Vec::new() };
        let ended = |awaited: &Awaited| match awaited {
            Awaited::Addresses(addresses) => addresses.iter().any(|address| reaches(socket, address)),
            Awaited::Path(_) => false,
        };
        self.waits.0.iter().filter(|(_, awaited)| ended(awaited)).map(|(number, _)| *number).collect()
    }

    /// Paths that are waited for.
    pub(super) fn awaited_paths(&self) -> Vec<(u32, String)> {
        let path = |(number, awaited): (&u32, &Awaited)| match awaited {
            Awaited::Path(path) => Some((*number, path.clone())),
            Awaited::Addresses(_) => None,
        };
        self.waits.0.iter().filter_map(path).collect()
    }

    /// Answers a wait, unless it has been answered.
    pub(super) fn answer_wait(&mut self, number: u32, answer: Result<ListenerEntry, Error>) {
        if self.waits.0.remove(&number).is_some()
            && let Some(host) = &self.host
        {
            host.network(number, NetworkEvent::Listener(answer));
        }
    }

    /// Ends all waits.
    pub(super) fn end_waits(&mut self, error: &Error) {
        for number in std::mem::take(&mut self.waits.0).into_keys() {
            if let Some(host) = &self.host {
                host.network(number, NetworkEvent::Listener(Err(error.clone())));
            }
        }
    }
}
