//! The link: reads messages of the sidecar, and passes them to runtimes and flows. Next: `link.rs`.
//!
//! The sidecar is suspect. A message that breaks the rules of the link ends the link, and with the
//! link all connections.

use crate::address_changes::{Changes, follow};
use crate::datagrams::DatagramFlow;
use crate::describe;
use crate::dns;
use crate::flow::Flow;
use crate::handled::Stream;
use crate::interfaces::Interfaces;
use crate::limits::Times;
use crate::link::{MAX_FLOWS, Request, Shared, Slot};
use crate::link_fault::LinkFault;
use crate::runtime::{MAX_SESSIONS, Runtime};
use crate::secrets;
use crate::surroundings::Surroundings;
use crate::tls::{TlsFlow, parse_roots};
use coldframe_edge_link::{
    CloseReason, Decision, Decoder, Existing, Failure, FlowInfo, Message, Options, OptionsChange, ToEdge, ToSidecar, VERSION,
    WallPart,
};
use futures_util::future::{Either, select};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream as StdStream;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::UnixStream;
use tokio::runtime::{Builder, LocalOptions};

/// The largest number of runtimes.
const MAX_RUNTIMES: usize = 1 << 16;
/// The number of turns after which the scheduler asks the system for events. A runtime that always
/// has bytes to move would otherwise delay the events of other runtimes by 61 turns.
const TURNS_BETWEEN_EVENTS: u32 = 8;
/// The flows in one part of a list, so that a part is shorter than a frame.
const LIST_PART: usize = 500;

/// Serves a link on this thread until the sidecar closes the link.
///
/// # Errors
/// Returns the reason if the link has ended otherwise.
pub fn serve(stream: StdStream, surroundings: Surroundings) -> Result<(), LinkFault> {
    Server::new(stream)?.serve(surroundings)
}

/// A link whose resources of the operating system are open, so that the process can give up its
/// rights before it serves.
pub struct Server {
    scheduler: tokio::runtime::LocalRuntime,
    stream: UnixStream,
    /// `None` if the system refuses, or in tests. The addresses of the start then stay in force.
    interfaces: Option<AsyncFd<Changes>>,
    times: Times,
    walls: Vec<WallPart>,
}

impl Server {
    /// Opens the resources.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub fn new(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let scheduler = Builder::new_current_thread()
            .event_interval(TURNS_BETWEEN_EVENTS)
            .enable_io()
            .enable_time()
            .build_local(LocalOptions::default())?;
        let entered = scheduler.enter();
        let stream = UnixStream::from_std(stream)?;
        drop(entered);
        Ok(Self { scheduler, stream, interfaces: None, times: Times::default(), walls: Vec::new() })
    }

    /// Replaces the longest times of connections.
    pub fn with_times(self, times: Times) -> Self {
        Self { times, ..self }
    }

    /// Sets the parts of the wall that the edge reports after its `Hello`.
    pub fn with_walls(self, walls: Vec<WallPart>) -> Self {
        Self { walls, ..self }
    }

    /// Follows changes of the host machine's addresses. Call before the rights are given up, and
    /// before the addresses are read, so that no change is missed.
    ///
    /// # Errors
    /// Fails if the system refuses.
    pub fn follow_interfaces(&mut self) -> io::Result<()> {
        let entered = self.scheduler.enter();
        let changes = Changes(Interfaces::open()?);
        // SAFETY: `Changes` owns the descriptor, and neither closes nor replaces it while it lives.
        self.interfaces = Some(unsafe { AsyncFd::register_with_interest(changes, Interest::READABLE) }?);
        drop(entered);
        Ok(())
    }

    /// Serves the link on this thread until the sidecar closes the link.
    ///
    /// # Errors
    /// Returns the reason if the link has ended otherwise.
    pub fn serve(self, surroundings: Surroundings) -> Result<(), LinkFault> {
        let Self { scheduler, stream, interfaces, times, walls } = self;
        scheduler.block_on(async {
            let shared = Rc::new(Shared::new(surroundings, times));
            let mut link = Link { shared: shared.clone(), said_hello: false, walls };
            let stream = Rc::new(stream);
            let (writer, out) = (stream.clone(), shared.clone());
            let writer = tokio::task::spawn_local(poll_fn(move |cx| out.out.poll_write(&writer, cx)));
            if let Some(interfaces) = interfaces {
                tokio::task::spawn_local(follow(interfaces, shared));
            }
            // The reader may wait for the writer. Either notices the end of the sidecar.
            let result = match select(pin!(link.read(&stream)), writer).await {
                Either::Left((result, writer)) => {
                    writer.abort();
                    result
                }
                Either::Right((written, _)) => written.map_or(Ok(()), |error| {
                    let has_ended = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset].contains(&error.kind());
                    if has_ended { Ok(()) } else { Err(error.into()) }
                }),
            };
            link.end();
            result
        })
    }
}

struct Link {
    shared: Rc<Shared>,
    said_hello: bool,
    /// The parts of the wall, until `Hello`.
    walls: Vec<WallPart>,
}

impl Link {
    async fn read(&mut self, stream: &UnixStream) -> Result<(), LinkFault> {
        let mut decoder = Decoder::new();
        loop {
            poll_fn(|cx| self.shared.out.poll_space(cx)).await;
            let most = decoder.spare().len();
            let count = poll_fn(|cx| {
                loop {
                    match stream.try_read(decoder.spare()) {
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => match stream.poll_read_ready(cx) {
                            Poll::Ready(Ok(())) => {}
                            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                            Poll::Pending => return Poll::Pending,
                        },
                        result => return Poll::Ready(result),
                    }
                }
            });
            let count = match count.await {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                // The sidecar has ended with unread bytes.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            decoder.filled(count);
            while let Some(frame) = decoder.next_frame().map_err(LinkFault::Invalid)? {
                let message = ToEdge::decode(frame).map_err(LinkFault::Invalid)?;
                self.handle(frame.id, message)?;
            }
            // The flows have their turns after each full buffer of messages. After a buffer that is
            // not full, the next read waits.
            if count == most {
                tokio::task::yield_now().await;
            }
        }
    }

    fn handle(&mut self, id: u32, message: ToEdge<'_>) -> Result<(), LinkFault> {
        if self.said_hello == matches!(message, ToEdge::Hello { .. }) {
            return Err(LinkFault::Rules("Hello as the first message, once"));
        }
        match message {
            ToEdge::Hello { version: VERSION } => {
                self.said_hello = true;
                self.shared.out.send(0, &ToSidecar::Hello { version: VERSION });
                self.shared.out.send(0, &ToSidecar::Walls { parts: std::mem::take(&mut self.walls) });
                Ok(())
            }
            ToEdge::Hello { version } => Err(LinkFault::Version(version)),
            ToEdge::Data(bytes) => match self.shared.datagrams(id) {
                Some(flow) => flow.data(bytes),
                None => self.with_flow(id, |flow| flow.data(bytes), |session| session.data(bytes), |one| one.data(bytes)),
            },
            ToEdge::EmptyDatagram {} => self.shared.with_datagrams(id, |flow| flow.data(&[])),
            ToEdge::Dropped { count } => self.shared.with_datagrams(id, |flow| flow.dropped(count)),
            ToEdge::DatagramsOpen { runtime, peer } => self.shared.open_datagrams(id, runtime, peer),
            ToEdge::Credit { bytes } => {
                self.with_flow(id, |flow| flow.credit(bytes), |session| session.credit(bytes), |one| one.credit(bytes))
            }
            ToEdge::End {} => self.with_flow(id, Flow::end, TlsFlow::end, Stream::end),
            ToEdge::Close { reset } => self.close(id, reset),
            ToEdge::Connect { runtime, peer } => self.connect(id, runtime, peer),
            ToEdge::HandlerOpen { runtime, number } => self.open_handled(id, runtime, number),
            ToEdge::TlsOpen { runtime } => self.open_tls(id, runtime, None),
            ToEdge::TlsAttach { runtime, flow } => self.open_tls(id, runtime, Some(flow)),
            ToEdge::Roots { pem } => {
                self.shared.set_roots(parse_roots([pem.as_str()]));
                Ok(())
            }
            ToEdge::RuntimeEnd { runtime } => {
                self.end_runtime(runtime);
                Ok(())
            }
            ToEdge::Watch { runtime, on } => {
                if !on || self.shared.runtime(runtime).is_some() {
                    self.shared.out.watch(runtime, on);
                }
                Ok(())
            }
            request => match Request::begin(id, &self.shared) {
                Some(reply) => self.request(reply, request),
                None => Err(LinkFault::Rules("a request with a free id")),
            },
        }
    }

    fn request(&mut self, reply: Request, message: ToEdge<'_>) -> Result<(), LinkFault> {
        match message {
            ToEdge::PolicySet { runtime, options } => self.set(reply, runtime, options)?,
            ToEdge::PolicyUpdate { runtime, change, existing } => {
                let result = self.change(runtime, &change, existing);
                reply.finish(result, |()| ToSidecar::Done {});
            }
            ToEdge::LookUp { runtime, name, family } => dns::serve_look_up(&self.shared, reply, runtime, name, family),
            ToEdge::Query { runtime, name, record_type } => dns::serve_query(&self.shared, reply, runtime, name, record_type),
            ToEdge::Check { runtime, url, method } => {
                let result = self.check(runtime, &url, &method);
                reply.finish(result, |decision| ToSidecar::Checked { decision });
            }
            ToEdge::Flows { runtime } => self.list(reply, runtime),
            ToEdge::SecretsKey { runtime } => {
                let made = self.known(runtime).and_then(|of| of.state.borrow_mut().secret_keys.make());
                reply.finish(made, |key| ToSidecar::SecretsKey { key });
            }
            ToEdge::SecretsPut { runtime, key, sealed } => {
                let result = self.known(runtime).and_then(|of| secrets::put(&of, &key, &sealed));
                reply.finish(result, |()| ToSidecar::Done {});
            }
            _ => return Err(LinkFault::Rules("a request")),
        }
        Ok(())
    }

    fn set(&mut self, reply: Request, id: u64, options: Options) -> Result<(), LinkFault> {
        let result = match self.shared.runtime(id) {
            Some(runtime) => runtime.set(options, Existing::Recheck),
            None if self.shared.runtimes.borrow().len() >= MAX_RUNTIMES => {
                return Err(LinkFault::Rules("at most 65536 runtimes"));
            }
            None => Runtime::start(id, self.shared.clone(), options).map(|runtime| {
                runtime.arrival.ask(&runtime);
                self.shared.runtimes.borrow_mut().insert(id, runtime);
            }),
        };
        reply.finish(result, |()| ToSidecar::Done {});
        Ok(())
    }

    fn change(&self, id: u64, change: &OptionsChange, existing: Existing) -> Result<(), Failure> {
        self.known(id)?.change(change, existing)
    }

    fn known(&self, id: u64) -> Result<Rc<Runtime>, Failure> {
        let unknown = || describe::invalid("runtime", "a runtime with a policy", &id.to_string());
        self.shared.runtime(id).ok_or_else(unknown)
    }

    fn check(&self, id: u64, url: &str, method: &str) -> Result<Decision, Failure> {
        let Some(runtime) = self.shared.runtime(id) else { return Ok(Decision::Refused(describe::no_policy())) };
        let (current, state) = (runtime.cell.current(), runtime.state.borrow());
        let decision = coldframe_egress::check(&current, &state.pins, url, method, Instant::now());
        let decision = decision.map_err(|expected| describe::invalid("url", expected, url))?;
        Ok(describe::decision(current.policy(), &decision, None))
    }

    fn list(&self, reply: Request, id: u64) {
        let flows: Vec<FlowInfo> = match self.shared.runtime(id) {
            Some(runtime) => {
                let state = runtime.state.borrow();
                state.flows.values().map(|flow| flow.info()).chain(state.datagrams.values().map(|flow| flow.info())).collect()
            }
            None => Vec::new(),
        };
        let mut parts = flows.chunks(LIST_PART).peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return reply.reply(&ToSidecar::FlowList { flows: part.to_vec(), more: false });
            }
            reply.part(&ToSidecar::FlowList { flows: part.to_vec(), more: true });
        }
        reply.reply(&ToSidecar::FlowList { flows: Vec::new(), more: false });
    }

    fn connect(&self, id: u32, runtime: u64, peer: SocketAddr) -> Result<(), LinkFault> {
        let mut flows = self.shared.flows.borrow_mut();
        if flows.contains_key(&id) || flows.len() >= MAX_FLOWS {
            return Err(LinkFault::Rules("a flow with a free id"));
        }
        let failure = match self.shared.runtime(runtime) {
            Some(of) => match of.take_connect() {
                Ok(()) => {
                    flows.insert(id, Slot::Open(Flow::start(id, &of, peer)));
                    return Ok(());
                }
                Err(failure) => match Flow::start_refused(id, &of, peer, failure) {
                    Ok(slot) => {
                        flows.insert(id, slot);
                        return Ok(());
                    }
                    Err(failure) => failure,
                },
            },
            None => describe::refusal(format_args!("the connection to {peer}"), describe::no_policy()),
        };
        flows.insert(id, Slot::Closed);
        self.shared.out.send(id, &ToSidecar::Closed { failure: Some(failure) });
        Ok(())
    }

    /// Opens a session, over the connection of `flow` if `flow` is present.
    fn open_tls(&self, id: u32, runtime: u64, flow: Option<u32>) -> Result<(), LinkFault> {
        let mut flows = self.shared.flows.borrow_mut();
        if flows.contains_key(&id) || flows.len() >= MAX_FLOWS {
            return Err(LinkFault::Rules("a flow with a free id"));
        }
        let connection = match flow.map(|flow| flows.get(&flow)) {
            None => None,
            Some(Some(Slot::Open(flow))) if flow.runtime().id == runtime => Some(flow.clone()),
            // The connection has ended, and the sidecar does not know yet.
            Some(Some(Slot::Closed)) => {
                flows.insert(id, Slot::Closed);
                self.shared.out.send(id, &ToSidecar::Closed { failure: Some(describe::errno(libc::ECONNRESET)) });
                return Ok(());
            }
            Some(_) => return Err(LinkFault::Rules("a connection of the runtime")),
        };
        let failure = match self.shared.runtime(runtime) {
            Some(of) if of.state.borrow().sessions.len() < MAX_SESSIONS => {
                let session = TlsFlow::start(id, &of, connection.as_ref());
                flows.insert(id, Slot::Tls(session.clone()));
                return connection.map_or(Ok(()), |flow| flow.attach(&session));
            }
            Some(of) => of.limit("tlsSessions"),
            None => describe::refusal("a session of TLS", describe::no_policy()),
        };
        flows.insert(id, Slot::Closed);
        self.shared.out.send(id, &ToSidecar::Closed { failure: Some(failure) });
        Ok(())
    }

    /// Opens a flow to a request to which the app responds.
    fn open_handled(&self, id: u32, runtime: u64, number: u32) -> Result<(), LinkFault> {
        let mut flows = self.shared.flows.borrow_mut();
        if flows.contains_key(&id) || flows.len() >= MAX_FLOWS {
            return Err(LinkFault::Rules("a flow with a free id"));
        }
        let runtime = self.shared.runtime(runtime);
        let stream = runtime.as_ref().map(|runtime| Stream::new(id, runtime));
        let opened = runtime.zip(stream).filter(|(runtime, stream)| runtime.requests.pass(number, stream.clone()));
        match opened {
            Some((_, stream)) => {
                flows.insert(id, Slot::Handled(stream));
            }
            None => {
                // The request has ended, and the sidecar does not know yet.
                flows.insert(id, Slot::Closed);
                self.shared.out.send(id, &ToSidecar::Closed { failure: Some(describe::errno(libc::ECONNRESET)) });
            }
        }
        Ok(())
    }

    fn with_flow(
        &self,
        id: u32,
        call: impl FnOnce(&Flow) -> Result<(), LinkFault>,
        call_session: impl FnOnce(&TlsFlow) -> Result<(), LinkFault>,
        call_handled: impl FnOnce(&Stream) -> Result<(), LinkFault>,
    ) -> Result<(), LinkFault> {
        let flow = match self.shared.flows.borrow().get(&id) {
            Some(Slot::Open(flow)) => flow.clone(),
            Some(Slot::Tls(session)) => {
                let session = session.clone();
                return call_session(&session);
            }
            Some(Slot::Handled(stream)) => {
                let stream = stream.clone();
                return call_handled(&stream);
            }
            Some(Slot::Datagrams(_)) => return Err(LinkFault::Rules("neither End nor Credit of datagrams")),
            Some(Slot::Closed) => return Ok(()),
            None => return Err(LinkFault::Rules("a flow that is in use")),
        };
        call(&flow)
    }

    fn close(&self, id: u32, reset: bool) -> Result<(), LinkFault> {
        let flow = {
            let mut flows = self.shared.flows.borrow_mut();
            match flows.get(&id) {
                Some(Slot::Open(flow)) => flow.clone(),
                Some(Slot::Tls(session)) => {
                    let session = session.clone();
                    drop(flows);
                    return session.close();
                }
                Some(Slot::Handled(stream)) => {
                    let stream = stream.clone();
                    drop(flows);
                    return stream.close();
                }
                Some(Slot::Datagrams(flow)) => {
                    let flow = flow.clone();
                    drop(flows);
                    return flow.close();
                }
                Some(Slot::Closed) => {
                    flows.remove(&id);
                    return Ok(());
                }
                None => return Err(LinkFault::Rules("a flow that is in use")),
            }
        };
        flow.close(reset)
    }

    fn end_runtime(&mut self, id: u64) {
        let removed = self.shared.runtimes.borrow_mut().remove(&id);
        let Some(runtime) = removed else { return };
        let flows: Vec<Rc<Flow>> = {
            let state = runtime.state.borrow();
            state.flows.values().chain(state.refused.values()).cloned().collect()
        };
        flows.iter().for_each(|flow| flow.cut(describe::errno(libc::ECONNRESET), CloseReason::RuntimeEnded));
        let datagrams: Vec<Rc<DatagramFlow>> = runtime.state.borrow().datagrams.values().cloned().collect();
        datagrams.iter().for_each(|flow| flow.cut(describe::errno(libc::ECONNRESET), CloseReason::RuntimeEnded));
        let sessions: Vec<Rc<TlsFlow>> = runtime.state.borrow().sessions.values().cloned().collect();
        sessions.iter().for_each(|session| session.cut(describe::errno(libc::ECONNRESET)));
        self.shared.out.watch(id, false);
        runtime.end();
    }

    fn end(&mut self) {
        let ids: Vec<u64> = self.shared.runtimes.borrow().keys().copied().collect();
        ids.into_iter().for_each(|id| self.end_runtime(id));
        self.shared.flows.borrow_mut().clear();
    }
}
