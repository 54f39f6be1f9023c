//! The messages of the golden frames about private networks. `mod.rs` has the macros.

use coldframe_ids::NetworkId;
use coldframe_protocol::messages::*;
use coldframe_protocol::{Frame, encode, reader};

use super::{Case, runtime};

fn network() -> NetworkId {
    NetworkId::new(7).unwrap()
}

fn rules() -> Vec<NetworkRuleOptions<'static>> {
    let ports = vec![NetworkPorts { first: 5_432, last: 5_432 }, NetworkPorts { first: 1, last: 65_535 }];
    vec![NetworkRuleOptions { from: Some("web"), to: Some("db"), ports: Some(ports) }, NetworkRuleOptions::default()]
}

fn member() -> NetworkMember<'static> {
    NetworkMember { name: "db", tags: vec!["store"], v4: "198.18.0.1", v6: "fd5c:93e1:7a04::1" }
}

pub fn add(all: &mut Vec<Case>) {
    sdk!(all, "network-create", NetworkCreate, 50, NetworkCreate, NetworkCreate { name: "shop", rules: Some(rules()) });
    sdk!(all, "network-create-open", NetworkCreate, 50, NetworkCreate, NetworkCreate { name: "shop", rules: None });
    sdk!(all, "network-join", NetworkJoin, 51, NetworkJoin, {
        NetworkJoin { network: network(), runtime: runtime(1), name: "db", tags: Some(vec!["store", "internal"]) }
    });
    sdk!(all, "network-leave", NetworkLeave, 52, NetworkLeave, NetworkLeave { network: network(), runtime: runtime(1) });
    sdk!(all, "network-rules", NetworkRules, 53, NetworkRules, NetworkRules { network: network(), rules: Some(Vec::new()) });
    sdk!(all, "network-members", NetworkMembers, 54, InNetwork, InNetwork { network: network() });
    sdk!(all, "network-flows", NetworkFlows, 55, InNetwork, InNetwork { network: network() });
    sdk!(all, "network-dispose", NetworkDispose, 56, InNetwork, InNetwork { network: network() });
    sdk!(all, "network-watch", NetworkWatch, 57, NetworkWatch, NetworkWatch { network: network(), on: true });
    sdk!(all, "network-take", NetworkTake, 58, NetworkTake, NetworkTake { network: network(), all: Some(true) });
    sidecar!(all, "network-pending", NetworkPending, 0, InNetwork, InNetwork { network: network() });
    reply!(all, "reply-network-take", NetworkTake, 58, NetworkTaken, {
        let close = NetworkMemberEvent {
            kind: NetworkMemberEventType::Close,
            time_us: 1_700_000_000_123_456,
            from: "web",
            to: "db",
            port: 5_432,
            sent: Some(1 << 33),
            received: Some(0),
            duration_us: Some(1_500),
            reason: Some("reset"),
        };
        let bare = NetworkMemberEvent { sent: None, received: None, duration_us: None, reason: None, ..close };
        let denied = NetworkMemberEvent { kind: NetworkMemberEventType::Denied, reason: Some("not-allowed"), ..bare };
        let open = NetworkMemberEvent { kind: NetworkMemberEventType::Open, ..bare };
        NetworkTaken { events: vec![open, close, denied], lost: 3 }
    });
    reply!(all, "reply-network-create", NetworkCreate, 50, NetworkCreated, NetworkCreated { network: network() });
    reply!(all, "reply-network-join", NetworkJoin, 51, NetworkMember, member());
    reply!(all, "reply-network-members", NetworkMembers, 54, NetworkMemberList, {
        NetworkMemberList { members: vec![member(), NetworkMember { tags: Vec::new(), ..member() }] }
    });
    reply!(all, "reply-network-flows", NetworkFlows, 55, NetworkFlowList, {
        let (sent, received, since_us) = (1 << 33, 0, 1_700_000_000_123_456);
        NetworkFlowList { flows: vec![NetworkFlow { from: "web", to: "db", port: 5_432, sent, received, since_us }] }
    });
}
