//! Messages about inbound connections and listeners, and the events of inbound connections.

use coldframe_core as core;
use coldframe_core::{Error, ListenerEntry, Network, NetworkEvent, Target};
use coldframe_ids::{ConnectionId, RequestId, RuntimeId};
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{Credit, Empty, Listener, Listeners, NetworkRequest, NetworkTarget, StreamClosed, StreamData};

use crate::convert;
use crate::message::Message;
use crate::replies::Reply;
use crate::session::{FrameId, Handled, Session};
use crate::table::ErrorContext;

const _: () =
    assert!(core::STREAM_WINDOW == coldframe_protocol::messages::STREAM_WINDOW_BYTES, "the SDK gives credit by this number");

impl Session {
    /// Handles a message about a connection or a listener.
    pub(crate) fn network(&mut self, id: FrameId, request: NetworkRequest<'_>) -> Handled {
        match request {
            NetworkRequest::StreamOpen(open) => self.on_runtime(id.request()?, open.runtime, |runtime, reply| {
                runtime.network().connect(id.connection(), &target(&open)?)?;
                Ok(reply.done())
            }),
            NetworkRequest::ListenerList(list) => {
                self.on_runtime(id.request()?, list.runtime, |runtime, reply| listeners(&runtime.network(), &list, reply))
            }
            NetworkRequest::ListenerWait(wait) => self.wait_for_listener(id.request()?, &wait),
            NetworkRequest::StreamData(write) => self.notify(write.runtime, |network| network.write(id.connection(), write.data)),
            NetworkRequest::StreamCredit(read) => {
                self.notify(read.runtime, |network| network.credit(id.connection(), read.bytes))
            }
            NetworkRequest::StreamEnd(end) => self.notify(end.runtime, |network| network.end(id.connection())),
            NetworkRequest::StreamClose(close) => {
                self.notify(close.runtime, |network| network.close(id.connection(), close.reset.unwrap_or(false)));
            }
            NetworkRequest::ListenerCancel(cancel) => {
                self.notify(cancel.runtime, |network| network.stop_waiting(id.connection()))
            }
        }
        Ok(None)
    }

    /// Passes a notice to the runtime. A notice for a disposed runtime is ignored, because the SDK
    /// may have sent the notice before the runtime ended. A pausing runtime still receives notices,
    /// because its connections are open until the pause has succeeded.
    fn notify(&self, runtime: RuntimeId, call: impl FnOnce(Network)) {
        if let Some(runtime) = self.live_or_pausing(runtime) {
            call(runtime.network());
        }
    }

    /// Starts a wait for a listener. The core ends the wait with an event.
    fn wait_for_listener(&self, id: RequestId, wait: &NetworkTarget<'_>) {
        let Some(live) = self.runtimes.get(wait.runtime) else { return self.refuse(id, &self.no_runtime(wait.runtime)) };
        if let Err(error) = target(wait).and_then(|target| live.runtime.network().wait(ConnectionId::new(id.get()), &target)) {
            self.refuse(id, &convert::failure(&error, ErrorContext::runtime(wait.runtime)));
        }
    }
}

fn listeners(network: &Network, list: &NetworkTarget<'_>, reply: Reply) -> Result<Message, Error> {
    let all = list.port.is_none() && list.host.is_none() && list.path.is_none();
    let entries = network.listeners(if all { None } else { Some(target(list)?) }.as_ref())?;
    let listeners = Listeners { listeners: entries.iter().map(listener).collect() };
    Ok(reply.body(&listeners, 64 + 64 * entries.len()))
}

fn target(target: &NetworkTarget<'_>) -> Result<Target, Error> {
    match (target.port, target.path) {
        (Some(port), None) => Ok(Target::Port { port, host: target.host.map(str::to_owned) }),
        (None, Some(path)) if target.host.is_none() => Ok(Target::Path(path.to_owned())),
        _ => Err(Error::InvalidRequest {
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

/// Encodes an event of a connection or a wait. `id` is the id of the request that started the
/// connection or the wait.
pub(crate) fn event(id: ConnectionId, event: &NetworkEvent, runtime: RuntimeId) -> Option<Message> {
    let failure = |error: &core::Error| convert::failure(error, ErrorContext::runtime(runtime));
    let number = id.get();
    Some(match event {
        NetworkEvent::Data(data) => Message::event(Kind::StreamData, number, &StreamData { data }, 32 + data.len()),
        NetworkEvent::Credit(bytes) => Message::event(Kind::StreamCredit, number, &Credit { bytes: *bytes }, 32),
        NetworkEvent::Ended => Message::event(Kind::StreamEnd, number, &Empty {}, 32),
        NetworkEvent::Closed(error) => {
            let closed = StreamClosed { failure: error.as_ref().map(failure) };
            Message::event(Kind::StreamClose, number, &closed, 128)
        }
        NetworkEvent::Listener(Ok(entry)) => Reply(RequestId::new(number)?).body(&listener(entry), 128),
        NetworkEvent::Listener(Err(error)) => Message::failed(RequestId::new(number)?, &failure(error)),
    })
}
