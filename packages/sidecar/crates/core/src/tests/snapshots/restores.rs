//! What goes on in a copy, and what must differ.

use super::*;
use crate::vm::abi::{Event, Restore};
use crate::vm::saved::Saved;
use std::collections::HashSet;
use std::time::Instant;

/// A program with something of everything: counters, collections, 100 MB of buffers, timers, promises, asynchronous context.
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
    console.log(JSON.stringify([count, map.get('a'), map.size, [...map.get(3).get('deep')], buffers.length, sum, list[4999].text]));
";

/// Random numbers from everywhere, each on a line.
const DRAW: &str = r"
    const crypto = await import('node:crypto');
    for (const draw of [
        Math.random, () => crypto.randomUUID(), () => crypto.randomUUID(), () => crypto.randomInt(2 ** 47), () => crypto.randomInt(2 ** 47),
        () => crypto.randomBytes(8).toString('hex'), () => crypto.getRandomValues(new Uint32Array(2)).join(),
        () => crypto.randomUUID({ disableEntropyCache: true }), () => inner(), () => fresh(),
    ]) console.log(draw.name + String(draw()));
";

/// Random numbers drawn before the save, so that every generator and every cache of one is in use.
const PRIME: &str = r"
    const crypto = await import('node:crypto');
    const vm = await import('node:vm');
    globalThis.inner = vm.runInNewContext('() => Math.random()');
    globalThis.fresh = () => vm.runInNewContext('Math.random()');
    Math.random(); inner(); crypto.randomUUID(); crypto.randomInt(10); crypto.randomBytes(9);
";

const CHECKED: &str = "[41,1,3,[1,2,3],100,0,\"item 4999\"]";

#[test]
fn a_hundred_copies_go_on_where_it_was_and_agree_on_no_random_number() {
    let core = core();
    let mut guest = Guest::start(&core);
    guest.eval(PRIME);
    // The timers are left pending: an evaluation ends when what it has started has.
    guest.vm.deliver(Event::Eval { id: 900, source: RICH });
    guest.turn();
    let snapshot = guest.save();
    assert!(snapshot.frozen > 60 << 20, "most of the buffers are taken over: {} and {}", snapshot.frozen, snapshot.copied);
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
            assert!(drawn.insert(line.to_owned()), "copy {number} drew {line}, as another did");
        }
    }
    assert_eq!(drawn.len(), 1_000);
    assert_eq!(guest.run_until(|text| text.contains("timer")), "timer context 42\n", "the original goes on");
    assert_eq!(guest.eval(CHECK), CHECKED.replace("[41", "[42"));
    for line in guest.eval(DRAW).lines() {
        assert!(drawn.insert(line.to_owned()), "the original drew {line}, as a copy did");
    }
}

#[test]
fn timers_keep_what_remained_and_the_wall_clock_steps() {
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
    });
    guest.turn();
    let saved = guest.save().saved;
    std::thread::sleep(Duration::from_millis(700));
    let began = Instant::now();
    let mut copy = Guest::of(&core, &saved);
    let written = copy.run_until(|text| text.contains("past"));
    assert!(began.elapsed() >= Duration::from_millis(250), "the timer has kept what remained: {:?}", began.elapsed());
    let number = |name: &str| {
        let from = written.split(&format!("\"{name}\":")).nth(1).expect("the number");
        from.split([',', '}']).next().and_then(|text| text.parse::<f64>().ok()).expect("a number")
    };
    let (past, hr, wall) = (number("past"), number("hrPast"), number("wall"));
    assert!((299.0..699.0).contains(&past) && (299.0..699.0).contains(&hr), "the sleep does not count: {written}");
    assert!(wall >= 980.0, "by the wall clock it does: {written}");
    assert_eq!(copy.eval("console.log(performance.timeOrigin === origin)"), "true");
}

#[test]
fn the_program_hears_of_it_and_sees_its_new_environment_and_pid() {
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
    let saved = guest.save().saved;
    std::thread::sleep(Duration::from_millis(25));
    let env = vec![("NEW".to_owned(), Some("a=b".to_owned())), ("GONE".to_owned(), None)];
    let restore = Restore { pid: 77, ppid: 5, env, ..Restore::default() };
    let mut copy = Guest::try_of(&core, &saved, guest::roomy(), restore).expect("a VM");
    copy.turn();
    assert_eq!(copy.output(), "restored true kept undefined a=b 77 2\nmicrotask\n");
    let again = copy.save().saved;
    let mut second = Guest::of(&core, &again);
    second.turn();
    assert_eq!(second.output(), "restored false kept undefined a=b 2 2\n", "a copy of a copy, at once");
    let mut plain = Guest::start(&core);
    let saved = plain.save().saved;
    let mut deaf = Guest::of(&core, &saved);
    deaf.turn();
    assert_eq!(deaf.output(), "", "nobody listens");
}

#[test]
fn a_listener_that_throws_is_an_uncaught_exception_and_entropy_is_new_before() {
    let core = core();
    let mut guest = Guest::start(&core);
    guest.eval(
        "process.on('uncaughtException', (error) => console.log('caught', error.message, Math.random())); \
         process.on('coldframe:restore', () => { throw new Error('no') })",
    );
    let saved = guest.save().saved;
    let said = |core: &Core, saved: &Saved| {
        let mut copy = Guest::of(core, saved);
        copy.turn();
        copy.output()
    };
    let (one, other) = (said(&core, &saved), said(&core, &saved));
    assert!(one.starts_with("caught no 0.") && other.starts_with("caught no 0."), "{one} {other}");
    assert_ne!(one, other);
}

#[test]
fn only_at_a_quiet_point_and_only_into_room_enough() {
    let core = core();
    let mut guest = Guest::start(&core);
    guest.vm.deliver(Event::Eval { id: 1, source: "1" });
    assert_eq!(guest.vm.save().map(|_| ()), Err(Error::NotQuiet), "it has not heard everything");
    guest.turn();
    let saved = guest.save().saved;
    let small = crate::Limits { memory_bytes: saved.memory().len() as u64 - 1, ..guest::roomy() };
    let bytes = small.memory_bytes;
    let refused = Guest::try_of(&core, &saved, small, Restore::default()).map(|_| ());
    assert_eq!(refused.err(), Some(Error::MemoryLimit { limit: "memoryBytes", bytes }));
    let mut fresh = Guest::of(&core, &saved);
    assert_eq!(fresh.vm.save().map(|_| ()), Err(Error::NotQuiet), "it has not heard that it lives again");
    // A turn that is cut short leaves the guest in the middle of something.
    let mut cut = Guest::start(&core);
    cut.vm.deliver(Event::Eval { id: 1, source: "for (;;) {}" });
    cut.cut_turn();
    assert_eq!(cut.vm.save().map(|_| ()), Err(Error::NotQuiet));
    // And it can still be rolled back.
    let remains = cut.rollback(&saved);
    drop(remains);
    assert_eq!(cut.eval("console.log('alive')"), "alive");
}
