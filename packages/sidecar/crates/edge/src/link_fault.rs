//! The end of the link by a fault. Next: `serve.rs`.

use coldframe_edge_link::Invalid;
use displaydoc::Display;
use std::io;

/// The reason why the link has ended. The end of the sidecar is no fault.
#[derive(Debug, Display, thiserror::Error)]
pub enum LinkFault {
    /// the socket of the link failed: {0}
    Io(io::Error),
    /// the sidecar broke the rules of the link: {0}
    Invalid(Invalid),
    /// the sidecar broke the rules of the link: expected {0}
    Rules(&'static str),
    /// the sidecar has version {0} of the link
    Version(u32),
}

impl From<io::Error> for LinkFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
