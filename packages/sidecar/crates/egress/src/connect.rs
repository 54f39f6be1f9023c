//! The check of a connection: the only source of addresses that can be connected, or can
//! receive datagrams.
//!
//! A connection is refused if the address is not public and `private` does not open it. Then the
//! rules about addresses decide. Without such a rule the names decide that are pinned to the
//! address. The result is the address itself, so that no other address can be connected. After a
//! change of the policy, an open connection is judged again. Next: `cell.rs`.

use crate::cell::{Current, Generation};
use crate::decision::{Decision, Reason, RuleId};
use crate::entry::Protocol;
use crate::name::Name;
use crate::pins::{PinSet, PinState};
use std::net::{SocketAddr, SocketAddrV6};
use std::time::Instant;

/// An address that the policy has checked. Only [`judge_flow`] makes the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked(SocketAddr);

impl Checked {
    /// Returns the address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.0
    }
}

/// The admission of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    peer: Checked,
    rule: Option<RuleId>,
    protocol: Protocol,
    generation: Generation,
}

impl Admission {
    /// Returns the address to connect to.
    pub fn peer(&self) -> Checked {
        self.peer
    }

    /// Returns the rule that admits. `None` means `outside: 'public'`.
    pub fn rule(&self) -> Option<RuleId> {
        self.rule
    }

    /// Returns the generation of the policy that admitted the connection last.
    pub fn generation(&self) -> Generation {
        self.generation
    }
}

/// The result of a check of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connect {
    /// The connection is allowed.
    Admitted(Admission),
    /// The connection depends on an expired pin of this name. The caller looks the name up, records
    /// the response, and checks again. Each recorded response leads to another result, so the
    /// checks end. The caller bounds the lookups of one connection.
    Renew(Name),
    /// The connection is refused.
    Refused(Decision),
}

/// Judges a connection to an address.
pub fn judge_connect(current: &Current, pins: &PinSet, peer: SocketAddr, now: Instant) -> Connect {
    judge_flow(current, pins, Protocol::Tcp, peer, now)
}

/// Judges a flow of a protocol to an address.
pub fn judge_flow(current: &Current, pins: &PinSet, protocol: Protocol, peer: SocketAddr, now: Instant) -> Connect {
    let peer = canonical(peer);
    let admit = |decision: Decision| match decision {
        Decision::Allowed { rule } => {
            Connect::Admitted(Admission { peer: Checked(peer), rule, protocol, generation: current.generation() })
        }
        refused => Connect::Refused(refused),
    };
    if let Some(decision) = current.policy().judge_address(protocol, current.host(), peer) {
        return admit(decision);
    }
    let unnamed = current.policy().judge_unnamed(protocol, peer.port());
    let (mut expired, mut refused) = (None, None);
    for (name, state) in pins.names_of(peer.ip(), now) {
        let decision = current.policy().judge_name_of(protocol, name, peer.port());
        match state {
            PinState::Fresh if decision.is_allowed() => return admit(decision),
            PinState::Expired if decision.is_allowed() => expired = expired.or(Some(name)),
            PinState::Withdrawn => {}
            PinState::Fresh | PinState::Expired => refused = worse(refused, decision),
        }
    }
    match (expired, refused) {
        // The new response could not change the result.
        (Some(_), _) if unnamed.is_allowed() => admit(unnamed),
        (Some(name), _) => Connect::Renew(name.clone()),
        (None, Some(refused)) => Connect::Refused(refused),
        (None, None) => admit(unnamed),
    }
}

/// Judges an open connection again, after a change of the policy or of the host machine's network.
/// The age of a pin does not matter, because the address was checked when the connection began.
///
/// # Errors
/// Returns the refusal if the connection is no longer allowed.
pub fn judge_again(current: &Current, pins: &PinSet, admission: &Admission, now: Instant) -> Result<Admission, Decision> {
    let (peer, protocol) = (admission.peer.address(), admission.protocol);
    let named = || {
        let mut refused = None;
        for (name, _) in pins.names_of(peer.ip(), now) {
            let decision = current.policy().judge_name_of(protocol, name, peer.port());
            if decision.is_allowed() {
                return decision;
            }
            refused = worse(refused, decision);
        }
        refused.unwrap_or_else(|| current.policy().judge_unnamed(protocol, peer.port()))
    };
    match current.policy().judge_address(protocol, current.host(), peer).unwrap_or_else(named) {
        Decision::Allowed { rule } => Ok(Admission { rule, generation: current.generation(), ..*admission }),
        refused => Err(refused),
    }
}

/// Judges the name that a client of TLS sends over an open connection to `peer`. `names` are the
/// names of the address. A connection that only a name admits must send an allowed name of the
/// address. Other connections may send each name that no rule denies. A name
/// with rules about HTTP must be a name of the address, because its rules apply to no other
/// address.
///
/// # Errors
/// Returns the rule that denies, if a rule denies.
pub fn judge_server_name<'a>(
    current: &Current,
    mut names: impl Iterator<Item = &'a Name>,
    peer: SocketAddr,
    name: Option<&Name>,
) -> Result<(), Option<RuleId>> {
    let (policy, peer) = (current.policy(), canonical(peer));
    let by_address = policy
        .judge_address(Protocol::Tcp, current.host(), peer)
        .map_or_else(|| policy.judge_unnamed(Protocol::Tcp, peer.port()).is_allowed(), |decision| decision.is_allowed());
    let Some(name) = name else { return if by_address { Ok(()) } else { Err(None) } };
    let decision = policy.judge_name(name, peer.port());
    if decision.reason() == Some(Reason::Denied) {
        return Err(decision.rule());
    }
    if names.any(|of| of == name) {
        return if by_address || decision.is_allowed() { Ok(()) } else { Err(None) };
    }
    let has_rules = !policy.http_rules(name, peer.port()).is_empty();
    if by_address && !has_rules { Ok(()) } else { Err(None) }
}

/// Returns the refusal to report: a rule that denies says more than the lack of a rule.
fn worse(known: Option<Decision>, new: Decision) -> Option<Decision> {
    known.filter(|known| known.reason() == Some(Reason::Denied)).or(Some(new))
}

/// Returns the address in its only form. A mapped address is its IPv4 address. A zone stays, and is
/// refused.
fn canonical(peer: SocketAddr) -> SocketAddr {
    match peer {
        SocketAddr::V6(long) if long.scope_id() == 0 => match long.ip().to_ipv4_mapped() {
            Some(short) => SocketAddr::new(short.into(), long.port()),
            None => SocketAddrV6::new(*long.ip(), long.port(), 0, 0).into(),
        },
        peer => peer,
    }
}
