//! The escape suite below JavaScript: a hostile guest calls the kernel's imports with any integers.
//!
//! Through a bug of the engine a program could reach all of its memory and every import. Each case
//! tries one attack. After each case the neighbour on the same core must answer with its secrets,
//! and this process must hold no more resources than before. Cases that a JavaScript program can
//! try are in `packages/sdk/test/sandbox/escapes`, whose README says how to add a case.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod ends;
mod harness;
mod numbers;
mod objects;
mod pointers;
mod random;
mod script;
