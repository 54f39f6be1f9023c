//! Sinks receive the output and the end of programs, and answer requests.
//!
//! The core calls a sink on a worker thread, or on the session's thread when the program ran on
//! that thread. A program that a request started has a [`ProgramSink`], and a resident runner has a
//! [`RunnerSink`]. A restored program without a request has an [`OrphanSink`] until a request
//! attaches to the program. [`SinkAssignment`] selects the sink of each restored program.
//! The sinks of root programs pass the output to further listeners too ([`Listeners`]). `models.rs`
//! compiles the sinks a second time.

mod assignment;
mod ends;
mod listeners;
mod orphan;
mod program;
mod runner;

pub(crate) use assignment::{AssignedPrograms, Orphans, RequestsOfSink, SinkAssignment, Sinks, listeners_of, requests_of};
pub(crate) use ends::Ends;
#[cfg(test)]
pub(crate) use ends::ProgramEnd;
pub(crate) use listeners::Listeners;
pub(crate) use orphan::OrphanSink;
pub(crate) use program::ProgramSink;
pub(crate) use runner::{Runner, RunnerSink, Runners};

use super::{replies, sync};
