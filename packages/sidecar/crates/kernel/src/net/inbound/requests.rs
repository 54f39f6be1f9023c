//! The embedder's requests: listing listeners, waiting for listeners, and connecting to listeners.
//!
//! The embedder names a TCP listener by port and loopback address, and a listener on a Unix socket
//! by path. No address outside the runtime can be reached. Next: `connections.rs`.

use super::listeners::Awaited;
use super::{ListenerEntry, NetworkEvent, STREAM_WINDOW, Target};
use crate::Kernel;
use crate::embedder::Embedder;
use crate::ids::SocketId;
use crate::net::address::Address;
use crate::net::names;
use crate::net::sockets::Sockets;
use coldframe_error::{Errno, Error};
use coldframe_ids::{ConnectionId, Pid};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

impl Sockets {
    /// Sends events of inbound connections and of waits to `embedder`. Has no effect if an embedder
    /// is attached already.
    pub fn attach(&self, embedder: Arc<dyn Embedder>) {
        self.lock().embedder.get_or_insert(embedder);
    }

    /// Attaches the embedder of `before`, the kernel that this kernel replaces. Inbound connections
    /// and waits of `before` end with `error`. Flows and lookups of `before` end too.
    pub fn take_over(&self, before: &Self, error: &Error) {
        let embedder = before.lock().embedder.clone();
        self.take_over_outside(before);
        before.detach(error);
        if let Some(embedder) = embedder {
            self.attach(embedder);
        }
    }

    /// Ends all inbound connections and all waits for listeners with `error`. Resets all flows, and
    /// ends all lookups. Leaves all private networks. Refuses new connections, waits and lookups.
    pub fn detach(&self, error: &Error) {
        let _ = self.with(|state| {
            state.end_inbound(error);
            state.end_waits(error);
            state.embedder = None;
            Ok(())
        });
        self.set_outside(None);
        self.leave_networks();
    }

    /// Writes the embedder's bytes to an inbound connection. If `ends` is set, the embedder's
    /// sending direction ends. The connection fails if the bytes exceed the window.
    pub fn inbound_write(&self, connection: ConnectionId, bytes: &[u8], ends: bool) {
        let _ = self.with(|state| {
            let Err(errno) = state.inbound_write(connection, bytes, ends) else { return Ok(()) };
            state.inbound_close(connection, true);
            let error = match errno {
                Errno::ENOBUFS => beyond_window(bytes.len()),
                errno => errno.at("write", &connection.to_string()),
            };
            state.embedder()?.network(connection, NetworkEvent::Closed(Some(error)));
            Ok(())
        });
    }

    /// Adds credit for the number of bytes that the embedder has read.
    pub fn inbound_credit(&self, connection: ConnectionId, bytes: u64) {
        let _ = self.with(|state| {
            state.inbound_credit(connection, bytes);
            Ok(())
        });
    }

    /// Closes the embedder's end. The guest receives a reset if `reset` is set or queued bytes are
    /// lost.
    pub fn inbound_close(&self, connection: ConnectionId, reset: bool) {
        let _ = self.with(|state| {
            state.inbound_close(connection, reset);
            Ok(())
        });
    }

    /// Ends a wait for a listener with `ERR_CANCELED`. Has no effect if the wait has ended already.
    pub fn stop_waiting(&self, wait: ConnectionId) {
        let _ = self.with(|state| {
            state.end_wait(wait, Err(Error::Canceled));
            Ok(())
        });
    }
}

impl Kernel {
    /// Makes a socket of the process `pid` listen, and ends the waits for the new listener.
    pub(in crate::net) fn listen(&self, id: SocketId, backlog: usize, pid: Pid) -> Result<(), Errno> {
        let (waits, paths, listener) = self.sockets.with(|state| {
            state.network.listen(id, backlog, pid)?;
            Ok((state.waits_for(id), state.awaited_paths(), state.listener(id)))
        })?;
        let Some((pid, address)) = listener.filter(|_| !waits.is_empty() || !paths.is_empty()) else { return Ok(()) };
        let is_here = |path: &str| matches!(names::find_for_embedder(&self.files, path), Ok(found) if found.is_same_as(&address));
        let of_path = paths.into_iter().filter(|(_, path)| is_here(path)).map(|(wait, _)| wait);
        let ended: Vec<ConnectionId> = waits.into_iter().chain(of_path).collect();
        let entry = self.entry(pid, &address);
        self.sockets.with(|state| {
            ended.into_iter().for_each(|wait| state.end_wait(wait, Ok(entry.clone())));
            Ok(())
        })
    }

    /// Connects the embedder to a listener. Events have the id `connection`. Fails if no socket
    /// listens at `target`.
    pub fn connect_inbound(&self, connection: ConnectionId, target: &Target) -> Result<(), Error> {
        let name = name_of(target);
        let addresses = self.addresses(target).map_err(|error| error.explain("connect", &name))?;
        self.sockets.with(|state| state.connect_inbound(connection, &addresses, &name)).map_err(|errno| match errno {
            Errno::ENETDOWN => Error::RuntimeDisposed,
            errno => errno.at("connect", &name),
        })
    }

    /// Returns all listeners of TCP and Unix sockets.
    pub fn listeners(&self) -> Vec<ListenerEntry> {
        let listeners = self.sockets.lock().listeners();
        listeners.iter().map(|(pid, address)| self.entry(*pid, address)).collect()
    }

    /// Returns the listener at `target`. Returns `None` if no socket listens at `target`.
    pub fn listener(&self, target: &Target) -> Result<Option<ListenerEntry>, Error> {
        let addresses = match self.addresses(target) {
            Ok(addresses) => addresses,
            Err(Unreachable::Errno(_)) => return Ok(None),
            Err(error) => return Err(error.explain("listen", &name_of(target))),
        };
        let found =
            self.sockets.with(|state| Ok(state.listener_at(&addresses).and_then(|id| state.listener(id)))).unwrap_or(None);
        Ok(found.map(|(pid, address)| self.entry(pid, &address)))
    }

    /// Starts a wait for a listener at `target`. An event reports the listener when a socket
    /// listens at `target`.
    pub fn await_listener(&self, wait: ConnectionId, target: &Target) -> Result<(), Error> {
        let name = name_of(target);
        let refused = |errno: Errno| match errno {
            Errno::ENETDOWN => Error::RuntimeDisposed,
            errno => errno.at("listen", &name),
        };
        let awaited = match (target, self.addresses(target)) {
            (Target::Path(path), Err(Unreachable::Errno(_)) | Ok(_)) => Awaited::Path(path.clone()),
            (_, Ok(addresses)) => Awaited::Addresses(addresses),
            (_, Err(error)) => return Err(error.explain("listen", &name)),
        };
        self.sockets.with(|state| state.await_listener(wait, awaited)).map_err(refused)?;
        // A later `listen` call finds the wait. The following check finds a listener that exists
        // already.
        if let Ok(Some(entry)) = self.listener(target) {
            let _ = self.sockets.with(|state| {
                state.end_wait(wait, Ok(entry));
                Ok(())
            });
        }
        Ok(())
    }

    fn entry(&self, pid: Pid, address: &Address) -> ListenerEntry {
        let text = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned());
        let (address, path) = match address {
            Address::Ip(ip, port) => (Some((ip.to_string(), *port)), None),
            Address::File(ino, bound) => (None, text(&names::path_of(&self.files, *ino, bound))),
            Address::Abstract(name) => (None, text(name)),
            Address::Unnamed => (None, None),
        };
        ListenerEntry { pid, address, path }
    }

    /// Returns the addresses of a target, in the order of the attempts.
    fn addresses(&self, target: &Target) -> Result<Vec<Address>, Unreachable> {
        let (port, host) = match target {
            Target::Path(path) if path.starts_with(['/', '\0']) => {
                return Ok(vec![names::find_for_embedder(&self.files, path).map_err(Unreachable::Errno)?]);
            }
            Target::Path(path) => return Err(Unreachable::invalid("path", "an absolute guest path", path)),
            Target::Port { port, host } => (*port, host.as_deref()),
        };
        if port == 0 {
            return Err(Unreachable::invalid("port", "a port from 1 to 65535", "0"));
        }
        let both = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        let ips = match host {
            None | Some("localhost") => both.to_vec(),
            Some(host) => match host.parse::<IpAddr>().map(|ip| ip.to_canonical()) {
                Ok(ip) if ip.is_loopback() => vec![ip],
                // The loopback address reaches a socket that is bound to the unspecified address.
                Ok(ip) if ip.is_unspecified() => vec![if ip.is_ipv4() { both[0] } else { both[1] }],
                _ => return Err(Unreachable::invalid("host", "an address of the loopback, or localhost", host)),
            },
        };
        Ok(ips.into_iter().map(|ip| Address::Ip(ip, port)).collect())
    }
}

/// The reason why a target has no address.
enum Unreachable {
    Errno(Errno),
    Invalid(Error),
}

impl Unreachable {
    fn invalid(what: &str, expected: &str, received: &str) -> Self {
        let received = received.chars().take(100).collect();
        Self::Invalid(Error::InvalidRequest { what: what.to_owned(), expected: expected.to_owned(), received })
    }

    fn explain(self, call: &'static str, name: &str) -> Error {
        match self {
            Self::Errno(errno) => errno.at(call, name),
            Self::Invalid(error) => error,
        }
    }
}

fn name_of(target: &Target) -> String {
    match target {
        Target::Path(path) => path.clone(),
        Target::Port { port, host } => format!("{}:{port}", host.as_deref().unwrap_or("localhost")),
    }
}

fn beyond_window(bytes: usize) -> Error {
    Error::InvalidRequest {
        what: "stream.data".to_owned(),
        expected: format!("at most {STREAM_WINDOW} bytes without credit"),
        received: format!("{bytes} bytes more"),
    }
}
