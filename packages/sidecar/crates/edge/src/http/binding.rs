//! The names of a flow's address with rules about HTTP or with secrets. Next: `filter.rs`.

use crate::runtime::State;
use coldframe_egress::{Current, HttpRule, Name};
use coldframe_secrets::Target;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

/// The rules of a flow. A flow without rules and secrets has an empty binding, and no filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding(Vec<(Name, Vec<HttpRule>)>);

/// Returns the names of an address: the pinned names, and the names with this fixed address, also
/// before their first look-up.
pub fn names_of(state: &State, address: IpAddr) -> BTreeSet<Name> {
    let address = address.to_canonical();
    let fixed = state.dns.hosts.iter().filter(|(_, addresses)| addresses.contains(&address)).map(|(name, _)| name.clone());
    state.pins.names_of(address, Instant::now()).map(|(name, _)| name.clone()).chain(fixed).collect()
}

impl Binding {
    /// Returns the rules of all names of an address. An expired pin counts too, so that a flow
    /// cannot avoid its filter by the age of a pin.
    pub fn of(current: &Current, state: &State, peer: SocketAddr, is_tls: bool) -> Self {
        let mut bound = Vec::new();
        for name in names_of(state, peer.ip()) {
            let rules: Vec<HttpRule> = current.policy().http_rules(&name, peer.port()).into_iter().cloned().collect();
            let target = Target { name: &name, port: peer.port(), is_tls };
            if !rules.is_empty() || state.secrets.of(target).next().is_some() {
                bound.push((name, rules));
            }
        }
        Self(bound)
    }

    /// Returns whether no filter is needed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the rules of the names of this binding are unchanged.
    pub fn has_rules_of(&self, other: &Self) -> bool {
        let rules = |binding: &Self| -> Vec<(Name, Vec<HttpRule>)> {
            binding.0.iter().filter(|(_, rules)| !rules.is_empty()).cloned().collect()
        };
        rules(self) == rules(other)
    }
}
