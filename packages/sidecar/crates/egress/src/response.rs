//! The check of a DNS response, before a guest or a pin receives an address.
//!
//! `hickory-proto` decodes the message. This module follows the aliases inside the one message, and
//! ignores records that do not belong to the query. If one address may not be connected, all
//! addresses are dropped. A server that returns a private address beside a public address may
//! return only the private address later. Next: `pins.rs`.

use crate::cell::Current;
use crate::family::Family;
use crate::name::Name;
use crate::registry::AddressKind;
use displaydoc::Display;
use hickory_proto::op::{Message, MessageType, OpCode, ResponseCode};
use hickory_proto::rr::{DNSClass, RData, Record, RecordType};
use std::net::IpAddr;
use std::time::Duration;

/// The maximum number of aliases between the query and the addresses.
pub const MAX_ALIASES: usize = 8;
/// The maximum number of addresses that a response yields. Later addresses are judged and dropped.
pub const MAX_ADDRESSES: usize = 64;

/// A query for the addresses of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressQuery {
    /// The number of the message.
    pub id: u16,
    /// The name.
    pub name: Name,
    /// The family of the addresses.
    pub family: Family,
}

/// The addresses of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The addresses in the order of the response, each once. Not empty.
    pub addresses: Vec<IpAddr>,
    /// The shortest time to live of the records.
    pub ttl: Duration,
    /// The name at the end of the aliases.
    pub canonical_name: Name,
}

/// The reason why a response yields no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, thiserror::Error)]
pub enum ResponseFault {
    /// the message cannot be decoded
    Malformed,
    /// the message is no response to the query
    NotTheQuery,
    /// the response is truncated
    Truncated,
    /// the name does not exist
    NoName,
    /// the name has no address of the family
    NoAddress,
    /// the server failed with the code {code}
    Server {
        /// The response code.
        code: u16,
    },
    /// the aliases form a circle, branch, or are more than 8
    Aliases,
    /// the response has the address {address}, which is not public
    NotPublic {
        /// The address.
        address: IpAddr,
        /// The reason.
        kind: AddressKind,
    },
}

/// Decodes and judges the response to a query.
///
/// # Errors
/// Returns the reason why the response yields no address.
pub fn judge_response(current: &Current, query: &AddressQuery, bytes: &[u8]) -> Result<Resolved, ResponseFault> {
    let message = Message::from_vec(bytes).map_err(|_| ResponseFault::Malformed)?;
    judge_message(current, query, &message)
}

/// Judges a decoded response.
///
/// # Errors
/// Returns the reason why the response yields no address.
pub fn judge_message(current: &Current, query: &AddressQuery, message: &Message) -> Result<Resolved, ResponseFault> {
    let record_type = match query.family {
        Family::V4 => RecordType::A,
        Family::V6 => RecordType::AAAA,
    };
    check_head(query.id, &query.name, record_type, message)?;
    let mut ttl = u32::MAX;
    let mut owner = query.name.clone();
    for _ in 0..=MAX_ALIASES {
        let mut aliases = Vec::new();
        let mut addresses = Vec::new();
        for record in message.answers.iter().filter(|record| belongs(record, &owner)) {
            match (&record.data, query.family) {
                (RData::CNAME(target), _) => aliases.push((&target.0, record.ttl)),
                (RData::A(address), Family::V4) => addresses.push((IpAddr::V4(address.0), record.ttl)),
                (RData::AAAA(address), Family::V6) => addresses.push((IpAddr::V6(address.0), record.ttl)),
                _ => {}
            }
        }
        match (&*aliases, &*addresses) {
            ([], []) => return Err(ResponseFault::NoAddress),
            ([], _) => {
                ttl = addresses.iter().fold(ttl, |ttl, (_, other)| ttl.min(*other));
                let addresses = accepted(current, addresses.into_iter().map(|(address, _)| address))?;
                return Ok(Resolved { addresses, ttl: Duration::from_secs(ttl.into()), canonical_name: owner });
            }
            // An alias is the only record of its owner.
            ([(target, seconds)], []) => {
                ttl = ttl.min(*seconds);
                owner = name(target).ok_or(ResponseFault::Aliases)?;
            }
            _ => return Err(ResponseFault::Aliases),
        }
    }
    Err(ResponseFault::Aliases)
}

/// Returns the time for which a response without an address may be used (RFC 2308). Returns `None`
/// if the response does not state the time.
pub fn negative_ttl(message: &Message) -> Option<Duration> {
    let seconds = |record: &Record| match &record.data {
        RData::SOA(soa) => Some(record.ttl.min(soa.minimum)),
        _ => None,
    };
    message.authorities.iter().find_map(seconds).map(|seconds| Duration::from_secs(seconds.into()))
}

/// Checks that the message is a complete and successful response to the query.
pub(crate) fn check_head(id: u16, asked_name: &Name, record_type: RecordType, message: &Message) -> Result<(), ResponseFault> {
    let head = &message.metadata;
    let [asked] = &*message.queries else { return Err(ResponseFault::NotTheQuery) };
    let is_response = head.id == id && head.message_type == MessageType::Response && head.op_code == OpCode::Query;
    let is_same = asked.query_type == record_type && asked.query_class == DNSClass::IN;
    if !is_response || !is_same || name(&asked.name).as_ref() != Some(asked_name) {
        return Err(ResponseFault::NotTheQuery);
    }
    if head.truncation {
        return Err(ResponseFault::Truncated);
    }
    match head.response_code {
        ResponseCode::NoError => Ok(()),
        ResponseCode::NXDomain => Err(ResponseFault::NoName),
        code => Err(ResponseFault::Server { code: code.into() }),
    }
}

pub(crate) fn belongs(record: &Record, owner: &Name) -> bool {
    record.dns_class == DNSClass::IN && name(&record.name).as_ref() == Some(owner)
}

pub(crate) fn name(name: &hickory_proto::rr::Name) -> Option<Name> {
    Name::from_labels(name.iter()).ok()
}

/// Returns the addresses, each once, if all may be connected.
pub(crate) fn accepted(current: &Current, addresses: impl Iterator<Item = IpAddr>) -> Result<Vec<IpAddr>, ResponseFault> {
    let mut accepted = Vec::new();
    for address in addresses {
        let address = address.to_canonical();
        let kind = current.host().kind_of(address);
        if !current.policy().accepts_answer(kind, address) {
            return Err(ResponseFault::NotPublic { address, kind });
        }
        if accepted.len() < MAX_ADDRESSES && !accepted.contains(&address) {
            accepted.push(address);
        }
    }
    Ok(accepted)
}
