//! Sparse files: an archive stores only some parts of the file's data. The parts are in order, do
//! not overlap and are within the file. Next: `reader.rs`.

use super::pax::number;
use tar::GnuSparseHeader;

/// The maximum number of parts of one file. The bound limits the memory that an archive can make
/// the kernel use.
pub(super) const MOST: usize = 1 << 18;

/// The list of a file's parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// The offset and the length of each part in the file.
    list: Vec<(u64, u64)>,
    /// The total length of all parts.
    total: u64,
    /// The index of the part that the last lookup found, and the total length of all earlier parts.
    current: (usize, u64),
}

impl Parts {
    /// Adds a part. Returns `None` if the part starts before the end of the last part, exceeds the
    /// file, or the list is full.
    pub(super) fn add(&mut self, offset: u64, len: u64, size: u64) -> Option<()> {
        let end = offset.checked_add(len).filter(|end| *end <= size)?;
        let before = self.list.last().map_or(0, |(offset, len)| offset + len);
        if offset < before || self.list.len() >= MOST || end > i64::MAX as u64 {
            return None;
        }
        // GNU ends a list with an empty part at the end of the file.
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

    /// Adds the parts of a header in GNU's old format. Returns `None` if the list is malformed.
    pub(super) fn add_headers(&mut self, headers: &[GnuSparseHeader], size: u64) -> Option<()> {
        for header in headers.iter().filter(|header| !header.is_empty()) {
            self.add(header.offset().ok()?, header.length().ok()?, size)?;
        }
        Some(())
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the offset in the file of byte `at` of the stored data. Also returns the number of
    /// stored bytes from `at` to the end of the part. Returns `None` beyond the last part. `at`
    /// must not decrease between calls.
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

/// Decodes the list of parts that precedes an entry's data in version 1.0 of GNU's format. Each
/// line is a number. The first number is the number of parts.
#[derive(Debug, Default)]
pub(super) struct Map {
    text: Vec<u8>,
    wanted: Option<u64>,
    numbers: Vec<u64>,
}

impl Map {
    /// Decodes one block. Returns whether the list is complete. Returns `None` if the list is
    /// malformed.
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
