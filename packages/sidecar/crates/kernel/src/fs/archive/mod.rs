//! Tar archives of a part of the tree, packed and unpacked in pieces as the caller outside reads and writes them.
//!
//! ```text
//! export.rs: tree ─► header.rs ─► bytes          import.rs: bytes ─► reader.rs (what an entry is) ─► unpack.rs ─► tree
//!                                                           pax.rs, sparse.rs: what a header cannot say
//! ```
//!
//! What is written is POSIX's pax format, with GNU's records for files with holes. What is read is that, ustar, GNU's own format and the
//! one before them. Headers are the `tar` crate's; its reader is not used because it pulls from a stream that blocks, and here the
//! bytes are pushed, so that an import needs no thread and waits for nobody. Next: `import.rs`.

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
pub(super) use import::Import;
pub(super) use reader::Failed;

/// Bytes of a header, and what data is padded to.
const BLOCK: usize = 512;

/// An archive that is being read or written.
pub enum Archive {
    /// An archive that is written.
    Export(Box<Export>),
    /// An archive that is read.
    Import(Box<Import>),
}

/// Why an archive is refused: the entry, and a sentence.
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

/// Bytes that follow data up to the next block.
fn padding(len: u64) -> usize {
    let over = (len % BLOCK as u64) as usize;
    if over == 0 { 0 } else { BLOCK - over }
}
