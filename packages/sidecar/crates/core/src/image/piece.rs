//! A file that holds parts of memories: an image's own, one in memory that a save has filled, or one on disk. Never written once it is here.
//!
//! Slots map it copy-on-write; whoever copies out of it reads through a view, which is mapped at the first use, because most pieces need none.
//! Next: `extents.rs`, which says what of it lies where in a memory.

use crate::memory::{Budget, Charge};
use coldframe_error::Error;
use coldframe_sys as sys;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, OnceLock};

/// See the module.
#[derive(Debug)]
pub(crate) struct Piece {
    file: File,
    len: u64,
    /// Bytes of memory that it takes for as long as anybody needs a page of it. None for a file on disk.
    held: u64,
    budget: Arc<Budget>,
    /// Once it could be mapped: what is refused now may be granted later.
    view: OnceLock<View>,
    /// The descriptor's place in the budget.
    _charge: Charge,
}

/// The file mapped for reading.
#[derive(Debug)]
struct View {
    base: usize,
    len: usize,
    _charge: Charge,
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the view is a mapping of its own; a slice of it does not outlive the piece (see `bytes`).
        unsafe { sys::release(self.base, self.len) };
    }
}

impl Piece {
    /// A file on disk of which `len` bytes are used.
    pub(crate) fn new(file: File, len: u64, budget: &Arc<Budget>) -> Result<Arc<Self>, Error> {
        let charge = budget.charge(0, 1)?;
        Ok(Self::made(file, (len, 0), budget, charge))
    }

    /// A file in memory of `len` bytes, all of them written. `charge` is for its descriptor.
    pub(crate) fn in_memory(file: File, len: u64, budget: &Arc<Budget>, charge: Charge) -> Arc<Self> {
        Self::made(file, (len, len), budget, charge)
    }

    /// The same for one with holes: `held` bytes are written.
    pub(crate) fn with_holes(file: File, (len, held): (u64, u64), budget: &Arc<Budget>, charge: Charge) -> Arc<Self> {
        Self::made(file, (len, held), budget, charge)
    }

    fn made(file: File, (len, held): (u64, u64), budget: &Arc<Budget>, charge: Charge) -> Arc<Self> {
        Arc::new(Self { file, len, held, budget: budget.clone(), view: OnceLock::new(), _charge: charge })
    }

    /// Bytes of memory that it takes until nobody needs any of it.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// A part of it; `None` when it does not exist or cannot be mapped now.
    pub(crate) fn bytes(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let view = self.view().ok()?;
        let offset = usize::try_from(offset).ok()?;
        offset.checked_add(len).filter(|end| *end <= view.len)?;
        // SAFETY: the range lies inside the view (just checked), which is mapped for as long as `self` lives and which nobody writes.
        Some(unsafe { std::slice::from_raw_parts((view.base + offset) as *const u8, len) })
    }

    /// Maps it for whoever will read it, or says why that cannot be.
    pub(crate) fn make_readable(&self) -> Result<(), Error> {
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
        // Of two that map it at once, one unmaps again.
        Ok(self.view.get_or_init(|| View { base, len, _charge: charge }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Policy;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_could_not_be_mapped_can_be_read_later() {
        let budget = Budget::with(1, 10, Policy::default());
        let file = sys::memory_file().expect("a file in memory");
        file.write_all_at(&[7; sys::PAGE], 0).expect("written");
        let piece = Piece::new(file, sys::PAGE as u64, &budget).expect("a piece");
        let all = budget.charge(1, 0).expect("room");
        assert_eq!(piece.bytes(0, 1), None);
        assert_eq!(piece.make_readable().map_err(|error| error.code()), Err("ERR_RESOURCE_EXHAUSTED"));
        drop(all);
        assert_eq!(piece.bytes(1, 2), Some(&[7, 7][..]));
        assert_eq!(piece.bytes(1, sys::PAGE), None, "it ends there");
        assert_eq!(budget.mappings(), 1);
        drop(piece);
        assert_eq!(budget.mappings(), 0);
    }
}
