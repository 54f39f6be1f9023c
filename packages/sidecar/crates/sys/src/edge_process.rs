//! Starts the process that opens connections out of runtimes.
//!
//! The process gets one end of a Unix socket pair as descriptor 3, and ends when the other end is
//! closed. The process has no environment, no other descriptor, and `/dev/null` as its standard
//! streams. Next: `linux/`.

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The descriptor of the process's socket.
pub const EDGE_FD: RawFd = 3;

/// A process that opens connections out of runtimes.
#[derive(Debug)]
pub struct EdgeProcess {
    /// The socket to the process.
    pub socket: OwnedFd,
    /// The process, if it is a child of this process. The owner must wait for the child.
    pub child: Option<Child>,
}

/// Starts `program` as a child of this process.
pub(crate) fn start(program: &Path) -> io::Result<EdgeProcess> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let socket = theirs.as_raw_fd();
    let mut command = Command::new(program);
    command.env_clear().current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: the closure calls only functions that are safe after a fork: three system calls, and
    // a function that reads `errno`.
    unsafe { command.pre_exec(move || keep_only(socket)) };
    let child = command.spawn()?;
    Ok(EdgeProcess { socket: ours, child: Some(child) })
}

/// Makes `socket` the descriptor [`EDGE_FD`] of the next program, which gets no descriptor after
/// it.
fn keep_only(socket: RawFd) -> io::Result<()> {
    let check = |result: libc::c_int| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    if socket == EDGE_FD {
        // SAFETY: the descriptor is open.
        check(unsafe { libc::fcntl(socket, libc::F_SETFD, 0) })?;
    } else {
        // SAFETY: this process is about to execute a program, and uses no descriptor 3 before.
        check(unsafe { libc::dup2(socket, EDGE_FD) })?;
    }
    let close_on_exec = libc::c_uint::try_from(libc::CLOSE_RANGE_CLOEXEC).unwrap_or(0);
    // SAFETY: the flag closes the descriptors only when the program is executed. A Linux without
    // the call leaves descriptors open that other code has not marked.
    unsafe { libc::syscall(libc::SYS_close_range, EDGE_FD + 1, libc::c_uint::MAX, close_on_exec) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_process_has_its_socket_and_no_other_descriptor() {
        // A script keeps the path of the program short. The shell reads the script from a
        // descriptor of its own, which is marked close-on-exec.
        let folder = std::env::temp_dir().join(format!("coldframe-edge-process-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("made");
        let program = folder.join("program");
        std::fs::write(
            &program,
            "#!/bin/sh\nread line <&3; ls /proc/self/fd | tr '\\n' ' ' >&3; echo \"$line ${HOME-none}\" >&3\n",
        )
        .expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("set");
        // A descriptor without the mark.
        let open = std::fs::File::open("/dev/null").expect("opened");
        // SAFETY: the descriptor is open.
        unsafe { libc::fcntl(open.as_raw_fd(), libc::F_SETFD, 0) };
        let EdgeProcess { socket, child } = start(&program).expect("started");
        let mut stream = std::os::unix::net::UnixStream::from(socket);
        stream.write_all(b"hello\n").expect("written");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("read");
        child.expect("a child").wait().expect("ended");
        std::fs::remove_dir_all(&folder).expect("removed");
        // `ls` has a descriptor for the listed folder, and the shell may have one for the script.
        let (fds, line) = text
            .trim()
            .rsplit_once("  ")
            .or_else(|| text.trim().rsplit_once(" hello"))
            .map_or((text.as_str(), ""), |parts| parts);
        let numbers: Vec<u32> = fds.split_whitespace().filter_map(|fd| fd.parse().ok()).collect();
        assert!(numbers.starts_with(&[0, 1, 2, 3]) && numbers.len() <= 6, "{text} {line}");
        assert!(text.contains("hello none"), "{text}");
        assert!(start(&folder.join("missing")).is_err());
    }
}
