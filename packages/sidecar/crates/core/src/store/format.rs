//! The layout of a snapshot's file: a head, the state of the runtime, and the VM snapshots.
//! `snapshot/format.rs` of the crate `vm` describes the layout of a VM snapshot.
//!
//! ```text
//! 0     magic "COLDRUN1"                                8 bytes
//! 8     format version, ABI version                     u32 each
//! 16    SHA-256 of the head, with zeros at this place      32 bytes
//! 48    number of memories, length of the info          u32 each
//! 56    length of the state                             u64
//! 64    SHA-256 of the state                            32 bytes
//! 96    per memory: pid, number of the image (u32 each), length (u64), digest (32 bytes)
//! ...   the info (postcard), zeros up to a whole page
//! ...   the state, zeros up to a whole page
//! ...   the memories, back to back, whole pages each
//! ```
//! `list` reads heads only. The head names the tenant, and the body does not. An export and an
//! import write a new head and copy the body. A snapshot's digest includes the digests of the state
//! and of the memories, which depend on every byte after the head. Equal digests therefore mean
//! equal contents. Next: `index.rs`.

use super::SnapshotInfo;
use crate::installation::ImageKind;
use coldframe_abi::VERSION as ABI_VERSION;
use coldframe_ids::Digest;
use coldframe_ids::Pid;
use coldframe_sys::PAGE;
use coldframe_vm::FormatError;
use sha2::{Digest as _, Sha256};

/// The version of this format.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"COLDRUN1";
const HASH: std::ops::Range<usize> = 16..48;
pub(super) const FIXED: usize = 96;
const ENTRY: usize = 48;
/// The largest number of memories in a file. With Linux's default limit of mappings, a process has
/// space for about 10,000 memories.
const MAX_MEMORIES: u32 = 16_384;
const MAX_INFO: u32 = 1 << 20;
/// The largest length of the state. The state includes the files in memory, and a reader needs
/// memory for the whole state.
const MAX_STATE: u64 = 2 << 30;

/// A VM snapshot in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoryEntry {
    pub(super) pid: Pid,
    pub(super) image: ImageKind,
    pub(super) len: u64,
    pub(super) name: Digest,
}

/// The head of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) info: SnapshotInfo,
    pub(super) state_len: u64,
    pub(super) state: Digest,
    pub(super) memories: Vec<MemoryEntry>,
}

/// Returns a length rounded up to whole pages.
pub(super) fn padded(len: u64) -> u64 {
    len.next_multiple_of(PAGE as u64)
}

/// Returns the length of a head, from its fixed part.
pub(super) fn head_len(fixed: &[u8]) -> Result<usize, FormatError> {
    let fixed = fixed.get(..FIXED).ok_or("it is shorter than its head")?;
    if fixed[..8] != MAGIC[..] {
        return Err("it is not a snapshot".into());
    }
    let versions = (u32_at(fixed, 8), u32_at(fixed, 12));
    if versions != (VERSION, ABI_VERSION) {
        let text = |(format, abi)| format!("{format} with ABI {abi}");
        return Err(FormatError::Foreign { what: "format", needed: text(versions), found: text((VERSION, ABI_VERSION)) });
    }
    let (memories, info) = (u32_at(fixed, 48), u32_at(fixed, 52));
    if memories > MAX_MEMORIES || info > MAX_INFO {
        return Err(FormatError::Damaged(format!("it names {memories} memories and {info} bytes of info")));
    }
    Ok((FIXED + memories as usize * ENTRY + info as usize).next_multiple_of(PAGE))
}

impl Head {
    pub(super) fn encode(&self) -> Result<Vec<u8>, String> {
        let count = |len: usize, most: u32, what: &str| match u32::try_from(len) {
            Ok(len) if len <= most => Ok(len),
            _ => Err(format!("{what}: {len}, at most {most}")),
        };
        let info = postcard::to_stdvec(&self.info).map_err(|error| error.to_string())?;
        let memories = count(self.memories.len(), MAX_MEMORIES, "programs")?;
        let info_len = count(info.len(), MAX_INFO, "bytes of info")?;
        if self.state_len > MAX_STATE {
            return Err(format!("bytes of state: {}, at most {MAX_STATE}", self.state_len));
        }
        let mut out = Vec::with_capacity(FIXED + self.memories.len() * ENTRY + info.len() + PAGE);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&ABI_VERSION.to_le_bytes());
        out.extend_from_slice(&[0; Digest::LEN]);
        out.extend_from_slice(&memories.to_le_bytes());
        out.extend_from_slice(&info_len.to_le_bytes());
        out.extend_from_slice(&self.state_len.to_le_bytes());
        out.extend_from_slice(self.state.as_bytes());
        for memory in &self.memories {
            out.extend_from_slice(&memory.pid.get().to_le_bytes());
            out.extend_from_slice(&memory.image.number().to_le_bytes());
            out.extend_from_slice(&memory.len.to_le_bytes());
            out.extend_from_slice(memory.name.as_bytes());
        }
        out.extend_from_slice(&info);
        out.resize(out.len().next_multiple_of(PAGE), 0);
        let hash = Sha256::digest(&out);
        out[HASH].copy_from_slice(&hash);
        Ok(out)
    }

    /// Reads an encoded head. `head` has [`head_len`] bytes, and the whole file has `file_len`
    /// bytes.
    pub(super) fn decode(head: &[u8], file_len: u64) -> Result<Self, FormatError> {
        let len = head_len(head)?;
        let head = head.get(..len).ok_or("it is shorter than its head")?;
        let mut hash = Sha256::new();
        hash.update(&head[..HASH.start]);
        hash.update([0; 32]);
        hash.update(&head[HASH.end..]);
        if head[HASH] != hash.finalize()[..] {
            return Err("its head is not what was written".into());
        }
        let (memories, info) = (u32_at(head, 48) as usize, u32_at(head, 52) as usize);
        let (table, rest) = head[FIXED..].split_at(memories * ENTRY);
        let (info, behind) = postcard::take_from_bytes::<SnapshotInfo>(&rest[..info]).map_err(|_| "its info cannot be read")?;
        if !behind.is_empty() {
            return Err("its info is longer than it should be".into());
        }
        info.check()?;
        let entry = |bytes: &[u8]| {
            let number = u32_at(bytes, 4);
            let image = ImageKind::of_number(number).ok_or_else(|| format!("a memory of the unknown image {number}"))?;
            Ok(MemoryEntry { pid: Pid::new(u32_at(bytes, 0)), image, len: u64_at(bytes, 8), name: digest_at(bytes, 16) })
        };
        let memories = table.chunks_exact(ENTRY).map(entry).collect::<Result<_, String>>().map_err(FormatError::Damaged)?;
        let found = Self { info, state_len: u64_at(head, 56), state: digest_at(head, 64), memories };
        found.check(len as u64, file_len)?;
        Ok(found)
    }

    fn check(&self, head_len: u64, file_len: u64) -> Result<(), FormatError> {
        if self.state_len > MAX_STATE {
            return Err(FormatError::Damaged(format!("its state has {} bytes", self.state_len)));
        }
        let mut end = head_len + padded(self.state_len);
        let mut before = None;
        for memory in &self.memories {
            if memory.len == 0 || !memory.len.is_multiple_of(PAGE as u64) || before >= Some(memory.pid) {
                return Err(FormatError::Damaged(format!("a memory of {} bytes of process {}", memory.len, memory.pid)));
            }
            before = Some(memory.pid);
            end = end.checked_add(memory.len).ok_or("its memories are longer than any file")?;
        }
        if end != file_len {
            return Err(FormatError::Damaged(format!("it has {file_len} bytes; its head says {end}")));
        }
        Ok(())
    }

    /// Returns the digest of the file's content.
    pub(super) fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(MAGIC);
        hash.update(self.state_len.to_le_bytes());
        hash.update(self.state);
        for memory in &self.memories {
            hash.update(memory.pid.get().to_le_bytes());
            hash.update(memory.image.number().to_le_bytes());
            hash.update(memory.name);
        }
        Digest::new(hash.finalize().into())
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
