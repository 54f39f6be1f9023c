//! Writes and reads a VM snapshot as bytes of a file. The file may also store other snapshots (the
//! core's store). A read checks every byte.
//!
//! The file is mapped like an image. A restored VM reads a page from the disk at the first access,
//! and restores share the pages. A user with write access to a mapped file can change the programs
//! restored from the file. Therefore the folder must belong to the sidecar's user. Next:
//! `format.rs`.

use super::VmSnapshot;
use super::format::{FIXED, FormatError, Head, Part, head_len, processor};
use crate::Factory;
use coldframe_error::Error;
use coldframe_ids::Digest;
use coldframe_memory::{Extent, Piece, overlay};
use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::sync::Arc;

/// The number of clean slots that an image from a file keeps.
const WARM_SLOTS: usize = 4;

/// A VM snapshot for a file: the bytes before the pages, and the pages.
pub struct LaidOut {
    /// The bytes before the pages.
    pub head: Vec<u8>,
    extents: Vec<Extent>,
    /// The snapshot's digest.
    pub name: Digest,
}

impl LaidOut {
    /// Returns the pages, run by run.
    pub fn pages(&self) -> impl Iterator<Item = &[u8]> {
        // `lay_out` has mapped a view of every piece, so `bytes` does not fail.
        self.extents.iter().map(|extent| extent.piece.bytes(extent.offset, extent.len).unwrap_or_default())
    }

    /// Returns the length of head and pages.
    #[expect(clippy::len_without_is_empty, reason = "the head is never empty")]
    pub fn len(&self) -> u64 {
        self.head.len() as u64 + self.extents.iter().map(|extent| extent.len as u64).sum::<u64>()
    }
}

/// A snapshot that was read from a file.
#[derive(Debug)]
pub struct Opened {
    /// The snapshot.
    pub snapshot: Arc<VmSnapshot>,
    /// The snapshot's digest.
    pub name: Digest,
    /// The parent's digest.
    pub parent: Option<Digest>,
    /// The bytes that the caller passed to `lay_out` as `added`.
    pub added: Vec<u8>,
    /// The length of the snapshot on disk, in bytes.
    pub bytes: u64,
}

/// Whether a read of a snapshot hashes the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// The read hashes the pages.
    Unchecked,
    /// [`VmSnapshot::copy`] has written the pages to a file that no other process changes.
    Checked,
}

pub(super) fn sha256(bytes: &[u8]) -> Digest {
    Digest::new(Sha256::digest(bytes).into())
}

impl VmSnapshot {
    /// Lays out the snapshot for a file, with the digests of the pages. `added` has further bytes
    /// for the file, the owner's part (`format.rs`).
    pub fn lay_out(&self, factory: &Factory, parent: Option<Digest>, added: Vec<u8>) -> Result<LaidOut, Error> {
        let unreadable = || Error::ResourceExhausted { resource: "memory mappings", limit: coldframe_sys::max_mappings() };
        let extents = self.memory.own_extents(&factory.image);
        let mut parts = Vec::with_capacity(extents.len());
        for extent in &extents {
            let bytes = extent.piece.bytes(extent.offset, extent.len).ok_or_else(unreadable)?;
            parts.push(Part { at: extent.at as u64, len: extent.len as u64, digest: sha256(bytes) });
        }
        let head = Head {
            image: self.memory.header().hash,
            parent,
            memory_len: self.memory.len() as u64,
            monotonic_ns: self.monotonic_ns,
            wall_ns: self.wall_ns,
            processor: processor(),
            parts,
            added,
        };
        let (head, name) = head.encode(sha256).map_err(|reason| Error::Snapshot { reason })?;
        Ok(LaidOut { head, extents, name })
    }

    /// Reads and checks a snapshot at `at..at + len` of a file. Errors name `path`.
    pub fn read(
        factory: &Factory,
        piece: &Arc<Piece>,
        (at, len): (u64, u64),
        pages: Pages,
        path: &Path,
    ) -> Result<Opened, Error> {
        let refused = |error: FormatError| error.of(path);
        let damaged = |reason: &str| refused(reason.into());
        let bytes = |at: u64, len: usize| piece.bytes(at, len).ok_or_else(|| damaged("it cannot be mapped"));
        let head_len = head_len(bytes(at, len.min(FIXED as u64) as usize)?).map_err(refused)?;
        if head_len as u64 > len {
            return Err(damaged("it is shorter than its header"));
        }
        let (head, name) = read_head(factory, bytes(at, head_len)?, len).map_err(refused)?;
        let mut extents = Vec::with_capacity(head.parts.len());
        let mut offset = at + head_len as u64;
        for part in &head.parts {
            let extent = Extent { at: part.at as usize, len: part.len as usize, piece: piece.clone(), offset };
            if pages == Pages::Unchecked {
                part.check(sha256(bytes(offset, extent.len)?)).map_err(refused)?;
            }
            extents.push(extent);
            offset += part.len;
        }
        let extents = overlay(&factory.image.extents(), &extents);
        let memory = factory.image.saved(extents, head.memory_len as usize, WARM_SLOTS, Arc::default());
        let snapshot = Self { memory, monotonic_ns: head.monotonic_ns, wall_ns: head.wall_ns };
        Ok(Opened { snapshot: Arc::new(snapshot), name, parent: head.parent, added: head.added, bytes: len })
    }
}

/// Files of one VM, for tests. The core's store writes files of whole runtimes.
#[cfg(any(test, feature = "test-files"))]
impl VmSnapshot {
    /// Writes the snapshot to `path`. Returns the snapshot's digest.
    pub fn write(&self, factory: &Factory, path: &Path, parent: Option<Digest>, added: Vec<u8>) -> Result<Digest, Error> {
        let laid = self.lay_out(factory, parent, added)?;
        let mut bytes = laid.head.clone();
        laid.pages().for_each(|pages| bytes.extend_from_slice(pages));
        std::fs::write(path, bytes).map_err(|error| Error::snapshot_file(path, &error))?;
        Ok(laid.name)
    }

    /// Reads a file written by [`VmSnapshot::write`].
    pub fn open(factory: &Factory, path: &Path) -> Result<Opened, Error> {
        let failed = |error: std::io::Error| Error::snapshot_file(path, &error);
        let file = std::fs::File::open(path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        let piece = Piece::new(file, meta.len(), factory.image.budget())?;
        Self::read(factory, &piece, (0, meta.len()), Pages::Unchecked, path)
    }

    /// Makes a snapshot of a memory that no VM has run.
    pub fn of(memory: Arc<coldframe_memory::Image>, monotonic_ns: u64, wall_ns: u64) -> Self {
        Self { memory, monotonic_ns, wall_ns }
    }
}

/// Reads the head of a snapshot of `len` bytes. Checks that the snapshot was taken from the image
/// of `factory`, on a processor with equal features.
pub(super) fn read_head(factory: &Factory, head: &[u8], len: u64) -> Result<(Head, Digest), FormatError> {
    let (head, name) = Head::decode(head, len, sha256)?;
    let image = factory.image.header().hash;
    if head.image != image {
        return Err(FormatError::Foreign { what: "the image", needed: head.image.to_string(), found: image.to_string() });
    }
    let found = processor();
    if head.processor != found {
        return Err(FormatError::Foreign { what: "a processor with", needed: head.processor, found });
    }
    if head.memory_len < factory.image.len() as u64 {
        return Err("its memory is smaller than the image".into());
    }
    Ok((head, name))
}
