//! DNS responses.

use super::{current, name, options};
use crate::{AddressQuery, Current, Family, MAX_ADDRESSES, Resolved, ResponseFault, judge_response};
use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use std::net::IpAddr;

fn wire(text: &str) -> Name {
    Name::from_ascii(text).unwrap()
}

fn record(owner: &str, ttl: u32, value: &str) -> Record {
    let data = match value.parse() {
        Ok(IpAddr::V4(address)) => RData::A(A(address)),
        Ok(IpAddr::V6(address)) => RData::AAAA(AAAA(address)),
        Err(_) => RData::CNAME(CNAME(wire(value))),
    };
    Record::from_rdata(wire(owner), ttl, data)
}

fn message(records: &[(&str, u32, &str)]) -> Message {
    let mut message = Message::new(7, MessageType::Response, OpCode::Query);
    message.add_query(Query::query(wire("A.example."), RecordType::A));
    for (owner, ttl, value) in records {
        message.add_answer(record(owner, *ttl, value));
    }
    message
}

fn judge(current: &Current, message: &Message) -> Result<Resolved, ResponseFault> {
    let query = AddressQuery { id: 7, name: name("a.example"), family: Family::V4 };
    judge_response(current, &query, &message.to_vec().unwrap())
}

fn addresses(records: &[(&str, u32, &str)]) -> Result<Vec<String>, String> {
    let resolved = judge(&current(options(&[], &[], &[])), &message(records));
    resolved.map(|resolved| resolved.addresses.iter().map(ToString::to_string).collect()).map_err(|fault| fault.to_string())
}

#[test]
fn a_response_yields_the_addresses_at_the_end_of_the_aliases() {
    let records = [
        ("a.example.", 300, "B.example."),
        ("c.example.", 10, "8.8.8.8"),
        ("b.example.", 60, "c.example."),
        ("c.example.", 20, "1.1.1.1"),
        ("c.example.", 20, "8.8.8.8"),
        ("other.example.", 1, "9.9.9.9"),
    ];
    let resolved = judge(&current(options(&[], &[], &[])), &message(&records)).unwrap();
    let expected: Vec<IpAddr> = ["8.8.8.8", "1.1.1.1"].iter().map(|text| text.parse().unwrap()).collect();
    assert_eq!(resolved.addresses, expected);
    assert_eq!((resolved.ttl.as_secs(), resolved.canonical_name.as_str()), (10, "c.example"));
}

#[test]
fn one_refused_address_drops_all_addresses() {
    for private in ["10.0.0.1", "127.0.0.1", "169.254.169.254", "168.63.129.16", "0.0.0.0"] {
        for records in [
            [("a.example.", 9, "8.8.8.8"), ("a.example.", 9, private)],
            [("a.example.", 9, private), ("a.example.", 9, "8.8.8.8")],
        ] {
            let expected = format!("the response has the address {private}, which is not public");
            assert_eq!(addresses(&records), Err(expected), "{private}");
        }
    }
}

#[test]
fn a_private_address_is_accepted_if_the_policy_opens_a_port_of_it() {
    let opened = current(options(&[], &[], &["10.1.2.0/24:5432", "169.254.169.254:80"]));
    for (address, is_accepted) in [("10.1.2.3", true), ("10.1.3.3", false), ("169.254.169.254", true), ("169.254.169.253", false)]
    {
        assert_eq!(judge(&opened, &message(&[("a.example.", 9, address)])).is_ok(), is_accepted, "{address}");
    }
}

#[test]
fn aliases_are_bounded_and_do_not_branch() {
    let owners: Vec<String> = ["a".to_owned()].into_iter().chain((1..12).map(|number| format!("n{number}"))).collect();
    let chain = |aliases: usize| {
        let mut message = message(&[]);
        for pair in owners.windows(2).take(aliases) {
            message.add_answer(record(&format!("{}.example.", pair[0]), 9, &format!("{}.example.", pair[1])));
        }
        message.add_answer(record(&format!("{}.example.", owners[aliases]), 9, "8.8.8.8"));
        judge(&current(options(&[], &[], &[])), &message)
    };
    assert!(chain(8).is_ok());
    assert_eq!(chain(9), Err(ResponseFault::Aliases));
    let fault = Err(ResponseFault::Aliases.to_string());
    assert_eq!(addresses(&[("a.example.", 9, "b.example."), ("b.example.", 9, "a.example.")]), fault);
    assert_eq!(addresses(&[("a.example.", 9, "b.example."), ("a.example.", 9, "c.example.")]), fault);
    assert_eq!(addresses(&[("a.example.", 9, "b.example."), ("a.example.", 9, "8.8.8.8")]), fault);
    assert_eq!(addresses(&[("a.example.", 9, "127.0.0.1.x.1.")]), fault, "the alias is an address");
}

#[test]
fn a_message_that_is_no_response_to_the_query_is_refused() {
    let current = current(options(&[], &[], &[]));
    let with = |change: &dyn Fn(&mut Message)| {
        let mut message = message(&[("a.example.", 9, "8.8.8.8")]);
        change(&mut message);
        judge(&current, &message).unwrap_err()
    };
    assert_eq!(with(&|message| message.metadata.id = 8), ResponseFault::NotTheQuery);
    assert_eq!(with(&|message| message.metadata.message_type = MessageType::Query), ResponseFault::NotTheQuery);
    assert_eq!(with(&|message| message.metadata.op_code = OpCode::Notify), ResponseFault::NotTheQuery);
    assert_eq!(with(&|message| message.queries.clear()), ResponseFault::NotTheQuery);
    assert_eq!(with(&|message| message.queries[0].query_type = RecordType::AAAA), ResponseFault::NotTheQuery);
    assert_eq!(with(&|message| message.queries[0].name = wire("b.example.")), ResponseFault::NotTheQuery);
    assert_eq!(with(&|message| message.queries.push(message.queries[0].clone())), ResponseFault::NotTheQuery);
    assert_eq!(with(&|message| message.metadata.truncation = true), ResponseFault::Truncated);
    assert_eq!(with(&|message| message.metadata.response_code = ResponseCode::NXDomain), ResponseFault::NoName);
    assert_eq!(with(&|message| message.metadata.response_code = ResponseCode::ServFail), ResponseFault::Server { code: 2 });
    assert_eq!(with(&|message| message.answers.clear()), ResponseFault::NoAddress);
    let query = AddressQuery { id: 7, name: name("a.example"), family: Family::V4 };
    for bytes in [&b""[..], b"x", &[0; 11], &[0xff; 512]] {
        assert_eq!(judge_response(&current, &query, bytes), Err(ResponseFault::Malformed));
    }
}

#[test]
fn a_response_yields_a_bounded_number_of_addresses_and_all_are_judged() {
    let many: Vec<String> = (0..200).map(|number| format!("8.8.8.{number}")).collect();
    let mut records: Vec<(&str, u32, &str)> = many.iter().map(|text| ("a.example.", 9, text.as_str())).collect();
    assert_eq!(addresses(&records).map(|found| found.len()), Ok(MAX_ADDRESSES));
    records.push(("a.example.", 9, "10.0.0.1"));
    assert!(addresses(&records).is_err());
}
