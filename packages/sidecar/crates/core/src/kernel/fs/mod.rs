//! Files: system calls 0x100 to 0x1ff.
//!
//! ```text
//! calls.rs ── paths ──► walk.rs ──► names.rs, attributes.rs ──► tree.rs ──► node.rs ──► content.rs
//!     └─ descriptors ─► open.rs ──► data.rs ───────────────────────┘
//! ```
//!
//! The rules are Linux's, down to the order of errors; a test compares random sequences of operations with a real Linux filesystem. Programs
//! are user 1000 and permissions count. Next: `calls.rs`.

mod attributes;
mod base;
mod calls;
mod content;
mod data;
mod names;
mod node;
mod open;
mod process;
mod stat;
mod tree;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use base::base;
pub(crate) use calls::call;
pub(crate) use node::{Device, Ino};
pub(crate) use process::ProcessFiles;
pub(crate) use tree::{FileSystem, Space};
