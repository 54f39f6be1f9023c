//! A program's cryptography as a value: the digests and ciphers that are being fed, and the jobs that do not run: those whose request is still being
//! handed over, and those whose result waits to be read. A job under way stays with the original; its operation is cancelled in a copy.

use super::Crypto;
use super::contexts::{Context, Contexts};
use super::jobs::{Jobs, SavedJobs};
use crate::error::Error;
use crate::kernel::usage::Usage;
use parking_lot::Mutex;
use std::sync::Arc;

/// See the module.
#[derive(Default)]
pub(crate) struct SavedCrypto {
    pub(super) last: u32,
    /// By their numbers, in order.
    pub(super) contexts: Vec<(u32, Context)>,
    pub(super) jobs: SavedJobs,
}

impl SavedCrypto {
    /// Bytes that it holds.
    pub(crate) fn own_bytes(&self) -> u64 {
        Contexts::cost(self.contexts.len()) + self.jobs.own_bytes()
    }
}

impl Crypto {
    pub(crate) fn save(&self) -> SavedCrypto {
        let (last, contexts) = self.contexts.lock().save();
        SavedCrypto { last, contexts, jobs: self.jobs.save() }
    }

    /// As it was saved. What the runtime's limits do not allow is an error.
    pub(crate) fn revive(saved: &SavedCrypto, usage: &Arc<Usage>) -> Result<Self, Error> {
        let too_much = || Error::ResourceExhausted { resource: "kernel bytes", limit: usage.limits.kernel_bytes };
        let contexts = Contexts::revive(saved.last, &saved.contexts, usage).ok_or_else(too_much)?;
        let jobs = Jobs::revive(&saved.jobs, usage).ok_or_else(too_much)?;
        Ok(Self { contexts: Mutex::new(contexts), jobs })
    }
}
