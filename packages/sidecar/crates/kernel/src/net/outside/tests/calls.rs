//! The system calls: permissions, lookups, and explanations.

use super::*;
use crate::caller::Caller;
use crate::limits::Limits;
use crate::net::outside::testing::HOST_PORT;
use crate::outside::{LookUpAnswer, LookUpFamily, LookUpId, MAX_ADDRESSES, MAX_RECORDS_BYTES};
use crate::permissions::policy::{PermissionPolicy, PermissionRule, ScopePolicy, Verdict};
use crate::testing::FakeCaller;
use crate::{Arguments, Kernel, call};
use coldframe_abi::system_calls::{FileCall, SocketCall};
use std::net::IpAddr;

/// A program of a kernel with an implementation.
struct Program {
    program: Arc<dyn Caller>,
    outside: Arc<FakeOutside>,
}

impl Program {
    /// Makes a program. Only the patterns in `allowed` are allowed outside the runtime.
    fn new(allowed: &[&str], limits: &Limits) -> Self {
        let (kernel, outside) = (Arc::new(Kernel::new(limits)), Arc::new(FakeOutside::default()));
        kernel.set_outside(Some(outside.clone()));
        let patterns = Some(allowed.iter().map(|text| (*text).to_owned()).collect());
        let rule = PermissionRule { verdict: Verdict::Allow, operations: None, patterns };
        let network = Some(ScopePolicy { default: Verdict::Deny, rules: vec![rule] });
        kernel.permissions.set(&PermissionPolicy { network, ..PermissionPolicy::default() }).expect("a good policy");
        Self { program: FakeCaller::root(&kernel, "/"), outside }
    }

    fn kernel(&self) -> &Arc<Kernel> {
        &self.program.process().kernel
    }

    /// Makes a call whose first integers are `first`, then the text and the integer `last`.
    fn sys(&self, number: impl Into<u32>, first: &[i64], text: &str, last: i64) -> Result<i64, Errno> {
        let mut integers = [0; 8];
        integers[..first.len()].copy_from_slice(first);
        let rest = [0, text.len() as i64, last];
        integers[first.len()..first.len() + 3].copy_from_slice(&rest);
        let mut memory = text.as_bytes().to_vec();
        call(&self.program, number.into(), &mut Arguments::new(integers, &mut memory))
    }

    /// Makes a call that fills a buffer.
    fn text(&self, number: impl Into<u32>, first: &[i64]) -> String {
        let (mut integers, mut memory) = ([0; 8], vec![0; 2_000]);
        integers[..first.len()].copy_from_slice(first);
        integers[first.len() + 1] = 2_000;
        let len = call(&self.program, number.into(), &mut Arguments::new(integers, &mut memory)).expect("a text");
        String::from_utf8(memory[..len as usize].to_vec()).expect("UTF-8")
    }

    fn look_up(&self, name: &str, family: i64) -> Result<i64, Errno> {
        self.sys(SocketCall::LookUp, &[], name, family)
    }

    /// Returns the results of the completed operations.
    fn results(&self) -> Vec<(i64, i32, String)> {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let events = self.program.process().operations.take();
        events.into_iter().map(|event| (i64::from(event.operation.get()), event.result, text(event.bytes))).collect()
    }

    /// Sends `abc`.
    fn send(&self, socket: i64, address: &str, port: i64) -> Result<i64, Errno> {
        let mut memory = [b"abc", address.as_bytes()].concat();
        let integers = [socket, 0, 3, 3, address.len() as i64, port, 0, 0];
        call(&self.program, u32::from(SocketCall::Send), &mut Arguments::new(integers, &mut memory))
    }

    fn connect(&self, address: &str, port: i64) -> (i64, Result<i64, Errno>) {
        let socket = self.sys(SocketCall::Socket, &[2, 1], "", 0).expect("room");
        (socket, self.sys(SocketCall::Connect, &[socket], address, port))
    }
}

fn answer(texts: &[&str]) -> LookUpAnswer {
    LookUpAnswer::Addresses(texts.iter().map(|text| text.parse().expect("an address")).collect())
}

fn failure(kind: OutsideFailureKind) -> OutsideFailure {
    OutsideFailure { kind, message: "a message".to_owned() }
}

#[test]
fn the_permission_is_checked_before_the_outside() {
    let program = Program::new(&["example.com", "93.184.216.34:443"], &Limits::default());
    for (address, port) in [("93.184.216.34", 80), ("10.0.0.1", 443), ("169.254.169.254", 80)] {
        assert_eq!(program.connect(address, port).1, Err(Errno::EACCES));
        let reason = program.text(FileCall::Reason, &[]);
        let expected =
            "the permission network.connect is denied by the default of permissions.network; the app can allow it with a rule";
        assert!(reason.starts_with(expected), "{reason}");
    }
    assert_eq!(program.look_up("example.org", 0), Err(Errno::EACCES));
    assert_eq!(program.sys(SocketCall::Query, &[], "example.org", 15), Err(Errno::EACCES));
    assert_eq!(program.outside.take(), []);
    assert_eq!(program.connect("93.184.216.34", 443).1, Err(Errno::EINPROGRESS));
    assert_eq!(program.outside.take(), [Asked::Connect(FLOW, peer())]);
}

#[test]
fn the_permission_is_checked_before_datagrams_leave() {
    let program = Program::new(&["93.184.216.34:443"], &Limits::default());
    let socket = program.sys(SocketCall::Socket, &[2, 2], "", 0).expect("room");
    let connect = |port| program.sys(SocketCall::Connect, &[socket], "93.184.216.34", port);
    assert_eq!(program.send(socket, "93.184.216.34", 80), Err(Errno::EACCES));
    let reason = program.text(FileCall::Reason, &[]);
    assert!(reason.starts_with("the permission network.udp is denied by the default of permissions.network"), "{reason}");
    assert_eq!(connect(80), Err(Errno::EACCES));
    assert_eq!(program.outside.take(), []);
    assert_eq!(program.send(socket, "93.184.216.34", 443), Err(Errno::EAGAIN));
    assert_eq!(program.outside.take(), [Asked::OpenDatagrams(FLOW, peer())]);
    program.kernel().sockets.outside_event(FLOW, OutsideEvent::Connected { local: local(), peer: peer() });
    assert_eq!(connect(443), Ok(0));
    assert_eq!(program.send(socket, "", 0), Ok(3), "to the connected peer");
    assert_eq!(program.outside.take(), [Asked::SendDatagram(FLOW, b"abc".to_vec())]);
    // A change of the policy concerns the next datagram, also of a connected socket.
    let network = Some(ScopePolicy::always(Verdict::Deny));
    program.kernel().permissions.set(&PermissionPolicy { network, ..PermissionPolicy::default() }).expect("a good policy");
    assert_eq!(program.send(socket, "", 0), Err(Errno::EACCES));
    program.kernel().set_outside(None);
    assert_eq!(program.send(socket, "93.184.216.34", 443), Err(Errno::EACCES));
}

#[test]
fn a_lookup_completes_with_the_addresses_of_its_family() {
    let program = Program::new(&["example.com"], &Limits::default());
    let asked = [(0, LookUpFamily::Any), (4, LookUpFamily::V4), (6, LookUpFamily::V6)];
    let operations = asked.map(|(family, _)| program.look_up("example.com", family).expect("allowed"));
    let ids = [1, 2, 3].map(LookUpId::new);
    let expected = |at: usize| Asked::LookUp(ids[at], "example.com".to_owned(), asked[at].1);
    assert_eq!(program.outside.take(), [expected(0), expected(1), expected(2)]);
    let all = answer(&["93.184.216.34", "2606:2800::1", "1.2.3.4"]);
    ids.iter().for_each(|id| program.kernel().looked_up(*id, Ok(all.clone())));
    let texts = ["93.184.216.34 2606:2800::1 1.2.3.4", "93.184.216.34 1.2.3.4", "2606:2800::1"];
    let expected: Vec<_> = operations.iter().zip(texts).map(|(operation, text)| (*operation, 0, text.to_owned())).collect();
    assert_eq!(program.results(), expected);
    // A second result has no effect.
    program.kernel().looked_up(ids[0], Ok(all));
    assert_eq!((program.results(), program.kernel().sockets.outside_counts()), (vec![], (0, 0)));
    assert_eq!(program.look_up("example.com", 5), Err(Errno::EAFNOSUPPORT));
    assert_eq!(program.kernel().usage.kernel_bytes(), 0, "no charge is left");
}

#[test]
fn names_of_the_machine_and_names_that_never_exist_are_not_asked() {
    let program = Program::new(&["*"], &Limits::default());
    for name in ["localhost", "a.localhost", "LOCALHOST."] {
        assert_eq!((program.look_up(name, 0), program.sys(SocketCall::Query, &[], name, 1)), (Ok(0), Ok(0)));
    }
    for name in ["", "host.invalid", &"a".repeat(64), "a..b"] {
        assert_eq!(program.look_up(name, 0), Err(Errno::ENOENT));
    }
    assert_eq!(program.outside.take(), []);
}

#[test]
fn a_query_completes_with_the_records() {
    let program = Program::new(&["*"], &Limits::default());
    let operation = program.sys(SocketCall::Query, &[], "example.com", 15).expect("allowed");
    assert_eq!(program.outside.take(), [Asked::Query(LookUpId::new(1), "example.com".to_owned(), 15)]);
    program.kernel().looked_up(LookUpId::new(1), Ok(LookUpAnswer::Records("[]".to_owned())));
    assert_eq!(program.results(), [(operation, 0, "[]".to_owned())]);
}

#[test]
fn a_failure_has_a_code_and_a_refusal_an_explanation() {
    let program = Program::new(&["*"], &Limits::default());
    let denied = OutsideFailureKind::Denied { reason: "not-allowed".to_owned(), rule: None };
    let limit = OutsideFailureKind::Limit { name: "wildcardNames".to_owned() };
    let explained = "the permission network.dns is denied by the option network: a message\0not-allowed";
    let reached = "the limit network.limits.wildcardNames is reached: a message\0limit";
    let cases = [
        (OutsideFailureKind::Dns("EAI_AGAIN".to_owned()), "EAI_AGAIN".to_owned(), "EAI_AGAIN".to_owned()),
        (OutsideFailureKind::Dns("E\0\n".to_owned()), "E??".to_owned(), "E??".to_owned()),
        (denied, format!("ENOTFOUND\0{explained}"), format!("ENOTFOUND\0{explained}")),
        (limit, format!("EAI_AGAIN\0{reached}"), format!("EREFUSED\0{reached}")),
        (OutsideFailureKind::Errno(Errno::EIO), "EAI_AGAIN".to_owned(), "ECONNREFUSED".to_owned()),
    ];
    for (number, (kind, of_look_up, of_query)) in (1..).zip(cases) {
        let look_up = program.look_up("example.com", 0).expect("allowed");
        let query = program.sys(SocketCall::Query, &[], "example.com", 1).expect("allowed");
        program.kernel().looked_up(LookUpId::new(2 * number - 1), Err(failure(kind.clone())));
        program.kernel().looked_up(LookUpId::new(2 * number), Err(failure(kind)));
        assert_eq!(program.results(), [(look_up, -5, of_look_up), (query, -5, of_query)]);
    }
}

#[test]
fn a_hostile_answer_is_bounded_and_of_the_right_kind() {
    let program = Program::new(&["*"], &Limits::default());
    let ask = |at: u64, family: Option<i64>, answer: LookUpAnswer| {
        let begun = match family {
            Some(family) => program.look_up("example.com", family),
            None => program.sys(SocketCall::Query, &[], "example.com", 1),
        };
        begun.expect("allowed");
        program.kernel().looked_up(LookUpId::new(at), Ok(answer));
        program.results().remove(0).2
    };
    let many = vec![IpAddr::from([1, 2, 3, 4]); 10_000];
    assert_eq!(ask(1, Some(0), LookUpAnswer::Addresses(many)).split(' ').count(), MAX_ADDRESSES);
    assert_eq!(ask(2, Some(6), answer(&["1.2.3.4"])), "ENODATA");
    assert_eq!(ask(3, Some(0), LookUpAnswer::Records("[]".to_owned())), "EAI_FAIL");
    assert_eq!(ask(4, None, answer(&["1.2.3.4"])), "EBADRESP");
    assert_eq!(ask(5, None, LookUpAnswer::Records("x".repeat(MAX_RECORDS_BYTES + 1))), "EBADRESP");
    assert_eq!(ask(6, None, LookUpAnswer::Records("x".repeat(MAX_RECORDS_BYTES))).len(), MAX_RECORDS_BYTES);
}

#[test]
fn a_cancelled_lookup_and_the_lookups_of_an_ended_program_never_complete() {
    let program = Program::new(&["*"], &Limits::default());
    let operation = program.look_up("a.example", 0).expect("allowed");
    program.look_up("b.example", 0).expect("allowed");
    program.outside.take();
    let cancel = |operation| {
        let mut integers = [0; 8];
        integers[0] = operation;
        call(&program.program, SocketCall::CancelLookUp.into(), &mut Arguments::new(integers, &mut []))
    };
    assert_eq!((cancel(operation), cancel(operation), cancel(0), cancel(77)), (Ok(1), Ok(0), Ok(0), Ok(0)));
    assert_eq!(program.outside.take(), [Asked::Cancel(LookUpId::new(1))]);
    program.kernel().looked_up(LookUpId::new(1), Ok(answer(&["1.2.3.4"])));
    assert_eq!(program.results(), []);
    program.program.process().close();
    assert_eq!(program.outside.take(), [Asked::Cancel(LookUpId::new(2))]);
    assert_eq!(program.kernel().sockets.outside_counts(), (0, 0));
}

#[test]
fn bounds_the_lookups_in_progress() {
    let program = Program::new(&["*"], &Limits::default());
    let begun = (0..2_000).take_while(|_| program.look_up("example.com", 0).is_ok()).count();
    assert_eq!((begun, program.look_up("example.com", 0)), (1_024, Err(Errno::ENOBUFS)));
    program.kernel().set_outside(None);
    let results = program.results();
    assert!(results.len() == begun && results.iter().all(|(_, result, text)| *result == -5 && text == "EAI_AGAIN"));
    let small = Program::new(&["*"], &Limits { kernel_bytes: 65_536, ..Limits::default() });
    let begun = (0..2_000).take_while(|_| small.look_up("example.com", 0).is_ok()).count();
    assert!((100..1_024).contains(&begun), "{begun}");
}

#[test]
fn a_refused_connection_is_explained_once() {
    let program = Program::new(&["*"], &Limits::default());
    let (socket, _) = program.connect("93.184.216.34", 443);
    let kind = OutsideFailureKind::Denied { reason: "denied".to_owned(), rule: Some("deny[0]".to_owned()) };
    program.kernel().sockets.outside_event(FLOW, OutsideEvent::Closed(Some(failure(kind))));
    assert_eq!(program.sys(SocketCall::Error, &[socket], "", 0), Err(Errno::EACCES));
    let expected = "the permission network.connect is denied by the rule network.deny[0]: a message\0denied\0deny[0]";
    assert_eq!(program.text(SocketCall::Explain, &[socket]), expected);
    assert_eq!(program.text(SocketCall::Explain, &[socket]), "");
}

#[test]
fn an_opened_port_of_the_loopback_leads_to_the_host_machine_if_no_program_listens() {
    let program = Program::new(&["127.0.0.1:*", "[::1]:*"], &Limits::default());
    let port = i64::from(HOST_PORT);
    let here = SocketAddr::from(([127, 0, 0, 1], HOST_PORT));
    for (flow, address) in (1..).zip(["127.0.0.1", "0.0.0.0"]) {
        assert_eq!(program.connect(address, port).1, Err(Errno::EINPROGRESS));
        assert_eq!(program.outside.take(), [Asked::Connect(FlowId::new(flow), here)]);
    }
    // The address of the permission and of the flow is the IPv4 address.
    let long = program.sys(SocketCall::Socket, &[10, 1], "", 0).expect("room");
    assert_eq!(program.sys(SocketCall::Connect, &[long], "::ffff:127.0.0.1", port), Err(Errno::EINPROGRESS));
    assert_eq!(program.outside.take(), [Asked::Connect(FlowId::new(3), here)]);
    assert_eq!(program.connect("127.0.0.1", port + 1).1, Err(Errno::ECONNREFUSED), "another port");
    assert_eq!(program.connect("127.0.0.2", port).1, Err(Errno::EACCES), "the permission is checked first");
    // A listener of the runtime has the port.
    let listener = program.sys(SocketCall::Socket, &[2, 1], "", 0).expect("room");
    program.sys(SocketCall::Bind, &[listener], "127.0.0.1", port).expect("a free port");
    let mut integers = [0; 8];
    (integers[0], integers[1]) = (listener, 1);
    call(&program.program, SocketCall::Listen.into(), &mut Arguments::new(integers, &mut [])).expect("a bound socket");
    assert_eq!(program.connect("127.0.0.1", port).1, Ok(0));
    assert_eq!(program.outside.take(), []);
    // A socket that is bound to the loopback reaches the host machine's loopback, and nothing else.
    program.sys(SocketCall::Close, &[listener, 1], "", 0).expect("open");
    let bound = program.sys(SocketCall::Socket, &[2, 1], "", 0).expect("room");
    program.sys(SocketCall::Bind, &[bound], "127.0.0.1", 4_000).expect("a free port");
    assert_eq!(program.sys(SocketCall::Connect, &[bound], "127.0.0.1", port), Err(Errno::EINPROGRESS));
    program.kernel().set_outside(None);
    assert_eq!(program.connect("127.0.0.1", port).1, Err(Errno::ECONNREFUSED), "nothing outside");
}
