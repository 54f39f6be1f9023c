//! The families of addresses.

use std::net::IpAddr;

/// A family of addresses. The DNS has a type of record for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4, type A.
    V4,
    /// IPv6, type AAAA.
    V6,
}

impl Family {
    /// Returns the family of a canonical address.
    pub fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }
}
