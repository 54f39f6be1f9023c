//! A piece: a file that stores parts of memories. A piece is an image's file, a file in memory that
//! a save has filled, or a file on disk. The bytes of a piece never change.
//!
//! Slots map a piece copy-on-write. Copying reads through a view, which is mapped at the first use,
//! because most pieces need no view. Next: `extents.rs`, which places parts of pieces in a memory.

use crate::{Budget, Charge};
use coldframe_error::Error;
use coldframe_sys as sys;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, OnceLock};

/// A file that stores parts of memories.
#[derive(Debug)]
pub struct Piece {
    file: File,
    len: u64,
    /// The bytes of memory that the piece occupies until its last user is dropped. 0 for a file on
    /// disk.
    held: u64,
    budget: Arc<Budget>,
    /// Set by the first successful mapping, because a refused mapping may succeed later.
    view: OnceLock<View>,
    /// The charge for the descriptor.
    _charge: Charge,
}

/// A mapping of the file for reading.
#[derive(Debug)]
struct View {
    base: usize,
    len: usize,
    _charge: Charge,
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the view is a mapping of its own. A slice of the view does not outlive the piece
        // (see `bytes`).
        unsafe { sys::release(self.base, self.len) };
    }
}

impl Piece {
    /// Makes the piece of a file on disk, of which `len` bytes are used.
    pub fn new(file: File, len: u64, budget: &Arc<Budget>) -> Result<Arc<Self>, Error> {
        let charge = budget.charge(0, 1)?;
        Ok(Self::made(file, (len, 0), budget, charge))
    }

    /// Makes the piece of a completely written file in memory of `len` bytes. `charge` is for its
    /// descriptor.
    pub fn in_memory(file: File, len: u64, budget: &Arc<Budget>, charge: Charge) -> Arc<Self> {
        Self::made(file, (len, len), budget, charge)
    }

    /// Makes the piece of a sparse file in memory. Only `held` bytes of the file were written.
    pub fn with_holes(file: File, (len, held): (u64, u64), budget: &Arc<Budget>, charge: Charge) -> Arc<Self> {
        Self::made(file, (len, held), budget, charge)
    }

    fn made(file: File, (len, held): (u64, u64), budget: &Arc<Budget>, charge: Charge) -> Arc<Self> {
        Arc::new(Self { file, len, held, budget: budget.clone(), view: OnceLock::new(), _charge: charge })
    }

    /// Returns the number of bytes of memory that the piece occupies while a page of the piece is
    /// used.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Returns the file's descriptor.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns a part of the piece. Returns `None` if the part does not exist or cannot be mapped
    /// now.
    pub fn bytes(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let view = self.view().ok()?;
        let offset = usize::try_from(offset).ok()?;
        offset.checked_add(len).filter(|end| *end <= view.len)?;
        // SAFETY: the range is inside the view (just checked). The view is mapped while `self`
        // exists, and no code writes to it.
        Some(unsafe { std::slice::from_raw_parts((view.base + offset) as *const u8, len) })
    }

    /// Maps the piece for reading, or returns the error of the mapping.
    pub fn make_readable(&self) -> Result<(), Error> {
        self.view().map(drop)
    }

    fn view(&self) -> Result<&View, Error> {
        if let Some(view) = self.view.get() {
            return Ok(view);
        }
        let exhausted = || Error::ResourceExhausted { resource: "memory mappings", limit: sys::max_mappings() };
        let len = usize::try_from(self.len).map_err(|_| exhausted())?;
        let charge = self.budget.charge(1, 0)?;
        let base = sys::map_readonly(self.file.as_fd(), 0, len).map_err(|_| exhausted())?;
        // If two threads map the piece at once, one mapping is dropped.
        Ok(self.view.get_or_init(|| View { base, len, _charge: charge }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_refused_mapping_can_succeed_later() {
        let budget = Budget::with(1, 10, Policy::default());
        let file = sys::memory_file().expect("a file in memory");
        file.write_all_at(&[7; sys::PAGE], 0).expect("written");
        let piece = Piece::new(file, sys::PAGE as u64, &budget).expect("a piece");
        let all = budget.charge(1, 0).expect("room");
        assert_eq!(piece.bytes(0, 1), None);
        assert_eq!(piece.make_readable().map_err(|error| error.code()), Err("ERR_RESOURCE_EXHAUSTED"));
        drop(all);
        assert_eq!(piece.bytes(1, 2), Some(&[7, 7][..]));
        assert_eq!(piece.bytes(1, sys::PAGE), None, "beyond the end");
        assert_eq!(budget.mappings(), 1);
        drop(piece);
        assert_eq!(budget.mappings(), 0);
    }
}
