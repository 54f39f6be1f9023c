//! The admission of a flow: the check of its address, before a packet leaves the machine. Next:
//! `open.rs`, `datagrams.rs`.

use crate::describe;
use crate::dns::{Unresolved, resolve};
use crate::runtime::Runtime;
use coldframe_edge_link::{Event, Failure, Refused};
use coldframe_egress::{Admission, Connect, Family, Name, PIN_TIMES, PinState, Protocol, judge_flow};
use std::net::SocketAddr;
use std::time::Instant;

/// The largest number of expired pins that are renewed for one flow.
const MAX_RENEWALS: u32 = 4;

/// A flow that the policy allows.
pub struct Admitted {
    /// The admission, which has the address to reach.
    pub admission: Admission,
    /// The allowed name that is pinned to the address.
    pub host: Option<Name>,
    /// Whether the pins of the address are held. The caller releases them.
    pub holds_pins: bool,
}

/// Judges the address of a flow. An expired pin is renewed by a look-up.
///
/// # Errors
/// Returns the refusal, or the failure of the look-up.
pub async fn admit(runtime: &Runtime, protocol: Protocol, peer: SocketAddr) -> Result<Admitted, Failure> {
    for _ in 0..=MAX_RENEWALS {
        let current = runtime.cell.current();
        let now = Instant::now();
        let judged = judge_flow(&current, &runtime.state.borrow().pins, protocol, peer, now);
        match judged {
            Connect::Admitted(admission) => {
                let address = admission.peer().address();
                let mut state = runtime.state.borrow_mut();
                let is_allowed = |name: &Name| current.policy().judge_name_of(protocol, name, address.port()).is_allowed();
                let mut names = state.pins.names_of(address.ip(), now);
                let host = names.find(|(name, pin)| *pin == PinState::Fresh && is_allowed(name)).map(|(name, _)| name.clone());
                drop(names);
                let holds_pins = state.pins.hold(address.ip());
                return Ok(Admitted { admission, host, holds_pins });
            }
            Connect::Refused(decision) => {
                // A developer knows the name, and not the address.
                let host = runtime.state.borrow().pins.names_of(peer.ip(), now).next().map(|(name, _)| name.clone());
                let denied = describe::denied(current.policy(), &decision, host.as_ref());
                let (refused, what) = match protocol {
                    Protocol::Tcp => (Refused::Connect { peer }, "the connection"),
                    Protocol::Udp => (Refused::Datagrams { peer }, "UDP"),
                };
                runtime.event(|| Event::Denied { refused, denied: denied.clone() });
                return Err(describe::refusal(format_args!("{what} to {peer}"), denied));
            }
            Connect::Renew(name) => renew(runtime, peer, &name).await?,
        }
    }
    Err(describe::errno(libc::EHOSTUNREACH))
}

async fn renew(runtime: &Runtime, peer: SocketAddr, name: &Name) -> Result<(), Failure> {
    let family = Family::of(peer.ip().to_canonical());
    let resolved = match resolve(runtime, name, family).await {
        Ok((resolved, _)) => Some(resolved),
        Err(Unresolved::Limit(limit)) => return Err(runtime.limit(limit.as_str())),
        // No server has replied, so the name may have the address or not.
        Err(Unresolved::Query(fault)) if fault.is_of_server() => return Err(describe::errno(libc::EHOSTUNREACH)),
        Err(Unresolved::Query(_)) => None,
    };
    let (addresses, ttl) = resolved.map_or((Vec::new(), PIN_TIMES.0), |resolved| (resolved.addresses, resolved.ttl));
    let recorded = runtime.state.borrow_mut().pins.record(name, family, &addresses, ttl, Instant::now());
    recorded.map_err(|_| runtime.limit("pins"))
}
