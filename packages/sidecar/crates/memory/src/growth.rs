//! The growth of a memory beyond its image. A save freezes the file of a large growth instead of
//! copying the growth. Next: `gate.rs`.
//!
//! Growth of at most [`super::Policy::plain`] bytes uses anonymous pages of zeros, the cheapest
//! pages. Most programs never need more. Further growth uses a file in memory that this VM alone
//! has mapped. The first access to a page of the file costs half as much again as for an anonymous
//! page. But a save does not copy the pages of the file. The save freezes the file, which becomes a
//! part of the saved memory. The guest continues with a copy-on-write view of the file (`save.rs`).
//! A heap of 500 MB is saved in milliseconds and needs no second 500 MB. When ten VMs copied such
//! heaps at once, the copies took seconds.
//!
//! ```text
//! image                 plain            frozen by saves     open
//! |=====================|.. zeros ......|== file, private ==|== file, shared ==|
//! ```

use super::Charge;
use crate::image::{Extent, Image, Piece, bytes, join};
use coldframe_error::Error;
use coldframe_sys::{self as sys, Run};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// The number of mappings of a file: the file's mapping, and a mapping of zeros behind the file if
/// no further file is available.
const MAPPINGS: u64 = 2;

/// The growth of one memory.
#[derive(Debug, Default)]
pub struct Growth {
    /// The files that are part of saved memories. Sorted.
    frozen: Vec<Extent>,
    open: Option<Open>,
}

/// A file that stores growth. No save has frozen the file.
#[derive(Debug)]
struct Open {
    file: File,
    at: usize,
    len: usize,
    descriptor: Charge,
}

impl Growth {
    /// Makes `from..to` of the memory at `base` accessible. `mappings` is the slot's charge.
    ///
    /// # Safety
    /// The caller owns the reservation at `base`. The range is inside the reservation and behind
    /// all used memory.
    pub unsafe fn grow(&mut self, image: &Image, base: usize, from: usize, to: usize, mappings: &mut Charge) -> io::Result<()> {
        if to - image.len() > image.budget().policy.plain && self.open.is_none() {
            self.open = open(image, from, mappings);
        }
        // SAFETY: the caller's promise covers both calls. No other code refers to the file.
        unsafe {
            match &mut self.open {
                Some(open) if open.at + open.len == from => {
                    open.file.set_len((to - open.at) as u64)?;
                    sys::map_shared(base + from, open.file.as_fd(), open.len as u64, to - from)?;
                    open.len = to - open.at;
                    Ok(())
                }
                // There is no open file, or an earlier growth after the file's end was not mapped
                // from the file.
                _ => sys::allow(base + from, to - from),
            }
        }
    }

    /// Returns the range of the open file in the memory.
    pub fn open_range(&self) -> Option<Run> {
        self.open.as_ref().map(|open| Run { offset: open.at, len: open.len })
    }

    /// Returns the frozen files.
    pub fn frozen(&self) -> &[Extent] {
        &self.frozen
    }

    /// Maps `range` of the open file again, copy-on-write.
    ///
    /// # Safety
    /// The conditions of [`Growth::grow`] apply to a range inside [`Growth::open_range`], and no
    /// guest runs in the memory.
    pub unsafe fn detach(&self, base: usize, range: Run) -> io::Result<()> {
        let Some(open) = &self.open else { return Ok(()) };
        let offset = (range.offset - open.at) as u64;
        // SAFETY: the caller's promise covers both calls. The freed pages are in the file.
        unsafe {
            sys::let_go(base + range.offset, range.len);
            sys::map_private(base + range.offset, open.file.as_fd(), offset, range.len)
        }
    }

    /// Freezes the open file, which must be completely detached.
    pub fn freeze(&mut self, image: &Image) -> io::Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        sys::seal(&open.file)?;
        let parts = sys::touched_parts(&open.file, open.len)?;
        // Each part of the file costs one mapping in every memory that is made from the file.
        // Joined parts need fewer mappings, but a read of the gap between joined parts can allocate
        // a page.
        let parts = join(&parts, HOLE, PARTS);
        let held = bytes(&parts) as u64;
        let piece = Piece::with_holes(open.file, (open.len as u64, held), image.budget(), open.descriptor);
        self.frozen.extend(parts.iter().map(|part| Extent {
            at: open.at + part.offset,
            len: part.len,
            piece: piece.clone(),
            offset: part.offset as u64,
        }));
        Ok(())
    }
}

/// The largest gap, in bytes, between two parts that are mapped as one part.
const HOLE: usize = 1 << 20;
/// The largest number of parts of a file.
const PARTS: usize = 8;

/// Opens a file for growth from the offset `at`. Returns `None` if the budget has no descriptor or
/// mappings for the file, or if the system refuses the file. The memory then grows without a file.
fn open(image: &Image, at: usize, mappings: &mut Charge) -> Option<Open> {
    let descriptor = image.budget().charge(0, 1).ok()?;
    let file = sys::memory_file().ok()?;
    let charged: Result<(), Error> = mappings.add_mappings(MAPPINGS);
    charged.ok()?;
    Some(Open { file, at, len: 0, descriptor })
}
