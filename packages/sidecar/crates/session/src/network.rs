//! Messages about inbound connections and listeners, and the events of inbound connections.

use std::sync::Arc;

use coldframe_core as core;
use coldframe_core::{Error, ListenerEntry, Network, NetworkEvent, Target};
use coldframe_ids::{ConnectionId, RequestId, RuntimeId};
use coldframe_protocol::Kind;
use coldframe_protocol::messages::{
    Credit, Empty, HandlerRequest, Listener, Listeners, NetworkRequest, NetworkTarget, StreamClosed, StreamData,
};

use crate::convert;
use crate::message::Message;
use crate::replies::Reply;
use crate::session::{FrameId, Handled, Job, Session, answer};
use crate::table::ErrorContext;

const _: () =
    assert!(core::STREAM_WINDOW == coldframe_protocol::messages::STREAM_WINDOW_BYTES, "the SDK gives credit by this number");

impl Session {
    /// Handles a message about a connection or a listener.
    pub(crate) fn network(&mut self, id: FrameId, request: NetworkRequest<'_>, may_run_here: bool) -> Handled {
        match request {
            NetworkRequest::StreamOpen(open) => {
                let target = target(&open);
                return Ok(self.on_network(
                    id.request()?,
                    open.runtime,
                    (is_path(&target), may_run_here),
                    move |network, reply| {
                        network.connect(id.connection(), &target?)?;
                        Ok(Some(reply.done()))
                    },
                ));
            }
            NetworkRequest::StreamHandle(HandlerRequest { runtime, number }) => {
                return Ok(self.on_network(id.request()?, runtime, (false, may_run_here), move |network, reply| {
                    network.handle(id.connection(), number)?;
                    Ok(Some(reply.done()))
                }));
            }
            NetworkRequest::ListenerList(list) => {
                let all = list.port.is_none() && list.host.is_none() && list.path.is_none();
                let target = if all { Ok(None) } else { target(&list).map(Some) };
                // A list of all listeners has paths of Unix sockets.
                return Ok(self.on_network(id.request()?, list.runtime, (true, may_run_here), move |network, reply| {
                    listeners(network, target?.as_ref(), reply).map(Some)
                }));
            }
            NetworkRequest::ListenerWait(wait) => {
                let target = target(&wait);
                return Ok(self.on_network(id.request()?, wait.runtime, (is_path(&target), may_run_here), move |network, _| {
                    // The core ends the wait with an event.
                    network.wait(id.connection(), &target?)?;
                    Ok(None)
                }));
            }
            NetworkRequest::StreamData(write) => {
                self.notify(write.runtime, write.data, move |network, data| network.write(id.connection(), data));
            }
            NetworkRequest::StreamCredit(read) => {
                self.notify(read.runtime, &[], move |network, _| network.credit(id.connection(), read.bytes));
            }
            NetworkRequest::StreamEnd(end) => self.notify(end.runtime, &[], move |network, _| network.end(id.connection())),
            NetworkRequest::StreamClose(close) => {
                let reset = close.reset.unwrap_or(false);
                self.notify(close.runtime, &[], move |network, _| network.close(id.connection(), reset));
            }
            NetworkRequest::ListenerCancel(cancel) => {
                self.notify(cancel.runtime, &[], move |network, _| network.stop_waiting(id.connection()));
            }
        }
        Ok(None)
    }

    /// Passes a notice to the runtime. A notice for a disposed runtime is ignored, because the SDK
    /// may have sent the notice before the runtime ended. A pausing runtime still receives notices,
    /// because its connections are open until the pause has succeeded. A notice takes only the lock
    /// of the sockets, which no guest holds for long, but follows the earlier calls on connections.
    fn notify(&self, runtime: RuntimeId, data: &[u8], call: impl FnOnce(&Network, &[u8]) + Send + 'static) {
        let Some(live) = self.live_or_pausing(runtime) else { return };
        if !live.connection_calls.are_under_way() {
            return live.runtime.notify(|runtime| call(&runtime.network(), data));
        }
        let (handle, data) = (live.runtime.clone(), data.to_vec());
        let call = Box::new(move || handle.notify(|handle| call(&handle.network(), &data)));
        live.connection_calls.add(&self.owner_threads, false, call);
    }

    /// Answers a request about connections or listeners with the result of one call. `None` means
    /// that an event answers the request. `takes_files` states that the call takes the lock of the
    /// files, and may wait for a guest.
    fn on_network(
        &self,
        id: RequestId,
        runtime: RuntimeId,
        (takes_files, may_run_here): (bool, bool),
        call: impl FnOnce(&Network, Reply) -> Result<Option<Message>, Error> + Send + 'static,
    ) -> Option<Job> {
        let Some(live) = self.open_runtime(runtime) else {
            self.refuse(id, &self.no_runtime(runtime));
            return None;
        };
        let (handle, outlet) = (live.runtime.clone(), Arc::clone(&self.replies.outlet));
        let call: Job = Box::new(move || match handle.contain(|handle| call(&handle.network(), Reply(id))) {
            Ok(Some(message)) => outlet.send(message),
            Ok(None) => {}
            Err(error) => outlet.send(answer(id, runtime, Err(error))),
        });
        if takes_files || live.connection_calls.are_under_way() {
            return self.call(live, &live.connection_calls, may_run_here, call);
        }
        call();
        None
    }
}

fn listeners(network: &Network, target: Option<&Target>, reply: Reply) -> Result<Message, Error> {
    let entries = network.listeners(target)?;
    let listeners = Listeners { listeners: entries.iter().map(listener).collect() };
    Ok(reply.body(&listeners, 64 + 64 * entries.len()))
}

/// Returns whether a target is a path in the files.
fn is_path(target: &Result<Target, Error>) -> bool {
    matches!(target, Ok(Target::Path(_)))
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
