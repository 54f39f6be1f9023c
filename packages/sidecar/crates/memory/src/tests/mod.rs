//! Tests of slots: after any writes, a slot equals its image again, and a slot never contains
//! another image's bytes.

mod compaction;
mod saves;
mod slots;

use super::{Budget, GUARD, Gate, Pool, RESERVATION, Slot};
use crate::Meter;
use crate::image::{HEADER_LEN, Header, Image};
use coldframe_sys::{self as sys, PAGE};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

const MEMORY: usize = 4 << 16;
/// The part of the memory that is stored in the file. The rest is zero.
const DATA: std::ops::Range<usize> = 3 * PAGE..MEMORY - 5 * PAGE;

/// An image whose data bytes all equal `seed`, in a file that is removed when the test ends.
struct TestImage {
    image: Arc<Image>,
    path: PathBuf,
}

impl TestImage {
    fn new(seed: u8, budget: &Arc<Budget>, warm: usize) -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let name = format!("coldframe-test-{}-{}.image", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let header = Header {
            memory_len: MEMORY as u64,
            data_start: DATA.start as u64,
            data_len: DATA.len() as u64,
            state_ptr: 0,
            inbox_ptr: 64,
            inbox_len: 64,
            frozen_end: 0,
            hash: coldframe_ids::Digest::new([seed; 32]),
            module_file: "none".to_owned(),
        };
        let mut file = header.encode().expect("header");
        assert_eq!(file.len(), HEADER_LEN);
        file.resize(HEADER_LEN + DATA.len(), seed);
        std::fs::write(&path, file).expect("write the image");
        let image = Image::open(&path, budget.clone(), warm).expect("open the image");
        Self { image, path }
    }

    fn take(&self) -> Slot {
        self.image.pool().take(&self.image).expect("a slot")
    }

    fn assert_pristine(&self, slot: &Slot) {
        // SAFETY: the slot is mapped, and no guest writes to it.
        let bytes = unsafe { std::slice::from_raw_parts(slot.base() as *const u8, MEMORY) };
        let seed = self.image.header().hash.as_bytes()[0];
        let right = |(at, byte): (usize, &u8)| *byte == if DATA.contains(&at) { seed } else { 0 };
        assert!(bytes.iter().enumerate().all(right), "a byte of the slot differs from its image");
    }
}

impl Drop for TestImage {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Writes to the slot as a guest would.
fn scribble(slot: &Slot, writes: &[(usize, u8)]) {
    for &(at, value) in writes {
        // SAFETY: the slot is mapped for reading and writing up to MEMORY; the test owns it.
        unsafe { *((slot.base() + at % MEMORY) as *mut u8) = value };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_slot_equals_its_image_after_any_writes(
        rounds in prop::collection::vec(
            (prop::collection::vec((0..MEMORY, any::<u8>()), 0..200), any::<bool>(), any::<bool>()),
            1..8,
        ),
    ) {
        let images = TestImage::new(0xa5, &Budget::new(), 4);
        for (writes, grows, meter_it) in rounds {
            let slot = images.take();
            images.assert_pristine(&slot);
            let meter = Meter::default();
            meter.begin();
            scribble(&slot, &writes);
            let mut size = MEMORY;
            if grows {
                // SAFETY: the page is beyond the image and inside the reservation.
                unsafe { sys::allow(slot.base() + MEMORY, PAGE) }.expect("grow");
                // SAFETY: `allow` has just made the page accessible.
                unsafe { *((slot.base() + MEMORY) as *mut u8) = 7 };
                size += PAGE;
            }
            let certain = meter_it && meter.no_faults_so_far();
            meter.end();
            images.image.pool().give_back(&images.image, slot, size, certain);
        }
        images.assert_pristine(&images.take());
    }
}

#[test]
fn restores_a_slot_without_the_page_map_after_a_run_without_faults() {
    let images = TestImage::new(1, &Budget::new(), 4);
    let writes: Vec<_> = (0..20).map(|page| (page * PAGE + 3, 9)).collect();
    let mut shortcuts = 0;
    for round in 0..20 {
        let slot = images.take();
        images.assert_pristine(&slot);
        let meter = Meter::default();
        meter.begin();
        scribble(&slot, &writes);
        let certain = meter.no_faults_so_far();
        shortcuts += usize::from(certain);
        assert!(!(certain && round == 0), "the first run faults on every page");
        meter.end();
        images.image.pool().give_back(&images.image, slot, MEMORY, certain);
    }
    assert!(shortcuts > 0, "a repeated run must not need the page map");
}

#[test]
fn no_slot_contains_another_images_bytes_after_images_are_dropped() {
    let budget = Budget::new();
    for round in 0..50_u8 {
        let (old, new) = (TestImage::new(round, &budget, 8), TestImage::new(!round, &budget, 8));
        let slots: Vec<_> = (0..3).map(|_| old.take()).collect();
        for slot in slots {
            old.assert_pristine(&slot);
            scribble(&slot, &[(5, 77), (PAGE * 9, 78)]);
            old.image.pool().give_back(&old.image, slot, MEMORY, false);
        }
        new.assert_pristine(&new.take());
        // The allocator may place the next image at the address of the dropped image. The new image
        // must not use the old image's slots.
        drop(old);
        let next = TestImage::new(round.wrapping_add(100), &budget, 8);
        next.assert_pristine(&next.take());
    }
}

#[test]
fn a_fully_written_slot_is_discarded_and_still_equals_its_image() {
    let images = TestImage::new(3, &Budget::new(), 4);
    let slot = images.take();
    scribble(&slot, &(0..MEMORY / PAGE).map(|page| (page * PAGE, 1)).collect::<Vec<_>>());
    images.image.pool().give_back(&images.image, slot, MEMORY, false);
    images.assert_pristine(&images.take());
}

#[test]
fn a_pool_keeps_at_most_its_configured_number_of_slots() {
    let images = TestImage::new(4, &Budget::new(), 2);
    let slots: Vec<_> = (0..5).map(|_| images.take()).collect();
    for slot in slots {
        images.image.pool().give_back(&images.image, slot, MEMORY, false);
    }
    assert_eq!(images.image.pool().waiting(), 2);
}

/// Calls `test` with the base of a reservation.
fn with_reservation(test: impl FnOnce(usize)) {
    let base = sys::reserve(RESERVATION + GUARD).expect("reserve");
    test(base);
    // SAFETY: the reservation is no longer used.
    unsafe { sys::release(base, RESERVATION + GUARD) };
}

#[test]
fn a_closed_gate_refuses_entry_and_an_unattached_gate_cannot_be_closed() {
    with_reservation(|base| {
        let gate = Gate::default();
        gate.close();
        assert!(gate.enter().is_ok(), "no VM is attached");
        gate.attach(base);
        gate.close();
        assert!(gate.enter().is_err());
        assert!(gate.detach(base).is_err());
    });
}

#[test]
fn a_kill_does_not_wait_for_an_access_and_takes_effect_at_its_end() {
    with_reservation(|base| {
        let gate = Gate::default();
        gate.attach(base);
        let access = gate.enter().expect("open");
        gate.close();
        drop(access);
        assert!(gate.enter().is_err());
        assert!(gate.detach(base).is_err());
    });
}

#[test]
fn no_kill_is_lost_between_accesses() {
    with_reservation(|base| {
        for _ in 0..2_000 {
            let gate = Gate::default();
            gate.attach(base);
            std::thread::scope(|scope| {
                scope.spawn(|| while gate.enter().is_ok() {});
                gate.close();
            });
            assert!(gate.detach(base).is_err());
        }
    });
}

#[test]
fn each_image_has_a_pool_of_its_own() {
    fn pool_of(image: &Image) -> &Pool {
        image.pool()
    }
    let budget = Budget::new();
    let (one, other) = (TestImage::new(1, &budget, 1), TestImage::new(2, &budget, 1));
    assert!(!std::ptr::eq(pool_of(&one.image), pool_of(&other.image)));
}
