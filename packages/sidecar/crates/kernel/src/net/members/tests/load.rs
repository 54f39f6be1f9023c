//! Two runtimes that connect to each other on several threads, while their memberships and their
//! kernels end. A deadlock fails the test by its deadline.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

const ROUNDS: u32 = 100;
const LONG_ROUNDS: u32 = 20_000;

/// A small generator of numbers, so that each thread has its own sequence.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

/// Connects, accepts, writes, reads and closes at random until `stop` is set.
fn work(node: &Node, listener: SocketId, other: &Node, mut seed: u64, stop: &AtomicBool) {
    let mut own: Vec<SocketId> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        match next(&mut seed) % 6 {
            0 if own.len() < 8 => {
                let to = other.ips().first().copied();
                own.extend(to.and_then(|to| node.connect(to, 80).ok()));
            }
            1 if own.len() < 8 => own.extend(node.accept(listener).ok()),
            2 | 3 if !own.is_empty() => {
                let at = next(&mut seed) % own.len();
                let _ = node.write(own[at], &vec![1; 1 + next(&mut seed) % 100_000]);
            }
            4 if !own.is_empty() => {
                let at = next(&mut seed) % own.len();
                let _ = node.read(own[at]);
            }
            5 if !own.is_empty() => {
                let id = own.swap_remove(next(&mut seed) % own.len());
                node.close(id, next(&mut seed).is_multiple_of(2));
            }
            _ => {}
        }
    }
    own.into_iter().for_each(|id| node.close(id, false));
}

/// Runs one round: threads of both runtimes work while a third thread changes the network.
fn round(seed: u64) {
    let network = network(None);
    let nodes = [Node::member(&network, "a"), Node::member(&network, "b")];
    let listeners = nodes.each_ref().map(|node| node.listen("0.0.0.0", 80, 4));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for at in [0, 1, 0, 1] {
            let (nodes, stop, listener) = (&nodes, &stop, listeners[at]);
            let seed = seed.wrapping_mul(31).wrapping_add(at as u64);
            scope.spawn(move || work(&nodes[at], listener, &nodes[1 - at], seed, stop));
        }
        let mut seed = seed;
        for _ in 0..20 {
            let at = next(&mut seed) % 2;
            match next(&mut seed) % 5 {
                0 => network.set_rules(Some(Vec::new())),
                1 => network.set_rules(None),
                2 => {
                    nodes[at].kernel.leave(&network);
                    let _ = nodes[at].join(&network, ["a", "b"][at]);
                }
                _ => std::thread::yield_now(),
            }
        }
        // The runtimes end while the other threads work.
        nodes[next(&mut seed) % 2].kernel.sockets.detach(&Error::RuntimeDisposed);
        stop.store(true, Ordering::Relaxed);
    });
    for (node, listener) in nodes.iter().zip(listeners) {
        node.close(listener, false);
        node.kernel.sockets.detach(&Error::RuntimeDisposed);
    }
    nodes.iter().for_each(Node::assert_empty);
    assert_eq!((network.flows().len(), network.members().len()), (0, 0));
    let kernels = nodes.map(|node| Arc::downgrade(&node.kernel));
    assert!(kernels.iter().all(|kernel| kernel.upgrade().is_none()), "no cycle keeps a kernel");
}

#[test]
fn two_runtimes_under_load_end_without_a_deadlock() {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        (0..coldframe_testing::repetitions(ROUNDS, LONG_ROUNDS)).for_each(|at| round(u64::from(at)));
        let _ = done.send(());
    });
    assert!(ended.recv_timeout(Duration::from_secs(600)).is_ok(), "a deadlock, or a failed round");
}
