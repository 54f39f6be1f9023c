//! Tests of the clean slots of saved images: the slots are kept for the next clone, and freed when
//! a VM needs the mappings.

use super::saves::{Machine, SMALL, assert_all_returned};
use super::*;
use std::time::Duration;

/// Makes a saved memory with clean slots for two clones.
fn with_slots(image: &TestImage, mark: u8) -> Arc<Image> {
    let mut machine = Machine::fresh(image);
    machine.write(mark as usize % 50 * PAGE, PAGE, mark);
    let (saved, model) = machine.snapshot();
    drop((Machine::new(&saved, model.clone()), Machine::new(&saved, model)));
    saved
}

fn waiting(images: &[Arc<Image>]) -> usize {
    images.iter().map(|image| image.pool().waiting()).sum()
}

#[test]
fn frees_clean_slots_when_a_new_vm_needs_mappings() {
    // The budget has mappings for forty memories. Sixty memories have two clean slots each.
    let few = Budget::with(6 * 40, 1_000, SMALL);
    let image = TestImage::new(1, &few, 0);
    let kept: Vec<_> = (0..60).map(|mark| with_slots(&image, mark)).collect();
    assert!(waiting(&kept) > 0 && waiting(&kept) <= 80, "{}", waiting(&kept));
    let mut live: Vec<Machine> = (0..25).map(|_| Machine::fresh(&image)).collect();
    assert_eq!(waiting(&kept[..10]), 0, "the longest unused slots were freed");
    // A memory that grows needs further mappings.
    live.iter_mut().for_each(|machine| machine.grow(8));
    live.iter().for_each(Machine::check);
    let model = kept[3].memory().expect("a view");
    drop(live);
    drop(Machine::new(&kept[3], model));
    assert_eq!(kept[3].pool().waiting(), 1, "the image keeps slots again");
    drop(kept);
    drop(image);
    assert_all_returned(&few, (0, 0));
}

#[test]
fn clean_slots_are_kept_for_a_bounded_number_of_saved_memories() {
    let budget = Budget::with(60_000, 1_000, SMALL);
    let image = TestImage::new(2, &budget, 3);
    let kept: Vec<_> = (0..200).map(|mark| with_slots(&image, mark)).collect();
    let with = kept.iter().filter(|image| image.pool().waiting() > 0).count();
    assert!((1..=64).contains(&with), "{with}");
    assert!(kept[199].pool().waiting() > 0, "the last image keeps slots");
    budget.keeper().free_unused(Duration::from_secs(3_600));
    assert!(waiting(&kept) > 0, "the slots were used within the hour");
    budget.keeper().free_unused(Duration::ZERO);
    assert_eq!(waiting(&kept), 0);
    assert!(image.image.pool().waiting() > 0, "the installation's image keeps its slots");
}
