//! A snapshot of a program's cryptography state: open digests and ciphers, and the jobs that are
//! neither queued nor running.
//!
//! Such a job has an incomplete request, or a result that the guest has not read. A queued or
//! running job continues only in the original runtime. In a restored runtime, the operation of a
//! queued or running job is cancelled. Next: `operations/snapshot.rs`.

use super::Crypto;
use super::contexts::{Context, Contexts};
use super::jobs::{Jobs, JobsSnapshot};
use crate::ids::ContextId;
use crate::usage::Usage;
use coldframe_error::Error;
use coldframe_panics::runtime::Mutex;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A snapshot of [`Crypto`].
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct CryptoSnapshot {
    pub(super) last: Option<ContextId>,
    /// The contexts, in ascending order of their ids.
    pub(super) contexts: Vec<(ContextId, Context)>,
    pub(super) jobs: JobsSnapshot,
}

impl CryptoSnapshot {
    /// Checks that a program could have produced the snapshot. The snapshot may have been read from
    /// a file.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let in_order = self.contexts.is_sorted_by(|(one, _), (other, _)| one < other);
        let are_sound = in_order && Contexts::is_valid(self.last, self.contexts.len());
        if are_sound && self.jobs.is_valid() { Ok(()) } else { Err("the ids of digests or jobs") }
    }

    /// Returns the bytes that the snapshot uses.
    pub(crate) fn own_bytes(&self) -> u64 {
        Contexts::cost(self.contexts.len()) + self.jobs.own_bytes()
    }
}

impl Crypto {
    pub(crate) fn snapshot(&self) -> CryptoSnapshot {
        let (last, contexts) = self.contexts.lock().snapshot();
        CryptoSnapshot { last, contexts, jobs: self.jobs.snapshot() }
    }

    /// Restores a program's cryptography state. Fails if the state exceeds the runtime's limit of
    /// kernel memory.
    pub(crate) fn restore(saved: &CryptoSnapshot, usage: &Arc<Usage>) -> Result<Self, Error> {
        let too_much = || Error::ResourceExhausted { resource: "kernel bytes", limit: usage.limits.kernel_bytes };
        let contexts = Contexts::restore(saved.last, &saved.contexts, usage).ok_or_else(too_much)?;
        let jobs = Jobs::restore(&saved.jobs, usage).ok_or_else(too_much)?;
        Ok(Self { contexts: Mutex::new(contexts), jobs })
    }
}
