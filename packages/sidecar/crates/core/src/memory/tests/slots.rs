//! Clean slots of saved images: kept for the next copy, and given up for whoever needs the room.

use super::saves::{Machine, SMALL, assert_all_given_back};
use super::*;
use std::time::Duration;

/// A saved memory with clean slots for two copies.
fn with_slots(image: &TestImage, mark: u8) -> Arc<Image> {
    let mut machine = Machine::fresh(image);
    machine.write(mark as usize % 50 * PAGE, PAGE, mark);
    let (saved, model) = machine.save();
    drop((Machine::new(&saved, model.clone()), Machine::new(&saved, model)));
    saved
}

fn waiting(images: &[Arc<Image>]) -> usize {
    images.iter().map(|image| image.pool().waiting()).sum()
}

#[test]
fn slots_that_wait_make_way_for_whoever_begins() {
    // Forty memories, and never as many at once.
    let few = Budget::with(6 * 40, 1_000, SMALL);
    let image = TestImage::new(1, &few, 0);
    let kept: Vec<_> = (0..60).map(|mark| with_slots(&image, mark)).collect();
    assert!(waiting(&kept) > 0 && waiting(&kept) <= 80, "{}", waiting(&kept));
    let mut live: Vec<Machine> = (0..25).map(|_| Machine::fresh(&image)).collect();
    assert_eq!(waiting(&kept[..10]), 0, "those that were unused for longest went");
    // One that grows needs room as well.
    live.iter_mut().for_each(|machine| machine.grow(8));
    live.iter().for_each(Machine::check);
    let model = kept[3].memory();
    drop(live);
    drop(Machine::new(&kept[3], model));
    assert_eq!(kept[3].pool().waiting(), 1, "it keeps slots again");
    drop(kept);
    drop(image);
    assert_all_given_back(&few, (0, 0));
}

#[test]
fn slots_are_kept_for_some_saved_memories_and_not_for_all_there_are() {
    let budget = Budget::with(60_000, 1_000, SMALL);
    let image = TestImage::new(2, &budget, 3);
    let kept: Vec<_> = (0..200).map(|mark| with_slots(&image, mark)).collect();
    let with = kept.iter().filter(|image| image.pool().waiting() > 0).count();
    assert!((1..=64).contains(&with), "{with}");
    assert!(kept[199].pool().waiting() > 0, "the last one");
    budget.keeper().let_go(Duration::from_secs(3_600));
    assert!(waiting(&kept) > 0, "they were used a moment ago");
    budget.keeper().let_go(Duration::ZERO);
    assert_eq!(waiting(&kept), 0);
    assert!(image.image.pool().waiting() > 0, "those of the installation's image stay");
}
