//! Files with holes: which parts of a file the data of an entry is. The parts are in order, do not overlap and lie within the file.
//! Next: `reader.rs`.

use super::pax::number;
use tar::GnuSparseHeader;

/// Parts of one file: more than that is no file but an attack on memory.
pub(super) const MOST: usize = 1 << 18;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// Where each part lies in the file, and its length.
    list: Vec<(u64, u64)>,
    /// Bytes of all parts.
    total: u64,
    /// The part that was asked about last, and the bytes of those before it.
    current: (usize, u64),
}

impl Parts {
    /// Adds a part; none when it does not fit behind the others or into the file.
    pub(super) fn add(&mut self, offset: u64, len: u64, size: u64) -> Option<()> {
        let end = offset.checked_add(len).filter(|end| *end <= size)?;
        let before = self.list.last().map_or(0, |(offset, len)| offset + len);
        if offset < before || self.list.len() >= MOST || end > i64::MAX as u64 {
            return None;
        }
        // GNU ends a list with an empty part where the file ends.
        if len > 0 {
            self.list.push((offset, len));
            self.total += len;
        }
        Some(())
    }

    pub(super) fn of_pairs(numbers: &[u64], size: u64) -> Option<Self> {
        let mut parts = Self::default();
        let (pairs, rest) = numbers.as_chunks::<2>();
        for [offset, len] in pairs {
            parts.add(*offset, *len, size)?;
        }
        rest.is_empty().then_some(parts)
    }

    /// Adds what a header of GNU's own format lists; none when it is wrong.
    pub(super) fn add_headers(&mut self, headers: &[GnuSparseHeader], size: u64) -> Option<()> {
        for header in headers.iter().filter(|header| !header.is_empty()) {
            self.add(header.offset().ok()?, header.length().ok()?, size)?;
        }
        Some(())
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Where the data's byte `at` belongs in the file, and how many follow it there. `at` never becomes smaller.
    pub(super) fn place(&mut self, at: u64) -> Option<(u64, u64)> {
        loop {
            let (index, before) = self.current;
            let (offset, len) = self.list.get(index)?;
            let within = at.checked_sub(before)?;
            if within < *len {
                return Some((offset + within, len - within));
            }
            self.current = (index + 1, before + len);
        }
    }
}

/// The list at the beginning of an entry's data, in version 1.0: numbers in lines, how many parts there are first.
#[derive(Debug, Default)]
pub(super) struct Map {
    text: Vec<u8>,
    wanted: Option<u64>,
    numbers: Vec<u64>,
}

impl Map {
    /// Takes a block. Whether the list is complete; none when it is wrong.
    pub(super) fn take(&mut self, block: &[u8]) -> Option<bool> {
        const LONGEST_NUMBER: usize = 20;
        for byte in block {
            if *byte != b'\n' {
                self.text.push(*byte);
                if self.text.len() > LONGEST_NUMBER {
                    return None;
                }
                continue;
            }
            let number = number(&std::mem::take(&mut self.text)).filter(|_| self.numbers.len() <= 2 * MOST)?;
            match self.wanted {
                None => self.wanted = Some(number.checked_mul(2)?),
                Some(_) => self.numbers.push(number),
            }
            if self.wanted == Some(self.numbers.len() as u64) {
                return Some(true);
            }
        }
        Some(false)
    }

    pub(super) fn parts(&self, size: u64) -> Option<Parts> {
        Parts::of_pairs(&self.numbers, size)
    }
}
