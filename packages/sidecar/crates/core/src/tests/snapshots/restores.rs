//! Tests of the state that continues in a restored program, and of the state that must differ.

use super::*;
use coldframe_vm::VmSnapshot;
use coldframe_vm::abi::{Event, Restore};
use std::collections::HashSet;
use std::time::Instant;

/// A program with many kinds of state: counters, collections, 100 MB of buffers, timers, promises,
/// asynchronous context.
const RICH: &str = r"
    import { AsyncLocalStorage } from 'node:async_hooks';
    globalThis.als = new AsyncLocalStorage();
    globalThis.count = 41;
    globalThis.map = new Map([['a', 1], [{ key: 1 }, 'object'], [3, new Map([['deep', [1, 2, 3]]])]]);
    globalThis.buffers = Array.from({ length: 100 }, (_, i) => Buffer.alloc(1 << 20, i));
    globalThis.list = Array.from({ length: 5000 }, (_, i) => ({ i, text: 'item ' + i }));
    globalThis.pending = new Promise((resolve) => { globalThis.settle = resolve; });
    globalThis.then = pending.then((value) => value * 2);
    als.run({ who: 'context' }, () => setTimeout(() => console.log('timer', als.getStore().who, ++count), 40));
    (async () => {
        const value = await pending;
        await new Promise((done) => setTimeout(done, 10));
        console.log('awaited', value);
    })();
";

const CHECK: &str = r"
    const sum = buffers.reduce((all, buffer, i) => all + buffer[0] + buffer[buffer.length - 1] - 2 * i, 0);
    console.log(JSON.stringify([count, map.get('a'), map.size, [...map.get(3).get('deep')],
        buffers.length, sum, list[4999].text]));
";

/// Prints random numbers from every source, one number a line.
const DRAW: &str = r"
    const crypto = await import('node:crypto');
    for (const draw of [
        Math.random, () => crypto.randomUUID(), () => crypto.randomUUID(),
        () => crypto.randomInt(2 ** 47), () => crypto.randomInt(2 ** 47),
        () => crypto.randomBytes(8).toString('hex'), () => crypto.getRandomValues(new Uint32Array(2)).join(),
        () => crypto.randomUUID({ disableEntropyCache: true }), () => inner(), () => fresh(),
    ]) console.log(draw.name + String(draw()));
";

/// Draws random numbers before the snapshot, so that every generator and every cache is in use.
const PRIME: &str = r"
    const crypto = await import('node:crypto');
    const vm = await import('node:vm');
    globalThis.inner = vm.runInNewContext('() => Math.random()');
    globalThis.fresh = () => vm.runInNewContext('Math.random()');
    Math.random(); inner(); crypto.randomUUID(); crypto.randomInt(10); crypto.randomBytes(9);
";

const CHECKED: &str = "[41,1,3,[1,2,3],100,0,\"item 4999\"]";

#[test]
fn a_hundred_restored_programs_continue_and_share_no_random_number() {
    let core = core();
    let mut guest = Guest::start(&core);
    guest.eval(PRIME);
    // The timers stay pending: an evaluation ends when the work that it started has ended.
    guest.vm.deliver(Event::Eval { id: 900, source: RICH, flags: 0, place: &[] });
    guest.turn();
    let snapshot = guest.snapshot();
    assert!(snapshot.frozen > 60 << 20, "most of the buffers are not copied: {} and {}", snapshot.frozen, snapshot.copied);
    let mut drawn = HashSet::new();
    for number in 0..100 {
        let mut copy = Guest::of(&core, &snapshot.saved);
        let written = copy.run_until(|text| text.contains("timer"));
        assert_eq!(written, "timer context 42\n", "copy {number}");
        assert_eq!(copy.eval(CHECK), CHECKED.replace("[41", "[42"));
        let settled = copy.eval("settle(21); console.log(await then)");
        assert!(settled.contains("42"), "{settled}");
        assert!(settled.contains("awaited 21"), "{settled}");
        for line in copy.eval(DRAW).lines() {
            assert!(drawn.insert(line.to_owned()), "copy {number} drew {line}, like another copy");
        }
    }
    assert_eq!(drawn.len(), 1_000);
    assert_eq!(guest.run_until(|text| text.contains("timer")), "timer context 42\n", "the original continues");
    assert_eq!(guest.eval(CHECK), CHECKED.replace("[41", "[42"));
    for line in guest.eval(DRAW).lines() {
        assert!(drawn.insert(line.to_owned()), "the original drew {line}, like a copy");
    }
}

#[test]
fn timers_keep_their_remaining_time_and_the_wall_clock_steps() {
    let core = core();
    let mut guest = Guest::start(&core);
    guest.vm.deliver(Event::Eval {
        id: 900,
        source: r"
            const began = performance.now(), wall = Date.now(), hr = process.hrtime.bigint();
            setTimeout(() => {
                const past = Math.round(performance.now() - began), hrPast = Number(process.hrtime.bigint() - hr) / 1e6;
                console.log(JSON.stringify({ past, hrPast, wall: Date.now() - wall }));
            }, 300);
            globalThis.origin = performance.timeOrigin;
        ",
        flags: 0,
        place: &[],
    });
    guest.turn();
    let saved = guest.snapshot().saved;
    std::thread::sleep(Duration::from_millis(700));
    let began = Instant::now();
    let mut copy = Guest::of(&core, &saved);
    let written = copy.run_until(|text| text.contains("past"));
    assert!(began.elapsed() >= Duration::from_millis(250), "the timer keeps its remaining time: {:?}", began.elapsed());
    let number = |name: &str| {
        let from = written.split(&format!("\"{name}\":")).nth(1).expect("the number");
        from.split([',', '}']).next().and_then(|text| text.parse::<f64>().ok()).expect("a number")
    };
    let (past, hr, wall) = (number("past"), number("hrPast"), number("wall"));
    assert!((299.0..699.0).contains(&past) && (299.0..699.0).contains(&hr), "the monotonic clock excludes the pause: {written}");
    assert!(wall >= 980.0, "the wall clock includes the pause: {written}");
    assert_eq!(copy.eval("console.log(performance.timeOrigin === origin)"), "true");
}

#[test]
fn a_restored_program_is_notified_and_sees_its_new_environment_and_pid() {
    let core = core();
    let mut guest = Guest::start(&core);
    guest.eval(
        r"
        process.env.KEPT = 'kept'; process.env.GONE = 'gone'; globalThis.oldPid = process.pid;
        process.on('coldframe:restore', ({ asleepMs }) => {
            console.log('restored', asleepMs >= 20, process.env.KEPT, process.env.GONE, process.env.NEW, process.pid, oldPid);
        });
        process.once('coldframe:restore', () => Promise.resolve().then(() => console.log('microtask')));
        ",
    );
    let saved = guest.snapshot().saved;
    std::thread::sleep(Duration::from_millis(25));
    let env = vec![("NEW".to_owned(), Some("a=b".to_owned())), ("GONE".to_owned(), None)];
    let restore = Restore { pid: 77, ppid: 5, env, ..Restore::default() };
    let mut copy = Guest::try_of(&core, &saved, guest::large_limits(), restore).expect("a VM");
    copy.turn();
    assert_eq!(copy.output(), "restored true kept undefined a=b 77 2\nmicrotask\n");
    let again = copy.snapshot().saved;
    let mut second = Guest::of(&core, &again);
    second.turn();
    assert_eq!(second.output(), "restored false kept undefined a=b 2 2\n", "a snapshot of a restored program");
    let mut plain = Guest::start(&core);
    let saved = plain.snapshot().saved;
    let mut without_listener = Guest::of(&core, &saved);
    without_listener.turn();
    assert_eq!(without_listener.output(), "", "no listener is registered");
}

#[test]
fn a_throwing_restore_listener_is_an_uncaught_exception_and_runs_after_reseeding() {
    let core = core();
    let mut guest = Guest::start(&core);
    guest.eval(
        "process.on('uncaughtException', (error) => console.log('caught', error.message, Math.random())); \
         process.on('coldframe:restore', () => { throw new Error('no') })",
    );
    let saved = guest.snapshot().saved;
    let said = |core: &Core, saved: &VmSnapshot| {
        let mut copy = Guest::of(core, saved);
        copy.turn();
        copy.output()
    };
    let (one, other) = (said(&core, &saved), said(&core, &saved));
    assert!(one.starts_with("caught no 0.") && other.starts_with("caught no 0."), "{one} {other}");
    assert_ne!(one, other);
}

#[test]
fn a_vm_is_saved_only_between_turns_and_restored_only_within_its_memory_limit() {
    let core = core();
    let mut guest = Guest::start(&core);
    guest.vm.deliver(Event::Eval { id: 1, source: "1", flags: 0, place: &[] });
    assert_eq!(guest.vm.snapshot().map(|_| ()), Err(Error::NotQuiet), "an event is pending");
    guest.turn();
    let saved = guest.snapshot().saved;
    let small = crate::Limits { memory_bytes: saved.memory().len() as u64 - 1, ..guest::large_limits() };
    let bytes = small.memory_bytes;
    let refused = Guest::try_of(&core, &saved, small, Restore::default()).map(|_| ());
    assert_eq!(refused.err(), Some(Error::MemoryLimit { limit: "memoryBytes", bytes }));
    let mut fresh = Guest::of(&core, &saved);
    assert_eq!(fresh.vm.snapshot().map(|_| ()), Err(Error::NotQuiet), "the restore event is pending");
    // An interrupted turn leaves the guest in the middle of its work.
    let mut cut = Guest::start(&core);
    cut.vm.deliver(Event::Eval { id: 1, source: "for (;;) {}", flags: 0, place: &[] });
    cut.interrupt_turn();
    assert_eq!(cut.vm.snapshot().map(|_| ()), Err(Error::NotQuiet));
    // The guest can still be rolled back.
    let remains = cut.rollback(&saved);
    drop(remains);
    assert_eq!(cut.eval("console.log('alive')"), "alive");
}
