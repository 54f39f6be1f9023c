//! Tests of guests that reach the outside. A thread of the test plays the outside: it answers
//! lookups, and it is every server.

mod connections;
mod names;

use super::{core, exec, outcome, text};
use crate::{Core, Runtime, RuntimeOptions};
use coldframe_error::Errno;
use coldframe_kernel::permissions::policy::{PermissionPolicy, ScopePolicy, Verdict};
use coldframe_kernel::{
    FlowId, Kernel, LookUpAnswer, LookUpFamily, LookUpId, Outside, OutsideEvent, OutsideFailure, OutsideFailureKind,
    STREAM_WINDOW,
};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A call of the kernel.
enum Asked {
    LookUp(LookUpId, String, LookUpFamily),
    Query(LookUpId, String, u16),
    Cancel(LookUpId),
    Connect(FlowId, SocketAddr),
    OpenTls(FlowId),
    AttachTls(FlowId, FlowId),
    Write(FlowId, Vec<u8>),
    End(FlowId),
    Credit(FlowId, u64),
    Close(FlowId, bool),
    /// The end of the test.
    Stop,
}

struct Calls(Mutex<Sender<Asked>>);

impl Calls {
    fn send(&self, asked: Asked) {
        let _ = self.0.lock().expect("no panic").send(asked);
    }
}

impl Outside for Calls {
    fn look_up(&self, id: LookUpId, name: &str, family: LookUpFamily) {
        self.send(Asked::LookUp(id, name.to_owned(), family));
    }
    fn query(&self, id: LookUpId, name: &str, record_type: u16) {
        self.send(Asked::Query(id, name.to_owned(), record_type));
    }
    fn cancel(&self, id: LookUpId) {
        self.send(Asked::Cancel(id));
    }
    fn opens_loopback(&self, _peer: SocketAddr) -> bool {
        false
    }
    fn opens_loopback_datagrams(&self, _peer: SocketAddr) -> bool {
        false
    }
    fn open_datagrams(&self, _flow: FlowId, _peer: SocketAddr) {}
    fn send_datagram(&self, _flow: FlowId, _bytes: &[u8]) {}
    fn dropped(&self, _flow: FlowId, _count: u64) {}
    fn connect(&self, flow: FlowId, peer: SocketAddr) {
        self.send(Asked::Connect(flow, peer));
    }
    fn open_tls(&self, flow: FlowId) {
        self.send(Asked::OpenTls(flow));
    }
    fn attach_tls(&self, session: FlowId, connection: FlowId) {
        self.send(Asked::AttachTls(session, connection));
    }
    fn write(&self, flow: FlowId, bytes: &[u8]) {
        self.send(Asked::Write(flow, bytes.to_vec()));
    }
    fn end(&self, flow: FlowId) {
        self.send(Asked::End(flow));
    }
    fn credit(&self, flow: FlowId, bytes: u64) {
        self.send(Asked::Credit(flow, bytes));
    }
    fn close(&self, flow: FlowId, reset: bool) {
        self.send(Asked::Close(flow, reset));
    }
}

/// The outside of one runtime. Ends with the value.
pub(super) struct World {
    pub(super) runtime: Runtime,
    calls: Arc<Calls>,
    thread: Option<JoinHandle<Vec<String>>>,
}

impl World {
    /// Makes the outside of a runtime, whose programs may then reach it.
    pub(super) fn of(runtime: Runtime) -> Self {
        let (sender, receiver) = channel();
        let calls = Arc::new(Calls(Mutex::new(sender)));
        let network = Some(ScopePolicy::always(Verdict::Allow));
        let kernel = runtime.kernel();
        kernel.permissions.set(&PermissionPolicy { network, ..PermissionPolicy::default() }).expect("a good policy");
        kernel.set_outside(Some(calls.clone()));
        let served = runtime.clone();
        let thread = std::thread::spawn(move || Server::new(served).run(&receiver));
        Self { runtime, calls, thread: Some(thread) }
    }

    pub(super) fn new(core: &Core) -> Self {
        Self::of(core.create_runtime(RuntimeOptions::default()).expect("a runtime"))
    }

    /// Runs a program. Returns its output.
    pub(super) fn run(&self, code: &str) -> String {
        let ended = outcome(&self.runtime, exec(code));
        assert_eq!(text(&ended.stderr), "", "{code}");
        text(&ended.stdout).trim_end().to_owned()
    }

    /// Ends the outside. Returns a line for each connection and each closed flow.
    pub(super) fn stop(mut self) -> Vec<String> {
        self.calls.send(Asked::Stop);
        self.thread.take().map(|thread| thread.join().expect("the outside does not panic")).unwrap_or_default()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.calls.send(Asked::Stop);
    }
}

/// A flow: the bytes that wait for credit, and the number of bytes without credit.
#[derive(Default)]
struct Flow {
    port: u16,
    received: Vec<u8>,
    waiting: Vec<u8>,
    unread: u64,
    ends: bool,
    /// The server has sent its end, and sends nothing more.
    has_ended: bool,
}

struct Server {
    runtime: Runtime,
    flows: HashMap<FlowId, Flow>,
    log: Vec<String>,
}

fn failure(kind: OutsideFailureKind, message: &str) -> OutsideFailure {
    OutsideFailure { kind, message: message.to_owned() }
}

/// Returns the addresses of a name.
fn addresses_of(name: &str, family: LookUpFamily) -> Result<LookUpAnswer, OutsideFailure> {
    let texts: &[&str] = match name {
        "both.example" => &["2001:db8::1", "203.0.113.1"],
        "four.example" => &["203.0.113.1", "203.0.113.2"],
        "six.example" => &["2001:db8::2"],
        "xn--bcher-kva.example" => &["203.0.113.9"],
        "later.example" => return Err(failure(OutsideFailureKind::Dns("EAI_AGAIN".to_owned()), "")),
        "denied.test" => {
            let kind = OutsideFailureKind::Denied { reason: "not-allowed".to_owned(), rule: None };
            return Err(failure(kind, "no rule allows denied.test"));
        }
        _ => return Err(failure(OutsideFailureKind::Dns("ENOTFOUND".to_owned()), "")),
    };
    let all = texts.iter().map(|text| text.parse::<IpAddr>().expect("an address"));
    let fits = |address: &IpAddr| match family {
        LookUpFamily::Any => true,
        LookUpFamily::V4 => address.is_ipv4(),
        LookUpFamily::V6 => address.is_ipv6(),
    };
    let fitting: Vec<IpAddr> = all.filter(fits).collect();
    if fitting.is_empty() {
        return Err(failure(OutsideFailureKind::Dns("ENODATA".to_owned()), ""));
    }
    Ok(LookUpAnswer::Addresses(fitting))
}

/// The fields are in alphabetical order, as the edge writes them.
const SOA: &str = r#"[{"expire":4,"hostmaster":"h.example","minttl":5,"nsname":"ns.example","refresh":2,"retry":3,"serial":1}]"#;

fn records_of(name: &str, record_type: u16) -> Result<LookUpAnswer, OutsideFailure> {
    let records = match (name, record_type) {
        ("four.example", 1) => r#"[{"address":"203.0.113.1","ttl":60},{"address":"203.0.113.2","ttl":61}]"#,
        ("four.example", 15) => r#"[{"exchange":"mx.example","priority":10}]"#,
        ("four.example", 16) => r#"[["v=spf1"," -all"]]"#,
        ("_db._tcp.example", 33) => r#"[{"name":"db.example","port":27017,"priority":1,"weight":2}]"#,
        ("four.example", 6) => SOA,
        ("four.example", 52) => r#"[{"certUsage":3,"data":"0102ff","match":1,"selector":1}]"#,
        ("1.113.0.203.in-addr.arpa", 12) => r#"["four.example"]"#,
        ("broken.example", 1) => "{",
        ("hangs.example", _) => "",
        _ => return Err(failure(OutsideFailureKind::Dns("ENODATA".to_owned()), "")),
    };
    Ok(LookUpAnswer::Records(records.to_owned()))
}

impl Server {
    fn new(runtime: Runtime) -> Self {
        Self { runtime, flows: HashMap::new(), log: Vec::new() }
    }

    fn kernel(&self) -> Arc<Kernel> {
        self.runtime.kernel()
    }

    fn event(&self, flow: FlowId, event: OutsideEvent<'_>) {
        self.kernel().sockets.outside_event(flow, event);
    }

    fn close(&mut self, flow: FlowId, kind: Option<OutsideFailureKind>) {
        self.flows.remove(&flow);
        self.event(flow, OutsideEvent::Closed(kind.map(|kind| failure(kind, "no rule allows it"))));
    }

    fn run(mut self, receiver: &Receiver<Asked>) -> Vec<String> {
        while let Ok(asked) = receiver.recv() {
            match asked {
                Asked::LookUp(id, name, family) => self.kernel().looked_up(id, addresses_of(&name, family)),
                Asked::Query(id, name, record_type) => {
                    let records = records_of(&name, record_type);
                    if records != Ok(LookUpAnswer::Records(String::new())) {
                        self.kernel().looked_up(id, records);
                    }
                }
                Asked::Cancel(id) => self.log.push(format!("cancel {id}")),
                Asked::Connect(flow, peer) => self.connect(flow, peer),
                Asked::AttachTls(session, connection) => self.log.push(format!("tls {session} over {connection}")),
                Asked::OpenTls(flow) => self.log.push(format!("tls {flow}")),
                Asked::Write(flow, bytes) => self.receive(flow, &bytes),
                Asked::End(flow) => self.end(flow),
                Asked::Credit(flow, bytes) => {
                    if let Some(known) = self.flows.get_mut(&flow) {
                        known.unread -= bytes;
                    }
                    self.send(flow, b"", false);
                }
                Asked::Close(flow, reset) => {
                    self.log.push(format!("close {flow} {}", if reset { "reset" } else { "end" }));
                    self.flows.remove(&flow);
                }
                Asked::Stop => break,
            }
        }
        self.log
    }

    /// The port decides about the connection.
    fn connect(&mut self, flow: FlowId, peer: SocketAddr) {
        self.log.push(format!("connect {peer}"));
        let denied = |reason: &str, rule: Option<&str>| OutsideFailureKind::Denied {
            reason: reason.to_owned(),
            rule: rule.map(str::to_owned),
        };
        match (peer.port(), peer.is_ipv6()) {
            // Addresses of IPv6 and port 9 never reply.
            (9, _) | (_, true) => {}
            (81, _) => self.close(flow, Some(OutsideFailureKind::Errno(Errno::ECONNREFUSED))),
            (82, _) => self.close(flow, Some(OutsideFailureKind::Errno(Errno::EHOSTUNREACH))),
            (83, _) => self.close(flow, Some(denied("denied", Some("deny[1]")))),
            (84, _) => self.close(flow, Some(OutsideFailureKind::Limit { name: "connections".to_owned() })),
            (port, _) => {
                self.flows.insert(flow, Flow { port, ..Flow::default() });
                self.event(flow, OutsideEvent::Connected { local: ([10, 0, 0, 7], 40_000).into(), peer });
                if port == 13 {
                    self.send(flow, b"a time", true);
                }
            }
        }
    }

    fn receive(&mut self, flow: FlowId, bytes: &[u8]) {
        self.event(flow, OutsideEvent::Credit(bytes.len() as u64));
        let Some(known) = self.flows.get_mut(&flow) else { return };
        match known.port {
            // A server that resets, and a server that accepts everything.
            85 => self.close(flow, Some(OutsideFailureKind::Errno(Errno::ECONNRESET))),
            86 => known.received.extend(bytes),
            80 => {
                known.received.extend(bytes);
                if known.received.ends_with(b"\r\n\r\n") {
                    known.received.clear();
                    self.send(flow, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false);
                }
            }
            _ => self.send(flow, bytes, false),
        }
    }

    fn end(&mut self, flow: FlowId) {
        let Some(known) = self.flows.get(&flow) else { return };
        let reply = if known.port == 86 { format!("{} bytes", known.received.len()) } else { String::new() };
        self.send(flow, reply.as_bytes(), true);
    }

    /// Sends bytes within the window, and then the end.
    fn send(&mut self, flow: FlowId, bytes: &[u8], ends: bool) {
        let Some(known) = self.flows.get_mut(&flow).filter(|known| !known.has_ended) else { return };
        known.waiting.extend(bytes);
        known.ends |= ends;
        let count = known.waiting.len().min((STREAM_WINDOW - known.unread) as usize);
        let sent: Vec<u8> = known.waiting.drain(..count).collect();
        known.unread += count as u64;
        let is_done = known.waiting.is_empty() && known.ends;
        known.has_ended = is_done;
        sent.chunks(64 << 10).for_each(|piece| self.event(flow, OutsideEvent::Data(piece)));
        if is_done {
            self.event(flow, OutsideEvent::End);
        }
    }
}
