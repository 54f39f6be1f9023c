//! Cryptography, system calls `0x300` to `0x3ff`: the computations of the guest's `node:crypto`.
//!
//! The crate `coldframe-crypto` has the computations. This module has a program's state between two
//! calls: open digests and ciphers (`contexts.rs`, `ciphers.rs`), and long jobs, which run on
//! threads of their own (`jobs.rs`, `pool.rs`). A call digests at most [`MAX_CHUNK`] bytes, because
//! the gate to the guest's memory is open during the call. The guest splits longer input and polls
//! in between. Next: `contexts.rs`.

mod ciphers;
mod contexts;
mod job;
mod jobs;
mod pool;
mod snapshot;

pub(crate) use snapshot::CryptoSnapshot;

use super::usage::Usage;
use super::{Answer, Arguments};
use crate::caller::Caller;
use crate::ids::OperationId;
use coldframe_crypto::{Algorithm, Command, Fault, Hmac, Unwatched};
use coldframe_error::Errno;
use contexts::{Context, Contexts};
use jobs::Jobs;
use parking_lot::Mutex;
use std::sync::Arc;

/// Maximum bytes that one call digests or encrypts.
const MAX_CHUNK: usize = 64 << 10;
/// Maximum bytes that one call copies into or out of a job.
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

/// Carries out a call that finishes at once.
pub(crate) fn call(program: &Arc<dyn Caller>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    let crypto = &program.process().crypto;
    match number {
        0x300 => digest(arguments),
        0x301 => {
            let context = Context::hash(algorithm(arguments, 0)?);
            crypto.contexts.lock().insert(context)
        }
        0x302 => {
            let context = Context::Hmac(Hmac::new(algorithm(arguments, 0)?, chunk(arguments, 1)?));
            crypto.contexts.lock().insert(context)
        }
        0x303 => {
            crypto.contexts.lock().get(arguments.number(0)?)?.update(chunk(arguments, 1)?)?;
            Ok(0)
        }
        0x304 => {
            let context = crypto.contexts.lock().remove(arguments.number(0)?)?;
            let out = arguments.bytes_mut(1)?;
            if out.len() > MAX_COPY {
                return Err(Errno::EMSGSIZE);
            }
            context.finish(out)
        }
        0x305 => {
            let mut contexts = crypto.contexts.lock();
            match contexts.get(arguments.number(0)?)?.copy() {
                Context::Lost => Err(Errno::ECANCELED),
                copy => contexts.insert(copy),
            }
        }
        0x306 => crypto.contexts.lock().remove(arguments.number(0)?).map(|_| 0),
        0x307 => {
            let code = Hmac::of(algorithm(arguments, 0)?, chunk(arguments, 1)?, chunk(arguments, 3)?);
            arguments.put(5, &code)
        }
        0x308..=0x30b => ciphers::call(&mut crypto.contexts.lock(), number, arguments),
        0x310..=0x31f => job_call(program, number, arguments),
        _ => Err(Errno::ENOSYS),
    }
}

fn job_call(program: &Arc<dyn Caller>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    let jobs = &program.process().crypto.jobs;
    match number {
        0x310 => {
            let command = command(arguments)?;
            jobs.begin(command, copied(arguments, 1)?).map(i64::from)
        }
        0x311 => jobs.add(arguments.number(0)?, copied(arguments, 1)?).map(|()| 0),
        0x312 => jobs::start(program, arguments.number(0)?).map(OperationId::answer),
        0x314 => {
            let (job, offset) = (arguments.number(0)?, arguments.number(1)?);
            let out = arguments.bytes_mut(2)?;
            jobs.read(job, offset, out)
        }
        0x315 => jobs.forget(arguments.number(0)?).map(|()| 0),
        0x316 => {
            let command = command(arguments)?;
            if !command.is_quick() {
                return Err(Errno::EINVAL);
            }
            match coldframe_crypto::run(command, chunk(arguments, 1)?, &mut Unwatched) {
                Ok(result) => arguments.put(3, &result),
                Err(fault) => Ok(fault.negative().into()),
            }
        }
        _ => Err(Errno::ENOSYS),
    }
}

/// Carries out a call that waits: `0x313` runs a job and blocks the VM until the job is done.
pub(crate) async fn call_and_wait(program: &Arc<dyn Caller>, number: u32, integers: [i64; 8]) -> Answer {
    match number {
        0x313 => jobs::run_and_wait(program, u32::try_from(integers[0]).map_err(|_| Errno::EINVAL)?).await,
        _ => Err(Errno::ENOSYS),
    }
}

/// `digest(algorithm, data, out)` computes a digest in one call, the most frequent use. `out` has
/// the digest's length, or any length for an extendable digest.
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

/// Reads the input of a computation.
fn chunk<'a>(arguments: &'a Arguments<'_>, index: usize) -> Result<&'a [u8], Errno> {
    arguments.bytes(index).and_then(|bytes| if bytes.len() > MAX_CHUNK { Err(Errno::EMSGSIZE) } else { Ok(bytes) })
}

/// Reads bytes to copy into a job.
fn copied<'a>(arguments: &'a Arguments<'_>, index: usize) -> Result<&'a [u8], Errno> {
    arguments.bytes(index).and_then(|bytes| if bytes.len() > MAX_COPY { Err(Errno::EMSGSIZE) } else { Ok(bytes) })
}

/// Returns a system call's result for a computation that failed.
fn refused(fault: Fault) -> i64 {
    fault.negative().into()
}
