//! The policy for connections out of a runtime, as pure functions: no socket, no thread, no clock.
//!
//! A guest reaches a host on one path. The host's name has one canonical form (`name.rs`). The
//! policy decides whether the name is looked up (`policy.rs`). All addresses of the DNS response
//! must be public, or opened by the policy (`response.rs`, `address.rs`). The name is pinned to the
//! addresses (`pins.rs`). A rule about addresses or a pinned name admits a connection
//! (`connect.rs`). The admitted address is the address that is connected. Requests to hosts with
//! rules about HTTP are judged one by one (`http/mod.rs`).
//!
//! An update replaces the policy while connections are open (`cell.rs`, `update.rs`). Budgets bound
//! lookups and connections (`budget.rs`), and `check.rs` is the dry run. The process that opens
//! connections calls these functions. Next: `policy.rs`.

mod address;
mod budget;
mod cell;
mod check;
mod cidr;
mod connect;
mod decision;
mod entry;
mod family;
mod host_network;
mod http;
mod invalid_entry;
mod loopback;
mod name;
mod names;
mod pins;
mod policy;
mod ports;
mod prefixes;
mod proxy;
mod records;
mod registry;
mod response;
mod special_names;
mod update;

#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
#[cfg(test)]
mod tests;

pub use address::Nat64;
pub use budget::{LookupBudgets, NAMES_WINDOW, TokenBucket, WILDCARD_BYTES, WILDCARD_NAMES};
pub use cell::{Current, Existing, Generation, PolicyCell};
pub use check::{InvalidUrl, check};
pub use cidr::Cidr;
pub use connect::{Admission, Checked, Connect, judge_again, judge_connect, judge_flow, judge_server_name};
pub use decision::{Decision, Limit, Reason, RuleId};
pub use entry::{List, Protocol};
pub use family::Family;
pub use host_network::{HostFacts, HostNetwork};
pub use http::{
    Chunks, Framing, Handler, HeadEnd, HeadFault, HttpRule, JudgedRequest, MAX_FIELDS, MAX_HEAD_BYTES, MAX_INJECTED, MAX_METHODS,
    MAX_PATH_BYTES, MAX_PATHS, REFUSED_METHODS, RequestHead, RequestPath, check_head,
};
pub use invalid_entry::{Fault, InvalidEntry};
pub use loopback::loopback_entries;
pub use name::{InvalidName, MAX_LABEL_BYTES, MAX_NAME_BYTES, Name};
pub use pins::{MAX_NAMES_PER_ADDRESS, MAX_PINS, PIN_TIMES, PinSet, PinState, PinsFull};
pub use policy::{EgressOptions, MAX_ENTRIES, Outside, Policy};
pub use proxy::{Proxy, ProxyHost};
pub use records::{RecordQuery, judge_records};
pub use registry::AddressKind;
pub use response::{
    AddressQuery, MAX_ADDRESSES, MAX_ALIASES, Resolved, ResponseFault, judge_message, judge_response, negative_ttl,
};
pub use special_names::SpecialName;
pub use update::{Change, PolicyChange};
