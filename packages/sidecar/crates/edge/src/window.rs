//! The checks of the windows of flows, for connections and sessions. A sidecar that breaks them
//! breaks the rules of the link. Next: `flow/mod.rs`, `tls/flow.rs`.

use crate::link_fault::LinkFault;
use coldframe_edge_link::window::{ReceiveWindow, SendWindow};

/// Counts received bytes of the guest. `has_ended` is whether the sidecar has sent `End` or
/// `Close`.
///
/// # Errors
/// Fails for bytes after the end, and for bytes beyond the window.
pub fn receive(window: &mut ReceiveWindow, has_ended: bool, bytes: &[u8]) -> Result<(), LinkFault> {
    if has_ended {
        return Err(LinkFault::Rules("no data after the end"));
    }
    if window.receive(bytes.len() as u64) { Ok(()) } else { Err(LinkFault::Rules("data within the window")) }
}

/// Adds credit for the bytes to the guest.
///
/// # Errors
/// Fails for credit for bytes that were not sent.
pub fn credit(window: &mut SendWindow, bytes: u64) -> Result<(), LinkFault> {
    if window.credit(bytes) { Ok(()) } else { Err(LinkFault::Rules("credit for sent bytes")) }
}
