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
        RunnerDispose(RunnerOnly) = 16 "runner.dispose" -> Empty,
        /// Ends the running evaluation of a resident runner, or the callback that the runner runs.
        RunnerInterrupt(RunnerOnly) = 48 "runner.interrupt" -> Empty,
    }
}

/// The language of a resident runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunnerLanguage {
    /// JavaScript, and TypeScript in cells.
    Javascript,
    /// The language of the shell.
    Bash,
    /// Python.
    Python,
}

/// The end of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// The snippet has a value.
    Value,
    /// The snippet has a value, and its work has ended.
    Idle,
}

/// The language of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellLanguage {
    /// JavaScript.
    Javascript,
    /// TypeScript.
    Typescript,
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
    /// The language of the snippets. Omitted for JavaScript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<RunnerLanguage>,
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
    /// The end of the evaluation. Omitted for `idle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// The language of a cell. Omitted for a module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellLanguage>,
}

/// `runner.dispose` and `runner.interrupt`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerOnly {
    /// The runner.
    pub runner: RunnerId,
}
