//! The computations of `node:crypto`: plain functions over bytes.
//!
//! The kernel (`crypto/` of the crate `kernel`) owns handles, threads and limits. This crate has no
//! code for programs, guests or threads. The code is safe Rust over the RustCrypto crates, because
//! the guest chooses keys, lengths and encodings, and a guest is hostile. A computation that may
//! take long checks a [`Watch`] between its steps, which can stop the computation. `command.rs` has
//! the calls that the guest makes by number. `hash.rs` has the digests and `key/` the keys.
//! `kdf.rs` and `scrypt.rs` derive keys from passwords.

mod asymmetric;
mod cipher;
mod command;
mod fault;
mod fields;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod hash;
mod hmac;
mod kdf;
mod key;
mod macros;
mod padding;
mod prime;
mod resume;
mod rsa;
mod scrypt;
mod sign;
mod watch;

#[cfg(test)]
mod tests;

pub use cipher::{Cipher, Setup};
pub use command::{Command, run};
pub use fault::Fault;
pub use hash::{Algorithm, Hasher};
pub use hmac::Hmac;
pub use watch::{Unwatched, Watch};
