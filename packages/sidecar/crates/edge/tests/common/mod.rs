//! The sidecar's end of a link, listeners, and a DNS server whose responses a test chooses.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests panics if it fails")]
#![allow(dead_code, reason = "each test file uses its part")]

pub mod dns;
pub mod embedder;
pub mod http;

use coldframe_edge::{LinkFault, Server, Surroundings, Times, serve};
use coldframe_edge_link::*;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A hang fails after this time. No test depends on the time otherwise.
const HANG: Duration = Duration::from_secs(60);

/// A message of the edge.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a test holds few values")]
pub enum Got {
    Data(Vec<u8>),
    Other(ToSidecar<'static>),
}

/// The sidecar's end of a link.
pub struct Sidecar {
    pub stream: UnixStream,
    decoder: Decoder,
    kept: VecDeque<(u32, Got)>,
    edge: Option<JoinHandle<Result<(), LinkFault>>>,
    next_request: u32,
    /// The report on the wall of the edge.
    pub walls: Vec<WallPart>,
}

impl Sidecar {
    /// Starts an edge on a thread, on a host machine with IPv4 and IPv6 addresses.
    pub fn new() -> Self {
        Self::with(Surroundings { has_v4: true, has_v6: true, ..Surroundings::default() })
    }

    pub fn with(surroundings: Surroundings) -> Self {
        let mut this = Self::silent(surroundings);
        this.hello();
        this
    }

    /// Starts an edge with other times of connections.
    pub fn with_times(times: Times) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let surroundings = Surroundings { has_v4: true, has_v6: true, ..Surroundings::default() };
        let edge = std::thread::spawn(move || Server::new(theirs)?.with_times(times).serve(surroundings));
        let mut this = Self { edge: Some(edge), ..Self::over(ours) };
        this.hello();
        this
    }

    /// Starts an edge, and sends nothing.
    pub fn silent(surroundings: Surroundings) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let edge = std::thread::spawn(move || serve(theirs, surroundings));
        Self { edge: Some(edge), ..Self::over(ours) }
    }

    /// Uses the link to an edge that is running.
    pub fn over(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(HANG)).unwrap();
        Self { stream, decoder: Decoder::new(), kept: VecDeque::new(), edge: None, next_request: 0, walls: Vec::new() }
    }

    pub fn hello(&mut self) {
        self.send(0, &ToEdge::Hello { version: VERSION });
        assert_eq!(self.read(), Some((0, Got::Other(ToSidecar::Hello { version: VERSION }))));
        let Some((0, Got::Other(ToSidecar::Walls { parts }))) = self.read() else { panic!("expected Walls") };
        self.walls = parts;
    }

    pub fn send(&mut self, id: u32, message: &ToEdge<'_>) {
        let mut bytes = Vec::new();
        message.encode(id, &mut bytes).unwrap();
        self.stream.write_all(&bytes).unwrap();
    }

    /// Reads the next message. Returns `None` at the end of the link.
    pub fn read(&mut self) -> Option<(u32, Got)> {
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                if frame.kind == ToSidecar::DATA_KIND {
                    return Some((frame.id, Got::Data(frame.payload.to_vec())));
                }
                // Only data refers to the payload.
                let payload = frame.payload.to_vec().leak();
                return Some((frame.id, Got::Other(ToSidecar::decode(Frame { payload, ..frame }).unwrap())));
            }
            match self.stream.read(self.decoder.spare()) {
                Ok(0) => return None,
                Ok(count) => self.decoder.filled(count),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no message of the edge: {error}"),
            }
        }
    }

    /// Returns the next message that `wanted` accepts. Other messages are kept in their order.
    pub fn wait<T>(&mut self, wanted: impl Fn(u32, &Got) -> Option<T>) -> T {
        if let Some(place) = self.kept.iter().position(|(id, got)| wanted(*id, got).is_some()) {
            let (id, got) = self.kept.remove(place).unwrap();
            return wanted(id, &got).unwrap();
        }
        loop {
            let (id, got) = self.read().unwrap_or_else(|| panic!("the link ended; kept {:?}", self.kept));
            match wanted(id, &got) {
                Some(value) => return value,
                None => self.kept.push_back((id, got)),
            }
        }
    }

    /// Drops the kept messages. Returns the ends of flows among them.
    pub fn forget_closed(&mut self) -> Vec<(u32, Option<FailureKind>)> {
        let closed = |(id, got)| match got {
            Got::Other(ToSidecar::Closed { failure }) => Some((id, failure.map(|failure| failure.kind))),
            _ => None,
        };
        self.kept.drain(..).filter_map(closed).collect()
    }

    /// Drops the kept messages.
    pub fn forget(&mut self) {
        self.kept.clear();
    }

    /// Sends a request, and returns its reply.
    pub fn ask(&mut self, message: &ToEdge<'_>) -> ToSidecar<'static> {
        self.next_request += 1;
        let id = self.next_request;
        self.send(id, message);
        self.reply(id)
    }

    pub fn reply(&mut self, request: u32) -> ToSidecar<'static> {
        self.wait(|id, got| match got {
            Got::Other(message) if id == request && is_reply(message) => Some(message.clone()),
            _ => None,
        })
    }

    pub fn set(&mut self, runtime: u64, options: Options) {
        assert_eq!(self.ask(&ToEdge::PolicySet { runtime, options }), ToSidecar::Done {});
    }

    pub fn update(&mut self, runtime: u64, change: OptionsChange, existing: Existing) -> ToSidecar<'static> {
        self.ask(&ToEdge::PolicyUpdate { runtime, change, existing })
    }

    pub fn look_up(&mut self, name: &str, family: LookUpFamily) -> Result<Vec<String>, FailureKind> {
        match self.ask(&ToEdge::LookUp { runtime: 1, name: name.to_owned(), family }) {
            ToSidecar::Addresses { addresses } => Ok(addresses.iter().map(ToString::to_string).collect()),
            ToSidecar::Failed { failure } => Err(failure.kind),
            other => panic!("{other:?}"),
        }
    }

    pub fn query(&mut self, name: &str, record_type: u16) -> Result<String, FailureKind> {
        match self.ask(&ToEdge::Query { runtime: 1, name: name.to_owned(), record_type }) {
            ToSidecar::Records { json } => Ok(json),
            ToSidecar::Failed { failure } => Err(failure.kind),
            other => panic!("{other:?}"),
        }
    }

    /// Waits until a flow is established or closed.
    pub fn opened(&mut self, flow: u32) -> Result<(), Option<FailureKind>> {
        self.wait(|id, got| match got {
            Got::Other(ToSidecar::Connected { .. }) if id == flow => Some(Ok(())),
            Got::Other(ToSidecar::Closed { failure }) if id == flow => {
                Some(Err(failure.as_ref().map(|failure| failure.kind.clone())))
            }
            _ => None,
        })
    }

    /// Opens a flow of runtime 1, and frees its id after a failure.
    pub fn connect(&mut self, flow: u32, peer: SocketAddr) -> Result<(), Option<FailureKind>> {
        self.connect_of(1, flow, peer)
    }

    pub fn connect_of(&mut self, runtime: u64, flow: u32, peer: SocketAddr) -> Result<(), Option<FailureKind>> {
        self.send(flow, &ToEdge::Connect { runtime, peer });
        let opened = self.opened(flow);
        if opened.is_err() {
            self.send(flow, &ToEdge::Close { reset: false });
        }
        opened
    }

    /// Waits for the end of a flow, and drops its other messages. Returns the failure.
    pub fn closed(&mut self, flow: u32) -> Option<FailureKind> {
        self.wait(|id, got| match got {
            Got::Other(ToSidecar::Closed { failure }) if id == flow => Some(failure.as_ref().map(|failure| failure.kind.clone())),
            _ => None,
        })
    }

    /// Reads exactly `count` bytes of a flow, and sends credit for them.
    pub fn receive(&mut self, flow: u32, count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let piece = self.wait(|id, got| match got {
                Got::Data(piece) if id == flow => Some(piece.clone()),
                _ => None,
            });
            self.send(flow, &ToEdge::Credit { bytes: piece.len() as u64 });
            bytes.extend(piece);
        }
        assert_eq!(bytes.len(), count);
        bytes
    }

    /// Reads one message with bytes of a flow.
    pub fn receive_without_credit(&mut self, flow: u32) -> Vec<u8> {
        self.wait(|id, got| match got {
            Got::Data(piece) if id == flow => Some(piece.clone()),
            _ => None,
        })
    }

    pub fn ended(&mut self, flow: u32) {
        self.wait(|id, got| (id == flow && *got == Got::Other(ToSidecar::End {})).then_some(()));
    }

    pub fn event(&mut self) -> Event {
        self.wait(|_, got| match got {
            Got::Other(ToSidecar::Event { event, .. }) => Some(event.clone()),
            _ => None,
        })
    }

    /// Returns the number of flows that the edge lists.
    pub fn flows(&mut self, runtime: u64) -> Vec<FlowInfo> {
        self.next_request += 1;
        let request = self.next_request;
        self.send(request, &ToEdge::Flows { runtime });
        let mut all = Vec::new();
        loop {
            match self.reply(request) {
                ToSidecar::FlowList { flows, more } => {
                    all.extend(flows);
                    if !more {
                        return all;
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// Closes the link, and returns the edge's result. No kept message is left but events.
    pub fn finish(mut self) -> Result<(), LinkFault> {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
        while self.read().is_some() {}
        self.edge.take().unwrap().join().unwrap()
    }
}

fn is_reply(message: &ToSidecar<'_>) -> bool {
    matches!(
        message,
        ToSidecar::Done {}
            | ToSidecar::Failed { .. }
            | ToSidecar::Addresses { .. }
            | ToSidecar::Records { .. }
            | ToSidecar::Checked { .. }
            | ToSidecar::FlowList { .. }
            | ToSidecar::SecretsKey { .. }
    )
}

/// Options that open all ports of the loopback.
pub fn loopback() -> Options {
    Options { private: vec!["127.0.0.0/8:*".to_owned(), "[::1]:*".to_owned()], limits: wide(), ..Options::default() }
}

/// Limits that no test reaches.
pub fn wide() -> Limits {
    Limits {
        connections: 100_000,
        connecting: 100_000,
        connects_per_second: 1_000_000,
        connects_burst: 1_000_000,
        bytes_per_second: 1 << 40,
        bytes: None,
    }
}

/// A listener that counts its connections and serves each on a thread.
pub struct Counting {
    pub address: SocketAddr,
    count: Arc<AtomicUsize>,
}

impl Counting {
    pub fn new(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let (serve, counter) = (Arc::new(serve), count.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                let serve = serve.clone();
                std::thread::spawn(move || serve(stream));
            }
        });
        Self { address, count }
    }

    /// A listener that sends back what it receives.
    pub fn echo() -> Self {
        Self::new(|mut stream| {
            let mut buffer = [0; 65_536];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                if stream.write_all(&buffer[..count]).is_err() {
                    return;
                }
            }
        })
    }

    /// Returns the number of accepted connections. A connection that the system has accepted before
    /// the call is counted, because this function connects last.
    pub fn count(&self) -> usize {
        let before = self.count.load(Ordering::SeqCst);
        let probe = TcpStream::connect(self.address).unwrap();
        while self.count.load(Ordering::SeqCst) == before {
            std::thread::yield_now();
        }
        drop(probe);
        // The probe is the last connection of the queue, and counts once.
        self.count.fetch_sub(1, Ordering::SeqCst) - 1
    }
}

pub fn errno(result: Result<(), Option<FailureKind>>) -> i32 {
    match result {
        Err(Some(FailureKind::Errno(number))) => number,
        other => panic!("{other:?}"),
    }
}

pub fn reason(failure: FailureKind) -> (String, Option<String>) {
    match failure {
        FailureKind::Denied(denied) => (denied.reason, denied.detail),
        other => panic!("{other:?}"),
    }
}
