//! Hardens the process before it serves: the process must not outlive the embedder, and must not
//! leak data of its guests.
//!
//! The end of file of the channel ends the process ([`crate::serve`]). Linux's parent-death signal
//! ends a process that hangs. Core dumps would write guests' memory to a disk. A resource limit
//! turns core dumps off. An undumpable process would write no core dump either, but could not open
//! `/proc/self/pagemap`, which the core reads.
//!
//! Three calls use `libc`, because rustix has no stable API for `signal`, `close_range` and
//! `_exit`.

use std::os::fd::RawFd;

use rustix::process::{Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit};

/// Hardens the process. The function closes all descriptors but the first three and `channel_fd`,
/// so the caller must not have opened a descriptor.
pub fn harden(channel_fd: RawFd) -> Result<(), String> {
    close_others(channel_fd);
    // The limit is 1 and not 0. If the system pipes core dumps into a program, Linux ignores a
    // limit of 0. No dump is as small as one byte.
    let none = Rlimit { current: Some(1), maximum: Some(1) };
    setrlimit(Resource::Core, none).map_err(|error| format!("cannot turn core dumps off: {error}"))?;
    // Open files of mounts are descriptors of this process. `limits.hostFiles` bounds these
    // descriptors for each runtime, and a process may have many runtimes.
    let files = getrlimit(Resource::Nofile);
    // If the call fails, the process continues with the lower limit.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
    let parent = getppid();
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("cannot ask for the parent-death signal: {error}"))?;
    if getppid() != parent {
        return Err("the parent process has exited meanwhile".to_owned());
    }
    // A terminal sends SIGINT and SIGHUP to the whole process group, but only the embedder decides
    // whether the sidecar stops. SIGXFSZ is sent when a file would grow beyond `ulimit -f`, and the
    // failed call also reports this error.
    for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGXFSZ] {
        // SAFETY: `SIG_IGN` installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    Ok(())
}

/// Closes the descriptors that the embedder did not mark close-on-exec. These descriptors would
/// keep the embedder's files and sockets open.
fn close_others(channel_fd: RawFd) {
    for (first, last) in [(3, channel_fd - 1), (channel_fd + 1, i32::MAX)] {
        if first <= last {
            // SAFETY: this process has not opened a descriptor yet, so no code of this process owns
            // a descriptor in the range. A Linux without this system call leaves the descriptors
            // open, which is harmless.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}

/// Ends the process at once, even while guests run. No destructor is called, because a destructor
/// could wait for a guest.
pub fn exit_process(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}
