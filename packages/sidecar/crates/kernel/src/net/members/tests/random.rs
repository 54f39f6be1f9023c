//! Random sequences of calls at both ends. The tables stay consistent, each reader receives the
//! bytes of the writer in order, and the end of all sockets leaves nothing.

use super::*;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Connect(bool),
    Accept(bool),
    Write(usize, usize),
    Read(usize),
    Shutdown(usize),
    Close(usize, bool),
    Rules(bool),
    Leave(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let at = || 0_usize..8;
    let size = prop_oneof![1_usize..300, Just(70_000), Just(300_000)];
    let step = prop_oneof![
        4 => any::<bool>().prop_map(Step::Connect),
        4 => any::<bool>().prop_map(Step::Accept),
        8 => (at(), size).prop_map(|(at, size)| Step::Write(at, size)),
        8 => at().prop_map(Step::Read),
        1 => at().prop_map(Step::Shutdown),
        2 => (at(), any::<bool>()).prop_map(|(at, reset)| Step::Close(at, reset)),
        1 => any::<bool>().prop_map(Step::Rules),
        1 => any::<bool>().prop_map(Step::Leave),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #[test]
    fn both_tables_stay_consistent_after_any_calls(steps in steps()) {
        let network = network(None);
        let nodes = [Node::member(&network, "a"), Node::member(&network, "b")];
        let listeners = nodes.each_ref().map(|node| node.listen("0.0.0.0", 80, 1));
        let mut own: Vec<(usize, SocketId)> = Vec::new();
        for step in steps {
            let end = |at: usize| own.get(at).map(|(node, id)| (&nodes[*node], *id));
            match step {
                Step::Connect(by) => {
                    let (from, to) = (usize::from(by), usize::from(!by));
                    let to = nodes[to].ips().first().copied();
                    if let Some(id) = to.and_then(|to| nodes[from].connect(to, 80).ok()) {
                        own.push((from, id));
                    }
                }
                Step::Accept(by) => {
                    let at = usize::from(by);
                    own.extend(nodes[at].accept(listeners[at]).ok().map(|id| (at, id)));
                }
                Step::Write(at, size) => drop(end(at).map(|(node, id)| node.write(id, &vec![1; size]))),
                Step::Read(at) => drop(end(at).map(|(node, id)| node.read(id))),
                Step::Shutdown(at) => {
                    let _ = end(at).map(|(node, id)| node.kernel.sockets.with(|state| state.network.shutdown(id)));
                }
                Step::Close(at, reset) if at < own.len() => {
                    let (node, id) = own.remove(at);
                    nodes[node].close(id, reset);
                }
                Step::Close(..) => {}
                Step::Rules(allow) => network.set_rules((!allow).then(Vec::new)),
                Step::Leave(by) => {
                    let at = usize::from(by);
                    nodes[at].kernel.leave(&network);
                    prop_assert!(nodes[at].join(&network, ["a", "b"][at]).is_ok());
                }
            }
            nodes.iter().for_each(Node::check);
        }
        for (node, id) in own {
            nodes[node].close(id, false);
        }
        for (node, listener) in nodes.iter().zip(listeners) {
            node.close(listener, false);
        }
        nodes.iter().for_each(Node::assert_empty);
        prop_assert_eq!(network.flows().len(), 0);
    }
}
