//! Records as JSON, in the shapes of Node's `dns.resolve*`.

use hickory_proto::rr::{Name, RData, Record, RecordType};
use serde_json::{Value, json};
use std::fmt::Write;

/// The types that can be queried.
const TYPES: [RecordType; 13] = [
    RecordType::A,
    RecordType::AAAA,
    RecordType::ANY,
    RecordType::CAA,
    RecordType::CNAME,
    RecordType::MX,
    RecordType::NAPTR,
    RecordType::NS,
    RecordType::PTR,
    RecordType::SOA,
    RecordType::SRV,
    RecordType::TLSA,
    RecordType::TXT,
];

/// Returns the type with a number.
pub fn kind(number: u16) -> Option<RecordType> {
    TYPES.into_iter().find(|kind| u16::from(*kind) == number)
}

/// Returns the JSON array of the records. Records of types that cannot be queried are left out.
pub fn json(asked: RecordType, records: &[&Record]) -> String {
    let values = records.iter().filter_map(|record| {
        let mut value = value(record, asked == RecordType::ANY)?;
        if let (RecordType::ANY, Value::Object(fields)) = (asked, &mut value) {
            fields.insert("type".to_owned(), record.record_type().to_string().into());
        }
        Some(value)
    });
    Value::Array(values.collect()).to_string()
}

/// Returns the value of a record. In a response to ANY, every value is an object.
fn value(record: &Record, is_any: bool) -> Option<Value> {
    let named = |text: String, field: &str| if is_any { json!({ field: text }) } else { Value::String(text) };
    Some(match &record.data {
        RData::A(address) => json!({ "address": address.0.to_string(), "ttl": record.ttl }),
        RData::AAAA(address) => json!({ "address": address.0.to_string(), "ttl": record.ttl }),
        RData::CNAME(target) => named(name(&target.0), "value"),
        RData::NS(target) => named(name(&target.0), "value"),
        RData::PTR(target) => named(name(&target.0), "value"),
        RData::MX(mx) => json!({ "exchange": name(&mx.exchange), "priority": mx.preference }),
        RData::SRV(srv) => {
            json!({ "name": name(&srv.target), "port": srv.port, "priority": srv.priority, "weight": srv.weight })
        }
        RData::TXT(txt) => {
            let entries: Vec<String> = txt.txt_data.iter().map(|bytes| latin1(bytes)).collect();
            if is_any { json!({ "entries": entries }) } else { json!(entries) }
        }
        RData::SOA(soa) => json!({
            "nsname": name(&soa.mname), "hostmaster": name(&soa.rname), "serial": soa.serial, "refresh": soa.refresh,
            "retry": soa.retry, "expire": soa.expire, "minttl": soa.minimum,
        }),
        RData::CAA(caa) => {
            let critical = u8::from(caa.issuer_critical) << 7 | caa.reserved_flags;
            json!({ "critical": critical, caa.tag.as_str(): latin1(&caa.value) })
        }
        RData::NAPTR(naptr) => json!({
            "flags": latin1(&naptr.flags), "service": latin1(&naptr.services), "regexp": latin1(&naptr.regexp),
            "replacement": name(&naptr.replacement), "order": naptr.order, "preference": naptr.preference,
        }),
        RData::TLSA(tlsa) => {
            let data = tlsa.cert_data.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            });
            let (usage, selector, matching) = (u8::from(tlsa.cert_usage), u8::from(tlsa.selector), u8::from(tlsa.matching));
            json!({ "certUsage": usage, "selector": selector, "match": matching, "data": data })
        }
        _ => return None,
    })
}

/// Returns a name without the dot at its end, as c-ares does.
fn name(name: &Name) -> String {
    let text = name.to_ascii();
    text.strip_suffix('.').unwrap_or(&text).to_owned()
}

/// Returns a text with one character for each byte, as Node does.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_proto::rr::rdata::{A, CNAME, MX, SOA, SRV, TXT};

    fn wire(text: &str) -> Name {
        Name::from_ascii(text).unwrap()
    }

    fn of(asked: RecordType, data: RData) -> String {
        let record = Record::from_rdata(wire("a.example."), 60, data);
        json(asked, &[&record])
    }

    #[test]
    fn records_have_the_shapes_of_node() {
        assert_eq!(of(RecordType::A, RData::A(A::new(192, 0, 2, 1))), r#"[{"address":"192.0.2.1","ttl":60}]"#);
        assert_eq!(of(RecordType::CNAME, RData::CNAME(CNAME(wire("B.example.")))), r#"["B.example"]"#);
        let mx = RData::MX(MX::new(10, wire("m.example.")));
        assert_eq!(of(RecordType::MX, mx.clone()), r#"[{"exchange":"m.example","priority":10}]"#);
        assert_eq!(of(RecordType::ANY, mx), r#"[{"exchange":"m.example","priority":10,"type":"MX"}]"#);
        let txt = RData::TXT(TXT::from_bytes(vec![b"v=1 \"x\"", &[0xe9]]));
        assert_eq!(of(RecordType::TXT, txt.clone()), "[[\"v=1 \\\"x\\\"\",\"é\"]]");
        assert_eq!(of(RecordType::ANY, txt), "[{\"entries\":[\"v=1 \\\"x\\\"\",\"é\"],\"type\":\"TXT\"}]");
        let srv = RData::SRV(SRV::new(1, 2, 27017, wire("db.example.")));
        assert_eq!(of(RecordType::SRV, srv), r#"[{"name":"db.example","port":27017,"priority":1,"weight":2}]"#);
        let soa = RData::SOA(SOA::new(wire("ns.example."), wire("root.example."), 1, 2, 3, 4, 5));
        let expected =
            r#"[{"expire":4,"hostmaster":"root.example","minttl":5,"nsname":"ns.example","refresh":2,"retry":3,"serial":1}]"#;
        assert_eq!(of(RecordType::SOA, soa), expected);
    }

    #[test]
    fn only_the_types_of_node_can_be_queried() {
        assert_eq!([1, 255, 257].map(kind), [Some(RecordType::A), Some(RecordType::ANY), Some(RecordType::CAA)]);
        assert_eq!((0..=u16::MAX).filter(|number| kind(*number).is_some()).count(), 13);
    }
}
