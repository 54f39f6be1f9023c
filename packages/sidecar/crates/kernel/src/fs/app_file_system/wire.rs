//! Encodes the host calls of app file systems and decodes the replies. Numbers are little-endian. A
//! text is its length (u32) and its UTF-8 bytes. The SDK decodes the host calls and encodes the
//! replies in `packages/sdk/src/file-systems/wire.ts`. `docs/internals/protocol.md` has the table
//! of the fields.

use super::super::node::Type;
use coldframe_error::Errno;

/// The encoded arguments of a host call.
pub(super) struct Input(Vec<u8>);

impl Input {
    /// Starts the input of a host call to the file system `number`.
    pub(super) fn new(number: u32) -> Self {
        Self(number.to_le_bytes().to_vec())
    }

    pub(super) fn u32(mut self, number: u32) -> Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(super) fn u64(mut self, number: u64) -> Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(super) fn text(self, text: &[u8]) -> Self {
        // Paths and link targets are shorter than 4 GiB.
        self.u32(u32::try_from(text.len()).unwrap_or(u32::MAX)).bytes(text)
    }

    /// Adds the last field, which has no length.
    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Decodes a reply. A missing or invalid field fails with `EIO`.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Errno> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Errno::EIO)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Errno> {
        self.take(N)?.try_into().map_err(|_| Errno::EIO)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Errno> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Errno> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, Errno> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn text(&mut self) -> Result<&'a [u8], Errno> {
        let len = self.u32()?;
        self.take(len as usize)
    }

    /// Reads a file type, which has the number that `readdir` uses.
    pub(super) fn kind(&mut self) -> Result<Type, Errno> {
        match self.array()? {
            [1] => Ok(Type::File),
            [2] => Ok(Type::Directory),
            [3] => Ok(Type::Link),
            _ => Err(Errno::EIO),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails with `EIO` if bytes are left.
    pub(super) fn end(self) -> Result<(), Errno> {
        if self.is_empty() { Ok(()) } else { Err(Errno::EIO) }
    }
}
