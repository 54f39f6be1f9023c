//! The fuzz target `snapshot-head`: the head of a snapshot's file.
//!
//! The target corrects the magic, the versions, the counts and the digest, so that an input reaches
//! the checks behind them. A head that is accepted has an encoding that is read as an equal head.

use super::format::{FIXED, Head, head_len, padded};
use coldframe_abi::VERSION as ABI_VERSION;
use sha2::{Digest as _, Sha256};

const ENTRY: usize = 48;
/// The largest number of memories, and of bytes of the info.
const MOST: u32 = 200;

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Reads a head.
///
/// # Panics
/// Panics if the encoding of an accepted head is read as another head.
pub fn head(data: &[u8]) {
    let _ = head_len(data);
    let mut bytes = data.to_vec();
    bytes.resize(bytes.len().max(FIXED), 0);
    bytes[..8].copy_from_slice(b"COLDRUN1");
    bytes[8..12].copy_from_slice(&1_u32.to_le_bytes());
    bytes[12..16].copy_from_slice(&ABI_VERSION.to_le_bytes());
    let memories = u32::from(bytes[48]) % 8;
    let info = u32::from(bytes[52]) % MOST;
    bytes[48..52].copy_from_slice(&memories.to_le_bytes());
    bytes[52..56].copy_from_slice(&info.to_le_bytes());
    let Ok(len) = head_len(&bytes) else { return };
    bytes.resize(len, 0);
    bytes[16..48].fill(0);
    let digest = Sha256::digest(&bytes);
    bytes[16..48].copy_from_slice(&digest);
    let state = u64_at(&bytes, 56);
    let body = (0..memories as usize).map(|at| u64_at(&bytes, FIXED + at * ENTRY + 8)).fold(0, u64::wrapping_add);
    let state = state.checked_next_multiple_of(padded(1)).unwrap_or(0);
    let Ok(read) = Head::decode(&bytes, (len as u64).wrapping_add(state).wrapping_add(body)) else { return };
    let again = read.encode().map(|bytes| Head::decode(&bytes, (bytes.len() as u64) + state + body));
    assert!(matches!(&again, Ok(Ok(other)) if *other == read), "{read:?} is read as {again:?}");
    let _ = read.digest();
}

#[cfg(test)]
mod tests {
    #[test]
    fn kept_heads_are_refused_or_read_again() {
        coldframe_testing::run_kept_inputs("snapshot-head", super::head);
    }
}
