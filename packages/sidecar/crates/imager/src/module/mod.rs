//! Turns the linked guest into the module that the sidecar runs.
//!
//! [`lower_bulk_memory`] replaces instructions that would run outside the guest's code, and
//! [`check`] refuses a module that breaks the guest ABI. [`strip`] removes the parts that the image
//! already has. The functions read with `wasmparser` and write with `wasm-encoder`, the crates that
//! wasmtime uses. Unchanged sections and function bodies are copied byte for byte.

mod check;
mod lower;
mod strip;

pub(crate) use check::check;
pub(crate) use lower::lower_bulk_memory;
pub(crate) use strip::strip;

use std::ops::Range;

use wasm_encoder::RawSection;
use wasmparser::{BinaryReaderError, Payload};

use crate::Failure;

impl From<BinaryReaderError> for Failure {
    fn from(error: BinaryReaderError) -> Self {
        Self::Module(error.to_string())
    }
}

/// Returns the unchanged section that `payload` represents. Returns `None` for a payload that is
/// not a section, such as the header or one function body.
fn section<'a>(wasm: &'a [u8], payload: &Payload<'_>) -> Result<Option<RawSection<'a>>, Failure> {
    let Some((id, range)) = payload.as_section() else { return Ok(None) };
    Ok(Some(RawSection { id, data: content(wasm, range)? }))
}

/// Returns the content of a section. The parser reports the range of the code section before it has
/// read the section to the end.
fn content(wasm: &[u8], range: Range<usize>) -> Result<&[u8], Failure> {
    wasm.get(range).ok_or_else(|| Failure::Module("a section ends after the end of the file".to_owned()))
}

/// Returns the module with this text in the binary format.
#[cfg(test)]
fn parse(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("the text of a module")
}
