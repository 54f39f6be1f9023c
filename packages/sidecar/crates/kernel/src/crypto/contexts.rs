//! Computations between two calls: a digest or a cipher that is still being fed. A program names them by numbers; they are plain data and small.

use crate::Answer;
use crate::usage::{Charge, Resource, Usage};
use coldframe_crypto::{Algorithm, Cipher, Hasher, Hmac};
use coldframe_error::Errno;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Contexts that a program may have at a time. The guest collects its garbage when it gets there.
const MAX_CONTEXTS: usize = 4_096;
/// What one costs the kernel: the largest of them, a cipher with its key schedule, and its place in the table.
const CONTEXT_COST: u64 = 2_048;
/// The last number; then they begin again.
const LAST: u32 = 0x7fff_ffff;

/// See the module.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub(super) enum Context {
    Hash {
        hasher: Box<dyn Hasher>,
        algorithm: Algorithm,
    },
    Hmac(Hmac),
    Cipher(Box<Cipher>),
    /// One that a file could not hold: whatever is done with it is `ECANCELED`.
    Lost,
}

/// A context in a file. The states of ciphers, of BLAKE2 and of SHAKE are their libraries' own affair, and cannot be written down.
#[derive(Serialize, Deserialize)]
enum Written {
    Hash(u8, Vec<u8>),
    Hmac(u8, Vec<u8>),
    Lost,
}

impl From<Context> for Written {
    fn from(context: Context) -> Self {
        let written = match &context {
            Context::Hash { hasher, algorithm } => hasher.state().map(|state| Self::Hash(*algorithm as u8, state)),
            Context::Hmac(hmac) => hmac.state().map(|(algorithm, state)| Self::Hmac(algorithm as u8, state)),
            Context::Cipher(_) | Context::Lost => None,
        };
        written.unwrap_or(Self::Lost)
    }
}

impl TryFrom<Written> for Context {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let algorithm = |number: u8| Algorithm::of(number.into()).ok_or("no digest");
        match written {
            Written::Hash(number, state) => {
                let algorithm = algorithm(number)?;
                let hasher = algorithm.resume(&state).ok_or("no state of a digest")?;
                Ok(Self::Hash { hasher, algorithm })
            }
            Written::Hmac(number, state) => {
                Hmac::resume(algorithm(number)?, &state).map(Self::Hmac).ok_or("no state of a digest")
            }
            Written::Lost => Ok(Self::Lost),
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

    /// The cipher that it is.
    pub(super) fn cipher(&mut self) -> Result<&mut Cipher, Errno> {
        match self {
            Self::Cipher(cipher) => Ok(cipher),
            Self::Hash { .. } | Self::Hmac(_) => Err(Errno::EINVAL),
            Self::Lost => Err(Errno::ECANCELED),
        }
    }

    /// Writes the result to `out`: its length, which `out` must have unless the digest is extendable.
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

/// A program's contexts by their numbers.
pub(super) struct Contexts {
    charge: Charge,
    last: u32,
    live: HashMap<u32, Context>,
}

impl Contexts {
    pub(super) fn new(usage: &Arc<Usage>) -> Self {
        Self { charge: Charge::none(usage, Resource::Kernel), last: 0, live: HashMap::new() }
    }

    /// Whether there can be so many, the last of them with that number.
    pub(super) fn may_be(last: u32, count: usize) -> bool {
        last <= LAST && count <= MAX_CONTEXTS
    }

    /// What so many cost the kernel.
    pub(super) fn cost(count: usize) -> u64 {
        count as u64 * CONTEXT_COST
    }

    /// The last number that was given, and copies of all by their numbers, in order.
    pub(super) fn snapshot(&self) -> (u32, Vec<(u32, Context)>) {
        let mut copies: Vec<_> = self.live.iter().map(|(number, context)| (*number, context.copy())).collect();
        copies.sort_unstable_by_key(|(number, _)| *number);
        (self.last, copies)
    }

    /// As they were saved; none when the limit is too narrow for them.
    pub(super) fn restore(last: u32, saved: &[(u32, Context)], usage: &Arc<Usage>) -> Option<Self> {
        let charge = Charge::of(usage, Resource::Kernel, Self::cost(saved.len()))?;
        Some(Self { charge, last, live: saved.iter().map(|(number, context)| (*number, context.copy())).collect() })
    }

    pub(super) fn insert(&mut self, context: Context) -> Answer {
        if self.live.len() >= MAX_CONTEXTS || !self.charge.grow(CONTEXT_COST) {
            return Err(Errno::ENFILE);
        }
        loop {
            self.last = self.last % LAST + 1;
            if let std::collections::hash_map::Entry::Vacant(place) = self.live.entry(self.last) {
                place.insert(context);
                return Ok(self.last.into());
            }
        }
    }

    pub(super) fn get(&mut self, number: u32) -> Result<&mut Context, Errno> {
        self.live.get_mut(&number).ok_or(Errno::EBADF)
    }

    pub(super) fn remove(&mut self, number: u32) -> Result<Context, Errno> {
        let context = self.live.remove(&number).ok_or(Errno::EBADF)?;
        self.charge.shrink(CONTEXT_COST);
        Ok(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_goes_on_from_a_file_and_what_cannot_says_so() {
        let written = |mut context: Context| {
            context.update(&[7; 100]).expect("it is fed");
            let bytes = postcard::to_allocvec(&context).expect("it can be written");
            let mut read: Context = postcard::from_bytes(&bytes).expect("it can be read");
            (context, read.update(b"more").map(|()| read))
        };
        for number in 1..=19 {
            let algorithm = Algorithm::of(number).expect("there are so many");
            for open in [Context::hash(algorithm), Context::Hmac(Hmac::new(algorithm, b"key"))] {
                let mut out = [vec![0; algorithm.output_len()], vec![1; algorithm.output_len()]];
                match written(open) {
                    (mut context, Ok(read)) => {
                        context.update(b"more").expect("it is fed");
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
    fn a_state_that_is_none_is_refused() {
        for wrong in [
            Written::Hash(0, vec![]),
            Written::Hash(4, vec![0; 3]),
            Written::Hmac(4, vec![0; 7]),
            Written::Hash(17, vec![0; 201]),
        ] {
            assert!(Context::try_from(wrong).is_err());
        }
    }

    #[test]
    fn a_context_is_gone_after_its_end_and_their_number_is_bounded() {
        let mut contexts = Contexts::new(&Arc::default());
        let first = contexts.insert(Context::hash(Algorithm::Sha1)).and_then(|n| u32::try_from(n).map_err(|_| Errno::EINVAL));
        let first = first.expect("room");
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
