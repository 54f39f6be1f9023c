//! The names of members: lookups, queries, and the interfaces of the runtime. Next:
//! `requests.rs`.

use super::both;
use crate::net::outside::Question;
use crate::net::sockets::{SocketState, Sockets};
use crate::networks::{addresses_of, number_of};
use crate::outside::{LookUpAnswer, LookUpFamily, OutsideFailure, OutsideFailureKind};
use crate::{Answer, Arguments, Process};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The reply of the private networks for a name.
pub(in crate::net) type Known = Result<LookUpAnswer, OutsideFailure>;

/// The types of DNS records that members have.
const A: u16 = 1;
const PTR: u16 = 12;
const AAAA: u16 = 28;
const ANY: u16 = 255;
/// The time to live of the records, in seconds. A member may leave at any time.
const TTL: u32 = 0;

/// Writes a line for each address of the runtime in private networks: the network, a space, and the
/// address.
pub(in crate::net) fn interfaces(process: &Process, arguments: &mut Arguments<'_>) -> Answer {
    let lines = process.kernel.sockets.with(|state| {
        let lines = state.memberships.iter().flat_map(|membership| {
            let (v4, v6) = both(membership.number);
            [v4, v6].map(|ip| format!("{} {ip}\n", membership.network.name()))
        });
        Ok(lines.collect::<String>())
    })?;
    arguments.put(0, lines.as_bytes())
}

impl Sockets {
    /// Looks up a name of a private network. Returns `None` if the name is no name
    /// of the runtime's networks.
    pub(in crate::net) fn ask_networks(&self, name: &str, question: Question) -> Option<Known> {
        self.mailbox.get()?;
        self.lock().ask_networks(name, question)
    }
}

impl SocketState {
    fn ask_networks(&self, name: &str, question: Question) -> Option<Known> {
        if let Some(ip) = reverse(name) {
            let networks = self.memberships.iter().map(|membership| &membership.network);
            let full = networks.clone().find_map(|network| network.full_name(number_of(ip)?));
            // The addresses of members have no meaning outside.
            number_of(ip).filter(|_| !self.memberships.is_empty())?;
            return Some(match (question, full) {
                (Question::Records(PTR), Some(full)) => Ok(LookUpAnswer::Records(format!("[\"{full}\"]"))),
                (_, Some(_)) => Err(dns("ENODATA")),
                (_, None) => Err(dns("ENOTFOUND")),
            });
        }
        let found = self.memberships.iter().find_map(|membership| membership.network.find(name));
        let Some(number) = found else {
            let is_own = self.memberships.iter().any(|membership| membership.network.own_part(name).is_some());
            return is_own.then(|| Err(dns("ENOTFOUND")));
        };
        let (v4, v6) = addresses_of(number);
        let record = |ip: IpAddr, kind: Option<&str>| {
            let kind = kind.map(|kind| format!(",\"type\":\"{kind}\"")).unwrap_or_default();
            format!("{{\"address\":\"{ip}\",\"ttl\":{TTL}{kind}}}")
        };
        Some(match question {
            Question::Addresses(LookUpFamily::V6) => Ok(LookUpAnswer::Addresses(vec![v6.into()])),
            // With two addresses, a program would try both, and get an `AggregateError` without the
            // reason of a denial.
            Question::Addresses(_) => Ok(LookUpAnswer::Addresses(vec![v4.into()])),
            Question::Records(A) => Ok(LookUpAnswer::Records(format!("[{}]", record(v4.into(), None)))),
            Question::Records(AAAA) => Ok(LookUpAnswer::Records(format!("[{}]", record(v6.into(), None)))),
            Question::Records(ANY) => {
                let records = [record(v4.into(), Some("A")), record(v6.into(), Some("AAAA"))];
                Ok(LookUpAnswer::Records(format!("[{}]", records.join(","))))
            }
            Question::Records(_) => Err(dns("ENODATA")),
        })
    }
}

fn dns(code: &str) -> OutsideFailure {
    OutsideFailure { kind: OutsideFailureKind::Dns(code.to_owned()), message: String::new() }
}

/// Returns the address of a name for reverse lookups.
fn reverse(name: &str) -> Option<IpAddr> {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    if let Some(parts) = name.strip_suffix(".in-addr.arpa") {
        let text: Vec<&str> = parts.split('.').rev().collect();
        return text.join(".").parse::<Ipv4Addr>().ok().map(IpAddr::V4);
    }
    let digits: Vec<&str> = name.strip_suffix(".ip6.arpa")?.split('.').collect();
    if digits.len() != 32 || digits.iter().any(|digit| digit.len() != 1) {
        return None;
    }
    let text: String = digits.into_iter().rev().collect();
    u128::from_str_radix(&text, 16).ok().map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits)))
}
