//! The broker: a process that opens folders and files for the sidecar. Its peer may be an escaped
//! guest, so the broker opens only what the embedder has granted ([`Grants`]).
//!
//! An escaped guest gets from the broker:
//! - each folder that the app has mounted in this sidecar, for reading, or for writing if the app
//!   has mounted it so. The descriptor is a clone of the mount, whose `..` leads nowhere;
//! - once each file that the app imports, and a new file in the place of each file that the app
//!   exports;
//! - the number of bytes of memory that are available;
//! - one process that opens connections out of runtimes, if the app has granted it
//!   (`edge_starter.rs`).
//!
//! The broker ends with the sidecar. It has no socket but the one to the sidecar, and its own
//! filter of system calls.

use crate::edge_starter::EdgeStarter;
use crate::grants::{Grants, refusal};
use crate::namespaces::{self, Made};
use crate::wire::{self, Operation, Reply};
use crate::{Config, filter, mount, rights};
use coldframe_sys::{Direct, HostAccess, Replacement};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::CapabilitySet;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The largest number of files that are exported at a time.
const MAX_PARTS: usize = 64;
/// The time that a request waits for its grant. The SDK writes the grant before the request, so
/// only a request without a grant waits.
const GRANT_TIMEOUT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Runs the broker in a forked process. Never returns, because the caller's objects belong to the
/// sidecar.
pub fn run(config: &Config, socket: RawFd, sidecar: u32, namespaced: bool) -> ! {
    let _ = serve(config, socket, sidecar, namespaced);
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(0) }
}

fn serve(config: &Config, socket: RawFd, sidecar: u32, namespaced: bool) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get().cast_unsigned() != sidecar) {
        return Ok(());
    }
    // The end of the sidecar's streams must be visible to the SDK while the broker ends.
    rights::drop_stderr();
    for (first, last) in [(3, socket - 1), (socket + 1, i32::MAX)] {
        if first <= last {
            // SAFETY: this process never uses the sidecar's descriptors.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
    // SAFETY: the descriptor is open, and the caller has given up its ownership.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let mut made = None;
    if namespaced {
        match namespaces::make(config, sidecar) {
            Ok(Made { bits: 0, reason, .. }) | Err(reason) => {
                return wire::reply(socket.as_fd(), Ok(Reply { path: reason.into_bytes(), ..Reply::default() }));
            }
            Ok(all) => {
                let path = all.reason.clone().into_bytes();
                wire::reply(socket.as_fd(), Ok(Reply { number: all.bits, path, fd: None }))?;
                if let Some(detached) = all.detach_files() {
                    let path = detached.err().unwrap_or_default().into_bytes();
                    wire::reply(socket.as_fd(), Ok(Reply { path, ..Reply::default() }))?;
                }
                made = Some(all);
            }
        }
    }
    // The sidecar sends its first request after it has joined the namespaces. Most sidecars send no
    // request, so the rest of the broker is not a cost of their start. Nothing hostile has been
    // read until then.
    wait_for_request(socket.as_fd())?;
    let clones = made.is_some_and(|made| made.return_to_files());
    // If a restriction fails, the broker serves without it: the broker is no wall.
    let _ = rights::no_new_privileges();
    let kept = if clones { CapabilitySet::SYS_ADMIN } else { CapabilitySet::empty() };
    let _ = rights::keep_capabilities(kept);
    let _ = rights::forbid_dumps();
    // The filter would apply to the edge process too.
    let edge = config.edge.as_deref().map(EdgeStarter::fork);
    let _ = filter::install(&filter::BROKER);
    Server { socket, clones, grants: Grants::default(), parts: HashMap::new(), serial: 0, edge }.serve()
}

/// Waits until the socket has a packet or is closed.
fn wait_for_request(socket: BorrowedFd<'_>) -> io::Result<()> {
    loop {
        match poll(&mut [PollFd::from_borrowed_fd(socket, PollFlags::IN)], None) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

struct Server {
    socket: OwnedFd,
    /// Whether folders are passed as clones of mounts.
    clones: bool,
    grants: Grants,
    /// The files that are being exported.
    parts: HashMap<u64, Box<dyn Replacement>>,
    serial: u64,
    edge: Option<io::Result<EdgeStarter>>,
}

impl Server {
    fn serve(&mut self) -> io::Result<()> {
        loop {
            let (is_granted, is_asked) = self.wait(true, None)?;
            if is_granted {
                self.grants.read(stdin());
            } else if is_asked {
                let mut packet = [0; wire::MAX_PACKET];
                // A descriptor in the request is closed.
                let Some((len, _)) = wire::receive(self.socket.as_fd(), &mut packet)? else { return Ok(()) };
                let reply = self.handle(&packet[..len]);
                wire::reply(self.socket.as_fd(), reply)?;
            }
        }
    }

    /// Waits for a grant, and with `asks` for a request.
    fn wait(&self, asks: bool, timeout: Option<&Timespec>) -> io::Result<(bool, bool)> {
        let stdin = stdin();
        let (mut grants, mut requests) = (PollFlags::IN, PollFlags::IN);
        grants.set(PollFlags::IN, !self.grants.is_over());
        requests.set(PollFlags::IN, asks);
        let mut fds = [PollFd::from_borrowed_fd(self.socket.as_fd(), requests), PollFd::from_borrowed_fd(stdin, grants)];
        // A closed end is reported without a request, so a channel that is over must not be polled.
        let used = if self.grants.is_over() { 1 } else { 2 };
        match poll(&mut fds[..used], timeout) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok((used == 2 && !fds[1].revents().is_empty(), !fds[0].revents().is_empty()))
    }

    fn handle(&mut self, packet: &[u8]) -> io::Result<Reply> {
        let malformed = || io::Error::from_raw_os_error(libc::EINVAL);
        let (operation, rest) = packet.split_first().ok_or_else(malformed)?;
        let number = || rest.try_into().map(u64::from_ne_bytes).map_err(|_| malformed());
        match Operation::of(*operation).ok_or_else(malformed)? {
            operation @ (Operation::ReadFolder | Operation::WriteFolder) => self.folder(operation, rest),
            Operation::ReadFile => {
                self.check(Operation::ReadFile, rest)?;
                self.grants.use_up(Operation::ReadFile, rest);
                let file = Direct.file(path(rest))?;
                Ok(Reply { fd: Some(file.into()), ..Reply::default() })
            }
            Operation::Replace => {
                self.check(Operation::Replace, rest)?;
                self.grants.use_up(Operation::Replace, rest);
                if self.parts.len() >= MAX_PARTS {
                    return Err(io::Error::from_raw_os_error(libc::EMFILE));
                }
                let mut part = Direct.replace(path(rest), ".part")?;
                let fd = part.file().try_clone()?.into();
                self.serial += 1;
                self.parts.insert(self.serial, part);
                Ok(Reply { number: self.serial, path: Vec::new(), fd: Some(fd) })
            }
            Operation::Commit => {
                let part = self.parts.remove(&number()?).ok_or_else(malformed)?;
                part.commit().map(|()| Reply::default())
            }
            Operation::Abort => {
                self.parts.remove(&number()?);
                Ok(Reply::default())
            }
            Operation::Memory => {
                let number = Direct.available_memory().ok_or_else(malformed)?;
                Ok(Reply { number, ..Reply::default() })
            }
            Operation::Edge => {
                self.check(Operation::Edge, &[])?;
                let starter = self.edge.as_ref().ok_or(io::ErrorKind::NotFound)?;
                let socket = starter.as_ref().map_err(|error| io::Error::from(error.kind()))?.start()?;
                Ok(Reply { fd: Some(socket), ..Reply::default() })
            }
        }
    }

    /// Waits until the embedder has granted the operation. Fails if the grant does not arrive.
    fn check(&mut self, operation: Operation, path: &[u8]) -> io::Result<()> {
        while !self.grants.allow(operation, path) {
            if self.grants.is_over() || !self.wait(false, Some(&GRANT_TIMEOUT))?.0 {
                return Err(refusal());
            }
            self.grants.read(stdin());
        }
        Ok(())
    }

    fn folder(&mut self, operation: Operation, asked: &[u8]) -> io::Result<Reply> {
        self.check(operation, asked)?;
        let read_only = operation == Operation::ReadFolder;
        let opened = Direct.folder(path(asked), read_only)?;
        let fd = if self.clones {
            mount::clone(&opened.path, if read_only { mount::READ_ONLY } else { mount::LOCKED })?
        } else {
            opened.file.into()
        };
        let path = opened.path.into_os_string().into_vec();
        self.grants.opened(operation, &path);
        Ok(Reply { number: 0, path, fd: Some(fd) })
    }
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn stdin() -> BorrowedFd<'static> {
    // SAFETY: the process never closes descriptor 0.
    unsafe { BorrowedFd::borrow_raw(libc::STDIN_FILENO) }
}
