//! The requests out of a runtime to which functions of the embedder respond. Next: `tests.rs`.
//!
//! The edge process names a request, and the embedder opens a connection for the request. The
//! connection is a flow of the link whose end is the embedder instead of the kernel. The embedder
//! uses the flow like a connection to a listener ([`crate::Network`]), and the windows have one
//! size. The edge and the embedder are checked: a side that exceeds the window, or sends credit
//! for bytes that were not sent, loses the connection.

use super::link::{FlowEnd, Link};
use super::runtime_outside::RuntimeOutside;
use coldframe_edge_link::ToEdge;
use coldframe_error::{Errno, Error};
use coldframe_ids::ConnectionId;
use coldframe_kernel::{NetworkEvent, OutsideEvent, STREAM_WINDOW};
use std::collections::HashMap;
use std::sync::Arc;

/// The connections of one runtime, by the numbers of the embedder.
pub(super) type HandledConnections = HashMap<ConnectionId, Handled>;

/// A connection of the embedder.
pub(super) struct Handled {
    link: Arc<Link>,
    flow: u32,
    /// The bytes that the embedder may send.
    room: u64,
    /// The bytes of the edge for which the embedder has given no credit.
    unread: u64,
    has_ended: bool,
}

impl RuntimeOutside {
    /// Reports to the embedder that a request waits for a function.
    pub(super) fn handler_wanted(&self, number: u32) {
        self.notify_embedder(|kernel| kernel.host_calls.handler_wanted(number));
    }

    /// Opens a connection of the embedder to a request. If the request has ended, the connection is
    /// closed.
    pub fn open_handled(&self, id: ConnectionId, number: u32) -> Result<(), Error> {
        let mut state = self.state.lock();
        let link = state.link.clone().filter(|link| !link.is_over());
        let message = ToEdge::HandlerOpen { runtime: self.runtime, number };
        let opened = link.zip(self.this.upgrade()).and_then(|(link, this)| {
            let flow = link.open(&this, FlowEnd::Embedder(id), &message)?;
            Some(Handled { link, flow, room: STREAM_WINDOW, unread: 0, has_ended: false })
        });
        let opened = opened.ok_or_else(|| Error::EdgeEnded { reason: "its process has exited".to_owned() })?;
        state.handled.insert(id, opened);
        Ok(())
    }

    /// Sends bytes of the embedder, and then the end if `ends` is set. Returns false if the
    /// embedder has no such connection.
    pub fn write_handled(&self, id: ConnectionId, bytes: &[u8], ends: bool) -> bool {
        let mut state = self.state.lock();
        let Some(handled) = state.handled.get_mut(&id) else { return false };
        let room = handled.room.checked_sub(bytes.len() as u64).filter(|_| !handled.has_ended);
        let (link, flow) = (handled.link.clone(), handled.flow);
        let Some(room) = room else {
            state.handled.remove(&id);
            drop(state);
            link.close_flow(flow, true);
            let error = Errno::ENOBUFS.at("write", &id.to_string());
            self.notify_embedder(|kernel| kernel.host_calls.network(id, NetworkEvent::Closed(Some(error.clone()))));
            return true;
        };
        (handled.room, handled.has_ended) = (room, ends);
        // The lock keeps the order of the messages.
        link.write(flow, bytes);
        if ends {
            link.send(flow, &ToEdge::End {});
        }
        true
    }

    /// Adds credit of the embedder. Returns false if the embedder has no such connection.
    pub fn credit_handled(&self, id: ConnectionId, bytes: u64) -> bool {
        let mut state = self.state.lock();
        let Some(handled) = state.handled.get_mut(&id) else { return false };
        let bytes = bytes.min(handled.unread);
        handled.unread -= bytes;
        if bytes > 0 {
            handled.link.send(handled.flow, &ToEdge::Credit { bytes });
        }
        true
    }

    /// Closes a connection of the embedder. Returns false if the embedder has no such connection.
    pub fn close_handled(&self, id: ConnectionId) -> bool {
        let handled = self.state.lock().handled.remove(&id);
        let is_known = handled.is_some();
        if let Some(handled) = handled {
            handled.link.close_flow(handled.flow, true);
        }
        is_known
    }

    /// Passes an event of the edge to the embedder.
    pub(super) fn pass_to_embedder(&self, id: ConnectionId, event: OutsideEvent<'_>) {
        let mut state = self.state.lock();
        let event = match (event, state.handled.get_mut(&id)) {
            (OutsideEvent::Closed(failure), _) => {
                state.handled.remove(&id);
                NetworkEvent::Closed(failure.map(|_| Errno::ECONNRESET.at("read", &id.to_string())))
            }
            // The embedder has closed the connection.
            (_, None) => return,
            (OutsideEvent::Data(bytes), Some(handled)) if handled.unread + bytes.len() as u64 <= STREAM_WINDOW => {
                handled.unread += bytes.len() as u64;
                NetworkEvent::Data(bytes.to_vec())
            }
            (OutsideEvent::Credit(bytes), Some(handled)) if bytes <= STREAM_WINDOW - handled.room => {
                handled.room += bytes;
                NetworkEvent::Credit(bytes)
            }
            (OutsideEvent::End, Some(_)) => NetworkEvent::Ended,
            (_, Some(handled)) => {
                let (link, flow) = (handled.link.clone(), handled.flow);
                state.handled.remove(&id);
                drop(state);
                link.close_flow(flow, true);
                let error = Errno::EPROTO.at("read", &id.to_string());
                return self.notify_embedder(|kernel| {
                    kernel.host_calls.network(id, NetworkEvent::Closed(Some(error.clone())));
                });
            }
        };
        drop(state);
        let mut event = Some(event);
        self.notify_embedder(|kernel| {
            if let Some(event) = event.take() {
                kernel.host_calls.network(id, event);
            }
        });
    }
}
