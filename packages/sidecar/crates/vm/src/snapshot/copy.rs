//! Copies a VM snapshot between files, and checks every byte while copying.
//!
//! The head of a snapshot has the digest of each run. The copy therefore reads the bytes once: each
//! chunk is hashed and written while the chunk is in the processor's cache. The bytes that are
//! hashed are in the buffer of the copy, where no other process can change them. Next: `file.rs`.

use super::VmSnapshot;
use super::file::read_head;
use super::format::{FIXED, FormatError, head_len};
use crate::Factory;
use coldframe_error::Error;
use coldframe_ids::Digest;
use sha2::{Digest as _, Sha256};
use std::io::{self, Read, Write};
use std::path::Path;

/// The number of bytes that are read, hashed and written at a time.
const CHUNK: usize = 256 << 10;

/// A copy of bytes that are hashed while they are copied.
pub struct HashedCopy<'a> {
    from: &'a mut dyn Read,
    to: &'a mut dyn Write,
    chunk: Vec<u8>,
}

/// The reason why a copy failed.
#[derive(Debug)]
pub enum CopyError {
    /// The source cannot be read.
    Read(io::Error),
    /// The target cannot be written.
    Write(io::Error),
    /// The bytes of the source are no usable snapshot.
    Refused(FormatError),
}

impl CopyError {
    /// Converts to the core's error of a copy between two files.
    pub fn of(self, from: &Path, to: &Path) -> Error {
        match self {
            Self::Read(error) => Error::snapshot_file(from, &error),
            Self::Write(error) => Error::snapshot_file(to, &error),
            Self::Refused(error) => error.of(from),
        }
    }
}

impl From<FormatError> for CopyError {
    fn from(error: FormatError) -> Self {
        Self::Refused(error)
    }
}

impl<'a> HashedCopy<'a> {
    /// Makes a copy from the position of `from` to the position of `to`.
    pub fn new(from: &'a mut dyn Read, to: &'a mut dyn Write) -> Self {
        Self { from, to, chunk: vec![0; CHUNK] }
    }

    /// Copies the next `len` bytes. Returns their SHA-256.
    pub fn bytes(&mut self, len: u64) -> Result<Digest, CopyError> {
        let mut hash = Sha256::new();
        self.each_chunk(len, |chunk| hash.update(chunk))?;
        Ok(Digest::new(hash.finalize().into()))
    }

    /// Copies the next `len` bytes. Returns whether all of them are zero.
    pub fn zeros(&mut self, len: u64) -> Result<bool, CopyError> {
        let mut are_zero = true;
        self.each_chunk(len, |chunk| are_zero &= chunk.iter().all(|byte| *byte == 0))?;
        Ok(are_zero)
    }

    fn each_chunk(&mut self, len: u64, mut see: impl FnMut(&[u8])) -> Result<(), CopyError> {
        let mut left = len;
        while left > 0 {
            let count = left.min(CHUNK as u64) as usize;
            let chunk = &mut self.chunk[..count];
            self.from.read_exact(chunk).map_err(read_failed)?;
            see(chunk);
            self.to.write_all(chunk).map_err(CopyError::Write)?;
            left -= count as u64;
        }
        Ok(())
    }

    /// Copies the bytes before the pages of a snapshot of `len` bytes, and returns the bytes.
    fn head(&mut self, len: u64) -> Result<Vec<u8>, CopyError> {
        let mut head = Vec::new();
        self.read_to(&mut head, len.min(FIXED as u64))?;
        let head_len = head_len(&head)? as u64;
        if head_len > len {
            return Err(CopyError::Refused("it is shorter than its header".into()));
        }
        self.read_to(&mut head, head_len)?;
        self.to.write_all(&head).map_err(CopyError::Write)?;
        Ok(head)
    }

    // The length is not checked yet. The buffer therefore grows with the bytes that exist.
    fn read_to(&mut self, bytes: &mut Vec<u8>, len: u64) -> Result<(), CopyError> {
        let left = len - bytes.len() as u64;
        let read = self.from.take(left).read_to_end(bytes).map_err(CopyError::Read)?;
        if read as u64 == left { Ok(()) } else { Err(read_failed(io::ErrorKind::UnexpectedEof.into())) }
    }
}

fn read_failed(error: io::Error) -> CopyError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => CopyError::Refused("it became shorter".into()),
        _ => CopyError::Read(error),
    }
}

impl VmSnapshot {
    /// Copies a snapshot of `len` bytes. Checks what [`VmSnapshot::read`] checks. Returns the
    /// snapshot's digest.
    pub fn copy(factory: &Factory, copy: &mut HashedCopy<'_>, len: u64) -> Result<Digest, CopyError> {
        let (head, name) = read_head(factory, &copy.head(len)?, len)?;
        for part in &head.parts {
            part.check(copy.bytes(part.len)?)?;
        }
        Ok(name)
    }
}
