//! The escape suite below JavaScript: a guest that is hostile in its own code calls the kernel's imports with whatever integers it likes.
//!
//! A bug of the engine would give a program this much: all of its memory, and every import. Each case is one thing that it could try; after
//! each the neighbour on the same core must answer with its secrets, and this process must hold no more than before. The cases that a program in
//! JavaScript can try are in `packages/sdk/test/sandbox/escapes`, whose README says how to add one.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod ends;
mod numbers;
mod objects;
mod pointers;
mod random;
mod scene;
mod script;
