//! The wall around the edge process, which has the sockets to the outside.
//!
//! The edge needs no file, no thread and no other process. It stays in the network namespace of the
//! host machine, because it connects from there. The process opens its link, reads the DNS servers
//! and the interfaces, and then calls [`close_edge`].

use crate::filter;
use crate::rights;
use crate::walls::{PartName, Walls};

/// Gives up all rights but sockets of IPv4 and IPv6. The process must have one thread. A part that
/// the system lacks does not stop the process.
pub fn close_edge() -> Walls {
    let mut walls = Walls::default();
    walls.push(PartName::NoNewPrivileges, rights::no_new_privileges());
    walls.push(PartName::Capabilities, rights::drop_capabilities());
    walls.push(PartName::Limits, rights::limit_edge_resources());
    walls.push(PartName::NotDumpable, rights::forbid_dumps());
    walls.push(PartName::Seccomp, filter::install(&filter::EDGE));
    walls
}
