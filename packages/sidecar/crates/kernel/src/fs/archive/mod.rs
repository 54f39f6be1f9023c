//! Tar archives of a part of the tree. The embedder reads and writes archives piece by piece.
//!
//! ```text
//! export.rs: tree ─► header.rs ─► bytes
//! import.rs: bytes ─► reader.rs (an entry's kind) ─► unpack.rs ─► tree
//!                     pax.rs, sparse.rs: values that do not fit into a header
//! ```
//!
//! The writer produces POSIX's pax format, with GNU's records for sparse files. The reader accepts
//! pax, ustar, GNU's old format and the format before ustar. The `tar` crate parses headers. The
//! crate's reader is not used, because that reader needs a blocking stream. The embedder pushes the
//! bytes, so an import needs no thread and never blocks. Next: `import.rs`.

mod export;
mod header;
mod import;
mod pax;
mod reader;
mod sparse;
mod unpack;

#[cfg(test)]
mod tests;

pub(super) use export::Export;
pub(super) use import::{Import, Owners};
pub(super) use reader::Failed;

/// The size of a header in bytes. Data is padded to a multiple of this size.
const BLOCK: usize = 512;

/// An archive that is being read or written.
pub enum Archive {
    /// An archive that the embedder reads.
    Export(Box<Export>),
    /// An archive that the embedder writes.
    Import(Box<Import>),
}

/// The reason why an archive is refused: the name of the entry, and an explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) entry: String,
    pub(super) reason: String,
}

impl Refusal {
    fn new(entry: &[u8], reason: impl Into<String>) -> Self {
        const LONGEST: usize = 200;
        let entry = String::from_utf8_lossy(entry).chars().take(LONGEST).collect();
        Self { entry, reason: reason.into() }
    }
}

/// Returns the number of padding bytes after data of length `len`.
fn padding(len: u64) -> usize {
    let over = (len % BLOCK as u64) as usize;
    if over == 0 { 0 } else { BLOCK - over }
}
