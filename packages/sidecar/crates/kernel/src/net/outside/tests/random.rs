//! Random sequences of a program's calls and of events. The calls of the kernel must follow the
//! rules of a flow, also if the events do not.

use super::super::testing::FlowRules;
use super::*;
use crate::net::index::AddressIndex;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Connect(usize),
    Write(usize, usize),
    Read(usize, usize),
    Shutdown(usize),
    Close(usize, bool),
    Connected(usize),
    Data(usize, usize),
    Credit(usize, u64),
    End(usize),
    Closed(usize, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let at = || 0_usize..4;
    let size = || prop_oneof![0_usize..300, Just(BUFFER), Just(WINDOW / 2), Just(WINDOW)];
    let step = prop_oneof![
        3 => at().prop_map(Step::Connect),
        5 => (at(), size()).prop_map(|(at, size)| Step::Write(at, size)),
        5 => (at(), size()).prop_map(|(at, size)| Step::Read(at, size)),
        1 => at().prop_map(Step::Shutdown),
        1 => (at(), any::<bool>()).prop_map(|(at, reset)| Step::Close(at, reset)),
        5 => at().prop_map(Step::Connected),
        6 => (at(), size()).prop_map(|(at, size)| Step::Data(at, size)),
        4 => (at(), prop_oneof![0_u64..300, Just(WINDOW as u64), Just(u64::MAX)]).prop_map(|(at, bytes)| Step::Credit(at, bytes)),
        1 => at().prop_map(Step::End),
        1 => (at(), any::<bool>()).prop_map(|(at, reset)| Step::Closed(at, reset)),
    ];
    prop::collection::vec(step, 1..150)
}

proptest! {
    /// After any sequence, the kernel has followed the rules of each flow, and all memory is
    /// bounded. The end of all sockets and flows leaves nothing.
    #[test]
    fn the_kernel_follows_the_rules_of_flows_after_any_events(steps in steps()) {
        let (sockets, outside) = (Sockets::default(), Arc::new(FakeOutside::default()));
        sockets.set_outside(Some(outside.clone()));
        // The sockets of the program, and the flow of each.
        let mut own: Vec<(SocketId, FlowId)> = Vec::new();
        let mut rules = FlowRules::default();
        for step in steps {
            let at = |index: usize| own.get(index).copied().unwrap_or((crate::testing::socket(9_999), FlowId::new(9_999)));
            let event = |flow: FlowId, event: OutsideEvent<'_>| sockets.outside_event(flow, event);
            match step {
                Step::Connect(index) => {
                    let id = if index < own.len() { own[index].0 } else { stream(&sockets, Domain::V4) };
                    if sockets.with(|state| state.connect_outside(id, peer())).is_ok() {
                        let flow = FlowId::new(rules.count() as u32 + 1);
                        if index < own.len() { own[index].1 = flow } else { own.push((id, flow)) }
                    } else if !own.iter().any(|(known, _)| *known == id) {
                        own.push((id, FlowId::new(9_999)));
                    }
                }
                Step::Write(index, size) => drop(sockets.write(at(index).0, &vec![1; size])),
                Step::Read(index, size) => drop(sockets.read(at(index).0, &mut vec![0; size])),
                Step::Shutdown(index) => drop(sockets.with(|state| state.network.shutdown(at(index).0))),
                Step::Close(index, reset) => {
                    prop_assert!(sockets.close(at(index).0, reset).is_empty());
                    if index < own.len() { own.remove(index); }
                }
                Step::Connected(index) => event(at(index).1, OutsideEvent::Connected { local: local(), peer: peer() }),
                Step::Data(index, size) => event(at(index).1, OutsideEvent::Data(&vec![2; size])),
                Step::Credit(index, bytes) => {
                    event(at(index).1, OutsideEvent::Credit(0));
                    rules.check(outside.take());
                    rules.credit(at(index).1, bytes);
                    event(at(index).1, OutsideEvent::Credit(bytes));
                }
                Step::End(index) => event(at(index).1, OutsideEvent::End),
                Step::Closed(index, reset) => {
                    event(at(index).1, if reset { failed(Errno::ECONNRESET) } else { OutsideEvent::Closed(None) });
                    rules.check(outside.take());
                    rules.close(at(index).1);
                }
            }
            rules.check(outside.take());
            let state = sockets.lock();
            let scanned: u64 = state.network.sockets.values().map(|socket| socket.buffered() as u64).sum();
            prop_assert_eq!(state.network.buffered(), scanned);
            prop_assert_eq!(state.network.index(), &AddressIndex::of(&state.network.sockets));
            let memory = scanned + state.outside.queued_bytes();
            // A window and a buffer in each direction of each flow.
            let flows = state.outside.ends.len() + own.len();
            prop_assert!(memory <= (flows * (WINDOW + 2 * BUFFER)) as u64, "{} bytes of {} flows", memory, flows);
        }
        for (id, _) in own {
            prop_assert!(sockets.close(id, false).is_empty());
        }
        rules.check(outside.take());
        rules.open_flows().into_iter().for_each(|flow| sockets.outside_event(flow, OutsideEvent::Closed(None)));
        prop_assert_eq!((sockets.outside_counts(), sockets.count(), sockets.used_and_highest().1), ((0, 0), 0, 0));
        prop_assert_eq!(sockets.used_and_highest().0[0].0, 0, "counted sockets");
    }
}
