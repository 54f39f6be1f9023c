//! Dispatches the system calls of sockets by number and reads their integers
//! (`docs/internals/guest-abi.md`).
//!
//! A program names a socket by its descriptor. Operations are allotted and completed here, outside
//! the lock of the socket table. Next: `sockets.rs`, the sockets for the rest of the kernel.

use super::address::{Address, unbound};
use super::names;
use super::socket::{Datagram, Domain, Role, Socket, WaitOwner};
use super::sockets::SocketState;
use super::stream::Progress;
use crate::caller::Caller;
use crate::descriptors::{HeldObject, Target};
use crate::ids::SocketId;
use crate::permissions::operations::{Operations, network};
use crate::permissions::policy::Scope;
use crate::permissions::{About, Denied, Peer, is_local_name};
use crate::{Answer, Arguments, Process};
use coldframe_error::Errno;
use std::sync::Arc;

/// Dispatches a system call of the family 0x200.
pub(crate) fn call(program: &Arc<dyn Caller>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    let process = program.process();
    let sockets = &process.kernel.sockets;
    if number == 0x200 {
        let (domain, role) = (domain(arguments.int(0))?, role(arguments.int(0), arguments.int(1))?);
        let id = sockets.with(|state| state.network.add(Socket::new(domain, role)))?;
        return process.install_socket(id);
    }
    match number {
        0x210 => return pair(process, arguments),
        0x213 => return look_up(process, arguments.bytes(0)?),
        _ => {}
    }
    let id = process.socket(arguments.int(0))?;
    match number {
        0x201 => process.close_descriptor(arguments.int(0), arguments.int(1) != 0),
        0x204 => {
            if !process.files.descriptors.lock().has_room() {
                return Err(Errno::EMFILE);
            }
            let accepted = sockets.with(|state| state.network.accept(id))?;
            process.install_socket(accepted)
        }
        0x203 => {
            ask(process, id, number, None)?;
            let backlog = usize::try_from(arguments.int(1)).unwrap_or(0);
            process.kernel.listen(id, backlog, process.pid).map(|()| 0)
        }
        0x211 => process.offer(id, arguments.int(1)),
        0x212 => process.collect(id),
        _ => {
            let address = address(process, id, number, arguments)?;
            ask(process, id, number, address.as_ref())?;
            sockets.with(|state| carry_out(state, program, id, number, arguments, address))
        }
    }
}

/// Makes two descriptors that are connected with each other.
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
    ends[..4].copy_from_slice(&(first as u32).to_le_bytes());
    ends[4..8].copy_from_slice(&(second as u32).to_le_bytes());
    Ok(0)
}

/// Reads the address that a call names. Names in the filesystem are resolved here, before the
/// socket table is locked.
fn address(process: &Process, id: SocketId, number: u32, arguments: &Arguments<'_>) -> Result<Option<Address>, Errno> {
    let at = if number == 0x20b { 3 } else { 1 };
    if !matches!(number, 0x202 | 0x205 | 0x20b) {
        return Ok(None);
    }
    let (bound, domain, datagram) = process.kernel.sockets.with(|state| {
        let socket = state.network.get(id)?;
        Ok((socket.local.is_some(), socket.domain, socket.is_datagram()))
    })?;
    let text = arguments.bytes(at)?;
    match (domain, number) {
        (Domain::Unix, 0x202) if bound => Err(Errno::EINVAL),
        (Domain::Unix, 0x202) => names::make(process, text).map(Some),
        (Domain::Unix, _) => names::find(process, text).map(Some),
        // Without an address, a datagram socket uses its remote address or clears that address.
        (_, 0x205 | 0x20b) if text.is_empty() && datagram => Ok(None),
        _ => Address::parse(domain, text, arguments.number(at + 2)?).map(Some),
    }
}

/// Checks that a program may listen, connect or send there. The permission of a Unix socket with a
/// file was checked at the file.
fn ask(process: &Process, id: SocketId, number: u32, address: Option<&Address>) -> Result<(), Errno> {
    let permissions = &process.kernel.permissions;
    if !matches!(number, 0x202 | 0x203 | 0x205 | 0x20b) || !permissions.checks(Scope::Network) {
        return Ok(());
    }
    let (is_datagram, local) = process.kernel.sockets.with(|state| {
        let socket = state.network.get(id)?;
        Ok((socket.is_datagram(), socket.local.clone().unwrap_or_else(|| unbound(socket.domain))))
    })?;
    let (operation, address): (Operations, Option<&Address>) = match (number, is_datagram) {
        (0x203, false) => (network::LISTEN, Some(&local)),
        (0x205, false) => (network::CONNECT, address),
        (0x202 | 0x205 | 0x20b, true) => (network::UDP, address),
        _ => return Ok(()),
    };
    let Some(peer) = address.and_then(Address::peer) else { return Ok(()) };
    permissions.check(About::Peer(peer), operation).map_err(Denied::errno)
}

/// Resolves a host name: 0 for this machine. No other name can be resolved, because a runtime has
/// no network outside.
fn look_up(process: &Process, name: &[u8]) -> Answer {
    let name = std::str::from_utf8(name).map_err(|_| Errno::EINVAL)?;
    process.kernel.permissions.check(About::Peer(Peer::Name(name)), network::DNS).map_err(Denied::errno)?;
    if is_local_name(name) { Ok(0) } else { Err(Errno::ENOENT) }
}

fn carry_out(
    state: &mut SocketState,
    program: &Arc<dyn Caller>,
    id: SocketId,
    number: u32,
    arguments: &mut Arguments<'_>,
    address: Option<Address>,
) -> Answer {
    let operations = &program.process().operations;
    if number == 0x20d {
        let (operation, mask) = (operations.begin()?, arguments.number(1));
        let armed = mask.and_then(|mask| state.arm(program, id, operation, mask));
        return armed.map(|()| operation.answer()).inspect_err(|_| {
            operations.cancel(operation);
        });
    }
    let network = &mut state.network;
    match number {
        0x202 => {
            let flags = arguments.int(4);
            network.bind(id, address.ok_or(Errno::EINVAL)?, flags & 1 != 0, flags & 2 != 0).map(|()| 0)
        }
        0x205 if network.get(id)?.is_datagram() => network.set_remote(id, address).map(|()| 0),
        0x205 => match network.connect(id, address.ok_or(Errno::EINVAL)?)? {
            Progress::Connected => Ok(0),
            Progress::Waiting => Err(Errno::EINPROGRESS),
        },
        0x206 => network.read(id, arguments.bytes_mut(1)?).and_then(count),
        0x207 => network.write(id, arguments.bytes(1)?).and_then(count),
        0x208 => network.shutdown(id).map(|()| 0),
        0x209 => {
            let socket = network.get(id)?;
            let shown = shown(&name(socket, arguments.int(1) != 0)?, socket.domain);
            arguments.put(2, &shown)
        }
        0x20b => network.send(id, arguments.bytes(1)?, address).and_then(count),
        0x20c => {
            let domain = network.get(id)?.domain;
            // Both buffers must be valid before a message is removed from the queue.
            arguments.bytes_mut(1)?;
            arguments.bytes_mut(3)?;
            let (from, message) = network.receive(id)?;
            arguments.put(3, &shown(&from, domain))?;
            arguments.put(1, &message)
        }
        0x20e => {
            let operation = arguments.operation(1)?;
            network.get(id)?;
            let Some(operation) = operation else { return Ok(0) };
            network.disarm(id, WaitOwner::Operation(program.pid(), operation))?;
            Ok(i64::from(operations.cancel(operation)))
        }
        0x20f => match network.get_mut(id)?.error.take() {
            Some(error) => Err(error),
            None => Ok(0),
        },
        _ => Err(Errno::ENOSYS),
    }
}

impl Process {
    /// Returns the socket behind a descriptor.
    fn socket(&self, fd: i64) -> Result<SocketId, Errno> {
        match self.files.descriptors.lock().get(fd)?.target {
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
