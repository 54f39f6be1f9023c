//! The image file: one header page, then the guest's linear memory after initialisation.
//!
//! The zeros at the start (the stack) and at the end (space for the first allocations) are not
//! stored. A VM has fresh zero pages in these ranges.
//!
//! ```text
//! 0     magic "COLDFRM1"                    8 bytes
//! 8     format version, ABI version         u32 each
//! 16    memory length in bytes              u64, whole wasm pages (64 KiB)
//! 24    state_ptr, inbox_ptr, inbox_len, frozen_end   u32 each
//! 40    SHA-256 of the memory               32 bytes: the image's name
//! 72    file name of the precompiled module 56 bytes, padded with zeros
//! 128   data start and length in the memory u64 each, whole pages; all other memory is zero
//! 4096  the data                            page-aligned, so that it can be mapped
//! ```
//! The image names its module, so that a rebuild replaces both and no reader sees a wrong pair.
//! `crates/imager` writes the hash, which identifies the image. The hash is not computed again when
//! a sidecar starts, because hashing would touch every page. Next: `piece.rs`.

use coldframe_abi::{StateBlock, VERSION as ABI_VERSION};
use coldframe_ids::Digest;
use coldframe_sys::PAGE;

/// The number of bytes before the memory: one page.
pub const HEADER_LEN: usize = PAGE;
/// The version of this file format.
pub const FORMAT_VERSION: u32 = 2;
const MAGIC: &[u8; 8] = b"COLDFRM1";
const WASM_PAGE: u64 = 65_536;
const NAME_LEN: usize = 56;
const DATA_AT: usize = 128;

/// The header of an image file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The length of the memory in bytes.
    pub memory_len: u64,
    /// The offset of the file's data in the memory, in bytes. All memory before the data is zero.
    pub data_start: u64,
    /// The length of the data in bytes. All memory after the data is zero.
    pub data_len: u64,
    /// The address of the guest's state block.
    pub state_ptr: u32,
    /// The address of the inbox for events.
    pub inbox_ptr: u32,
    /// The length of the inbox in bytes.
    pub inbox_len: u32,
    /// The address of the end of the immortal objects.
    pub frozen_end: u32,
    /// The SHA-256 of the memory.
    pub hash: Digest,
    /// The precompiled module's file, in the image's folder.
    pub module_file: String,
}

impl Header {
    /// Returns the header page. Fails if `module_file` is longer than 56 bytes.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        if self.module_file.len() > NAME_LEN {
            return Err(format!("the module's file name is longer than {NAME_LEN} bytes: {}", self.module_file));
        }
        let mut page = Vec::with_capacity(HEADER_LEN);
        page.extend_from_slice(MAGIC);
        page.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        page.extend_from_slice(&ABI_VERSION.to_le_bytes());
        page.extend_from_slice(&self.memory_len.to_le_bytes());
        for number in [self.state_ptr, self.inbox_ptr, self.inbox_len, self.frozen_end] {
            page.extend_from_slice(&number.to_le_bytes());
        }
        page.extend_from_slice(self.hash.as_bytes());
        page.extend_from_slice(self.module_file.as_bytes());
        page.resize(DATA_AT, 0);
        page.extend_from_slice(&self.data_start.to_le_bytes());
        page.extend_from_slice(&self.data_len.to_le_bytes());
        page.resize(HEADER_LEN, 0);
        Ok(page)
    }

    /// Reads a header page. `file_len` is the length of the whole file. The error names the first
    /// mismatch.
    pub fn decode(page: &[u8], file_len: u64) -> Result<Self, String> {
        let field =
            |at: usize, len: usize| page.get(at..at + len).ok_or_else(|| "the file is shorter than its header".to_owned());
        let u32_at = |at: usize| field(at, 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        if field(0, 8)? != MAGIC {
            return Err("it is not a guest image".to_owned());
        }
        let (format, abi) = (u32_at(8)?, u32_at(12)?);
        if (format, abi) != (FORMAT_VERSION, ABI_VERSION) {
            return Err(format!(
                "it was made by another build: format {format}, ABI {abi}; \
                 this build needs format {FORMAT_VERSION}, ABI {ABI_VERSION}"
            ));
        }
        let u64_at = |at: usize| Ok::<_, String>(u64::from(u32_at(at)?) | u64::from(u32_at(at + 4)?) << 32);
        let memory_len = u64_at(16)?;
        if memory_len == 0 || memory_len % WASM_PAGE != 0 || memory_len > u64::from(u32::MAX) {
            return Err(format!("its memory length is {memory_len}, which is not a number of wasm pages below 4 GiB"));
        }
        let (data_start, data_len) = (u64_at(DATA_AT)?, u64_at(DATA_AT + 8)?);
        let whole_pages = data_start % PAGE as u64 == 0 && data_len % PAGE as u64 == 0 && data_len > 0;
        if !whole_pages || data_start.checked_add(data_len).is_none_or(|end| end > memory_len) {
            return Err(format!("its data is {data_len} bytes at {data_start}, which are not whole pages of its memory"));
        }
        if file_len != HEADER_LEN as u64 + data_len {
            return Err(format!("the file has {file_len} bytes; its header says {}", HEADER_LEN as u64 + data_len));
        }
        let hash = Digest::read(field(40, Digest::LEN)?).ok_or("the file is shorter than its header")?;
        let name = field(72, NAME_LEN)?.split(|byte| *byte == 0).next().unwrap_or_default();
        let module_file = String::from_utf8(name.to_vec()).map_err(|_| "its module's name is not text".to_owned())?;
        if module_file.is_empty() || module_file.contains('/') {
            return Err(format!("its module's name is {module_file:?}, which is not a file name"));
        }
        let header = Self {
            memory_len,
            data_start,
            data_len,
            state_ptr: u32_at(24)?,
            inbox_ptr: u32_at(28)?,
            inbox_len: u32_at(32)?,
            frozen_end: u32_at(36)?,
            hash,
            module_file,
        };
        let inside = |at: u32, len: u32| u64::from(at) + u64::from(len) <= memory_len;
        if !inside(header.state_ptr, StateBlock::LEN as u32)
            || !inside(header.inbox_ptr, header.inbox_len)
            || !inside(header.frozen_end, 0)
        {
            return Err("its pointers are outside its memory".to_owned());
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            memory_len: 2 * WASM_PAGE,
            data_start: PAGE as u64,
            data_len: 4 * PAGE as u64,
            state_ptr: 1_024,
            inbox_ptr: 2_048,
            inbox_len: 65_536,
            frozen_end: 70_000,
            hash: Digest::new([9; 32]),
            module_file: "guest-0123.cwasm".to_owned(),
        }
    }

    #[test]
    fn reads_an_encoded_header() {
        let page = header().encode().expect("encode");
        assert_eq!(page.len(), HEADER_LEN);
        assert_eq!(Header::decode(&page, (HEADER_LEN + 4 * PAGE) as u64), Ok(header()));
    }

    #[test]
    fn the_error_names_the_mismatch() {
        let page = header().encode().expect("encode");
        let right = (HEADER_LEN + 4 * PAGE) as u64;
        let broken = |at: usize, value: u8| {
            let mut page = page.clone();
            page[at] = value;
            Header::decode(&page, right).expect_err("must be refused")
        };
        assert!(broken(0, b'X').contains("not a guest image"));
        assert!(broken(12, 9).contains("ABI 9"));
        assert!(broken(16, 1).contains("memory length"));
        assert!(broken(31, 0xff).contains("outside"));
        assert!(broken(72, b'/').contains("not a file name"));
        assert!(broken(DATA_AT, 1).contains("whole pages"));
        assert!(broken(DATA_AT + 2, 2).contains("whole pages of its memory"));
        assert!(broken(DATA_AT + 9, 0).contains("whole pages"));
        assert!(broken(DATA_AT + 15, 0xff).contains("whole pages"));
        assert!(Header::decode(&page, right - 1).expect_err("short").contains("bytes"));
        assert!(Header::decode(&page[..20], right).expect_err("cut").contains("shorter"));
    }

    proptest::proptest! {
        #[test]
        fn never_panics_on_any_bytes(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200), len: u64) {
            let _ = Header::decode(&bytes, len);
        }
    }
}
