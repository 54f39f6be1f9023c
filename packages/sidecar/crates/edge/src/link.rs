//! The state of the link that all runtimes share. Next: `serve.rs`.

use crate::datagrams::DatagramFlow;
use crate::dns::SingleFlight;
use crate::flow::Flow;
use crate::handled::{Authority, Stream};
use crate::limits::Times;
use crate::outgoing::Outgoing;
use crate::runtime::Runtime;
use crate::surroundings::Surroundings;
use crate::tls::{Roots, TlsFlow, parse_roots};
use coldframe_edge_link::{Failure, FailureKind, ToSidecar};
use coldframe_egress::{HostNetwork, Nat64};
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// The largest number of ids of flows that are in use.
pub const MAX_FLOWS: usize = 1 << 17;
/// The largest number of requests without a reply.
pub const MAX_REQUESTS: usize = 1 << 16;

/// The state of the link.
#[derive(Default)]
pub struct Shared {
    /// The bytes to the sidecar.
    pub out: Outgoing,
    /// The host machine's network.
    pub surroundings: RefCell<Surroundings>,
    /// The longest times of the first steps of a connection.
    pub times: Times,
    /// The time until which the NAT64 prefixes of a list of DNS servers are known.
    pub nat64_known: RefCell<HashMap<Vec<SocketAddr>, Instant>>,
    /// The discoveries of NAT64 prefixes that wait for a server.
    pub discovering: SingleFlight<Vec<SocketAddr>, ()>,
    /// The runtimes with a policy.
    pub runtimes: RefCell<HashMap<u64, Rc<Runtime>>>,
    /// The authorities that sessions of TLS trust if the guest passes none. `None` until the first
    /// session, because reading the system's authorities takes milliseconds.
    roots: RefCell<Option<Arc<Roots>>>,
    /// The authority of sessions to names to whose requests the app responds. `None` in the cell if
    /// the system has no random numbers.
    authority: OnceCell<Option<Authority>>,
    /// The ids of flows that are in use.
    pub flows: RefCell<HashMap<u32, Slot>>,
    /// The space for one datagram of a peer.
    pub datagram: RefCell<Vec<u8>>,
    /// The ids of requests without a reply.
    requests: RefCell<HashSet<u32>>,
}

impl Shared {
    /// Makes the state of a link without runtimes.
    pub fn new(surroundings: Surroundings, times: Times) -> Self {
        Self { surroundings: RefCell::new(surroundings), times, ..Self::default() }
    }

    /// Returns a runtime with a policy.
    pub fn runtime(&self, id: u64) -> Option<Rc<Runtime>> {
        self.runtimes.borrow().get(&id).cloned()
    }

    /// Replaces the addresses of the host machine. Open flows are judged again.
    pub fn set_addresses(&self, all: Vec<(IpAddr, u8)>) {
        self.surroundings.borrow_mut().set_addresses(all);
        self.pass_facts();
    }

    /// Adds NAT64 prefixes of the network, at most `most` in all. Open flows are judged again.
    pub fn add_nat64(&self, found: &[Nat64], most: usize) {
        let mut surroundings = self.surroundings.borrow_mut();
        let known = &mut surroundings.facts.nat64;
        let before = known.len();
        for prefix in found {
            if known.len() < most && !known.contains(prefix) {
                known.push(*prefix);
            }
        }
        let has_changed = known.len() > before;
        drop(surroundings);
        if has_changed {
            self.pass_facts();
        }
    }

    fn pass_facts(&self) {
        let facts = self.surroundings.borrow().facts.clone();
        let runtimes: Vec<Rc<Runtime>> = self.runtimes.borrow().values().cloned().collect();
        runtimes.iter().for_each(|runtime| runtime.set_host(HostNetwork::new(facts.clone())));
    }

    /// Returns the authority of sessions to names to whose requests the app responds.
    pub fn authority(&self) -> Option<&Authority> {
        self.authority.get_or_init(Authority::new).as_ref()
    }

    /// Returns the authorities that sessions trust if the guest passes none.
    pub fn roots(&self) -> Arc<Roots> {
        let read = || Arc::new(parse_roots([self.surroundings.borrow().authorities.as_str()]));
        self.roots.borrow_mut().get_or_insert_with(read).clone()
    }

    /// Replaces the authorities that sessions trust if the guest passes none. Sessions that have
    /// begun keep the former authorities.
    pub fn set_roots(&self, roots: Roots) {
        *self.roots.borrow_mut() = Some(Arc::new(roots));
        self.runtimes.borrow().values().for_each(|runtime| runtime.forget_roots());
    }
}

/// The use of a flow's id.
pub enum Slot {
    /// The edge has not sent `Closed`.
    Open(Rc<Flow>),
    /// A flow of datagrams. The edge has not sent `Closed`.
    Datagrams(Rc<DatagramFlow>),
    /// A session of TLS. The edge has not sent `Closed`.
    Tls(Rc<TlsFlow>),
    /// A request to which the app responds. The edge has not sent `Closed`.
    Handled(Rc<Stream>),
    /// The sidecar has not sent `Close`.
    Closed,
}

/// A request that must have a reply. Dropping the request replies that the runtime has ended.
pub struct Request {
    id: u32,
    shared: Rc<Shared>,
}

impl Request {
    /// Begins a request. Returns `None` if the id is in use, or too many requests have no reply.
    pub fn begin(id: u32, shared: &Rc<Shared>) -> Option<Self> {
        let mut requests = shared.requests.borrow_mut();
        let is_new = requests.len() < MAX_REQUESTS && requests.insert(id);
        is_new.then(|| Self { id, shared: shared.clone() })
    }

    /// Sends a part of the reply.
    pub fn part(&self, message: &ToSidecar<'_>) {
        self.shared.out.send(self.id, message);
    }

    /// Sends the reply.
    pub fn reply(self, message: &ToSidecar<'_>) {
        self.shared.requests.borrow_mut().remove(&self.id);
        self.shared.out.send(self.id, message);
    }

    /// Sends the reply, or the failure.
    pub fn finish<T>(self, result: Result<T, Failure>, reply: impl FnOnce(T) -> ToSidecar<'static>) {
        self.reply(&match result {
            Ok(value) => reply(value),
            Err(failure) => ToSidecar::Failed { failure },
        });
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if self.shared.requests.borrow_mut().remove(&self.id) {
            let kind = FailureKind::Invalid {
                what: "runtime".to_owned(),
                expected: "a runtime that has not ended".to_owned(),
                received: "a runtime that has ended".to_owned(),
            };
            let failure = Failure { kind, message: "the runtime has ended".to_owned() };
            self.shared.out.send(self.id, &ToSidecar::Failed { failure });
        }
    }
}
