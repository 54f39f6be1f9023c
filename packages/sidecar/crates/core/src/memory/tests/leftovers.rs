//! Files in memory of which most is overwritten: saves do without them, and what is said to be held is held.

use super::saves::{MOST, Machine, SMALL};
use super::*;
use crate::memory::Policy;
use std::collections::HashMap;
use std::os::fd::AsRawFd;

/// Nothing is put together anew but for this.
const SHARING: Policy = Policy { scattered: usize::MAX, ..SMALL };
const PAGES: usize = MOST / PAGE;

/// Bytes of memory in the files of these images, each counted once.
fn in_files(images: &[Arc<Image>], base: &Image) -> u64 {
    let mut files = HashMap::new();
    for extent in images.iter().flat_map(|image| image.own_extents(base)) {
        let path = format!("/proc/self/fd/{}", extent.piece.descriptor().as_raw_fd());
        let blocks = std::os::unix::fs::MetadataExt::blocks(&std::fs::metadata(path).expect("an open file"));
        files.insert(extent.piece.descriptor().as_raw_fd(), blocks * 512);
    }
    files.values().sum()
}

/// A guest with a large memory, all of it written.
fn large(image: &TestImage) -> Machine {
    let mut machine = Machine::fresh(image);
    machine.grow(60);
    machine.write(0, MOST, 1);
    machine
}

#[test]
fn a_page_that_nobody_writes_does_not_keep_all_that_was_written_with_it() {
    let budget = Budget::with(60_000, 1_000, SHARING);
    let image = TestImage::new(1, &budget, 0);
    let mut machine = large(&image);
    for round in 0..30 {
        // All but three pages, which are never written again.
        machine.write((round + 1) * 3 * PAGE, MOST, round as u8);
        let (saved, model) = machine.save();
        assert!(saved.memory() == model);
        assert!(saved.own_bytes(&image.image) < 3 * MOST as u64, "{}", saved.own_bytes(&image.image));
        assert!(budget.descriptors() < 6, "round {round}: {}", budget.descriptors());
    }
    machine.check();
}

#[test]
fn what_saves_are_said_to_hold_is_not_less_than_they_do() {
    let budget = Budget::with(60_000, 1_000, SHARING);
    let image = TestImage::new(2, &budget, 0);
    let mut machine = large(&image);
    let mut kept = Vec::new();
    for round in 0..40_usize {
        for page in (round % 7..PAGES).step_by(1 + round % 5) {
            machine.write(page * PAGE, 1, round as u8);
        }
        kept.push(machine.save().0);
        if round % 3 == 2 {
            let forgotten = kept.remove(round * 5 % kept.len());
            drop(forgotten);
        }
        let said: u64 = kept.iter().map(|saved| saved.own_bytes(&image.image)).sum();
        let held = in_files(&kept, &image.image);
        assert!(said >= held, "round {round}: {said} of {held}");
        let alone: u64 = kept.iter().flat_map(|saved| saved.own_extents(&image.image)).map(|extent| extent.len as u64).sum();
        assert!(said < 3 * alone, "and not much more: {said} of {alone}");
    }
}

#[test]
fn copies_that_write_little_go_on_sharing_a_file_that_is_mostly_overwritten() {
    let budget = Budget::with(60_000, 1_000, SHARING);
    let image = TestImage::new(3, &budget, 0);
    let mut machine = large(&image);
    drop(machine.save());
    // Not yet half of it.
    machine.write(0, PAGES * 2 / 5 * PAGE, 2);
    let (parent, model) = machine.save();
    for round in 0..5 {
        let mut copy = Machine::new(&parent, model.clone());
        copy.write(PAGES / 2 * PAGE, PAGES / 5 * PAGE, round);
        let save = copy.lodging.save().expect("a save");
        let written = PAGES / 5 * PAGE;
        assert!(save.copied <= 2 * written + 20 * PAGE, "{} for {written}", save.copied);
        assert!(save.image.memory() == copy.model);
        copy.check();
    }
}
