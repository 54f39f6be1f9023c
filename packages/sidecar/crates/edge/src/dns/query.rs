//! The query of a name's records, for `dns.resolve*`. Next: `records.rs`.

use super::exchange::{QueryFault, ask};
use super::look_up::{Failed, failure, not_public, pin, refused};
use super::records::{json, kind};
use crate::describe;
use crate::runtime::Runtime;
use coldframe_edge_link::{Event, Failure};
use coldframe_egress::{Family, Name, RecordQuery, Resolved, ResponseFault, judge_records};
use hickory_proto::rr::{RData, Record, RecordType};
use std::net::IpAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The time to live of the address of a name to whose requests the app responds, in seconds.
const HANDLED_TTL: u32 = 60;

/// The response of a query, judged.
#[derive(Clone)]
pub struct Found {
    json: Rc<str>,
    /// The addresses among the records, each with its time to live.
    addresses: Vec<(IpAddr, u32)>,
}

/// The result of a query.
pub type Queried = Result<Found, Failed>;

/// Queries the records of a name. Names with fixed addresses are not used, as in c-ares.
///
/// # Errors
/// Returns the reason. The codes are the codes of c-ares.
pub async fn query(runtime: &Runtime, text: &str, record_type: u16) -> Result<String, Failure> {
    let began = Instant::now();
    let current = runtime.cell.current();
    let Some(record_type) = kind(record_type) else { return Err(describe::dns("ENOTIMP", text)) };
    let name = match Name::parse(text) {
        Ok(name) => name,
        Err(_) => return Err(refused(runtime, text, None, &current.policy().judge_text(text))),
    };
    let decision = current.policy().judge_lookup(&name);
    if !decision.is_allowed() {
        return Err(refused(runtime, text, Some(&name), &decision));
    }
    let key = (name.clone(), u16::from(record_type));
    let result = runtime.querying.ask(key, async || find(runtime, &name, record_type).await).await;
    let (addresses, code) = match &result {
        Ok(found) => (found.addresses.iter().map(|(address, _)| *address).collect(), None),
        Err(Failed::Code(code)) => (Vec::new(), Some((*code).to_owned())),
        Err(_) => (Vec::new(), None),
    };
    if result.is_ok() || code.is_some() {
        runtime.event(|| Event::Dns {
            name: name.as_str().to_owned(),
            record_type: record_type.to_string(),
            addresses,
            code,
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            cached: false,
        });
    }
    result.map(|found| found.json.to_string()).map_err(|failed| failure(runtime, &name, failed))
}

async fn find(runtime: &Runtime, name: &Name, record_type: RecordType) -> Queried {
    let current = runtime.cell.current();
    if current.policy().is_handled(name) {
        return handled(runtime, name, record_type);
    }
    runtime.take_query(&current, name, Instant::now()).map_err(|limit| Failed::Limit(limit.as_str()))?;
    let servers = runtime.servers();
    let judge = |id, message: &_| {
        let query = RecordQuery { id, name: name.clone(), record_type };
        let records = judge_records(&runtime.cell.current(), &query, message)?;
        let addresses = records.iter().filter_map(|record| address(record)).collect();
        Ok(Found { json: json(record_type, &records).into(), addresses })
    };
    let found = ask(&servers, name, record_type, judge).await.map_err(code)?;
    for family in [Family::V4, Family::V6] {
        let of_family = || found.addresses.iter().filter(|(address, _)| Family::of(*address) == family);
        let Some(ttl) = of_family().map(|(_, ttl)| *ttl).min() else { continue };
        let addresses = of_family().map(|(address, _)| *address).collect();
        let resolved = Resolved { addresses, ttl: Duration::from_secs(ttl.into()), canonical_name: name.clone() };
        pin(runtime, name, family, &resolved)?;
    }
    Ok(found)
}

/// Returns the only record of a name to whose requests the app responds: its address.
fn handled(runtime: &Runtime, name: &Name, record_type: RecordType) -> Queried {
    if record_type != RecordType::A {
        return Err(Failed::Code("ENODATA"));
    }
    let address = runtime.state.borrow_mut().handled.address_of(name).ok_or(Failed::Limit("handledNames"))?;
    let json = serde_json::json!([{ "address": address.to_string(), "ttl": HANDLED_TTL }]).to_string();
    Ok(Found { json: json.into(), addresses: vec![(address.into(), HANDLED_TTL)] })
}

fn address(record: &Record) -> Option<(IpAddr, u32)> {
    match &record.data {
        RData::A(address) => Some((address.0.into(), record.ttl)),
        RData::AAAA(address) => Some((IpAddr::from(address.0).to_canonical(), record.ttl)),
        _ => None,
    }
}

fn code(fault: QueryFault) -> Failed {
    let fault = match fault {
        QueryFault::TimedOut => return Failed::Code("ETIMEOUT"),
        QueryFault::Unreachable => return Failed::Code("ECONNREFUSED"),
        QueryFault::Response(fault) => fault,
    };
    if let Some(refused) = not_public(fault) {
        return Failed::NotPublic(refused);
    }
    Failed::Code(match fault {
        ResponseFault::NoName => "ENOTFOUND",
        ResponseFault::NoAddress => "ENODATA",
        ResponseFault::Server { code: 1 } => "EFORMERR",
        ResponseFault::Server { code: 4 } => "ENOTIMP",
        ResponseFault::Server { code: 5 } => "EREFUSED",
        ResponseFault::Server { .. } => "ESERVFAIL",
        _ => "EBADRESP",
    })
}
