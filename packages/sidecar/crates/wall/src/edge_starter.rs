//! The process that starts the edge process. It is a fork of the broker without the broker's filter
//! of system calls, because a program inherits the filters of its starter.
//!
//! The starter reads one byte for each start, and always executes one program, whose path is known
//! since the start of the sidecar. The starter has no capability and no descriptor but the sockets
//! to the broker and to the edge process. At most one edge process lives: a start ends the former
//! process. The starter and the edge process end with the broker.

use crate::rights;
use crate::wire::{self, Reply};
use coldframe_sys::{Direct, EdgeProcess, HostAccess};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::CapabilitySet;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::process::Child;

/// The request for an edge process.
const START: &[u8] = b"s";

/// The broker's side of the starter.
pub struct EdgeStarter {
    socket: OwnedFd,
}

impl EdgeStarter {
    /// Forks the starter. The process must have one thread.
    pub fn fork(program: &Path) -> io::Result<Self> {
        let (ours, theirs) = wire::pair()?;
        let broker = std::process::id();
        // SAFETY: the process has one thread, so the child may call any function.
        match unsafe { libc::fork() } {
            0 => {
                // The child never returns, so it drops nothing of the broker.
                std::mem::forget(ours);
                let _ = serve(program, &theirs, broker);
                // SAFETY: `_exit` has no preconditions.
                unsafe { libc::_exit(0) }
            }
            pid if pid > 0 => Ok(Self { socket: ours }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Starts the edge process. Returns the socket to it.
    pub fn start(&self) -> io::Result<OwnedFd> {
        wire::send(self.socket.as_fd(), &[START], None)?;
        wire::receive_reply(self.socket.as_fd())?.fd.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

fn serve(program: &Path, socket: &OwnedFd, broker: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get().cast_unsigned() != broker) {
        return Ok(());
    }
    // The grants belong to the broker.
    rights::drop_stdin();
    let own = socket.as_raw_fd();
    for (first, last) in [(3, own - 1), (own + 1, i32::MAX)] {
        if first <= last {
            // SAFETY: this process never uses the broker's descriptors.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
    rights::keep_capabilities(CapabilitySet::empty()).map_err(io::Error::other)?;
    let mut running: Option<Child> = None;
    let mut packet = [0; 16];
    while wire::receive(socket.as_fd(), &mut packet)?.is_some() {
        if let Some(mut child) = running.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let started = Direct.start_edge(program).map(|EdgeProcess { socket, child }| {
            running = child;
            Reply { fd: Some(socket), ..Reply::default() }
        });
        wire::reply(socket.as_fd(), started)?;
    }
    Ok(())
}
