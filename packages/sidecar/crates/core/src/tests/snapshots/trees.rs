//! Tests of snapshots of restored programs, and of rollbacks to any ancestor.

use super::*;
use crate::installation::ImageKind;
use coldframe_vm::VmSnapshot;

fn grow(guest: &mut Guest, name: &str) -> String {
    guest.eval(&format!(
        "(globalThis.path ??= []).push('{name}');
        globalThis.data = new Map([...(globalThis.data ?? []), ['{name}', Buffer.alloc(200000, '{name}')]])"
    ));
    look(guest)
}

fn look(guest: &mut Guest) -> String {
    guest.eval(
        "console.log(path.join('/'), [...data].every(([name, buffer]) =>
            buffer.length === 200000 && buffer.every((byte) => byte === name.charCodeAt(0))))",
    )
}

#[test]
fn a_program_rolls_back_to_any_ancestor_repeatedly() {
    let core = core();
    let mut guest = Guest::start(&core);
    let mut states: Vec<(Arc<VmSnapshot>, String)> = Vec::new();
    grow(&mut guest, "r");
    states.push((guest.snapshot().saved, look(&mut guest)));
    // A tree: each new state is the child of an earlier state.
    for (number, parent) in [0, 1, 1, 0, 4, 2, 6, 7].into_iter().enumerate() {
        drop(guest.rollback(&states[parent].0));
        assert_eq!(look(&mut guest), states[parent].1);
        let name = char::from(b'a' + number as u8).to_string();
        let seen = grow(&mut guest, &name);
        assert_eq!(seen, format!("{}/{name} true", states[parent].1.trim_end_matches(" true")));
        states.push((guest.snapshot().saved, seen));
    }
    for round in 0..40 {
        let (saved, expected) = &states[(round * 5 + round / 3) % states.len()];
        let remains = guest.rollback(saved);
        guest.eval("globalThis.junk = Array.from({ length: 20000 }, () => ({})); Object.prototype.leak = 1");
        drop(remains);
        drop(guest.rollback(saved));
        assert_eq!(look(&mut guest), *expected);
        assert_eq!(guest.eval("console.log(typeof junk, ({}).leak)"), "undefined undefined");
    }
}

#[test]
fn a_chain_of_a_hundred_snapshots_keeps_its_state() {
    let core = core();
    let mut guest = Guest::start(&core);
    guest.eval("globalThis.n = 0; globalThis.kept = []");
    for round in 1..=100 {
        assert_eq!(
            guest.eval("kept.push({ n: ++n, text: 'x'.repeat(1000) }); console.log(n, kept.length)"),
            format!("{round} {round}")
        );
        let saved = guest.snapshot().saved;
        if round % 7 == 0 {
            saved.memory().flatten().expect("flatten");
        }
        if round % 3 == 0 {
            guest = Guest::of(&core, &saved);
        } else if round % 3 == 1 {
            drop(guest.rollback(&saved));
        }
    }
    assert_eq!(guest.eval("console.log(kept.every(({ n, text }, i) => n === i + 1 && text.length === 1000))"), "true");
}

#[test]
fn used_slots_of_a_snapshot_equal_the_snapshot_or_the_image_again() {
    let core = core();
    let factory = core.installation().factory(ImageKind::Node).expect("the image");
    let image = factory.image();
    let mut guest = Guest::start(&core);
    guest.eval("globalThis.secret = 'of this snapshot'.repeat(1000); globalThis.big = Buffer.alloc(30 << 20, 7)");
    let saved = guest.snapshot().saved;
    let must = saved.memory().memory().expect("a view");
    for _ in 0..3 {
        for _ in 0..2 {
            let mut copy = Guest::of(&core, &saved);
            copy.eval(
                "Object.prototype.polluted = 1; globalThis.keep = Array.from({ length: 2e4 }, (_, i) => ({ i })); big.fill(9)",
            );
        }
        let mut slot = saved.memory().pool().take(saved.memory()).expect("a slot");
        assert!(slot.prepare(saved.memory()));
        // SAFETY: the slot is mapped, and no guest runs in it.
        let bytes = unsafe { std::slice::from_raw_parts(slot.base() as *const u8, saved.memory().len()) };
        assert_eq!(
            bytes.iter().zip(&must).position(|(is, must)| is != must),
            None,
            "the first byte that differs from the snapshot"
        );
        saved.memory().pool().give_back(saved.memory(), slot, saved.memory().len(), false);
    }
    drop((guest, saved));
    for _ in 0..10 {
        drop(Guest::start(&core));
    }
    let must = image.memory().expect("a view");
    let slots: Vec<_> = (0..image.pool().waiting()).map(|_| image.pool().take(image).expect("a slot")).collect();
    assert!(!slots.is_empty());
    for slot in slots {
        // SAFETY: the slot is mapped, and no guest runs in it.
        let bytes = unsafe { std::slice::from_raw_parts(slot.base() as *const u8, image.len()) };
        assert_eq!(bytes.iter().zip(&must).position(|(is, must)| is != must), None, "the first byte that differs from the image");
        image.pool().give_back(image, slot, image.len(), false);
    }
}
