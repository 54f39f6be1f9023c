//! After hostile programs every slot equals its image, byte for byte (`docs/threat-model.md`).

use super::*;
use crate::installation::ImageKind;

const HOSTILE: &[&str] = &[
    "Object.prototype.polluted = 1; Array.prototype.push = () => 'mine'; console.log('x')",
    "for (const name of Object.getOwnPropertyNames(globalThis)) try { globalThis[name] = 1 } catch {}",
    "globalThis.keep = Array.from({ length: 2e4 }, (_, i) => ({ i, s: 'secret' + i })); console.log(keep.length)",
    "const big = new Uint8Array(40 << 20).fill(7); console.log(big.length)",
    "const f = () => f(); try { f() } catch (error) { console.log(error.constructor.name) }",
    "setTimeout(() => { throw new Error('late') }, 1)",
    "process.exit(9)",
    "await new Promise((done) => setTimeout(done, 5)); console.log([...new Map([[1, { a: [1, 2] }]])])",
];

pub(super) fn assert_all_slots_pristine(core: &Core) {
    assert_slots_pristine(core, ImageKind::Node);
}

fn assert_slots_pristine(core: &Core, image: ImageKind) {
    let factory = core.installation().factory(image).expect("its image");
    let image = factory.image();
    let waiting = image.pool().waiting();
    assert!(waiting > 0, "clean slots exist");
    let slots: Vec<_> = (0..waiting).map(|_| image.pool().take(image).expect("a slot")).collect();
    for slot in slots {
        // SAFETY: the slot is mapped, and no guest runs in it.
        let bytes = unsafe { std::slice::from_raw_parts(slot.base() as *const u8, image.len()) };
        let differing = bytes.iter().zip(&image.memory().expect("a view")).position(|(slot, image)| slot != image);
        assert_eq!(differing, None, "offset of the first byte that differs from the image");
        image.pool().give_back(image, slot, image.len(), false);
    }
}

#[test]
fn every_slot_equals_its_image_after_hostile_programs() {
    let core = core();
    let runtime = runtime(&core);
    for round in 0..4 {
        for dispatch in [Dispatch::Worker, Dispatch::Inline(Duration::from_millis(1))] {
            let running: Vec<_> = HOSTILE.iter().map(|code| start(&runtime, exec(code), dispatch)).collect();
            for (_process, events) in &running {
                exited(events);
            }
        }
        let mut spin = exec("for (;;) {}");
        spin.timeout = Some(Duration::from_millis(5));
        assert_eq!(code(&outcome(&runtime, spin)), Some("ERR_TIMEOUT"), "round {round}");
    }
    // The end of a program is reported before its memory is freed, so the test waits for a slot.
    while core.resources().warm_slots == 0 {
        std::thread::yield_now();
    }
    core.shutdown();
    assert_all_slots_pristine(&core);
}

#[test]
fn a_program_sees_no_state_of_an_earlier_program() {
    let core = core();
    let runtime = runtime(&core);
    for _ in 0..20 {
        outcome(&runtime, exec("globalThis.secret = 42; Object.prototype.leak = 1; process.env.X = '1'"));
        let seen = outcome(&runtime, exec("console.log(typeof secret, ({}).leak, process.env.X)"));
        assert_eq!(text(&seen.stdout), "undefined undefined undefined\n");
    }
}

#[test]
fn fresh_programs_share_no_random_numbers() {
    let core = core();
    let runtime = runtime(&core);
    let draws: std::collections::HashSet<_> =
        (0..50).map(|_| text(&outcome(&runtime, exec("console.log(Math.random(), process.pid)")).stdout)).collect();
    assert_eq!(draws.len(), 50);
}

#[test]
fn slots_of_the_shell_equal_the_shells_image_after_use() {
    let core = core();
    let runtime = runtime(&core);
    let lines =
        ["Object.prototype.polluted = 1", "x=$(seq 1 5000); echo ${#x}", "while :; do :; done", "f() { f; }; f", "kill -9 $$"];
    for line in lines {
        let mut options = exec("bash");
        options.mode = Mode::Command;
        options.code = "bash".to_owned();
        options.args = vec!["-c".to_owned(), line.to_owned()];
        options.timeout = Some(Duration::from_millis(500));
        outcome(&runtime, options);
    }
    // The end of a program is reported before its memory is freed, so the test waits for a slot.
    while core.installation().factory(ImageKind::Shell).expect("its image").image().pool().waiting() == 0 {
        std::thread::yield_now();
    }
    assert_slots_pristine(&core, ImageKind::Shell);
}
