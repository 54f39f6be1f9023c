//! Private networks: connections between the runtimes of one embedder.
//!
//! ```text
//! runtime A                                               runtime B
//! socket table ── FarEnd ──► Wire ── Mail ──► Mailbox of B ──► socket table
//!              ◄── Mailbox of A ◄── Mail ── Wire ◄── FarEnd ──
//! ```
//!
//! A connection between two runtimes is a flow (`net/outside/flows.rs`) in each of the two socket
//! tables. The far end of each flow is a [`wire::Wire`] instead of the edge process. A wire posts
//! each event to the mailbox of the other runtime.
//!
//! **Locks.** A thread locks at most one socket table, and then a directory, and then a mailbox. A
//! sender posts while its own table is locked. After the release of its own table, the sender tries
//! to lock the other table, and never waits for it. If the other table is locked, the holder
//! delivers the mail after the holder's release.
//!
//! **References.** A mailbox has a weak reference to its receiver, and a wire has a weak reference
//! to its network. So no cycle keeps a kernel alive. Next: `directory.rs`.

mod addresses;
mod directory;
mod events;
pub(crate) mod mailbox;
mod rules;
pub(crate) mod wire;

pub use addresses::AddressPool;
pub(crate) use addresses::{MAX_MEMBERSHIPS, addresses_of, is_member_address, number_of};
pub(crate) use directory::Refusal;
pub use directory::{MemberInfo, PrivateNetwork, WireInfo};
pub use events::{Cut, MemberEvent, MemberEventKind};
pub use mailbox::MemberScope;
pub use rules::{NetworkRule, PortRange};
