//! The system calls of terminals, and the rules of job control: reads, writes and changes by
//! background processes. Next: `terminal_output.rs`, the embedder's end of a terminal.

use super::network::Network;
use super::posted_signals::{PostedSignal, Recipient};
use super::socket::Role;
use super::sockets::Sockets;
use super::terminals::Terminal;
use crate::caller::Caller;
use crate::descriptors::{Description, HeldObject, READ_WRITE, Target};
use crate::ids::{Fd, SocketId};
use crate::terminal::{ATTRIBUTE_BYTES, Attributes, Control, Queue, WindowSize};
use crate::{Answer, Arguments, Process};
use coldframe_abi::system_calls::TerminalCall;
use coldframe_error::Errno;
use coldframe_ids::Pid;
use std::sync::Arc;

const SIGTTIN: u8 = 21;
const SIGTTOU: u8 = 22;

/// Runs a system call of the family `terminals`.
pub(crate) fn terminal_call(program: &Arc<dyn Caller>, call: TerminalCall, arguments: &mut Arguments<'_>) -> Answer {
    let process = program.process();
    if call == TerminalCall::Open {
        let size = WindowSize { rows: arguments.number(0)?, columns: arguments.number(1)? };
        return process.open_master(size, READ_WRITE).map(Fd::answer);
    }
    let id = process.terminal_end(arguments.fd(0)?)?;
    let on = |run: &mut dyn FnMut(&mut Network, u32) -> Answer| {
        process.kernel.sockets.with(|state| {
            let number = live(&state.network, id)?;
            run(&mut state.network, number)
        })
    };
    match call {
        TerminalCall::Open => Err(Errno::ENOSYS),
        TerminalCall::GetAttributes => on(&mut |network, number| {
            let bytes = network.terminal(number)?.discipline.attributes().encode();
            whole(arguments, 1, &bytes)
        }),
        TerminalCall::SetAttributes => {
            let when: u8 = arguments.number(1)?;
            let bytes: &[u8; ATTRIBUTE_BYTES] = arguments.bytes(2)?.try_into().map_err(|_| Errno::EINVAL)?;
            let attributes = Attributes::decode(bytes);
            if when > 2 {
                return Err(Errno::EINVAL);
            }
            on(&mut |network, number| {
                check_change(network, process, id)?;
                network.set_attributes(number, attributes, when == 2).map(|()| 0)
            })
        }
        TerminalCall::GetSize => on(&mut |network, number| {
            let WindowSize { rows, columns } = network.terminal(number)?.size;
            let bytes: Vec<u8> = [rows, columns, 0, 0].into_iter().flat_map(u16::to_le_bytes).collect();
            whole(arguments, 1, &bytes)
        }),
        TerminalCall::SetSize => {
            let size = WindowSize { rows: arguments.number(1)?, columns: arguments.number(2)? };
            on(&mut |network, number| network.set_size(number, size).map(|()| 0))
        }
        TerminalCall::GetForeground => on(&mut |network, number| {
            let control = controlled(network, process, id, number)?;
            Ok(i64::from(control.foreground.get()))
        }),
        TerminalCall::SetForeground => {
            let group = Pid::new(arguments.number(1)?);
            on(&mut |network, number| {
                let control = controlled(network, process, id, number)?;
                check_change(network, process, id)?;
                if !process.kernel.processes.has_group(control.session, group) {
                    return Err(Errno::EPERM);
                }
                network.terminal_mut(number)?.control = Some(Control { foreground: group, ..control });
                Ok(0)
            })
        }
        TerminalCall::GetSession => on(&mut |network, number| {
            let control = network.terminal(number)?.control.ok_or(Errno::ENOTTY)?;
            Ok(i64::from(control.session.get()))
        }),
        TerminalCall::SetControlling => on(&mut |network, number| take_control(network, process, number).map(|()| 0)),
        TerminalCall::Number => on(&mut |_, number| Ok(i64::from(number))),
        TerminalCall::Flush => {
            let queues: &[Queue] = match arguments.int(1) {
                0 => &[Queue::Input],
                1 => &[Queue::Output],
                2 => &[Queue::Input, Queue::Output],
                _ => return Err(Errno::EINVAL),
            };
            on(&mut |network, number| {
                check_change(network, process, id)?;
                network.flush_terminal(number, queues).map(|()| 0)
            })
        }
    }
}

/// Writes `bytes` to the guest's buffer. Fails with `EINVAL` if the buffer is smaller.
fn whole(arguments: &mut Arguments<'_>, index: usize, bytes: &[u8]) -> Answer {
    if arguments.bytes_mut(index)?.len() < bytes.len() {
        return Err(Errno::EINVAL);
    }
    arguments.put(index, bytes).map(|_| 0)
}

/// Returns the number of the terminal of an end. Fails with `EIO` for a slave after a hang-up.
fn live(network: &Network, id: SocketId) -> Result<u32, Errno> {
    let number = network.terminal_of(id)?;
    let is_master = matches!(network.get(id)?.role, Role::Master(_));
    if network.terminal(number)?.is_hung_up && !is_master { Err(Errno::EIO) } else { Ok(number) }
}

/// Returns the control of a terminal over the caller's session. The owner of the master needs no
/// session.
fn controlled(network: &Network, process: &Process, id: SocketId, number: u32) -> Result<Control, Errno> {
    let control = network.terminal(number)?.control.ok_or(Errno::ENOTTY)?;
    if matches!(network.get(id)?.role, Role::Master(_)) {
        return Ok(control);
    }
    let (_, _, session) = process.kernel.processes.family(process.pid);
    if session == control.session { Ok(control) } else { Err(Errno::ENOTTY) }
}

/// Makes the terminal the controlling terminal of the caller's session.
fn take_control(network: &mut Network, process: &Process, number: u32) -> Result<(), Errno> {
    let (_, group, session) = process.kernel.processes.family(process.pid);
    let own = network.controlling(session);
    let terminal = network.terminal_mut(number)?;
    match terminal.control {
        Some(control) if control.session == session => Ok(()),
        Some(_) => Err(Errno::EPERM),
        None if session != process.pid || own.is_some() => Err(Errno::EPERM),
        None => {
            terminal.control = Some(Control { session, foreground: group });
            Ok(())
        }
    }
}

/// Returns whether a process is in a background group of the terminal's session.
fn is_background(terminal: &Terminal, process: &Process) -> bool {
    let Some(control) = terminal.control else { return false };
    let (_, group, session) = process.kernel.processes.family(process.pid);
    session == control.session && group != control.foreground
}

/// Sends `signal` to the group of a background process. Fails with `EIO` if the group is orphaned,
/// so that no process could continue the group, else with `error`.
fn refuse_background(network: &mut Network, process: &Process, signal: u8, error: Errno) -> Result<(), Errno> {
    let (_, group, _) = process.kernel.processes.family(process.pid);
    if process.kernel.processes.is_orphaned(group) {
        return Err(Errno::EIO);
    }
    PostedSignal { to: Recipient::Group(group), signal }.post(&mut network.terminals.posted);
    Err(error)
}

/// Checks that a process may change the terminal through the end `id`.
fn check_change(network: &mut Network, process: &Process, id: SocketId) -> Result<(), Errno> {
    let Role::Slave(number) = network.get(id)?.role else { return Ok(()) };
    if !is_background(network.terminal(number)?, process) || process.signals.withstands(SIGTTOU) {
        return Ok(());
    }
    refuse_background(network, process, SIGTTOU, Errno::EINTR)
}

/// Checks that a process may read from the slave of a terminal.
fn check_read(network: &mut Network, process: &Process, number: u32) -> Result<(), Errno> {
    if !is_background(network.terminal(number)?, process) {
        return Ok(());
    }
    if process.signals.withstands(SIGTTIN) {
        return Err(Errno::EIO);
    }
    refuse_background(network, process, SIGTTIN, Errno::EAGAIN)
}

/// Checks that a process may write to the slave of a terminal.
fn check_write(network: &mut Network, process: &Process, number: u32) -> Result<(), Errno> {
    let terminal = network.terminal(number)?;
    let stops = terminal.discipline.attributes().stops_background_output();
    if !stops || !is_background(terminal, process) || process.signals.withstands(SIGTTOU) {
        return Ok(());
    }
    refuse_background(network, process, SIGTTOU, Errno::EAGAIN)
}

impl Sockets {
    /// Reads from a socket for a process. `waits` is set if the caller waits until the read
    /// returns bytes.
    pub(crate) fn read_for(&self, process: &Process, id: SocketId, buffer: &mut [u8], waits: bool) -> Result<usize, Errno> {
        self.with(|state| {
            let network = &mut state.network;
            if let Role::Slave(number) = network.get(id)?.role {
                check_read(network, process, number)?;
                return network.read_slave(number, buffer, waits);
            }
            network.read(id, buffer)
        })
    }

    /// Writes to a socket for a process.
    pub(crate) fn write_for(&self, process: &Process, id: SocketId, bytes: &[u8]) -> Result<usize, Errno> {
        self.with(|state| {
            let network = &mut state.network;
            if let Role::Slave(number) = network.get(id)?.role {
                check_write(network, process, number)?;
                return network.write_slave(number, bytes);
            }
            network.write(id, bytes)
        })
    }

    /// Returns the number of the terminal of an end. Returns `None` for another socket.
    pub(crate) fn terminal_number(&self, id: SocketId) -> Option<u32> {
        self.with(|state| state.network.terminal_of(id)).ok()
    }

    /// Returns the time limit in nanoseconds of a blocking read from the end `id` of a terminal.
    /// `None` means no time limit.
    pub(crate) fn read_time_limit(&self, id: SocketId) -> Option<u64> {
        const TENTH_NS: u64 = 100_000_000;
        let find = |network: &Network| {
            let Role::Slave(number) = network.get(id)?.role else { return Err(Errno::ENOTTY) };
            let attributes = *network.terminal(number)?.discipline.attributes();
            let is_limited = !attributes.is_canonical() && attributes.least() == 0 && attributes.time() > 0;
            if is_limited { Ok(u64::from(attributes.time()) * TENTH_NS) } else { Err(Errno::ENOTTY) }
        };
        self.with(|state| find(&state.network)).ok()
    }

    /// Records that the time limit of a blocking read has passed.
    pub(crate) fn end_read_time(&self, id: SocketId) {
        let _ = self.with(|state| {
            let number = state.network.terminal_of(id)?;
            state.network.terminal_mut(number)?.is_read_over = true;
            Ok(())
        });
    }

    /// Makes `group` the foreground group of the terminal that controls `session`, if any.
    pub(crate) fn set_foreground(&self, session: Pid, group: Pid) {
        let _ = self.with(|state| {
            let number = state.network.controlling(session).ok_or(Errno::ENOTTY)?;
            state.network.terminal_mut(number)?.control = Some(Control { session, foreground: group });
            Ok(())
        });
    }

    /// Makes the terminal of the slave `id` the controlling terminal of a new session, unless the
    /// terminal controls another session.
    pub(crate) fn control_new_session(&self, id: SocketId, session: Pid) {
        let _ = self.with(|state| {
            let Role::Slave(number) = state.network.get(id)?.role else { return Err(Errno::ENOTTY) };
            let control = &mut state.network.terminal_mut(number)?.control;
            control.get_or_insert(Control { session, foreground: session });
            Ok(())
        });
    }

    /// Hangs up the terminal of an ended leader's session.
    pub(crate) fn end_session(&self, session: Pid) {
        let _ = self.with(|state| {
            if !state.network.terminals.all.is_empty() {
                state.network.end_session(session);
            }
            Ok(())
        });
    }
}

impl Process {
    /// Returns the socket of a terminal's end. Fails with `ENOTTY` for any other descriptor.
    fn terminal_end(&self, fd: Fd) -> Result<SocketId, Errno> {
        self.socket_of(fd)?.ok_or(Errno::ENOTTY)
    }

    /// Makes a terminal and its file, and opens the master.
    pub(crate) fn open_master(&self, size: WindowSize, flags: u32) -> Result<Fd, Errno> {
        let (number, master) = self.kernel.sockets.with(|state| state.network.open_terminal(size))?;
        self.kernel.files.lock().add_terminal(number);
        self.add_end(master, flags)
    }

    /// Opens the slave of a terminal.
    pub(crate) fn open_slave(&self, number: u32, flags: u32) -> Result<Fd, Errno> {
        let slave = self.kernel.sockets.with(|state| state.network.open_slave(number))?;
        self.add_end(slave, flags)
    }

    /// Opens the terminal that controls the caller's session. Fails with `ENXIO` without such a
    /// terminal.
    pub(crate) fn open_controlling(&self, flags: u32) -> Result<Fd, Errno> {
        let (_, _, session) = self.kernel.processes.family(self.pid);
        let slave = self.kernel.sockets.with(|state| {
            let number = state.network.controlling(session).ok_or(Errno::ENXIO)?;
            state.network.open_slave(number)
        })?;
        self.add_end(slave, flags)
    }

    fn add_end(&self, id: SocketId, flags: u32) -> Result<Fd, Errno> {
        let added = self.add_descriptor(Arc::new(Description::new(Target::Socket(id), flags)));
        added.inspect_err(|_| self.release(HeldObject::Socket(id), false))
    }

    /// Removes the files of terminals that no longer exist.
    pub(crate) fn sweep_terminals(&self) {
        let Some(removed) = self.kernel.sockets.take_removed_terminals() else { return };
        let mut files = self.kernel.files.lock();
        removed.into_iter().for_each(|number| files.remove_terminal(number));
    }
}
