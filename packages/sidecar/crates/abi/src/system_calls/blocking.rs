//! Calls that block the VM: the import `sys_wait` executes these calls. Each call belongs to the
//! family of its number.

use super::system_calls;

system_calls! {
    /// A call that blocks the VM until a result exists.
    BlockingCall, blocks: true {
        /// Starts a job and waits for the job's end. After a fault the job no longer exists.
        JobWait(job) = 0x313 => Value("the length of the result, or a fault");
        /// Waits for the list of `watch`, at most `ns` nanoseconds. With a negative `ns` the wait
        /// has no time limit. A child that has ended is not reaped. Fails with `EINTR` if the
        /// evaluation must end.
        WaitForWatched(ns) = 0x409 => Value("0 if a descriptor is ready or a child has ended, 1 after `ns`");
        /// Waits for the completion of an operation, at most `ns` nanoseconds. With a negative `ns`
        /// the wait has no time limit. `take_event` then takes the completion. Fails with `ENOENT`
        /// if no operation of the program has the number, and with `EINTR` as `wait_for_watched`.
        WaitForOperation(operation, ns) = 0x410 => Value("0 if the operation has completed, 1 after `ns`");
    }
}
