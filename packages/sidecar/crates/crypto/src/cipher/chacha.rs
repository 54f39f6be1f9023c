//! ChaCha20, alone and with Poly1305 (RFC 8439).
//!
//! Without Poly1305, the cipher is OpenSSL's ChaCha20: the first four bytes of the initialization
//! vector are the start of the counter.

use super::Tag;
use super::block::BLOCK;
use super::gcm::Absorber;
use crate::Fault;
use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use poly1305::Poly1305;
use poly1305::universal_hash::KeyInit;

/// A key stream that can be copied at its present position.
struct KeyStream {
    key: [u8; 32],
    nonce: [u8; 12],
    cipher: ChaCha20,
}

impl KeyStream {
    fn new(key: &[u8], nonce: &[u8], block: u32) -> Result<Self, Fault> {
        let key: [u8; 32] = key.try_into().map_err(|_| Fault::KeyLength)?;
        let nonce: [u8; 12] = nonce.try_into().map_err(|_| Fault::IvLength)?;
        let mut cipher = ChaCha20::new(&key.into(), &nonce.into());
        cipher.try_seek(u64::from(block) * 64).map_err(|_| Fault::IvLength)?;
        Ok(Self { key, nonce, cipher })
    }

    fn apply(&mut self, data: &mut [u8]) -> Result<(), Fault> {
        self.cipher.try_apply_keystream(data).map_err(|_| Fault::TooLong)
    }
}

impl Clone for KeyStream {
    fn clone(&self) -> Self {
        let mut cipher = ChaCha20::new(&self.key.into(), &self.nonce.into());
        // The seek cannot fail: this key stream has reached that position.
        let _ = self.cipher.try_current_pos::<u64>().map(|position| cipher.try_seek(position));
        Self { key: self.key, nonce: self.nonce, cipher }
    }
}

#[derive(Clone)]
pub(super) struct Plain(KeyStream);

impl Plain {
    pub(super) fn new(key: &[u8], iv: &[u8]) -> Result<Self, Fault> {
        let (counter, nonce) = iv.split_first_chunk::<4>().ok_or(Fault::IvLength)?;
        KeyStream::new(key, nonce, u32::from_le_bytes(*counter)).map(Self)
    }

    pub(super) fn update(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let start = out.len();
        out.extend_from_slice(input);
        self.0.apply(&mut out[start..])
    }
}

#[derive(Clone)]
pub(super) struct ChaChaPoly {
    cipher: KeyStream,
    hash: Absorber<Poly1305>,
    aad_len: u64,
    text_len: u64,
    pub(super) tag: Tag,
}

impl ChaChaPoly {
    pub(super) fn new(key: &[u8], encrypt: bool, iv: &[u8], tag_len: usize) -> Result<Self, Fault> {
        let mut one_time_key = [0; 32];
        KeyStream::new(key, iv, 0)?.apply(&mut one_time_key)?;
        let cipher = KeyStream::new(key, iv, 1)?;
        let hash = Absorber::new(Poly1305::new(&one_time_key.into()));
        Ok(Self { cipher, hash, aad_len: 0, text_len: 0, tag: Tag::new(encrypt, tag_len, 1..=16)? })
    }

    pub(super) fn aad(&mut self, data: &[u8]) -> Result<(), Fault> {
        if self.text_len > 0 {
            return Err(Fault::State);
        }
        self.hash.absorb(data);
        self.aad_len += data.len() as u64;
        Ok(())
    }

    pub(super) fn update(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if self.text_len == 0 {
            self.hash.fill_block();
        }
        self.text_len += input.len() as u64;
        if !self.tag.encrypt {
            self.hash.absorb(input);
        }
        let start = out.len();
        out.extend_from_slice(input);
        self.cipher.apply(&mut out[start..])?;
        if self.tag.encrypt {
            self.hash.absorb(&out[start..]);
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) -> Result<(), Fault> {
        self.hash.fill_block();
        let mut lengths = [0; BLOCK];
        lengths[..8].copy_from_slice(&self.aad_len.to_le_bytes());
        lengths[8..].copy_from_slice(&self.text_len.to_le_bytes());
        self.hash.absorb(&lengths);
        let tag = self.hash.result();
        if !self.tag.encrypt && self.tag.expected.is_none() {
            // Without an expected tag, OpenSSL decrypts the message unchecked, and Node relies on
            // this behaviour.
            return Ok(());
        }
        self.tag.settle(&tag)
    }
}
