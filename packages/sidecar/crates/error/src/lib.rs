//! The errors of the sandbox.
//!
//! [`Error`] is every error that leaves the core: one stable code, one sentence, the facts as
//! fields. [`Errno`] is a Linux error number, the result of a failed system call. This crate is a
//! leaf: it knows no other crate of the workspace.

mod errno;
mod error;

pub use errno::Errno;
pub use error::{Error, Fact};
