//! The entry of system calls: a number and up to eight integers. `coldframe-abi` has the table of
//! all calls. Each part of the kernel matches the calls of its family. Next: `arguments.rs`.

use crate::arguments::Answer;
use crate::caller::Caller;
use crate::caller_scope::CallerScope;
use crate::embedder::HostFailure;
use crate::fs::FileSystemRequest;
use crate::{Arguments, bindings, clock, crypto, fs, host_calls, net, processes};
use coldframe_abi::{BlockingCall, SystemCall};
use coldframe_error::Errno;
use std::sync::Arc;

/// Runs a system call that returns without waiting. Fails with `ENOSYS` if no such call has the
/// number.
pub fn call(program: &Arc<dyn Caller>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    program.process().facts.set_memory(arguments.guest_len() as u64);
    let _scope = CallerScope::enter(program.pid());
    let answer = match SystemCall::from_number(number).ok_or(Errno::ENOSYS)? {
        SystemCall::File(call) => return fs::call(program, call, arguments),
        SystemCall::Socket(call) => net::call(program, call, arguments),
        SystemCall::Cryptography(call) => crypto::call(program, call, arguments),
        SystemCall::Process(call) => processes::call(program, call, arguments),
        SystemCall::Clock(call) => clock::call(call, arguments),
        SystemCall::Binding(call) => bindings::call(&**program, call, arguments),
        SystemCall::Terminal(call) => net::terminal_call(program, call, arguments),
    };
    if answer == Err(Errno::EACCES) {
        program.process().view().end_denied_call();
    }
    answer
}

/// Sends a request to an app file system. Blocks only the program's VM until the reply arrives.
pub async fn ask_file_system(program: &Arc<dyn Caller>, asked: &FileSystemRequest) -> Result<Vec<u8>, Errno> {
    let question = host_calls::HostCallRequest { service: "filesystem", name: asked.name, input: &asked.input };
    // Only the kernel may return `ERESTART`, which repeats the call. If the embedder's failure has
    // this name, the guest receives another error.
    let errno = |failure: HostFailure| Some(failure.errno()).filter(|errno| *errno != Errno::ERESTART).unwrap_or(Errno::EIO);
    host_calls::ask_and_wait(program, &question).await.map_err(errno)
}

/// Runs a system call that blocks the VM. Fails with `ENOSYS` if no such call has the number. The
/// result is a number, because the call must not keep a reference to guest memory while the VM
/// waits.
pub async fn call_and_wait(program: &Arc<dyn Caller>, number: u32, integers: [i64; 8]) -> Answer {
    match BlockingCall::from_number(number).ok_or(Errno::ENOSYS)? {
        BlockingCall::JobWait => crypto::job_wait(program, integers[0]).await,
        BlockingCall::WaitForWatched => processes::wait_for_watched(program, integers[0]).await,
        BlockingCall::WaitForOperation => processes::wait_for_operation(program, integers[0], integers[1]).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;
    use crate::limits::Limits;
    use crate::testing::FakeCaller;
    use coldframe_abi::system_calls::FAMILIES;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn program() -> Arc<dyn Caller> {
        FakeCaller::root(&Arc::new(Kernel::new(&Limits::default())), "/")
    }

    #[test]
    fn a_number_without_a_call_is_enosys() {
        let program = program();
        for number in [0, 0xff, 0x129, 0x20a, 0x313, 0x409, 0x5ff, 0x70b, 0x1_0100, u32::MAX] {
            let mut memory = [0; 16];
            assert_eq!(call(&program, number, &mut Arguments::new([0; 8], &mut memory)), Err(Errno::ENOSYS), "{number:#x}");
        }
    }

    #[test]
    fn a_call_that_does_not_block_is_enosys_for_the_blocking_import() {
        let program = program();
        for declared in FAMILIES.iter().flat_map(|family| family.declarations()).filter(|call| !call.blocks) {
            let mut waiting = pin!(call_and_wait(&program, declared.number, [0; 8]));
            let answer = waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(answer, Poll::Ready(Err(Errno::ENOSYS)), "{}", declared.name);
        }
    }
}
