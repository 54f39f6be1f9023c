//! The layout of a new memory: the mapped runs, and the runs that are written over them.
//!
//! A saved memory is the image, overlaid with a dozen small runs. To map such a run, a new memory
//! needs two mappings for its whole life, and each mapping takes 3 µs. The guest writes the pages
//! of these runs first, which makes the pages private anyway. Therefore the thread that runs the
//! guest writes small runs into the memory before the guest's first turn (`../slot.rs`), and only
//! large runs are mapped. Next: `gather.rs`, for images that are cloned often.

use super::{Extent, Image, overlay};
use coldframe_sys::{PAGE, Run};
use std::sync::Arc;

/// The longest written run. Longer runs are mapped.
const MAX_WRITTEN_RUN: usize = 16 * PAGE;
/// The largest number of written bytes. Every memory has its own copy of these bytes.
const MAX_WRITTEN: usize = 64 * PAGE;

/// The layout of a new memory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The mapped runs.
    pub mapped: Arc<[Extent]>,
    /// The runs that differ from the mapping. Sorted, not touching.
    pub written: Arc<[Run]>,
}

impl Layout {
    /// Returns a layout that maps all runs.
    pub(super) fn of(mapped: Arc<[Extent]>) -> Self {
        Self { mapped, written: Arc::default() }
    }
}

impl Image {
    /// Returns the layout of a memory made of `own`.
    pub(super) fn lay_out(&self, own: &Arc<[Extent]>) -> Layout {
        let mut small: Vec<&Extent> =
            own.iter().filter(|extent| extent.len <= MAX_WRITTEN_RUN && !self.origin.holds(extent)).collect();
        small.sort_by_key(|extent| extent.len);
        let mut left = MAX_WRITTEN;
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
