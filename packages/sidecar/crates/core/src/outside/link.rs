//! The connection to one edge process: its threads, the flows, and the requests in flight.
//!
//! The first thread starts the process and then writes the bytes that no caller could write. The
//! second thread reads. The edge process is suspect: a message that breaks the rules of the link
//! ends the link. The end of the link fails every flow and every request exactly once. Next:
//! `runtime_outside.rs`.

use super::convert::{errno, for_embedder, for_kernel, try_again};
use super::greeting::Greeting;
use super::outgoing::{Next, Outgoing, send_all};
use super::runtime_outside::RuntimeOutside;
use super::{Done, SecretsKey};
use coldframe_edge_link::{
    Decision, Decoder, FlowInfo, Frame, Invalid, MAX_DATA_BYTES, Message, ToEdge, ToSidecar, Unencodable, VERSION,
};
use coldframe_error::{Errno, Error};
use coldframe_ids::ConnectionId;
use coldframe_kernel::{FlowId, LookUpAnswer, LookUpId, OutsideEvent};
use coldframe_panics::process::Mutex;
use coldframe_sys::EdgeProcess;
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// The largest number of flows in the reply to one request.
const MAX_LISTED_FLOWS: usize = 65_536;

/// Starts the edge process.
pub(crate) type Launch = Arc<dyn Fn() -> io::Result<EdgeProcess> + Send + Sync>;

/// The connection to one edge process.
pub(crate) struct Link {
    outgoing: Outgoing,
    tables: Mutex<Tables>,
    greeting: Greeting,
    /// The time without a runtime after which the edge process ends.
    idle: Duration,
}

#[derive(Default)]
struct Tables {
    /// The reason why the link has ended.
    ended: Option<String>,
    flows: HashMap<u32, Flow>,
    last_flow: u32,
    requests: HashMap<u32, Request>,
    last_request: u32,
    /// The runtimes whose options the edge has.
    runtimes: HashMap<u64, Arc<RuntimeOutside>>,
}

struct Flow {
    target: Arc<RuntimeOutside>,
    flow: FlowEnd,
    /// Whether `Close` has been sent. Only the edge's `Closed` is missing then.
    is_closed: bool,
}

/// The end of a flow on this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlowEnd {
    /// A flow of the runtime's kernel.
    Kernel(FlowId),
    /// A connection of the embedder, which responds to a request.
    Embedder(ConnectionId),
}

/// A request that the edge has not answered.
pub(crate) enum Request {
    LookUp(Arc<RuntimeOutside>, LookUpId),
    Change(Done<()>),
    Check(Done<Decision>),
    Flows(Done<Vec<FlowInfo>>, Vec<FlowInfo>),
    SecretsKey(Done<Option<SecretsKey>>),
    SecretsPut(Done<()>),
    /// Options that the core has validated.
    Options,
}

impl Link {
    /// Makes a link, whose thread starts the edge process. If no thread can be started, the link
    /// has ended. The process ends when no runtime has used it for the time `idle`. With
    /// `requires_walls`, the link ends if a part of the wall around the process is missing.
    pub fn start(launch: Launch, idle: Duration, requires_walls: bool) -> Arc<Self> {
        let link = Self::unconnected(idle, requires_walls);
        let this = link.clone();
        let thread = std::thread::Builder::new().name("coldframe-edge".to_owned());
        if let Err(error) = thread.spawn(move || this.run(&launch)) {
            link.end(&format!("no thread: {error}"), Errno::ENETDOWN);
        }
        link
    }

    /// Makes a link that has ended.
    pub fn ended(reason: &str) -> Arc<Self> {
        let link = Self::unconnected(Duration::MAX, false);
        link.end(reason, Errno::ENETDOWN);
        link
    }

    fn unconnected(idle: Duration, requires_walls: bool) -> Arc<Self> {
        let greeting = Greeting::new(requires_walls);
        Arc::new(Self { outgoing: Outgoing::default(), tables: Mutex::default(), greeting, idle })
    }

    /// Returns whether the link has ended.
    pub fn is_over(&self) -> bool {
        self.tables.lock().ended.is_some()
    }

    /// Returns the greeting of the edge process.
    pub fn greeting(&self) -> &Greeting {
        &self.greeting
    }

    /// Ends the link, and so the edge process.
    pub fn close(&self) {
        self.outgoing.close();
    }

    /// Adds a runtime, whose events the edge may send. Returns false if the link has ended.
    pub fn add_runtime(&self, runtime: u64, target: &Arc<RuntimeOutside>) -> bool {
        let mut tables = self.tables.lock();
        if tables.ended.is_none() {
            tables.runtimes.insert(runtime, target.clone());
            self.outgoing.set_idle(None);
        }
        tables.ended.is_none()
    }

    /// Ends a runtime.
    pub fn end_runtime(&self, runtime: u64) {
        let mut tables = self.tables.lock();
        let removed = tables.runtimes.remove(&runtime);
        if tables.runtimes.is_empty() {
            self.outgoing.set_idle(Some(self.idle));
        }
        drop(tables);
        if removed.is_some() {
            self.send(0, &ToEdge::RuntimeEnd { runtime });
        }
    }

    /// Ends the link if no runtime uses the edge process and nothing is open.
    fn end_if_unused(&self) {
        let mut tables = self.tables.lock();
        if tables.runtimes.is_empty() && tables.flows.is_empty() && tables.requests.is_empty() {
            // From here on, the next use starts another process.
            tables.ended.get_or_insert_with(|| "it was idle".to_owned());
            drop(tables);
            self.close();
        }
    }

    /// Sends a message without a reply.
    pub fn send(&self, id: u32, message: &ToEdge<'_>) {
        let mut frame = Vec::new();
        // Only options near their bounds are longer than a frame. `request` reports them.
        if message.encode(id, &mut frame).is_ok() && !self.outgoing.push(frame) {
            self.close();
        }
    }

    /// Sends a request. Returns the request and the error if the link has ended, or the message is
    /// longer than a frame.
    pub fn request(&self, message: &ToEdge<'_>, request: Request) -> Result<(), (Request, Error)> {
        let mut tables = self.tables.lock();
        let id = free_id(&mut tables.last_request, |id| id != 0);
        let mut frame = Vec::new();
        let failure = match (&tables.ended, message.encode(id, &mut frame)) {
            (Some(reason), _) => Error::EdgeEnded { reason: reason.clone() },
            (None, Err(error)) => unencodable(&error),
            (None, Ok(())) => {
                tables.requests.insert(id, request);
                drop(tables);
                if !self.outgoing.push(frame) {
                    self.close();
                }
                return Ok(());
            }
        };
        drop(tables);
        Err((request, failure))
    }

    /// Opens a flow. Returns its id, or `None` if the link has ended.
    pub fn open(&self, target: &Arc<RuntimeOutside>, flow: FlowEnd, message: &ToEdge<'_>) -> Option<u32> {
        let mut tables = self.tables.lock();
        if tables.ended.is_some() {
            return None;
        }
        let mut last = tables.last_flow;
        let id = free_id(&mut last, |id| !tables.flows.contains_key(&id));
        tables.last_flow = last;
        tables.flows.insert(id, Flow { target: target.clone(), flow, is_closed: false });
        drop(tables);
        self.send(id, message);
        Some(id)
    }

    /// Sends bytes of a flow.
    pub fn write(&self, id: u32, bytes: &[u8]) {
        for part in bytes.chunks(MAX_DATA_BYTES) {
            self.send(id, &ToEdge::Data(part));
        }
    }

    /// Sends the last message of a flow.
    pub fn close_flow(&self, id: u32, reset: bool) {
        let is_open = self.tables.lock().flows.get_mut(&id).is_some_and(|flow| !std::mem::replace(&mut flow.is_closed, true));
        if is_open {
            self.send(id, &ToEdge::Close { reset });
        }
    }

    fn run(self: &Arc<Self>, launch: &Launch) {
        let EdgeProcess { socket, child } = match launch() {
            Ok(process) => process,
            Err(error) => return self.end(&format!("cannot be started: {error}"), Errno::ENETDOWN),
        };
        let socket = Arc::new(socket);
        let (this, reads) = (self.clone(), socket.clone());
        let reader = std::thread::Builder::new().name("coldframe-edge-in".to_owned()).spawn(move || this.read(&reads));
        match reader {
            Ok(reader) => {
                let mut hello = Vec::new();
                let encoded = ToEdge::Hello { version: VERSION }.encode(0, &mut hello);
                if encoded.is_ok() && self.outgoing.connect(socket.clone()) && send_all(&socket, &hello) {
                    self.write_waiting();
                }
                self.outgoing.close();
                let _ = reader.join();
            }
            Err(error) => self.end(&format!("no thread: {error}"), Errno::ENETDOWN),
        }
        if let Some(mut child) = child {
            // The process has usually ended, because its socket is closed.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Writes the waiting bytes until the link ends.
    fn write_waiting(&self) {
        loop {
            match self.outgoing.next() {
                Next::Write(socket, frames) if frames.iter().all(|frame| send_all(&socket, frame)) => {}
                Next::Idle => self.end_if_unused(),
                Next::Write(..) | Next::End => return,
            }
        }
    }

    /// Reads until the link ends, and then fails all flows and requests.
    fn read(self: &Arc<Self>, socket: &OwnedFd) {
        let mut decoder = Decoder::new();
        let reason = loop {
            let count = match rustix::net::recv(socket, decoder.spare(), rustix::net::RecvFlags::empty()) {
                Ok((0, _)) => break "its process has exited".to_owned(),
                Ok((count, _)) => count,
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => break error.to_string(),
            };
            decoder.filled(count);
            match self.handle_all(&mut decoder) {
                Ok(()) => {}
                Err(Fault::Walls(missing)) => return self.end(&missing, Errno::ENETDOWN),
                Err(fault) => break format!("it broke the rules of the link: {fault}"),
            }
        };
        self.end(&reason, Errno::ECONNRESET);
    }

    fn handle_all(&self, decoder: &mut Decoder) -> Result<(), Fault> {
        while let Some(frame) = decoder.next_frame()? {
            self.handle(frame)?;
        }
        Ok(())
    }

    fn handle(&self, frame: Frame<'_>) -> Result<(), Fault> {
        let id = frame.id;
        let message = ToSidecar::decode(frame)?;
        if !self.greeting.is_over() {
            if self.greeting.receive(message)? {
                self.outgoing.open();
            }
            return Ok(());
        }
        match message {
            ToSidecar::Hello { .. } | ToSidecar::Walls { .. } => return Err(Fault::Greeting),
            ToSidecar::Connected { local, peer } => self.pass(id, OutsideEvent::Connected { local, peer })?,
            ToSidecar::Data(bytes) => self.pass(id, OutsideEvent::Data(bytes))?,
            ToSidecar::EmptyDatagram {} => self.pass(id, OutsideEvent::Data(&[]))?,
            ToSidecar::Unreachable { errno } => {
                // A suspect edge may send any number.
                let errno = Errno::try_from(errno).unwrap_or(Errno::EIO);
                self.pass(id, OutsideEvent::Unreachable(errno))?;
            }
            ToSidecar::Credit { bytes } => self.pass(id, OutsideEvent::Credit(bytes))?,
            ToSidecar::End {} => self.pass(id, OutsideEvent::End)?,
            ToSidecar::Closed { failure } => self.closed(id, failure)?,
            ToSidecar::Event { runtime, event, lost } => {
                // An event may follow the end of its runtime.
                let target = self.tables.lock().runtimes.get(&runtime).cloned();
                if let Some(target) = target {
                    target.event(event, lost);
                }
            }
            ToSidecar::SecretsWanted { runtime } => {
                let target = self.tables.lock().runtimes.get(&runtime).cloned();
                if let Some(target) = target {
                    target.secrets_wanted();
                }
            }
            ToSidecar::HandlerWanted { runtime, number } => {
                let target = self.tables.lock().runtimes.get(&runtime).cloned();
                if let Some(target) = target {
                    target.handler_wanted(number);
                }
            }
            ToSidecar::FlowList { flows, more } => self.listed(id, flows, more)?,
            reply => {
                let request = self.tables.lock().requests.remove(&id).ok_or(Fault::Request(id))?;
                request.answer(reply, id)?;
            }
        }
        Ok(())
    }

    /// Passes an event to the kernel of its flow, unless the flow is closed.
    fn pass(&self, id: u32, event: OutsideEvent<'_>) -> Result<(), Fault> {
        let (target, flow) = {
            let tables = self.tables.lock();
            let Flow { target, flow, is_closed } = tables.flows.get(&id).ok_or(Fault::Flow(id))?;
            if *is_closed {
                return Ok(());
            }
            (target.clone(), *flow)
        };
        target.pass(flow, event);
        Ok(())
    }

    fn closed(&self, id: u32, failure: Option<coldframe_edge_link::Failure>) -> Result<(), Fault> {
        let Flow { target, flow, is_closed } = self.tables.lock().flows.remove(&id).ok_or(Fault::Flow(id))?;
        if !is_closed {
            target.forget(flow, id);
            self.send(id, &ToEdge::Close { reset: false });
            target.pass(flow, OutsideEvent::Closed(failure.map(for_kernel)));
        }
        Ok(())
    }

    fn listed(&self, id: u32, flows: Vec<FlowInfo>, more: bool) -> Result<(), Fault> {
        let mut tables = self.tables.lock();
        let Some(Request::Flows(_, known)) = tables.requests.get_mut(&id) else { return Err(Fault::Request(id)) };
        if known.len() + flows.len() > MAX_LISTED_FLOWS {
            return Err(Fault::Request(id));
        }
        known.extend(flows);
        if more {
            return Ok(());
        }
        let request = tables.requests.remove(&id);
        drop(tables);
        if let Some(Request::Flows(done, flows)) = request {
            done(Ok(flows));
        }
        Ok(())
    }

    /// Ends the link. All flows and requests fail. Further calls have no effect.
    fn end(&self, reason: &str, errno_of_flows: Errno) {
        let (flows, requests, runtimes) = {
            let mut tables = self.tables.lock();
            if tables.ended.is_some() {
                return;
            }
            tables.ended = Some(reason.to_owned());
            (std::mem::take(&mut tables.flows), std::mem::take(&mut tables.requests), std::mem::take(&mut tables.runtimes))
        };
        self.outgoing.close();
        log::debug!(target: "runtime", "the edge process has ended: {reason}");
        let message = format!("the process for outside connections has ended: {reason}");
        for (id, Flow { target, flow, is_closed }) in flows {
            if !is_closed {
                target.forget(flow, id);
                target.pass(flow, OutsideEvent::Closed(Some(errno(errno_of_flows, &message))));
            }
        }
        for request in requests.into_values() {
            match request {
                // No flow is left, and the next edge process gets the new options.
                Request::Change(done) => done(Ok(())),
                Request::LookUp(target, id) => target.looked_up(id, Err(try_again(&message))),
                request => request.fail(Error::EdgeEnded { reason: reason.to_owned() }),
            }
        }
        drop(runtimes);
    }
}

impl Request {
    /// Fails the request. The caller handles the failure of a look-up.
    pub fn fail(self, error: Error) {
        match self {
            Self::Change(done) => done(Err(error)),
            Self::Check(done) => done(Err(error)),
            Self::Flows(done, _) => done(Err(error)),
            Self::SecretsKey(done) => done(Err(error)),
            Self::SecretsPut(done) => done(Err(error)),
            Self::LookUp(..) | Self::Options => {}
        }
    }

    fn answer(self, reply: ToSidecar<'_>, id: u32) -> Result<(), Fault> {
        match (self, reply) {
            (Self::LookUp(target, look_up), ToSidecar::Addresses { addresses }) => {
                target.looked_up(look_up, Ok(LookUpAnswer::Addresses(addresses)));
            }
            (Self::LookUp(target, look_up), ToSidecar::Records { json }) => {
                target.looked_up(look_up, Ok(LookUpAnswer::Records(json)));
            }
            (Self::LookUp(target, look_up), ToSidecar::Failed { failure }) => {
                target.looked_up(look_up, Err(for_kernel(failure)));
            }
            (Self::Change(done), ToSidecar::Done {}) => done(Ok(())),
            (Self::Check(done), ToSidecar::Checked { decision }) => done(Ok(decision)),
            (Self::SecretsKey(done), ToSidecar::SecretsKey { key }) => done(Ok(Some(key))),
            (Self::SecretsPut(done), ToSidecar::Done {}) => done(Ok(())),
            (Self::Options, ToSidecar::Done {}) => {}
            // The core has validated the options, so this is a defect. The edge refuses everything
            // for a runtime without options. The other runtimes must not be affected.
            (Self::Options, ToSidecar::Failed { failure }) => {
                log::debug!(target: "runtime", "the edge process refuses options: {}", failure.message);
            }
            (request, ToSidecar::Failed { failure }) => request.fail(for_embedder(failure)),
            (request, _) => {
                request.fail(Error::EdgeEnded { reason: "it sent a wrong reply".to_owned() });
                return Err(Fault::Request(id));
            }
        }
        Ok(())
    }
}

/// Makes the error of options or a URL that are longer than a frame.
pub(super) fn unencodable(fault: &Unencodable) -> Error {
    let (what, expected) = ("network".to_owned(), "values that fit into a message of 1 MiB".to_owned());
    Error::InvalidRequest { what, expected, received: fault.to_string() }
}

/// Returns the next id that is free. `last` is the last id.
fn free_id(last: &mut u32, is_free: impl Fn(u32) -> bool) -> u32 {
    loop {
        *last = last.wrapping_add(1);
        if is_free(*last) {
            return *last;
        }
    }
}

/// The reason why the edge has broken the rules of the link.
pub(super) enum Fault {
    Message(Invalid),
    Greeting,
    /// Parts of the required wall are missing.
    Walls(String),
    Flow(u32),
    Request(u32),
}

impl From<Invalid> for Fault {
    fn from(invalid: Invalid) -> Self {
        Self::Message(invalid)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(invalid) => invalid.fmt(f),
            Self::Walls(missing) => f.write_str(missing),
            Self::Greeting => f.write_str("a wrong greeting"),
            Self::Flow(id) => write!(f, "a message of the unknown flow {id}"),
            Self::Request(id) => write!(f, "a wrong reply with the id {id}"),
        }
    }
}
