//! Tests of runtimes with several communicating programs. All programs continue in every restored
//! runtime, with the bytes in transit between the programs.

use super::*;
use crate::Limits;
use std::time::Instant;

pub(super) fn parent(code: &str) -> ProcessOptions {
    let prelude = "import { spawn, execSync, spawnSync } from 'node:child_process'; import { once } from 'node:events';\n";
    exec(&format!("{prelude}{code}"))
}

/// A parent that sends three requests to its child through pipes, with a pause before the last
/// request.
pub(super) const TALK: &str = r"
    const child = spawn('node', ['-e', `
        let n = 0;
        process.stdin.on('data', (bytes) => { n++; process.stdout.write(String(Number(bytes) * 2 + n) + '\\n'); });
    `]);
    const ask = async (n) => { child.stdin.write(String(n)); return String((await once(child.stdout, 'data'))[0]).trim(); };
    console.log(await ask(1), await ask(2));
    process.stdout.write('ready\n');
    await new Promise((done) => setTimeout(done, 400));
    console.log(await ask(3));
    child.stdin.end();
    console.log('closed', (await once(child, 'close'))[0]);
";

pub(super) const TALKED: &str = "3 6\nready\n9\nclosed 0\n";

/// Waits until a streaming program has written a line. Returns the output so far.
pub(super) fn until_line(process: &Process, events: &Receiver<SinkEvent>, line: &str) -> String {
    let mut all = String::new();
    while !all.contains(line) {
        match events.recv_timeout(STEP_TIMEOUT).expect("the program writes") {
            SinkEvent::Output(_, _, bytes) => {
                process.credit(bytes.len() as u64);
                all.push_str(&text(&bytes));
            }
            other => panic!("waited for {line:?}, received {other:?} after {all:?}"),
        }
    }
    all
}

const STREAMS: Streams = Streams { stdout: true, stderr: true };

pub(super) fn streaming(options: ProcessOptions) -> ProcessOptions {
    ProcessOptions { streams: STREAMS, ..options }
}

#[test]
fn a_parent_and_its_child_continue_to_communicate() {
    let core = core();
    let source = runtime(&core);
    let (process, events) = start(&source, streaming(parent(TALK)), Dispatch::Worker);
    until_line(&process, &events, "ready");
    let snapshot = take(&source);
    assert_eq!(snapshot.programs().iter().map(|info| info.is_root).collect::<Vec<_>>(), [true, false]);
    let copies: Vec<_> = (0..3).map(|_| copy(&core, &snapshot)).collect();
    let original = exited(&events);
    assert_eq!((text(&original.stdout).as_str(), original.exit_code), (TALKED, 0));
    for RestoredCopy { runtime, mut events, programs } in copies {
        let root = events.remove(&process.pid()).expect("its sink");
        assert!(events.is_empty() && programs.len() == 2, "only the root program has a sink");
        let outcome = exited(&root);
        assert_eq!(
            (text(&outcome.stdout).as_str(), outcome.exit_code),
            (TALKED, 0),
            "both have the output that precedes the snapshot"
        );
        until_left(&runtime, (0, 0, 0));
    }
    until_left(&source, (0, 0, 0));
}

pub(super) fn until_left(runtime: &Runtime, counts: (usize, usize, usize)) {
    let began = Instant::now();
    while runtime.inner().counts() != counts {
        assert!(began.elapsed() < STEP_TIMEOUT, "{:?} remain", runtime.inner().counts());
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_server_and_a_client_in_another_process_continue() {
    let core = core();
    let source = runtime(&core);
    let mut server = runner(&source);
    server.eval(
        "globalThis.http = await import('node:http'); globalThis.hits = 0; \
         globalThis.server = http.createServer((request, response) => { \
             hits++; request.on('data', (bytes) => response.write(bytes)); request.on('end', () => response.end(`#${hits}`)); \
         }).listen(8080, '127.0.0.1'); await new Promise((done) => server.once('listening', done)); server.unref()",
    );
    let client = "import http from 'node:http';
        const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
        const ask = (body, pause) => new Promise((done, fail) => {
            const request = http.request({ port: 8080, host: '127.0.0.1', method: 'POST', agent }, (response) => {
                let all = ''; response.on('data', (bytes) => all += bytes); response.on('end', () => done(all));
            });
            request.on('error', fail);
            request.write(body);
            if (pause) process.stdout.write('ready\\n');
            setTimeout(() => request.end('!'), pause);
        });
        console.log(await ask('one', 0));
        console.log(await ask('two', 300));
        console.log(await ask('three', 0));
        process.exit();";
    let (process, events) = start(&source, streaming(exec(client)), Dispatch::Worker);
    until_line(&process, &events, "ready");
    let snapshot = take(&source);
    let expected = "one!#1\nready\ntwo!#2\nthree!#3\n";
    for _ in 0..2 {
        let RestoredCopy { runtime, events, .. } = copy(&core, &snapshot);
        let outcome = exited(&events[&process.pid()]);
        assert_eq!((text(&outcome.stdout), text(&outcome.stderr)), (expected.to_owned(), String::new()));
        let later = outcome_of(
            &runtime,
            "console.log(await (await fetch('http://127.0.0.1:8080', { method: 'POST', body: 'x' })).text())",
        );
        assert_eq!(later, "x#4\n");
    }
    assert_eq!(text(&exited(&events).stdout), expected);
}

fn outcome_of(runtime: &Runtime, code: &str) -> String {
    let outcome = outcome(runtime, exec(code));
    assert_eq!(text(&outcome.stderr), "");
    text(&outcome.stdout)
}

#[test]
fn a_snapshot_waits_for_a_program_that_blocks_in_a_turn() {
    let core = core();
    let source = runtime(&core);
    let code = r#"
        process.stdout.write('ready\n');
        const inner = "setTimeout(() => require('fs').writeFileSync('/workspace/made', 'by the child'), 250)";
        execSync(`node -e "${inner}"`);
        globalThis.wait = setTimeout(() => console.log('late'), 300);
        console.log('done');
    "#;
    // A second program would have to rest while the first program waits for its child.
    let mut neighbour = runner(&source);
    neighbour.eval("globalThis.ticks = 0; setInterval(() => ticks++, 5).unref(); globalThis.kept = 1");
    let (process, events) = start(&source, streaming(parent(code)), Dispatch::Worker);
    until_line(&process, &events, "ready");
    let snapshot = take(&source);
    assert!(source.files().read("/workspace/made", 0, 99).is_ok(), "the snapshot was taken after the child's end");
    let RestoredCopy { events: copied, .. } = copy(&core, &snapshot);
    assert_eq!(text(&exited(&copied[&process.pid()]).stdout), "ready\ndone\nlate\n");
    assert_eq!(text(&exited(&events).stdout), "ready\ndone\nlate\n");
    assert_eq!(neighbour.eval("console.log(kept)"), "1");
}

#[test]
fn a_spinning_program_is_named_and_the_others_continue() {
    let core = core();
    let source = runtime(&core);
    let mut resident = runner(&source);
    resident.eval("globalThis.n = 1");
    let (process, events) = start(&source, exec("for (;;) {}"), Dispatch::Worker);
    let options = SnapshotOptions { timeout: Duration::from_millis(100), ..SnapshotOptions::default() };
    let error = try_take(&source, options.clone()).expect_err("a spinning program");
    assert_eq!(error, Error::Busy { pid: process.pid(), command: "node".to_owned(), timeout_ms: 100 });
    assert_eq!(resident.eval("console.log(++n)"), "2", "the programs that rested continue");
    // An evaluation that is requested while the other programs rest is queued, and a cancelled
    // program ends.
    let (sender, taken_events) = channel();
    source.snapshot(options, move |taken| sender.send(taken.map(drop)).expect("the test waits"));
    assert_eq!(resident.eval("console.log(++n)"), "3");
    assert!(taken_events.recv_timeout(STEP_TIMEOUT).expect("a result").is_err());
    process.cancel();
    assert_eq!(code(&exited(&events)), Some("ERR_CANCELED"));
    assert_eq!(take(&source).info().programs, 1);
}

#[test]
fn programs_may_start_and_end_during_a_snapshot() {
    let core = core();
    let limits = Limits { processes: 100, ..Limits::default() };
    let source = core.create_runtime(RuntimeOptions { limits, ..RuntimeOptions::default() }).expect("a runtime");
    let code = "for (let i = 0; i < 12; i++) {
        const children = [0, 1].map((n) => spawn('node', ['-e', `setTimeout(() => process.exit(${n}), 3)`]));
        const codes = await Promise.all(children.map(async (child) => (await once(child, 'close'))[0]));
        if (codes.join() !== '0,1') throw new Error(codes.join());
    }
    console.log('all')";
    let (process, events) = start(&source, parent(code), Dispatch::Worker);
    let mut snapshots = Vec::new();
    let mut taken = 0;
    while source.inner().counts().1 > 0 {
        let snapshot = take(&source);
        taken += 1;
        if taken % 16 == 1 && snapshot.info().programs > 1 {
            snapshots.push(snapshot);
        }
    }
    let original = exited(&events);
    assert_eq!((text(&original.stdout), text(&original.stderr)), ("all\n".into(), String::new()), "{original:?}");
    assert!(!snapshots.is_empty(), "of {taken}");
    for snapshot in snapshots.iter().take(20) {
        let RestoredCopy { runtime, events, .. } = copy(&core, snapshot);
        let outcome = exited(&events[&process.pid()]);
        assert_eq!(
            (text(&outcome.stdout), text(&outcome.stderr)),
            ("all\n".into(), String::new()),
            "{outcome:?} {:?}",
            snapshot.programs()
        );
        until_left(&runtime, (0, 0, 0));
    }
}

#[test]
fn the_shell_and_its_commands_continue() {
    let core = core();
    let source = runtime(&core);
    let command = ProcessOptions {
        mode: Mode::Command,
        args: vec!["-c".to_owned(), "x=5; echo ready; sleep 0.3; echo $((x + 1)) | cat; cat <<< done".to_owned()],
        ..exec("bash")
    };
    let (process, events) = start(&source, streaming(command), Dispatch::Worker);
    until_line(&process, &events, "ready");
    let snapshot = take(&source);
    let RestoredCopy { runtime, events: copied, .. } = copy(&core, &snapshot);
    for outcome in [exited(&copied[&process.pid()]), exited(&events)] {
        assert_eq!((text(&outcome.stdout).as_str(), text(&outcome.stderr).as_str()), ("ready\n6\ndone\n", ""));
    }
    until_left(&runtime, (0, 0, 0));
}
