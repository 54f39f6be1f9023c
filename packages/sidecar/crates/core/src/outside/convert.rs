//! Converts the failures of the edge process for the kernel and for the embedder. Next:
//! `events.rs`.

use coldframe_edge_link::{Failure, FailureKind, Rule};
use coldframe_error::{Errno, Error};
use coldframe_kernel::{OutsideFailure, OutsideFailureKind};

/// Returns the text of a rule for programs and the embedder: `deny[3]`.
pub fn rule_text(rule: &Rule) -> String {
    format!("{}[{}]", rule.list, rule.index)
}

/// Converts a failure for the kernel.
pub(super) fn for_kernel(failure: Failure) -> OutsideFailure {
    let Failure { kind, message } = failure;
    let kind = match kind {
        // A suspect edge may send any number.
        FailureKind::Errno(number) => OutsideFailureKind::Errno(Errno::try_from(number).unwrap_or(Errno::EIO)),
        FailureKind::Dns(code) => OutsideFailureKind::Dns(code),
        FailureKind::Denied(denied) => {
            OutsideFailureKind::Denied { reason: denied.reason, rule: denied.rule.as_ref().map(rule_text) }
        }
        FailureKind::Limit { name } => OutsideFailureKind::Limit { name },
        FailureKind::InvalidEntry { .. } | FailureKind::Invalid { .. } => OutsideFailureKind::Errno(Errno::EINVAL),
    };
    OutsideFailure { kind, message }
}

/// Makes the failure of a flow or a connect with an error number.
pub(super) fn errno(errno: Errno, message: &str) -> OutsideFailure {
    OutsideFailure { kind: OutsideFailureKind::Errno(errno), message: message.to_owned() }
}

/// Makes the failure of a look-up that may succeed later.
pub(super) fn try_again(message: &str) -> OutsideFailure {
    OutsideFailure { kind: OutsideFailureKind::Dns("EAI_AGAIN".to_owned()), message: message.to_owned() }
}

/// Converts a failure for the embedder.
pub(super) fn for_embedder(failure: Failure) -> Error {
    match failure.kind {
        FailureKind::InvalidEntry { list, index, entry, fault } => {
            Error::InvalidRequest { what: format!("network.{list}[{index}]"), expected: fault, received: format!("{entry:?}") }
        }
        FailureKind::Invalid { what, expected, received } => {
            Error::InvalidRequest { what, expected, received: format!("{received:?}") }
        }
        _ => Error::EdgeEnded { reason: failure.message },
    }
}
