//! Cryptography: the computations of the guest's `node:crypto`, as system calls.
//!
//! The crate `coldframe-crypto` implements the computations. This module stores a program's state
//! between two calls: open digests and ciphers (`contexts.rs`, `ciphers.rs`), and long jobs, which
//! run on separate threads (`jobs.rs`, `pool.rs`). A call digests or encrypts at most [`MAX_CHUNK`]
//! bytes, because the gate to the guest's memory is open during the call. The guest splits longer
//! input and polls between the calls. Next: `contexts.rs`.

mod ciphers;
mod contexts;
mod job;
mod jobs;
mod pool;
mod snapshot;

pub use pool::CryptoShare;
pub(crate) use snapshot::CryptoSnapshot;

use super::usage::Usage;
use super::{Answer, Arguments};
use crate::caller::Caller;
use crate::ids::{ContextId, JobId, OperationId};
use coldframe_abi::system_calls::CryptographyCall;
use coldframe_crypto::{Algorithm, Command, Fault, Hmac, Unwatched};
use coldframe_error::Errno;
use coldframe_panics::runtime::Mutex;
use contexts::{Context, Contexts};
use jobs::Jobs;
use std::sync::Arc;

/// The maximum bytes that one call digests, encrypts or decrypts.
const MAX_CHUNK: usize = 64 << 10;
/// The maximum bytes that one call copies into or out of a job, and the maximum length of an
/// extendable digest.
const MAX_COPY: usize = 1 << 20;

/// The cryptography state of one program.
pub(crate) struct Crypto {
    contexts: Mutex<Contexts>,
    pub(crate) jobs: Jobs,
}

impl Crypto {
    pub(crate) fn new(usage: &Arc<Usage>) -> Self {
        Self { contexts: Mutex::new(Contexts::new(usage)), jobs: Jobs::new(usage) }
    }
}

/// Runs a system call of the family `cryptography` that returns without waiting.
pub(crate) fn call(program: &Arc<dyn Caller>, call: CryptographyCall, arguments: &mut Arguments<'_>) -> Answer {
    let crypto = &program.process().crypto;
    match call {
        CryptographyCall::Digest => digest(arguments),
        CryptographyCall::HashOpen => {
            let context = Context::hash(algorithm(arguments, 0)?);
            crypto.contexts.lock().insert(context).map(ContextId::answer)
        }
        CryptographyCall::HmacOpen => {
            let context = Context::Hmac(Hmac::new(algorithm(arguments, 0)?, chunk(arguments, 1)?));
            crypto.contexts.lock().insert(context).map(ContextId::answer)
        }
        CryptographyCall::Update => {
            crypto.contexts.lock().get(arguments.id(0)?)?.update(chunk(arguments, 1)?)?;
            Ok(0)
        }
        CryptographyCall::Finish => {
            let context = crypto.contexts.lock().remove(arguments.id(0)?)?;
            let out = arguments.bytes_mut(1)?;
            if out.len() > MAX_COPY {
                return Err(Errno::EMSGSIZE);
            }
            context.finish(out)
        }
        CryptographyCall::Copy => {
            let mut contexts = crypto.contexts.lock();
            match contexts.get(arguments.id(0)?)?.copy() {
                Context::Lost => Err(Errno::ECANCELED),
                copy => contexts.insert(copy).map(ContextId::answer),
            }
        }
        CryptographyCall::Close => crypto.contexts.lock().remove(arguments.id(0)?).map(|_| 0),
        CryptographyCall::Hmac => {
            let code = Hmac::of(algorithm(arguments, 0)?, chunk(arguments, 1)?, chunk(arguments, 3)?);
            arguments.put(5, &code)
        }
        CryptographyCall::CipherOpen => ciphers::open(&mut crypto.contexts.lock(), arguments),
        CryptographyCall::CipherUpdate => ciphers::update(&mut crypto.contexts.lock(), arguments),
        CryptographyCall::CipherFinish => ciphers::finish(&mut crypto.contexts.lock(), arguments),
        CryptographyCall::CipherSet => ciphers::set(&mut crypto.contexts.lock(), arguments),
        CryptographyCall::JobBegin => {
            let command = command(arguments)?;
            crypto.jobs.begin(command, copied(arguments, 1)?).map(JobId::answer)
        }
        CryptographyCall::JobAdd => crypto.jobs.add(arguments.id(0)?, copied(arguments, 1)?).map(|()| 0),
        CryptographyCall::JobStart => jobs::start(program, arguments.id(0)?).map(OperationId::answer),
        CryptographyCall::JobRead => {
            let (job, offset) = (arguments.id(0)?, arguments.number(1)?);
            let out = arguments.bytes_mut(2)?;
            crypto.jobs.read(job, offset, out)
        }
        CryptographyCall::JobForget => crypto.jobs.forget(arguments.id(0)?).map(|()| 0),
        CryptographyCall::Run => {
            let command = command(arguments)?;
            if !command.is_quick() {
                return Err(Errno::EINVAL);
            }
            match coldframe_crypto::run(command, chunk(arguments, 1)?, &mut Unwatched) {
                Ok(result) => arguments.put(3, &result),
                Err(fault) => Ok(fault.negative().into()),
            }
        }
    }
}

/// Runs a job and blocks the VM until the job has ended.
pub(crate) async fn job_wait(program: &Arc<dyn Caller>, job: i64) -> Answer {
    let number = u32::try_from(job).map_err(|_| Errno::EINVAL)?;
    jobs::run_and_wait(program, JobId::new(number).ok_or(Errno::EBADF)?).await
}

/// Implements `digest(algorithm, data, out)`: computes a digest in one call, which is the most
/// frequent use. The length of `out` must be the digest's length. An extendable digest fills any
/// length up to [`MAX_COPY`].
fn digest(arguments: &mut Arguments<'_>) -> Answer {
    let algorithm = algorithm(arguments, 0)?;
    let mut hasher = algorithm.hasher();
    hasher.update(chunk(arguments, 1)?);
    let out = arguments.bytes_mut(3)?;
    let fits = out.len() == algorithm.output_len() || algorithm.is_extendable();
    if !fits || out.len() > MAX_COPY {
        return Err(Errno::EMSGSIZE);
    }
    hasher.finish(out);
    i64::try_from(out.len()).map_err(|_| Errno::EOVERFLOW)
}

fn algorithm(arguments: &Arguments<'_>, index: usize) -> Result<Algorithm, Errno> {
    Algorithm::of(arguments.int(index)).ok_or(Errno::EINVAL)
}

fn command(arguments: &Arguments<'_>) -> Result<Command, Errno> {
    Command::of(arguments.int(0)).ok_or(Errno::EINVAL)
}

/// Returns the input of a computation. Fails with `EMSGSIZE` if the input is longer than
/// [`MAX_CHUNK`].
fn chunk<'a>(arguments: &'a Arguments<'_>, index: usize) -> Result<&'a [u8], Errno> {
    arguments.bytes(index).and_then(|bytes| if bytes.len() > MAX_CHUNK { Err(Errno::EMSGSIZE) } else { Ok(bytes) })
}

/// Returns the bytes to copy into a job. Fails with `EMSGSIZE` if there are more than [`MAX_COPY`]
/// bytes.
fn copied<'a>(arguments: &'a Arguments<'_>, index: usize) -> Result<&'a [u8], Errno> {
    arguments.bytes(index).and_then(|bytes| if bytes.len() > MAX_COPY { Err(Errno::EMSGSIZE) } else { Ok(bytes) })
}

/// Converts the fault of a computation to the result of the system call, a negative number.
fn refused(fault: Fault) -> i64 {
    fault.negative().into()
}
