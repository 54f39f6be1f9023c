//! Messages about resident runners.

use coldframe_ids::{Pid, RunnerId, RuntimeId};
use serde::{Deserialize, Serialize};

use super::{Empty, Outcome, Owner, Stream, Timings};
use crate::declare::requests;
use crate::maps::{Numbers, Pairs};

requests! {
    /// Requests about resident runners.
    pub enum RunnerRequest<'a> {
        /// Starts a resident runner.
        RunnerCreate(RunnerCreate<'a>) = 14 "runner.create" -> RunnerCreated,
        /// Evaluates a snippet in a resident runner.
        RunnerEval(RunnerEval<'a>) = 15 "runner.eval" -> Outcome<'a>,
        /// Ends a resident runner.
        RunnerDispose(RunnerDispose) = 16 "runner.dispose" -> Empty,
    }
}

/// `runner.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerCreate<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// Variables that extend or replace the runtime's environment.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Pairs<'a>>,
    /// The working directory, instead of the runtime's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    /// Limits that the runner has instead of the runtime's.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Numbers<'a>>,
    /// The user of the runner. Default: the user `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Owner>,
}

/// The reply to `runner.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerCreated {
    /// The new runner.
    pub runner: RunnerId,
    /// The process of the runner in the runtime.
    pub pid: Pid,
    /// The time of each step of the start.
    pub timings: Timings,
}

/// `runner.eval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RunnerEval<'a> {
    /// The runner.
    pub runner: RunnerId,
    /// The snippet.
    pub code: &'a str,
    /// Whether the snippet may return a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<bool>,
    /// Variables that extend or replace the runner's environment during the evaluation.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Pairs<'a>>,
    /// The working directory during the evaluation, instead of the runner's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
    /// The wall-clock limit of the evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Descriptors whose output is sent while the evaluation runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
}

/// `runner.dispose`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerDispose {
    /// The runner.
    pub runner: RunnerId,
}
