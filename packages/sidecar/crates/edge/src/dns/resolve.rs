//! The addresses of one name and family: from the cache, from the servers, or stale. Next:
//! `cache.rs`, `single_flight.rs`.

use super::exchange::{QueryFault, ask};
use super::nat64::discover;
use crate::runtime::Runtime;
use coldframe_egress::{AddressQuery, Family, Limit, Name, Resolved, ResponseFault, judge_message, negative_ttl};
use hickory_proto::rr::RecordType;
use std::time::{Duration, Instant};

/// The reason why a name has no addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unresolved {
    /// The servers.
    Query(QueryFault),
    /// A budget of the runtime.
    Limit(Limit),
}

/// The result of [`resolve`]: the addresses, and whether no server has replied for them.
pub type Resolution = Result<(Resolved, bool), Unresolved>;

/// Resolves a name that the policy allows. Returns the addresses, and whether no server has replied
/// for them. The caller pins the name to the addresses.
///
/// # Errors
/// Returns the reason why the name has no addresses.
pub async fn resolve(runtime: &Runtime, name: &Name, family: Family) -> Resolution {
    let generation = runtime.cell.current().generation();
    match runtime.state.borrow().cache.fresh(name, family, generation, Instant::now()) {
        Some(Ok((addresses, ttl))) => return Ok((Resolved { addresses, ttl, canonical_name: name.clone() }, true)),
        Some(Err(fault)) => return Err(Unresolved::Query(QueryFault::Response(fault))),
        None => {}
    }
    runtime.resolving.ask((name.clone(), family), async || ask_servers(runtime, name, family).await).await
}

async fn ask_servers(runtime: &Runtime, name: &Name, family: Family) -> Resolution {
    runtime.take_query(&runtime.cell.current(), name, Instant::now()).map_err(Unresolved::Limit)?;
    let servers = runtime.servers();
    let record_type = match family {
        Family::V4 => RecordType::A,
        Family::V6 => RecordType::AAAA,
    };
    if family == Family::V6 {
        discover(&runtime.shared, &servers).await;
    }
    let mut negative = None;
    let judge = |id, message: &_| {
        let query = AddressQuery { id, name: name.clone(), family };
        negative = negative_ttl(message);
        // The policy may have been replaced meanwhile.
        judge_message(&runtime.cell.current(), &query, message)
    };
    let asked = ask(&servers, name, record_type, judge).await;
    let now = Instant::now();
    let generation = runtime.cell.current().generation();
    let mut state = runtime.state.borrow_mut();
    match asked {
        Ok(found) => {
            state.cache.store(name, family, &found, generation, now);
            Ok((found, false))
        }
        Err(fault) if fault.is_of_server() => match state.cache.stale(name, family, generation, now) {
            Some(addresses) => Ok((Resolved { addresses, ttl: Duration::ZERO, canonical_name: name.clone() }, true)),
            None => Err(Unresolved::Query(fault)),
        },
        Err(fault) => {
            if let QueryFault::Response(fault @ (ResponseFault::NoName | ResponseFault::NoAddress)) = fault {
                state.cache.store_negative(name, family, fault, negative, generation, now);
            }
            Err(Unresolved::Query(fault))
        }
    }
}
