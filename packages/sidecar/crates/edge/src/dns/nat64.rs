//! The discovery of NAT64 (RFC 7050): the prefix with which the network of the host machine embeds
//! IPv4 addresses. An address with the prefix is judged by the IPv4 address inside, because a
//! translator forwards to that address. Next: `exchange.rs`.

use super::exchange::{SERVER_TIME, ask};
use crate::link::Shared;
use coldframe_egress::{Name, Nat64, ResponseFault};
use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::{RData, RecordType};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The name that has only IPv4 addresses. A server that returns IPv6 addresses embeds them.
const NAME: &str = "ipv4only.arpa";
/// The time until the servers receive the query again, after a response and without a response.
const AGAIN: (Duration, Duration) = (Duration::from_secs(3_600), Duration::from_secs(60));
/// The largest number of prefixes. The limit bounds the time of a judgement.
const MAX_PREFIXES: usize = 8;
/// The largest number of lists of servers whose last discovery is known.
const MAX_LISTS: usize = 256;

/// Learns the prefixes that the servers use, unless they have received the query a short time ago.
/// Call before IPv6 addresses of the servers are judged.
pub async fn discover(shared: &Shared, servers: &[SocketAddr]) {
    let is_known = |now: Instant| shared.nat64_known.borrow().get(servers).is_some_and(|until| *until > now);
    if !shared.surroundings.borrow().discovers_nat64 || is_known(Instant::now()) {
        return;
    }
    shared.discovering.ask(servers.to_vec(), async || learn(shared, servers).await).await;
}

async fn learn(shared: &Shared, servers: &[SocketAddr]) {
    let Ok(name) = Name::parse(NAME) else { return };
    let asked = ask(servers, &name, RecordType::AAAA, |_, message| prefixes(message));
    let found = timeout(SERVER_TIME, asked).await.ok().and_then(Result::ok);
    let until = Instant::now() + if found.is_some() { AGAIN.0 } else { AGAIN.1 };
    {
        let mut known = shared.nat64_known.borrow_mut();
        if known.len() >= MAX_LISTS {
            known.clear();
        }
        known.insert(servers.to_vec(), until);
    }
    shared.add_nat64(&found.unwrap_or_default(), MAX_PREFIXES);
}

/// Returns the prefixes of the addresses in a response.
fn prefixes(message: &Message) -> Result<Vec<Nat64>, ResponseFault> {
    match message.metadata.response_code {
        ResponseCode::NoError | ResponseCode::NXDomain => {}
        code => return Err(ResponseFault::Server { code: code.into() }),
    }
    let prefix = |data: &RData| if let RData::AAAA(address) = data { Nat64::discovered(address.0) } else { None };
    Ok(message.answers.iter().filter_map(|record| prefix(&record.data)).collect())
}
