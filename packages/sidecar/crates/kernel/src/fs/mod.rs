//! Files of a runtime.
//!
//! ```text
//! calls.rs ─ paths ─► view.rs ─► walk.rs ─► names.rs, attributes.rs ─► tree.rs ─► node.rs
//!     │                             └─────► mounts/                      ▲
//!     └─ descriptors ─► io.rs ────────────► data.rs ─────────────────────┘
//! ```
//!
//! `content.rs` stores the bytes of files. `overlay.rs` raises a file of an overlay: a call that
//! changes the file first makes an inode in memory. `proc/` makes the files of `/proc`.
//!
//! Calls follow Linux's rules, including the order of errors. A test compares random sequences of
//! operations with a real Linux filesystem. `user.rs` checks permission bits, which apply to
//! programs but not to the embedder. Next: `calls.rs`.

mod app_file_system;
mod archive;
mod attributes;
mod base;
mod calls;
mod commands;
mod content;
mod data;
mod embedder;
mod execute;
mod feed;
mod guard;
mod guest_links;
mod io;
mod lock;
mod mounts;
mod names;
mod node;
mod open;
pub mod options;
mod overlay;
mod proc;
mod process;
pub mod reports;
mod snapshot;
mod stat;
mod terminals;
mod tree;
mod user;
mod user_attributes;
mod view;
mod walk;
mod watch;

#[cfg(test)]
mod tests;

pub use app_file_system::{Exchange, FileSystemRequest};
pub use archive::Archive;
pub(crate) use base::base;
pub(crate) use calls::call;
pub(crate) use commands::CommandFile;
pub use embedder::{EmbedderFile, EmbedderFiles, EmbedderWatch};
pub(crate) use execute::ExecutableHead;
pub use feed::Waiter;
pub(crate) use guard::RequestedOperations;
pub(crate) use io::{read, write};
pub(crate) use lock::FilesLock;
pub use mounts::Library;
pub(crate) use mounts::{HostFile, HostFileSnapshot, Listing, ListingSnapshot};
pub(crate) use node::{Body, Device, Ino};
pub use proc::Facts;
pub(crate) use proc::ProcessFactsSnapshot;
pub(crate) use process::{ProcessFiles, ProcessFilesSnapshot};
pub(crate) use snapshot::{FilesSnapshot, RestoreContext, is_name, standard};
pub(crate) use tree::{FileSystem, Space, WRITE};
pub use user::Owner;
pub(crate) use user::{GUEST, Groups, Identity, MAX_GROUPS, ROOT_USER, User};
pub(crate) use view::View;
pub(crate) use walk::{FinalLink, Location, PathEnd};
