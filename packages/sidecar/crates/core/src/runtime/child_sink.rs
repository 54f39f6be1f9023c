//! The sink of a program that another program has started. Next: `containment.rs`.

use crate::outcome::{Outcome, Sink, Timings};
use coldframe_ids::EvaluationId;

/// The sink of a child, which drops every report. The output of a child is written to its
/// descriptors, and the kernel notifies the parent of the end.
pub(super) struct ChildSink;

impl Sink for ChildSink {
    fn output(&self, _evaluation: Option<EvaluationId>, _fd: u8, _data: Vec<u8>) {}
    fn evaluated(&self, _evaluation: EvaluationId, _outcome: Outcome) {}
    fn ready(&self, _timings: Timings) {}
    fn exited(&self, _outcome: Outcome) {}
}
