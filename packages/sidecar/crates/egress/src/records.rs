//! The check of a DNS response with records of any type.
//!
//! The records belong to the name of the query, or to the name at the end of its aliases. Addresses
//! among the records are judged as in a response with addresses, because a guest could connect to
//! the addresses. Next: `pins.rs`.

use crate::cell::Current;
use crate::name::Name;
use crate::response::{MAX_ALIASES, ResponseFault, accepted, belongs, check_head, name};
use hickory_proto::op::Message;
use hickory_proto::rr::{RData, Record, RecordType};
use std::net::IpAddr;

/// A query for the records of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordQuery {
    /// The number of the message.
    pub id: u16,
    /// The name.
    pub name: Name,
    /// The type. [`RecordType::ANY`] means all types.
    pub record_type: RecordType,
}

/// Judges a decoded response. Returns the records of the type, at least one.
///
/// # Errors
/// Returns the reason why the response yields no record. A response without a record of the type is
/// [`ResponseFault::NoAddress`].
pub fn judge_records<'a>(current: &Current, query: &RecordQuery, message: &'a Message) -> Result<Vec<&'a Record>, ResponseFault> {
    check_head(query.id, &query.name, query.record_type, message)?;
    let mut owner = query.name.clone();
    for _ in 0..=MAX_ALIASES {
        let of_owner = || message.answers.iter().filter(|record| belongs(record, &owner));
        let is_wanted = |record: &&Record| [record.record_type(), RecordType::ANY].contains(&query.record_type);
        let records: Vec<&Record> = of_owner().filter(is_wanted).collect();
        if !records.is_empty() {
            accepted(current, records.iter().filter_map(|record| address(record)))?;
            return Ok(records);
        }
        let mut aliases = of_owner().filter_map(|record| match &record.data {
            RData::CNAME(target) => Some(&target.0),
            _ => None,
        });
        owner = match (aliases.next(), aliases.next()) {
            (None, _) => return Err(ResponseFault::NoAddress),
            (Some(target), None) => name(target).ok_or(ResponseFault::Aliases)?,
            (Some(_), Some(_)) => return Err(ResponseFault::Aliases),
        };
    }
    Err(ResponseFault::Aliases)
}

fn address(record: &Record) -> Option<IpAddr> {
    match &record.data {
        RData::A(address) => Some(address.0.into()),
        RData::AAAA(address) => Some(address.0.into()),
        _ => None,
    }
}
