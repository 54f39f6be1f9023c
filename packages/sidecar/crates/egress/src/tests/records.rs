//! DNS responses with records of any type.

use super::{current, name, options};
use crate::{RecordQuery, ResponseFault, judge_records};
use hickory_proto::op::{Message, MessageType, OpCode, Query};
use hickory_proto::rr::rdata::{A, CNAME, MX, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};

fn wire(text: &str) -> Name {
    Name::from_ascii(text).unwrap()
}

fn mx(target: &str) -> RData {
    RData::MX(MX::new(10, wire(target)))
}

fn judged(record_type: RecordType, records: &[(&str, RData)]) -> Result<Vec<String>, ResponseFault> {
    let mut message = Message::new(7, MessageType::Response, OpCode::Query);
    message.add_query(Query::query(wire("a.example."), record_type));
    for (owner, data) in records {
        message.add_answer(Record::from_rdata(wire(owner), 60, data.clone()));
    }
    let query = RecordQuery { id: 7, name: name("a.example"), record_type };
    let records = judge_records(&current(options(&[], &[], &[])), &query, &message)?;
    Ok(records.iter().map(|record| record.data.to_string()).collect())
}

#[test]
fn a_response_yields_the_records_of_the_type_at_the_end_of_the_aliases() {
    let alias = RData::CNAME(CNAME(wire("b.example.")));
    let records = [("A.example.", alias.clone()), ("b.example.", mx("m.example.")), ("c.example.", mx("n.example."))];
    assert_eq!(judged(RecordType::MX, &records), Ok(vec!["10 m.example.".to_owned()]));
    assert_eq!(judged(RecordType::CNAME, &records), Ok(vec!["b.example.".to_owned()]));
    assert_eq!(judged(RecordType::TXT, &records), Err(ResponseFault::NoAddress));
    let circle = [("a.example.", alias), ("b.example.", RData::CNAME(CNAME(wire("a.example."))))];
    assert_eq!(judged(RecordType::MX, &circle), Err(ResponseFault::Aliases));
}

#[test]
fn a_response_with_an_address_that_is_not_public_yields_no_record() {
    let text = RData::TXT(TXT::new(vec!["text".to_owned()]));
    let public = ("a.example.", RData::A(A::new(8, 8, 8, 8)));
    let private = ("a.example.", RData::A(A::new(10, 0, 0, 1)));
    assert_eq!(judged(RecordType::ANY, &[("a.example.", text.clone()), public.clone()]).map(|records| records.len()), Ok(2));
    let refused = judged(RecordType::ANY, &[("a.example.", text), public, private]);
    assert!(matches!(refused, Err(ResponseFault::NotPublic { .. })), "{refused:?}");
}
