//! The errors of the sandbox.
//!
//! [`Error`] has every error that leaves the core: one stable code, one sentence, the facts as
//! fields. [`Errno`] is a Linux error number, the result of a failed system call. This crate
//! depends on no other crate of the workspace. Next: `errno.rs`.

mod errno;
mod error;

pub use errno::Errno;
pub use error::{Ended, Error, Fact};
