//! Records between the guest and a session: u8 kind, u24 LE length, payload. Next: `settings.rs`.

/// The largest payload of a record: 1 MiB. A list of authorities may need that much.
pub const MAX_RECORD_BYTES: usize = 1 << 20;
/// The bytes before a payload.
pub const HEAD_BYTES: usize = 4;
/// The largest payload of a record to the guest with bytes.
const PIECE: usize = 64 << 10;

/// A kind of record from the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FromGuest {
    /// The settings, as JSON. The first record, once.
    Start,
    /// Encrypted bytes of the peer.
    Encrypted,
    /// Plain bytes for the peer.
    Plain,
    /// No further plain bytes follow.
    PlainEnd,
    /// The choices of a server after the event `hello`, as JSON.
    Continue,
    /// The peer sends no further encrypted bytes. The event `ended` is the reply. In an attached
    /// session, the guest has passed all bytes that arrived before the session. No reply follows.
    EncryptedEnd,
    /// The guest reads no plain bytes. Only in an attached session.
    Pause,
    /// The guest reads plain bytes again. Only in an attached session.
    Resume,
    /// A request, as JSON. The event `reply` is the reply.
    Ask,
    /// The most plain bytes of one record of TLS to the peer, as u16 LE: 512 to 16,384. Another
    /// number counts as the next of these numbers.
    Fragment,
}

/// A kind of record to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ToGuest {
    /// Encrypted bytes for the peer.
    Encrypted = 129,
    /// Plain bytes of the peer.
    Plain = 130,
    /// The peer has ended its plain bytes with `close_notify`.
    PlainEnd = 131,
    /// An event, as JSON.
    Event = 132,
    /// The number of plain bytes whose encrypted bytes are in earlier records, as u32 LE.
    Written = 133,
    /// A record `Start`, `Encrypted` or `Continue` has been handled, and its results are in earlier
    /// records. The guest waits for this record before it ends.
    Handled = 134,
}

impl FromGuest {
    fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Start,
            2 => Self::Encrypted,
            3 => Self::Plain,
            4 => Self::PlainEnd,
            5 => Self::Continue,
            6 => Self::EncryptedEnd,
            7 => Self::Pause,
            8 => Self::Resume,
            9 => Self::Ask,
            70 => Self::Fragment,
            _ => return None,
        })
    }
}

/// A byte of the guest that no record can have.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

/// Cuts the guest's bytes into records.
#[derive(Debug, Default)]
pub struct Reader(Vec<u8>);

impl Reader {
    /// Adds bytes of the guest.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Returns the number of bytes that are missing to the end of the present record, at least 1.
    pub fn missing(&self) -> Result<usize, Malformed> {
        let Some((&[kind, a, b, c], rest)) = self.0.split_first_chunk::<HEAD_BYTES>() else {
            return Ok(HEAD_BYTES - self.0.len());
        };
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        if FromGuest::from_number(kind).is_none() || length > MAX_RECORD_BYTES {
            return Err(Malformed);
        }
        Ok(length.saturating_sub(rest.len()))
    }

    /// Returns the whole record, and begins the next record. Returns `None` before the end of the
    /// record.
    pub fn take(&mut self) -> Option<(FromGuest, Vec<u8>)> {
        let kind = FromGuest::from_number(*self.0.first()?)?;
        if self.0.len() < HEAD_BYTES || self.missing() != Ok(0) {
            return None;
        }
        let mut record = std::mem::take(&mut self.0);
        record.drain(..HEAD_BYTES);
        Some((kind, record))
    }
}

/// Appends records with bytes to `out`.
pub fn write(out: &mut Vec<u8>, kind: ToGuest, payload: &[u8]) {
    if payload.is_empty() {
        return head(out, kind, 0);
    }
    // An event is always one record, and bytes are cut.
    let size = if kind == ToGuest::Event { payload.len() } else { PIECE };
    for piece in payload.chunks(size) {
        head(out, kind, piece.len());
        out.extend_from_slice(piece);
    }
}

/// Appends bytes to the last record of `out`, which begins at `at`. Returns false, without a
/// change, if the record would have too many bytes.
pub fn extend(out: &mut Vec<u8>, at: usize, bytes: &[u8]) -> bool {
    let length = (out.len() + bytes.len()).saturating_sub(at + HEAD_BYTES);
    let Some([_, head @ ..]) = out.get_mut(at..at + HEAD_BYTES).filter(|_| length <= PIECE) else { return false };
    let [a, b, c, _] = u32::try_from(length).unwrap_or(0).to_le_bytes();
    head.copy_from_slice(&[a, b, c]);
    out.extend_from_slice(bytes);
    true
}

fn head(out: &mut Vec<u8>, kind: ToGuest, length: usize) {
    let [a, b, c, _] = u32::try_from(length).unwrap_or(0).to_le_bytes();
    out.extend_from_slice(&[kind as u8, a, b, c]);
}
