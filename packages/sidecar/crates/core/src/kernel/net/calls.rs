//! The family's table: which number is which call, and what its integers mean (`docs/internals/guest-abi.md`). Operations are allotted
//! and completed here, outside the table's lock.

use super::address::{Address, unbound};
use super::names;
use super::socket::{Datagram, Domain, Id, Role, Socket};
use super::stream::Progress;
use super::table::{Network, Wake};
use crate::kernel::{Answer, Arguments, Errno};
use crate::program::Program;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

/// A runtime's sockets, and the programs that hear of them.
#[derive(Default)]
pub(crate) struct Sockets {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    network: Network,
    programs: HashMap<u32, Weak<Program>>,
}

/// What a process remembers: the number under which it has sockets, or 0.
#[derive(Default)]
pub(crate) struct ProcessSockets {
    owner: AtomicU32,
}

impl ProcessSockets {
    /// The process has ended.
    pub(crate) fn close(&self, sockets: &Sockets) {
        let owner = self.owner.swap(0, Ordering::Relaxed);
        if owner == 0 {
            return;
        }
        let mut state = sockets.state.lock();
        state.network.close_all(owner);
        state.programs.remove(&owner);
        state.tell();
    }
}

impl State {
    /// Completes what has become ready.
    fn tell(&mut self) {
        for Wake { owner, operation, ready } in self.network.take_wakes() {
            if let Some(program) = self.programs.get(&owner).and_then(Weak::upgrade) {
                program.process.operations.complete(operation, Ok(ready.cast_signed()), Vec::new());
            }
        }
    }
}

/// Carries out a call of the family.
pub(crate) fn call(program: &Arc<Program>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    let sockets = &program.process.kernel.sockets;
    if number == 0x200 || number == 0x210 {
        // From its first socket on the program is known here.
        program.process.sockets.owner.store(program.pid, Ordering::Relaxed);
        sockets.state.lock().programs.entry(program.pid).or_insert_with(|| Arc::downgrade(program));
    } else {
        sockets.state.lock().network.check_owner(program.pid, arguments.number(0)?)?;
    }
    let prepared = prepare(program, number, arguments)?;
    let mut state = sockets.state.lock();
    let answer = carry_out(&mut state.network, program, number, arguments, prepared);
    state.tell();
    answer
}

/// What a call needs before the table is locked: an address, as far as the filesystem knows it.
fn prepare(program: &Program, number: u32, arguments: &Arguments<'_>) -> Result<Option<Address>, Errno> {
    let process = &program.process;
    let at = if number == 0x20b { 3 } else { 1 };
    if !matches!(number, 0x202 | 0x205 | 0x20b) {
        return Ok(None);
    }
    let (bound, domain, datagram) = {
        let state = process.kernel.sockets.state.lock();
        let socket = state.network.get(arguments.number(0)?)?;
        (socket.local.is_some(), socket.domain, socket.is_datagram())
    };
    let text = arguments.bytes(at)?;
    match (domain, number) {
        (Domain::Unix, 0x202) if bound => Err(Errno::EINVAL),
        (Domain::Unix, 0x202) => names::make(process, text).map(Some),
        (Domain::Unix, _) => names::find(process, text).map(Some),
        // No address: a datagram socket's own, or none any more.
        (_, 0x205 | 0x20b) if text.is_empty() && datagram => Ok(None),
        _ => Address::parse(domain, text, arguments.number(at + 2)?).map(Some),
    }
}

fn carry_out(
    network: &mut Network,
    program: &Program,
    number: u32,
    arguments: &mut Arguments<'_>,
    address: Option<Address>,
) -> Answer {
    if number == 0x200 {
        let socket = Socket::new(program.pid, domain(arguments.int(0))?, role(arguments.int(0), arguments.int(1))?);
        return network.add(socket).map(i64::from);
    }
    if number == 0x210 {
        let ends = arguments.bytes_mut(0)?;
        if ends.len() < 8 {
            return Err(Errno::EINVAL);
        }
        let (one, other) = network.pair(program.pid)?;
        ends[..4].copy_from_slice(&one.to_le_bytes());
        ends[4..8].copy_from_slice(&other.to_le_bytes());
        return Ok(0);
    }
    let id: Id = arguments.number(0)?;
    let operations = &program.process.operations;
    match number {
        0x201 => {
            for waiter in &network.get(id)?.waiters {
                operations.cancel(waiter.operation);
            }
            network.close(id, arguments.int(1) != 0).map(|()| 0)
        }
        0x202 => {
            let flags = arguments.int(4);
            network.bind(id, address.ok_or(Errno::EINVAL)?, flags & 1 != 0, flags & 2 != 0).map(|()| 0)
        }
        0x203 => network.listen(id, usize::try_from(arguments.int(1)).unwrap_or(0)).map(|()| 0),
        0x204 => network.accept(id).map(i64::from),
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
            // Both buffers must be there before a message is taken.
            arguments.bytes_mut(1)?;
            arguments.bytes_mut(3)?;
            let (from, message) = network.receive(id)?;
            arguments.put(3, &shown(&from, domain))?;
            arguments.put(1, &message)
        }
        0x20d => {
            let operation = operations.begin()?;
            match network.arm(id, operation, arguments.number(1)?) {
                Ok(()) => Ok(i64::from(operation)),
                Err(error) => {
                    operations.cancel(operation);
                    Err(error)
                }
            }
        }
        0x20e => {
            let operation = arguments.number(1)?;
            network.disarm(id, operation)?;
            Ok(i64::from(operations.cancel(operation)))
        }
        0x20f => match network.get_mut(id)?.error.take() {
            Some(error) => Err(error),
            None => Ok(0),
        },
        _ => Err(Errno::ENOSYS),
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

/// Two bytes for the family, two for the port, then the text.
fn shown(address: &Address, domain: Domain) -> Vec<u8> {
    let (family, port, text) = address.show(domain);
    [&family.to_le_bytes()[..], &port.to_le_bytes(), &text].concat()
}
