//! Converts one embedder's requests to calls of the core.
//!
//! A [`Session`] has the tables of one connection: runtimes, runners, requests in flight, paused
//! runtimes. The session reads frames, and passes [`Message`]s to an [`Outlet`]. The shell
//! `crates/sidecar` carries the frames over a socket, and the shell `crates/node` into Node's event
//! loop.
//!
//! ```text
//! frame ─► session ─► one match for each family ─► core
//!                                                    │ any thread
//! outlet ◄─ replies ◄─ sinks, session tasks ◄────────┘
//! ```
//!
//! This crate depends on the messages and the core. It has no code for transports, JavaScript or
//! wasm.
//! Next: `session.rs`.

mod connection;
mod convert;
mod copies;
#[cfg(test)]
mod ends_tests;
mod files;
mod host_calls;
mod limits;
mod message;
#[cfg(test)]
mod models;
mod network;
mod outside;
mod outside_options;
mod owner_calls;
mod owner_threads;
mod pause;
mod permissions;
mod private_networks;
mod programs;
mod replies;
mod requests;
mod runners;
mod runtimes;
mod session;
mod sinks;
mod snapshots;
mod sync;
mod table;
mod tasks;
#[cfg(test)]
mod tests;

pub use message::{Message, Outlet};
pub use session::{Job, JobThread, MAX_RUNTIMES, Session, Violation};
pub use table::ErrorContext;

pub use convert::{connection_error, failure, frame_violation};
