//! PEM (RFC 7468): base64 between two labels.

use crate::Fault;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The first block whose label `wanted` takes: its label and its bytes. Nothing when there is none.
pub(super) fn decode(text: &[u8], wanted: impl Fn(&str) -> bool) -> Option<Result<(String, Vec<u8>), Fault>> {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    while let Some(line) = lines.next() {
        let label = line.strip_prefix(b"-----BEGIN ").and_then(|rest| rest.strip_suffix(b"-----"));
        let Some(label) = label.and_then(|label| std::str::from_utf8(label).ok()).filter(|label| wanted(label)) else { continue };
        let end = format!("-----END {label}-----");
        let mut body = Vec::new();
        for line in lines.by_ref() {
            if line == end.as_bytes() {
                return Some(base64(&body).map(|der| (label.to_owned(), der)));
            }
            if line.contains(&b':') {
                // Headers belong to the old way of encrypting, which nothing should use any more.
                return Some(Err(Fault::Unsupported));
            }
            body.extend_from_slice(line);
        }
        return Some(Err(Fault::NoPem));
    }
    None
}

pub(super) fn encode(label: &str, der: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for chunk in der.chunks(3) {
        let bits = chunk.iter().enumerate().fold(0_u32, |bits, (index, byte)| bits | u32::from(*byte) << (16 - 8 * index));
        for index in 0..4 {
            let sign = ALPHABET[(bits >> (18 - 6 * index)) as usize & 63];
            text.push(if index <= chunk.len() { sign } else { b'=' });
        }
    }
    let mut out = format!("-----BEGIN {label}-----\n").into_bytes();
    for line in text.chunks(64) {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.extend_from_slice(format!("-----END {label}-----\n").as_bytes());
    out
}

fn base64(text: &[u8]) -> Result<Vec<u8>, Fault> {
    if text.is_empty() || !text.len().is_multiple_of(4) {
        return Err(Fault::NoPem);
    }
    let pad = text.iter().rev().take_while(|byte| **byte == b'=').count();
    if pad > 2 {
        return Err(Fault::NoPem);
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let signs = &text[..text.len() - pad];
    for chunk in signs.chunks(4) {
        let mut bits = 0_u32;
        for (index, sign) in chunk.iter().enumerate() {
            let value = ALPHABET.iter().position(|known| known == sign).ok_or(Fault::NoPem)?;
            bits |= (value as u32) << (18 - 6 * index);
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    Ok(out)
}
