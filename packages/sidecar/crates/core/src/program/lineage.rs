//! Lineages: the numbers that all copies of one program share.
//!
//! A start assigns a number, and every copy keeps the number. The numbers are random, so that two
//! sidecars do not assign equal numbers. A lineage is no secret. Next: `snapshot.rs`.

use coldframe_ids::Lineage;
use coldframe_sys as sys;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a lineage that no program of this process has had.
pub(super) fn fresh() -> Lineage {
    static FIRST: OnceLock<u64> = OnceLock::new();
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let first = *FIRST.get_or_init(|| {
        let mut bytes = [0; 8];
        // If the system has no entropy, the clock is sufficient, because only the numbers of two
        // sidecars must differ. No guest runs without entropy.
        if sys::entropy(&mut bytes).is_err() { sys::wall_ns() } else { u64::from_le_bytes(bytes) }
    });
    Lineage::new(scatter(first.wrapping_add(SERIAL.fetch_add(1, Ordering::Relaxed))))
}

/// Maps consecutive numbers to distant numbers, and different numbers to different numbers. The
/// function is the finishing step of splitmix64, a bijection.
fn scatter(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn returns_no_lineage_twice() {
        let lineages: HashSet<_> = (0..10_000).map(|_| fresh()).collect();
        assert_eq!(lineages.len(), 10_000);
    }
}
