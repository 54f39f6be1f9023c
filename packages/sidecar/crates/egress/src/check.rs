//! The dry run: the decision about a URL, without a lookup and without a connection.
//!
//! The crate `url` parses URLs as a guest's `fetch` does, so that both find an equal host. Next:
//! `decision.rs`.

use crate::cell::Current;
use crate::connect::{Connect, judge_flow};
use crate::decision::{Decision, Reason};
use crate::entry::Protocol;
use crate::name::Name;
use crate::pins::PinSet;
use displaydoc::Display;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;
use url::{Host, Url};

/// The reason why a text is no URL that can be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, thiserror::Error)]
pub enum InvalidUrl {
    /// a URL
    Syntax,
    /// a URL with a host
    Host,
    /// a URL with a port, or with a scheme that has a default port
    Port,
}

/// Judges a request with a method to a URL. Rules about HTTP judge URLs with a scheme of HTTP or
/// WebSocket. A URL with the scheme `udp` is about datagrams. For an address, the pins of the
/// runtime count. For a name, the addresses are unknown before the lookup, so a connection can
/// still be refused because of an address.
///
/// # Errors
/// Fails if the text is no URL, or the host or the port is unknown.
pub fn check(current: &Current, pins: &PinSet, url: &str, method: &str, now: Instant) -> Result<Decision, InvalidUrl> {
    let host_and_port = |url: &Url| {
        let host = url.host().map(|host| host.to_owned()).ok_or(InvalidUrl::Host)?;
        Ok((host, url.port_or_known_default().ok_or(InvalidUrl::Port)?))
    };
    let parsed = match Url::parse(url) {
        Ok(url) => url,
        // The URL has a host that no URL may have, such as an address with a mistake.
        Err(
            url::ParseError::IdnaError
            | url::ParseError::InvalidDomainCharacter
            | url::ParseError::InvalidIpv4Address
            | url::ParseError::InvalidIpv6Address,
        ) => return Ok(Decision::refused(Reason::InvalidName(crate::InvalidName::Character))),
        Err(_) => return Err(InvalidUrl::Syntax),
    };
    let (host, port) = host_and_port(&parsed)?;
    let address: IpAddr = match host {
        Host::Ipv4(address) => address.into(),
        Host::Ipv6(address) => address.into(),
        // The host of an unknown scheme is not parsed.
        Host::Domain(text) => match text.parse() {
            Ok(address) => IpAddr::V4(address),
            Err(_) => {
                return Ok(match Name::parse(&text) {
                    Ok(name) => judge(current, &name, port, &parsed, method),
                    Err(invalid) => Decision::refused(Reason::InvalidName(invalid)),
                });
            }
        },
    };
    Ok(match judge_flow(current, pins, protocol_of(&parsed), SocketAddr::new(address, port), now) {
        Connect::Admitted(admission) => Decision::Allowed { rule: admission.rule() },
        Connect::Refused(refused) => refused,
        // The lookup has not been repeated, and the name is still allowed.
        Connect::Renew(name) => current.policy().judge_name_of(protocol_of(&parsed), &name, port),
    })
}

fn judge(current: &Current, name: &Name, port: u16, url: &Url, method: &str) -> Decision {
    match url.scheme() {
        "http" | "https" => current.policy().judge_request(name, port, method, url.path()).decision,
        "ws" | "wss" => current.policy().judge_request(name, port, "GET", url.path()).decision,
        _ => current.policy().judge_name_of(protocol_of(url), name, port),
    }
}

fn protocol_of(url: &Url) -> Protocol {
    if url.scheme() == "udp" { Protocol::Udp } else { Protocol::Tcp }
}
