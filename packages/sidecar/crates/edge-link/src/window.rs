//! The accounting of a flow's bytes in one direction.
//!
//! A sender may send [`STREAM_WINDOW`] bytes from the beginning, and as many bytes more as the
//! receiver has consumed. The receiver reports consumed bytes when they are a quarter of the
//! window, so that credit messages are rare. The end of a direction needs no window.

/// The largest number of bytes of one direction of a flow that are sent and not consumed: 256 KiB.
pub const STREAM_WINDOW: u64 = 256 << 10;
/// The number of consumed bytes from which on the receiver sends credit.
pub const CREDIT_STEP: u64 = STREAM_WINDOW / 4;

/// The bytes that a datagram counts in the window besides its content, so that small datagrams have
/// bounded queues too.
pub const DATAGRAM_COST: u64 = 64;

/// The sender's side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendWindow {
    left: u64,
}

impl Default for SendWindow {
    fn default() -> Self {
        Self { left: STREAM_WINDOW }
    }
}

impl SendWindow {
    /// Returns the number of bytes that may be sent.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Counts sent bytes. Returns false, and counts nothing, if the window has fewer bytes.
    pub fn send(&mut self, bytes: u64) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// Adds credit. Returns false, and adds nothing, if the window would exceed [`STREAM_WINDOW`]:
    /// the receiver has reported more bytes than were sent.
    pub fn credit(&mut self, bytes: u64) -> bool {
        match self.left.checked_add(bytes).filter(|left| *left <= STREAM_WINDOW) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

/// The receiver's side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiveWindow {
    /// The bytes that the sender may still send.
    left: u64,
    /// The bytes that are consumed and not reported.
    consumed: u64,
}

impl Default for ReceiveWindow {
    fn default() -> Self {
        Self { left: STREAM_WINDOW, consumed: 0 }
    }
}

impl ReceiveWindow {
    /// Counts received bytes. Returns false if the sender has exceeded the window.
    pub fn receive(&mut self, bytes: u64) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// Counts consumed bytes, of which at most the received bytes count. Returns the credit to send
    /// now.
    #[must_use]
    pub fn consume(&mut self, bytes: u64) -> Option<u64> {
        let most = STREAM_WINDOW - self.left - self.consumed;
        self.consumed += bytes.min(most);
        if self.consumed < CREDIT_STEP {
            return None;
        }
        self.left += self.consumed;
        Some(std::mem::take(&mut self.consumed))
    }
}
