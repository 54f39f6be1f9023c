//! Connections into a runtime and waits for its listeners: the SDK's messages as calls of the core, and what comes of them as messages.

use coldframe_core as core;
use coldframe_core::{ListenerEntry, NetworkEvent, Runtime, Target};
use coldframe_protocol::Request;
use coldframe_protocol::messages::{Credit, Empty, Kind, Listener, Listeners, NetworkTarget, StreamClosed, StreamData};

use crate::table::Place;
use crate::wire;

/// Whose network a message is about; none for one that is not about networks.
pub fn runtime(request: &Request<'_>) -> Option<u32> {
    Some(match request {
        Request::StreamOpen(target) | Request::ListenerWait(target) | Request::ListenerList(target) => target.runtime,
        Request::StreamData(write) => write.runtime,
        Request::StreamCredit(read) => read.runtime,
        Request::StreamClose(leave) => leave.runtime,
        Request::StreamEnd(inside) | Request::ListenerCancel(inside) => inside.runtime,
        _ => return None,
    })
}

/// Whether a message that is about networks has an answer.
pub fn is_answered(request: &Request<'_>) -> bool {
    matches!(request, Request::StreamOpen(_) | Request::ListenerList(_) | Request::ListenerWait(_))
}

/// Carries a message out; the frame that answers it at once, if one does.
pub fn answer(id: u32, request: &Request<'_>, runtime: &Runtime) -> Option<Vec<u8>> {
    let done = carry_out(id, request, &runtime.network());
    done.unwrap_or_else(|error| Some(wire::error(id, &wire::failure(&error, None))))
}

fn carry_out(id: u32, request: &Request<'_>, network: &core::Network) -> Result<Option<Vec<u8>>, core::Error> {
    match request {
        Request::StreamOpen(open) => {
            network.connect(id, &target(open)?)?;
            return Ok(Some(wire::frame(Kind::Reply, id, &Empty {}, 64)));
        }
        Request::StreamData(write) => network.write(id, write.data),
        Request::StreamCredit(read) => network.credit(id, read.bytes),
        Request::StreamEnd(_) => network.end(id),
        Request::StreamClose(leave) => network.close(id, leave.reset.unwrap_or(false)),
        Request::ListenerList(list) => {
            let all = list.port.is_none() && list.host.is_none() && list.path.is_none();
            let entries = network.listeners(if all { None } else { Some(target(list)?) }.as_ref())?;
            let listeners = Listeners { listeners: entries.iter().map(listener).collect() };
            return Ok(Some(wire::frame(Kind::Reply, id, &listeners, 64 + 64 * entries.len())));
        }
        Request::ListenerWait(wait) => network.wait(id, &target(wait)?)?,
        Request::ListenerCancel(_) => network.stop_waiting(id),
        _ => {}
    }
    Ok(None)
}

fn target(target: &NetworkTarget<'_>) -> Result<Target, core::Error> {
    match (target.port, target.path) {
        (Some(port), None) => Ok(Target::Port { port, host: target.host.map(str::to_owned) }),
        (None, Some(path)) if target.host.is_none() => Ok(Target::Path(path.to_owned())),
        _ => Err(core::Error::InvalidRequest {
            what: "target".to_owned(),
            expected: "a port, with or without a host, or a path".to_owned(),
            received: "something else".to_owned(),
        }),
    }
}

fn listener(entry: &ListenerEntry) -> Listener<'_> {
    Listener {
        pid: entry.pid,
        host: entry.address.as_ref().map(|(host, _)| host.as_str()),
        port: entry.address.as_ref().map(|(_, port)| *port),
        path: entry.path.as_deref(),
    }
}

/// What has happened, as a frame.
pub fn frame(id: u32, event: &NetworkEvent, runtime: u32) -> Vec<u8> {
    let failure = |error: &core::Error| wire::failure(error, Place { runtime, runner: 0 }.facts(error));
    match event {
        NetworkEvent::Data(data) => wire::frame(Kind::StreamData, id, &StreamData { data }, 32 + data.len()),
        NetworkEvent::Credit(bytes) => wire::frame(Kind::StreamCredit, id, &Credit { bytes: *bytes }, 32),
        NetworkEvent::Ended => wire::frame(Kind::StreamEnd, id, &Empty {}, 32),
        NetworkEvent::Closed(error) => {
            wire::frame(Kind::StreamClose, id, &StreamClosed { failure: error.as_ref().map(failure) }, 128)
        }
        NetworkEvent::Listener(Ok(entry)) => wire::frame(Kind::Reply, id, &listener(entry), 128),
        NetworkEvent::Listener(Err(error)) => wire::error(id, &failure(error)),
    }
}
