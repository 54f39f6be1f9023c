//! Processes and signals: calls from 0x400. `wait_for_watched` is in `blocking.rs`.

use super::system_calls;

system_calls! {
    /// A call about processes and signals.
    ProcessCall, blocks: false {
        /// Starts a child. `words` are u32: flags, the counts of arguments, of variables and of
        /// descriptors, the user, the group. A kind and a number for each descriptor follow. Kind 0
        /// passes no descriptor, or `/dev/null` as one of the first three. Kind 1 passes the
        /// caller's descriptor of that number. Flag 1 starts a new session. With flag 2 one more
        /// word is the child's process group, and 0 is a new group. With flag 4 the child's group
        /// becomes the foreground group of the caller's terminal before the start. With flags 1 and
        /// 8 descriptor 0 becomes the controlling terminal of the session. With flag 0x10 the words
        /// have a user, with flag 0x20 a group. `texts` has a NUL behind each text: file, directory
        /// (empty: the caller's), arguments, variables. Fails with `E2BIG` above the limits
        /// `argvBytes` and `envBytes`. Fails with `EAGAIN` if the runtime has too many processes,
        /// and with `ENOMEM` above a memory limit. Fails with `ENOENT`, `EACCES`, `ENOEXEC` and
        /// `ELOOP` as Linux's `execve` does. Fails with `EPERM` if the caller may not have the user
        /// or the group.
        Spawn(words: Bytes, texts: Bytes) = 0x400 => Value("the child's pid");
        /// Waits for a child's end, and reaps the child. Fails with `ECHILD` if `pid` is not a
        /// child of the caller.
        Wait(pid) = 0x401 => Operation("the child's wait status");
        /// Sends a signal. `pid` 0 means the caller's group, -1 all other processes, and another
        /// negative number the group of the positive number. Signal 0 only checks that the process
        /// exists. Fails with `EPERM` for pid 1, with `ESRCH` without a target, and with `EACCES`
        /// without the permission for any target.
        Kill(pid, signal) = 0x402 => Zero;
        /// Returns the parent's pid.
        Getppid() = 0x403 => Value("the pid, 1 if the parent has ended");
        /// Sets the action of a signal: 0 the default action, 1 listening, 2 ignoring. A signal
        /// with a listener is reported by `next_signal` and has no other effect, except that
        /// SIGCONT continues the process. Fails with `EINVAL` for SIGKILL and SIGSTOP.
        Listen(signal, action) = 0x404 => Zero;
        /// Waits for a signal with a listener. Fails with `EBUSY` if another operation of
        /// `next_signal` is pending.
        NextSignal() = 0x405 => Operation("the number of the next signal");
        /// Returns the group of a process. `pid` 0 is the caller.
        Getpgid(pid) = 0x406 => Value("the group");
        /// Moves the caller or a child to a group of its session. `pid` 0 is the caller, and
        /// `group` 0 makes a new group with the number of the process.
        Setpgid(pid, group) = 0x407 => Zero;
        /// Sets the list for the next `wait_for_watched`: at most 64 pairs of u32. A pair is a
        /// descriptor and a mask of `arm`, or a child and 0.
        Watch(list: Bytes) = 0x408 => Zero;
        /// Reaps a child that has ended. Fails with `EAGAIN` while the child lives.
        Reap(pid) = 0x40a => Value("the child's wait status");
        /// Checks whether `spawn` may start the program in a file, and starts no program. The
        /// shell asks before it runs one of its own commands in its process. Fails with `ENOENT`
        /// and `EACCES` as `spawn` does.
        MayRun(file: Path) = 0x40b => Zero;
        /// Waits for a change of a child. The end always completes the wait, and reaps the child.
        /// With flag 1 a stop completes the wait (`0x7f | signal << 8`), with flag 2 a continuation
        /// (0xffff). Fails with `ECHILD` if `pid` is not a child of the program, and with `EBUSY`
        /// if another wait for the child is pending.
        WaitChange(pid, flags) = 0x40c => Operation("the child's wait status");
        /// Makes the caller the leader of a new session and of a new group without a terminal.
        /// Fails with `EPERM` if a group has the caller's pid.
        Setsid() = 0x40d => Value("the session");
        /// Returns the session of a process. `pid` 0 is the caller.
        Getsid(pid) = 0x40e => Value("the session");
        /// Takes the completion of an operation, so that no event of the operation follows. Writes
        /// the operation's result as i32, and the bytes of the event. If the buffer is too short,
        /// nothing is written or taken. Fails with `EAGAIN` before the completion, and with
        /// `ENOENT` if no operation of the program has the number.
        TakeEvent(operation, buffer: Buffer) = 0x411 => Value("4 and the length of the bytes");
        /// Takes a pending signal with a listener. From the first call on, a pending signal with a
        /// listener also ends a blocking call of the program, which fails with `EINTR`. This call
        /// is for programs that handle signals in the middle of a turn. `next_signal` is for
        /// programs that wait between turns.
        TakeSignal() = 0x40f => Value("the number of the signal, 0 without a pending signal");
        /// Writes the ids of the caller as u32: real, effective and saved user, real, effective and
        /// saved group, supplementary groups. 22 numbers suffice.
        GetIds(out: Buffer) = 0x420 => Value("the number of ids");
        /// Sets ids as Linux does: 0 `setuid`, 1 `seteuid`, 2 `setgid`, 3 `setegid`. Fails with
        /// `EPERM` if the caller may not have the id.
        SetId(which, id) = 0x421 => Zero;
        /// Replaces the supplementary groups with a list of u32. Fails with `EPERM` without the
        /// effective user 0, and with `EINVAL` for more than 16 groups.
        SetGroups(list: Bytes) = 0x422 => Zero;
    }
}
