//! Symmetric ciphers behind one interface: a number selects the cipher, an object converts bytes.
//!
//! This crate implements the modes with the block ciphers and universal hashes of the RustCrypto
//! crates. The modes of those crates need the whole message at once, but Node passes a message in
//! pieces. The objects are plain data. `block.rs` has AES and its simple modes. `gcm.rs`, `ccm.rs`,
//! `chacha.rs` and `wrap.rs` have the other modes. `des.rs` decrypts stored keys only.

mod block;
mod ccm;
mod chacha;
pub(crate) mod des;
mod gcm;
mod wrap;

use crate::Fault;
use block::{Aes, Padded, Stream};

/// The modes, by the numbers of the guest ABI: a cipher's number is `mode << 8 | key length in
/// bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Ecb,
    Cbc,
    Ctr,
    Gcm,
    Ccm,
    ChaChaPoly,
    Wrap,
    Ofb,
    Cfb,
    Cfb8,
    ChaCha,
}

const MODES: [Mode; 11] = [
    Mode::Ecb,
    Mode::Cbc,
    Mode::Ctr,
    Mode::Gcm,
    Mode::Ccm,
    Mode::ChaChaPoly,
    Mode::Wrap,
    Mode::Ofb,
    Mode::Cfb,
    Mode::Cfb8,
    Mode::ChaCha,
];

/// A message that is being encrypted or decrypted.
#[derive(Clone)]
pub struct Cipher {
    state: State,
    finished: bool,
}

#[derive(Clone)]
enum State {
    Padded(Padded),
    Stream(Stream),
    Gcm(gcm::Gcm),
    Ccm(ccm::Ccm),
    ChaChaPoly(chacha::ChaChaPoly),
    ChaCha(chacha::Plain),
    Wrap(wrap::Wrap),
}

/// The parameters of a cipher.
pub struct Setup<'a> {
    /// The cipher's number in the guest ABI: mode and key length.
    pub cipher: u32,
    /// Whether the cipher encrypts. A cipher that does not encrypt decrypts.
    pub encrypt: bool,
    #[expect(missing_docs, reason = "the name says it")]
    pub key: &'a [u8],
    /// The initialization vector. Empty for a mode without an initialization vector.
    pub iv: &'a [u8],
    /// The length of the authentication tag in bytes, for the modes that have a tag.
    pub tag_len: usize,
}

impl Cipher {
    /// Starts a message.
    ///
    /// # Errors
    /// Returns `Unsupported` for an unknown cipher, or the fault of a wrong length.
    pub fn new(setup: &Setup<'_>) -> Result<Self, Fault> {
        let &Setup { cipher, encrypt, key, iv, tag_len } = setup;
        let mode = usize::try_from(cipher >> 8).ok().and_then(|mode| mode.checked_sub(1)).and_then(|mode| MODES.get(mode));
        let mode = *mode.ok_or(Fault::Unsupported)?;
        if key.len() != (cipher & 0xff) as usize {
            return Err(Fault::KeyLength);
        }
        let state = match mode {
            Mode::Ecb | Mode::Cbc => State::Padded(Padded::new(Aes::new(key)?, encrypt, mode == Mode::Cbc, iv)?),
            Mode::Ctr | Mode::Ofb | Mode::Cfb | Mode::Cfb8 => State::Stream(Stream::new(mode, Aes::new(key)?, encrypt, iv)?),
            Mode::Gcm => State::Gcm(gcm::Gcm::new(Aes::new(key)?, encrypt, iv, tag_len)?),
            Mode::Ccm => State::Ccm(ccm::Ccm::new(Aes::new(key)?, encrypt, iv, tag_len)?),
            Mode::ChaChaPoly => State::ChaChaPoly(chacha::ChaChaPoly::new(key, encrypt, iv, tag_len)?),
            Mode::ChaCha => State::ChaCha(chacha::Plain::new(key, iv)?),
            Mode::Wrap => State::Wrap(wrap::Wrap::new(Aes::new(key)?, encrypt, iv)?),
        };
        Ok(Self { state, finished: false })
    }

    /// Converts bytes and appends the result to `out`. The result is at most one block longer than
    /// `input`.
    ///
    /// # Errors
    /// Returns `State` after the end of the message, or a fault of the mode.
    pub fn update(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.finished {
            return Err(Fault::State);
        }
        match &mut self.state {
            State::Padded(padded) => padded.update(input, out),
            State::Stream(stream) => stream.update(input, out),
            State::Gcm(gcm) => gcm.update(input, out),
            State::Ccm(ccm) => return ccm.update(input, out),
            State::ChaChaPoly(cipher) => cipher.update(input, out)?,
            State::ChaCha(cipher) => return cipher.update(input, out),
            State::Wrap(wrap) => return wrap.update(input, out),
        }
        Ok(())
    }

    /// Returns whether the mode needs the message in one piece.
    #[must_use]
    pub fn wants_whole(&self) -> bool {
        matches!(self.state, State::Ccm(_) | State::Wrap(_))
    }

    /// Ends the message.
    ///
    /// # Errors
    /// Returns `State` after the end of the message. Fails if the padding or the tag is wrong, or
    /// if the message is not a whole number of blocks.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        if std::mem::replace(&mut self.finished, true) {
            return Err(Fault::State);
        }
        match &mut self.state {
            State::Padded(padded) => padded.finish(out),
            State::Gcm(gcm) => gcm.finish(),
            State::Ccm(ccm) => ccm.finish(),
            State::ChaChaPoly(cipher) => cipher.finish(),
            State::Stream(_) | State::ChaCha(_) | State::Wrap(_) => Ok(()),
        }
    }

    /// Adds data that is authenticated and not encrypted. The mode CCM checks `message_len`, if the
    /// caller passes the length. The other modes ignore the length.
    ///
    /// # Errors
    /// Returns `State` if the mode has no such data, or if the message has started.
    pub fn set_aad(&mut self, data: &[u8], message_len: Option<usize>) -> Result<(), Fault> {
        match &mut self.state {
            State::Gcm(gcm) => gcm.aad(data),
            State::Ccm(ccm) => ccm.aad(data, message_len),
            State::ChaChaPoly(cipher) => cipher.aad(data),
            _ => Err(Fault::State),
        }
    }

    /// Sets the tag that the message must have.
    ///
    /// # Errors
    /// Returns `State` if the mode has no tag, or if the cipher encrypts.
    pub fn set_tag(&mut self, tag: &[u8]) -> Result<(), Fault> {
        match &mut self.state {
            State::Gcm(gcm) => gcm.tag.expect(tag),
            State::Ccm(ccm) => ccm.tag.expect(tag),
            State::ChaChaPoly(cipher) => cipher.tag.expect(tag),
            _ => Err(Fault::State),
        }
    }

    /// Turns padding to whole blocks on or off. Default: on.
    pub fn set_padding(&mut self, on: bool) {
        if let State::Padded(padded) = &mut self.state {
            padded.padding = on;
        }
    }

    /// Returns the tag of the message that has ended.
    ///
    /// # Errors
    /// Returns `State` before the end, if the cipher decrypts, or if the mode has no tag.
    pub fn tag(&self) -> Result<&[u8], Fault> {
        let tag = match &self.state {
            State::Gcm(gcm) => &gcm.tag,
            State::Ccm(ccm) => &ccm.tag,
            State::ChaChaPoly(cipher) => &cipher.tag,
            _ => return Err(Fault::State),
        };
        tag.computed.as_deref().ok_or(Fault::State)
    }
}

/// The authentication tag: expected when decrypting, computed when encrypting.
#[derive(Clone)]
struct Tag {
    encrypt: bool,
    len: usize,
    expected: Option<Vec<u8>>,
    computed: Option<Vec<u8>>,
}

impl Tag {
    fn new(encrypt: bool, len: usize, range: std::ops::RangeInclusive<usize>) -> Result<Self, Fault> {
        if !range.contains(&len) {
            return Err(Fault::Length);
        }
        Ok(Self { encrypt, len, expected: None, computed: None })
    }

    fn expect(&mut self, tag: &[u8]) -> Result<(), Fault> {
        if self.encrypt {
            return Err(Fault::State);
        }
        if tag.is_empty() || tag.len() > 16 {
            return Err(Fault::Length);
        }
        self.expected = Some(tag.to_vec());
        Ok(())
    }

    /// Stores the message's tag, or compares it with the expected tag. The time of the comparison
    /// does not depend on the place of a difference.
    fn settle(&mut self, tag: &[u8]) -> Result<(), Fault> {
        if self.encrypt {
            self.computed = Some(tag[..self.len].to_vec());
            return Ok(());
        }
        let expected = self.expected.as_deref().ok_or(Fault::Unauthenticated)?;
        let difference = expected.iter().zip(tag).fold(0, |difference, (left, right)| difference | (left ^ right));
        if difference == 0 { Ok(()) } else { Err(Fault::Unauthenticated) }
    }
}
