//! Constructors of messages that have many optional fields.

use coldframe_ids::RunnerId;

use crate::messages::RunnerEval;

impl<'a> RunnerEval<'a> {
    /// Makes the request to evaluate a module without options.
    pub fn new(runner: RunnerId, code: &'a str) -> Self {
        Self { runner, code, returns: None, env: None, cwd: None, timeout_ms: None, stream: None, until: None, cell: None }
    }
}
