//! The errors of programs for failures outside the runtime.
//!
//! An explanation has up to three texts with NUL between them: a sentence, the stable reason, and
//! the rule. The guest appends the sentence to the message of the error, and sets `permission`,
//! `reason` and `rule`. The texts come from another process, so their lengths are bounded and
//! control characters are replaced. Next: `requests.rs`.

use crate::outside::{LookUpAnswer, LookUpFamily, MAX_ADDRESSES, MAX_RECORDS_BYTES, OutsideFailure, OutsideFailureKind};
use coldframe_error::Errno;
use std::net::IpAddr;

/// The maximum length of a text in an explanation, in bytes.
const MAX_TEXT: usize = 200;
/// The error numbers of a connection that a program receives unchanged. Any other number becomes
/// `ECONNRESET`, because a number such as `EAGAIN` has another meaning for a socket.
const OF_CONNECTIONS: [Errno; 12] = [
    Errno::EACCES,
    Errno::EADDRNOTAVAIL,
    Errno::EMFILE,
    Errno::ENFILE,
    Errno::ENETDOWN,
    Errno::ENETUNREACH,
    Errno::ECONNABORTED,
    Errno::ECONNRESET,
    Errno::ENOBUFS,
    Errno::ETIMEDOUT,
    Errno::ECONNREFUSED,
    Errno::EHOSTUNREACH,
];

/// Returns the error number for the failure of a connection, and the explanation, if any.
pub(in crate::net) fn of_connection(failure: &OutsideFailure) -> (Errno, Option<Box<str>>) {
    match &failure.kind {
        OutsideFailureKind::Errno(errno) => (if OF_CONNECTIONS.contains(errno) { *errno } else { Errno::ECONNRESET }, None),
        OutsideFailureKind::Dns(_) => (Errno::ECONNRESET, None),
        OutsideFailureKind::Denied { .. } => (Errno::EACCES, explanation(failure, "connect")),
        OutsideFailureKind::Limit { .. } => (Errno::ENOBUFS, explanation(failure, "connect")),
    }
}

/// Returns the error number for datagrams that cannot be sent, and the explanation, if any.
pub(super) fn of_datagrams(failure: &OutsideFailure) -> (Errno, Option<Box<str>>) {
    match &failure.kind {
        OutsideFailureKind::Denied { .. } => (Errno::EACCES, explanation(failure, "udp")),
        _ => of_connection(failure),
    }
}

/// Returns the error number of a peer that cannot be reached, which a suspect process has sent.
pub(super) fn of_unreachable(errno: Errno) -> Errno {
    if OF_CONNECTIONS.contains(&errno) { errno } else { Errno::ECONNREFUSED }
}

/// Returns the error number for an open connection that has failed. A program sees a connection
/// that a change of the policy ends as a reset.
pub(super) fn of_open_connection(failure: &OutsideFailure) -> Errno {
    match &failure.kind {
        OutsideFailureKind::Errno(errno @ (Errno::ETIMEDOUT | Errno::EHOSTUNREACH | Errno::ENETUNREACH | Errno::ENETDOWN)) => {
            *errno
        }
        _ => Errno::ECONNRESET,
    }
}

/// The kind of a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Question {
    /// The addresses of a name.
    Addresses(LookUpFamily),
    /// The records of a type of a name.
    Records(u16),
}

/// Returns the result and the bytes of the operation of a lookup. The bytes are the addresses with
/// spaces between them, or the records. After a failure, the bytes are the code of `getaddrinfo` or
/// c-ares, and the explanation.
pub(in crate::net) fn of_look_up(
    question: Question,
    result: Result<LookUpAnswer, OutsideFailure>,
) -> (Result<i32, Errno>, Vec<u8>) {
    match (question, result) {
        (Question::Addresses(family), Ok(LookUpAnswer::Addresses(addresses))) => {
            let fits = |address: &&IpAddr| match family {
                LookUpFamily::Any => true,
                LookUpFamily::V4 => address.is_ipv4(),
                LookUpFamily::V6 => address.is_ipv6(),
            };
            let texts: Vec<String> = addresses.iter().filter(fits).take(MAX_ADDRESSES).map(IpAddr::to_string).collect();
            if texts.is_empty() { failed("ENODATA", None) } else { (Ok(0), texts.join(" ").into_bytes()) }
        }
        (Question::Records(_), Ok(LookUpAnswer::Records(records))) if records.len() <= MAX_RECORDS_BYTES => {
            (Ok(0), records.into_bytes())
        }
        (Question::Addresses(_), Ok(_)) => failed("EAI_FAIL", None),
        (Question::Records(_), Ok(_)) => failed("EBADRESP", None),
        (question, Err(failure)) => {
            let is_query = matches!(question, Question::Records(_));
            match &failure.kind {
                OutsideFailureKind::Dns(code) => failed(&bounded(code), None),
                OutsideFailureKind::Denied { .. } => failed("ENOTFOUND", explanation(&failure, "dns")),
                OutsideFailureKind::Limit { .. } if is_query => failed("EREFUSED", explanation(&failure, "dns")),
                OutsideFailureKind::Limit { .. } => failed("EAI_AGAIN", explanation(&failure, "dns")),
                OutsideFailureKind::Errno(_) if is_query => failed("ECONNREFUSED", None),
                OutsideFailureKind::Errno(_) => failed("EAI_AGAIN", None),
            }
        }
    }
}

/// Returns the result of a lookup whose implementation is detached.
pub(super) fn of_lost_look_up(question: Question) -> (Result<i32, Errno>, Vec<u8>) {
    failed(if matches!(question, Question::Records(_)) { "ETIMEOUT" } else { "EAI_AGAIN" }, None)
}

/// Any negative result has a code in its bytes, so one error number suffices.
fn failed(code: &str, explanation: Option<Box<str>>) -> (Result<i32, Errno>, Vec<u8>) {
    let text = explanation.map_or_else(|| code.to_owned(), |explanation| format!("{code}\0{explanation}"));
    (Err(Errno::EIO), text.into_bytes())
}

/// Returns the explanation of a refusal or of a reached limit.
fn explanation(failure: &OutsideFailure, operation: &str) -> Option<Box<str>> {
    let message = bounded(&failure.message);
    let text = match &failure.kind {
        OutsideFailureKind::Denied { reason, rule } => {
            let (reason, rule) = (bounded(reason), rule.as_deref().map(bounded));
            let by = rule.as_ref().map_or_else(|| "the option network".to_owned(), |rule| format!("the rule network.{rule}"));
            let why = if message.is_empty() { &reason } else { &message };
            let rule = rule.map(|rule| format!("\0{rule}")).unwrap_or_default();
            format!("the permission network.{operation} is denied by {by}: {why}\0{reason}{rule}")
        }
        OutsideFailureKind::Limit { name } => {
            let name = bounded(name);
            let why = if message.is_empty() { String::new() } else { format!(": {message}") };
            format!("the limit network.limits.{name} is reached{why}\0limit")
        }
        OutsideFailureKind::Errno(_) | OutsideFailureKind::Dns(_) => return None,
    };
    Some(text.into_boxed_str())
}

/// Returns at most [`MAX_TEXT`] bytes of a text, without control characters.
fn bounded(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_TEXT);
    text[..end].chars().map(|char| if char.is_control() { '?' } else { char }).collect()
}
