//! Checks the chunks of a request's body, byte by byte as they arrive. Next: `path.rs`.
//!
//! A size is a number of hexadecimal digits alone. Extensions of chunks are refused: servers differ
//! in the end of an extension, and no known client sends one.

use super::head::{HeadFault, MAX_FIELDS, field};

/// The maximum number of digits of a size.
const MAX_DIGITS: u32 = 15;
/// The maximum length of all trailer fields, in bytes.
const MAX_TRAILER_BYTES: usize = 16 << 10;

/// The state between two bytes of a body.
#[derive(Debug, Default)]
pub struct Chunks {
    part: Part,
    /// The size of the present chunk, and later its bytes that have not arrived.
    left: u64,
    digits: u32,
    trailers: Vec<u8>,
    fields: usize,
    trailer_bytes: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Size,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    Trailer,
    Done,
}

impl Chunks {
    /// Reads bytes of the body. Returns the number of bytes that belong to the body. The body has
    /// ended if [`Self::has_ended`] is true, else all bytes belong to the body.
    ///
    /// # Errors
    /// Fails at the first byte that breaks a rule.
    pub fn read(&mut self, bytes: &[u8]) -> Result<usize, HeadFault> {
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match self.part {
                Part::Done => break,
                Part::Size => self.size(*byte)?,
                Part::SizeEnd if *byte == b'\n' => self.part = if self.left == 0 { Part::Trailer } else { Part::Data },
                Part::SizeEnd => return Err(HeadFault::ChunkSize),
                Part::Data => {
                    let here = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len() - at);
                    self.left -= here as u64;
                    at += here;
                    if self.left == 0 {
                        self.part = Part::DataCr;
                    }
                    continue;
                }
                Part::DataCr if *byte == b'\r' => self.part = Part::DataLf,
                Part::DataLf if *byte == b'\n' => (self.part, self.digits) = (Part::Size, 0),
                Part::DataCr | Part::DataLf => return Err(HeadFault::ChunkEnd),
                Part::Trailer => self.trailer(*byte)?,
            }
            at += 1;
        }
        Ok(at)
    }

    /// Returns whether the last chunk and the trailer fields have been read.
    pub fn has_ended(&self) -> bool {
        self.part == Part::Done
    }

    fn size(&mut self, byte: u8) -> Result<(), HeadFault> {
        match char::from(byte).to_digit(16) {
            Some(digit) if self.digits < MAX_DIGITS => {
                self.left = self.left * 16 + u64::from(digit);
                self.digits += 1;
                Ok(())
            }
            None if byte == b'\r' && self.digits > 0 => {
                self.part = Part::SizeEnd;
                Ok(())
            }
            _ => Err(HeadFault::ChunkSize),
        }
    }

    fn trailer(&mut self, byte: u8) -> Result<(), HeadFault> {
        self.trailer_bytes += 1;
        if self.trailer_bytes > MAX_TRAILER_BYTES {
            return Err(HeadFault::Trailers);
        }
        let after_cr = self.trailers.last() == Some(&b'\r');
        match byte {
            b'\n' if !after_cr => return Err(HeadFault::LineEnd),
            _ if after_cr && byte != b'\n' => return Err(HeadFault::LineEnd),
            0..=8 | 11 | 12 | 14..=31 | 127 => return Err(HeadFault::Control),
            b'\n' => {}
            _ => {
                self.trailers.push(byte);
                return Ok(());
            }
        }
        let line = std::mem::take(&mut self.trailers);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if line.is_empty() {
            self.part = Part::Done;
            return Ok(());
        }
        self.fields += 1;
        if self.fields > MAX_FIELDS {
            return Err(HeadFault::TooManyFields);
        }
        let (name, _) = field(line)?;
        // A server that moves trailer fields to the head would change the framing of the request.
        let frames = [&b"host"[..], b"content-length", b"transfer-encoding"];
        if frames.iter().any(|known| name.eq_ignore_ascii_case(known)) { Err(HeadFault::Framing) } else { Ok(()) }
    }
}
