//! The system calls of connections and lookups outside the runtime. Each call checks the permission
//! scope `network` first. Next: `flows.rs`.

use super::failures::{Question, of_look_up};
use crate::caller::Caller;
use crate::ids::{Fd, SocketId};
use crate::net::address::Address;
use crate::net::sockets::SocketState;
use crate::outside::LookUpFamily;
use crate::permissions::operations::network;
use crate::permissions::{About, Peer, is_local_name};
use crate::{Answer, Arguments, Process};
use coldframe_error::Errno;
use std::net::SocketAddr;
use std::sync::Arc;

/// Connects a stream socket to an address outside the runtime. Fails with `EINPROGRESS` if the
/// connection was started. Fails with `EACCES` without the permission, and if nothing outside can
/// be reached.
pub(in crate::net) fn connect(process: &Process, id: SocketId, address: &Address) -> Answer {
    let Address::Ip(ip, port) = address else { return Err(Errno::EINVAL) };
    check(process, Peer::Address(ip.to_canonical(), *port), network::CONNECT)?;
    process.kernel.sockets.with(|state| state.connect_outside(id, SocketAddr::new(*ip, *port)))?;
    Err(Errno::EINPROGRESS)
}

/// Checks that a program may send datagrams to an address outside the runtime. Fails with `EACCES`
/// without the permission, and if nothing outside can be reached.
pub(in crate::net) fn check_datagrams(process: &Process, peer: SocketAddr) -> Result<(), Errno> {
    check(process, Peer::Address(peer.ip().to_canonical(), peer.port()), network::UDP)
}

/// Opens a session of TLS. Returns its descriptor. Fails with `EACCES` without an implementation.
pub(in crate::net) fn open_tls(process: &Process) -> Answer {
    if !process.files.descriptors.lock().has_room() {
        return Err(Errno::EMFILE);
    }
    let id = process.kernel.sockets.with(SocketState::open_tls)?;
    process.install_socket(id).map(Fd::answer)
}

/// Opens a session of TLS that is attached to the connection of `socket`. Returns its descriptor.
/// Fails like [`SocketState::attach_tls`].
pub(in crate::net) fn attach_tls(process: &Process, socket: SocketId) -> Answer {
    if !process.files.descriptors.lock().has_room() {
        return Err(Errno::EMFILE);
    }
    let id = process.kernel.sockets.with(|state| state.attach_tls(socket))?;
    process.install_socket(id).map(Fd::answer)
}

/// Looks up the addresses of a name. Returns 0 if the name means the guest's machine, else an
/// operation. Fails with `ENOENT` for a name that never exists. Fails with `EACCES` without the
/// permission, and if nothing outside can be reached.
pub(in crate::net) fn look_up(program: &Arc<dyn Caller>, arguments: &Arguments<'_>) -> Answer {
    let family = match arguments.int(2) {
        0 => LookUpFamily::Any,
        4 => LookUpFamily::V4,
        6 => LookUpFamily::V6,
        _ => return Err(Errno::EAFNOSUPPORT),
    };
    begin(program, arguments.bytes(0)?, Question::Addresses(family))
}

/// Queries the records of a name. Returns and fails like [`look_up`].
pub(in crate::net) fn query(program: &Arc<dyn Caller>, arguments: &Arguments<'_>) -> Answer {
    begin(program, arguments.bytes(0)?, Question::Records(arguments.number(2)?))
}

fn begin(program: &Arc<dyn Caller>, name: &[u8], question: Question) -> Answer {
    let process = program.process();
    let name = std::str::from_utf8(name).map_err(|_| Errno::EINVAL)?;
    let peer = Peer::Name(name);
    if is_local_name(name) {
        let checked = process.kernel.permissions.check(About::Peer(peer), network::DNS);
        return checked.map(|()| 0).map_err(|denied| process.explain(denied));
    }
    if never_exists(name) {
        return Err(Errno::ENOENT);
    }
    if let Some(known) = process.kernel.sockets.ask_networks(name, question) {
        let checked = process.kernel.permissions.check(About::Peer(peer), network::DNS);
        checked.map_err(|denied| process.explain(denied))?;
        let operation = process.operations.begin()?;
        let (result, bytes) = of_look_up(question, known);
        process.operations.complete(operation, result, bytes);
        return Ok(operation.answer());
    }
    check(process, peer, network::DNS)?;
    let operation = process.operations.begin()?;
    let begun = process.kernel.sockets.with(|state| state.begin_look_up(program, operation, name, question));
    begun.map(|()| operation.answer()).inspect_err(|_| {
        process.operations.cancel(operation);
    })
}

/// Cancels a lookup or query. Returns 1, or 0 if the event of the operation has been queued.
pub(in crate::net) fn cancel_look_up(program: &Arc<dyn Caller>, arguments: &Arguments<'_>) -> Answer {
    let process = program.process();
    let Some(operation) = arguments.operation(0)? else { return Ok(0) };
    process.kernel.sockets.with(|state| {
        let is_look_up = state.cancel_look_up(program.pid(), operation);
        Ok(i64::from(is_look_up && process.operations.cancel(operation)))
    })
}

/// Writes the explanation of a failed connection, and removes the explanation.
pub(in crate::net) fn explain(process: &Process, id: SocketId, arguments: &mut Arguments<'_>) -> Answer {
    arguments.bytes_mut(1)?;
    let text = process.kernel.sockets.with(|state| Ok(state.network.get_mut(id)?.explanation.take()))?;
    arguments.put(1, text.as_deref().unwrap_or_default().as_bytes())
}

/// Checks the permission for a peer outside the runtime. Fails with `EACCES` without the
/// permission, and if nothing outside can be reached.
fn check(process: &Process, peer: Peer<'_>, operation: crate::permissions::operations::Operations) -> Result<(), Errno> {
    let permissions = &process.kernel.permissions;
    if process.kernel.sockets.has_outside() {
        permissions.check(About::Peer(peer), operation).map_err(|denied| process.explain(denied))
    } else {
        Err(process.explain(permissions.deny_outside(peer, operation)))
    }
}

/// Returns whether a name never exists. DNS bounds the lengths of names and labels (RFC 1035), and
/// reserves the top-level domain `invalid` (RFC 6761).
fn never_exists(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| (1..=63).contains(&label.len());
    let is_reserved = name.rsplit('.').next().is_some_and(|domain| domain.eq_ignore_ascii_case("invalid"));
    is_reserved || name.len() > 253 || !name.split('.').all(is_label)
}
