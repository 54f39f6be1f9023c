//! Contexts: the state of digests and ciphers between calls. A program names a context by the
//! context's number. Contexts are small plain data. A context keeps at most one block of its
//! input. Next: `jobs.rs`.

use crate::Answer;
use crate::ids::{ContextId, MAX_ID};
use crate::usage::{Charge, Resource, Usage};
use coldframe_crypto::{Algorithm, Cipher, Hasher, Hmac};
use coldframe_error::Errno;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The maximum number of contexts of a program. When a program reaches the limit, the guest
/// collects its garbage.
const MAX_CONTEXTS: usize = 4_096;
/// The kernel memory of a context in bytes: the memory of the largest kind, a cipher with its key
/// schedule, and of the table entry.
const CONTEXT_COST: u64 = 2_048;

/// The state of a computation.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "StoredContext", into = "StoredContext")]
pub(super) enum Context {
    Hash {
        hasher: Box<dyn Hasher>,
        algorithm: Algorithm,
    },
    Hmac(Hmac),
    Cipher(Box<Cipher>),
    /// A context that could not be stored in a file. Every operation on the context, except closing
    /// the context, fails with `ECANCELED`.
    Lost,
}

/// A context in the form that a file stores. The states of ciphers, of BLAKE2 and of SHAKE are
/// private to libraries and cannot be stored.
#[derive(Serialize, Deserialize)]
enum StoredContext {
    Hash(u8, Vec<u8>),
    Hmac(u8, Vec<u8>),
    Lost,
}

impl From<Context> for StoredContext {
    fn from(context: Context) -> Self {
        let written = match &context {
            Context::Hash { hasher, algorithm } => hasher.state().map(|state| Self::Hash(*algorithm as u8, state)),
            Context::Hmac(hmac) => hmac.state().map(|(algorithm, state)| Self::Hmac(algorithm as u8, state)),
            Context::Cipher(_) | Context::Lost => None,
        };
        written.unwrap_or(Self::Lost)
    }
}

impl TryFrom<StoredContext> for Context {
    type Error = &'static str;

    fn try_from(written: StoredContext) -> Result<Self, Self::Error> {
        let algorithm = |number: u8| Algorithm::of(number.into()).ok_or("an unknown digest");
        match written {
            StoredContext::Hash(number, state) => {
                let algorithm = algorithm(number)?;
                let hasher = algorithm.resume(&state).ok_or("an invalid state of a digest")?;
                Ok(Self::Hash { hasher, algorithm })
            }
            StoredContext::Hmac(number, state) => {
                Hmac::resume(algorithm(number)?, &state).map(Self::Hmac).ok_or("an invalid state of a digest")
            }
            StoredContext::Lost => Ok(Self::Lost),
        }
    }
}

impl Clone for Context {
    fn clone(&self) -> Self {
        self.copy()
    }
}

impl Context {
    pub(super) fn hash(algorithm: Algorithm) -> Self {
        Self::Hash { hasher: algorithm.hasher(), algorithm }
    }

    pub(super) fn copy(&self) -> Self {
        match self {
            Self::Hash { hasher, algorithm } => Self::Hash { hasher: hasher.copy(), algorithm: *algorithm },
            Self::Hmac(hmac) => Self::Hmac(hmac.clone()),
            Self::Cipher(cipher) => Self::Cipher(cipher.clone()),
            Self::Lost => Self::Lost,
        }
    }

    pub(super) fn update(&mut self, data: &[u8]) -> Result<(), Errno> {
        match self {
            Self::Hash { hasher, .. } => hasher.update(data),
            Self::Hmac(hmac) => hmac.update(data),
            Self::Cipher(_) => return Err(Errno::EINVAL),
            Self::Lost => return Err(Errno::ECANCELED),
        }
        Ok(())
    }

    /// Returns the context's cipher. Fails with `EINVAL` if the context is a digest, and with
    /// `ECANCELED` if the context is lost.
    pub(super) fn cipher(&mut self) -> Result<&mut Cipher, Errno> {
        match self {
            Self::Cipher(cipher) => Ok(cipher),
            Self::Hash { .. } | Self::Hmac(_) => Err(Errno::EINVAL),
            Self::Lost => Err(Errno::ECANCELED),
        }
    }

    /// Writes the result to `out` and returns the result's length. Unless the digest is extendable,
    /// `out` must have exactly this length. Fails with `EMSGSIZE` for another length, and with
    /// `EINVAL` for a cipher.
    pub(super) fn finish(self, out: &mut [u8]) -> Answer {
        match self {
            Self::Hash { mut hasher, algorithm } => {
                if out.len() != algorithm.output_len() && !algorithm.is_extendable() {
                    return Err(Errno::EMSGSIZE);
                }
                hasher.finish(out);
            }
            Self::Hmac(hmac) => {
                let code = hmac.finish();
                if out.len() != code.len() {
                    return Err(Errno::EMSGSIZE);
                }
                out.copy_from_slice(&code);
            }
            Self::Cipher(_) => return Err(Errno::EINVAL),
            Self::Lost => return Err(Errno::ECANCELED),
        }
        i64::try_from(out.len()).map_err(|_| Errno::EOVERFLOW)
    }
}

/// The contexts of a program, by id.
pub(super) struct Contexts {
    charge: Charge,
    last: Option<ContextId>,
    live: HashMap<ContextId, Context>,
}

impl Contexts {
    pub(super) fn new(usage: &Arc<Usage>) -> Self {
        Self { charge: Charge::none(usage, Resource::Kernel), last: None, live: HashMap::new() }
    }

    /// Returns whether a table can have `count` contexts and the last assigned id `last`.
    pub(super) fn is_valid(last: Option<ContextId>, count: usize) -> bool {
        last.is_none_or(|last| last.get() <= MAX_ID) && count <= MAX_CONTEXTS
    }

    /// Returns the kernel bytes of `count` contexts.
    pub(super) fn cost(count: usize) -> u64 {
        count as u64 * CONTEXT_COST
    }

    /// Returns the last assigned id, and copies of all contexts in ascending order of their ids.
    pub(super) fn snapshot(&self) -> (Option<ContextId>, Vec<(ContextId, Context)>) {
        let mut copies: Vec<_> = self.live.iter().map(|(id, context)| (*id, context.copy())).collect();
        copies.sort_unstable_by_key(|(id, _)| *id);
        (self.last, copies)
    }

    /// Restores contexts from a snapshot. Returns `None` if the contexts exceed the limit of kernel
    /// memory.
    pub(super) fn restore(last: Option<ContextId>, saved: &[(ContextId, Context)], usage: &Arc<Usage>) -> Option<Self> {
        let charge = Charge::of(usage, Resource::Kernel, Self::cost(saved.len()))?;
        Some(Self { charge, last, live: saved.iter().map(|(id, context)| (*id, context.copy())).collect() })
    }

    /// Adds a context and returns its id. Fails with `ENFILE` if the program has too many contexts.
    pub(super) fn insert(&mut self, context: Context) -> Result<ContextId, Errno> {
        if self.live.len() >= MAX_CONTEXTS || !self.charge.grow(CONTEXT_COST) {
            return Err(Errno::ENFILE);
        }
        loop {
            let id = ContextId::following(self.last, MAX_ID);
            self.last = Some(id);
            if let Entry::Vacant(place) = self.live.entry(id) {
                place.insert(context);
                return Ok(id);
            }
        }
    }

    pub(super) fn get(&mut self, id: ContextId) -> Result<&mut Context, Errno> {
        self.live.get_mut(&id).ok_or(Errno::EBADF)
    }

    pub(super) fn remove(&mut self, id: ContextId) -> Result<Context, Errno> {
        let context = self.live.remove(&id).ok_or(Errno::EBADF)?;
        self.charge.shrink(CONTEXT_COST);
        if self.live.is_empty() {
            self.live.shrink_to(0);
        }
        Ok(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_continues_after_a_file_and_other_contexts_fail_with_ecanceled() {
        let written = |mut context: Context| {
            context.update(&[7; 100]).expect("a digest");
            let bytes = postcard::to_allocvec(&context).expect("an encoded context");
            let mut read: Context = postcard::from_bytes(&bytes).expect("a decoded context");
            (context, read.update(b"more").map(|()| read))
        };
        for number in 1..=19 {
            let algorithm = Algorithm::of(number).expect("an algorithm");
            for open in [Context::hash(algorithm), Context::Hmac(Hmac::new(algorithm, b"key"))] {
                let mut out = [vec![0; algorithm.output_len()], vec![1; algorithm.output_len()]];
                match written(open) {
                    (mut context, Ok(read)) => {
                        context.update(b"more").expect("a digest");
                        context.finish(&mut out[0]).expect("room");
                        read.finish(&mut out[1]).expect("room");
                        assert_eq!(out[0], out[1], "{algorithm:?}");
                    }
                    (_, Err(error)) => {
                        assert_eq!(error, Errno::ECANCELED);
                        assert!(matches!(number, 13 | 14 | 17 | 18), "{algorithm:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_context_costs_at_most_its_charge() {
        let entry = 2 * size_of::<(ContextId, Context)>() as u64;
        assert!(size_of::<Cipher>() as u64 + entry <= CONTEXT_COST, "{}", size_of::<Cipher>());
        // A cipher has no field whose memory depends on the input (`cipher/block.rs` of the crate
        // `crypto`), and a digest has one block of its input. SHA-3 has the largest block.
        assert!(size_of::<Hmac>() as u64 + entry <= CONTEXT_COST, "{}", size_of::<Hmac>());
    }

    #[test]
    fn refuses_invalid_states() {
        for wrong in [
            StoredContext::Hash(0, vec![]),
            StoredContext::Hash(4, vec![0; 3]),
            StoredContext::Hmac(4, vec![0; 7]),
            StoredContext::Hash(17, vec![0; 201]),
        ] {
            assert!(Context::try_from(wrong).is_err());
        }
    }

    #[test]
    fn removes_a_context_at_its_end_and_bounds_their_number() {
        let mut contexts = Contexts::new(&Arc::default());
        let first = contexts.insert(Context::hash(Algorithm::Sha1)).expect("room");
        assert_eq!(contexts.get(first).and_then(|context| context.update(b"abc")), Ok(()));
        let mut wrong = [0; 19];
        assert_eq!(
            contexts.get(first).map(|context| context.copy()).and_then(|copy| copy.finish(&mut wrong)),
            Err(Errno::EMSGSIZE)
        );
        let mut out = [0; 20];
        assert_eq!(contexts.remove(first).and_then(|context| context.finish(&mut out)), Ok(20));
        assert_eq!(&out[..4], [0xa9, 0x99, 0x3e, 0x36]);
        assert_eq!(contexts.get(first).map(|_| ()), Err(Errno::EBADF));
        for _ in 0..MAX_CONTEXTS {
            contexts.insert(Context::hash(Algorithm::Md5)).expect("room");
        }
        assert_eq!(contexts.insert(Context::hash(Algorithm::Md5)), Err(Errno::ENFILE));
    }
}
