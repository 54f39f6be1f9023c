//! The addresses of names to whose requests the app responds. Next: `stream.rs`.
//!
//! The addresses are of the network for benchmarks (RFC 2544), which the policy opens to no name.
//! So a connection that is not handled is refused, and no packet leaves the machine.

use coldframe_egress::Name;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

/// The largest number of names of a runtime. Wildcards have any number of names.
pub const MAX_NAMES: usize = 1_024;
/// The first address. The address before is the own address of a flow.
const FIRST: u32 = u32::from_be_bytes([198, 18, 0, 2]);

/// The addresses of one runtime.
#[derive(Debug, Default)]
pub struct Names {
    by_name: HashMap<Name, Ipv4Addr>,
    by_address: Vec<Name>,
}

impl Names {
    /// The address of the guest's end of a flow.
    pub const LOCAL: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

    /// Returns the address of a name. Returns `None` if too many names have addresses.
    pub fn address_of(&mut self, name: &Name) -> Option<Ipv4Addr> {
        if let Some(known) = self.by_name.get(name) {
            return Some(*known);
        }
        let index = self.by_address.len();
        let address = u32::try_from(index).ok().filter(|_| index < MAX_NAMES)?;
        let address = Ipv4Addr::from(FIRST + address);
        self.by_name.insert(name.clone(), address);
        self.by_address.push(name.clone());
        Some(address)
    }

    /// Returns the name of an address.
    pub fn name_of(&self, address: IpAddr) -> Option<&Name> {
        let IpAddr::V4(address) = address.to_canonical() else { return None };
        let index = u32::from(address).checked_sub(FIRST)?;
        self.by_address.get(usize::try_from(index).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_address_and_the_number_of_names_is_bounded() {
        let mut names = Names::default();
        let name = |number: usize| Name::parse(&format!("n{number}.test")).unwrap();
        let first = names.address_of(&name(0)).unwrap();
        assert_eq!(first, Ipv4Addr::new(198, 18, 0, 2));
        for number in 1..MAX_NAMES {
            let address = names.address_of(&name(number)).unwrap();
            assert_eq!(names.name_of(address.into()), Some(&name(number)));
            assert_eq!(names.name_of(address.to_ipv6_mapped().into()), Some(&name(number)));
        }
        assert_eq!((names.address_of(&name(0)), names.address_of(&name(MAX_NAMES))), (Some(first), None));
        for other in ["198.18.0.1", "198.18.4.2", "0.0.0.0", "255.255.255.255", "::1"] {
            assert_eq!(names.name_of(other.parse().unwrap()), None, "{other}");
        }
    }
}
