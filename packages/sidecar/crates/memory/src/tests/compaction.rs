//! Tests of compaction: a save does not keep a mostly overwritten piece, and `own_bytes` is never
//! less than the memory that the pieces occupy.

use super::saves::{LARGEST, Machine, SMALL};
use super::*;
use crate::Policy;
use std::collections::HashMap;
use std::os::fd::AsRawFd;

/// The thresholds of these tests. Saves never flatten, so that only compaction rewrites pieces.
const SHARING: Policy = Policy { scattered: usize::MAX, ..SMALL };
const PAGES: usize = LARGEST / PAGE;

/// Returns the bytes of memory in the pieces of `images`, each piece counted once.
fn piece_bytes(images: &[Arc<Image>], base: &Image) -> u64 {
    let mut files = HashMap::new();
    for extent in images.iter().flat_map(|image| image.own_extents(base)) {
        let path = format!("/proc/self/fd/{}", extent.piece.descriptor().as_raw_fd());
        let blocks = std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(path).expect("an open file"));
        files.insert(extent.piece.descriptor().as_raw_fd(), blocks * 512);
    }
    files.values().sum()
}

/// Makes a guest with a large memory, all of it written.
fn large(image: &TestImage) -> Machine {
    let mut machine = Machine::fresh(image);
    machine.grow(60);
    machine.write(0, LARGEST, 1);
    machine
}

#[test]
fn an_unwritten_page_does_not_keep_the_rest_of_its_piece() {
    let budget = Budget::with(60_000, 1_000, SHARING);
    let image = TestImage::new(1, &budget, 0);
    let mut machine = large(&image);
    for round in 0..30 {
        // Each round leaves out three further pages. No later round writes these pages.
        machine.write((round + 1) * 3 * PAGE, LARGEST, round as u8);
        let (saved, model) = machine.snapshot();
        assert!(saved.memory().expect("a view") == model);
        assert!(saved.own_bytes(&image.image) < 3 * LARGEST as u64, "{}", saved.own_bytes(&image.image));
        assert!(budget.descriptors() < 6, "round {round}: {}", budget.descriptors());
    }
    machine.check();
}

#[test]
fn own_bytes_are_at_least_the_bytes_that_the_pieces_occupy() {
    let budget = Budget::with(60_000, 1_000, SHARING);
    let image = TestImage::new(2, &budget, 0);
    let mut machine = large(&image);
    let mut kept = Vec::new();
    for round in 0..40_usize {
        for page in (round % 7..PAGES).step_by(1 + round % 5) {
            machine.write(page * PAGE, 1, round as u8);
        }
        kept.push(machine.snapshot().0);
        if round % 3 == 2 {
            drop(kept.remove(round * 5 % kept.len()));
        }
        let reported: u64 = kept.iter().map(|saved| saved.own_bytes(&image.image)).sum();
        let occupied = piece_bytes(&kept, &image.image);
        assert!(reported >= occupied, "round {round}: {reported} of {occupied}");
        let lengths: u64 = kept.iter().flat_map(|saved| saved.own_extents(&image.image)).map(|extent| extent.len as u64).sum();
        assert!(reported < 3 * lengths, "not much more than the lengths: {reported} of {lengths}");
    }
}

#[test]
fn clones_that_write_little_keep_sharing_a_mostly_overwritten_piece() {
    let budget = Budget::with(60_000, 1_000, SHARING);
    let image = TestImage::new(3, &budget, 0);
    let mut machine = large(&image);
    drop(machine.snapshot());
    // The write covers less than half of the piece.
    machine.write(0, PAGES * 2 / 5 * PAGE, 2);
    let (parent, model) = machine.snapshot();
    for round in 0..5 {
        let mut copy = Machine::new(&parent, model.clone());
        copy.write(PAGES / 2 * PAGE, PAGES / 5 * PAGE, round);
        let save = copy.occupied.snapshot().expect("a save");
        let written = PAGES / 5 * PAGE;
        assert!(save.copied <= 2 * written + 20 * PAGE, "{} for {written}", save.copied);
        assert!(save.image.memory().expect("a view") == copy.model);
        copy.check();
    }
}
