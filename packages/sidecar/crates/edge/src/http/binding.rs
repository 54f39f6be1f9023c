//! The names of a flow's address with rules about HTTP or with secrets. Next: `filter.rs`.

use crate::runtime::State;
use coldframe_egress::{Current, HttpRule, Name};
use coldframe_secrets::Target;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

/// The rules of a flow. A flow without rules and secrets has an empty binding, and no filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding(Vec<Bound>);

/// A name with rules about HTTP or with secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bound {
    name: Name,
    rules: Vec<HttpRule>,
    /// The names of the secrets.
    secrets: BTreeSet<String>,
}

/// Returns the names of an address: the pinned names, and the names with this fixed address, also
/// before their first look-up. An address of a flow without a socket has the name of the flow.
pub fn names_of(state: &State, address: IpAddr) -> BTreeSet<Name> {
    let address = address.to_canonical();
    let fixed = state.dns.hosts.iter().filter(|(_, addresses)| addresses.contains(&address)).map(|(name, _)| name.clone());
    let handled = state.handled.name_of(address).cloned();
    state.pins.names_of(address, Instant::now()).map(|(name, _)| name.clone()).chain(fixed).chain(handled).collect()
}

impl Binding {
    /// Returns the rules of all names of an address. An expired pin counts too, so that a flow
    /// cannot avoid its filter by the age of a pin.
    pub fn of(current: &Current, state: &State, peer: SocketAddr, is_tls: bool) -> Self {
        let mut bound = Vec::new();
        for name in names_of(state, peer.ip()) {
            let rules: Vec<HttpRule> = current.policy().http_rules(&name, peer.port()).into_iter().cloned().collect();
            let target = Target { name: &name, port: peer.port(), is_tls };
            let secrets: BTreeSet<String> = state.secrets.of(target).map(|(secret, _)| secret.to_owned()).collect();
            if !rules.is_empty() || !secrets.is_empty() {
                bound.push(Bound { name, rules, secrets });
            }
        }
        Self(bound)
    }

    /// Returns whether no filter is needed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a flow of this binding may continue with the binding `next`: the rules are
    /// equal, and no secret was removed. The buffers of a flow may have the values of its secrets.
    pub fn may_become(&self, next: &Self) -> bool {
        let rules = |binding: &Self| -> Vec<(Name, Vec<HttpRule>)> {
            let bound = binding.0.iter().filter(|bound| !bound.rules.is_empty());
            bound.map(|bound| (bound.name.clone(), bound.rules.clone())).collect()
        };
        let has_secrets = |bound: &Bound| {
            let same = next.0.iter().find(|other| other.name == bound.name);
            bound.secrets.is_empty() || same.is_some_and(|other| bound.secrets.is_subset(&other.secrets))
        };
        rules(self) == rules(next) && self.0.iter().all(has_secrets)
    }
}
