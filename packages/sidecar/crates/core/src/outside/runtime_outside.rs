//! The outside connections of one runtime: its options, and its flows in the link.
//!
//! The kernel calls [`Outside`] while the runtime's sockets are locked. So no function of this
//! module waits, and none calls the kernel during the kernel's call. Next: `tests.rs`.

use super::edge::Edge;
use super::events::{EventQueue, OutsideEvents, QueueListener};
use super::handled::HandledConnections;
use super::link::{FlowEnd, Link, Request};
use super::options::validate;
use super::secrets::keep_placeholders;
use super::{Done, SecretsKey, convert};
use coldframe_edge_link::window;
use coldframe_edge_link::{Decision, Event, Existing, FlowInfo, LookUpFamily, Options, OptionsChange, ToEdge, WallPart};
use coldframe_egress::{Protocol, loopback_entries};
use coldframe_error::{Errno, Error};
use coldframe_kernel::{DATAGRAM_COST, FlowId, Kernel, LookUpAnswer, LookUpId, Outside, OutsideEvent, OutsideFailure};
use coldframe_panics::process::Mutex;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

// The kernel and the edge process count the datagrams of a window equally.
const _: () = assert!(DATAGRAM_COST == window::DATAGRAM_COST);

/// The runtime that has the connections.
pub(crate) trait Owner: Send + Sync {
    /// Passes a notice to the present kernel of the runtime. A panic breaks only the runtime.
    fn notify(self: Arc<Self>, notice: &mut dyn FnMut(&Kernel));

    /// Runs a job on another thread.
    fn hand_over(&self, job: Box<dyn FnOnce() + Send>);
}

/// The outside connections of one runtime.
pub(crate) struct RuntimeOutside {
    edge: Arc<Edge>,
    /// The runtime's number in the link.
    pub(super) runtime: u64,
    owner: Weak<dyn Owner>,
    pub(super) state: Mutex<State>,
    events: EventQueue,
    pub(super) this: Weak<Self>,
}

pub(super) struct State {
    options: Options,
    /// The addresses of the host machine's loopback that the options open.
    loopback: Loopback,
    /// Whether events are recorded.
    is_watched: bool,
    /// The link whose edge process has the options.
    pub(super) link: Option<Arc<Link>>,
    /// The ids of the open flows in the link.
    flows: HashMap<FlowId, (Arc<Link>, u32)>,
    /// The connections of the embedder to requests.
    pub(super) handled: HandledConnections,
    has_ended: bool,
}

impl RuntimeOutside {
    /// Makes the outside of a runtime with validated options. No edge process is started.
    pub fn new(edge: Arc<Edge>, runtime: u64, owner: Weak<dyn Owner>, options: Options) -> Arc<Self> {
        let loopback = loopback_of(&options);
        let (flows, handled) = (HashMap::new(), HandledConnections::new());
        let state = State { options, loopback, is_watched: false, link: None, flows, handled, has_ended: false };
        Arc::new_cyclic(|this| Self {
            edge,
            runtime,
            owner,
            state: Mutex::new(state),
            events: EventQueue::default(),
            this: this.clone(),
        })
    }

    /// Returns the present options.
    pub fn options(&self) -> Options {
        self.state.lock().options.clone()
    }

    /// Changes the options. `done` is called when the edge process has the new options, or at once
    /// if no edge process has the options. Invalid options change nothing.
    pub fn update(&self, mut change: OptionsChange, existing: Existing, done: Done<()>) {
        let mut state = self.state.lock();
        keep_placeholders(&mut change, &state.options.secrets);
        let options = state.options.changed(&change);
        if let Err(error) = validate(&options) {
            drop(state);
            return done(Err(error));
        }
        // Updates reach the edge in the order in which the options change.
        (state.loopback, state.options) = (loopback_of(&options), options);
        let link = state.link.clone().filter(|link| !link.is_over());
        let Some(link) = link else {
            drop(state);
            return done(Ok(()));
        };
        let message = ToEdge::PolicyUpdate { runtime: self.runtime, change, existing };
        if let Err((Request::Change(done), _)) = link.request(&message, Request::Change(done)) {
            // The link has just ended, and the next edge process gets the new options. The message
            // is not too long, because the options have been validated.
            drop(state);
            done(Ok(()));
        }
    }

    /// Judges a URL.
    pub fn check(&self, url: String, method: String, done: Done<Decision>) {
        match self.link() {
            Some(link) => {
                let sent = link.request(&ToEdge::Check { runtime: self.runtime, url, method }, Request::Check(done));
                sent.unwrap_or_else(|(request, error)| request.fail(error));
            }
            None => done(Err(Error::RuntimeDisposed)),
        }
    }

    /// Lists the open flows. Starts no edge process.
    pub fn flows(&self, done: Done<Vec<FlowInfo>>) {
        let link = self.state.lock().link.clone().filter(|link| !link.is_over());
        match link {
            Some(link) => {
                let sent = link.request(&ToEdge::Flows { runtime: self.runtime }, Request::Flows(done, Vec::new()));
                sent.unwrap_or_else(|(request, error)| request.fail(error));
            }
            None => done(Ok(Vec::new())),
        }
    }

    /// Returns the parts of the wall around the edge process. Starts no edge process.
    pub fn edge_walls(&self) -> Vec<WallPart> {
        self.edge.walls()
    }

    /// Requests a key for values of the secrets. The result is `None` if no edge process has the
    /// options. Starts no edge process.
    pub fn secrets_key(&self, done: Done<Option<SecretsKey>>) {
        let link = self.state.lock().link.clone().filter(|link| !link.is_over());
        match link {
            Some(link) => {
                let sent = link.request(&ToEdge::SecretsKey { runtime: self.runtime }, Request::SecretsKey(done));
                sent.unwrap_or_else(|(request, error)| request.fail(error));
            }
            None => done(Ok(None)),
        }
    }

    /// Passes sealed values to the edge process that made the key.
    pub fn put_secrets(&self, key: SecretsKey, sealed: Vec<u8>, done: Done<()>) {
        let link = self.state.lock().link.clone().filter(|link| !link.is_over());
        match link {
            Some(link) => {
                let message = ToEdge::SecretsPut { runtime: self.runtime, key, sealed };
                let sent = link.request(&message, Request::SecretsPut(done));
                sent.unwrap_or_else(|(request, error)| request.fail(error));
            }
            None => done(Err(Error::EdgeEnded { reason: "its process has exited".to_owned() })),
        }
    }

    /// Reports to the embedder that the edge process needs the values of the secrets.
    pub(super) fn secrets_wanted(&self) {
        self.notify_embedder(|kernel| kernel.host_calls.secrets_wanted());
    }

    /// Passes a notice to the embedder. Not to be called by the kernel's own call.
    pub(super) fn notify_embedder(&self, mut notice: impl FnMut(&Kernel)) {
        if let Some(owner) = self.owner.upgrade() {
            owner.notify(&mut notice);
        }
    }

    /// Replaces or removes the listener for events. Waiting events are dropped.
    pub fn listen(&self, listener: Option<Arc<dyn QueueListener>>) {
        let on = listener.is_some();
        self.events.listen(listener);
        let mut state = self.state.lock();
        state.is_watched = on;
        if let Some(link) = &state.link {
            link.send(0, &ToEdge::Watch { runtime: self.runtime, on });
        }
    }

    /// Takes at most `most` waiting events, in order.
    pub fn take(&self, most: usize) -> OutsideEvents {
        self.events.take(most)
    }

    /// Ends the connections of the runtime. Further connections fail.
    pub fn end(&self) {
        let link = {
            let mut state = self.state.lock();
            state.has_ended = true;
            state.link.take()
        };
        if let Some(link) = link {
            link.end_runtime(self.runtime);
        }
    }

    /// Returns the link to the edge process, which has the options. Returns `None` if the runtime
    /// has ended.
    fn link(&self) -> Option<Arc<Link>> {
        self.link_of(&mut self.state.lock())
    }

    fn link_of(&self, state: &mut State) -> Option<Arc<Link>> {
        if state.has_ended {
            return None;
        }
        if let Some(link) = state.link.as_ref().filter(|link| !link.is_over()) {
            return Some(link.clone());
        }
        let this = self.this.upgrade()?;
        let mut link = self.edge.link();
        let mut is_added = link.add_runtime(self.runtime, &this);
        if !is_added {
            // An idle process may have ended meanwhile.
            link = self.edge.link();
            is_added = link.add_runtime(self.runtime, &this);
        }
        if is_added {
            let message = ToEdge::PolicySet { runtime: self.runtime, options: state.options.clone() };
            // If the link has ended meanwhile, the next use sends the options to another link.
            let _ = link.request(&message, Request::Options);
            if state.is_watched {
                link.send(0, &ToEdge::Watch { runtime: self.runtime, on: true });
            }
        }
        state.link = Some(link.clone());
        Some(link)
    }

    /// Handles an event of the edge.
    pub(super) fn event(&self, event: Event, lost: u64) {
        self.events.push(event, lost);
    }

    /// Passes an event of a flow to its end. Not to be called by the kernel's own call.
    pub(super) fn pass(&self, flow: FlowEnd, event: OutsideEvent<'_>) {
        let flow = match flow {
            FlowEnd::Kernel(flow) => flow,
            FlowEnd::Embedder(id) => return self.pass_to_embedder(id, event),
        };
        let Some(owner) = self.owner.upgrade() else { return };
        let mut event = Some(event);
        owner.notify(&mut |kernel| {
            if let Some(event) = event.take() {
                kernel.sockets.outside_event(flow, event);
            }
        });
    }

    /// Passes the result of a look-up to the kernel. Not to be called by the kernel's own call.
    pub(super) fn looked_up(&self, id: LookUpId, result: Result<LookUpAnswer, OutsideFailure>) {
        let Some(owner) = self.owner.upgrade() else { return };
        let mut result = Some(result);
        owner.notify(&mut |kernel| {
            if let Some(result) = result.take() {
                kernel.looked_up(id, result);
            }
        });
    }

    /// Removes a flow that the edge has closed.
    pub(super) fn forget(&self, flow: FlowEnd, id: u32) {
        // The event of the end removes a connection of the embedder.
        let FlowEnd::Kernel(flow) = flow else { return };
        let mut state = self.state.lock();
        if state.flows.get(&flow).is_some_and(|(_, present)| *present == id) {
            state.flows.remove(&flow);
        }
    }

    /// Calls `then` after the kernel's call has returned.
    fn later(&self, then: impl FnOnce(&Self) + Send + 'static) {
        let (Some(owner), Some(this)) = (self.owner.upgrade(), self.this.upgrade()) else { return };
        owner.hand_over(Box::new(move || then(&this)));
    }

    fn request(&self, id: LookUpId, message: impl FnOnce(u64) -> ToEdge<'static>) {
        let this = self.this.upgrade();
        let sent = match (self.link(), this) {
            (Some(link), Some(this)) => link.request(&message(self.runtime), Request::LookUp(this, id)).is_ok(),
            _ => false,
        };
        if !sent {
            let failure = convert::try_again("the process for outside connections cannot be started");
            self.later(move |this| this.looked_up(id, Err(failure)));
        }
    }

    /// Opens a flow with its first message.
    fn begin(&self, flow: FlowId, message: &ToEdge<'_>) {
        let mut state = self.state.lock();
        let link = self.link_of(&mut state);
        let id = link.as_ref().zip(self.this.upgrade()).and_then(|(link, this)| link.open(&this, FlowEnd::Kernel(flow), message));
        match (link, id) {
            (Some(link), Some(id)) => {
                state.flows.insert(flow, (link, id));
            }
            _ => {
                drop(state);
                let failure = convert::errno(Errno::ENETDOWN, "the process for outside connections cannot be started");
                self.later(move |this| this.pass(FlowEnd::Kernel(flow), OutsideEvent::Closed(Some(failure))));
            }
        }
    }

    fn with_flow(&self, flow: FlowId, call: impl FnOnce(&Link, u32)) {
        let found = self.state.lock().flows.get(&flow).cloned();
        if let Some((link, id)) = found {
            call(&link, id);
        }
    }
}

/// The addresses of the host machine's loopback that options open.
struct Loopback {
    connections: HashSet<SocketAddr>,
    datagrams: HashSet<SocketAddr>,
}

/// Returns the addresses of the host machine's loopback that validated options open.
fn loopback_of(options: &Options) -> Loopback {
    let opened = |protocol| loopback_entries(protocol, &options.private).unwrap_or_default().into_iter().collect();
    Loopback { connections: opened(Protocol::Tcp), datagrams: opened(Protocol::Udp) }
}

impl Outside for RuntimeOutside {
    fn look_up(&self, id: LookUpId, name: &str, family: coldframe_kernel::LookUpFamily) {
        let family = match family {
            coldframe_kernel::LookUpFamily::Any => LookUpFamily::Any,
            coldframe_kernel::LookUpFamily::V4 => LookUpFamily::V4,
            coldframe_kernel::LookUpFamily::V6 => LookUpFamily::V6,
        };
        let name = name.to_owned();
        self.request(id, |runtime| ToEdge::LookUp { runtime, name, family });
    }

    fn query(&self, id: LookUpId, name: &str, record_type: u16) {
        let name = name.to_owned();
        self.request(id, |runtime| ToEdge::Query { runtime, name, record_type });
    }

    fn cancel(&self, _id: LookUpId) {
        // The kernel ignores the result. The edge bounds the look-ups of a runtime.
    }

    fn opens_loopback(&self, peer: SocketAddr) -> bool {
        self.state.lock().loopback.connections.contains(&peer)
    }

    fn opens_loopback_datagrams(&self, peer: SocketAddr) -> bool {
        self.state.lock().loopback.datagrams.contains(&peer)
    }

    fn open_datagrams(&self, flow: FlowId, peer: SocketAddr) {
        self.begin(flow, &ToEdge::DatagramsOpen { runtime: self.runtime, peer });
    }

    fn send_datagram(&self, flow: FlowId, bytes: &[u8]) {
        let message = if bytes.is_empty() { ToEdge::EmptyDatagram {} } else { ToEdge::Data(bytes) };
        self.with_flow(flow, |link, id| link.send(id, &message));
    }

    fn dropped(&self, flow: FlowId, count: u64) {
        self.with_flow(flow, |link, id| link.send(id, &ToEdge::Dropped { count }));
    }

    fn connect(&self, flow: FlowId, peer: SocketAddr) {
        self.begin(flow, &ToEdge::Connect { runtime: self.runtime, peer });
    }

    fn open_tls(&self, flow: FlowId) {
        self.begin(flow, &ToEdge::TlsOpen { runtime: self.runtime });
    }

    fn attach_tls(&self, session: FlowId, connection: FlowId) {
        let mut state = self.state.lock();
        let found = state.flows.get(&connection).cloned();
        let opened = found.zip(self.this.upgrade()).and_then(|((link, flow), this)| {
            let message = ToEdge::TlsAttach { runtime: self.runtime, flow };
            link.open(&this, FlowEnd::Kernel(session), &message).map(|id| (link, id))
        });
        match opened {
            Some(opened) => {
                state.flows.insert(session, opened);
            }
            None => {
                drop(state);
                let failure = convert::errno(Errno::ECONNRESET, "the connection has ended");
                self.later(move |this| this.pass(FlowEnd::Kernel(session), OutsideEvent::Closed(Some(failure))));
            }
        }
    }

    fn write(&self, flow: FlowId, bytes: &[u8]) {
        self.with_flow(flow, |link, id| link.write(id, bytes));
    }

    fn end(&self, flow: FlowId) {
        self.with_flow(flow, |link, id| link.send(id, &ToEdge::End {}));
    }

    fn credit(&self, flow: FlowId, bytes: u64) {
        self.with_flow(flow, |link, id| link.send(id, &ToEdge::Credit { bytes }));
    }

    fn close(&self, flow: FlowId, reset: bool) {
        let found = self.state.lock().flows.remove(&flow);
        if let Some((link, id)) = found {
            link.close_flow(id, reset);
        }
    }
}
