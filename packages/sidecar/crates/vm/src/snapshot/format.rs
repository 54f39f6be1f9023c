//! The layout of a VM snapshot's file: a header, a table of runs, the owner's part, and the pages.
//!
//! ```text
//! 0     magic "COLDSNP1"                                8 bytes
//! 8     format version, ABI version                     u32 each
//! 16    the digest: SHA-256 of all bytes before the pages, with zeros at this place  32 bytes
//! 48    SHA-256 of the image that the guest started from  32 bytes
//! 80    the parent's digest, or zeros                     32 bytes
//! 112   memory length in bytes                          u64, whole wasm pages (64 KiB)
//! 120   monotonic and wall clock, nanoseconds           u64 each
//! 136   number of runs, length of the owner's part      u32 each
//! 144   SHA-256 of the owner's part                     32 bytes
//! 176   processor and its features, as text             120 bytes, padded with zeros
//! 296   zeros up to 320
//! 320   per run: place in the memory, length (u64 each), SHA-256 of its bytes: 48 bytes
//! ...   the owner's part, zeros up to a whole page
//! ...   the bytes of the runs, back to back, whole pages
//! ```
//! Memory outside the runs equals the image. A file is therefore complete: the parent is recorded
//! for the tree of snapshots and need not exist. The digest includes the digests of all parts, and
//! thereby every byte. Equal digests mean equal snapshots. Next: `mod.rs`.

use crate::config::CPU_FEATURES;
use coldframe_abi::VERSION as ABI_VERSION;
use coldframe_error::Error;
use coldframe_ids::Digest;
use coldframe_memory::whole_pages;
use coldframe_sys::PAGE;

/// The version of this format.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"COLDSNP1";
const WASM_PAGE: u64 = 65_536;
const FEATURES: std::ops::Range<usize> = 176..296;
const HASH: std::ops::Range<usize> = 16..48;
pub(super) const FIXED: usize = 320;
const RUN: usize = 48;
/// The largest number of runs in a file. No save makes as many runs.
const MAX_RUNS: u32 = 65_536;
/// The largest length of the owner's part.
const MAX_ADDED: u32 = 256 << 20;

/// A run of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) at: u64,
    pub(super) len: u64,
    pub(super) digest: Digest,
}

impl Part {
    /// Checks the digest of the run's bytes.
    pub(super) fn check(&self, found: Digest) -> Result<(), FormatError> {
        if found != self.digest {
            return Err(FormatError::Damaged(format!("its bytes for {} are not what was written", self.at)));
        }
        Ok(())
    }
}

/// The content of a file without the pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) image: Digest,
    pub(super) parent: Option<Digest>,
    pub(super) memory_len: u64,
    pub(super) monotonic_ns: u64,
    pub(super) wall_ns: u64,
    pub(super) processor: String,
    pub(super) parts: Vec<Part>,
    pub(super) added: Vec<u8>,
}

/// The error of bytes that are no usable snapshot.
#[derive(Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The bytes are damaged.
    Damaged(String),
    /// The snapshot needs another installation.
    #[expect(missing_docs, reason = "the fields are those of `Error::SnapshotForeign`")]
    Foreign { what: &'static str, needed: String, found: String },
}

impl FormatError {
    /// Converts to the core's error for the file at `path`.
    pub fn of(self, path: &std::path::Path) -> Error {
        match self {
            Self::Damaged(reason) => Error::SnapshotDamaged { path: path.display().to_string(), reason },
            Self::Foreign { what, needed, found } => Error::SnapshotForeign { what, needed, found },
        }
    }
}

impl From<&str> for FormatError {
    fn from(reason: &str) -> Self {
        Self::Damaged(reason.to_owned())
    }
}

/// Returns the architecture and the processor features that this build's guests need, joined by
/// `+`.
pub(super) fn processor() -> String {
    let mut text = std::env::consts::ARCH.to_owned();
    for feature in CPU_FEATURES {
        text.push('+');
        text.push_str(feature);
    }
    text
}

/// Returns the number of bytes before the pages, from the fixed part of the header.
pub(super) fn head_len(fixed: &[u8]) -> Result<usize, FormatError> {
    let fixed = fixed.get(..FIXED).ok_or("it is shorter than its header")?;
    if fixed[..8] != MAGIC[..] {
        return Err("it is not a snapshot".into());
    }
    let versions = (u32_at(fixed, 8), u32_at(fixed, 12));
    if versions != (VERSION, ABI_VERSION) {
        let text = |(format, abi)| format!("{format} with ABI {abi}");
        return Err(FormatError::Foreign { what: "format", needed: text(versions), found: text((VERSION, ABI_VERSION)) });
    }
    let (runs, added) = (u32_at(fixed, 136), u32_at(fixed, 140));
    if runs > MAX_RUNS || added > MAX_ADDED {
        return Err(FormatError::Damaged(format!("it names {runs} runs and {added} bytes of its owner")));
    }
    Ok((FIXED + runs as usize * RUN + added as usize).next_multiple_of(PAGE))
}

impl Head {
    /// Returns the bytes before the pages, and the digest.
    pub(super) fn encode(&self, hash: impl Fn(&[u8]) -> Digest) -> Result<(Vec<u8>, Digest), String> {
        let count = |len: usize, most: u32, what: &str| match u32::try_from(len) {
            Ok(len) if len <= most => Ok(len),
            _ => Err(format!("{what}: {len}, at most {most}")),
        };
        let runs = count(self.parts.len(), MAX_RUNS, "runs")?;
        let added = count(self.added.len(), MAX_ADDED, "bytes of the owner's")?;
        if self.processor.len() > FEATURES.len() {
            return Err(format!("the processor's features are longer than {} bytes", FEATURES.len()));
        }
        let mut out = Vec::with_capacity(FIXED + self.parts.len() * RUN + self.added.len() + PAGE);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&ABI_VERSION.to_le_bytes());
        out.extend_from_slice(&[0; Digest::LEN]);
        out.extend_from_slice(self.image.as_bytes());
        out.extend_from_slice(self.parent.unwrap_or_default().as_bytes());
        for number in [self.memory_len, self.monotonic_ns, self.wall_ns] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&runs.to_le_bytes());
        out.extend_from_slice(&added.to_le_bytes());
        out.extend_from_slice(hash(&self.added).as_bytes());
        out.extend_from_slice(self.processor.as_bytes());
        out.resize(FIXED, 0);
        for part in &self.parts {
            out.extend_from_slice(&part.at.to_le_bytes());
            out.extend_from_slice(&part.len.to_le_bytes());
            out.extend_from_slice(part.digest.as_bytes());
        }
        out.extend_from_slice(&self.added);
        out.resize(out.len().next_multiple_of(PAGE), 0);
        let name = hash(&out);
        out[HASH].copy_from_slice(name.as_bytes());
        Ok((out, name))
    }

    /// Reads an encoded head. `head` has [`head_len`] bytes, and the whole file has `file_len`
    /// bytes.
    pub(super) fn decode(head: &[u8], file_len: u64, hash: impl Fn(&[u8]) -> Digest) -> Result<(Self, Digest), FormatError> {
        if head.len() < head_len(head)? {
            return Err("it is shorter than its header".into());
        }
        let name = digest_at(head, HASH.start);
        let mut unnamed = head.to_vec();
        unnamed[HASH].fill(0);
        if hash(&unnamed) != name {
            return Err("its header is not what was written".into());
        }
        drop(unnamed);
        let processor = head[FEATURES].split(|byte| *byte == 0).next().unwrap_or_default();
        let processor = String::from_utf8(processor.to_vec()).map_err(|_| "its processor is no text")?;
        let (runs, added) = (u32_at(head, 136) as usize, u32_at(head, 140) as usize);
        let table = &head[FIXED..FIXED + runs * RUN];
        let part = |bytes: &[u8]| Part { at: u64_at(bytes, 0), len: u64_at(bytes, 8), digest: digest_at(bytes, 16) };
        let parent = digest_at(head, 80);
        let head_of = Self {
            image: digest_at(head, 48),
            parent: (parent != Digest::default()).then_some(parent),
            memory_len: u64_at(head, 112),
            monotonic_ns: u64_at(head, 120),
            wall_ns: u64_at(head, 128),
            processor,
            parts: table.chunks_exact(RUN).map(part).collect(),
            added: head[FIXED + runs * RUN..][..added].to_vec(),
        };
        if hash(&head_of.added) != digest_at(head, 144) {
            return Err("what its owner added is not what was written".into());
        }
        head_of.check(head.len() as u64, file_len)?;
        Ok((head_of, name))
    }

    fn check(&self, head_len: u64, file_len: u64) -> Result<(), FormatError> {
        if self.memory_len == 0 || !self.memory_len.is_multiple_of(WASM_PAGE) || self.memory_len > u64::from(u32::MAX) {
            return Err(FormatError::Damaged(format!("its memory length is {}", self.memory_len)));
        }
        let (mut behind, mut bytes) = (0, 0_u64);
        for part in &self.parts {
            let end = part.at.checked_add(part.len).filter(|end| *end <= self.memory_len);
            let Some(end) = end.filter(|_| whole_pages(part.at, part.len) && part.at >= behind) else {
                return Err(FormatError::Damaged(format!("a run of {} bytes at {}", part.len, part.at)));
            };
            behind = end;
            bytes += part.len;
        }
        if file_len != head_len + bytes {
            return Err(FormatError::Damaged(format!("it has {file_len} bytes; its header says {}", head_len + bytes)));
        }
        Ok(())
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

fn digest_at(bytes: &[u8], at: usize) -> Digest {
    Digest::read(&bytes[at..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hash(bytes: &[u8]) -> Digest {
        use sha2::Digest as _;
        Digest::new(sha2::Sha256::digest(bytes).into())
    }

    fn head() -> Head {
        let part =
            |at: u64, pages: u64| Part { at: at * PAGE as u64, len: pages * PAGE as u64, digest: Digest::new([at as u8; 32]) };
        Head {
            image: Digest::new([1; 32]),
            parent: Some(Digest::new([2; 32])),
            memory_len: 4 * WASM_PAGE,
            monotonic_ns: 5,
            wall_ns: 6,
            processor: processor(),
            parts: vec![part(1, 2), part(3, 1), part(9, 4)],
            added: b"the kernel's".to_vec(),
        }
    }

    #[test]
    fn reads_an_encoded_head() {
        let (bytes, name) = head().encode(hash).expect("encode");
        assert_eq!((bytes.len() % PAGE, head_len(&bytes)), (0, Ok(bytes.len())));
        let file_len = (bytes.len() + 7 * PAGE) as u64;
        assert_eq!(Head::decode(&bytes, file_len, hash), Ok((head(), name)));
        assert!(Head::decode(&bytes, file_len - 1, hash).is_err());
        assert!(Head::decode(&bytes[..400], file_len, hash).is_err());
    }

    #[test]
    fn refuses_runs_that_overlap_or_exceed_the_memory() {
        let wrong = |change: fn(&mut Head)| {
            let mut head = head();
            change(&mut head);
            let bytes = head.encode(hash).expect("encode").0;
            let pages: u64 = head.parts.iter().map(|part| part.len).fold(0, u64::wrapping_add);
            Head::decode(&bytes, (bytes.len() as u64).wrapping_add(pages), hash).is_err()
        };
        assert!(wrong(|head| head.parts[1].at = PAGE as u64));
        assert!(wrong(|head| head.parts[2].at = 4 * WASM_PAGE));
        assert!(wrong(|head| head.parts[2].len = u64::MAX - 4095));
        assert!(wrong(|head| head.parts[0].len = 5));
        assert!(wrong(|head| head.parts[0].len = 0));
        assert!(wrong(|head| head.memory_len = 77));
        assert!(wrong(|head| head.memory_len = 1 << 40));
        assert!(!wrong(|_| {}));
    }

    #[test]
    fn an_error_of_another_version_names_that_version() {
        let mut bytes = head().encode(hash).expect("encode").0;
        bytes[12] = 99;
        assert!(matches!(head_len(&bytes), Err(FormatError::Foreign { what: "format", needed, .. }) if needed.contains("99")));
    }

    proptest! {
        #[test]
        fn detects_every_changed_bit(at in 0..FIXED + 3 * RUN + 12, bit in 0..8) {
            let (mut bytes, name) = head().encode(hash).expect("encode");
            bytes[at] ^= 1_u8 << bit;
            let decoded = Head::decode(&bytes, (bytes.len() + 7 * PAGE) as u64, hash);
            prop_assert!(decoded.is_err(), "{name:?}");
        }

        #[test]
        fn never_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..800), len: u64) {
            let mut bytes = bytes;
            if bytes.len() >= 16 {
                bytes[..8].copy_from_slice(MAGIC);
                bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
                bytes[12..16].copy_from_slice(&ABI_VERSION.to_le_bytes());
            }
            let _ = Head::decode(&bytes, len, |_| Digest::default());
        }
    }
}
