//! Frames: a length, then one MessagePack array `[kind, id, body]`.
//!
//! ```text
//! ┌──────────────┬──────┬────────┬───────────────┐
//! │ u32 LE: N    │ 0x93 │ kind id │ body: map/nil │   N counts everything after itself, at most MAX_FRAME_BYTES
//! └──────────────┴──────┴────────┴───────────────┘
//! ```
//!
//! The decoder is handed bytes as they come and gives whole frames out of its own buffer, without copying them. A peer that announces
//! 32 MiB gets no 32 MiB: the buffer only doubles once it has been filled, and a length beyond the limit is an error before anything
//! is made for it. What a frame's body means is in [`crate::messages`].

use displaydoc::Display;
use rmp::Marker;
use serde::Serialize;

use crate::messages::Kind;

/// The largest N of a frame: 32 MiB.
pub const MAX_FRAME_BYTES: usize = 32 << 20;

/// What the decoder's buffer has while frames are small; a larger one is given back as soon as its frame has been handled.
const SMALL_BUFFER: usize = 64 << 10;

/// Bytes of the length before each frame.
const PREFIX: usize = 4;

/// Why a byte stream stopped being a stream of frames, or why a message does not fit into one. Not recoverable: the next frame's
/// beginning is not known.
#[derive(Debug, Clone, PartialEq, Eq, Display, thiserror::Error)]
pub enum FrameError {
    /// a frame of {bytes} bytes is larger than the limit of {max} bytes
    TooLarge {
        /// The length that was announced or needed.
        bytes: u64,
        /// [`MAX_FRAME_BYTES`].
        max: u64,
    },
    /// a frame is not [kind, id, body]: expected {expected}, received {received}
    Malformed {
        /// What should have stood there.
        expected: &'static str,
        /// What stood there.
        received: String,
    },
    /// a message cannot be encoded: {0}
    Unencodable(String),
}

/// One frame, its body still encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The kind's number; [`Kind::try_from`] knows the valid ones.
    pub kind: u8,
    /// The request that it belongs to; 0 is the connection itself.
    pub id: u32,
    /// A MessagePack map or nil, not checked yet.
    pub body: &'a [u8],
    /// Whether another complete frame is already in the decoder's buffer.
    pub more: bool,
}

impl<'a> Frame<'a> {
    /// Reads what stands after the length.
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

/// Cuts a stream of bytes into frames: fill [`Decoder::spare`], say how much with [`Decoder::filled`], then take frames until there is
/// none.
#[derive(Debug, Default)]
pub struct Decoder {
    /// All of it is initialised; `start..end` has been received and not been handled.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Decoder {
    /// A decoder that holds nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Where the next received bytes go; never empty. Take all frames out first, so that a length beyond the limit has been refused.
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

    /// Twice as much as has really been received, and no more than the frame at hand needs.
    fn grow(&mut self) {
        let frame = self.announced().map_or(0, |n| n.min(MAX_FRAME_BYTES)) + PREFIX;
        let size = (self.buffer.len() * 2).min(frame).max(SMALL_BUFFER).max(self.end + 1);
        self.buffer.reserve_exact(size - self.buffer.len());
        self.buffer.resize(size, 0);
    }

    /// The first `n` bytes of [`Decoder::spare`] have been received.
    pub fn filled(&mut self, n: usize) {
        self.end = (self.end + n).min(self.buffer.len());
    }

    /// Takes the bytes in as far as there is room at once; gives back how many. For callers that do not read into [`Decoder::spare`].
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let spare = self.spare();
        let n = spare.len().min(bytes.len());
        spare[..n].copy_from_slice(&bytes[..n]);
        self.filled(n);
        n
    }

    /// The next frame, if all of it has been received. After an error the connection is over.
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

    /// Bytes that this decoder has allocated.
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// The length at `start`, once its four bytes are there.
    fn announced(&self) -> Option<usize> {
        let bytes = self.buffer[self.start..self.end].first_chunk::<PREFIX>()?;
        Some(u32::from_le_bytes(*bytes) as usize)
    }
}

/// Encodes a message into a frame, its length included. `hint` is about how many bytes the body has.
pub fn encode<T: Serialize>(kind: Kind, id: u32, body: &T, hint: usize) -> Result<Vec<u8>, FrameError> {
    let mut sink = Bounded { bytes: Vec::with_capacity((hint + 64).min(MAX_FRAME_BYTES + PREFIX)), needed: 0 };
    let unencodable = |error: &dyn std::fmt::Display| FrameError::Unencodable(error.to_string());
    sink.put(&[0; PREFIX]);
    sink.put(&[0x93]);
    rmp::encode::write_uint(&mut sink, u64::from(kind as u8)).map_err(|e| unencodable(&e))?;
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

/// Keeps what fits into a frame and counts the rest, so that the error can say how large it would have been.
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
