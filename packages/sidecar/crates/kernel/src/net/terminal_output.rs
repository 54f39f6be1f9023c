//! The embedder's end of a terminal. The standard input of the program writes to the master, like
//! to the pipe of any standard input (`sockets.rs`). The output of the master is the standard
//! output of the program. Output stays in the terminal while the reader is slow, so that the
//! writers wait. Next: `turn.rs`.

use super::socket::{IN, Role, WaitOwner, Waiter};
use super::sockets::{SocketState, Sockets, StdinFeed};
use crate::Kernel;
use crate::caller::Caller;
use crate::descriptors::{Description, READ_WRITE, Target};
use crate::ids::{Fd, SocketId};
use crate::process::Process;
use crate::terminal::{Control, WindowSize};
use coldframe_error::Errno;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

/// The program whose standard output is the output of a terminal.
pub(super) struct TerminalOutlet {
    program: Weak<dyn Caller>,
    /// Moves the output when the reader of the program's output accepts more bytes.
    room: Waker,
}

struct OutputRoom {
    kernel: Weak<Kernel>,
    master: SocketId,
}

impl Wake for OutputRoom {
    fn wake(self: Arc<Self>) {
        if let Some(kernel) = self.kernel.upgrade() {
            kernel.sockets.move_output(self.master);
        }
    }
}

impl SocketState {
    /// Moves the output of a terminal to the reader of the program's output.
    pub(super) fn pump_output(&mut self, master: SocketId) {
        let Some(outlet) = self.outlets.get(&master) else { return };
        let (Some(program), room) = (outlet.program.upgrade(), outlet.room.clone()) else { return };
        let Ok(number) = self.network.terminal_of(master) else { return };
        let mut has_moved = false;
        while let Ok(terminal) = self.network.terminal(number) {
            let output = terminal.discipline.output();
            if output.is_empty() {
                if !terminal.is_over() {
                    self.await_output(master);
                }
                break;
            }
            let count = program.write_terminal(output, &room);
            if count == 0 || self.network.take_output(number, count).is_err() {
                break;
            }
            has_moved = true;
        }
        if has_moved {
            program.flush_output();
        }
    }

    /// Waits for output, unless the embedder already waits.
    fn await_output(&mut self, master: SocketId) {
        let waits = Waiter { owner: WaitOwner::Embedder, mask: IN };
        if self.network.get(master).is_ok_and(|socket| !socket.waiters.contains(&waits)) {
            let _ = self.network.arm(master, waits);
        }
    }
}

impl Sockets {
    fn move_output(&self, master: SocketId) {
        let _ = self.with(|state| {
            state.pump_output(master);
            Ok(())
        });
    }

    /// Returns the present and the highest number of terminals.
    pub(crate) fn terminals_used_and_highest(&self) -> (u64, u64) {
        let state = self.lock();
        (state.network.terminals.all.len() as u64, state.network.terminal_mark.high())
    }

    /// Returns the numbers of removed terminals whose files must be removed.
    pub(crate) fn take_removed_terminals(&self) -> Option<Vec<u32>> {
        let removed = std::mem::take(&mut self.lock().network.terminals.removed);
        (!removed.is_empty()).then_some(removed)
    }
}

impl Process {
    /// Makes a terminal that controls the session of the process. The descriptors 0, 1 and 2 become
    /// the slave, and the embedder has the master.
    pub fn open_terminal(&self, size: WindowSize) -> Result<(), Errno> {
        let sockets = &self.kernel.sockets;
        let (number, master, slave) = sockets.with(|state| {
            let (number, master) = state.network.open_terminal(size)?;
            let slave = state.network.open_slave(number)?;
            let control = Control { session: self.pid, foreground: self.pid };
            state.network.terminal_mut(number)?.control = Some(control);
            state.feeds.insert(master, StdinFeed::default());
            Ok((number, master, slave))
        })?;
        *self.feed.lock() = Some(master);
        self.kernel.files.lock().add_terminal(number);
        let description = Arc::new(Description::new(Target::Socket(slave), READ_WRITE));
        let mut descriptors = self.files.descriptors.lock();
        (0..3).for_each(|fd| descriptors.put(Fd::new(fd), description.clone()));
        Ok(())
    }

    /// Returns the master of the terminal that the embedder has.
    fn own_master(&self) -> Option<SocketId> {
        let feed = (*self.feed.lock())?;
        self.kernel.sockets.terminal_number(feed).map(|_| feed)
    }

    /// Sets the size of the window of the process's own terminal. Fails with `ENOTTY` if the
    /// embedder has no terminal of the process.
    pub fn resize_terminal(&self, size: WindowSize) -> Result<(), Errno> {
        let master = self.own_master().ok_or(Errno::ENOTTY)?;
        self.kernel.sockets.with(|state| {
            let number = state.network.terminal_of(master)?;
            state.network.set_size(number, size)
        })
    }

    /// Begins to move the output of the process's own terminal to the output of `program`, which is
    /// the program of the process.
    pub(crate) fn begin_terminal_output(&self, program: &Arc<dyn Caller>) {
        let Some(master) = self.own_master() else { return };
        let room = Waker::from(Arc::new(OutputRoom { kernel: Arc::downgrade(&self.kernel), master }));
        let outlet = TerminalOutlet { program: Arc::downgrade(program), room };
        let _ = self.kernel.sockets.with(|state| {
            state.outlets.insert(master, outlet);
            state.pump_output(master);
            Ok(())
        });
    }

    /// Takes the output that is left when the program ends. The queue of the terminal bounds its
    /// length.
    pub fn take_terminal_output(&self) -> Vec<u8> {
        let Some(master) = self.own_master() else { return Vec::new() };
        let taken = self.kernel.sockets.with(|state| {
            state.outlets.remove(&master);
            let Role::Master(number) = state.network.get(master)?.role else { return Ok(Vec::new()) };
            let mut left = Vec::new();
            while let Ok(terminal) = state.network.terminal(number)
                && !terminal.discipline.output().is_empty()
            {
                let count = terminal.discipline.output().len();
                left.extend_from_slice(terminal.discipline.output());
                state.network.take_output(number, count)?;
            }
            Ok(left)
        });
        taken.unwrap_or_default()
    }
}
