//! The connection to an address that the policy has checked: directly, or through the proxy of the
//! operator. The operator may choose the address of the host machine. No other module of this crate
//! connects for a guest.
//!
//! The proxy receives the checked address and never a name, so that it cannot connect to an address
//! that was not judged. A connection to the loopback of the host machine is always direct, because
//! the proxy would use the loopback of its own machine. Next: `flow/pump.rs`.

use crate::describe;
use crate::dns;
use crate::runtime::Runtime;
use base64ct::{Base64, Encoding};
use coldframe_edge_link::{Denied, Event, Failure, Options, Refused};
use coldframe_egress::{Checked, Proxy, ProxyHost};
use rustix::net::sockopt;
use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream, UdpSocket};
use tokio::time::timeout;

/// The time after which an idle connection is probed, so that the loss of the peer ends the flow.
const PROBE_AFTER: Duration = Duration::from_secs(900);
/// The largest response of a proxy to `CONNECT`, in bytes.
pub const MAX_PROXY_HEAD: usize = 8 << 10;

/// The way to peers.
#[derive(Debug, Default)]
pub struct Route {
    local: Option<IpAddr>,
    proxy: Option<Proxy>,
    /// The addresses of the proxy's name, and their end.
    known: RefCell<Option<(Vec<IpAddr>, Instant)>>,
}

impl Route {
    /// Validates the options.
    ///
    /// # Errors
    /// Returns the first wrong option.
    pub fn compile(options: &Options) -> Result<Self, Failure> {
        let local = options.local_address.as_deref().map(|text| {
            let wrong = |_| describe::invalid("localAddress", "an address of this machine", text);
            text.parse::<IpAddr>().map(|address| address.to_canonical()).map_err(wrong)
        });
        let wrong = || describe::invalid("proxy", Proxy::EXPECTED, "another text");
        let proxy = options.proxy.as_deref().map(|text| Proxy::parse(text).ok_or_else(wrong));
        Ok(Self { local: local.transpose()?, proxy: proxy.transpose()?, known: RefCell::default() })
    }

    /// Returns whether IPv4 and IPv6 peers can be reached from the local address.
    pub fn families(&self) -> (bool, bool) {
        match self.local.filter(|_| self.proxy.is_none()) {
            None => (true, true),
            Some(local) => (local.is_ipv4(), local.is_ipv6()),
        }
    }

    async fn direct(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // The sidecar batches a guest's small writes already.
        socket.set_nodelay(true)?;
        sockopt::set_socket_keepalive(&socket, true)?;
        sockopt::set_tcp_keepidle(&socket, PROBE_AFTER)?;
        if let Some(local) = self.local.filter(|_| !address.ip().is_loopback()) {
            if local.is_ipv4() != address.is_ipv4() {
                return Err(io::Error::from_raw_os_error(libc::EADDRNOTAVAIL));
            }
            socket.bind(SocketAddr::new(local, 0))?;
        }
        socket.connect(address).await
    }

    /// Returns the addresses of the proxy.
    async fn addresses(&self, runtime: &Runtime, host: &ProxyHost) -> Result<Vec<IpAddr>, Failure> {
        let name = match host {
            ProxyHost::Address(address) => return Ok(vec![*address]),
            ProxyHost::Name(name) => name,
        };
        if let Some(fixed) = runtime.state.borrow().dns.hosts.get(name) {
            return Ok(fixed.clone());
        }
        let known = self.known.borrow().clone().filter(|(_, until)| *until > Instant::now());
        if let Some((addresses, _)) = known {
            return Ok(addresses);
        }
        let found = dns::addresses_of_operator(&runtime.servers(), name).await;
        let (addresses, ttl) = found.ok_or_else(|| describe::errno(libc::EHOSTUNREACH))?;
        *self.known.borrow_mut() = Some((addresses.clone(), Instant::now() + ttl));
        Ok(addresses)
    }

    async fn through(&self, runtime: &Runtime, proxy: &Proxy, peer: SocketAddr) -> Result<TcpStream, Failure> {
        let mut last = describe::errno(libc::EHOSTUNREACH);
        for address in self.addresses(runtime, &proxy.host).await? {
            match self.direct(SocketAddr::new(address, proxy.port)).await {
                Ok(mut stream) => {
                    let status = ask(&mut stream, proxy, peer).await.map_err(|error| describe::io_error(&error))?;
                    return accepted(runtime, peer, status).map(|()| stream);
                }
                Err(error) => last = describe::io_error(&error),
            }
        }
        Err(last)
    }
}

/// Connects to an address that the policy has checked.
///
/// # Errors
/// Returns the failure of the network or of the proxy.
pub async fn connect(runtime: &Runtime, checked: Checked) -> Result<TcpStream, Failure> {
    let route = runtime.state.borrow().route.clone();
    let peer = checked.address();
    let connecting = async {
        match &route.proxy {
            Some(proxy) if !peer.ip().is_loopback() => route.through(runtime, proxy, peer).await,
            _ => route.direct(peer).await.map_err(|error| describe::io_error(&error)),
        }
    };
    timeout(runtime.shared.times.connect, connecting).await.unwrap_or_else(|_| Err(describe::errno(libc::ETIMEDOUT)))
}

/// Makes a socket that sends datagrams to an address that the policy has checked, and receives
/// datagrams of this address only. A proxy over HTTP forwards no datagrams, so a runtime with a
/// proxy has datagrams to the loopback of the host machine only.
///
/// # Errors
/// Returns the failure of the network, or the refusal because of a proxy.
pub async fn datagrams(runtime: &Runtime, checked: Checked) -> Result<UdpSocket, Failure> {
    let route = runtime.state.borrow().route.clone();
    let peer = checked.address();
    let is_local = peer.ip().is_loopback();
    if route.proxy.is_some() && !is_local {
        let denied = Denied { reason: "proxy".to_owned(), rule: None, host: None, detail: None };
        runtime.event(|| Event::Denied { refused: Refused::Datagrams { peer }, denied: denied.clone() });
        return Err(describe::refusal(format_args!("UDP to {peer}"), denied));
    }
    let any: IpAddr = if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let local = route.local.filter(|_| !is_local).unwrap_or(any);
    if local.is_ipv4() != peer.is_ipv4() {
        return Err(describe::errno(libc::EADDRNOTAVAIL));
    }
    let open = async {
        let socket = UdpSocket::bind(SocketAddr::new(local, 0)).await?;
        socket.connect(peer).await?;
        Ok(socket)
    };
    open.await.map_err(|error: io::Error| describe::io_error(&error))
}

/// Sends the request to the proxy. Returns the status of the response. The bytes after the response
/// stay in the socket, because the peer may have sent them.
async fn ask(stream: &mut TcpStream, proxy: &Proxy, peer: SocketAddr) -> io::Result<u16> {
    let mut request = format!("CONNECT {peer} HTTP/1.1\r\nHost: {peer}\r\n");
    if let Some(credentials) = proxy.credentials() {
        request.push_str("Proxy-Authorization: Basic ");
        request.push_str(&Base64::encode_string(credentials));
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await?;
    let reset = || io::Error::from_raw_os_error(libc::ECONNRESET);
    let mut head: Vec<u8> = Vec::new();
    loop {
        let known = head.len();
        head.resize(MAX_PROXY_HEAD, 0);
        let count = stream.peek(head.get_mut(known..).unwrap_or_default()).await?;
        head.truncate(known + count);
        let end = head.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
        head.truncate(end.unwrap_or(head.len()));
        // The bytes are there, so the read does not wait.
        stream.read_exact(head.get_mut(known..).unwrap_or_default()).await?;
        if end.is_some() {
            return status(&head).ok_or_else(reset);
        }
        if count == 0 || head.len() >= MAX_PROXY_HEAD {
            return Err(reset());
        }
    }
}

/// Returns the status of a response: `HTTP/1.1 200 …`.
fn status(head: &[u8]) -> Option<u16> {
    let rest = head.strip_prefix(b"HTTP/1.")?;
    let (digits, after) = rest.get(1..)?.strip_prefix(b" ")?.split_first_chunk::<3>()?;
    let ends = matches!(after.first(), Some(b' ' | b'\r'));
    std::str::from_utf8(digits).ok().filter(|_| ends)?.parse().ok()
}

/// Converts the status of a proxy. A proxy that refuses is reported like a policy that denies.
fn accepted(runtime: &Runtime, peer: SocketAddr, status: u16) -> Result<(), Failure> {
    match status {
        200..300 => Ok(()),
        504 => Err(describe::errno(libc::ETIMEDOUT)),
        500.. => Err(describe::errno(libc::EHOSTUNREACH)),
        _ => {
            let denied = Denied { reason: "proxy".to_owned(), rule: None, host: None, detail: Some(status.to_string()) };
            runtime.event(|| Event::Denied { refused: Refused::Connect { peer }, denied: denied.clone() });
            Err(describe::refusal(format_args!("the connection to {peer}"), denied))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_three_digits_after_the_version() {
        let read = |text: &str| status(text.as_bytes());
        assert_eq!(read("HTTP/1.1 200 OK\r\n\r\n"), Some(200));
        assert_eq!(read("HTTP/1.0 407\r\n\r\n"), Some(407));
        for wrong in ["", "HTTP/2 200 OK\r\n", "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 2000 \r\n", "HTTP/1.1  200 ", "SSH-2.0\r\n"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
