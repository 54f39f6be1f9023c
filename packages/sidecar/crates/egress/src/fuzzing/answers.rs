//! The target `dns-answers`: DNS messages of any bytes, and responses of random records.
//!
//! A response yields only addresses that are public, and only if all its addresses are public.
#![expect(clippy::expect_used, clippy::panic, reason = "a target panics on a broken promise")]

use super::reference::is_special;
use crate::{
    AddressQuery, Current, EgressOptions, Family, HostNetwork, MAX_ADDRESSES, MAX_ALIASES, Name, Policy, ResponseFault,
    judge_message, judge_response,
};
use arbitrary::{Result, Unstructured};
use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{self, DNSClass, RData, Record, RecordType};
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const NAMES: &[&str] = &["a.test", "b.test", "c.test", "d.test", "e.test"];
const SHORT: &[&str] = &["8.8.8.8", "1.1.1.1", "10.0.0.1", "169.254.169.254", "127.0.0.1", "168.63.129.16"];
const LONG: &[&str] =
    &["2606:4700::1", "2606:4700::2", "::ffff:8.8.8.8", "::ffff:10.0.0.1", "64:ff9b::808:808", "::1", "fd00::1"];

fn query(family: Family) -> AddressQuery {
    AddressQuery { id: 7, name: Name::parse(NAMES[0]).expect("a name"), family }
}

fn record(input: &mut Unstructured<'_>) -> Result<Record> {
    let owner = rr::Name::from_ascii(input.choose(NAMES)?).expect("a name");
    let data = match input.int_in_range(0..=5)? {
        0 => RData::A(A(input.choose(SHORT)?.parse().expect("an address"))),
        1 => RData::A(A(Ipv4Addr::from_bits(input.arbitrary()?))),
        2 => RData::AAAA(AAAA(input.choose(LONG)?.parse().expect("an address"))),
        3 => RData::AAAA(AAAA(Ipv6Addr::from_bits(input.arbitrary()?))),
        _ => RData::CNAME(CNAME(rr::Name::from_ascii(input.choose(NAMES)?).expect("a name"))),
    };
    let mut record = Record::from_rdata(owner, input.int_in_range(0..=100)?, data);
    if input.ratio(1, 16)? {
        record.dns_class = DNSClass::CH;
    }
    Ok(record)
}

fn message(input: &mut Unstructured<'_>, family: Family) -> Result<Message> {
    let mut message = Message::new(if input.ratio(1, 16)? { 8 } else { 7 }, MessageType::Response, OpCode::Query);
    message.metadata.truncation = input.ratio(1, 16)?;
    message.metadata.response_code = if input.ratio(1, 16)? { ResponseCode::ServFail } else { ResponseCode::NoError };
    let record_type = if family == Family::V4 { RecordType::A } else { RecordType::AAAA };
    message.add_query(Query::query(rr::Name::from_ascii(NAMES[0]).expect("a name"), record_type));
    for _ in 0..input.int_in_range(0..=8)? {
        message.add_answer(record(input)?);
    }
    Ok(message)
}

/// Returns the addresses at the end of the aliases. Returns `None` if the aliases lead to no
/// address, or to more than one result.
fn addresses(message: &Message, family: Family) -> Option<Vec<IpAddr>> {
    let (mut owner, mut seen) = (NAMES[0].to_owned(), HashSet::new());
    while seen.insert(owner.clone()) {
        let of_owner = |record: &&Record| {
            record.dns_class == DNSClass::IN && record.name.to_string().trim_end_matches('.').eq_ignore_ascii_case(&owner)
        };
        let records: Vec<&Record> = message.answers.iter().filter(of_owner).collect();
        let found: Vec<IpAddr> = records
            .iter()
            .filter_map(|record| match (&record.data, family) {
                (RData::A(address), Family::V4) => Some(address.0.into()),
                (RData::AAAA(address), Family::V6) => Some(address.0.into()),
                _ => None,
            })
            .collect();
        let aliases: Vec<String> = records
            .iter()
            .filter_map(|record| match &record.data {
                RData::CNAME(target) => Some(target.0.to_string().trim_end_matches('.').to_ascii_lowercase()),
                _ => None,
            })
            .collect();
        match (&*aliases, found.is_empty()) {
            ([], false) => return Some(found),
            ([target], true) if seen.len() <= MAX_ALIASES => owner = target.clone(),
            _ => return None,
        }
    }
    None
}

fn check(message: &Message, bytes: &[u8], family: Family) {
    let policy = Policy::compile(EgressOptions::default()).expect("a valid policy");
    let current = Current::new(policy, HostNetwork::default());
    let query = query(family);
    let result = judge_message(&current, &query, message);
    assert_eq!(judge_response(&current, &query, bytes), result, "{message:?}");
    match (result, addresses(message, family)) {
        (Ok(resolved), Some(addresses)) => {
            assert!(!addresses.iter().any(|address| is_special(*address)), "{resolved:?} {message:?}");
            let expected: HashSet<IpAddr> = addresses.iter().map(|address| address.to_canonical()).collect();
            let found: HashSet<IpAddr> = resolved.addresses.iter().copied().collect();
            assert!(!found.is_empty() && found.len() == resolved.addresses.len() && found.is_subset(&expected));
            assert_eq!(found.len(), expected.len().min(MAX_ADDRESSES), "{message:?}");
        }
        (Ok(resolved), None) => panic!("{resolved:?} {message:?}"),
        (Err(ResponseFault::NotPublic { address, .. }), addresses) => {
            let addresses = addresses.unwrap_or_default();
            let is_there = addresses.iter().any(|found| found.to_canonical() == address);
            assert!(is_special(address) && is_there, "{address} {message:?}");
        }
        (Err(ResponseFault::NoAddress | ResponseFault::Aliases), addresses) => assert_eq!(addresses, None, "{message:?}"),
        (Err(_), _) => {}
    }
}

/// Judges a message.
///
/// # Panics
/// Panics if a message yields an address that is not public, or belongs to another name.
pub fn answers(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else { return };
    let family = if kind & 1 == 0 { Family::V4 } else { Family::V6 };
    if kind & 2 == 0 {
        if let Ok(message) = Message::from_vec(data) {
            check(&message, data, family);
        }
        return;
    }
    // The input may end in the middle of a value.
    let Ok(message) = message(&mut Unstructured::new(data), family) else { return };
    let bytes = message.to_vec().expect("the message has an encoding");
    // Decoding normalises the message.
    let message = Message::from_vec(&bytes).expect("an encoded message can be decoded");
    check(&message, &bytes, family);
}
