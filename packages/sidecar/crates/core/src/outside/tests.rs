//! Tests of the link with an edge that the test plays: the test reads and writes the other end of
//! the socket pair.

use super::edge::Edge;
use super::link::Launch;
use super::runtime_outside::{Owner, RuntimeOutside};
use coldframe_edge_link::{
    Change, Decision, Decoder, Existing, Failure, FailureKind, Message, Options, OptionsChange, ToEdge, ToSidecar, VERSION,
    WallPart,
};
use coldframe_error::Error;
use coldframe_kernel::{FlowId, Kernel, Limits, LookUpFamily, LookUpId, Outside};
use coldframe_sys::EdgeProcess;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// The time after which a test that hangs fails.
const HANG: Duration = Duration::from_secs(60);

/// A runtime without programs.
struct TestOwner(Kernel);

impl Owner for TestOwner {
    fn notify(self: Arc<Self>, notice: &mut dyn FnMut(&Kernel)) {
        notice(&self.0);
    }

    fn hand_over(&self, job: Box<dyn FnOnce() + Send>) {
        std::thread::spawn(job);
    }
}

/// The test's end of a link.
struct TestEdge {
    stream: UnixStream,
    decoder: Decoder,
}

impl TestEdge {
    /// Reads the next message. Returns its id and its text.
    fn receive(&mut self) -> (u32, String) {
        loop {
            if let Some(frame) = self.decoder.next_frame().expect("a frame") {
                return (frame.id, format!("{:?}", ToEdge::decode(frame).expect("a message")));
            }
            let count = self.stream.read(self.decoder.spare()).expect("read");
            assert!(count > 0, "the link has ended");
            self.decoder.filled(count);
        }
    }

    fn expect(&mut self, beginning: &str) -> u32 {
        let (id, text) = self.receive();
        assert!(text.starts_with(beginning), "{text}, expected {beginning}");
        id
    }

    fn send(&mut self, id: u32, message: &ToSidecar<'_>) {
        let mut bytes = Vec::new();
        message.encode(id, &mut bytes).expect("encoded");
        self.stream.write_all(&bytes).expect("written");
    }

    /// Sends the messages of the greeting.
    fn greet(&mut self, parts: Vec<WallPart>) {
        self.send(0, &ToSidecar::Hello { version: VERSION });
        self.send(0, &ToSidecar::Walls { parts });
    }

    /// Reads until the link has ended.
    fn expect_end(&mut self) {
        let mut bytes = [0; 4_096];
        while self.stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
    }
}

struct Stage {
    edge: Arc<Edge>,
    owner: Arc<dyn Owner>,
    starts: Receiver<UnixStream>,
}

impl Stage {
    fn new() -> Self {
        Self::with_idle_time(HANG)
    }

    fn with_idle_time(idle: Duration) -> Self {
        Self::with(|launch| Edge::with_idle_time(launch, idle))
    }

    fn with(make: impl FnOnce(Launch) -> Edge) -> Self {
        let (send, starts) = channel();
        let send: Mutex<Sender<UnixStream>> = Mutex::new(send);
        let launch = move || {
            let (ours, theirs) = UnixStream::pair()?;
            theirs.set_read_timeout(Some(HANG))?;
            send.lock().expect("locked").send(theirs).map_err(io::Error::other)?;
            Ok(EdgeProcess { socket: ours.into(), child: None })
        };
        let owner = Arc::new(TestOwner(Kernel::new(&Limits::default())));
        Self { edge: Arc::new(make(Arc::new(launch))), owner, starts }
    }

    fn runtime(&self, number: u64, allow: &str) -> Arc<RuntimeOutside> {
        let owner: Weak<dyn Owner> = Arc::downgrade(&self.owner);
        let options = Options { allow: vec![allow.to_owned()], ..Options::default() };
        RuntimeOutside::new(self.edge.clone(), number, owner, options)
    }

    /// Returns the edge that was started, after the greetings.
    fn started(&self) -> TestEdge {
        let mut edge = self.ungreeted();
        edge.expect(&format!("Hello {{ version: {VERSION} }}"));
        edge.greet(walls(None));
        edge
    }

    /// Returns the edge that was started, which has sent nothing.
    fn ungreeted(&self) -> TestEdge {
        let stream = self.starts.recv_timeout(HANG).expect("a start");
        TestEdge { stream, decoder: Decoder::new() }
    }

    fn is_started(&self) -> bool {
        self.starts.try_recv().is_ok()
    }
}

/// Calls a function with a `Done`. Returns the results.
fn results<T: Send + 'static>(call: impl FnOnce(super::Done<T>)) -> Receiver<Result<T, Error>> {
    let (send, receive) = channel();
    call(Box::new(move |result| drop(send.send(result))));
    receive
}

fn check(runtime: &RuntimeOutside) -> Receiver<Result<Decision, Error>> {
    results(|done| runtime.check("https://a.example/".to_owned(), "GET".to_owned(), done))
}

fn replace_allow(entry: &str) -> OptionsChange {
    OptionsChange { allow: Change::Replace(vec![entry.to_owned()]), ..OptionsChange::default() }
}

/// Returns the report on a wall of two parts.
fn walls(missing: Option<&str>) -> Vec<WallPart> {
    let part = |name: &str, missing: Option<&str>| WallPart { name: name.to_owned(), missing: missing.map(str::to_owned) };
    vec![part("limits", None), part("seccomp", missing)]
}

const ALLOWED: ToSidecar<'_> = ToSidecar::Checked { decision: Decision::Allowed { rule: None } };

#[test]
fn the_edge_starts_with_the_first_use_and_gets_the_options_first() {
    let stage = Stage::new();
    let (one, two) = (stage.runtime(1, "a.example"), stage.runtime(2, "b.example"));
    let updated = results(|done| one.update(replace_allow("c.example"), Existing::Recheck, done));
    assert_eq!(updated.recv_timeout(HANG), Ok(Ok(())));
    let listed = results(|done| one.flows(done));
    assert_eq!(listed.recv_timeout(HANG), Ok(Ok(Vec::new())));
    assert!(!stage.is_started(), "an update and a list need no edge");
    let checked = check(&one);
    let mut edge = stage.started();
    let set = edge.receive();
    assert!(set.1.starts_with("PolicySet { runtime: 1") && set.1.contains("c.example"), "{}", set.1);
    edge.send(set.0, &ToSidecar::Done {});
    let id = edge.expect("Check { runtime: 1");
    edge.send(id, &ALLOWED);
    assert_eq!(checked.recv_timeout(HANG), Ok(Ok(Decision::Allowed { rule: None })));
    two.look_up(LookUpId::new(7), "b.example", LookUpFamily::Any);
    edge.expect("PolicySet { runtime: 2");
    edge.expect("LookUp { runtime: 2, name: \"b.example\", family: Any }");
    assert!(!stage.is_started(), "one edge serves all runtimes");
}

#[test]
fn an_update_ends_when_the_edge_has_the_options() {
    let stage = Stage::new();
    let runtime = stage.runtime(1, "a.example");
    let _checked = check(&runtime);
    let mut edge = stage.started();
    edge.expect("PolicySet");
    edge.expect("Check");
    let first = results(|done| runtime.update(replace_allow("b.example"), Existing::Keep, done));
    let id = edge.expect("PolicyUpdate { runtime: 1");
    assert!(first.try_recv().is_err());
    edge.send(id, &ToSidecar::Done {});
    assert_eq!(first.recv_timeout(HANG), Ok(Ok(())));
    let refused = results(|done| runtime.update(replace_allow("10.0.0.0/8"), Existing::Recheck, done));
    let refused = refused.recv_timeout(HANG).expect("a result").expect_err("refused");
    assert_eq!(refused.code(), "ERR_INVALID_REQUEST");
    assert!(refused.to_string().starts_with("network.allow[0]: expected"), "{refused}");
    assert_eq!(runtime.options().allow, ["b.example"]);
    runtime.end();
    edge.expect("RuntimeEnd { runtime: 1 }");
    assert_eq!(check(&runtime).recv_timeout(HANG), Ok(Err(Error::RuntimeDisposed)));
}

#[test]
fn each_flow_is_closed_exactly_once_by_each_side() {
    let stage = Stage::new();
    let runtime = stage.runtime(1, "a.example");
    let peer = "203.0.113.7:443".parse().expect("an address");
    (1..=2).for_each(|flow| runtime.connect(FlowId::new(flow), peer));
    let mut edge = stage.started();
    edge.expect("PolicySet");
    let ids = [edge.expect("Connect { runtime: 1, peer: 203.0.113.7:443 }"), edge.expect("Connect")];
    runtime.write(FlowId::new(1), &[7; 70_000]);
    assert_eq!(edge.expect("Data([7, 7"), ids[0]);
    assert_eq!(edge.expect("Data([7, 7"), ids[0], "a frame has at most 64 KiB");
    // This side is first.
    runtime.close(FlowId::new(1), true);
    runtime.close(FlowId::new(1), true);
    runtime.write(FlowId::new(1), b"late");
    assert_eq!(edge.expect("Close { reset: true }"), ids[0]);
    edge.send(ids[0], &ToSidecar::End {});
    edge.send(ids[0], &ToSidecar::Closed { failure: None });
    // The edge is first.
    edge.send(ids[1], &ToSidecar::Closed { failure: None });
    assert_eq!(edge.expect("Close { reset: false }"), ids[1]);
    runtime.close(FlowId::new(2), false);
    let _checked = check(&runtime);
    edge.expect("Check");
    // The flow is no longer in use.
    edge.send(ids[1], &ToSidecar::End {});
    edge.expect_end();
}

#[test]
fn the_end_of_an_edge_fails_its_requests_and_the_next_use_starts_another() {
    let stage = Stage::new();
    let runtime = stage.runtime(1, "a.example");
    runtime.connect(FlowId::new(1), "203.0.113.7:443".parse().expect("an address"));
    let checked = check(&runtime);
    let mut edge = stage.started();
    edge.expect("PolicySet");
    edge.expect("Connect");
    edge.expect("Check");
    let updated = results(|done| runtime.update(replace_allow("b.example"), Existing::Recheck, done));
    edge.expect("PolicyUpdate");
    drop(edge);
    let failed = checked.recv_timeout(HANG).expect("a result").expect_err("the edge has ended");
    assert_eq!(failed.code(), "ERR_EDGE_ENDED");
    assert_eq!(updated.recv_timeout(HANG), Ok(Ok(())), "no flow is left, and the next edge gets the new options");
    let checked = check(&runtime);
    let mut edge = stage.started();
    assert!(edge.receive().1.contains("b.example"));
    let id = edge.expect("Check");
    edge.send(id, &ALLOWED);
    assert!(checked.recv_timeout(HANG).expect("a result").is_ok());
}

#[test]
fn a_wrong_message_ends_the_link() {
    let failure = Failure { kind: FailureKind::Errno(5), message: "x".to_owned() };
    let wrong: [(u32, ToSidecar<'_>); 7] = [
        (1, ToSidecar::Hello { version: VERSION }),
        (0, ToSidecar::Walls { parts: walls(None) }),
        (9, ToSidecar::Data(b"of no flow")),
        (9, ToSidecar::Done {}),
        (9, ToSidecar::FlowList { flows: Vec::new(), more: false }),
        (9, ToSidecar::Failed { failure: failure.clone() }),
        (9, ToSidecar::Closed { failure: Some(failure) }),
    ];
    for (id, message) in wrong {
        let stage = Stage::new();
        let checked = check(&stage.runtime(1, "a.example"));
        let mut edge = stage.started();
        edge.send(id, &message);
        let failed = checked.recv_timeout(HANG).expect("a result").expect_err("the link has ended");
        assert!(failed.to_string().contains("broke the rules"), "{message:?}: {failed}");
        edge.expect_end();
    }
}

#[test]
fn a_wrong_greeting_and_bytes_that_are_no_frame_end_the_link() {
    let mut greeting = Vec::new();
    ToSidecar::Hello { version: VERSION + 1 }.encode(0, &mut greeting).expect("encoded");
    for bytes in [greeting, vec![0xff; 64]] {
        let stage = Stage::new();
        let checked = check(&stage.runtime(1, "a.example"));
        let mut stream = stage.starts.recv_timeout(HANG).expect("a start");
        stream.write_all(&bytes).expect("written");
        assert_eq!(checked.recv_timeout(HANG).expect("a result").expect_err("ended").code(), "ERR_EDGE_ENDED");
    }
}

#[test]
fn a_start_that_fails_is_an_error_of_each_request_and_is_not_repeated_at_once() {
    let (send, starts) = channel();
    let send = Mutex::new(send);
    let launch = move || {
        send.lock().expect("locked").send(()).map_err(io::Error::other)?;
        Err(io::ErrorKind::NotFound.into())
    };
    let edge = Arc::new(Edge::new(Arc::new(launch)));
    let owner: Arc<dyn Owner> = Arc::new(TestOwner(Kernel::new(&Limits::default())));
    let weak: Weak<dyn Owner> = Arc::downgrade(&owner);
    let runtime = RuntimeOutside::new(edge, 1, weak, Options::default());
    for _ in 0..3 {
        let failed = check(&runtime).recv_timeout(HANG).expect("a result").expect_err("no program");
        assert!(failed.to_string().contains("cannot be started"), "{failed}");
    }
    assert_eq!(starts.try_iter().count(), 1);
}

#[test]
fn a_closed_edge_starts_no_process() {
    let stage = Stage::new();
    let runtime = stage.runtime(1, "a.example");
    let checked = check(&runtime);
    let mut edge = stage.started();
    stage.edge.close();
    edge.expect_end();
    assert!(checked.recv_timeout(HANG).expect("a result").is_err());
    assert!(check(&runtime).recv_timeout(HANG).expect("a result").is_err());
    assert!(!stage.is_started());
}

#[test]
fn an_edge_without_a_runtime_is_idle_and_the_next_use_starts_another() {
    let stage = Stage::with_idle_time(Duration::ZERO);
    let (one, two) = (stage.runtime(1, "a.example"), stage.runtime(2, "b.example"));
    let checked = [check(&one), check(&two)];
    let mut edge = stage.started();
    for _ in 0..2 {
        let set = edge.expect("PolicySet");
        edge.send(set, &ToSidecar::Done {});
        let id = edge.expect("Check");
        edge.send(id, &ALLOWED);
    }
    checked.iter().for_each(|checked| assert!(checked.recv_timeout(HANG).expect("a result").is_ok()));
    one.end();
    edge.expect("RuntimeEnd { runtime: 1 }");
    // The other runtime keeps the edge, although it uses nothing.
    let checked = check(&two);
    let id = edge.expect("Check { runtime: 2");
    edge.send(id, &ALLOWED);
    assert!(checked.recv_timeout(HANG).expect("a result").is_ok());
    two.end();
    edge.expect_end();
    let three = stage.runtime(3, "c.example");
    let _checked = check(&three);
    let mut next = stage.started();
    next.expect("PolicySet { runtime: 3");
}

#[test]
fn an_edge_that_ends_again_and_again_is_started_a_limited_number_of_times() {
    let stage = Stage::with_idle_time(HANG);
    let runtime = stage.runtime(1, "a.example");
    let (mut starts, began) = (0, Instant::now());
    for _ in 0..200 {
        let checked = check(&runtime);
        let failed = loop {
            if let Ok(stream) = stage.starts.try_recv() {
                starts += 1;
                let mut edge = TestEdge { stream, decoder: Decoder::new() };
                edge.greet(walls(None));
                edge.expect("Hello");
            }
            match checked.try_recv() {
                Ok(result) => break result.expect_err("the edge has ended"),
                Err(_) => std::thread::yield_now(),
            }
        };
        assert_eq!(failed.code(), "ERR_EDGE_ENDED");
    }
    let more = began.elapsed().as_millis() / 500 + 1;
    assert!((32..=32 + more).contains(&starts), "{starts}");
}

#[test]
fn each_edge_gets_the_roots_after_the_greeting_and_a_wrong_list_is_refused() {
    let stage = Stage::new();
    let runtime = stage.runtime(1, "a.example");
    stage.edge.set_roots("-----BEGIN CERTIFICATE-----1").expect("roots");
    assert!(!stage.is_started());
    let first = check(&runtime);
    let mut edge = stage.started();
    edge.expect("Roots { pem: \"-----BEGIN CERTIFICATE-----1\" }");
    edge.expect("PolicySet { runtime: 1");
    edge.expect("Check");
    for wrong in ["", "no certificate", &"-----BEGIN CERTIFICATE-----".repeat(100_000)] {
        assert_eq!(stage.edge.set_roots(wrong).expect_err("refused").code(), "ERR_INVALID_REQUEST");
    }
    stage.edge.set_roots("-----BEGIN CERTIFICATE-----2").expect("roots");
    edge.expect("Roots { pem: \"-----BEGIN CERTIFICATE-----2\" }");
    drop(edge);
    assert!(first.recv_timeout(HANG).expect("a result").is_err());
    let _second = check(&runtime);
    let mut next = stage.started();
    next.expect("Roots { pem: \"-----BEGIN CERTIFICATE-----2\" }");
}

#[test]
fn an_edge_gets_nothing_but_hello_before_its_greeting_is_complete() {
    let stage = Stage::new();
    let checked = check(&stage.runtime(1, "a.example"));
    let mut edge = stage.ungreeted();
    edge.expect("Hello");
    edge.send(0, &ToSidecar::Hello { version: VERSION });
    edge.stream.set_nonblocking(true).expect("set");
    let read = edge.stream.read(&mut [0; 16]).expect_err("nothing to read");
    assert_eq!(read.kind(), io::ErrorKind::WouldBlock);
    edge.stream.set_nonblocking(false).expect("set");
    assert_eq!(stage.edge.walls(), []);
    // A reply before the report breaks the rules of the link.
    edge.send(1, &ALLOWED);
    edge.expect_end();
    let failed = checked.recv_timeout(HANG).expect("a result").expect_err("the link has ended");
    assert!(failed.to_string().contains("broke the rules"), "{failed}");
}

#[test]
fn an_edge_without_a_part_of_its_wall_works_unless_the_wall_is_required() {
    let stage = Stage::new();
    let checked = check(&stage.runtime(1, "a.example"));
    let mut edge = stage.ungreeted();
    edge.expect("Hello");
    edge.greet(walls(Some("EPERM")));
    edge.expect("PolicySet");
    let id = edge.expect("Check");
    edge.send(id, &ALLOWED);
    assert!(checked.recv_timeout(HANG).expect("a result").is_ok());
    assert_eq!(stage.edge.walls(), walls(Some("EPERM")));
}

#[test]
fn a_required_wall_is_complete_or_ends_the_link_before_the_edge_gets_a_message() {
    let make = |launch| Edge::with_idle_time(launch, HANG).requiring_walls(true);
    let reason = "the system lacks parts of the required wall around it: seccomp (EPERM)";
    for (parts, expected) in [(walls(Some("EPERM")), reason), (Vec::new(), "the required wall around it is missing")] {
        let stage = Stage::with(make);
        let runtime = stage.runtime(1, "a.example");
        let checked = check(&runtime);
        let mut edge = stage.ungreeted();
        edge.expect("Hello");
        edge.greet(parts.clone());
        let failed = checked.recv_timeout(HANG).expect("a result");
        assert_eq!(failed, Err(Error::EdgeEnded { reason: expected.to_owned() }));
        let mut rest = Vec::new();
        edge.stream.read_to_end(&mut rest).expect("the end");
        assert_eq!(rest, b"");
        assert_eq!(stage.edge.walls(), parts);
    }
    let stage = Stage::with(make);
    let checked = check(&stage.runtime(1, "a.example"));
    let mut edge = stage.started();
    edge.expect("PolicySet");
    let id = edge.expect("Check");
    edge.send(id, &ALLOWED);
    assert!(checked.recv_timeout(HANG).expect("a result").is_ok());
}
