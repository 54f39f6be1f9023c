//! The sidecar's side of the broker.

use crate::Config;
use crate::broker;
use crate::wire::{self, Operation, Reply};
use coldframe_panics::process::Mutex;
use coldframe_sys::{EdgeProcess, HostAccess, HostFolder, Replacement, set_host_access};
use rustix::process::Pid;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// A broker process and the socket to it. The broker ends when the socket closes.
pub struct Broker {
    socket: OwnedFd,
    pid: Pid,
}

impl Broker {
    /// Forks a broker. With `namespaced`, the broker makes the namespaces of the sidecar. The
    /// process must have one thread.
    pub fn fork(config: &Config, namespaced: bool) -> io::Result<Self> {
        let (ours, theirs) = wire::pair()?;
        let sidecar = std::process::id();
        // SAFETY: the process has one thread, so the child may call any function.
        match unsafe { libc::fork() } {
            0 => {
                let socket = theirs.as_raw_fd();
                // The child owns `theirs` until it exits, and never drops anything else.
                std::mem::forget((ours, theirs));
                broker::run(config, socket, sidecar, namespaced)
            }
            pid => {
                let pid = Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(io::Error::last_os_error)?;
                Ok(Self { socket: ours, pid })
            }
        }
    }

    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub fn pid(&self) -> Pid {
        self.pid
    }
}

/// Makes the broker the way in which this process reaches files.
pub fn install(broker: io::Result<Broker>) {
    set_host_access(Box::new(Brokered(Arc::new(Mutex::new(broker.map_err(|error| error.kind()))))));
}

/// Asks the broker for what is outside of the process's own folders.
struct Brokered(Arc<Shared>);

type Shared = Mutex<Result<Broker, io::ErrorKind>>;

fn ask(shared: &Shared, operation: Operation, bytes: &[u8]) -> io::Result<Reply> {
    let shared = shared.lock();
    let broker = shared.as_ref().map_err(|kind| io::Error::from(*kind))?;
    if bytes.len() > 4_096 {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    wire::send(broker.socket(), &[&[operation.byte()], bytes], None)?;
    wire::receive_reply(broker.socket())
}

fn ask_path(shared: &Shared, operation: Operation, path: &Path) -> io::Result<(File, Reply)> {
    let mut reply = ask(shared, operation, path.as_os_str().as_bytes())?;
    let fd = reply.fd.take().ok_or(io::ErrorKind::InvalidData)?;
    Ok((fd.into(), reply))
}

impl HostAccess for Brokered {
    fn folder(&self, path: &Path, read_only: bool) -> io::Result<HostFolder> {
        let operation = if read_only { Operation::ReadFolder } else { Operation::WriteFolder };
        let (file, reply) = ask_path(&self.0, operation, path)?;
        Ok(HostFolder { file, path: OsStr::from_bytes(&reply.path).into() })
    }

    fn file(&self, path: &Path) -> io::Result<File> {
        Ok(ask_path(&self.0, Operation::ReadFile, path)?.0)
    }

    fn replace(&self, path: &Path, _suffix: &str) -> io::Result<Box<dyn Replacement>> {
        let (file, reply) = ask_path(&self.0, Operation::Replace, path)?;
        Ok(Box::new(PartFile { file, number: reply.number, shared: self.0.clone(), is_committed: false }))
    }

    fn start_edge(&self, _program: &Path) -> io::Result<EdgeProcess> {
        let socket = ask(&self.0, Operation::Edge, &[])?.fd.ok_or(io::ErrorKind::InvalidData)?;
        Ok(EdgeProcess { socket, child: None })
    }

    fn available_memory(&self) -> Option<u64> {
        ask(&self.0, Operation::Memory, &[]).ok().map(|reply| reply.number)
    }
}

/// A new file that the broker has made beside its target.
struct PartFile {
    file: File,
    number: u64,
    shared: Arc<Shared>,
    is_committed: bool,
}

impl Replacement for PartFile {
    fn file(&mut self) -> &mut File {
        &mut self.file
    }

    fn commit(mut self: Box<Self>) -> io::Result<()> {
        self.is_committed = true;
        ask(&self.shared, Operation::Commit, &self.number.to_ne_bytes()).map(drop)
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if !self.is_committed {
            // If the broker has ended, the file stays.
            let _ = ask(&self.shared, Operation::Abort, &self.number.to_ne_bytes());
        }
    }
}
