//! Sockets on their way from one program to another, through a connection of a Unix socket: what Linux calls `SCM_RIGHTS`, and what Node's channel
//! between processes does with servers and connections.
//!
//! A parcel waits beside the connection, not in its bytes: Node sends the next one when the last one was acknowledged, and says in a message that it
//! comes. Who closes the receiving end lets go of what waits there. Next: `handles.rs`, which gives and takes the numbers.

use super::socket::{Domain, Role};
use super::sockets::{SocketState, Sockets};
use crate::descriptors::{Description, Target};
use crate::ids::SocketId;
use coldframe_error::Errno;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// What may wait at one end: Node never has more than one under way.
pub(super) const MOST: usize = 16;

/// What waits, by the end that will take it.
#[derive(Default)]
pub(super) struct PassedDescriptors(pub(super) HashMap<SocketId, VecDeque<Arc<Description>>>);

impl Sockets {
    /// Has `description` wait for who reads at the other end of `id`. `ENOTSUP` for what is no socket, `ETOOMANYREFS` when too much waits there.
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

    /// The first that waits at this end.
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
    /// What nobody will take any more: its end is gone.
    pub(super) fn take_lost(&mut self) -> Vec<Arc<Description>> {
        if self.passed.0.is_empty() {
            return Vec::new();
        }
        let sockets = &self.network.sockets;
        self.passed.0.extract_if(|id, _| !sockets.contains_key(id)).flat_map(|(_, waiting)| waiting).collect()
    }
}

/// A Unix connection whose other end still reads.
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
    fn passed_come_in_order_and_no_more_than_a_few_wait() {
        let sockets = Sockets::default();
        let (one, other) = sockets.with(|state| state.network.pair()).expect("a pair");
        assert_eq!(sockets.collect(other).err(), Some(Errno::EAGAIN));
        for id in (100..116).map(socket) {
            sockets.offer(one, sent(id)).expect("room");
        }
        assert_eq!(sockets.offer(one, sent(socket(9))).err(), Some(Errno::ETOOMANYREFS));
        let first = sockets.collect(other).expect("one waits");
        assert!(matches!(first.target, Target::Socket(id) if id == socket(100)));
        assert_eq!(sockets.collect(one).err(), Some(Errno::EAGAIN), "what one sends, the other gets");
    }

    #[test]
    fn what_is_no_socket_is_refused_and_so_is_what_is_no_connection() {
        let sockets = Sockets::default();
        let (one, other) = sockets.with(|state| state.network.pair()).expect("a pair");
        let file = Arc::new(Description::new(Target::File(1), 0));
        assert_eq!(sockets.offer(one, file).err(), Some(Errno::EOPNOTSUPP));
        assert_eq!(sockets.offer(socket(7_777), sent(socket(1))).err(), Some(Errno::EBADF));
        assert!(sockets.close(other, false).is_empty());
        assert_eq!(sockets.offer(one, sent(socket(1))).err(), Some(Errno::EPIPE));
    }

    #[test]
    fn what_nobody_takes_is_given_back_with_its_end() {
        let sockets = Sockets::default();
        let (one, other) = sockets.with(|state| state.network.pair()).expect("a pair");
        sockets.offer(one, sent(socket(1))).expect("room");
        sockets.offer(one, sent(socket(2))).expect("room");
        assert!(sockets.close(one, false).is_empty(), "the reader may still take them");
        assert_eq!(sockets.close(other, false).len(), 2);
        assert_eq!(sockets.count(), 0);
    }
}
