//! A slot goes back to its image byte for byte, whatever was written into it, and never carries another image's bytes.

mod leftovers;
mod saves;
mod slots;

use super::{Budget, GUARD, Gate, Pool, RESERVATION, Slot};
use crate::image::{HEADER_LEN, Header, Image};
use crate::sched::Meter;
use coldframe_sys::{self as sys, PAGE};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

const MEMORY: usize = 4 << 16;
/// What of the memory is in the file; the rest is zero.
const DATA: std::ops::Range<usize> = 3 * PAGE..MEMORY - 5 * PAGE;

/// An image whose every page of data holds `seed`, in a file that is gone when the test ends.
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
        // SAFETY: the slot is mapped and nobody writes to it now.
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

/// Writes like a guest would.
fn scribble(slot: &Slot, writes: &[(usize, u8)]) {
    for &(at, value) in writes {
        // SAFETY: the slot is mapped for reading and writing up to MEMORY; the test owns it.
        unsafe { *((slot.base() + at % MEMORY) as *mut u8) = value };
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_slot_is_pristine_after_any_writes(
        rounds in prop::collection::vec((prop::collection::vec((0..MEMORY, any::<u8>()), 0..200), any::<bool>(), any::<bool>()), 1..8)
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
                // SAFETY: behind the image, inside the reservation.
                unsafe { sys::allow(slot.base() + MEMORY, PAGE) }.expect("grow");
                // SAFETY: just made accessible.
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
fn the_shortcut_is_taken_and_restores_what_was_written_before() {
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
fn no_slot_carries_another_images_bytes_when_images_come_and_go() {
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
        // The next image's allocation may well land where this one was: its slots must not.
        drop(old);
        let next = TestImage::new(round.wrapping_add(100), &budget, 8);
        next.assert_pristine(&next.take());
    }
}

#[test]
fn a_large_run_is_forgotten_not_copied_and_still_pristine() {
    let images = TestImage::new(3, &Budget::new(), 4);
    let slot = images.take();
    scribble(&slot, &(0..MEMORY / PAGE).map(|page| (page * PAGE, 1)).collect::<Vec<_>>());
    images.image.pool().give_back(&images.image, slot, MEMORY, false);
    images.assert_pristine(&images.take());
}

#[test]
fn a_pool_keeps_no_more_slots_than_it_was_told() {
    let images = TestImage::new(4, &Budget::new(), 2);
    let slots: Vec<_> = (0..5).map(|_| images.take()).collect();
    for slot in slots {
        images.image.pool().give_back(&images.image, slot, MEMORY, false);
    }
    assert_eq!(images.image.pool().waiting(), 2);
}

#[test]
fn a_closed_gate_lets_nobody_through_and_an_unused_one_cannot_be_closed() {
    let base = sys::reserve(RESERVATION + GUARD).expect("reserve");
    let gate = Gate::default();
    gate.close();
    assert!(gate.enter().is_ok(), "no VM lives behind it");
    gate.attach(base);
    gate.close();
    assert!(gate.enter().is_err());
    assert!(gate.detach(base).is_err());
    // SAFETY: the reservation is not used any more.
    unsafe { sys::release(base, RESERVATION + GUARD) };
}

#[test]
fn a_pool_is_a_part_of_its_image() {
    fn pool_of(image: &Image) -> &Pool {
        image.pool()
    }
    let budget = Budget::new();
    let (one, other) = (TestImage::new(1, &budget, 1), TestImage::new(2, &budget, 1));
    assert!(!std::ptr::eq(pool_of(&one.image), pool_of(&other.image)));
}
