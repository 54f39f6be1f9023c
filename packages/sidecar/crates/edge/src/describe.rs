//! Decisions of the policy as failures for the sidecar. Next: `flow/mod.rs`.

use coldframe_edge_link as link;
use coldframe_edge_link::{Denied, Failure, FailureKind, Rule};
use coldframe_egress::{Decision, InvalidEntry, Name, Policy, Reason, RuleId};
use std::fmt;
use std::io;

/// The largest number of characters of a text that a guest has chosen.
pub const MAX_TEXT: usize = 100;

/// Returns the rule of a policy.
pub fn rule(policy: &Policy, id: RuleId) -> Rule {
    let entry = policy.entry(id).unwrap_or_default().to_owned();
    Rule { list: id.list.name().to_owned(), index: u32::try_from(id.index).unwrap_or(u32::MAX), entry }
}

/// Returns the facts of a refusal.
pub fn denied(policy: &Policy, refused: &Decision, host: Option<&Name>) -> Denied {
    let reason = refused.reason().unwrap_or(Reason::NotAllowed);
    let detail = match reason {
        Reason::PrivateAddress(kind) => Some(kind.as_str().to_owned()),
        Reason::SpecialName(kind) => Some(kind.as_str().to_owned()),
        Reason::InvalidName(invalid) => Some(invalid.to_string()),
        Reason::Limit(limit) => Some(limit.as_str().to_owned()),
        Reason::NotAllowed | Reason::Denied | Reason::Port | Reason::NameNotPinned => None,
        Reason::Method | Reason::Path | Reason::InvalidPath => None,
    };
    Denied {
        reason: reason.as_str().to_owned(),
        rule: refused.rule().map(|id| rule(policy, id)),
        host: host.map(|host| host.as_str().to_owned()),
        detail,
    }
}

/// Returns a decision for the sidecar.
pub fn decision(policy: &Policy, decision: &Decision, host: Option<&Name>) -> link::Decision {
    match decision {
        Decision::Allowed { rule: id } => link::Decision::Allowed { rule: id.map(|id| rule(policy, id)) },
        refused @ Decision::Refused { .. } => link::Decision::Refused(denied(policy, refused, host)),
    }
}

/// Returns the refusal of a runtime without a policy.
pub fn no_policy() -> Denied {
    Denied { reason: Reason::NotAllowed.as_str().to_owned(), rule: None, host: None, detail: None }
}

/// Returns the failure of a refusal. `what` is the refused action, such as `the connection to
/// 192.0.2.1:443`.
pub fn refusal(what: impl fmt::Display, denied: Denied) -> Failure {
    let message = match (&denied.rule, &denied.detail) {
        (Some(rule), _) => {
            format!("{what} is refused: {}, by network.{}[{}] {:?}", denied.reason, rule.list, rule.index, rule.entry)
        }
        (None, Some(detail)) => format!("{what} is refused: {} ({detail})", denied.reason),
        (None, None) => format!("{what} is refused: {}", denied.reason),
    };
    Failure { kind: FailureKind::Denied(denied), message }
}

/// Returns the failure of a reached limit.
pub fn limit(name: &str) -> Failure {
    Failure { kind: FailureKind::Limit { name: name.to_owned() }, message: format!("the limit {name} is reached") }
}

/// Returns the failure of a call of the operating system.
pub fn errno(number: i32) -> Failure {
    Failure { kind: FailureKind::Errno(number), message: io::Error::from_raw_os_error(number).to_string() }
}

/// Returns the failure of a connection.
pub fn io_error(error: &io::Error) -> Failure {
    let number = error.raw_os_error().unwrap_or(match error.kind() {
        io::ErrorKind::TimedOut => libc::ETIMEDOUT,
        io::ErrorKind::BrokenPipe | io::ErrorKind::WriteZero => libc::EPIPE,
        _ => libc::EIO,
    });
    errno(number)
}

/// Returns the failure of a look-up.
pub fn dns(code: &str, name: impl fmt::Display) -> Failure {
    Failure { kind: FailureKind::Dns(code.to_owned()), message: format!("{code} {}", shortened(&name.to_string())) }
}

/// Returns the failure of a wrong value.
pub fn invalid(what: &str, expected: impl fmt::Display, received: &str) -> Failure {
    let (expected, received) = (expected.to_string(), shortened(received));
    let message = format!("{what}: expected {expected}, received {received:?}");
    Failure { kind: FailureKind::Invalid { what: what.to_owned(), expected, received }, message }
}

/// Returns the failure of a wrong entry.
pub fn invalid_entry(list: &str, index: usize, entry: &str, fault: impl fmt::Display) -> Failure {
    let (entry, fault) = (shortened(entry), fault.to_string());
    let message = format!("network.{list}[{index}]: expected {fault}, received {entry:?}");
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    Failure { kind: FailureKind::InvalidEntry { list: list.to_owned(), index, entry, fault }, message }
}

/// Returns the failure of a wrong entry of the policy.
pub fn invalid_rule(invalid: &InvalidEntry) -> Failure {
    invalid_entry(invalid.list.name(), invalid.index, &invalid.received, &invalid.fault)
}

/// Returns the first characters of a text, without control characters.
pub fn shortened(text: &str) -> String {
    text.chars().take(MAX_TEXT).map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}
