//! Rules about HTTP requests: the hosts, methods and paths that a runtime may request.
//!
//! A rule opens its host as an entry of `allow` does: port 443 if the host has no port. All other
//! ports of the host are closed, except ports that an entry of `allow` about this host opens.
//! A request to a host with rules is refused unless one of the rules allows the request. The rules
//! of the deepest host apply, and wider hosts do not.
//!
//! The rules bind the requests on connections to a name with rules. Another name of the same server
//! is judged by its own rules. Therefore `outside: 'public'`, a rule about the server's address, or
//! an allowed name on the same server can reach the host without the rules.
//!
//! `head.rs` and `chunks.rs` refuse requests that servers read in different ways, before any rule
//! reads the request. Next: `head.rs`, `chunks.rs`, `path.rs`, `pattern.rs`, `table.rs`.

mod chunks;
mod head;
#[cfg(test)]
mod head_tests;
mod path;
mod pattern;
mod table;
#[cfg(test)]
mod tests;

pub use chunks::Chunks;
pub use head::{Framing, HeadEnd, HeadFault, MAX_FIELDS, MAX_HEAD_BYTES, RequestHead, check_head};
pub use path::{MAX_PATH_BYTES, RequestPath};
pub(crate) use pattern::PathPattern;
pub(crate) use table::HttpTable;

use crate::decision::{Decision, Reason};
use crate::invalid_entry::Fault;

/// The maximum number of methods of a rule.
pub const MAX_METHODS: usize = 32;
/// The maximum number of paths of a rule.
pub const MAX_PATHS: usize = 64;
/// The maximum length of a method, in bytes.
const MAX_METHOD_BYTES: usize = 32;
/// The maximum number of injected headers of a rule.
pub const MAX_INJECTED: usize = 16;

/// The methods that no rule allows. `CONNECT` would open a tunnel to another host, and a response
/// to `TRACE` contains the headers of the request.
pub const REFUSED_METHODS: [&str; 2] = ["CONNECT", "TRACE"];

/// A rule of the app.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpRule {
    /// A name or `*.name`, with or without a port.
    pub host: String,
    /// The methods, in capitals. `None` means every method except [`REFUSED_METHODS`].
    pub methods: Option<Vec<String>>,
    /// The patterns of paths. In a pattern, `*` matches any text of one segment, and `**` any
    /// number of segments. `None` means every path.
    pub paths: Option<Vec<String>>,
    /// Headers that the edge sets: the name and the value. `${NAME}` in a value is a secret. This
    /// crate does not read the values.
    pub inject: Vec<(String, String)>,
    /// The function of the app that responds to the requests. `None` means that the requests are
    /// sent to the host.
    pub handler: Option<Handler>,
}

/// A function of the app that responds to requests in place of their host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// The number of the function.
    pub id: u32,
    /// The time until the head of the response, in milliseconds.
    pub timeout_ms: u32,
}

/// The decision about one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedRequest {
    /// The decision.
    pub decision: Decision,
    /// The path that was judged, if the rules of the host depend on paths. A caller that forwards
    /// the request must forward this path, because another server may read the guest's path
    /// otherwise.
    pub path: Option<RequestPath>,
}

impl JudgedRequest {
    pub(crate) fn refused(reason: Reason) -> Self {
        Self { decision: Decision::refused(reason), path: None }
    }
}

/// Returns whether a text is a method that a rule can name.
pub(crate) fn check_method(text: &str) -> Result<Box<str>, Fault> {
    let is_token = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_method = (1..=MAX_METHOD_BYTES).contains(&text.len()) && text.bytes().all(is_token);
    match text {
        text if REFUSED_METHODS.contains(&text) => Err(Fault::RefusedMethod),
        text if is_method => Ok(text.into()),
        _ => Err(Fault::Method),
    }
}
