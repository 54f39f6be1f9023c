//! Descriptor passing between programs through a Unix connection. Linux calls descriptor passing
//! `SCM_RIGHTS`; Node's channel between processes passes servers and connections in this way.
//!
//! A passed descriptor is queued beside the connection, not in the connection's bytes. Node
//! announces each descriptor in a message, and sends the next descriptor after the receiver has
//! acknowledged the previous descriptor. Closing the receiving end releases the descriptors in its
//! queue. Next: `descriptor_io.rs`, which allocates the receiver's descriptors.

use super::socket::{Domain, Role};
use super::sockets::{SocketState, Sockets};
use crate::descriptors::{Description, Target};
use crate::ids::SocketId;
use coldframe_error::Errno;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The maximum number of descriptors in the queue of one end. Node never has more than one
/// descriptor in flight.
pub(super) const MOST: usize = 16;

/// The queues of passed descriptors, by receiving end.
#[derive(Default)]
pub(super) struct PassedDescriptors(pub(super) HashMap<SocketId, VecDeque<Arc<Description>>>);

impl Sockets {
    /// Queues `description` for the reader at the other end of `id`. Fails with `EOPNOTSUPP` if
    /// `description` is no socket, and with `ETOOMANYREFS` if the queue is full.
    pub(crate) fn offer(&self, id: SocketId, description: Arc<Description>) -> Result<(), Errno> {
        if !matches!(description.target, Target::Socket(_)) {
            return Err(Errno::EOPNOTSUPP);
        }
        self.with(|state| {
            let peer = other_end(state, id)?;
            let waiting = state.passed.0.entry(peer).or_default();
            if waiting.len() >= MOST {
                return Err(Errno::ETOOMANYREFS);
            }
            waiting.push_back(description);
            Ok(())
        })
    }

    /// Removes and returns the first descriptor in the queue of this end. Fails with `EAGAIN` if
    /// the queue is empty.
    pub(crate) fn collect(&self, id: SocketId) -> Result<Arc<Description>, Errno> {
        self.with(|state| {
            let waiting = state.passed.0.get_mut(&id).ok_or(Errno::EAGAIN)?;
            let first = waiting.pop_front();
            if waiting.is_empty() {
                state.passed.0.remove(&id);
            }
            first.ok_or(Errno::EAGAIN)
        })
    }
}

impl SocketState {
    /// Removes and returns the descriptors whose receiving end is closed, so that no program can
    /// receive these descriptors.
    pub(super) fn take_lost(&mut self) -> Vec<Arc<Description>> {
        if self.passed.0.is_empty() {
            return Vec::new();
        }
        let sockets = &self.network.sockets;
        self.passed.0.extract_if(|id, _| !sockets.contains_key(id)).flat_map(|(_, waiting)| waiting).collect()
    }
}

/// Returns the other end of a Unix connection. Fails with `EPIPE` if the other end is closed or
/// this end has ended its sending direction.
fn other_end(state: &SocketState, id: SocketId) -> Result<SocketId, Errno> {
    let socket = state.network.get(id)?;
    match &socket.role {
        Role::Connected(stream) if socket.domain == Domain::Unix => stream.peer.filter(|_| !stream.shut).ok_or(Errno::EPIPE),
        _ => Err(Errno::EINVAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::socket;

    fn sent(id: SocketId) -> Arc<Description> {
        Arc::new(Description::new(Target::Socket(id), 2))
    }

    #[test]
    fn returns_passed_descriptors_in_order_and_bounds_the_queue() {
        let sockets = Sockets::default();
        let (one, other) = sockets.with(|state| state.network.pair()).expect("a pair");
        assert_eq!(sockets.collect(other).err(), Some(Errno::EAGAIN));
        for id in (100..116).map(socket) {
            sockets.offer(one, sent(id)).expect("room");
        }
        assert_eq!(sockets.offer(one, sent(socket(9))).err(), Some(Errno::ETOOMANYREFS));
        let first = sockets.collect(other).expect("a descriptor waits");
        assert!(matches!(first.target, Target::Socket(id) if id == socket(100)));
        assert_eq!(sockets.collect(one).err(), Some(Errno::EAGAIN), "only the other end receives the descriptors");
    }

    #[test]
    fn refuses_files_unknown_sockets_and_closed_connections() {
        let sockets = Sockets::default();
        let (one, other) = sockets.with(|state| state.network.pair()).expect("a pair");
        let file = Arc::new(Description::new(Target::File(crate::fs::Ino::new(1)), 0));
        assert_eq!(sockets.offer(one, file).err(), Some(Errno::EOPNOTSUPP));
        assert_eq!(sockets.offer(socket(7_777), sent(socket(1))).err(), Some(Errno::EBADF));
        assert!(sockets.close(other, false).is_empty());
        assert_eq!(sockets.offer(one, sent(socket(1))).err(), Some(Errno::EPIPE));
    }

    #[test]
    fn returns_the_waiting_descriptors_when_the_receiving_end_closes() {
        let sockets = Sockets::default();
        let (one, other) = sockets.with(|state| state.network.pair()).expect("a pair");
        sockets.offer(one, sent(socket(1))).expect("room");
        sockets.offer(one, sent(socket(2))).expect("room");
        assert!(sockets.close(one, false).is_empty(), "the reader may still take the descriptors");
        assert_eq!(sockets.close(other, false).len(), 2);
        assert_eq!(sockets.count(), 0);
    }
}
