//! Shares one resource among flows by weight. A flow is one party that uses the resource: a
//! runtime, whose programs use the workers or the threads for computations.
//!
//! The algorithm is start-time fair queueing (Goyal, Vin and Cheng, 1996). A flow has a virtual
//! time: the time that the flow has used, divided by its weight. The queue serves the flow with the
//! smallest virtual time. Two flows that always have work therefore use the resource in proportion
//! to their weights, however many items each of them has.
//!
//! A flow without work keeps its virtual time. When the flow has work again, its virtual time is
//! raised to at most [`BURST_NS`] before the present virtual time. An idle flow is thus served
//! first, but cannot save up more than the burst. A flow cannot lose a debt by a pause.
//!
//! Within a flow there are two lanes. Fresh items are served before continued items, and after
//! [`MAX_FRESH_STREAK`] fresh items a continued item is served. Next: `tests.rs`, the properties.

#[cfg(test)]
mod tests;

use coldframe_panics::process::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The weight of a flow whose owner sets no weight.
pub const DEFAULT_WEIGHT: u64 = 100;
/// The largest weight. The smallest weight is 1.
pub const MAX_WEIGHT: u64 = 10_000;
/// The time that a flow with the default weight may use before other flows, after a time without
/// work.
pub const BURST_NS: u64 = 6_000_000;
/// The number of fresh items of a flow that may pass a continued item of the flow.
const MAX_FRESH_STREAK: u32 = 8;

/// The lane of an item within its flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// The item has new work.
    Fresh,
    /// The item continues after it used up its share of time.
    Continued,
}

/// One party that shares the resource of a [`FairQueue`].
#[derive(Debug)]
pub struct Flow<T> {
    weight: AtomicU64,
    /// Locked only while the queue's owner has exclusive access to the queue.
    state: Mutex<FlowState<T>>,
}

#[derive(Debug)]
struct FlowState<T> {
    /// The virtual time.
    time: u64,
    /// The key in the queue's order, if the flow has items.
    key: Option<Key>,
    fresh: VecDeque<T>,
    continued: VecDeque<T>,
    /// The number of fresh items that were served since the last continued item.
    streak: u32,
}

/// A position in the order: the virtual time, then the order of arrival.
type Key = (u64, u64);

impl<T> FlowState<T> {
    fn take(&mut self, may_be_fresh: bool) -> Option<T> {
        let is_turn_of_continued = self.streak >= MAX_FRESH_STREAK && !self.continued.is_empty();
        let fresh = if may_be_fresh && !is_turn_of_continued { self.fresh.pop_front() } else { None };
        if fresh.is_some() {
            self.streak += 1;
            return fresh;
        }
        let continued = self.continued.pop_front();
        if continued.is_some() {
            self.streak = 0;
        }
        continued
    }

    fn is_empty(&self) -> bool {
        self.fresh.is_empty() && self.continued.is_empty()
    }
}

impl<T> Flow<T> {
    /// Makes a flow with this weight, which is brought into the range of weights.
    pub fn new(weight: u64) -> Arc<Self> {
        let (fresh, continued) = (VecDeque::new(), VecDeque::new());
        let state = FlowState { time: 0, key: None, fresh, continued, streak: 0 };
        Arc::new(Self { weight: AtomicU64::new(weight.clamp(1, MAX_WEIGHT)), state: Mutex::new(state) })
    }

    /// Returns the weight.
    pub fn weight(&self) -> u64 {
        self.weight.load(Ordering::Relaxed)
    }

    /// Changes the weight for the time that the flow uses from now on.
    pub fn set_weight(&self, weight: u64) {
        self.weight.store(weight.clamp(1, MAX_WEIGHT), Ordering::Relaxed);
    }

    /// Returns the virtual time that passes when the flow uses `ns` nanoseconds.
    fn scaled(&self, ns: u64) -> u64 {
        ns.saturating_mul(DEFAULT_WEIGHT) / self.weight()
    }
}

/// The queue of the flows that have items.
#[derive(Debug)]
pub struct FairQueue<T> {
    order: BTreeMap<Key, Arc<Flow<T>>>,
    /// The highest virtual time at which an item was served.
    now: u64,
    arrivals: u64,
    /// The time in nanoseconds that an item is expected to use.
    quantum: u64,
}

impl<T> FairQueue<T> {
    /// Makes an empty queue. A served item is charged for `quantum` nanoseconds in advance. After
    /// the service, [`Self::settle`] replaces this charge by the time that was used.
    pub fn new(quantum: u64) -> Self {
        Self { order: BTreeMap::new(), now: 0, arrivals: 0, quantum }
    }

    /// Returns whether no flow has an item.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Adds an item of `flow`.
    pub fn push(&mut self, flow: &Arc<Flow<T>>, lane: Lane, item: T) {
        let mut state = flow.state.lock();
        match lane {
            Lane::Fresh => state.fresh.push_back(item),
            Lane::Continued => state.continued.push_back(item),
        }
        if state.key.is_none() {
            self.enter(flow, &mut state);
        }
    }

    /// Removes the next item and charges its flow for one quantum. If `may_be_fresh` is false, the
    /// result is a continued item.
    pub fn pop(&mut self, may_be_fresh: bool) -> Option<(Arc<Flow<T>>, T)> {
        let (key, item) = self.order.iter().find_map(|(key, flow)| Some((*key, flow.state.lock().take(may_be_fresh)?)))?;
        let flow = self.order.remove(&key)?;
        self.now = self.now.max(key.0);
        let mut state = flow.state.lock();
        state.key = None;
        state.time = state.time.saturating_add(flow.scaled(self.quantum));
        if !state.is_empty() {
            self.enter(&flow, &mut state);
        }
        drop(state);
        Some((flow, item))
    }

    /// Replaces the advance charge for a served item of `flow` by the time that was used.
    pub fn settle(&mut self, flow: &Arc<Flow<T>>, used_ns: u64) {
        self.adjust(flow, flow.scaled(self.quantum), flow.scaled(used_ns));
    }

    /// Charges `flow` for time that was used without an item of the queue.
    pub fn charge(&mut self, flow: &Arc<Flow<T>>, used_ns: u64) {
        self.adjust(flow, 0, flow.scaled(used_ns));
    }

    fn adjust(&mut self, flow: &Arc<Flow<T>>, less: u64, more: u64) {
        let mut state = flow.state.lock();
        state.time = state.time.saturating_sub(less).saturating_add(more);
        if let Some(key) = state.key.take() {
            self.order.remove(&key);
            self.enter(flow, &mut state);
        }
    }

    /// Adds a flow with items to the order.
    fn enter(&mut self, flow: &Arc<Flow<T>>, state: &mut FlowState<T>) {
        state.time = state.time.max(self.now.saturating_sub(BURST_NS));
        self.arrivals += 1;
        let key = (state.time, self.arrivals);
        state.key = Some(key);
        self.order.insert(key, flow.clone());
    }
}
