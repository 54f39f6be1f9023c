//! The edge process: serves the link at descriptor 3 until the sidecar closes it.
//!
//! The process has no argument, so that no request chooses what it does. It closes all other
//! descriptors, reads the host machine's network, gives up its rights (`crates/wall`), and serves.
//! The exit code is 0 when the sidecar has closed the link, and 1 after a failure. The exit code is
//! 2 for arguments, or for a descriptor 3 that is no socket.

mod allocator;

use allocator::Overwriting;
use coldframe_edge::{Server, Surroundings};
use coldframe_edge_link::WallPart;
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Overwriting = Overwriting;

/// The descriptor of the link.
const LINK: RawFd = 3;

fn main() -> ExitCode {
    coldframe_panics::install("coldframe-edge");
    if std::env::args_os().len() > 1 {
        return stop(2, "expected no argument: the process is started by the sidecar");
    }
    ignore_signals();
    close_others();
    let Some(link) = link() else { return stop(2, "expected a Unix socket as descriptor 3") };
    let mut server = match Server::new(link) {
        Ok(server) => server,
        Err(error) => return stop(1, &format!("cannot open the link: {error}")),
    };
    // Without the notifications of the system, the addresses of the start stay in force.
    let _ = server.follow_interfaces();
    let surroundings = match Surroundings::read() {
        Ok(surroundings) => surroundings,
        Err(error) => return stop(1, &format!("cannot read the interfaces: {error}")),
    };
    // The process has one thread. The sidecar's option `walls` decides about systems that lack
    // parts.
    let parts = coldframe_wall::close_edge().parts.into_iter();
    let walls = parts.map(|part| WallPart { name: part.name.text().to_owned(), missing: part.missing }).collect();
    match server.with_walls(walls).serve(surroundings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => stop(1, &fault.to_string()),
    }
}

/// Ignores the signals that a terminal sends to the whole process group. Only the sidecar decides
/// whether the edge stops.
fn ignore_signals() {
    for signal in [libc::SIGINT, libc::SIGHUP] {
        // SAFETY: `SIG_IGN` installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Closes the descriptors that the parent did not mark close-on-exec.
fn close_others() {
    // SAFETY: this process has not opened a descriptor yet, so no code of this process owns a
    // descriptor in the range.
    unsafe { libc::syscall(libc::SYS_close_range, LINK + 1, i32::MAX, 0) };
}

/// Takes the descriptor of the link. Returns `None` if the descriptor is no Unix socket.
fn link() -> Option<UnixStream> {
    // SAFETY: no code of this process owns the descriptor. If the descriptor is closed, the call
    // below fails, and the borrow ends.
    let borrowed = unsafe { BorrowedFd::borrow_raw(LINK) };
    let domain = rustix::net::sockopt::socket_domain(borrowed).map_err(io::Error::from).ok()?;
    // SAFETY: the descriptor is an open socket, which only this function takes.
    (domain == rustix::net::AddressFamily::UNIX).then(|| UnixStream::from(unsafe { OwnedFd::from_raw_fd(LINK) }))
}

fn stop(code: u8, reason: &str) -> ExitCode {
    eprintln!("coldframe-edge: {reason}");
    ExitCode::from(code)
}
