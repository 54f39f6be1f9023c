//! The escape suite below JavaScript: a hostile guest calls the kernel's imports with any integers.
//!
//! A bug of the engine would let a program use all of its memory, and every import. Each case is
//! one attempt. After each case, the neighbour on the same core must reply with its secrets, and
//! this process must hold no more resources than before. `packages/sdk/test/sandbox/escapes` has
//! the cases that a program in JavaScript can try, and its README explains how to add a case.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod ends;
mod numbers;
mod objects;
mod pointers;
mod random;
mod scene;
mod script;
