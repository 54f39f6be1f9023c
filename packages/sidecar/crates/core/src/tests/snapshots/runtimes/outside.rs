//! Connections to the outside after a restore and after a rollback.

use super::*;
use crate::tests::outside::World;

/// A program with an idle connection of an agent, an open and an opening connection, a pending
/// query, and a timer. After a restore, the program prints the order of the events and makes a
/// request.
const PROGRAM: &str = r"
    import dns from 'node:dns';
    import http from 'node:http';
    import net from 'node:net';
    const agent = new http.Agent({ keepAlive: true });
    const get = () => new Promise((done, failed) => {
        const request = http.get('http://four.example/', { agent }, (answer) => answer.on('data', (part) => done(String(part))));
        request.on('error', failed);
    });
    const free = () => Object.values(agent.freeSockets).flat().length;
    const events = [];
    await get();
    await new Promise((done) => setImmediate(done));
    const open = net.connect(7, '203.0.113.1').on('error', (e) => events.push(e.code));
    await new Promise((done) => open.once('connect', done));
    net.connect(9, '203.0.113.1').on('error', (e) => events.push(e.code));
    dns.resolve4('hangs.example', (error) => events.push(error.code));
    setInterval(() => { if (events.at(-1) !== 'timer') events.push('timer'); }, 1);
    process.on('coldframe:restore', () => {
        events.push(`restore ${free()}`);
        setTimeout(async () => {
            console.log(events.join());
            console.log(await get());
            process.exit();
        }, 5);
    });
    console.log('begun', free());
";

fn output(events: &Receiver<SinkEvent>) -> String {
    loop {
        match events.recv_timeout(STEP_TIMEOUT).expect("an output") {
            SinkEvent::Output(_, _, bytes) => return text(&bytes),
            SinkEvent::Exited(outcome) => panic!("{outcome:?}"),
            _ => {}
        }
    }
}

/// Starts the program. Returns its sink's events and a snapshot of its runtime.
fn begin(world: &World) -> (Receiver<SinkEvent>, Arc<Snapshot>) {
    let streams = Streams { stdout: true, stderr: true };
    let (_process, events) = start(&world.runtime, ProcessOptions { streams, ..exec(PROGRAM) }, Dispatch::Worker);
    assert_eq!(output(&events), "begun 1\n");
    let snapshot = take(&world.runtime);
    (events, snapshot)
}

/// Asserts that the program received the errors before its listener and its timer ran, and that the
/// next request succeeded.
fn assert_errors_first(events: &Receiver<SinkEvent>) {
    let mut printed = output(events);
    while printed.lines().count() < 2 {
        printed += &output(events);
    }
    let (order, request) = printed.split_once('\n').expect("two lines");
    let order: Vec<&str> = order.strip_prefix("timer,").unwrap_or(order).split(',').collect();
    let mut errors = order[..3].to_vec();
    errors.sort_unstable();
    assert_eq!(errors, ["ECONNRESET", "ECONNRESET", "ETIMEOUT"], "{order:?}");
    assert_eq!(order[3..], ["restore 0", "timer"], "{order:?}");
    assert_eq!(request, "ok\n");
}

#[test]
fn a_copy_drops_its_connections_first_and_then_connects_again() {
    let core = core();
    let world = World::new(&core);
    let (_events, snapshot) = begin(&world);
    let (sink, events) = TestSink::new();
    let restored = core.restore(&snapshot, RestoreOptions::default(), &mut |_, _| sink.clone());
    let ((copied, _), start) = restored.expect("a copy");
    let world_of_copy = World::of(copied);
    drop(start);
    assert_errors_first(&events);
    // The original keeps its connections.
    let log = world.stop();
    assert!(log.iter().all(|line| !line.starts_with("close")), "{log:?}");
    assert_eq!(world_of_copy.stop()[0], "connect 203.0.113.1:80");
}

#[test]
fn a_rollback_closes_the_connections_and_connects_again() {
    let core = core();
    let world = World::new(&core);
    let (events, snapshot) = begin(&world);
    let (_programs, _sinks) = rollback(&world.runtime, &snapshot);
    assert_errors_first(&events);
    let log = world.stop();
    let closed: Vec<_> = log.iter().filter(|line| line.ends_with("reset") || line.starts_with("cancel")).collect();
    assert_eq!(closed, ["close 1 reset", "close 2 reset", "close 3 reset", "cancel 1"], "{log:?}");
}
