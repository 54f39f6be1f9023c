//! What the kernel computes for `node:crypto`: plain functions over bytes.
//!
//! The kernel (`coldframe-core`, `kernel/crypto`) owns handles, threads and limits and calls in here; nothing here knows a program, a guest or
//! a thread. Everything is safe Rust over the RustCrypto crates, because what comes in is hostile: keys, lengths and encodings are the guest's.
//! What may take long asks a [`Watch`] between its steps whether to go on. `hash.rs` has the digests, `kdf.rs` and `scrypt.rs` what is derived from passwords,
//! `command.rs` the calls that the guest makes by number.

mod asymmetric;
mod cipher;
mod command;
mod fault;
mod fields;
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
