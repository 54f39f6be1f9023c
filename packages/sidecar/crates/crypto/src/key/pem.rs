//! PEM: base64 between two labels.
//!
//! `pem-rfc7468` writes PEM. This module reads PEM itself, because that crate accepts only a single
//! block with lines of one length. OpenSSL accepts lines of any length, white space around lines
//! and text around the block. `base64ct` decodes the body in a time that does not depend on the
//! key.

use crate::Fault;
use base64ct::{Base64, Encoding};
use der::zeroize::Zeroizing;
use pem_rfc7468::LineEnding;

/// A block of PEM.
pub(super) struct Block {
    pub(super) label: String,
    pub(super) der: Zeroizing<Vec<u8>>,
    /// The value of the header `DEK-Info`, if the body is encrypted (RFC 1421).
    pub(super) encryption: Option<Vec<u8>>,
}

/// Returns the first block whose label `wanted` accepts. Returns `None` if no line starts such a
/// block.
pub(super) fn decode(text: &[u8], wanted: impl Fn(&str) -> bool) -> Option<Result<Block, Fault>> {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    while let Some(line) = lines.next() {
        let label = line.strip_prefix(b"-----BEGIN ").and_then(|rest| rest.strip_suffix(b"-----"));
        let Some(label) = label.and_then(|label| std::str::from_utf8(label).ok()).filter(|label| wanted(label)) else { continue };
        let end = format!("-----END {label}-----");
        // The capacity is an upper bound of the body's length, because a vector that grows would
        // leave copies of the key in freed memory.
        let mut body = Zeroizing::new(Vec::with_capacity(text.len()));
        let mut encryption = None;
        for line in lines.by_ref() {
            if line == end.as_bytes() {
                return Some(base64(body).map(|der| Block { label: label.to_owned(), der, encryption }));
            }
            if line.contains(&b':') {
                // The headers are before the body.
                match line.strip_prefix(b"DEK-Info:") {
                    _ if !body.is_empty() => return Some(Err(Fault::NoPem)),
                    Some(value) => encryption = Some(value.to_vec()),
                    None if line.starts_with(b"Proc-Type:") => {}
                    None => return Some(Err(Fault::Unsupported)),
                }
                continue;
            }
            body.extend_from_slice(line);
        }
        return Some(Err(Fault::NoPem));
    }
    None
}

pub(super) fn encode(label: &str, der: &[u8]) -> Result<Vec<u8>, Fault> {
    pem_rfc7468::encode_string(label, LineEnding::LF, der).map(String::into_bytes).map_err(|_| Fault::TooLong)
}

/// Decodes in place. Unlike the other functions of `base64ct`, the function used here accepts a
/// last character with bits that belong to no byte, as OpenSSL does.
fn base64(mut text: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let len = Base64::decode_in_place(&mut text).map_err(|_| Fault::NoPem)?.len();
    text.truncate(len);
    if text.is_empty() { Err(Fault::NoPem) } else { Ok(text) }
}
