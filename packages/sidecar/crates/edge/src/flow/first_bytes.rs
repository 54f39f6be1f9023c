//! The first bytes of the guest on a connection: TLS that the guest makes itself.
//!
//! Such TLS is opaque to the edge, but its first message has the name of the server in the clear.
//! The name is judged before a byte is sent. A connection to a host with rules about HTTP gets its
//! filter at the first byte, unless a session is attached before. Bytes that are not TLS wait for
//! nothing. Next: `pump.rs`.

use super::peer::Peer;
use super::pump::Stop;
use super::{Flow, Inner};
use crate::http::{self, FILTER_PIPE};
use rustls::server::Acceptor;

/// The first byte of a handshake's record.
const HANDSHAKE: u8 = 0x16;
/// The largest first message of TLS, with its records.
const MAX_HELLO_BYTES: usize = 32 << 10;

/// The state before the guest's first bytes are judged.
#[derive(Default)]
pub(super) struct FirstBytes {
    acceptor: Option<Acceptor>,
    /// The number of bytes that the acceptor has read.
    read: usize,
}

impl Flow {
    /// Judges the first bytes. Returns whether the waiting bytes may be sent.
    pub(super) fn judge_first(&self, inner: &mut Inner) -> Result<bool, Stop> {
        let (Some(first), Some(byte)) = (&mut inner.first, inner.to_peer.front()) else { return Ok(true) };
        if *byte != HANDSHAKE {
            inner.first = None;
            if !inner.binding.is_empty() {
                self.start_filter(inner);
            }
            return Ok(true);
        }
        if !inner.binding.is_empty() {
            return Err(Stop::Denied(inner.opaque()));
        }
        let acceptor = first.acceptor.get_or_insert_default();
        let mut accepted = None;
        let (front, back) = inner.to_peer.as_slices();
        for part in [front.get(first.read..), back.get(first.read.saturating_sub(front.len())..)] {
            let mut rest = part.unwrap_or_default();
            while !rest.is_empty() && accepted.is_none() {
                let before = rest.len();
                let read = acceptor.read_tls(&mut rest);
                first.read += before - rest.len();
                let result = read.ok().and_then(|_| acceptor.accept().ok());
                let Some(result) = result else { return Err(Stop::Denied(inner.malformed_hello())) };
                accepted = result;
            }
        }
        let is_over = inner.guest_ended || inner.sidecar_closed || first.read > MAX_HELLO_BYTES;
        match accepted {
            Some(accepted) => {
                let hello = accepted.client_hello();
                self.judge_name(inner, hello.server_name()).map_err(Stop::Denied)?;
                inner.first = None;
                Ok(true)
            }
            None if is_over => Err(Stop::Denied(inner.malformed_hello())),
            None => Ok(false),
        }
    }

    fn start_filter(&self, inner: &mut Inner) {
        let Some(Peer::Socket(socket)) = inner.stream.take() else { return };
        let checked = inner.admission.map_or(self.peer, |admission| admission.peer().address());
        let (near, far) = tokio::io::duplex(FILTER_PIPE);
        inner.stream = Some(Peer::Filter(near));
        let context = http::Context::plain(self.runtime.clone(), self.id, checked, inner.guest_close.clone());
        inner.filter = Some(Box::pin(http::run(context, far, socket)));
    }
}
