//! The wire protocol between the SDK and the sidecar, as specified in `docs/internals/protocol.md`.
//!
//! [`frames`] cuts the byte stream into frames, [`messages`] says what is in them, and [`reader`] reads a body strictly. The SDK has
//! the same in `packages/sdk/src/protocol`; both sides' tests decode the golden frames in `packages/sidecar/fixtures/frames`.

mod files;
pub mod frames;
mod host;
mod invalid;
mod limits;
mod maps;
pub mod messages;
mod network;
mod opened;
mod permissions;
mod processes;
pub mod reader;
mod replies;
mod runners;
mod snapshots;

pub use frames::{Decoder, Frame, FrameError, MAX_FRAME_BYTES, encode};
pub use invalid::Invalid;
pub use messages::{Kind, Request};
pub use reader::MAX_ENTRIES;
