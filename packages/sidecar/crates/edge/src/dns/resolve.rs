//! The addresses of one name and family: from the cache, from the servers, or stale. Next:
//! `cache.rs`.

use super::exchange::{QueryFault, ask};
use crate::runtime::Runtime;
use coldframe_egress::{AddressQuery, Family, Limit, Name, Resolved, ResponseFault, judge_message};
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

/// Resolves a name that the policy allows. Returns the addresses, and whether no server has replied
/// for them. The caller pins the name to the addresses.
///
/// # Errors
/// Returns the reason why the name has no addresses.
pub async fn resolve(runtime: &Runtime, name: &Name, family: Family) -> Result<(Resolved, bool), Unresolved> {
    let current = runtime.cell.current();
    let generation = current.generation();
    let resolved = |addresses, ttl| Resolved { addresses, ttl, canonical_name: name.clone() };
    let now = Instant::now();
    if let Some((addresses, ttl)) = runtime.state.borrow().cache.fresh(name, family, generation, now) {
        return Ok((resolved(addresses, ttl), true));
    }
    runtime.take_query(&current, name, now).map_err(Unresolved::Limit)?;
    let servers = runtime.servers();
    let record_type = match family {
        Family::V4 => RecordType::A,
        Family::V6 => RecordType::AAAA,
    };
    let judge = |id, message: &_| {
        let query = AddressQuery { id, name: name.clone(), family };
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
            Some(addresses) => Ok((resolved(addresses, Duration::ZERO), true)),
            None => Err(Unresolved::Query(fault)),
        },
        Err(fault) => {
            if matches!(fault, QueryFault::Response(ResponseFault::NoName | ResponseFault::NoAddress)) {
                state.cache.remove(name, family);
            }
            Err(Unresolved::Query(fault))
        }
    }
}
