//! What the process does to itself before it serves, so that it never outlives its parent and leaks nothing of its guests.
//!
//! The first wall against orphans is the channel: its end of file is the parent's death ([`crate::serve`]). The second is the kernel's
//! parent-death signal, for the case that this process hangs. Core dumps would write guests' memory to a disk; they are turned off by the
//! resource limit and not by making the process undumpable, since that would also hide `/proc/self/pagemap`, which the core reads.

use std::os::fd::RawFd;

use rustix::process::{Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit};

/// Prints a panic's place and reason, then aborts: a thread that is gone in silence would leave its requests unanswered for ever.
pub fn abort_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("coldframe-sidecar: internal error: {panic}");
        std::process::abort();
    }));
}

/// Puts the walls up. Call it before anything is opened: it closes all descriptors but the first three and `channel_fd`.
pub fn put_up(channel_fd: RawFd) -> Result<(), String> {
    close_others(channel_fd);
    // 1 and not 0: a core pattern that pipes dumps into a program ignores 0, and no dump is as small as one byte.
    let none = Rlimit { current: Some(1), maximum: Some(1) };
    setrlimit(Resource::Core, none).map_err(|error| format!("cannot turn core dumps off: {error}"))?;
    // Open files of mounted folders are descriptors of this process: `limits.hostFiles` bounds them for each runtime, and there may be many runtimes.
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
    let parent = getppid();
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("cannot ask for the parent-death signal: {error}"))?;
    if getppid() != parent {
        return Err("the parent has died meanwhile".to_owned());
    }
    // A terminal sends the first two to the whole group; whether to stop is the parent's decision, and its end is ours. The third comes when a
    // file would grow beyond what the parent has allowed (`ulimit -f`): the call's error says that, and is the caller's alone.
    for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGXFSZ] {
        // SAFETY: ignoring a signal installs no handler of ours.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    Ok(())
}

/// Descriptors that the parent forgot to mark close-on-exec would keep its files and sockets open for as long as we live.
fn close_others(channel_fd: RawFd) {
    for (first, last) in [(3, channel_fd - 1), (channel_fd + 1, i32::MAX)] {
        if first <= last {
            // SAFETY: nothing in this process has opened a descriptor yet, so none in the range has an owner here. A kernel that does
            // not know the call leaves them open, which is only untidy.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}

/// Ends the process at once, whatever guests are doing: nothing here needs a destructor, and none may wait for a guest.
pub fn vanish(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}
