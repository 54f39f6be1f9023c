//! A DNS server over UDP and TCP on one port.

use hickory_proto::op::{Message, MessageType, OpCode, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A query that has arrived.
pub struct Query {
    pub message: Message,
    pub over_tcp: bool,
    /// The number of earlier queries.
    pub number: u32,
}

impl Query {
    /// Returns the name in lower case, without the dot at its end.
    pub fn name(&self) -> String {
        self.message.queries[0].name.to_lowercase().to_ascii().trim_end_matches('.').to_owned()
    }

    pub fn record_type(&self) -> RecordType {
        self.message.queries[0].query_type
    }

    /// Returns a response to the query without a record.
    pub fn response(&self) -> Message {
        let mut response = Message::new(self.message.metadata.id, MessageType::Response, OpCode::Query);
        response.add_query(self.message.queries[0].clone());
        response
    }

    /// Returns a response with these records: addresses and aliases, each with its owner and time
    /// to live. Addresses of the other family are left out.
    pub fn answer(&self, records: &[(&str, u32, &str)]) -> Vec<u8> {
        let mut response = self.response();
        for (owner, ttl, value) in records {
            let data = match value.parse() {
                Ok(IpAddr::V4(address)) => RData::A(A(address)),
                Ok(IpAddr::V6(address)) => RData::AAAA(AAAA(address)),
                Err(_) => RData::CNAME(CNAME(wire(value))),
            };
            let record = Record::from_rdata(wire(owner), *ttl, data);
            if self.record_type() == RecordType::ANY || [self.record_type(), RecordType::CNAME].contains(&record.record_type()) {
                response.add_answer(record);
            }
        }
        response.to_vec().unwrap()
    }

    pub fn failing(&self, code: ResponseCode) -> Vec<u8> {
        let mut response = self.response();
        response.metadata.response_code = code;
        response.to_vec().unwrap()
    }
}

pub fn wire(text: &str) -> Name {
    let mut name = Name::from_ascii(text).unwrap();
    name.set_fqdn(true);
    name
}

/// A server. It runs until the process ends.
pub struct Server {
    pub address: SocketAddr,
    count: Arc<AtomicU32>,
}

impl Server {
    /// Starts a server. `respond` returns the messages to send.
    pub fn new(respond: impl Fn(&Query) -> Vec<Vec<u8>> + Send + Sync + 'static) -> Self {
        let (udp, tcp) = loop {
            let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
            if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
                break (udp, tcp);
            }
        };
        let address = udp.local_addr().unwrap();
        let (respond, count) = (Arc::new(respond), Arc::new(AtomicU32::new(0)));
        let (over_udp, counter) = (respond.clone(), count.clone());
        std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            while let Ok((length, from)) = udp.recv_from(&mut buffer) {
                let message = Message::from_vec(&buffer[..length]).unwrap();
                let query = Query { message, over_tcp: false, number: counter.fetch_add(1, Ordering::SeqCst) };
                over_udp(&query).iter().for_each(|response| drop(udp.send_to(response, from)));
            }
        });
        let counter = count.clone();
        std::thread::spawn(move || {
            for mut stream in tcp.incoming().flatten() {
                let mut length = [0; 2];
                let mut bytes = vec![0; 4_096];
                if stream.read_exact(&mut length).is_err() {
                    continue;
                }
                let length = usize::from(u16::from_be_bytes(length));
                stream.read_exact(&mut bytes[..length]).unwrap();
                let message = Message::from_vec(&bytes[..length]).unwrap();
                let query = Query { message, over_tcp: true, number: counter.fetch_add(1, Ordering::SeqCst) };
                for response in respond(&query) {
                    let length = u16::try_from(response.len()).unwrap().to_be_bytes();
                    let _ = stream.write_all(&[&length[..], &response].concat());
                }
            }
        });
        Self { address, count }
    }

    /// Returns the number of queries.
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::SeqCst)
    }
}
