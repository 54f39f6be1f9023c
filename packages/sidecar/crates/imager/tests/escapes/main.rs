//! The escape suite below JavaScript: a hostile guest calls the kernel's imports with any integers.
//!
//! Through a bug of the engine a program could reach all memory of its VM and every import. Each
//! case tries one attack. After each case another program of the core, the neighbour, must answer
//! with its secrets, and the case's resources must be free. Cases that a JavaScript program can try
//! are in `packages/sdk/test/sandbox/escapes`. The README of that folder explains how to add a
//! case.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod ends;
mod harness;
mod numbers;
mod objects;
mod pointers;
mod random;
mod script;
