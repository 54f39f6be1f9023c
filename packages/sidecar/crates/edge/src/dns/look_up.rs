//! The look-up of a name's addresses, for `getaddrinfo`. Next: `resolve.rs`.

use super::exchange::QueryFault;
use super::resolve::{Unresolved, resolve};
use crate::describe;
use crate::runtime::Runtime;
use coldframe_edge_link::{Event, Failure, LookUpFamily, Refused};
use coldframe_egress::{Decision, Family, Name, PIN_TIMES, Reason, Resolved, ResponseFault};
use futures_util::future::join;
use std::fmt;
use std::net::IpAddr;
use std::time::Instant;

/// Looks a name up, and pins the name to its addresses. IPv6 addresses are first, as in the default
/// order of C libraries.
///
/// # Errors
/// Returns the reason. If one address may not be connected, all addresses are dropped.
pub async fn look_up(runtime: &Runtime, text: &str, family: LookUpFamily) -> Result<Vec<IpAddr>, Failure> {
    let began = Instant::now();
    let current = runtime.cell.current();
    let name = match Name::parse(text) {
        Ok(name) => name,
        Err(_) => return Err(refused(runtime, text, None, &current.policy().judge_text(text))),
    };
    let decision = current.policy().judge_lookup(&name);
    let fixed = runtime.state.borrow().dns.hosts.get(&name).cloned();
    let is_denied = decision.reason() == Some(Reason::Denied);
    if !decision.is_allowed() && (fixed.is_none() || is_denied) {
        return Err(refused(runtime, text, Some(&name), &decision));
    }
    let families = runtime.families(family);
    let result = match fixed {
        _ if current.policy().is_handled(&name) => handled(runtime, &name, family).map(|address| (vec![address], true)),
        Some(addresses) => pin_fixed(runtime, &name, &addresses, family).map(|addresses| (addresses, true)),
        None => resolve_all(runtime, &name, families).await,
    };
    report(runtime, &name, record_type(families), &result, began);
    result.map(|(addresses, _)| addresses).map_err(|code| failure(runtime, &name, code))
}

/// The reason why a look-up fails, before it is described.
#[derive(Clone)]
pub enum Failed {
    /// A code of `getaddrinfo` or c-ares.
    Code(&'static str),
    /// An address may not be connected.
    NotPublic(Decision),
    /// A limit is reached.
    Limit(&'static str),
}

/// Returns the address of a name to whose requests the app responds.
fn handled(runtime: &Runtime, name: &Name, family: LookUpFamily) -> Result<IpAddr, Failed> {
    if family == LookUpFamily::V6 {
        return Err(Failed::Code("ENOTFOUND"));
    }
    let address = runtime.state.borrow_mut().handled.address_of(name);
    address.map(IpAddr::from).ok_or(Failed::Limit("handledNames"))
}

fn pin_fixed(runtime: &Runtime, name: &Name, addresses: &[IpAddr], family: LookUpFamily) -> Result<Vec<IpAddr>, Failed> {
    let wanted = |address: &&IpAddr| match family {
        LookUpFamily::Any => true,
        LookUpFamily::V4 => address.is_ipv4(),
        LookUpFamily::V6 => address.is_ipv6(),
    };
    let found: Vec<IpAddr> = addresses.iter().filter(wanted).copied().collect();
    for family in [Family::V4, Family::V6] {
        let of_family: Vec<IpAddr> = found.iter().copied().filter(|address| Family::of(*address) == family).collect();
        pin(runtime, name, family, &Resolved { addresses: of_family, ttl: PIN_TIMES.1, canonical_name: name.clone() })?;
    }
    if found.is_empty() { Err(Failed::Code("ENOTFOUND")) } else { Ok(found) }
}

async fn resolve_all(runtime: &Runtime, name: &Name, families: (bool, bool)) -> Result<(Vec<IpAddr>, bool), Failed> {
    let of = async |family, wanted: bool| if wanted { Some(resolve(runtime, name, family).await) } else { None };
    let (long, short) = join(of(Family::V6, families.1), of(Family::V4, families.0)).await;
    let mut found = Vec::new();
    let mut is_cached = true;
    let mut fault = None;
    for (family, result) in [(Family::V6, long), (Family::V4, short)] {
        match result {
            None => {}
            Some(Ok((resolved, cached))) => {
                is_cached &= cached;
                found.push((family, resolved));
            }
            Some(Err(unresolved)) => {
                let failed = unresolved_failure(unresolved);
                // A refused address drops the addresses of the other family too.
                if !matches!(failed, Failed::Code(_)) {
                    return Err(failed);
                }
                fault = worse(fault, failed);
            }
        }
    }
    if found.is_empty() {
        return Err(fault.unwrap_or(Failed::Code("ENOTFOUND")));
    }
    let mut addresses = Vec::new();
    for (family, resolved) in found {
        pin(runtime, name, family, &resolved)?;
        addresses.extend(resolved.addresses);
    }
    Ok((addresses, is_cached))
}

/// Returns the code to report: a server without a reply says more than a missing record.
fn worse(known: Option<Failed>, new: Failed) -> Option<Failed> {
    match known {
        Some(known @ Failed::Code(code)) if code != "ENOTFOUND" => Some(known),
        _ => Some(new),
    }
}

pub(super) fn pin(runtime: &Runtime, name: &Name, family: Family, resolved: &Resolved) -> Result<(), Failed> {
    let mut state = runtime.state.borrow_mut();
    let pinned = state.pins.record(name, family, &resolved.addresses, resolved.ttl, Instant::now());
    pinned.map_err(|_| Failed::Limit("pins"))
}

pub(super) fn not_public(fault: ResponseFault) -> Option<Decision> {
    match fault {
        ResponseFault::NotPublic { kind, .. } => Some(Decision::Refused { reason: Reason::PrivateAddress(kind), rule: None }),
        _ => None,
    }
}

fn unresolved_failure(unresolved: Unresolved) -> Failed {
    match unresolved {
        Unresolved::Limit(limit) => Failed::Limit(limit.as_str()),
        Unresolved::Query(QueryFault::Response(fault)) => match (not_public(fault), fault) {
            (Some(refused), _) => Failed::NotPublic(refused),
            (None, ResponseFault::NoName | ResponseFault::NoAddress) => Failed::Code("ENOTFOUND"),
            (None, ResponseFault::Aliases) => Failed::Code("EAI_FAIL"),
            (None, _) => Failed::Code("EAI_AGAIN"),
        },
        Unresolved::Query(QueryFault::TimedOut | QueryFault::Unreachable) => Failed::Code("EAI_AGAIN"),
    }
}

/// Describes a failure, and reports a refusal or a reached limit.
pub(super) fn failure(runtime: &Runtime, name: &Name, failed: Failed) -> Failure {
    match failed {
        Failed::Code(code) => describe::dns(code, name),
        Failed::NotPublic(decision) => refused(runtime, name.as_str(), Some(name), &decision),
        Failed::Limit(limit) => runtime.limit(limit),
    }
}

/// Describes a refusal, and reports it.
pub(super) fn refused(runtime: &Runtime, text: &str, name: Option<&Name>, decision: &Decision) -> Failure {
    let current = runtime.cell.current();
    let denied = describe::denied(current.policy(), decision, name);
    let shown = describe::shortened(text);
    let refused = || Refused::LookUp { name: shown.clone() };
    runtime.event(|| Event::Denied { refused: refused(), denied: denied.clone() });
    describe::refusal(format_args!("the look-up of {shown}"), denied)
}

fn record_type(families: (bool, bool)) -> &'static str {
    match families {
        (true, true) => "A+AAAA",
        (_, false) => "A",
        (false, true) => "AAAA",
    }
}

/// Reports a look-up that the policy allowed.
fn report(
    runtime: &Runtime,
    name: &Name,
    record_type: impl fmt::Display,
    result: &Result<(Vec<IpAddr>, bool), Failed>,
    began: Instant,
) {
    let (addresses, code, cached) = match result {
        Ok((addresses, cached)) => (addresses.clone(), None, *cached),
        Err(Failed::Code(code)) => (Vec::new(), Some((*code).to_owned()), false),
        Err(_) => return,
    };
    runtime.event(|| Event::Dns {
        name: name.as_str().to_owned(),
        record_type: record_type.to_string(),
        addresses,
        code,
        duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        cached,
    });
}
