//! The wire protocol between the SDK and the sidecar.
//!
//! [`frames`] cuts the byte stream into frames, [`reader`] reads a body strictly, and [`messages`]
//! declares every message. `docs/internals/protocol.md` explains the rules between messages. Tests
//! of the SDK and of this crate decode the golden frames in `packages/sidecar/fixtures/frames`.
//! This crate only defines messages. `crates/session` converts messages to calls of the core.

mod declare;
pub mod frames;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod invalid;
mod maps;
pub mod messages;
pub mod reader;
mod shorthand;

pub use frames::{Decoder, Frame, FrameError, MAX_FRAME_BYTES, encode};
pub use invalid::Invalid;
pub use messages::{Kind, Request};
pub use reader::MAX_ENTRIES;
