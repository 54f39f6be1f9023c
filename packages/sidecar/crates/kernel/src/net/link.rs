//! The bytes between a socket of the table and a far end outside the table, with credit.
//!
//! ```text
//! far end ── at most a window without credit ──► queue ──► our socket ═══ the program's socket
//!         ◄── at most a window without credit ─────────────────┘
//! ```
//!
//! Bytes of the program are sent to the far end until a window is without credit. Further bytes
//! stay in the socket. When the socket's buffer is full, the program's writes block. Bytes of the
//! far end are queued until the program's socket has space. Credit is sent for the bytes that the
//! socket has accepted. A slow reader therefore uses at most the memory of a window and a socket's
//! buffer, and delays only its own connection.
//!
//! The end of a direction needs no credit. Next: `inbound/connections.rs`, the connections of the
//! embedder; `outside/flows.rs`, the connections of programs to the outside.

use super::inbound::STREAM_WINDOW;
use super::network::Network;
use super::socket::{IN, OUT, WaitOwner, Waiter};
use crate::ids::SocketId;
use crate::usage::{reserve, trim};
use coldframe_error::Errno;
use std::collections::VecDeque;

/// The maximum number of bytes of one read.
const PIECE: usize = 64 << 10;
/// The number of bytes after which credit is sent. The number is a quarter of the window, so that
/// the writer has most of its window left when the credit arrives.
const CREDIT: u64 = STREAM_WINDOW / 4;

/// The receiver of a link's events. The socket table is locked during a call.
pub(super) trait FarEnd {
    /// Sends bytes of the program.
    fn data(&self, bytes: Vec<u8>);
    /// Sends credit for accepted bytes.
    fn credit(&self, bytes: u64);
    /// Reports that the program has ended its sending direction.
    fn ended(&self);
}

/// The state of a link.
#[derive(Default)]
pub(super) struct Link {
    /// The far end's bytes that the program's socket has not accepted.
    queue: VecDeque<u8>,
    /// Whether the far end has ended its sending direction.
    pub(super) ends: bool,
    /// Whether the far end's sending direction was ended at the socket too.
    pub(super) shut: bool,
    /// The number of bytes that the socket has accepted and that have no credit yet.
    taken: u64,
    /// The number of bytes that were sent to the far end and have no credit yet.
    unread: u64,
    /// Whether the program has ended its sending direction.
    pub(super) ended: bool,
    /// The error of a failed write. Later bytes of the far end are discarded.
    pub(super) refused: Option<Errno>,
    /// The mask that the socket is armed for.
    armed: u32,
}

impl Link {
    /// Returns the number of bytes that wait for space in the program's socket.
    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Accepts bytes of the far end. If `ends` is set, the far end's sending direction ends after
    /// the bytes. Fails with `ENOBUFS` if the bytes exceed the window, and with `EPIPE` if the
    /// direction has ended.
    pub(super) fn accept(&mut self, network: &mut Network, socket: SocketId, bytes: &[u8], ends: bool) -> Result<(), Errno> {
        if self.ends && !bytes.is_empty() {
            return Err(Errno::EPIPE);
        }
        // Accepted bytes without credit count too.
        let held = self.queue.len() as u64 + self.taken + bytes.len() as u64;
        if held > STREAM_WINDOW {
            return Err(Errno::ENOBUFS);
        }
        let mut rest = bytes;
        if self.queue.is_empty() && !bytes.is_empty() && self.refused.is_none() {
            // The bytes are copied once if the socket has space.
            let count = match network.write(socket, bytes) {
                Ok(count) => count,
                Err(Errno::EAGAIN) => 0,
                Err(error) => {
                    self.refused = Some(error);
                    bytes.len()
                }
            };
            self.taken += count as u64;
            rest = &bytes[count..];
        }
        reserve(&mut self.queue, rest.len(), STREAM_WINDOW as usize);
        self.queue.extend(rest);
        network.count_buffered(rest.len(), 0);
        self.ends |= ends;
        Ok(())
    }

    /// Discards the queued bytes, before the link is dropped.
    pub(super) fn discard(&mut self, network: &mut Network) {
        network.count_buffered(0, self.queue.len());
        self.queue = VecDeque::new();
    }

    /// Adds credit for the number of bytes that the far end has read.
    pub(super) fn add_credit(&mut self, bytes: u64) {
        self.unread = self.unread.saturating_sub(bytes);
    }

    /// Moves bytes from the far end to the program.
    pub(super) fn push(&mut self, network: &mut Network, socket: SocketId, far: Option<&dyn FarEnd>) {
        let before = self.queue.len();
        while !self.queue.is_empty() {
            let written = match self.refused {
                Some(error) => Err(error),
                None => network.write(socket, self.queue.as_slices().0),
            };
            match written {
                Ok(count) => {
                    self.queue.drain(..count);
                    self.taken += count as u64;
                }
                Err(Errno::EAGAIN) => break,
                Err(error) => {
                    self.refused = Some(error);
                    self.taken += self.queue.len() as u64;
                    self.queue.clear();
                }
            }
        }
        trim(&mut self.queue);
        network.count_buffered(0, before - self.queue.len());
        if self.queue.is_empty() && self.ends && !self.shut {
            self.shut = true;
            let _ = network.shutdown(socket);
        }
        if self.taken >= CREDIT
            && let Some(far) = far
        {
            far.credit(self.taken);
            self.taken = 0;
        }
    }

    /// Moves bytes from the program to the far end. Fails with the socket's pending error.
    pub(super) fn pull(&mut self, network: &mut Network, socket: SocketId, far: &dyn FarEnd) -> Result<(), Errno> {
        while !self.ended {
            let waiting = network.waiting(socket);
            if waiting > 0 && self.unread >= STREAM_WINDOW {
                return Ok(());
            }
            // Without waiting bytes, a read finds the end of the stream and errors. The end needs
            // no credit.
            let room = usize::try_from(STREAM_WINDOW.saturating_sub(self.unread)).unwrap_or(PIECE).clamp(1, PIECE);
            match network.take(socket, room) {
                Ok(piece) if piece.is_empty() => {
                    self.ended = true;
                    far.ended();
                }
                Ok(piece) => {
                    self.unread += piece.len() as u64;
                    far.data(piece);
                }
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Returns the events that the link waits for.
    pub(super) fn awaited(&self, network: &Network, socket: SocketId) -> u32 {
        let reads = !self.ended && (self.unread < STREAM_WINDOW || network.waiting(socket) == 0);
        let input = if reads { IN } else { 0 };
        let output = if self.queue.is_empty() { 0 } else { OUT };
        input | output
    }

    /// Arms the socket for `mask`. A mask of 0 disarms the socket, because an armed socket at the
    /// end of its stream is always ready.
    pub(super) fn wait(&mut self, network: &mut Network, socket: SocketId, mask: u32) {
        if self.armed != 0 {
            let _ = network.disarm(socket, WaitOwner::Embedder);
        }
        self.armed = mask;
        if mask != 0 {
            let _ = network.arm(socket, Waiter { owner: WaitOwner::Embedder, mask });
        }
    }
}
