//! Requests about a runtime's processes: each is one call of the core, answered at once.

use coldframe_core as core;
use coldframe_core::Runtime;
use coldframe_protocol::Request;
use coldframe_protocol::messages::{Empty, Kind, ProcessTable};

use crate::wire;

/// Whose processes a request is about; none for a request that is not about processes.
pub fn runtime(request: &Request<'_>) -> Option<u32> {
    Some(match request {
        Request::ProcessWrite(write) => write.runtime,
        Request::ProcessSignal(signal) => signal.runtime,
        Request::ProcessList(list) => list.runtime,
        _ => return None,
    })
}

/// Carries a request out; the frame that answers it.
pub fn answer(id: u32, request: &Request<'_>, runtime: &Runtime) -> Vec<u8> {
    carry_out(id, request, &runtime.processes()).unwrap_or_else(|error| wire::error(id, &wire::failure(&error, None)))
}

fn carry_out(id: u32, request: &Request<'_>, processes: &core::Processes) -> Result<Vec<u8>, core::Error> {
    match request {
        Request::ProcessWrite(write) => processes.write(write.pid, write.data, write.end.unwrap_or(false))?,
        Request::ProcessSignal(signal) => processes.signal(signal.pid, signal.signal)?,
        _ => return Ok(list(id, &processes.list())),
    }
    Ok(wire::frame(Kind::Reply, id, &Empty {}, 64))
}

fn list(id: u32, entries: &[core::ProcessEntry]) -> Vec<u8> {
    let table = ProcessTable {
        pids: entries.iter().map(|entry| entry.pid).collect(),
        ppids: entries.iter().map(|entry| entry.ppid).collect(),
        groups: entries.iter().map(|entry| entry.group).collect(),
        commands: entries.iter().map(|entry| entry.command.as_str()).collect(),
    };
    wire::frame(Kind::Reply, id, &table, 64 + 64 * entries.len())
}
