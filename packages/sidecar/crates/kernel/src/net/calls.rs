//! The system calls of sockets: decodes the integers of each call (`docs/internals/guest-abi.md`)
//! and runs the call. A program names a socket by a descriptor. `arm` allots an operation, which
//! `sockets.rs` completes when the socket is ready. Next: `sockets.rs`.

use super::address::{Address, unbound};
use super::members::{self, Place};
use super::socket::{Datagram, Domain, Role, Socket, WaitOwner};
use super::sockets::SocketState;
use super::stream::Progress;
use super::{names, outside};
use crate::caller::Caller;
use crate::descriptors::{HeldObject, Target};
use crate::ids::{Fd, SocketId};
use crate::permissions::About;
use crate::permissions::operations::{Operations, network};
use crate::permissions::policy::Scope;
use crate::{Answer, Arguments, Process};
use coldframe_abi::system_calls::SocketCall;
use coldframe_error::Errno;
use std::net::SocketAddr;
use std::sync::Arc;

/// Runs a system call of the family `sockets`.
pub(crate) fn call(program: &Arc<dyn Caller>, call: SocketCall, arguments: &mut Arguments<'_>) -> Answer {
    let process = program.process();
    let sockets = &process.kernel.sockets;
    match call {
        SocketCall::Socket => {
            let (domain, role) = (domain(arguments.int(0))?, role(arguments.int(0), arguments.int(1))?);
            let id = sockets.with(|state| state.network.add(Socket::new(domain, role)))?;
            process.install_socket(id).map(Fd::answer)
        }
        SocketCall::Close => {
            process.socket(arguments)?;
            process.close_descriptor(arguments.fd(0)?, arguments.int(1) != 0)
        }
        SocketCall::Bind => bind(process, process.socket(arguments)?, arguments),
        SocketCall::Listen => listen(process, process.socket(arguments)?, arguments),
        SocketCall::Accept => accept(process, process.socket(arguments)?),
        SocketCall::Connect => connect(process, process.socket(arguments)?, arguments),
        SocketCall::Read => sockets.read_for(process, process.socket(arguments)?, arguments.bytes_mut(1)?, false).and_then(count),
        SocketCall::Write => sockets.write_for(process, process.socket(arguments)?, arguments.bytes(1)?).and_then(count),
        SocketCall::Shutdown => {
            let id = process.socket(arguments)?;
            sockets.with(|state| state.network.shutdown(id)).map(|()| 0)
        }
        SocketCall::Name => {
            let id = process.socket(arguments)?;
            let shown = sockets.with(|state| {
                let socket = state.network.get(id)?;
                Ok(shown(&name(socket, arguments.int(1) != 0)?, socket.domain))
            })?;
            arguments.put(2, &shown)
        }
        SocketCall::Send => send(process, process.socket(arguments)?, arguments),
        SocketCall::Receive => {
            let id = process.socket(arguments)?;
            sockets.with(|state| receive(state, id, arguments))
        }
        SocketCall::Arm => arm(program, process.socket(arguments)?, arguments),
        SocketCall::Disarm => disarm(program, process.socket(arguments)?, arguments),
        SocketCall::Error => {
            let id = process.socket(arguments)?;
            let error = sockets.with(|state| Ok(state.network.get_mut(id)?.error.take()))?;
            error.map_or(Ok(0), Err)
        }
        SocketCall::Pair => pair(process, arguments),
        SocketCall::Offer => process.offer(process.socket(arguments)?, arguments.fd(1)?),
        SocketCall::Collect => process.collect(process.socket(arguments)?).map(Fd::answer),
        SocketCall::LookUp => outside::look_up(program, arguments),
        SocketCall::Query => outside::query(program, arguments),
        SocketCall::CancelLookUp => outside::cancel_look_up(program, arguments),
        SocketCall::OpenTls => outside::open_tls(process),
        SocketCall::Interfaces => members::interfaces(process, arguments),
        SocketCall::AttachTls => outside::attach_tls(process, process.socket(arguments)?),
        SocketCall::Explain => outside::explain(process, process.socket(arguments)?, arguments),
    }
}

fn bind(process: &Process, id: SocketId, arguments: &Arguments<'_>) -> Answer {
    let sockets = &process.kernel.sockets;
    let (is_bound, domain) = sockets.with(|state| {
        let socket = state.network.get(id)?;
        Ok((socket.local.is_some(), socket.domain))
    })?;
    let text = arguments.bytes(1)?;
    let address = match domain {
        Domain::Unix if is_bound => return Err(Errno::EINVAL),
        Domain::Unix => names::make(process, text)?,
        Domain::V4 | Domain::V6 => Address::parse(domain, text, arguments.number(3)?)?,
    };
    check_peer(process, id, None, Some(&address))?;
    let flags = arguments.int(4);
    sockets.with(|state| state.network.bind(id, address, flags & 1 != 0, flags & 2 != 0)).map(|()| 0)
}

fn listen(process: &Process, id: SocketId, arguments: &Arguments<'_>) -> Answer {
    let permissions = &process.kernel.permissions;
    if permissions.checks(Scope::Network) {
        let (is_datagram, local) = process.kernel.sockets.with(|state| {
            let socket = state.network.get(id)?;
            // A listener at an own address of a private network needs the permission of `0.0.0.0`.
            let local = socket.local.clone().filter(|local| !state.network.is_own(local));
            Ok((socket.is_datagram(), local.unwrap_or_else(|| unbound(socket.domain))))
        })?;
        if let Some(peer) = local.peer().filter(|_| !is_datagram) {
            permissions.check(About::Peer(peer), network::LISTEN).map_err(|denied| process.explain(denied))?;
        }
    }
    let backlog = usize::try_from(arguments.int(1)).unwrap_or(0);
    process.kernel.listen(id, backlog, process.pid).map(|()| 0)
}

fn accept(process: &Process, id: SocketId) -> Answer {
    if !process.files.descriptors.lock().has_room() {
        return Err(Errno::EMFILE);
    }
    let accepted = process.kernel.sockets.with(|state| state.network.accept(id))?;
    process.install_socket(accepted).map(Fd::answer)
}

fn connect(process: &Process, id: SocketId, arguments: &Arguments<'_>) -> Answer {
    let address = remote(process, id, arguments, 1)?;
    if let Some(far) = address.as_ref()
        && let place @ (Place::Outside | Place::Member(_)) = process.kernel.sockets.place_of(far)
        && !process.kernel.sockets.with(|state| Ok(state.network.get(id)?.is_datagram()))?
    {
        let Place::Member(to) = place else { return outside::connect(process, id, far) };
        check_peer(process, id, Some(network::CONNECT), Some(far))?;
        process.kernel.sockets.with(|state| state.connect_member(id, to))?;
        return Err(Errno::EINPROGRESS);
    }
    match address.as_ref().filter(|far| matches!(process.kernel.sockets.place_of(far), Place::Outside)) {
        // Only a datagram socket is left.
        Some(Address::Ip(ip, port)) => outside::check_datagrams(process, SocketAddr::new(*ip, *port))?,
        _ => check_peer(process, id, Some(network::CONNECT), address.as_ref())?,
    }
    process.kernel.sockets.with(|state| {
        let network = &mut state.network;
        if network.get(id)?.is_datagram() {
            return network.set_remote(id, address).map(|()| 0);
        }
        let address = address.ok_or(Errno::EINVAL)?;
        match network.connect(id, address.clone()) {
            Ok(Progress::Connected) => Ok(0),
            Ok(Progress::Waiting) => Err(Errno::EINPROGRESS),
            // No program listens at the address.
            Err(Errno::ECONNREFUSED) if let Some(peer) = state.host_loopback(&address) => {
                state.connect_outside(id, peer)?;
                Err(Errno::EINPROGRESS)
            }
            Err(error) => Err(error),
        }
    })
}

fn send(process: &Process, id: SocketId, arguments: &Arguments<'_>) -> Answer {
    let address = remote(process, id, arguments, 3)?;
    let sockets = &process.kernel.sockets;
    if let Some(peer) = sockets.outside_destination(id, address.as_ref()) {
        let is_datagram = sockets.with(|state| Ok(state.network.get(id)?.is_datagram()))?;
        return if is_datagram { send_outside(process, id, peer, arguments) } else { Err(Errno::EOPNOTSUPP) };
    }
    check_peer(process, id, None, address.as_ref())?;
    if let Some(to) = sockets.member_destination(id, address.as_ref()) {
        return sockets.with(|state| state.send_member(id, arguments.bytes(1)?, to).and_then(count));
    }
    sockets.with(|state| state.network.send(id, arguments.bytes(1)?, address).and_then(count))
}

/// Sends a datagram outside the runtime. Fails like [`outside::check_datagrams`] and
/// [`SocketState::send_outside`].
fn send_outside(process: &Process, id: SocketId, peer: SocketAddr, arguments: &Arguments<'_>) -> Answer {
    let bytes = arguments.bytes(1)?;
    outside::check_datagrams(process, peer)?;
    process.kernel.sockets.with(|state| state.send_outside(id, peer, bytes).and_then(count))
}

fn receive(state: &mut SocketState, id: SocketId, arguments: &mut Arguments<'_>) -> Answer {
    let domain = state.network.get(id)?.domain;
    // Both buffers are checked before a message is removed from the queue, because a later error
    // would lose the message.
    arguments.bytes_mut(1)?;
    arguments.bytes_mut(3)?;
    let (from, message) = state.network.receive(id)?;
    arguments.put(3, &shown(&from, domain))?;
    arguments.put(1, &message)
}

fn arm(program: &Arc<dyn Caller>, id: SocketId, arguments: &Arguments<'_>) -> Answer {
    let process = program.process();
    let (operation, mask) = (process.operations.begin()?, arguments.number(1));
    let armed = mask.and_then(|mask| process.kernel.sockets.arm(program, id, operation, mask));
    armed.map(|()| operation.answer()).inspect_err(|_| {
        process.operations.cancel(operation);
    })
}

fn disarm(program: &Arc<dyn Caller>, id: SocketId, arguments: &Arguments<'_>) -> Answer {
    let process = program.process();
    let operation = arguments.operation(1)?;
    process.kernel.sockets.with(|state| {
        state.network.get(id)?;
        let Some(operation) = operation else { return Ok(0) };
        state.network.disarm(id, WaitOwner::Operation(program.pid(), operation))?;
        Ok(i64::from(process.operations.cancel(operation)))
    })
}

/// Makes two connected sockets and writes their descriptors to a buffer. Fails with `EINVAL` if the
/// buffer is smaller than 8 bytes.
fn pair(process: &Process, arguments: &mut Arguments<'_>) -> Answer {
    if arguments.bytes_mut(0)?.len() < 8 {
        return Err(Errno::EINVAL);
    }
    let (one, other) = process.kernel.sockets.with(|state| state.network.pair())?;
    let first = process.install_socket(one).inspect_err(|_| process.release(HeldObject::Socket(other), false))?;
    let second = process.install_socket(other).inspect_err(|_| {
        let _ = process.close_descriptor(first, false);
    })?;
    let ends = arguments.bytes_mut(0)?;
    ends[..4].copy_from_slice(&first.get().to_le_bytes());
    ends[4..8].copy_from_slice(&second.get().to_le_bytes());
    Ok(0)
}

/// Returns the address at `index`, to which the socket connects or sends. The path of a Unix socket
/// is resolved before the socket table is locked. Returns `None` for an empty address of a datagram
/// socket.
fn remote(process: &Process, id: SocketId, arguments: &Arguments<'_>, index: usize) -> Result<Option<Address>, Errno> {
    let (domain, is_datagram) = process.kernel.sockets.with(|state| {
        let socket = state.network.get(id)?;
        Ok((socket.domain, socket.is_datagram()))
    })?;
    let text = arguments.bytes(index)?;
    match domain {
        Domain::Unix => names::find(process, text).map(Some),
        Domain::V4 | Domain::V6 if text.is_empty() && is_datagram => Ok(None),
        Domain::V4 | Domain::V6 => Address::parse(domain, text, arguments.number(index + 2)?).map(Some),
    }
}

/// Checks the permission for `address`: the UDP operation for a datagram socket, `of_stream` for a
/// stream socket. A Unix socket with a file is not checked here, because the path walk checks the
/// file.
fn check_peer(process: &Process, id: SocketId, of_stream: Option<Operations>, address: Option<&Address>) -> Result<(), Errno> {
    let permissions = &process.kernel.permissions;
    if !permissions.checks(Scope::Network) {
        return Ok(());
    }
    let is_datagram = process.kernel.sockets.with(|state| Ok(state.network.get(id)?.is_datagram()))?;
    let operation = if is_datagram { Some(network::UDP) } else { of_stream };
    let (Some(operation), Some(peer)) = (operation, address.and_then(Address::peer)) else { return Ok(()) };
    permissions.check(About::Peer(peer), operation).map_err(|denied| process.explain(denied))
}

impl Process {
    /// Returns the socket of the descriptor in the first argument. Fails with `ENOTSOCK` if the
    /// descriptor refers to another object.
    fn socket(&self, arguments: &Arguments<'_>) -> Result<SocketId, Errno> {
        match self.files.descriptors.lock().get(arguments.fd(0)?)?.target {
            Target::Socket(id) => Ok(id),
            _ => Err(Errno::ENOTSOCK),
        }
    }
}

fn count(count: usize) -> Answer {
    i64::try_from(count).map_err(|_| Errno::EOVERFLOW)
}

fn domain(number: i64) -> Result<Domain, Errno> {
    match number {
        1 => Ok(Domain::Unix),
        2 => Ok(Domain::V4),
        10 => Ok(Domain::V6),
        _ => Err(Errno::EAFNOSUPPORT),
    }
}

fn role(domain: i64, kind: i64) -> Result<Role, Errno> {
    match (domain, kind) {
        (_, 1) => Ok(Role::Fresh),
        (2 | 10, 2) => Ok(Role::Datagram(Datagram::default())),
        _ => Err(Errno::EPROTONOSUPPORT),
    }
}

fn name(socket: &Socket, of_peer: bool) -> Result<Address, Errno> {
    match &socket.role {
        _ if !of_peer => Ok(socket.local.clone().unwrap_or_else(|| unbound(socket.domain))),
        Role::Connected(stream) => Ok(stream.remote.clone()),
        Role::Datagram(Datagram { remote: Some(remote), .. }) => Ok(remote.clone()),
        _ => Err(Errno::ENOTCONN),
    }
}

/// Encodes an address: two bytes for the family, two for the port, then the text.
fn shown(address: &Address, domain: Domain) -> Vec<u8> {
    let (family, port, text) = address.show(domain);
    [&family.to_le_bytes()[..], &port.to_le_bytes(), &text].concat()
}
