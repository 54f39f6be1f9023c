//! A file's bytes: chunks in a persistent map. A range without writes has no chunk.
//!
//! A clone of the content shares the chunks with the original. A write to a shared chunk copies
//! only this chunk. A chunk ends after its last written byte, so a small file uses little memory.
//!
//! `stored` counts for the limit: the bytes of all chunks. Each chunk except the chunk 0 counts at
//! least [`LEAST`] bytes, because every chunk uses at least that much memory. The limit on inodes
//! bounds the number of chunks 0. A range without a chunk does not count. Reading and writing
//! charge steps (`steps.rs`). Next: `node.rs`.

use crate::steps;
use coldframe_error::Errno;
use rpds::RedBlackTreeMapSync;
use std::sync::Arc;

/// The size of a chunk in bytes. A write after a snapshot copies a whole chunk. Allocations of this
/// size are on the allocator's heap, without a mapping of their own.
pub(crate) const CHUNK: usize = 64 << 10;

/// The minimum number of bytes that a chunk counts: a page, as in Linux's tmpfs. The number covers
/// the entry in the map and the allocation, and bounds the time of removing all chunks.
const LEAST: usize = 4_096;

/// The content of one file.
#[derive(Clone)]
pub(crate) struct Content {
    len: u64,
    stored: u64,
    chunks: RedBlackTreeMapSync<u64, Arc<Vec<u8>>>,
}

impl Content {
    pub(crate) fn new() -> Self {
        Self { len: 0, stored: 0, chunks: RedBlackTreeMapSync::new_sync() }
    }

    /// Returns the content of a file with `bytes`.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut content = Self::new();
        // The content belongs to no call, so the write cannot fail.
        let _ = content.write(0, bytes, u64::MAX);
        content
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the bytes that count for the limit.
    pub(crate) fn stored(&self) -> u64 {
        self.stored
    }

    /// Fills `buffer` with the bytes from `offset`. Returns the number of bytes, which is smaller
    /// than the buffer at the file's end, and when the steps of the call are used up. Fails with
    /// `ELOOP` if the steps do not suffice for a byte.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        let rest = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let count = rest.min(buffer.len());
        let mut at = offset;
        let mut left = &mut buffer[..count];
        while !left.is_empty() {
            let (index, start) = place(at);
            let len = left.len().min(CHUNK - start);
            if let Err(error) = steps::take_bytes(len) {
                return if at == offset { Err(error) } else { Ok((at - offset) as usize) };
            }
            let (piece, others) = left.split_at_mut(len);
            let chunk = self.chunks.get(&index).map_or(&[][..], |chunk| chunk);
            let held = chunk.get(start..).unwrap_or_default();
            let held = &held[..held.len().min(piece.len())];
            piece[..held.len()].copy_from_slice(held);
            piece[held.len()..].fill(0);
            at += piece.len() as u64;
            left = others;
        }
        Ok(count)
    }

    /// Writes bytes at `offset`. `stored` grows by at most `room`. Returns the number of bytes
    /// written, which is smaller than requested if `room` is too small or the steps of the call are
    /// used up. Fails with `ELOOP` if the steps do not suffice for a byte.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8], room: u64) -> Result<usize, Errno> {
        let mut left = bytes;
        let mut at = offset;
        let mut room = room;
        while !left.is_empty() {
            let (index, start) = place(at);
            let wanted = left.len().min(CHUNK - start);
            let held = self.chunks.get(&index).map_or(0, |chunk| chunk.len());
            let most = usize::try_from(room).unwrap_or(usize::MAX).saturating_add(cost(index, held));
            let end = (start + wanted).min(most);
            if end <= start || cost(index, end) > most {
                break;
            }
            if let Err(error) = steps::take_bytes(end - start) {
                return if at == offset { Err(error) } else { Ok(bytes.len() - left.len()) };
            }
            let grown = (cost(index, end.max(held)) - cost(index, held)) as u64;
            let (piece, others) = left.split_at(end - start);
            self.put(index, start, piece);
            (self.stored, room) = (self.stored + grown, room - grown);
            at += piece.len() as u64;
            self.len = self.len.max(at);
            left = others;
        }
        Ok(bytes.len() - left.len())
    }

    /// Writes bytes that are within one chunk.
    fn put(&mut self, index: u64, start: usize, piece: &[u8]) {
        if !self.chunks.contains_key(&index) {
            self.chunks.insert_mut(index, Arc::default());
        }
        let Some(chunk) = self.chunks.get_mut(&index) else { return };
        let chunk = Arc::make_mut(chunk);
        let end = start + piece.len();
        if chunk.capacity() < end {
            // The spare capacity does not count for the limit, so the capacity grows by an eighth.
            chunk.reserve_exact((end + end / 8).next_multiple_of(64).min(CHUNK) - chunk.len());
        }
        if chunk.len() < end {
            chunk.resize(end, 0);
        }
        chunk[start..end].copy_from_slice(piece);
    }

    /// Returns the offsets and lengths of the stored ranges, in order. All other bytes of the file
    /// are zeros.
    pub(crate) fn extents(&self) -> Vec<(u64, u64)> {
        let mut extents: Vec<(u64, u64)> = Vec::new();
        for (index, chunk) in &self.chunks {
            let (offset, len) = (index * CHUNK as u64, chunk.len() as u64);
            match extents.last_mut().filter(|(begin, before)| begin + before == offset) {
                Some((_, before)) => *before += len,
                None => extents.push((offset, len)),
            }
        }
        extents
    }

    /// Returns the stored chunks with their indexes, in order.
    pub(super) fn chunks(&self) -> impl ExactSizeIterator<Item = (u64, &[u8])> {
        self.chunks.iter().map(|(index, chunk)| (*index, &chunk[..]))
    }

    /// Makes a file of `len` bytes from chunks. Returns `None` if no file can have these chunks.
    pub(super) fn of_chunks<'a>(len: u64, chunks: impl Iterator<Item = (u64, &'a [u8])>) -> Option<Self> {
        let mut made = Self { len, ..Self::new() };
        let mut least = 0;
        for (index, bytes) in chunks {
            let end = index.checked_mul(CHUNK as u64)?.checked_add(bytes.len() as u64)?;
            if index < least || end > len || bytes.is_empty() || bytes.len() > CHUNK {
                return None;
            }
            least = index + 1;
            made.stored += cost(index, bytes.len()) as u64;
            made.chunks.insert_mut(index, Arc::new(bytes.to_vec()));
        }
        Some(made)
    }

    /// Sets the file's length to `len`. Added bytes are zeros and use no chunk.
    pub(crate) fn truncate(&mut self, len: u64) {
        if len < self.len {
            let (index, keep) = place(len);
            if self.chunks.range(..index).count() * 2 < self.chunks.size() {
                // Most chunks are removed, so a new map of the others takes less time.
                let kept = self.chunks.range(..=index).map(|(index, chunk)| (*index, chunk.clone())).collect();
                let before = std::mem::replace(&mut self.chunks, kept);
                self.stored -= before.range(index + 1..).map(|(index, chunk)| cost(*index, chunk.len()) as u64).sum::<u64>();
            }
            let beyond: Vec<u64> = self.chunks.range(index..).map(|(index, _)| *index).collect();
            for other in beyond {
                let held = self.chunks.get(&other).map_or(0, |chunk| chunk.len());
                if other > index || keep == 0 {
                    self.chunks.remove_mut(&other);
                    self.stored -= cost(other, held) as u64;
                } else if let Some(chunk) = self.chunks.get_mut(&other).filter(|_| held > keep) {
                    let chunk = Arc::make_mut(chunk);
                    chunk.truncate(keep);
                    chunk.shrink_to(keep);
                    self.stored -= (cost(other, held) - cost(other, keep)) as u64;
                }
            }
        }
        self.len = len;
    }
}

/// Returns the bytes of the limit that the chunk `index` of length `len` uses.
fn cost(index: u64, len: usize) -> usize {
    if index == 0 || len == 0 { len } else { len.max(LEAST) }
}

/// Returns the index of the chunk with the byte `at`, and the byte's offset in the chunk.
fn place(at: u64) -> (u64, usize) {
    (at / CHUNK as u64, (at % CHUNK as u64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(content: &Content) -> Vec<u8> {
        let mut bytes = vec![1; content.len() as usize];
        assert_eq!(content.read(0, &mut bytes), Ok(bytes.len()));
        bytes
    }

    #[test]
    fn unwritten_ranges_read_as_zeros_and_cost_nothing() {
        let mut content = Content::new();
        let far = 5 * CHUNK as u64 + 10;
        assert_eq!(content.write(far, b"end", u64::MAX), Ok(3));
        assert_eq!((content.len(), content.stored()), (far + 3, LEAST as u64));
        let bytes = all(&content);
        assert!(bytes[..far as usize].iter().all(|byte| *byte == 0));
        assert_eq!(&bytes[far as usize..], b"end");
    }

    #[test]
    fn refuses_chunks_that_no_file_can_have() {
        let of = |len: u64, chunks: &[(u64, usize)]| {
            let chunks: Vec<_> = chunks.iter().map(|(index, len)| (*index, vec![7; *len])).collect();
            Content::of_chunks(len, chunks.iter().map(|(index, bytes)| (*index, &bytes[..])))
        };
        let far = 3 * CHUNK as u64;
        let made = of(far + 5, &[(1, CHUNK), (3, 5)]).expect("a file with holes");
        assert_eq!((made.len(), made.stored()), (far + 5, (CHUNK + LEAST) as u64));
        assert_eq!(all(&made)[CHUNK - 1..=CHUNK], [0, 7]);
        for wrong in [&[(3, 6)][..], &[(0, 0)], &[(0, CHUNK + 1)], &[(1, 1), (1, 1)], &[(1, 1), (0, 1)], &[(u64::MAX / 2, 1)]] {
            assert!(of(far + 5, wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn a_write_stops_at_the_limit_of_new_bytes() {
        let mut content = Content::of(b"0123");
        assert_eq!(content.write(2, b"abcdef", 3), Ok(5), "two bytes replace old bytes, three are new");
        assert_eq!(all(&content), b"01abcde");
        assert_eq!(content.write(7, b"x", 0), Ok(0));
        assert_eq!(content.write(0, b"AB", 0), Ok(2));
        assert_eq!(content.stored(), 7);
    }

    #[test]
    fn truncating_returns_space_and_cut_bytes_read_as_zeros_later() {
        let mut content = Content::of(&vec![7; 2 * CHUNK + 5]);
        let shared = content.clone();
        content.truncate(CHUNK as u64 + 1);
        assert_eq!(content.stored(), (CHUNK + LEAST) as u64);
        content.truncate(2 * CHUNK as u64);
        assert_eq!(content.stored(), (CHUNK + LEAST) as u64);
        assert_eq!(all(&content)[CHUNK..CHUNK + 3], [7, 0, 0]);
        content.truncate(0);
        assert_eq!((content.len(), content.stored()), (0, 0));
        assert_eq!(all(&shared), vec![7; 2 * CHUNK + 5], "a clone keeps its bytes");
    }
}
