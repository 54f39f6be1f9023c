//! Frames: a length, the kind of the message, an id, and the payload.
//!
//! ```text
//! ┌──────────────┬──────────┬────────────┬─────────┐
//! │ u32 LE: N    │ u8: kind │ u32 LE: id │ payload │   N is the number of bytes that follow N
//! └──────────────┴──────────┴────────────┴─────────┘
//! ```
//! The payload of data is the bytes themselves. Every other payload has the format of
//! postcard. The decoder
//! returns frames from its own buffer. An announced length alone allocates nothing: the buffer
//! doubles only when received bytes fill the buffer. Next: `message.rs`.

use displaydoc::Display;

/// The largest N of a frame: 1 MiB.
pub const MAX_FRAME_BYTES: usize = 1 << 20;
/// The largest number of bytes of a flow in one frame: 64 KiB.
pub const MAX_DATA_BYTES: usize = 64 << 10;

/// The size of the length before each frame.
const PREFIX: usize = 4;
/// The bytes of kind and id.
const HEAD: usize = 5;
/// The bytes before the payload of a frame.
pub const DATA_HEAD_BYTES: usize = PREFIX + HEAD;

/// The size of the buffer while frames are small. A larger buffer is freed when all received bytes
/// have been handled.
const SMALL_BUFFER: usize = 128 << 10;

/// Bytes of the other side that break the rules of the link. The link must end.
#[derive(Debug, Clone, PartialEq, Eq, Display, thiserror::Error)]
pub enum Invalid {
    /// a frame of {bytes} bytes, expected {least} to {most} bytes
    Length {
        /// The announced length.
        bytes: usize,
        /// The smallest length.
        least: usize,
        /// The largest length.
        most: usize,
    },
    /// a frame of the unknown kind {0}
    Kind(u8),
    /// a wrong payload of a {message} message: {fault}
    Payload {
        /// The name of the message.
        message: &'static str,
        /// The defect.
        fault: String,
    },
}

/// A frame whose payload is not decoded yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The number of the message's kind. No kind may have the number.
    pub kind: u8,
    /// The id of the flow or of the request.
    pub id: u32,
    /// The payload.
    pub payload: &'a [u8],
}

/// Cuts a stream of bytes into frames. The caller fills [`Decoder::spare`], reports the number of
/// bytes with [`Decoder::filled`], and then calls [`Decoder::next_frame`] until no frame is left.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The received bytes. The bytes at `start..end` are not handled yet.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Decoder {
    /// Makes an empty decoder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the space for the next bytes, which is never empty. The caller must take all frames
    /// first, so that a wrong length has been refused.
    pub fn spare(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > SMALL_BUFFER {
                self.buffer = Vec::new();
            }
        }
        if self.end == self.buffer.len() && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            let size = (self.buffer.len() * 2).clamp(SMALL_BUFFER, PREFIX + MAX_FRAME_BYTES).max(self.end + 1);
            self.buffer.resize(size, 0);
        }
        self.buffer.get_mut(self.end..).unwrap_or_default()
    }

    /// Marks the first `count` bytes of [`Decoder::spare`] as received.
    pub fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.buffer.len());
    }

    /// Returns the next whole frame. Returns `None` if the received bytes contain none.
    ///
    /// # Errors
    /// Fails if the announced length is wrong. The stream cannot continue, because the beginning of
    /// the next frame is unknown.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, Invalid> {
        let received = self.buffer.get(self.start..self.end).unwrap_or_default();
        let Some((length, rest)) = received.split_first_chunk::<PREFIX>() else { return Ok(None) };
        let bytes = u32::from_le_bytes(*length) as usize;
        if !(HEAD..=MAX_FRAME_BYTES).contains(&bytes) {
            return Err(Invalid::Length { bytes, least: HEAD, most: MAX_FRAME_BYTES });
        }
        let Some(frame) = rest.get(..bytes) else { return Ok(None) };
        let Some((&[kind, a, b, c, d], payload)) = frame.split_first_chunk::<HEAD>() else { return Ok(None) };
        self.start += PREFIX + bytes;
        Ok(Some(Frame { kind, id: u32::from_le_bytes([a, b, c, d]), payload }))
    }
}

/// Returns the bytes before the payload of a frame with data, for a sender that has the data in its
/// own buffer. `bytes` is at most [`MAX_DATA_BYTES`].
pub fn data_head(kind: u8, id: u32, bytes: usize) -> [u8; DATA_HEAD_BYTES] {
    let [a, b, c, d] = u32::try_from(HEAD + bytes).unwrap_or(u32::MAX).to_le_bytes();
    let [e, f, g, h] = id.to_le_bytes();
    [a, b, c, d, kind, e, f, g, h]
}

/// Appends a frame to `out`. `payload` appends the payload. If `payload` fails, or the frame is
/// longer than [`MAX_FRAME_BYTES`], `out` has its former length.
pub(crate) fn write<E>(
    out: &mut Vec<u8>,
    kind: u8,
    id: u32,
    payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    too_long: impl FnOnce(usize) -> E,
) -> Result<(), E> {
    let start = out.len();
    out.extend_from_slice(&[0; PREFIX]);
    out.push(kind);
    out.extend_from_slice(&id.to_le_bytes());
    let written = payload(out).and_then(|()| {
        let bytes = out.len() - start - PREFIX;
        match u32::try_from(bytes) {
            Ok(length) if bytes <= MAX_FRAME_BYTES => Ok(length),
            _ => Err(too_long(bytes)),
        }
    });
    match written {
        Ok(length) => {
            if let Some(prefix) = out.get_mut(start..start + PREFIX) {
                prefix.copy_from_slice(&length.to_le_bytes());
            }
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}
