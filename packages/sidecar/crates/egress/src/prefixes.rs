//! A table of prefixes: finds the longest prefix that contains an address.
//!
//! Prefixes either contain each other or are disjoint. The table is the list of the first addresses
//! of the intervals between which the longest prefix changes, so a lookup is one binary search.
//! Next: `ports.rs`.

use crate::cidr::{Cidr, left};
use std::net::IpAddr;

/// The intervals of both families.
#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    short: Intervals,
    long: Intervals,
}

/// The first address of each interval, and the index of its longest prefix, in ascending order.
#[derive(Debug, Default)]
struct Intervals(Vec<(u128, Option<u32>)>);

impl Prefixes {
    /// Makes the table of prefixes that are all different. Also returns the index of the longest
    /// other prefix around each prefix.
    pub(crate) fn new(prefixes: &[Cidr]) -> (Self, Vec<Option<u32>>) {
        let mut parents = vec![None; prefixes.len()];
        let mut sorted: Vec<(Cidr, u32)> = prefixes.iter().copied().zip(0..).collect();
        // A prefix is sorted before the prefixes that it contains.
        sorted.sort_unstable();
        let split = sorted.partition_point(|(prefix, _)| prefix.base().is_ipv4());
        let (short, long) = sorted.split_at(split);
        let mut family = |sorted| Intervals::new(sorted, &mut parents);
        (Self { short: family(short), long: family(long) }, parents)
    }

    /// Returns the index of the longest prefix that contains a canonical address.
    pub(crate) fn find(&self, address: IpAddr) -> Option<u32> {
        let family = if address.is_ipv4() { &self.short } else { &self.long };
        family.find(left(address))
    }
}

impl Intervals {
    fn new(sorted: &[(Cidr, u32)], parents: &mut [Option<u32>]) -> Self {
        let mut starts: Vec<(u128, Option<u32>)> = Vec::with_capacity(2 * sorted.len());
        // The prefixes around the present address, with their last addresses.
        let mut around: Vec<(u128, u32)> = Vec::new();
        for (prefix, index) in sorted {
            let (first, last) = prefix.bounds();
            Self::close(&mut around, &mut starts, first);
            if let Some(parent) = parents.get_mut(*index as usize) {
                *parent = around.last().map(|(_, index)| *index);
            }
            around.push((last, *index));
            Self::begin(&mut starts, first, Some(*index));
        }
        Self::close(&mut around, &mut starts, u128::MAX);
        Self(starts)
    }

    /// Ends the prefixes whose last address is before `next`.
    fn close(around: &mut Vec<(u128, u32)>, starts: &mut Vec<(u128, Option<u32>)>, next: u128) {
        while let Some((last, _)) = around.last().copied().filter(|(last, _)| *last < next) {
            around.pop();
            Self::begin(starts, last + 1, around.last().map(|(_, index)| *index));
        }
    }

    fn begin(starts: &mut Vec<(u128, Option<u32>)>, first: u128, prefix: Option<u32>) {
        // Of several prefixes that begin or end here, the last one that is noted is the longest.
        if starts.last().is_some_and(|(known, _)| *known == first) {
            starts.pop();
        }
        starts.push((first, prefix));
    }

    fn find(&self, address: u128) -> Option<u32> {
        let after = self.0.partition_point(|(first, _)| *first <= address);
        self.0.get(after.checked_sub(1)?)?.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::net::Ipv6Addr;

    /// Addresses that differ in few bits, so that prefixes and addresses often match.
    fn address() -> impl Strategy<Value = IpAddr> {
        let sparse = |bits: u32| prop::sample::subsequence((0..bits).collect::<Vec<_>>(), 0..4);
        let short = sparse(32).prop_map(|bits| IpAddr::V4(bits.iter().fold(0_u32, |sum, bit| sum | 1 << bit).into()));
        let long = sparse(128).prop_map(|bits| {
            let sum = bits.iter().fold(0_u128, |sum, bit| sum | 1 << bit);
            IpAddr::V6(Ipv6Addr::from_bits(sum)).to_canonical()
        });
        prop_oneof![short, long, Just("255.255.255.255".parse().unwrap()), Just(Ipv6Addr::from_bits(u128::MAX).into())]
    }

    proptest! {
        #[test]
        fn the_table_finds_the_longest_prefix(
            prefixes in prop::collection::vec((address(), 0_usize..=128), 0..40),
            addresses in prop::collection::vec(address(), 1..40),
        ) {
            let prefixes: BTreeSet<Cidr> =
                prefixes.into_iter().filter_map(|(base, length)| Cidr::covering(base, length)).collect();
            let prefixes: Vec<Cidr> = prefixes.into_iter().rev().collect();
            let (table, parents) = Prefixes::new(&prefixes);
            let longest = |inside: &dyn Fn(&Cidr) -> bool| {
                (0_u32..).zip(&prefixes).filter(|(_, prefix)| inside(prefix)).max_by_key(|(_, prefix)| prefix.length())
                    .map(|(index, _)| index)
            };
            for address in addresses {
                prop_assert_eq!(table.find(address), longest(&|prefix| prefix.contains(address)));
            }
            for (prefix, parent) in prefixes.iter().zip(parents) {
                prop_assert_eq!(parent, longest(&|other| other != prefix && other.covers(prefix)));
                for address in [prefix.base(), if prefix.base().is_ipv4() {
                    IpAddr::V4(((prefix.bounds().1 >> 96) as u32).into())
                } else {
                    IpAddr::V6(Ipv6Addr::from_bits(prefix.bounds().1)).to_canonical()
                }] {
                    if address.is_ipv4() == prefix.base().is_ipv4() {
                        prop_assert_eq!(table.find(address), longest(&|prefix| prefix.contains(address)));
                    }
                }
            }
        }
    }
}
