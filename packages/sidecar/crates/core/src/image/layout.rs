//! How a new memory of an image is made: what is mapped, and what is written over that.
//!
//! A saved memory is the image with a dozen small runs laid over it. Mapping such a run costs a new memory two mappings, 3 µs each and for as long as it lives, and its
//! pages are the ones that the guest writes to first, which makes them its own anyway. So the small ones are written into the memory before its first turn
//! (`memory/slot.rs`), by whoever runs it and not by who makes it, and only the others are mapped. Next: `gather.rs`, for what is cloned often.

use super::{Extent, Image, overlay};
use coldframe_sys::{PAGE, Run};
use std::sync::Arc;

/// A run that is longer is mapped.
const LONGEST: usize = 16 * PAGE;
/// So much is written in all, at most: every memory has it for its own.
const MOST: usize = 64 * PAGE;

/// See the module. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) mapped: Arc<[Extent]>,
    /// What the mapping has other bytes for, or none. Sorted, not touching.
    pub(crate) written: Arc<[Run]>,
}

impl Layout {
    /// All of it is mapped.
    pub(super) fn of(mapped: Arc<[Extent]>) -> Self {
        Self { mapped, written: Arc::default() }
    }
}

impl Image {
    /// The layout of a memory that is made of `own`.
    pub(super) fn lay_out(&self, own: &Arc<[Extent]>) -> Layout {
        let mut small: Vec<&Extent> = own.iter().filter(|extent| extent.len <= LONGEST && !self.origin.holds(extent)).collect();
        small.sort_by_key(|extent| extent.len);
        let mut left = MOST;
        let fits = small.iter().take_while(|extent| left.checked_sub(extent.len).inspect(|rest| left = *rest).is_some()).count();
        small.truncate(fits);
        if small.is_empty() {
            return Layout::of(own.clone());
        }
        small.sort_by_key(|extent| extent.at);
        let is_written = |extent: &Extent| small.binary_search_by_key(&extent.at, |small| small.at).is_ok();
        let others: Vec<Extent> =
            own.iter().filter(|extent| !self.origin.holds(extent) && !is_written(extent)).cloned().collect();
        let mut written: Vec<Run> = Vec::with_capacity(small.len());
        for extent in small {
            match written.last_mut() {
                Some(last) if last.offset + last.len == extent.at => last.len += extent.len,
                _ => written.push(Run { offset: extent.at, len: extent.len }),
            }
        }
        Layout { mapped: overlay(std::slice::from_ref(&self.origin), &others).into(), written: written.into() }
    }
}
