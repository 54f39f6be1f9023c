//! Tests of saves, clones and rollbacks: after any steps, every byte of a memory equals the byte in
//! a plain copy of the expected content.

use super::*;
use crate::image::TURNS;
use crate::{OccupiedSlot, Policy};
use std::collections::VecDeque;

/// Thresholds so small that the tests use every way of saving.
pub(super) const SMALL: Policy = Policy { plain: 4 << 16, rebase: 20 * PAGE, scattered: 24, large: 30 * PAGE, spare: 0 };
/// The largest memory in these tests.
pub(super) const LARGEST: usize = 64 << 16;

fn budget() -> Arc<Budget> {
    Budget::with(60_000, 1_000, SMALL)
}

/// Asserts that the budget's used mappings and descriptors equal `left`. A background thread may
/// return some of the resources later, so the check is repeated.
pub(super) fn assert_all_returned(budget: &Budget, left: (u64, u64)) {
    let began = std::time::Instant::now();
    while (budget.mappings(), budget.descriptors()) != left && began.elapsed() < std::time::Duration::from_secs(20) {
        std::thread::yield_now();
    }
    assert_eq!((budget.mappings(), budget.descriptors()), left, "every mapping and descriptor is returned");
}

/// A guest without an engine: a memory and its expected content.
pub(super) struct Machine {
    pub(super) occupied: Arc<OccupiedSlot>,
    pub(super) model: Vec<u8>,
}

impl Machine {
    pub(super) fn new(image: &Arc<Image>, model: Vec<u8>) -> Self {
        let slot = image.pool().take(image).expect("a slot");
        let machine = Self { occupied: OccupiedSlot::new(slot, image.clone(), Arc::default(), Arc::default()), model };
        assert!(machine.occupied.prepare());
        machine.check();
        machine
    }

    pub(super) fn fresh(image: &TestImage) -> Self {
        Self::new(&image.image, image.image.memory().expect("a view"))
    }

    fn bytes(&self) -> &[u8] {
        let layout = self.occupied.layout().expect("a live slot");
        assert_eq!(layout.size, self.model.len());
        // SAFETY: the memory is mapped, and this machine owns it.
        unsafe { std::slice::from_raw_parts(layout.base as *const u8, layout.size) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let layout = self.occupied.layout().expect("a live slot");
        // SAFETY: the memory is mapped for reading and writing, and this machine owns it.
        unsafe { std::slice::from_raw_parts_mut(layout.base as *mut u8, layout.size) }
    }

    pub(super) fn check(&self) {
        let differing = self.bytes().iter().zip(&self.model).position(|(is, must)| is != must);
        assert_eq!(differing, None, "offset of the first wrong byte");
    }

    pub(super) fn write(&mut self, at: usize, len: usize, value: u8) {
        let at = at % self.model.len();
        let end = (at + len).min(self.model.len());
        self.bytes_mut()[at..end].fill(value);
        self.model[at..end].fill(value);
    }

    pub(super) fn grow(&mut self, pages: usize) {
        let size = (self.model.len() + (pages << 16)).min(LARGEST);
        self.occupied.grow_to(size).expect("growth");
        self.model.resize(size, 0);
    }

    pub(super) fn snapshot(&self) -> (Arc<Image>, Vec<u8>) {
        let save = self.occupied.snapshot().expect("a save");
        assert_eq!(save.image.len(), self.model.len());
        (save.image, self.model.clone())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Makes the pages that this machine wrote hot at once, so that these pages are made private
        // when the next VMs are prepared.
        self.occupied.learn(TURNS);
        drop(self.occupied.vacate());
    }
}

#[derive(Debug, Clone)]
enum Step {
    Write {
        at: usize,
        len: usize,
        value: u8,
    },
    Scatter {
        from: usize,
        stride: usize,
        value: u8,
    },
    Grow(usize),
    Save,
    /// Rolls back to the save with this number, modulo the number of saves.
    Rollback(usize),
    CloneOf(usize),
    Forget(usize),
    Flatten(usize),
    Gather(usize),
    Ungather(usize),
    Look,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = 0..8_usize;
    let step = prop_oneof![
        4 => (0..LARGEST, 1..40 * PAGE, any::<u8>()).prop_map(|(at, len, value)| Step::Write { at, len, value }),
        2 => (0..64 * PAGE, 1..40_usize, any::<u8>()).prop_map(|(from, stride, value)| Step::Scatter { from, stride, value }),
        2 => (0..6_usize).prop_map(Step::Grow),
        4 => Just(Step::Save),
        3 => number.clone().prop_map(Step::Rollback),
        2 => number.clone().prop_map(Step::CloneOf),
        1 => number.clone().prop_map(Step::Forget),
        1 => number.clone().prop_map(Step::Flatten),
        2 => number.clone().prop_map(Step::Gather),
        1 => number.prop_map(Step::Ungather),
        1 => Just(Step::Look),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn every_memory_equals_a_plain_copy_after_any_steps(steps in steps()) {
        let budget = budget();
        let image = TestImage::new(0x5a, &budget, 2);
        let mut machine = Machine::fresh(&image);
        let first = (image.image.clone(), image.image.memory().expect("a view"));
        let mut saved: VecDeque<(Arc<Image>, Vec<u8>)> = VecDeque::from([first]);
        let mut clones: VecDeque<Machine> = VecDeque::new();
        for step in steps {
            match step {
                Step::Write { at, len, value } => machine.write(at, len, value),
                Step::Scatter { from, stride, value } => {
                    for page in (from / PAGE..machine.model.len() / PAGE).step_by(stride) {
                        machine.write(page * PAGE + 9, 3, value);
                    }
                }
                Step::Grow(pages) => machine.grow(pages),
                Step::Save => {
                    saved.push_back(machine.snapshot());
                    machine.check();
                }
                Step::Rollback(which) => {
                    let (image, model) = saved[which % saved.len()].clone();
                    machine = Machine::new(&image, model);
                }
                Step::CloneOf(which) => {
                    let (image, model) = saved[which % saved.len()].clone();
                    let mut clone = Machine::new(&image, model);
                    clone.write(which * 7 * PAGE, 5 * PAGE, 0xee);
                    clones.push_back(clone);
                    if clones.len() > 3 {
                        clones.pop_front();
                    }
                }
                // The first entry, the installation's image, is kept.
                Step::Forget(which) if saved.len() > 1 => drop(saved.remove(1 + which % (saved.len() - 1))),
                Step::Forget(_) => {}
                Step::Flatten(which) => saved[which % saved.len()].0.flatten().expect("flatten"),
                Step::Gather(which) => {
                    let (image, model) = &saved[which % saved.len()];
                    image.gather(Image::copy_of_origin(&image.origin).expect("a copy")).expect("gathered");
                    clones.push_back(Machine::new(image, model.clone()));
                }
                Step::Ungather(which) => saved[which % saved.len()].0.ungather(),
                Step::Look => {
                    machine.check();
                    clones.iter().for_each(Machine::check);
                }
            }
        }
        machine.check();
        clones.iter().for_each(Machine::check);
        for (image, model) in &saved {
            prop_assert!(image.memory().expect("a view") == *model, "a saved memory has changed");
        }
        drop((machine, clones));
        for _ in 0..2 {
            image.assert_pristine(&image.take());
        }
        drop(saved);
        drop(image);
        assert_all_returned(&budget, (0, 0));
    }
}

#[test]
fn a_save_freezes_the_file_of_the_growth_without_copying() {
    let image = TestImage::new(1, &budget(), 1);
    let mut machine = Machine::fresh(&image);
    machine.grow(4);
    machine.grow(20);
    let grown = machine.model.len();
    machine.write(MEMORY + (5 << 16), 300 * PAGE, 7);
    machine.write(5, 1, 9);
    let save = machine.occupied.snapshot().expect("a save");
    assert!(save.frozen >= 200 * PAGE && save.copied < 40 * PAGE, "{save:?}");
    machine.check();
    machine.write(MEMORY + (5 << 16), 10 * PAGE, 8);
    assert_eq!(save.image.memory().expect("a view")[MEMORY + (5 << 16)], 7, "the guest no longer writes to the saved memory");
    let again = machine.occupied.snapshot().expect("another");
    assert!(again.frozen == 0 && (10 * PAGE..60 * PAGE).contains(&again.copied), "{again:?}");
    assert_eq!(again.image.len(), grown);
    machine.check();
}

#[test]
fn after_a_large_save_the_next_save_copies_new_pages_only() {
    let image = TestImage::new(2, &budget(), 1);
    let mut machine = Machine::fresh(&image);
    machine.write(0, 40 * PAGE, 3);
    assert!(machine.occupied.snapshot().expect("a save").copied >= 40 * PAGE);
    machine.write(50 * PAGE, 1, 4);
    let second = machine.occupied.snapshot().expect("another");
    assert_eq!(second.copied, PAGE);
    assert!(second.image.memory().expect("a view") == machine.model);
    // The slot now belongs to the saved image. The slot returns to the pool of the saved image, not
    // to the pool of the installation's image.
    let owner = machine.occupied.image().expect("a live slot");
    drop(machine);
    assert_eq!((owner.pool().waiting(), image.image.pool().waiting()), (1, 0));
    let mut slot = owner.pool().take(&owner).expect("a slot");
    assert!(slot.prepare(&owner));
    // SAFETY: the slot is mapped, and no guest writes to it.
    let bytes = unsafe { std::slice::from_raw_parts(slot.base() as *const u8, MEMORY) };
    assert!(bytes == &owner.memory().expect("a view")[..]);
    owner.pool().give_back(&owner, slot, MEMORY, false);
}

#[test]
fn many_small_saves_keep_the_number_of_runs_bounded() {
    let image = TestImage::new(3, &budget(), 1);
    let mut machine = Machine::fresh(&image);
    machine.grow(40);
    for round in 0..60_usize {
        for page in 0..25 {
            machine.write(((round * 37 + page * 21) % (LARGEST / PAGE)) * PAGE, 1, round as u8);
        }
        let (saved, model) = machine.snapshot();
        assert!(saved.extents().len() <= SMALL.scattered + 80, "{} runs", saved.extents().len());
        if round % 4 == 3 {
            let before = saved.extents().len();
            saved.flatten().expect("flatten");
            assert!(saved.extents().len() <= before);
        }
        assert!(saved.memory().expect("a view") == model);
        machine = Machine::new(&saved, model);
    }
}

#[test]
fn an_often_cloned_image_is_mapped_in_one_run_until_cloning_stops() {
    let budget = budget();
    let image = TestImage::new(7, &budget, 0);
    let mut machine = Machine::fresh(&image);
    for page in (0..60).step_by(12) {
        machine.write(page * PAGE, 1, 9);
    }
    machine.grow(1);
    machine.write(MEMORY + 3 * PAGE, 1, 8);
    let (saved, model) = machine.snapshot();
    let scattered = saved.extents().len();
    assert!(scattered >= 9, "{scattered} runs");
    let held = saved.own_bytes(&image.image);
    let gathered = || saved.to_map().mapped.len() <= 2 && saved.to_map().written.is_empty();
    let mut clones: Vec<Machine> = (0..16).map(|_| Machine::new(&saved, model.clone())).collect();
    for _ in 0..10_000 {
        if gathered() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(gathered(), "{} runs", saved.to_map().mapped.len());
    clones.push(Machine::new(&saved, model.clone()));
    assert_eq!(saved.extents().len(), scattered, "its extents stay");
    assert_eq!(saved.own_bytes(&image.image), held, "its size stays");
    // A machine whose image is mapped in one run can be saved and freed like any other machine.
    let last = clones.last_mut().expect("the last");
    last.write(30 * PAGE, 5, 1);
    let (again, changed) = last.snapshot();
    drop(Machine::new(&again, changed));
    clones.drain(..);
    drop(Machine::new(&saved, model.clone()));
    budget.keeper().free_unused(std::time::Duration::ZERO);
    assert!(!gathered());
    drop(Machine::new(&saved, model));
    drop((machine, saved, again));
    // The installation's image and a view of it remain.
    assert_all_returned(&budget, (1, 1));
}

#[test]
fn a_slot_that_was_never_prepared_is_complete_for_its_next_user() {
    let image = TestImage::new(5, &budget(), 1);
    let mut machine = Machine::fresh(&image);
    for page in (0..60).step_by(12) {
        machine.write(page * PAGE, 1, 9);
    }
    let (saved, model) = machine.snapshot();
    assert_eq!((saved.to_map().written.len(), saved.to_map().mapped.len()), (5, 1));
    for round in 0..3 {
        let slot = saved.pool().take(&saved).expect("a slot");
        let occupied = OccupiedSlot::new(slot, saved.clone(), Arc::default(), Arc::default());
        if round == 1 {
            occupied.grow_to(MEMORY + (1 << 16)).expect("growth");
        }
        drop(occupied.vacate());
        assert_eq!(saved.pool().waiting(), 1);
    }
    drop(Machine::new(&saved, model.clone()));
    let mut busy = Machine::new(&saved, model.clone());
    busy.write(0, MEMORY, 7);
    drop(busy);
    drop(Machine::new(&saved, model));
}

#[test]
fn an_error_names_a_missing_system_resource_and_no_state_is_lost() {
    let few = Budget::with(6 * 4, 3, SMALL);
    let image = TestImage::new(4, &few, 0);
    let mut machine = Machine::fresh(&image);
    machine.write(0, 30 * PAGE, 5);
    let saved = machine.snapshot();
    let clones: Vec<_> = (0..8).map_while(|_| saved.0.pool().take(&saved.0).ok()).collect();
    assert!(!clones.is_empty() && clones.len() < 4);
    let refused = saved.0.pool().take(&saved.0).map(|_| ());
    assert!(matches!(refused, Err(coldframe_error::Error::ResourceExhausted { .. })), "{refused:?}");
    machine.write(60 * PAGE, 1, 6);
    let held: Vec<_> = (0..4).map_while(|_| machine.occupied.snapshot().ok()).collect();
    assert!(held.len() < 4, "descriptors have a limit");
    let refused = machine.occupied.snapshot().map(|_| ());
    assert!(
        matches!(refused, Err(coldframe_error::Error::ResourceExhausted { resource: "memory descriptors", .. })),
        "{refused:?}"
    );
    machine.check();
    for slot in clones {
        saved.0.pool().give_back(&saved.0, slot, MEMORY, false);
    }
    drop(held);
    assert!(machine.snapshot().0.memory().expect("a view") == machine.model);
}

#[test]
fn a_copy_beyond_the_machines_memory_is_refused_and_the_guest_continues() {
    let crowded = Budget::with(1_000, 100, Policy { spare: u64::MAX, ..SMALL });
    let image = TestImage::new(4, &crowded, 0);
    let mut machine = Machine::fresh(&image);
    machine.write(0, 29 * PAGE, 5);
    drop(machine.snapshot());
    machine.write(0, 31 * PAGE, 6);
    let before = (crowded.mappings(), crowded.descriptors());
    let refused = machine.occupied.snapshot().map(|_| ());
    assert!(
        matches!(refused, Err(coldframe_error::Error::ResourceExhausted { resource: "memory of the machine", .. })),
        "{refused:?}"
    );
    assert_eq!((crowded.mappings(), crowded.descriptors()), before);
    machine.check();
    machine.write(0, 1, 7);
    machine.check();
}

#[test]
fn a_memory_behind_a_closed_gate_is_not_saved() {
    let image = TestImage::new(5, &budget(), 1);
    let slot = image.take();
    let gate: Arc<Gate> = Arc::default();
    let occupied = OccupiedSlot::new(slot, image.image.clone(), gate.clone(), Arc::default());
    let layout = occupied.layout().expect("a live slot");
    // SAFETY: the memory is mapped, and the test owns it.
    unsafe { *(layout.base as *mut u8) = 1 };
    gate.close();
    assert!(matches!(occupied.snapshot(), Err(coldframe_error::Error::NotQuiet)));
    drop(occupied.vacate());
    assert_eq!(image.image.pool().waiting(), 0, "the slot is not returned to the pool");
}

#[test]
fn no_slot_contains_another_saves_bytes_after_saves_are_dropped() {
    let budget = budget();
    let image = TestImage::new(6, &budget, 4);
    for round in 1..60_u8 {
        let mut machine = Machine::fresh(&image);
        machine.write(round as usize * PAGE, 3 * PAGE, round);
        let (saved, model) = machine.snapshot();
        // The saved image is dropped with slots in its pool. The allocator may place the next saved
        // image at the same address.
        drop((Machine::new(&saved, model.clone()), Machine::new(&saved, model)));
        drop(machine);
        image.assert_pristine(&image.take());
    }
}
