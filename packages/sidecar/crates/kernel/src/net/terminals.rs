//! Terminals in the table of sockets. A terminal has one master and any number of slaves. Each end
//! is a socket. So reads, writes, waits, descriptors and snapshots need no second mechanism.
//! Signals are posted, and delivered after the lock of the table was released
//! (`posted_signals.rs`). Next: `terminal_calls.rs`.

use super::network::{Network, Wake};
use super::posted_signals::{PostedSignal, Recipient};
use super::socket::{Domain, IN, Role, Socket, WaitOwner};
use crate::ids::SocketId;
use crate::terminal::{Attributes, Control, Discipline, Fetched, Queue, WindowSize};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const SIGHUP: u8 = 1;
const SIGCONT: u8 = 18;
const SIGWINCH: u8 = 28;

/// A terminal.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Terminal {
    pub(super) discipline: Discipline,
    pub(super) size: WindowSize,
    pub(super) control: Option<Control>,
    pub(super) master: Option<SocketId>,
    pub(super) slaves: BTreeSet<SocketId>,
    /// Whether a slave was ever open. The master of a terminal without slaves is at its end only
    /// after that.
    pub(super) was_open: bool,
    /// Whether the master was closed or the leader of the session has ended. Slaves read the end
    /// of the input.
    pub(super) is_hung_up: bool,
    /// Whether the time limit of a blocking read has passed. The next read without input returns
    /// no bytes.
    pub(super) is_read_over: bool,
}

/// The terminals of a runtime, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Terminals {
    pub(super) all: BTreeMap<u32, Terminal>,
    /// The number of sockets that are ends of terminals.
    pub(super) ends: usize,
    /// Signals that were not delivered yet.
    pub(super) posted: Vec<PostedSignal>,
    /// The numbers of removed terminals whose files still exist.
    pub(super) removed: Vec<u32>,
}

impl Terminal {
    /// Returns whether the master reads the end of the output.
    pub(super) fn is_over(&self) -> bool {
        self.is_hung_up || (self.was_open && self.slaves.is_empty())
    }

    /// Returns whether every input is dropped, because no program can read the input.
    fn drops_input(&self) -> bool {
        self.is_over()
    }
}

impl Network {
    /// Makes a terminal without a slave. Returns its number and its master. Fails with `ENOSPC` at
    /// the limit of terminals.
    pub(super) fn open_terminal(&mut self, size: WindowSize) -> Result<(u32, SocketId), Errno> {
        let max = self.usage.limits.terminals;
        let count = self.terminals.all.len() as u64 + 1;
        if count > max {
            return Err(Errno::ENOSPC);
        }
        if self.terminal_mark.raise(count, max) {
            self.usage.warnings.add("terminals", count, max, None);
        }
        let number = (0..=u32::MAX).find(|number| !self.terminals.all.contains_key(number)).ok_or(Errno::ENOSPC)?;
        let master = self.add(Socket::new(Domain::Unix, Role::Master(number)))?;
        let terminal = Terminal { size, master: Some(master), ..Terminal::default() };
        self.terminals.all.insert(number, terminal);
        Ok((number, master))
    }

    /// Opens a slave. Fails with `ENXIO` if no terminal has the number, and with `EIO` after a
    /// hang-up.
    pub(super) fn open_slave(&mut self, number: u32) -> Result<SocketId, Errno> {
        if self.terminals.all.get(&number).ok_or(Errno::ENXIO)?.is_hung_up {
            return Err(Errno::EIO);
        }
        let slave = self.add(Socket::new(Domain::Unix, Role::Slave(number)))?;
        let terminal = self.terminal_mut(number)?;
        terminal.slaves.insert(slave);
        terminal.was_open = true;
        if let Some(socket) = terminal.master {
            // The embedder's wait for output ended when the last slave closed.
            self.wake(Wake { owner: WaitOwner::Embedder, socket, ready: IN });
        }
        Ok(slave)
    }

    pub(super) fn terminal(&self, number: u32) -> Result<&Terminal, Errno> {
        self.terminals.all.get(&number).ok_or(Errno::EIO)
    }

    pub(super) fn terminal_mut(&mut self, number: u32) -> Result<&mut Terminal, Errno> {
        self.terminals.all.get_mut(&number).ok_or(Errno::EIO)
    }

    /// Returns the number of the terminal of an end. Fails with `ENOTTY` for another socket.
    pub(super) fn terminal_of(&self, id: SocketId) -> Result<u32, Errno> {
        match self.get(id)?.role {
            Role::Master(number) | Role::Slave(number) => Ok(number),
            _ => Err(Errno::ENOTTY),
        }
    }

    /// Returns the number of the terminal that controls a session.
    pub(super) fn controlling(&self, session: Pid) -> Option<u32> {
        let controls = |terminal: &Terminal| terminal.control.is_some_and(|control| control.session == session);
        self.terminals.all.iter().find(|(_, terminal)| controls(terminal)).map(|(number, _)| *number)
    }

    /// Changes a terminal, and notifies the waits of all its ends.
    fn change_terminal<R>(
        &mut self,
        number: u32,
        change: impl FnOnce(&mut Terminal, &mut Vec<PostedSignal>) -> R,
    ) -> Result<R, Errno> {
        let terminal = self.terminals.all.get_mut(&number).ok_or(Errno::EIO)?;
        let before = terminal.discipline.buffered();
        let result = change(terminal, &mut self.terminals.posted);
        let after = terminal.discipline.buffered();
        let ends: Vec<SocketId> = terminal.master.into_iter().chain(terminal.slaves.iter().copied()).collect();
        self.count_buffered(after, before);
        ends.into_iter().for_each(|id| self.notify(id));
        Ok(result)
    }

    /// Receives bytes of the keyboard. Fails with `EAGAIN` if the input queue is full.
    pub(super) fn write_master(&mut self, number: u32, bytes: &[u8]) -> Result<usize, Errno> {
        if self.terminal(number)?.drops_input() {
            return Ok(bytes.len());
        }
        let count = self.change_terminal(number, |terminal, posted| {
            let group = terminal.control.map(|control| Recipient::Group(control.foreground));
            terminal.discipline.write_input(bytes, |signal| {
                if let Some(to) = group {
                    PostedSignal { to, signal: signal.number() }.post(posted);
                }
            })
        })?;
        if count == 0 && !bytes.is_empty() { Err(Errno::EAGAIN) } else { Ok(count) }
    }

    /// Reads the output of the terminal. Fails with `EIO` at its end.
    pub(super) fn read_master(&mut self, number: u32, buffer: &mut [u8]) -> Result<usize, Errno> {
        let terminal = self.terminal(number)?;
        let output = terminal.discipline.output();
        if output.is_empty() && !buffer.is_empty() {
            return Err(if terminal.is_over() { Errno::EIO } else { Errno::EAGAIN });
        }
        let count = output.len().min(buffer.len());
        buffer[..count].copy_from_slice(&output[..count]);
        self.take_output(number, count)?;
        Ok(count)
    }

    /// Removes output that the master has read.
    pub(super) fn take_output(&mut self, number: u32, count: usize) -> Result<(), Errno> {
        self.change_terminal(number, |terminal, _| terminal.discipline.take_output(count))
    }

    /// Writes the output of a program. Fails with `EAGAIN` if the output queue is full, and with
    /// `EIO` after a hang-up.
    pub(super) fn write_slave(&mut self, number: u32, bytes: &[u8]) -> Result<usize, Errno> {
        if self.terminal(number)?.is_hung_up {
            return Err(Errno::EIO);
        }
        let count = self.change_terminal(number, |terminal, _| terminal.discipline.write_output(bytes))?;
        if count == 0 && !bytes.is_empty() { Err(Errno::EAGAIN) } else { Ok(count) }
    }

    /// Reads the input. `waits` is set for a read that waits for the least number of bytes of raw
    /// mode. Fails with `EAGAIN` if too few bytes wait. Returns 0 after a hang-up.
    pub(super) fn read_slave(&mut self, number: u32, buffer: &mut [u8], waits: bool) -> Result<usize, Errno> {
        if self.terminal(number)?.is_hung_up {
            return Ok(0);
        }
        self.change_terminal(number, |terminal, _| {
            let is_over = std::mem::take(&mut terminal.is_read_over);
            match terminal.discipline.read_input(buffer, waits) {
                Fetched::Bytes(count) => Ok(count),
                Fetched::Nothing if is_over => Ok(0),
                Fetched::Nothing => Err(Errno::EAGAIN),
            }
        })?
    }

    pub(super) fn set_attributes(&mut self, number: u32, attributes: Attributes, flushes: bool) -> Result<(), Errno> {
        self.change_terminal(number, |terminal, _| {
            if flushes {
                terminal.discipline.flush(Queue::Input);
            }
            terminal.discipline.set_attributes(attributes);
        })
    }

    pub(super) fn flush_terminal(&mut self, number: u32, queues: &[Queue]) -> Result<(), Errno> {
        self.change_terminal(number, |terminal, _| queues.iter().for_each(|queue| terminal.discipline.flush(*queue)))
    }

    /// Sets the size of the window. The foreground group receives SIGWINCH after a change.
    pub(super) fn set_size(&mut self, number: u32, size: WindowSize) -> Result<(), Errno> {
        self.change_terminal(number, |terminal, posted| {
            if std::mem::replace(&mut terminal.size, size) != size
                && let Some(control) = terminal.control
            {
                PostedSignal { to: Recipient::Group(control.foreground), signal: SIGWINCH }.post(posted);
            }
        })
    }

    /// Ends the terminal for its slaves. The leader of the session and the foreground group receive
    /// SIGHUP and SIGCONT.
    fn hang_up(&mut self, number: u32) -> Result<(), Errno> {
        self.change_terminal(number, |terminal, posted| {
            if std::mem::replace(&mut terminal.is_hung_up, true) {
                return;
            }
            terminal.discipline.flush(Queue::Input);
            let Some(control) = terminal.control.take() else { return };
            let to = [Recipient::Group(control.foreground), Recipient::Process(control.session)];
            for (to, signal) in to.into_iter().flat_map(|to| [(to, SIGHUP), (to, SIGCONT)]) {
                PostedSignal { to, signal }.post(posted);
            }
        })
    }

    /// Hangs up the terminal of a session whose leader has ended.
    pub(super) fn end_session(&mut self, session: Pid) {
        if let Some(number) = self.controlling(session) {
            let _ = self.hang_up(number);
        }
    }

    /// Closes the end `id` of a terminal. The socket was removed from the table already.
    pub(super) fn close_end(&mut self, number: u32, id: SocketId) {
        self.terminals.ends -= 1;
        let Ok(terminal) = self.terminal_mut(number) else { return };
        if terminal.master == Some(id) {
            terminal.master = None;
            let _ = self.hang_up(number);
        } else {
            terminal.slaves.remove(&id);
            if let Some(master) = terminal.master.filter(|_| terminal.slaves.is_empty()) {
                self.notify(master);
            }
        }
        let is_closed = |terminal: &Terminal| terminal.master.is_none() && terminal.slaves.is_empty();
        if self.terminal(number).is_ok_and(is_closed)
            && let Some(terminal) = self.terminals.all.remove(&number)
        {
            self.count_buffered(0, terminal.discipline.buffered());
            let count = self.terminals.all.len() as u64;
            self.terminal_mark.lower(count, self.usage.limits.terminals);
            self.terminals.removed.push(number);
        }
    }
}
