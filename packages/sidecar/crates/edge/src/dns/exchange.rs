//! One query and its response. Next: `records.rs`.
//!
//! The query has a random id, a random case of its letters and a random port. A response must have
//! the id, the name and the type of the query, and be sent by the server's address. Other responses
//! are ignored. A truncated response, a response in another case, and a flood of wrong responses
//! make the query repeat over TCP. A query states with EDNS how long a datagram may be. A server
//! that refuses EDNS receives the query again without EDNS. A server has [`SERVER_TIME`], a query
//! [`QUERY_TIME`].

use coldframe_egress::{Name, ResponseFault};
use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name as WireName, RData, RecordType};
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, timeout_at};

/// The time of one server.
pub const SERVER_TIME: Duration = Duration::from_secs(2);
/// The time of a query, with all servers.
pub const QUERY_TIME: Duration = Duration::from_secs(8);
/// The number of wrong responses after which a query is repeated over TCP.
const MAX_WRONG: u32 = 32;
/// The largest response over UDP that a query asks for. Longer datagrams are cut into fragments on
/// the usual networks, and fragments are lost or forged easily.
const DATAGRAM: u16 = 1_232;
/// The largest response over UDP that is read. Some servers ignore the size of the query.
const MAX_DATAGRAM: usize = 4_096;

/// The reason why a query has no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryFault {
    /// No server has replied in time.
    TimedOut,
    /// No server is reachable.
    Unreachable,
    /// A response that yields nothing.
    Response(ResponseFault),
}

impl QueryFault {
    /// Returns whether another server may reply differently.
    pub fn is_of_server(&self) -> bool {
        match self {
            Self::TimedOut | Self::Unreachable => true,
            Self::Response(fault) => {
                matches!(fault, ResponseFault::Server { .. } | ResponseFault::Malformed | ResponseFault::NotTheQuery)
            }
        }
    }
}

/// A query with its random values.
struct Asked {
    id: u16,
    name: WireName,
    record_type: RecordType,
    bytes: Vec<u8>,
}

/// The result of an attempt over UDP.
enum Datagram {
    Response(Message),
    /// The query must be repeated over TCP.
    NeedsStream,
}

/// Asks the servers in turn. `judge` judges a response to the query, and receives the id.
///
/// # Errors
/// Returns the fault of the last server, or the first fault that no other server would change.
pub async fn ask<T>(
    servers: &[SocketAddr],
    name: &Name,
    record_type: RecordType,
    mut judge: impl FnMut(u16, &Message) -> Result<T, ResponseFault>,
) -> Result<T, QueryFault> {
    let ends = Instant::now() + QUERY_TIME;
    let mut last = QueryFault::Unreachable;
    loop {
        let mut is_late = false;
        for server in servers {
            let deadline = (Instant::now() + SERVER_TIME).min(ends);
            let fault = match timeout_at(deadline, exchange(*server, name, record_type)).await {
                Ok(Ok((id, message))) => match judge(id, &message).map_err(QueryFault::Response) {
                    Ok(value) => return Ok(value),
                    Err(fault) => fault,
                },
                Ok(Err(fault)) => fault,
                Err(_) => QueryFault::TimedOut,
            };
            if !fault.is_of_server() {
                return Err(fault);
            }
            is_late |= fault == QueryFault::TimedOut;
            last = fault;
            if Instant::now() >= ends {
                return Err(last);
            }
        }
        // Servers that have replied would reply equally again.
        if !is_late {
            return Err(last);
        }
    }
}

/// Returns the addresses of a name that the operator has chosen, and their time. The addresses are
/// not judged.
pub async fn addresses_of_operator(servers: &[SocketAddr], name: &Name) -> Option<(Vec<IpAddr>, Duration)> {
    let found = |_, message: &Message| {
        let address = |data: &RData| match data {
            RData::A(address) => Some(IpAddr::V4(address.0)),
            RData::AAAA(address) => Some(IpAddr::V6(address.0)),
            _ => None,
        };
        let addresses: Vec<IpAddr> = message.answers.iter().filter_map(|record| address(&record.data)).collect();
        let ttl = message.answers.iter().map(|record| record.ttl).min().unwrap_or(0);
        if addresses.is_empty() { Err(ResponseFault::NoAddress) } else { Ok((addresses, Duration::from_secs(ttl.into()))) }
    };
    match ask(servers, name, RecordType::A, found).await {
        Ok(found) => Some(found),
        Err(_) => ask(servers, name, RecordType::AAAA, found).await.ok(),
    }
}

async fn exchange(server: SocketAddr, name: &Name, record_type: RecordType) -> Result<(u16, Message), QueryFault> {
    let (id, message) = attempt(server, Asked::new(name, record_type, true)?).await?;
    match message.metadata.response_code {
        ResponseCode::FormErr | ResponseCode::NotImp => attempt(server, Asked::new(name, record_type, false)?).await,
        _ => Ok((id, message)),
    }
}

async fn attempt(server: SocketAddr, asked: Asked) -> Result<(u16, Message), QueryFault> {
    let received = match over_udp(server, &asked).await {
        Ok(Datagram::Response(message)) => Ok(message),
        Ok(Datagram::NeedsStream) => over_tcp(server, &asked).await,
        Err(error) => Err(error),
    };
    match received {
        Ok(message) => Ok((asked.id, message)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(QueryFault::Response(ResponseFault::Malformed)),
        Err(_) => Err(QueryFault::Unreachable),
    }
}

impl Asked {
    fn new(name: &Name, record_type: RecordType, has_edns: bool) -> Result<Self, QueryFault> {
        let mut random = [0; 2 + 32];
        let unusable = |_| QueryFault::Response(ResponseFault::Malformed);
        getrandom::fill(&mut random).map_err(|_| QueryFault::Unreachable)?;
        let ([low, high], bits) = random.split_first_chunk::<2>().map(|(id, bits)| (*id, bits)).unwrap_or_default();
        let id = u16::from_le_bytes([low, high]);
        let bit = |at: usize| bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
        let upper = |(at, letter): (usize, char)| if bit(at) { letter.to_ascii_uppercase() } else { letter };
        let text: String = name.as_str().chars().enumerate().map(upper).collect();
        let mut wire = WireName::from_ascii(&text).map_err(|_| ()).map_err(unusable)?;
        wire.set_fqdn(true);
        let mut message = Message::new(id, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(Query::query(wire.clone(), record_type));
        if has_edns {
            let mut edns = Edns::new();
            edns.set_max_payload(DATAGRAM);
            message.set_edns(edns);
        }
        let bytes = message.to_vec().map_err(|_| ()).map_err(unusable)?;
        Ok(Self { id, name: wire, record_type, bytes })
    }

    /// Returns whether a message is a response to the query. The case of the letters may differ.
    fn is_answered_by(&self, message: &Message) -> bool {
        let [asked] = &*message.queries else { return false };
        message.metadata.id == self.id
            && message.metadata.message_type == MessageType::Response
            && asked.query_type == self.record_type
            && asked.query_class == DNSClass::IN
            && asked.name == self.name
    }

    fn has_case_of(&self, message: &Message) -> bool {
        message.queries.first().is_some_and(|asked| asked.name.eq_case(&self.name))
    }
}

/// Opens a socket and sends a query. The query is sent before the socket is registered with the
/// scheduler, because the scheduler would wait for the socket first.
fn send_datagram(server: SocketAddr, bytes: &[u8]) -> io::Result<UdpSocket> {
    let family = if server.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
    // The system chooses a random port. A connected socket receives only from the server's address.
    connect(&socket, &server)?;
    let socket = std::net::UdpSocket::from(socket);
    socket.send(bytes)?;
    UdpSocket::from_std(socket)
}

/// Closes a socket after the scheduler's present turn, in which the response goes to the sidecar.
fn close_later(socket: UdpSocket) {
    tokio::task::spawn_local(async move {
        tokio::task::yield_now().await;
        drop(socket);
    });
}

async fn over_udp(server: SocketAddr, asked: &Asked) -> io::Result<Datagram> {
    let socket = send_datagram(server, &asked.bytes)?;
    let mut buffer = vec![0; MAX_DATAGRAM];
    for _ in 0..MAX_WRONG {
        let count = socket.recv(&mut buffer).await?;
        let received = buffer.get(..count).unwrap_or_default();
        match Message::from_vec(received) {
            Ok(message) if asked.is_answered_by(&message) => {
                close_later(socket);
                let is_whole = !message.metadata.truncation && asked.has_case_of(&message);
                return Ok(if is_whole { Datagram::Response(message) } else { Datagram::NeedsStream });
            }
            // A cut message that hides its truncation cannot be decoded, but has the id.
            Err(_) if received.starts_with(&asked.id.to_be_bytes()) => return Ok(Datagram::NeedsStream),
            _ => {}
        }
    }
    Ok(Datagram::NeedsStream)
}

async fn over_tcp(server: SocketAddr, asked: &Asked) -> io::Result<Message> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(asked.bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    stream.write_all(&[&length.to_be_bytes()[..], &asked.bytes].concat()).await?;
    let length = stream.read_u16().await?;
    let mut bytes = vec![0; length.into()];
    stream.read_exact(&mut bytes).await?;
    let message = Message::from_vec(&bytes).map_err(|_| io::ErrorKind::InvalidData)?;
    if asked.is_answered_by(&message) { Ok(message) } else { Err(io::ErrorKind::InvalidData.into()) }
}
