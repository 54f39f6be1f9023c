//! One runtime at the edge: its policy, its limits, and the task that runs its flows and requests.
//!
//! All flows of a runtime are one task of the scheduler, which runs tasks in turns. A runtime with
//! many flows therefore has no more turns than a runtime with one flow. Next: `flow/mod.rs`,
//! `dns/look_up.rs`.

use crate::datagrams::DatagramFlow;
use crate::describe;
use crate::dns::{Cache, Queried, Resolution, SingleFlight};
use crate::flow::Flow;
use crate::handled::{Names, Requests};
use crate::limits::{ByteRate, FailedPeers, FailurePace};
use crate::link::Shared;
use crate::options::{self, DnsOptions};
use crate::route::Route;
use crate::secrets::{self, Arrival, Keys};
use crate::tls::{Roots, Tickets, TlsFlow};
use coldframe_edge_link::{Event, Existing, Failure, Limits, LookUpFamily, Options, OptionsChange};
use coldframe_egress as egress;
use coldframe_egress::{Current, Family, HostNetwork, Limit, LookupBudgets, Name, PinSet, Policy, PolicyCell, TokenBucket};
use coldframe_secrets::SecretTable;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::cell::RefCell;
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The largest number of look-ups and queries of one runtime that run at a time.
pub const MAX_LOOK_UPS: usize = 256;
/// The largest number of sessions of TLS of one runtime.
pub const MAX_SESSIONS: usize = 4_096;
/// The largest number of requests and flows of one runtime that begin in a turn, and that end. The
/// beginning of a query takes 15 µs, so other runtimes wait for 0.1 ms.
const MOST_IN_TURN: usize = 8;
/// The largest number of flows of datagrams of one runtime.
pub const MAX_DATAGRAM_FLOWS: usize = 64;
/// The shortest time between two events of one limit.
const LIMIT_EVENTS: Duration = Duration::from_secs(1);

type Work = Pin<Box<dyn Future<Output = ()>>>;

/// A runtime.
pub struct Runtime {
    /// The sidecar's number of the runtime.
    pub id: u64,
    /// The state of the link.
    pub shared: Rc<Shared>,
    /// The policy.
    pub cell: PolicyCell,
    /// The other state. No borrow is held while another part runs.
    pub state: RefCell<State>,
    /// The look-ups of addresses that wait for a server.
    pub resolving: SingleFlight<(Name, Family), Resolution>,
    /// The queries that wait for a server.
    pub querying: SingleFlight<(Name, u16), Queried>,
    /// The arrival of the values of secrets.
    pub arrival: Arrival,
    /// The requests to which functions of the app respond.
    pub requests: Requests,
    work: RefCell<Inbox>,
}

/// The state of a runtime besides its policy.
pub struct State {
    options: Options,
    /// The options of DNS.
    pub dns: DnsOptions,
    /// The way to peers.
    pub route: Rc<Route>,
    /// The pins of names to addresses.
    pub pins: PinSet,
    /// The addresses of names to whose requests the app responds.
    pub handled: Names,
    /// The addresses of names.
    pub cache: Cache,
    budgets: LookupBudgets,
    connects: TokenBucket,
    /// The rates of bytes to peers and from peers.
    pub rates: [ByteRate; 2],
    /// The secrets.
    pub secrets: SecretTable,
    /// The default authorities and the authorities of the options. `None` until the first session.
    roots: Option<Arc<Roots>>,
    /// The keys for values of the secrets.
    pub secret_keys: Keys,
    /// Peers to which connections have failed.
    pub failed: FailedPeers,
    /// The flows that are not closed.
    pub flows: HashMap<u32, Rc<Flow>>,
    /// The flows that a limit refused, until the report of the failure.
    pub refused: HashMap<u32, Rc<Flow>>,
    /// The look-ups and queries that have failed, until the report of the failure.
    pub refused_look_ups: usize,
    failures: FailurePace,
    /// The flows of datagrams that are not closed.
    pub datagrams: HashMap<u32, Rc<DatagramFlow>>,
    /// The sessions of TLS that are not closed.
    pub sessions: HashMap<u32, Rc<TlsFlow>>,
    /// The tickets of sessions.
    pub tickets: Arc<Tickets>,
    /// The number of flows that are not established.
    pub connecting: u32,
    /// The number of look-ups and queries that run.
    pub look_ups: usize,
    /// The bytes of both directions.
    pub moved: u64,
    limit_events: HashMap<&'static str, Instant>,
}

#[derive(Default)]
struct Inbox {
    new: Vec<Work>,
    waker: Option<Waker>,
    has_ended: bool,
}

impl Runtime {
    /// Makes a runtime with its first policy, and starts the runtime's task.
    ///
    /// # Errors
    /// Returns the first wrong option.
    pub fn start(id: u64, shared: Rc<Shared>, options: Options) -> Result<Rc<Self>, Failure> {
        let dns = DnsOptions::compile(&options)?;
        let route = Rc::new(Route::compile(&options)?);
        options::check_injected(&options)?;
        let declared = secrets::compile(&options)?;
        let policy = Policy::compile(options::egress(&options)).map_err(|invalid| describe::invalid_rule(&invalid))?;
        let host = HostNetwork::new(shared.surroundings.borrow().facts.clone());
        let now = Instant::now();
        let limits = options.limits;
        let state = State {
            options,
            dns,
            route,
            pins: PinSet::default(),
            handled: Names::default(),
            cache: Cache::default(),
            budgets: LookupBudgets::default(),
            connects: connects(&limits, now),
            rates: [(); 2].map(|()| ByteRate::new(limits.bytes_per_second, now)),
            secrets: SecretTable::default(),
            roots: None,
            secret_keys: Keys::default(),
            failed: FailedPeers::default(),
            flows: HashMap::new(),
            refused: HashMap::new(),
            refused_look_ups: 0,
            failures: FailurePace::default(),
            datagrams: HashMap::new(),
            sessions: HashMap::new(),
            tickets: Arc::default(),
            connecting: 0,
            look_ups: 0,
            moved: 0,
            limit_events: HashMap::new(),
        };
        let cell = PolicyCell::new(Current::new(policy, host));
        let state = RefCell::new(state);
        secrets::replace(&state, declared)?;
        let this = Rc::new(Self {
            id,
            shared,
            cell,
            state,
            resolving: SingleFlight::default(),
            querying: SingleFlight::default(),
            arrival: Arrival::default(),
            requests: Requests::default(),
            work: RefCell::default(),
        });
        tokio::task::spawn_local(this.clone().run());
        Ok(this)
    }

    /// Adds work to the runtime's task.
    pub fn spawn(&self, work: impl Future<Output = ()> + 'static) {
        let mut inbox = self.work.borrow_mut();
        inbox.new.push(Box::pin(work));
        inbox.waker.take().into_iter().for_each(Waker::wake);
    }

    async fn run(self: Rc<Self>) {
        let mut all: FuturesUnordered<Work> = FuturesUnordered::new();
        poll_fn(|cx| self.poll(&mut all, cx)).await;
    }

    fn poll(&self, all: &mut FuturesUnordered<Work>, cx: &mut Context<'_>) -> Poll<()> {
        let mut inbox = self.work.borrow_mut();
        if inbox.has_ended {
            return Poll::Ready(());
        }
        let begin = inbox.new.len().min(MOST_IN_TURN);
        all.extend(inbox.new.drain(..begin));
        if !inbox.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            inbox.waker = Some(cx.waker().clone());
        }
        drop(inbox);
        // A flow that has moved its share wakes itself. After two such flows the set returns, so
        // that the other runtimes have their turns.
        let mut ended = 0;
        while ended < MOST_IN_TURN && all.poll_next_unpin(cx) == Poll::Ready(Some(())) {
            ended += 1;
        }
        let inbox = self.work.borrow();
        if inbox.has_ended {
            return Poll::Ready(());
        }
        if ended == MOST_IN_TURN || !inbox.new.is_empty() {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Ends the runtime. The caller has ended its flows.
    pub fn end(&self) {
        let mut inbox = self.work.borrow_mut();
        inbox.has_ended = true;
        inbox.new.clear();
        inbox.waker.take().into_iter().for_each(Waker::wake);
    }

    /// Changes the options, and judges open flows again. After the call no byte of a flow moves
    /// that the new policy refuses.
    ///
    /// # Errors
    /// Returns the first wrong option. The former options stay in force.
    pub fn change(&self, change: &OptionsChange, existing: Existing) -> Result<(), Failure> {
        let options = self.state.borrow().options.changed(change);
        self.set(options, existing)
    }

    /// Replaces the options, as [`Self::change`] does.
    ///
    /// # Errors
    /// Returns the first wrong option. The former options stay in force.
    pub fn set(&self, options: Options, existing: Existing) -> Result<(), Failure> {
        let dns = DnsOptions::compile(&options)?;
        let route = Rc::new(Route::compile(&options)?);
        options::check_injected(&options)?;
        let declared = secrets::compile(&options)?;
        let kept = match existing {
            Existing::Recheck => egress::Existing::Recheck,
            Existing::Keep => egress::Existing::Keep,
        };
        if options.secrets != self.state.borrow().options.secrets {
            secrets::replace(&self.state, declared)?;
        }
        self.cell.update(options::replacement(&options), kept).map_err(|invalid| describe::invalid_rule(&invalid))?;
        let now = Instant::now();
        {
            let mut state = self.state.borrow_mut();
            let (new, old) = (options.limits, state.options.limits);
            if (new.connects_per_second, new.connects_burst) != (old.connects_per_second, old.connects_burst) {
                state.connects = connects(&new, now);
            }
            state.rates.iter_mut().for_each(|rate| rate.set(new.bytes_per_second, now));
            if options.authorities != state.options.authorities {
                state.roots = None;
            }
            (state.options, state.dns, state.route) = (options, dns, route);
        }
        self.judge_flows(now);
        self.arrival.ask(self);
        Ok(())
    }

    /// Replaces the addresses of the host machine, and judges open flows again.
    pub fn set_host(&self, host: HostNetwork) {
        self.cell.set_host(host);
        self.judge_flows(Instant::now());
    }

    fn judge_flows(&self, now: Instant) {
        let flows: Vec<Rc<Flow>> = self.state.borrow().flows.values().cloned().collect();
        flows.iter().for_each(|flow| flow.judge_again(now));
        let datagrams: Vec<Rc<DatagramFlow>> = self.state.borrow().datagrams.values().cloned().collect();
        datagrams.iter().for_each(|flow| flow.judge_again(now));
    }

    /// Counts a new connection.
    ///
    /// # Errors
    /// Returns the failure of the first reached limit.
    pub fn take_connect(&self) -> Result<(), Failure> {
        let now = Instant::now();
        let mut state = self.state.borrow_mut();
        let limits = state.options.limits;
        let name = if limits.bytes.is_some_and(|bytes| state.moved >= bytes) {
            "bytes"
        } else if state.flows.len() >= limits.connections as usize {
            "connections"
        } else if state.connecting >= limits.connecting {
            "connecting"
        } else if state.failed.is_scan(now) {
            "scan"
        } else if !state.connects.take(1, now) {
            "connectsPerSecond"
        } else {
            return Ok(());
        };
        drop(state);
        Err(self.limit(name))
    }

    /// Counts a new flow of datagrams.
    ///
    /// # Errors
    /// Returns the failure of the first reached limit.
    pub fn take_datagrams(&self) -> Result<(), Failure> {
        let now = Instant::now();
        let mut state = self.state.borrow_mut();
        let name = if state.options.limits.bytes.is_some_and(|bytes| state.moved >= bytes) {
            "bytes"
        } else if state.datagrams.len() >= MAX_DATAGRAM_FLOWS {
            "udpFlows"
        } else if state.failed.is_scan(now) {
            "scan"
        } else if !state.connects.take(1, now) {
            "connectsPerSecond"
        } else {
            return Ok(());
        };
        drop(state);
        Err(self.limit(name))
    }

    /// Takes the bytes of one datagram from the rate of a direction.
    ///
    /// # Errors
    /// Returns the time until the rate allows the datagram.
    pub fn take_datagram(&self, direction: usize, bytes: u64, now: Instant) -> Result<(), Duration> {
        let mut state = self.state.borrow_mut();
        state.rates.get_mut(direction).map_or(Ok(()), |rate| rate.take_whole(bytes, now))
    }

    /// Returns how many of `wanted` bytes may be moved now in a direction, by the rate and the
    /// limit of bytes.
    ///
    /// # Errors
    /// Returns the time until the rate allows bytes.
    pub fn available(&self, direction: usize, wanted: u64, now: Instant) -> Result<u64, Duration> {
        let mut state = self.state.borrow_mut();
        let left = state.options.limits.bytes.map_or(u64::MAX, |limit| limit.saturating_sub(state.moved));
        state.rates.get_mut(direction).map_or(Ok(0), |rate| rate.available(wanted.min(left), now))
    }

    /// Counts moved bytes. Returns whether the limit of bytes is reached.
    pub fn count(&self, bytes: u64) -> bool {
        let mut state = self.state.borrow_mut();
        let limit = state.options.limits.bytes;
        let is_reached = |moved| limit.is_some_and(|limit| moved >= limit);
        let was_reached = is_reached(state.moved);
        state.moved = state.moved.saturating_add(bytes);
        let is_reached = is_reached(state.moved);
        if is_reached && !was_reached {
            state.flows.values().for_each(|flow| flow.wake());
            state.datagrams.values().for_each(|flow| flow.wake());
        }
        is_reached
    }

    /// Waits until a failure may be reported.
    pub async fn pace_failure(&self) {
        let wait = self.state.borrow_mut().failures.take(Instant::now());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    /// Waits until a result may be reported. A success does not wait.
    pub async fn pace<T>(&self, result: &Result<T, Failure>) {
        if result.is_err() {
            self.pace_failure().await;
        }
    }

    /// Returns whether the limit of bytes is reached.
    pub fn is_exhausted(&self) -> bool {
        let state = self.state.borrow();
        state.options.limits.bytes.is_some_and(|limit| state.moved >= limit)
    }

    /// Counts a query below a wildcard.
    pub fn take_query(&self, current: &Current, name: &Name, now: Instant) -> Result<(), Limit> {
        let rule = current.policy().judge_lookup(name).rule();
        match rule.and_then(|rule| current.policy().wildcard(rule)) {
            Some(parent) => self.state.borrow_mut().budgets.take(&parent, name, now),
            None => Ok(()),
        }
    }

    /// Returns the DNS servers.
    pub fn servers(&self) -> Vec<SocketAddr> {
        let state = self.state.borrow();
        if state.dns.servers.is_empty() { self.shared.surroundings.borrow().servers.clone() } else { state.dns.servers.clone() }
    }

    /// Returns whether IPv4 and IPv6 addresses are looked up. A host machine without an address of
    /// its own looks up IPv4 addresses. A local address reaches only peers of its family.
    pub fn families(&self, family: LookUpFamily) -> (bool, bool) {
        let host = self.shared.surroundings.borrow();
        match family {
            LookUpFamily::V4 => (true, false),
            LookUpFamily::V6 => (false, true),
            LookUpFamily::Any => {
                let of_route = self.state.borrow().route.families();
                ((host.has_v4 || !host.has_v6) && of_route.0, host.has_v6 && of_route.1)
            }
        }
    }

    /// Returns the authorities that sessions trust if the guest passes none.
    pub fn roots(&self) -> Arc<Roots> {
        let mut state = self.state.borrow_mut();
        if state.options.authorities.is_empty() {
            return self.shared.roots();
        }
        let State { roots, options, .. } = &mut *state;
        let texts = options.authorities.iter().map(String::as_str);
        roots.get_or_insert_with(|| Arc::new(self.shared.roots().with(texts))).clone()
    }

    /// Forgets the joined authorities, after a change of the default authorities.
    pub fn forget_roots(&self) {
        self.state.borrow_mut().roots = None;
    }

    /// Sends an event if the runtime is watched.
    pub fn event(&self, event: impl FnOnce() -> Event) {
        self.shared.out.event(self.id, event);
    }

    /// Reports a reached limit. Returns the failure.
    pub fn limit(&self, name: &'static str) -> Failure {
        let now = Instant::now();
        let mut state = self.state.borrow_mut();
        let last = state.limit_events.get(name);
        if last.is_none_or(|last| now.saturating_duration_since(*last) >= LIMIT_EVENTS) {
            state.limit_events.insert(name, now);
            drop(state);
            self.event(|| Event::Limit { name: name.to_owned() });
        }
        describe::limit(name)
    }
}

fn connects(limits: &Limits, now: Instant) -> TokenBucket {
    TokenBucket::new(limits.connects_per_second, limits.connects_burst, now)
}
