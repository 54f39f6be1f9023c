//! The properties of the queue, in units of time that the tests count themselves.

use super::{BURST_NS, DEFAULT_WEIGHT, FairQueue, Flow, Lane};
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Arc;

const QUANTUM: u64 = 1_500_000;
/// The longest time that an item uses.
const LONGEST: u64 = 4 * QUANTUM;

/// The virtual time of `ns` for a flow with `weight`.
fn virtual_time(ns: u64, weight: u64) -> i128 {
    i128::from(ns * DEFAULT_WEIGHT / weight)
}

fn flows(weights: &[u64]) -> Vec<Arc<Flow<usize>>> {
    weights.iter().map(|weight| Flow::new(*weight)).collect()
}

proptest! {
    /// The bound of start-time fair queueing. In each window in which two flows have work, their
    /// virtual times differ by at most one item of each flow and worker. One quantum of each flow
    /// is added for the charge in advance.
    #[test]
    fn flows_with_work_share_each_window_by_weight(
        weights in vec(1_u64..=1_000, 2..6),
        items in vec(1_usize..4, 6),
        lengths in vec(1_u64..=LONGEST, 64..512),
        workers in 1_usize..4,
    ) {
        let all = flows(&weights);
        let mut queue = FairQueue::new(QUANTUM);
        for (at, flow) in all.iter().enumerate() {
            // A flow has an item in the queue at all times, also while the workers have some.
            (0..items[at] + workers).for_each(|_| queue.push(flow, Lane::Continued, at));
        }
        let mut used = vec![vec![0_u64; all.len()]];
        let mut running = std::collections::VecDeque::new();
        for length in lengths {
            let (flow, at) = queue.pop(true).expect("each flow has items");
            running.push_back((flow, at, length));
            if running.len() == workers {
                let (flow, at, length) = running.pop_front().expect("one item runs");
                queue.push(&flow, Lane::Continued, at);
                queue.settle(&flow, length);
                let mut next = used.last().expect("the first entry").clone();
                next[at] += length;
                used.push(next);
            }
        }
        let slack = |weight| virtual_time(workers as u64 * (LONGEST + QUANTUM), weight) + 1;
        for (from, to) in (0..used.len()).flat_map(|from| (from..used.len()).step_by(7).map(move |to| (from, to))) {
            let share = |at: usize| virtual_time(used[to][at] - used[from][at], weights[at]);
            for (one, other) in (0..all.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let difference = (share(one) - share(other)).abs();
                let most = slack(weights[one]) + slack(weights[other]);
                prop_assert!(difference <= most, "{difference} > {most} between {one} and {other} in {from}..{to}");
            }
        }
    }

    /// A flow that pauses between its items never uses more than its share and one burst.
    #[test]
    fn a_flow_gains_at_most_one_burst_by_pauses(
        pauses in vec(0_usize..40, 1..60),
        lengths in vec(1_u64..=LONGEST, 60),
    ) {
        let (steady, pausing) = (Flow::new(100), Flow::new(100));
        let mut queue = FairQueue::new(QUANTUM);
        queue.push(&steady, Lane::Continued, 0);
        let (mut of_steady, mut of_pausing) = (0_u64, 0_u64);
        for (pause, length) in pauses.into_iter().zip(lengths) {
            for _ in 0..pause {
                let (flow, _) = queue.pop(true).expect("the steady flow has an item");
                queue.settle(&flow, QUANTUM);
                queue.push(&flow, Lane::Continued, 0);
                of_steady += QUANTUM;
            }
            // The pausing flow starts over and over: each start is a fresh item.
            queue.push(&pausing, Lane::Fresh, 1);
            while let Some((flow, item)) = queue.pop(true) {
                let used = if item == 1 { length } else { QUANTUM };
                queue.settle(&flow, used);
                if item == 1 {
                    of_pausing += used;
                    break;
                }
                queue.push(&flow, Lane::Continued, 0);
                of_steady += used;
            }
            prop_assert!(of_pausing <= of_steady + BURST_NS + LONGEST + QUANTUM, "{of_pausing} of {of_steady}");
        }
    }
}

#[test]
fn a_fresh_item_of_an_idle_flow_is_served_before_busy_flows() {
    let busy = flows(&[100; 8]);
    let mut queue = FairQueue::new(QUANTUM);
    for (at, flow) in busy.iter().enumerate() {
        queue.push(flow, Lane::Continued, at);
    }
    for _ in 0..100 {
        let (flow, item) = queue.pop(true).expect("busy");
        queue.settle(&flow, QUANTUM);
        queue.push(&flow, Lane::Continued, item);
    }
    let idle = Flow::new(100);
    queue.push(&idle, Lane::Fresh, 99);
    assert_eq!(queue.pop(true).map(|(_, item)| item), Some(99));
}

#[test]
fn time_that_no_flow_waited_for_is_forgotten() {
    let (one, other) = (Flow::new(100), Flow::new(100));
    let mut queue = FairQueue::new(QUANTUM);
    for _ in 0..1_000 {
        queue.push(&one, Lane::Fresh, 1);
        let (flow, _) = queue.pop(true).expect("queued");
        queue.settle(&flow, QUANTUM);
    }
    // The other flow is ahead by the burst and not by the whole time before.
    let mut served = 0;
    queue.push(&one, Lane::Continued, 1);
    queue.push(&other, Lane::Continued, 2);
    while let Some((flow, 2)) = queue.pop(true) {
        served += QUANTUM;
        assert!(served <= BURST_NS + 2 * QUANTUM);
        queue.settle(&flow, QUANTUM);
        queue.push(&other, Lane::Continued, 2);
    }
}

#[test]
fn continued_items_are_served_after_eight_fresh_items() {
    let flow = Flow::new(DEFAULT_WEIGHT);
    let mut queue = FairQueue::new(QUANTUM);
    queue.push(&flow, Lane::Continued, 0);
    (1..=20).for_each(|item| queue.push(&flow, Lane::Fresh, item));
    let order: Vec<_> = std::iter::from_fn(|| queue.pop(true)).map(|(_, item)| item).collect();
    assert_eq!(order.iter().position(|item| *item == 0), Some(8));
    assert_eq!(order.len(), 21);
}

#[test]
fn serves_only_continued_items_if_no_fresh_item_may_start() {
    let all = flows(&[100, 100]);
    let mut queue = FairQueue::new(QUANTUM);
    queue.push(&all[0], Lane::Fresh, 0);
    queue.push(&all[1], Lane::Fresh, 1);
    queue.push(&all[1], Lane::Continued, 2);
    assert_eq!(queue.pop(false).map(|(_, item)| item), Some(2));
    assert!(queue.pop(false).is_none() && !queue.is_empty());
    assert_eq!(queue.pop(true).map(|(_, item)| item), Some(0));
}

#[test]
fn brings_weights_into_their_range() {
    let flow = Flow::<()>::new(0);
    assert_eq!(flow.weight(), 1);
    flow.set_weight(u64::MAX);
    assert_eq!(flow.weight(), super::MAX_WEIGHT);
}
