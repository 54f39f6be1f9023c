//! The addresses, subnets and ports of the host machine, as values.
//!
//! The process that opens connections reads the values from the system, and replaces them after
//! each change. A guest reaches the host machine only if the policy names the address, also if the
//! address is public. Next: `prefixes.rs`.

use crate::address::Nat64;
use crate::cidr::Cidr;
use crate::prefixes::Prefixes;
use std::collections::HashSet;
use std::net::{IpAddr, Ipv6Addr};

/// The network of the host machine.
#[derive(Debug, Default)]
pub struct HostNetwork {
    addresses: HashSet<IpAddr>,
    subnets: Prefixes,
    /// The ports on which Coldframe listens, in ascending order.
    ports: Vec<u16>,
    nat64: Vec<Nat64>,
}

/// The values of a [`HostNetwork`].
#[derive(Debug, Clone, Default)]
pub struct HostFacts {
    /// The addresses of all interfaces, public addresses too.
    pub addresses: Vec<IpAddr>,
    /// The subnets of all interfaces.
    pub subnets: Vec<Cidr>,
    /// The ports on which Coldframe itself listens.
    pub ports: Vec<u16>,
    /// The NAT64 prefixes of the network. An address with such a prefix is judged by the IPv4
    /// address inside.
    pub nat64: Vec<Nat64>,
}

impl HostNetwork {
    /// Indexes the values.
    pub fn new(facts: HostFacts) -> Self {
        let HostFacts { addresses, mut subnets, mut ports, nat64 } = facts;
        ports.sort_unstable();
        subnets.sort_unstable();
        subnets.dedup();
        let addresses = addresses.into_iter().map(|address| address.to_canonical()).collect();
        Self { addresses, subnets: Prefixes::new(&subnets).0, ports, nat64 }
    }

    /// Returns whether a canonical address belongs to the host machine.
    pub(crate) fn is_own(&self, address: IpAddr) -> bool {
        self.addresses.contains(&address)
    }

    pub(crate) fn is_in_own_subnet(&self, address: IpAddr) -> bool {
        self.subnets.find(address).is_some()
    }

    pub(crate) fn listens_on(&self, port: u16) -> bool {
        self.ports.binary_search(&port).is_ok()
    }

    pub(crate) fn nat64_of(&self, address: Ipv6Addr) -> Option<&Nat64> {
        self.nat64.iter().find(|prefix| prefix.contains(address))
    }
}
