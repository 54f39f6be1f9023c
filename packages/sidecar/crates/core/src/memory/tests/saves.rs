//! Saved memories: whatever is written, grown, saved, cloned and rolled back, every byte is what a plain copy says.

use super::*;
use crate::image::TURNS;
use crate::memory::{Lodging, Policy};
use std::collections::VecDeque;

/// Small enough that a test meets every way of saving.
pub(super) const SMALL: Policy = Policy { plain: 4 << 16, rebase: 20 * PAGE, scattered: 24, large: 30 * PAGE, spare: 0 };
/// What memories of these tests grow to at most.
pub(super) const MOST: usize = 64 << 16;

fn budget() -> Arc<Budget> {
    Budget::with(60_000, 1_000, SMALL)
}

/// Mappings and descriptors that are left; whoever works in the background may be about to give some back.
pub(super) fn assert_all_given_back(budget: &Budget, left: (u64, u64)) {
    let began = std::time::Instant::now();
    while (budget.mappings(), budget.descriptors()) != left && began.elapsed() < std::time::Duration::from_secs(20) {
        std::thread::yield_now();
    }
    assert_eq!((budget.mappings(), budget.descriptors()), left, "all that was taken is given back");
}

/// A guest without an engine: a memory, and what must be in it.
pub(super) struct Machine {
    pub(super) lodging: Arc<Lodging>,
    pub(super) model: Vec<u8>,
}

impl Machine {
    pub(super) fn new(image: &Arc<Image>, model: Vec<u8>) -> Self {
        let slot = image.pool().take(image).expect("a slot");
        let machine = Self { lodging: Lodging::new(slot, image.clone(), Arc::default(), Arc::default()), model };
        assert!(machine.lodging.prepare());
        machine.check();
        machine
    }

    pub(super) fn fresh(image: &TestImage) -> Self {
        Self::new(&image.image, image.image.memory())
    }

    fn bytes(&self) -> &[u8] {
        let place = self.lodging.place().expect("it lives");
        assert_eq!(place.size, self.model.len());
        // SAFETY: the memory is mapped, and this machine owns it.
        unsafe { std::slice::from_raw_parts(place.base as *const u8, place.size) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let place = self.lodging.place().expect("it lives");
        // SAFETY: the memory is mapped for reading and writing, and this machine owns it.
        unsafe { std::slice::from_raw_parts_mut(place.base as *mut u8, place.size) }
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
        let size = (self.model.len() + (pages << 16)).min(MOST);
        self.lodging.grow_to(size).expect("growth");
        self.model.resize(size, 0);
    }

    pub(super) fn save(&self) -> (Arc<Image>, Vec<u8>) {
        let save = self.lodging.save().expect("a save");
        assert_eq!(save.image.len(), self.model.len());
        (save.image, self.model.clone())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // What it has written, the next ones get for their own at once.
        self.lodging.learn(TURNS);
        drop(self.lodging.leave());
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
    /// To the saved state with this number, counted modulo.
    Rollback(usize),
    CloneOf(usize),
    Forget(usize),
    Flatten(usize),
    Gather(usize),
    LetGo(usize),
    Look,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = 0..8_usize;
    let step = prop_oneof![
        4 => (0..MOST, 1..40 * PAGE, any::<u8>()).prop_map(|(at, len, value)| Step::Write { at, len, value }),
        2 => (0..64 * PAGE, 1..40_usize, any::<u8>()).prop_map(|(from, stride, value)| Step::Scatter { from, stride, value }),
        2 => (0..6_usize).prop_map(Step::Grow),
        4 => Just(Step::Save),
        3 => number.clone().prop_map(Step::Rollback),
        2 => number.clone().prop_map(Step::CloneOf),
        1 => number.clone().prop_map(Step::Forget),
        1 => number.clone().prop_map(Step::Flatten),
        2 => number.clone().prop_map(Step::Gather),
        1 => number.prop_map(Step::LetGo),
        1 => Just(Step::Look),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn every_state_is_what_a_plain_copy_says(steps in steps()) {
        let budget = budget();
        let image = TestImage::new(0x5a, &budget, 2);
        let mut machine = Machine::fresh(&image);
        let mut saved: VecDeque<(Arc<Image>, Vec<u8>)> = VecDeque::from([(image.image.clone(), image.image.memory())]);
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
                    saved.push_back(machine.save());
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
                // The image itself, the first one, stays.
                Step::Forget(which) if saved.len() > 1 => drop(saved.remove(1 + which % (saved.len() - 1))),
                Step::Forget(_) => {}
                Step::Flatten(which) => saved[which % saved.len()].0.flatten().expect("flatten"),
                Step::Gather(which) => {
                    let (image, model) = &saved[which % saved.len()];
                    image.gather(Image::copy_of_origin(&image.origin).expect("a copy")).expect("gathered");
                    clones.push_back(Machine::new(image, model.clone()));
                }
                Step::LetGo(which) => saved[which % saved.len()].0.scatter(),
                Step::Look => {
                    machine.check();
                    clones.iter().for_each(Machine::check);
                }
            }
        }
        machine.check();
        clones.iter().for_each(Machine::check);
        for (image, model) in &saved {
            prop_assert!(image.memory() == *model, "a saved memory has changed");
        }
        drop((machine, clones));
        for _ in 0..2 {
            image.assert_pristine(&image.take());
        }
        drop(saved);
        drop(image);
        assert_all_given_back(&budget, (0, 0));
    }
}

#[test]
fn a_file_of_growth_is_taken_over_and_not_copied() {
    let image = TestImage::new(1, &budget(), 1);
    let mut machine = Machine::fresh(&image);
    machine.grow(4);
    machine.grow(20);
    let grown = machine.model.len();
    machine.write(MEMORY + (5 << 16), 300 * PAGE, 7);
    machine.write(5, 1, 9);
    let save = machine.lodging.save().expect("a save");
    assert!(save.frozen >= 200 * PAGE && save.copied < 40 * PAGE, "{save:?}");
    machine.check();
    machine.write(MEMORY + (5 << 16), 10 * PAGE, 8);
    assert_eq!(save.image.memory()[MEMORY + (5 << 16)], 7, "the saved memory is not the guest's any more");
    let again = machine.lodging.save().expect("another");
    assert!(again.frozen == 0 && (10 * PAGE..60 * PAGE).contains(&again.copied), "{again:?}");
    assert_eq!(again.image.len(), grown);
    machine.check();
}

#[test]
fn after_a_large_save_only_what_is_new_is_copied() {
    let image = TestImage::new(2, &budget(), 1);
    let mut machine = Machine::fresh(&image);
    machine.write(0, 40 * PAGE, 3);
    assert!(machine.lodging.save().expect("a save").copied >= 40 * PAGE);
    machine.write(50 * PAGE, 1, 4);
    let second = machine.lodging.save().expect("another");
    assert_eq!(second.copied, PAGE);
    assert!(second.image.memory() == machine.model);
    // The slot is now the saved image's; it goes back to it, and never to the first.
    let owner = machine.lodging.image().expect("it lives");
    drop(machine);
    assert_eq!((owner.pool().waiting(), image.image.pool().waiting()), (1, 0));
    let mut slot = owner.pool().take(&owner).expect("a slot");
    assert!(slot.prepare(&owner));
    // SAFETY: the slot is mapped and nobody writes to it now.
    let bytes = unsafe { std::slice::from_raw_parts(slot.base() as *const u8, MEMORY) };
    assert!(bytes == &owner.memory()[..]);
    owner.pool().give_back(&owner, slot, MEMORY, false);
}

#[test]
fn many_small_saves_do_not_make_a_memory_of_many_runs() {
    let image = TestImage::new(3, &budget(), 1);
    let mut machine = Machine::fresh(&image);
    machine.grow(40);
    for round in 0..60_usize {
        for page in 0..25 {
            machine.write(((round * 37 + page * 21) % (MOST / PAGE)) * PAGE, 1, round as u8);
        }
        let (saved, model) = machine.save();
        assert!(saved.extents().len() <= SMALL.scattered + 80, "{} runs", saved.extents().len());
        if round % 4 == 3 {
            let before = saved.extents().len();
            saved.flatten().expect("flatten");
            assert!(saved.extents().len() <= before);
        }
        assert!(saved.memory() == model);
        machine = Machine::new(&saved, model);
    }
}

#[test]
fn what_is_cloned_often_is_mapped_in_one_run_until_nobody_does() {
    let budget = budget();
    let image = TestImage::new(7, &budget, 0);
    let mut machine = Machine::fresh(&image);
    for page in (0..60).step_by(12) {
        machine.write(page * PAGE, 1, 9);
    }
    machine.grow(1);
    machine.write(MEMORY + 3 * PAGE, 1, 8);
    let (saved, model) = machine.save();
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
    assert_eq!(saved.extents().len(), scattered, "what it is made of stays");
    assert_eq!(saved.own_bytes(&image.image), held, "and what it is said to hold");
    // One that lives in the one run is saved and goes back as any other does.
    let last = clones.last_mut().expect("the last");
    last.write(30 * PAGE, 5, 1);
    let (again, changed) = last.save();
    drop(Machine::new(&again, changed));
    clones.drain(..);
    drop(Machine::new(&saved, model.clone()));
    budget.keeper().let_go(std::time::Duration::ZERO);
    assert!(!gathered());
    drop(Machine::new(&saved, model));
    drop((machine, saved, again));
    // But the image itself, and a view of it.
    assert_all_given_back(&budget, (1, 1));
}

#[test]
fn a_memory_that_was_never_begun_leaves_nothing_half_made_to_the_next() {
    let image = TestImage::new(5, &budget(), 1);
    let mut machine = Machine::fresh(&image);
    for page in (0..60).step_by(12) {
        machine.write(page * PAGE, 1, 9);
    }
    let (saved, model) = machine.save();
    assert_eq!((saved.to_map().written.len(), saved.to_map().mapped.len()), (5, 1));
    for round in 0..3 {
        let slot = saved.pool().take(&saved).expect("a slot");
        let lodging = Lodging::new(slot, saved.clone(), Arc::default(), Arc::default());
        if round == 1 {
            lodging.grow_to(MEMORY + (1 << 16)).expect("growth");
        }
        drop(lodging.leave());
        assert_eq!(saved.pool().waiting(), 1);
    }
    drop(Machine::new(&saved, model.clone()));
    let mut busy = Machine::new(&saved, model.clone());
    busy.write(0, MEMORY, 7);
    drop(busy);
    drop(Machine::new(&saved, model));
}

#[test]
fn what_the_system_has_not_is_refused_by_name_and_nothing_is_lost() {
    let few = Budget::with(6 * 4, 3, SMALL);
    let image = TestImage::new(4, &few, 0);
    let mut machine = Machine::fresh(&image);
    machine.write(0, 30 * PAGE, 5);
    let saved = machine.save();
    let clones: Vec<_> = (0..8).map_while(|_| saved.0.pool().take(&saved.0).ok()).collect();
    assert!(!clones.is_empty() && clones.len() < 4);
    let refused = saved.0.pool().take(&saved.0).map(|_| ());
    assert!(matches!(refused, Err(crate::Error::ResourceExhausted { .. })), "{refused:?}");
    machine.write(60 * PAGE, 1, 6);
    let held: Vec<_> = (0..4).map_while(|_| machine.lodging.save().ok()).collect();
    assert!(held.len() < 4, "descriptors have a limit");
    let refused = machine.lodging.save().map(|_| ());
    assert!(matches!(refused, Err(crate::Error::ResourceExhausted { resource: "memory descriptors", .. })), "{refused:?}");
    machine.check();
    for slot in clones {
        saved.0.pool().give_back(&saved.0, slot, MEMORY, false);
    }
    drop(held);
    assert!(machine.save().0.memory() == machine.model);
}

#[test]
fn a_copy_for_which_the_machine_has_no_room_is_refused_by_name_and_the_guest_goes_on() {
    let crowded = Budget::with(1_000, 100, Policy { spare: u64::MAX, ..SMALL });
    let image = TestImage::new(4, &crowded, 0);
    let mut machine = Machine::fresh(&image);
    machine.write(0, 29 * PAGE, 5);
    drop(machine.save());
    machine.write(0, 31 * PAGE, 6);
    let before = (crowded.mappings(), crowded.descriptors());
    let refused = machine.lodging.save().map(|_| ());
    assert!(matches!(refused, Err(crate::Error::ResourceExhausted { resource: "memory of the machine", .. })), "{refused:?}");
    assert_eq!((crowded.mappings(), crowded.descriptors()), before);
    machine.check();
    machine.write(0, 1, 7);
    machine.check();
}

#[test]
fn a_memory_that_was_taken_away_is_not_saved() {
    let image = TestImage::new(5, &budget(), 1);
    let slot = image.take();
    let gate: Arc<Gate> = Arc::default();
    let lodging = Lodging::new(slot, image.image.clone(), gate.clone(), Arc::default());
    let place = lodging.place().expect("it lives");
    // SAFETY: the memory is mapped and the test owns it.
    unsafe { *(place.base as *mut u8) = 1 };
    gate.close();
    assert!(matches!(lodging.save(), Err(crate::Error::NotQuiet)));
    drop(lodging.leave());
    assert_eq!(image.image.pool().waiting(), 0, "it does not go back to the pool");
}

#[test]
fn no_slot_carries_another_states_bytes_when_states_come_and_go() {
    let budget = budget();
    let image = TestImage::new(6, &budget, 4);
    for round in 1..60_u8 {
        let mut machine = Machine::fresh(&image);
        machine.write(round as usize * PAGE, 3 * PAGE, round);
        let (saved, model) = machine.save();
        // Its slots wait in its pool when it is forgotten; the next saved image may well lie at the same address.
        drop((Machine::new(&saved, model.clone()), Machine::new(&saved, model)));
        drop(machine);
        image.assert_pristine(&image.take());
    }
}
