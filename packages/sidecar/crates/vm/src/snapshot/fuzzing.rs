//! The fuzz target `memory-head`: the bytes before the pages of a VM snapshot's file.
//!
//! The target corrects the magic, the versions and the counts, so that an input reaches the checks
//! behind them. The digests of an input are not checked. A head that is accepted has an encoding
//! that is read as an equal head.

use super::format::{FIXED, Head, head_len};
use coldframe_abi::VERSION as ABI_VERSION;
use coldframe_ids::Digest;
use std::ops::Range;

const COUNTS: [Range<usize>; 2] = [136..140, 140..144];
const DIGEST: Range<usize> = 16..48;
/// The largest number of runs, and of bytes of the owner's part.
const MOST: u32 = 64;

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Reads a head.
///
/// # Panics
/// Panics if the encoding of an accepted head is read as another head.
pub fn head(data: &[u8]) {
    let hash = |_: &[u8]| Digest::default();
    let _ = head_len(data);
    let mut bytes = data.to_vec();
    bytes.resize(bytes.len().max(FIXED), 0);
    bytes[..8].copy_from_slice(b"COLDSNP1");
    bytes[8..12].copy_from_slice(&1_u32.to_le_bytes());
    bytes[12..16].copy_from_slice(&ABI_VERSION.to_le_bytes());
    bytes[DIGEST].fill(0);
    for count in COUNTS {
        let number = u32::from(bytes[count.start]) % MOST;
        bytes[count].copy_from_slice(&number.to_le_bytes());
    }
    // The digest of the owner's part.
    bytes[144..176].fill(0);
    let Ok(len) = head_len(&bytes) else { return };
    bytes.resize(len, 0);
    let runs = usize::from(bytes[COUNTS[0].start]);
    let pages = (0..runs).map(|run| u64_at(&bytes, FIXED + run * 48 + 8)).fold(0, u64::wrapping_add);
    for file_len in [(len as u64).wrapping_add(pages), len as u64] {
        let Ok((read, _)) = Head::decode(&bytes, file_len, hash) else { continue };
        let again = read.encode(hash).map(|(bytes, _)| Head::decode(&bytes, file_len, hash));
        assert!(matches!(&again, Ok(Ok((other, _))) if *other == read), "{read:?} is read as {again:?}");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn kept_heads_are_refused_or_read_again() {
        coldframe_testing::run_kept_inputs("memory-head", super::head);
    }
}
