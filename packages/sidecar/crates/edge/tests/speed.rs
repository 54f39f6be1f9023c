//! Measurements: `cargo test --release -p coldframe-edge --test speed -- --ignored --nocapture
//! --test-threads=1`. The figures depend on the machine, so no test asserts them. Each table has
//! its floor, which is measured in the same run.
#![expect(clippy::unwrap_used, reason = "a test")]

mod common;

use coldframe_edge_link::*;
use common::*;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Prints the median and the 99th percentile of single calls.
fn report(what: &str, count: usize, mut call: impl FnMut(usize)) -> f64 {
    (0..count / 10).for_each(&mut call);
    let mut times: Vec<Duration> = (0..count)
        .map(|round| {
            let start = Instant::now();
            call(count / 10 + round);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 1_000).min(times.len() - 1)].as_secs_f64() * 1e6;
    println!("{what}: p50 {:.1} µs, p99 {:.1} µs", at(500), at(990));
    at(500)
}

fn echo_of(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Starts the program behind its wall.
fn program() -> (Sidecar, Child) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_coldframe-edge"));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let fd = theirs.as_raw_fd();
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(move || {
            let result = if fd == 3 { libc::fcntl(3, libc::F_SETFD, 0) } else { libc::dup2(fd, 3) };
            if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
        });
    }
    let child = command.spawn().unwrap();
    drop(theirs);
    let mut sidecar = Sidecar::over(ours);
    sidecar.hello();
    (sidecar, child)
}

fn echo() -> Counting {
    Counting::new(|mut stream| {
        let _ = stream.set_nodelay(true);
        let mut buffer = [0; 65_536];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            if stream.write_all(&buffer[..count]).is_err() {
                return;
            }
        }
    })
}

#[test]
#[ignore = "a measurement"]
fn speed_of_a_round_trip_and_of_a_connection() {
    let echo = echo();
    let (mut sidecar, _child) = program();
    sidecar.set(1, loopback());
    let mut plain = echo_of(echo.address);
    let mut byte = [7];
    let floor = report("round trip of 1 byte, plain loopback", 20_000, |_| {
        plain.write_all(&byte).unwrap();
        plain.read_exact(&mut byte).unwrap();
    });
    let (mut one, mut other) = UnixStream::pair().unwrap();
    let thread = std::thread::spawn(move || {
        let mut byte = [0];
        while other.read_exact(&mut byte).is_ok() && other.write_all(&byte).is_ok() {}
    });
    report("round trip of 1 byte, Unix socket pair", 20_000, |_| {
        one.write_all(&byte).unwrap();
        one.read_exact(&mut byte).unwrap();
    });
    drop(one);
    thread.join().unwrap();
    assert_eq!(sidecar.connect(1, echo.address), Ok(()));
    let relayed = report("round trip of 1 byte, through the edge", 20_000, |_| {
        sidecar.send(1, &ToEdge::Data(&[7]));
        sidecar.receive_without_credit(1);
    });
    println!("the edge adds {:.1} µs", relayed - floor);
    report("ping of the edge (a dry run)", 20_000, |_| {
        sidecar.ask(&ToEdge::Check { runtime: 1, url: "http://127.0.0.1:1/".to_owned(), method: String::new() });
    });
    report("connect, 1 byte both ways, close: plain loopback", 3_000, |_| {
        let mut stream = echo_of(echo.address);
        stream.write_all(&byte).unwrap();
        stream.read_exact(&mut byte).unwrap();
    });
    report("connect, 1 byte both ways, close: through the edge", 3_000, |round| {
        let flow = 10 + round as u32;
        sidecar.send(flow, &ToEdge::Connect { runtime: 1, peer: echo.address });
        assert_eq!(sidecar.opened(flow), Ok(()));
        sidecar.send(flow, &ToEdge::Data(&[7]));
        sidecar.receive_without_credit(flow);
        sidecar.send(flow, &ToEdge::Close { reset: false });
        sidecar.closed(flow);
    });
}

#[test]
#[ignore = "a measurement"]
fn speed_of_one_stream() {
    const TOTAL: usize = 2 << 30;
    let flood = Counting::new(|mut stream| {
        let bytes = vec![7; 256 << 10];
        while stream.write_all(&bytes).is_ok() {}
    });
    let sink = Counting::new(|mut stream| {
        let mut buffer = vec![0; 256 << 10];
        while let Ok(1..) = stream.read(&mut buffer) {}
    });
    let rate = |what: &str, start: Instant| {
        println!("{what}: {:.2} GB/s", TOTAL as f64 / start.elapsed().as_secs_f64() / 1e9);
    };
    let mut plain = TcpStream::connect(flood.address).unwrap();
    let mut buffer = vec![0; 256 << 10];
    let (start, mut count) = (Instant::now(), 0);
    while count < TOTAL {
        count += plain.read(&mut buffer).unwrap();
    }
    rate("down, plain loopback", start);
    drop(plain);
    let (mut sidecar, _child) = program();
    sidecar.set(1, loopback());
    assert_eq!(sidecar.connect(1, flood.address), Ok(()));
    let (start, mut count) = (Instant::now(), 0);
    let mut owed = 0;
    while count < TOTAL {
        if let Some((1, Got::Data(bytes))) = sidecar.read() {
            count += bytes.len();
            owed += bytes.len() as u64;
        }
        if owed >= window::CREDIT_STEP {
            sidecar.send(1, &ToEdge::Credit { bytes: std::mem::take(&mut owed) });
        }
    }
    rate("down, through the edge", start);
    sidecar.send(1, &ToEdge::Close { reset: true });
    sidecar.closed(1);
    let mut plain = TcpStream::connect(sink.address).unwrap();
    let start = Instant::now();
    for _ in 0..TOTAL / buffer.len() {
        plain.write_all(&buffer).unwrap();
    }
    rate("up, plain loopback", start);
    drop(plain);
    assert_eq!(sidecar.connect(2, sink.address), Ok(()));
    let piece = vec![7; MAX_DATA_BYTES];
    let mut send = window::SendWindow::default();
    let (start, mut count) = (Instant::now(), 0);
    while count < TOTAL {
        if send.send(piece.len() as u64) {
            sidecar.send(2, &ToEdge::Data(&piece));
            count += piece.len();
            continue;
        }
        if let Some((2, Got::Other(ToSidecar::Credit { bytes }))) = sidecar.read() {
            assert!(send.credit(bytes));
        }
    }
    rate("up, through the edge", start);
}

/// Reads until the end of the response of `Origin::ok`. Returns the number of bytes.
fn response(sidecar: &mut Sidecar, flow: u32) -> u64 {
    let mut received = Vec::new();
    while !received.ends_with(b"ok") {
        received.extend(sidecar.receive_without_credit(flow));
    }
    // Credit of the edge waits among the messages.
    sidecar.forget();
    received.len() as u64
}

#[test]
#[ignore = "a measurement"]
fn speed_of_the_filter() {
    let origin = common::http::Origin::ok();
    let (mut sidecar, _child) = program();
    let host = format!("api.test:{}", origin.port());
    let secrets = vec![common::embedder::entry(&[&host], true)];
    let filtered = common::http::options(vec![common::http::rule(host, Some(&["GET"]), Some(&["/a/**"]))]);
    let limits = Limits { bytes_per_second: 1 << 40, ..wide() };
    sidecar.set(1, Options { secrets, limits, ..filtered });
    let embedder = common::embedder::Embedder::asked(&mut sidecar, 1);
    embedder.value(&mut sidecar, common::embedder::VALUE).unwrap();
    sidecar.set(2, Options { limits, ..loopback() });
    let more = format!("Authorization: Bearer {}\r\nAccept: */*\r\nUser-Agent: node\r\n", common::embedder::KEY);
    let request = common::http::request("GET", "/a/b?c=d", &more);
    let mut ask = |flow: u32, runtime: u64, what: &str| {
        assert_eq!(sidecar.connect_of(runtime, flow, origin.address), Ok(()));
        let mut owed = 0;
        report(what, 10_000, |_| {
            sidecar.send(flow, &ToEdge::Data(&request));
            owed += response(&mut sidecar, flow);
            if owed >= window::CREDIT_STEP {
                sidecar.send(flow, &ToEdge::Credit { bytes: std::mem::take(&mut owed) });
            }
        })
    };
    let plain = ask(1, 2, "GET of 2 bytes, keep-alive, without rules");
    let filter = ask(2, 1, "GET of 2 bytes, keep-alive, with a rule and a secret");
    println!("the filter and the secret add {:.1} µs", filter - plain);
}

/// Measures round trips of runtime 1 while all other flows are read.
fn pings(sidecar: &mut Sidecar, what: &str, mut update: impl FnMut(&mut Sidecar, usize)) {
    const COUNT: usize = 3_000;
    let mut times = Vec::new();
    let mut flood = 0;
    sidecar.send(1, &ToEdge::Data(&[7]));
    let mut start = Instant::now();
    while times.len() < COUNT {
        match sidecar.read() {
            Some((1, Got::Data(_))) => {
                times.push(start.elapsed());
                update(sidecar, times.len());
                start = Instant::now();
                sidecar.send(1, &ToEdge::Data(&[7]));
            }
            Some((flow, Got::Data(bytes))) => {
                flood += bytes.len();
                sidecar.send(flow, &ToEdge::Credit { bytes: bytes.len() as u64 });
            }
            _ => {}
        }
    }
    while !matches!(sidecar.read(), Some((1, Got::Data(_)))) {}
    let total: Duration = times.iter().sum();
    times.sort_unstable();
    let at = |share: usize| times[COUNT * share / 100].as_secs_f64() * 1e6;
    let rate = flood as f64 / total.as_secs_f64() / 1e6;
    println!("{what}: p50 {:.1} µs, p99 {:.1} µs, flood {rate:.0} MB/s", at(50), at(99));
}

#[test]
#[ignore = "a measurement"]
fn speed_beside_a_flooder_and_under_updates() {
    let flood = Counting::new(|mut stream| {
        let bytes = vec![7; 256 << 10];
        while stream.write_all(&bytes).is_ok() {}
    });
    let echo = echo();
    let (mut sidecar, _child) = program();
    sidecar.set(1, loopback());
    assert_eq!(sidecar.connect(1, echo.address), Ok(()));
    pings(&mut sidecar, "round trip, alone", |_, _| {});
    let change = |round: usize| OptionsChange { deny: Change::Replace(names(1, round as u32)), ..OptionsChange::default() };
    let mut request = 1 << 20;
    // One update for each 100 round trips, of which each takes some tens of microseconds.
    let mut update = |sidecar: &mut Sidecar, round: usize| {
        if round.is_multiple_of(100) {
            request += 1;
            sidecar.send(request, &ToEdge::PolicyUpdate { runtime: 1, change: change(round), existing: Existing::Recheck });
        }
    };
    pings(&mut sidecar, "round trip, under updates", &mut update);
    for (what, bytes_per_second) in [("50 MB/s", DEFAULT_BYTES_PER_SECOND), ("without a limit", 1 << 40)] {
        sidecar.set(2, Options { limits: Limits { bytes_per_second, ..wide() }, ..loopback() });
        for flow in 0..64 {
            assert_eq!(sidecar.connect_of(2, 1_000 + flow, flood.address), Ok(()));
        }
        pings(&mut sidecar, &format!("round trip beside 64 flows of another runtime, {what}"), |_, _| {});
        sidecar.send(0, &ToEdge::RuntimeEnd { runtime: 2 });
        (1_000..1_064).for_each(|flow| {
            sidecar.closed(flow);
            sidecar.send(flow, &ToEdge::Close { reset: false });
        });
        sidecar.forget();
    }
}

fn names(count: u32, first: u32) -> Vec<String> {
    (first..first + count).map(|number| format!("203.0.{}.{}:443", 114 + number / 256 % 100, number % 256)).collect()
}

#[test]
#[ignore = "a measurement"]
fn speed_of_updates() {
    let (mut sidecar, _child) = program();
    sidecar.set(1, loopback());
    report("ping of the edge (a dry run)", 5_000, |_| {
        sidecar.ask(&ToEdge::Check { runtime: 1, url: "http://127.0.0.1:1/".to_owned(), method: String::new() });
    });
    let change = |entries: Vec<String>| OptionsChange { deny: Change::Replace(entries), ..OptionsChange::default() };
    report("update of 1 rule", 2_000, |round| {
        sidecar.update(1, change(names(1, round as u32)), Existing::Recheck);
    });
    report("update of 1,000 addresses", 500, |round| {
        sidecar.update(1, change(names(1_000, round as u32)), Existing::Recheck);
    });
    let echo = echo();
    (1..=256).for_each(|flow| assert_eq!(sidecar.connect(flow, echo.address), Ok(())));
    report("update of 1 rule, with 256 open flows that are judged again", 2_000, |round| {
        sidecar.update(1, change(names(1, round as u32)), Existing::Recheck);
    });
}

#[test]
#[ignore = "a measurement"]
fn speed_of_look_ups() {
    let server = common::dns::Server::new(|query| {
        let ttl = if query.name().starts_with("cached") { 3_600 } else { 0 };
        vec![query.answer(&[(&query.name(), ttl, "8.8.8.8")])]
    });
    let (mut sidecar, _child) = program();
    let allow = vec!["cached.example".to_owned(), "asked.example".to_owned()];
    let dns_servers = vec![server.address.to_string()];
    sidecar.set(1, Options { allow, dns_servers, limits: wide(), ..Options::default() });
    report("look-up from the cache", 5_000, |_| drop(sidecar.look_up("cached.example", LookUpFamily::V4).unwrap()));
    report("look-up by a local server", 3_000, |_| drop(sidecar.look_up("asked.example", LookUpFamily::V4).unwrap()));
}

fn resident(child: &Child) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
#[ignore = "a measurement"]
fn memory_of_idle_connections() {
    const COUNT: u32 = 8_000;
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    rustix::process::setrlimit(rustix::process::Resource::Nofile, rustix::process::Rlimit { current: files.maximum, ..files })
        .unwrap();
    // The listener's queue holds the connections. No thread accepts them.
    let listeners: Vec<_> = (0..COUNT / 100).map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let start = Instant::now();
    let (mut sidecar, child) = program();
    println!("start of the process until Hello: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
    sidecar.set(1, loopback());
    println!("resident without connections: {} KiB", resident(&child));
    let before = resident(&child);
    let mut times = Vec::new();
    for flow in 0..COUNT {
        let start = Instant::now();
        let listener = &listeners[(flow / 100) as usize];
        assert_eq!(sidecar.connect(flow + 1, listener.local_addr().unwrap()), Ok(()));
        times.push(start.elapsed());
    }
    let sum = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64();
    println!("resident for each idle connection: {:.2} KiB", (resident(&child) - before) as f64 / f64::from(COUNT));
    println!("last 1,000 connects against the first 1,000: {:.2}", sum(&times[7_000..]) / sum(&times[..1_000]));
}
