//! A program's cryptography as a value: the digests and ciphers that are being fed, and the jobs that do not run: those whose request is still being
//! handed over, and those whose result waits to be read. A job under way stays with the original; its operation is cancelled in a copy.

use super::Crypto;
use super::contexts::{Context, Contexts};
use super::jobs::{Jobs, JobsSnapshot};
use crate::usage::Usage;
use coldframe_error::Error;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// See the module.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct CryptoSnapshot {
    pub(super) last: u32,
    /// By their numbers, in order.
    pub(super) contexts: Vec<(u32, Context)>,
    pub(super) jobs: JobsSnapshot,
}

impl CryptoSnapshot {
    /// Whether a program could have brought it about; it may come out of a file.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let numbers = |list: &mut dyn Iterator<Item = u32>| list.is_sorted_by(|one, other| one < other);
        let are_sound =
            Contexts::may_be(self.last, self.contexts.len()) && numbers(&mut self.contexts.iter().map(|(number, _)| *number));
        if are_sound && self.jobs.may_be() { Ok(()) } else { Err("the numbers of digests or jobs") }
    }

    /// Bytes that it holds.
    pub(crate) fn own_bytes(&self) -> u64 {
        Contexts::cost(self.contexts.len()) + self.jobs.own_bytes()
    }
}

impl Crypto {
    pub(crate) fn snapshot(&self) -> CryptoSnapshot {
        let (last, contexts) = self.contexts.lock().snapshot();
        CryptoSnapshot { last, contexts, jobs: self.jobs.snapshot() }
    }

    /// As it was saved. What the runtime's limits do not allow is an error.
    pub(crate) fn restore(saved: &CryptoSnapshot, usage: &Arc<Usage>) -> Result<Self, Error> {
        let too_much = || Error::ResourceExhausted { resource: "kernel bytes", limit: usage.limits.kernel_bytes };
        let contexts = Contexts::restore(saved.last, &saved.contexts, usage).ok_or_else(too_much)?;
        let jobs = Jobs::restore(&saved.jobs, usage).ok_or_else(too_much)?;
        Ok(Self { contexts: Mutex::new(contexts), jobs })
    }
}
