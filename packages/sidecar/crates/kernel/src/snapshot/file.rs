//! The encoding of a kernel snapshot: a version, the digest of the standard files, and one postcard
//! value.
//!
//! The bytes are untrusted. Each part is checked as if a guest had made the part. The other code of
//! the kernel can therefore rely on the kernel's invariants. Decoding bounds the lengths of lists
//! (`../encoding.rs`), because a decoded list can use many times the memory of the bytes. Next:
//! `../fs/snapshot/record.rs`.

use super::{KernelSnapshot, ProcessSnapshot};
use crate::encoding::damaged;
use crate::fs::standard;
use crate::ids::SocketId;
use crate::processes::MAX_WATCHED;
use coldframe_error::Error;
use coldframe_ids::Digest;
use std::collections::HashSet;

/// The first byte of the encoding. The version must change with every change of the encoding,
/// because postcard stores neither names nor types.
pub(super) const VERSION: u8 = 4;

/// Returns the bytes before the encoded value, for the fuzz target.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn file_head() -> Vec<u8> {
    [&[VERSION], &standard()[..]].concat()
}

type Checked = Result<(), &'static str>;

impl KernelSnapshot {
    /// Encodes the snapshot for [`KernelSnapshot::decode`]. Some libraries cannot export the state
    /// of a digest or cipher. After decoding, every operation on such a context, except closing the
    /// context, fails with `ECANCELED`.
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let failed =
            |error: postcard::Error| Error::Snapshot { reason: format!("the kernel's state cannot be encoded: {error}") };
        postcard::to_extend(self, [&[VERSION], &standard()[..]].concat()).map_err(failed)
    }

    /// Decodes and checks a snapshot. Fails if the bytes are damaged, have another version, or were
    /// encoded with other standard files.
    pub fn decode(bytes: &[u8]) -> Result<Self, Error> {
        let (version, bytes) = bytes.split_first().ok_or_else(|| damaged("the state is empty"))?;
        if *version != VERSION {
            let (needed, found) = (version.to_string(), VERSION.to_string());
            return Err(Error::SnapshotForeign { what: "state of version", needed, found });
        }
        let (files, bytes) = bytes.split_first_chunk().ok_or_else(|| damaged("the state is truncated"))?;
        if files != standard() {
            let hex = |digest: &[u8; Digest::LEN]| Digest::new(*digest).to_string();
            return Err(Error::SnapshotForeign { what: "the standard files", needed: hex(files), found: hex(standard()) });
        }
        let read = postcard::take_from_bytes::<Self>(bytes);
        let (made, rest) = read.map_err(|error| damaged(format!("the state cannot be decoded: {error}")))?;
        if !rest.is_empty() {
            return Err(damaged("the state has trailing bytes"));
        }
        made.check().map_err(damaged)?;
        Ok(made)
    }

    fn check(&self) -> Checked {
        self.files.check()?;
        self.descriptions.check(&self.files)?;
        self.sockets.check(self.descriptions.len())?;
        self.table.check(self.pids())?;
        self.bindings.check()?;
        if !self.descriptions.sockets().all(|id| self.sockets.has(id)) {
            return Err("a descriptor of a missing socket");
        }
        // A program that closed such a descriptor would close the socket below its feed.
        if self.descriptions.sockets().any(|id| self.sockets.has_feed(id)) {
            return Err("a descriptor of the embedder's end of a standard input");
        }
        let mut feeds = HashSet::new();
        self.processes.iter().try_for_each(|process| process.check(self, &mut feeds))
    }
}

impl ProcessSnapshot {
    fn check(&self, kernel: &KernelSnapshot, feeds: &mut HashSet<SocketId>) -> Checked {
        self.files.check(&kernel.files, kernel.descriptions.len())?;
        self.operations.check()?;
        self.crypto.check()?;
        self.signals.check()?;
        if self.watched.len() > MAX_WATCHED {
            return Err("too many watched descriptors");
        }
        let is_own = self.feed.is_none_or(|feed| kernel.sockets.has_feed(feed) && feeds.insert(feed));
        if is_own { Ok(()) } else { Err("a standard input without a feed") }
    }
}
