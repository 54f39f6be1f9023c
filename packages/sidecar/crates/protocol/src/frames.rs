//! Frames: a length, followed by one MessagePack array `[kind, id, body]`.
//!
//! ```text
//! ┌──────────────┬──────┬─────────┬───────────────┐
//! │ u32 LE: N    │ 0x93 │ kind id │ body: map/nil │   N is the number of bytes that follow N
//! └──────────────┴──────┴─────────┴───────────────┘
//! ```
//!
//! The decoder accepts bytes as they arrive and returns whole frames from its own buffer, without
//! copying the frames. An announced length alone allocates nothing: the buffer doubles only when
//! the received bytes fill it. A length above the limit is refused before the buffer grows.
//! [`crate::messages`] declares the bodies.

use displaydoc::Display;
use rmp::Marker;
use serde::Serialize;

use crate::messages::Kind;

/// The largest N of a frame: 32 MiB.
pub const MAX_FRAME_BYTES: usize = 32 << 20;

/// The size of the decoder's buffer while frames are small. A larger buffer is freed when all
/// received bytes have been handled.
const SMALL_BUFFER: usize = 64 << 10;

/// The size of the length before each frame.
const PREFIX: usize = 4;

/// A byte stream that is not a stream of frames, or a message that cannot become a frame. After an
/// error of the decoder the connection cannot continue, because the beginning of the next frame is
/// unknown.
#[derive(Debug, Clone, PartialEq, Eq, Display, thiserror::Error)]
pub enum FrameError {
    /// a frame of {bytes} bytes is larger than the limit of {max} bytes
    TooLarge {
        /// The length that the peer announced, or that the message needs.
        bytes: u64,
        /// [`MAX_FRAME_BYTES`].
        max: u64,
    },
    /// a frame is not [kind, id, body]: expected {expected}, received {received}
    Malformed {
        /// The expectation.
        expected: &'static str,
        /// The received value.
        received: String,
    },
    /// a message cannot be encoded: {0}
    Unencodable(String),
}

/// A frame with an encoded body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The number of the message's kind. No kind may have this number.
    pub kind: u8,
    /// The id of the request, the host call or the inbound connection that the frame belongs to. 0
    /// means the sidecar's connection as a whole.
    pub id: u32,
    /// A MessagePack map or nil, not checked yet.
    pub body: &'a [u8],
    /// Whether the decoder's buffer has another complete frame.
    pub more: bool,
}

impl<'a> Frame<'a> {
    /// Parses the bytes after the length. Does not check the body.
    pub fn parse(payload: &'a [u8]) -> Result<Self, FrameError> {
        let mut rest = payload;
        let expected = "an array of three";
        match rest.split_first() {
            Some((&0x93, tail)) => rest = tail,
            Some((&byte, _)) => return Err(malformed(expected, format!("a value that begins with byte {byte:#04x}"))),
            None => return Err(malformed(expected, "an empty frame".to_owned())),
        }
        let kind = unsigned(&mut rest, "a kind from 1 to 255")?;
        let kind = u8::try_from(kind).map_err(|_| malformed("a kind from 1 to 255", kind.to_string()))?;
        let id = unsigned(&mut rest, "an id of 32 bits")?;
        let id = u32::try_from(id).map_err(|_| malformed("an id of 32 bits", id.to_string()))?;
        Ok(Self { kind, id, body: rest, more: false })
    }
}

fn malformed(expected: &'static str, received: String) -> FrameError {
    FrameError::Malformed { expected, received }
}

fn unsigned(rest: &mut &[u8], expected: &'static str) -> Result<u64, FrameError> {
    let shown = rest.first().map_or("the end of the frame".to_owned(), |b| format!("{:?}", Marker::from_u8(*b)));
    rmp::decode::read_int(rest).map_err(|_| malformed(expected, shown))
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
    /// first, so that a length above the limit has been refused.
    pub fn spare(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.buffer.len() > SMALL_BUFFER {
                self.buffer = Vec::new();
            }
        }
        if self.end == self.buffer.len() && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.grow();
        }
        &mut self.buffer[self.end..]
    }

    /// Doubles the buffer, but not beyond the length of the present frame. The buffer then has at
    /// least [`SMALL_BUFFER`] bytes, and space for at least one more byte.
    fn grow(&mut self) {
        let frame = self.announced().map_or(0, |n| n.min(MAX_FRAME_BYTES)) + PREFIX;
        let size = (self.buffer.len() * 2).min(frame).max(SMALL_BUFFER).max(self.end + 1);
        self.buffer.reserve_exact(size - self.buffer.len());
        self.buffer.resize(size, 0);
    }

    /// Marks the first `n` bytes of [`Decoder::spare`] as received.
    pub fn filled(&mut self, n: usize) {
        self.end = (self.end + n).min(self.buffer.len());
    }

    /// Copies as many of `bytes` as fit into the buffer and returns the number of copied bytes. A
    /// caller that does not read into [`Decoder::spare`] uses this method.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let spare = self.spare();
        let n = spare.len().min(bytes.len());
        spare[..n].copy_from_slice(&bytes[..n]);
        self.filled(n);
        n
    }

    /// Returns the next complete frame. Returns `None` if the next frame is incomplete. After an
    /// error the connection must end.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        let Some(length) = self.announced() else { return Ok(None) };
        if length > MAX_FRAME_BYTES {
            return Err(FrameError::TooLarge { bytes: length as u64, max: MAX_FRAME_BYTES as u64 });
        }
        let from = self.start + PREFIX;
        if self.end - from < length {
            return Ok(None);
        }
        self.start = from + length;
        let more = self.announced().is_some_and(|next| self.end - self.start - PREFIX >= next);
        Frame::parse(&self.buffer[from..from + length]).map(|frame| Some(Frame { more, ..frame }))
    }

    /// Returns the number of allocated bytes.
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// Returns the length at `start`, if its four bytes have been received.
    fn announced(&self) -> Option<usize> {
        let bytes = self.buffer[self.start..self.end].first_chunk::<PREFIX>()?;
        Some(u32::from_le_bytes(*bytes) as usize)
    }
}

/// Encodes a message as a frame with its length. `hint` is the approximate size of the body.
pub fn encode<T: Serialize>(kind: Kind, id: u32, body: &T, hint: usize) -> Result<Vec<u8>, FrameError> {
    let mut sink = Bounded { bytes: Vec::with_capacity((hint + 64).min(MAX_FRAME_BYTES + PREFIX)), needed: 0 };
    let unencodable = |error: &dyn std::fmt::Display| FrameError::Unencodable(error.to_string());
    sink.put(&[0; PREFIX]);
    sink.put(&[0x93]);
    rmp::encode::write_uint(&mut sink, u64::from(kind.number())).map_err(|e| unencodable(&e))?;
    rmp::encode::write_uint(&mut sink, u64::from(id)).map_err(|e| unencodable(&e))?;
    let mut serializer = rmp_serde::Serializer::new(&mut sink).with_struct_map();
    body.serialize(&mut serializer).map_err(|e| unencodable(&e))?;
    let length = sink.needed - PREFIX;
    if length > MAX_FRAME_BYTES {
        return Err(FrameError::TooLarge { bytes: length as u64, max: MAX_FRAME_BYTES as u64 });
    }
    sink.bytes[..PREFIX].copy_from_slice(&(length as u32).to_le_bytes());
    log::debug!(target: "request", "{id} sends {}, {length} bytes", kind.name());
    Ok(sink.bytes)
}

/// Stores the bytes that fit into a frame and counts all bytes, so that the error can state the
/// required size.
struct Bounded {
    bytes: Vec<u8>,
    needed: usize,
}

impl Bounded {
    fn put(&mut self, bytes: &[u8]) {
        self.needed += bytes.len();
        if self.needed <= MAX_FRAME_BYTES + PREFIX {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.put(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
