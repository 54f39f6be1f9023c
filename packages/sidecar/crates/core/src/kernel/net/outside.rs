//! A sandbox's sockets, for the caller outside: it finds and awaits listeners and connects to them. It names a TCP listener by its port and an
//! address of the loopback, one of a Unix socket by its path; nothing else can be reached from here.

use super::address::Address;
use super::ends::Sockets;
use super::listeners::Awaited;
use super::names;
use super::socket::Id;
use crate::host::Host;
use crate::kernel::Kernel;
use crate::network::{ListenerEntry, NetworkEvent, STREAM_WINDOW, Target};
use coldframe_error::Errno;
use coldframe_error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

impl Sockets {
    /// From now on `host` hears of its connections and waits.
    pub(crate) fn attach(&self, host: Arc<dyn Host>) {
        self.lock().host.get_or_insert(host);
    }

    /// Takes the place of `before`, whose caller hears of what happens here from now on. Its connections and waits there end with `error`.
    pub(crate) fn follow(&self, before: &Self, error: &Error) {
        let host = before.lock().host.clone();
        before.dismiss(error);
        if let Some(host) = host {
            self.attach(host);
        }
    }

    /// The caller has nothing to do with it any more: ends connections and waits.
    pub(crate) fn dismiss(&self, error: &Error) {
        let _ = self.with(|state| {
            state.end_visits(error);
            state.end_waits(error);
            state.host = None;
            Ok(())
        });
    }

    /// The caller writes to its connection, and ends its direction with `ends`. More than the window loses the connection.
    pub(crate) fn visitor_writes(&self, number: u32, bytes: &[u8], ends: bool) {
        let _ = self.with(|state| {
            let Err(errno) = state.visitor_writes(number, bytes, ends) else { return Ok(()) };
            state.visitor_leaves(number, true);
            let error = match errno {
                Errno::ENOBUFS => beyond_window(bytes.len()),
                errno => errno.at("write", &number.to_string()),
            };
            state.host()?.network(number, NetworkEvent::Closed(Some(error)));
            Ok(())
        });
    }

    /// The caller has read so many bytes.
    pub(crate) fn visitor_has_read(&self, number: u32, bytes: u64) {
        let _ = self.with(|state| {
            state.visitor_has_read(number, bytes);
            Ok(())
        });
    }

    /// The caller leaves its connection.
    pub(crate) fn visitor_leaves(&self, number: u32, reset: bool) {
        let _ = self.with(|state| {
            state.visitor_leaves(number, reset);
            Ok(())
        });
    }

    /// The caller waits no more. Its wait is answered, unless it has been.
    pub(crate) fn stop_waiting(&self, number: u32) {
        let _ = self.with(|state| {
            state.answer_wait(number, Err(Error::Canceled));
            Ok(())
        });
    }
}

impl Kernel {
    /// A program begins to listen. Who waits for that hears of it.
    pub(super) fn listen(&self, id: Id, backlog: usize, pid: u32) -> Result<(), Errno> {
        let (waits, paths, listener) = self.sockets.with(|state| {
            state.network.listen(id, backlog, pid)?;
            Ok((state.waits_for(id), state.awaited_paths(), state.listener(id)))
        })?;
        let Some((pid, address)) = listener.filter(|_| !waits.is_empty() || !paths.is_empty()) else { return Ok(()) };
        let here = |path: &str| matches!(names::find_from_outside(&self.files, path), Ok(found) if found.is_same_as(&address));
        let ended: Vec<u32> =
            waits.into_iter().chain(paths.into_iter().filter(|(_, path)| here(path)).map(|(number, _)| number)).collect();
        let entry = self.entry(pid, &address);
        self.sockets.with(|state| {
            ended.into_iter().for_each(|number| state.answer_wait(number, Ok(entry.clone())));
            Ok(())
        })
    }

    /// Connects the caller outside to a listener; what follows is told by its number for it.
    pub(crate) fn visit(&self, number: u32, target: &Target) -> Result<(), Error> {
        let name = name_of(target);
        let addresses = self.addresses(target).map_err(|error| error.explain("connect", &name))?;
        self.sockets.with(|state| state.visit(number, &addresses, &name)).map_err(|errno| match errno {
            Errno::ENETDOWN => Error::RuntimeDisposed,
            errno => errno.at("connect", &name),
        })
    }

    /// All who listen.
    pub(crate) fn listeners(&self) -> Vec<ListenerEntry> {
        let listeners = self.sockets.lock().listeners();
        listeners.iter().map(|(pid, address)| self.entry(*pid, address)).collect()
    }

    /// Who listens there.
    pub(crate) fn listener(&self, target: &Target) -> Result<Option<ListenerEntry>, Error> {
        let addresses = match self.addresses(target) {
            Ok(addresses) => addresses,
            Err(Unreachable::Errno(_)) => return Ok(None),
            Err(error) => return Err(error.explain("listen", &name_of(target))),
        };
        let found =
            self.sockets.with(|state| Ok(state.listener_at(&addresses).and_then(|id| state.listener(id)))).unwrap_or(None);
        Ok(found.map(|(pid, address)| self.entry(pid, &address)))
    }

    /// Tells the caller outside, by its number for it, who listens there, as soon as somebody does.
    pub(crate) fn await_listener(&self, number: u32, target: &Target) -> Result<(), Error> {
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
        self.sockets.with(|state| state.await_listener(number, awaited)).map_err(refused)?;
        // Whoever begins to listen from here on finds the wait; who did before is found now.
        if let Ok(Some(entry)) = self.listener(target) {
            let _ = self.sockets.with(|state| {
                state.answer_wait(number, Ok(entry));
                Ok(())
            });
        }
        Ok(())
    }

    fn entry(&self, pid: u32, address: &Address) -> ListenerEntry {
        let text = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned());
        let (address, path) = match address {
            Address::Ip(ip, port) => (Some((ip.to_string(), *port)), None),
            Address::File(ino, bound) => (None, text(&names::path_of(&self.files, *ino, bound))),
            Address::Abstract(name) => (None, text(name)),
            Address::Unnamed => (None, None),
        };
        ListenerEntry { pid, address, path }
    }

    /// Where a target may be, in the order in which it is tried.
    fn addresses(&self, target: &Target) -> Result<Vec<Address>, Unreachable> {
        let (port, host) = match target {
            Target::Path(path) if path.starts_with(['/', '\0']) => {
                return Ok(vec![names::find_from_outside(&self.files, path).map_err(Unreachable::Errno)?]);
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
                // Somebody who is bound to any address is reached at the loopback.
                Ok(ip) if ip.is_unspecified() => vec![if ip.is_ipv4() { both[0] } else { both[1] }],
                _ => return Err(Unreachable::invalid("host", "an address of the loopback, or localhost", host)),
            },
        };
        Ok(ips.into_iter().map(|ip| Address::Ip(ip, port)).collect())
    }
}

/// Why a target has no address.
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
