//! The entry point of system calls.
//!
//! A call is a number and up to eight integers. The module dispatches the call to the part that
//! owns the number's range. Next: `arguments.rs`, the integers of a call.

use crate::arguments::Answer;
use crate::caller::Caller;
use crate::caller_scope::CallerScope;
use crate::embedder::HostFailure;
use crate::fs::FileSystemRequest;
use crate::{Arguments, bindings, clock, crypto, fs, host_calls, net, processes};
use coldframe_error::Errno;
use std::sync::Arc;

/// Carries out a system call that finishes at once.
pub fn call(program: &Arc<dyn Caller>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    program.process().facts.set_memory(arguments.memory_len() as u64);
    let _scope = CallerScope::enter(program.pid());
    let answer = match number >> 8 {
        0x1 => return fs::call(program, number, arguments),
        0x2 => net::call(program, number, arguments),
        0x3 => crypto::call(program, number, arguments),
        0x4 => processes::call(program, number, arguments),
        0x5 => clock::call(number, arguments),
        0x6 => bindings::call(&**program, number, arguments),
        _ => Err(Errno::ENOSYS),
    };
    if answer == Err(Errno::EACCES) {
        // Only filesystem calls report a reason. The reason of this call must not appear as the
        // reason of the next call.
        let _ = program.process().view().reason();
    }
    answer
}

/// Sends a request to an app file system, and blocks this VM alone until the reply arrives.
pub async fn ask_file_system(program: &Arc<dyn Caller>, asked: &FileSystemRequest) -> Result<Vec<u8>, Errno> {
    let question = host_calls::HostCallRequest { service: "filesystem", name: asked.name, input: &asked.input };
    // Only the kernel decides that a call is restarted, so a failure of the embedder never returns
    // `ERESTART`.
    let errno = |failure: HostFailure| Some(failure.errno()).filter(|errno| *errno != Errno::ERESTART).unwrap_or(Errno::EIO);
    host_calls::ask_and_wait(program, &question).await.map_err(errno)
}

/// Carries out a system call that may have to wait. A waiting call must not keep references to
/// guest memory: results are short and are returned as numbers.
pub async fn call_and_wait(program: &Arc<dyn Caller>, number: u32, integers: [i64; 8]) -> Answer {
    match number >> 8 {
        0x3 => crypto::call_and_wait(program, number, integers).await,
        0x4 => processes::call_and_wait(program, number, integers).await,
        _ => Err(Errno::ENOSYS),
    }
}
