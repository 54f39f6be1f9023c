//! The memory that a collection holds on the heap, by its capacity and not by its length.
//!
//! A buffer grows to twice its content, and keeps its capacity when its content is removed. A
//! charge by length would let a program keep much more memory than its limit. All charges of the
//! kernel memory therefore use this trait. [`reserve`] grows a bounded buffer, so that its capacity
//! has the same bound as its length. Next: `mark.rs`.

use super::Charge;
use std::collections::VecDeque;

/// The bytes that the allocator adds to an allocation.
const HEADER: usize = 16;

/// A collection whose memory can be charged.
pub trait Footprint {
    /// Returns the bytes that the collection holds on the heap, with the allocator's overhead.
    /// Memory that the elements hold themselves is not included.
    fn footprint(&self) -> u64;
}

fn allocation(bytes: usize) -> u64 {
    if bytes == 0 { 0 } else { (bytes + HEADER) as u64 }
}

impl<T> Footprint for Vec<T> {
    fn footprint(&self) -> u64 {
        allocation(self.capacity() * size_of::<T>())
    }
}

impl<T> Footprint for VecDeque<T> {
    fn footprint(&self) -> u64 {
        allocation(self.capacity() * size_of::<T>())
    }
}

impl Footprint for String {
    fn footprint(&self) -> u64 {
        allocation(self.capacity())
    }
}

/// Returns `bytes` without spare capacity, if the spare capacity is more than an eighth.
pub fn fitted(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.capacity() - bytes.len() > bytes.len() / 8 {
        bytes.shrink_to_fit();
    }
    bytes
}

/// Reserves memory for `more` bytes in a list that holds at most `most` bytes, and adds the memory
/// to `charge`. The capacity doubles if the limit allows the doubled capacity. Returns false,
/// without a change, if the limit does not allow the bytes or the system has no memory.
pub fn reserve_charged(bytes: &mut Vec<u8>, more: usize, most: usize, charge: &mut Charge) -> bool {
    let Some(needed) = bytes.len().checked_add(more) else { return false };
    if needed <= bytes.capacity() {
        return true;
    }
    let doubled = (2 * bytes.capacity()).min(most).max(needed);
    for capacity in [doubled, needed] {
        let cost = allocation(capacity) - bytes.footprint();
        if charge.grow(cost) {
            let reserved = bytes.try_reserve_exact(capacity - bytes.len()).is_ok();
            charge.shrink(if reserved { 0 } else { cost });
            return reserved;
        }
    }
    false
}

/// Reserves memory for `more` bytes in a queue that holds at most `most` bytes. The spare capacity
/// is at most an eighth, because the limit of such a queue counts the length.
pub fn reserve(queue: &mut VecDeque<u8>, more: usize, most: usize) {
    let needed = queue.len() + more;
    if needed > queue.capacity() {
        let capacity = (needed + needed / 8).next_multiple_of(64).min(most).max(needed);
        queue.reserve_exact(capacity - queue.len());
    }
}

/// Frees the spare capacity of a queue that has become shorter by a quarter. An empty queue keeps
/// no memory.
pub fn trim(queue: &mut VecDeque<u8>) {
    /// The largest capacity that is not worth a call of the allocator.
    const SMALL: usize = 1_024;
    if queue.is_empty() || (queue.capacity() > SMALL && queue.len() < queue.capacity() / 4 * 3) {
        queue.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Resource, Usage};
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn counts_the_capacity_and_nothing_for_an_empty_collection() {
        assert_eq!(Vec::<u64>::new().footprint(), 0);
        let mut texts = Vec::<u64>::with_capacity(10);
        texts.push(1);
        assert_eq!(texts.footprint(), 80 + HEADER as u64);
        assert_eq!(String::with_capacity(7).footprint(), 7 + HEADER as u64);
        let mut long = Vec::with_capacity(1_000);
        long.extend_from_slice(b"short");
        assert_eq!(fitted(long).footprint(), 5 + HEADER as u64);
    }

    #[test]
    fn a_charged_list_is_charged_for_its_capacity() {
        let usage = Usage::new(&Limits { kernel_bytes: 10_000, ..Limits::default() });
        let mut charge = Charge::none(&usage, Resource::Kernel);
        let mut bytes = Vec::new();
        while reserve_charged(&mut bytes, 700, usize::MAX, &mut charge) {
            bytes.extend_from_slice(&[7; 700]);
            assert_eq!(charge.amount(), bytes.footprint());
        }
        assert_eq!(bytes.len(), 14 * 700 - 700 * usize::from(14 * 700 + HEADER > 10_000), "all of the limit can be used");
        assert_eq!(charge.amount(), bytes.footprint());
        assert!(!reserve_charged(&mut bytes, usize::MAX, usize::MAX, &mut charge));
    }

    #[test]
    fn a_bounded_queue_never_holds_more_than_its_bound() {
        let mut queue = VecDeque::new();
        while queue.len() < 70_000 {
            let more = (70_000 - queue.len()).min(999);
            reserve(&mut queue, more, 70_000);
            queue.resize(queue.len() + more, 0);
            let most = 70_000.min(queue.len() + queue.len() / 8 + 64);
            assert!(queue.capacity() <= most, "{} of {}", queue.capacity(), queue.len());
        }
        while !queue.is_empty() {
            queue.drain(..queue.len().min(999));
            trim(&mut queue);
            assert!(queue.capacity() <= (queue.len() / 3 * 4 + 8).max(1_024), "{} of {}", queue.len(), queue.capacity());
        }
        assert_eq!(queue.capacity(), 0);
    }
}
