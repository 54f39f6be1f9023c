//! Messages about resident runners.

use serde::{Deserialize, Serialize};

use crate::maps::Pairs;
use crate::messages::{Stream, Timings};

/// `runner.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerCreate<'a> {
    /// Where it runs.
    pub runtime: u32,
    /// Laid over the runtime's environment.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Pairs<'a>>,
    /// Instead of the runtime's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a str>,
}

/// `runner.eval`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RunnerEval<'a> {
    /// Where it runs.
    pub runner: u32,
    /// The snippet.
    pub code: &'a str,
    /// Wall-clock limit of this snippet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Which descriptors are sent on while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
}

/// `runner.dispose`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerDispose {
    /// Which one.
    pub runner: u32,
}

/// The reply to `runner.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerCreated {
    /// Its number from now on.
    pub runner: u32,
    /// The number of its process in the runtime.
    pub pid: u32,
    /// Where the time went.
    pub timings: Timings,
}
