//! Counter mode with CBC-MAC (RFC 3610).
//!
//! The mode authenticates the length of the message first, so the whole message must be passed in
//! one piece.

use super::Tag;
use super::block::{Aes, BLOCK, Block, xor};
use crate::Fault;

#[derive(Clone)]
pub(super) struct Ccm {
    aes: Aes,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    updated: bool,
    pub(super) tag: Tag,
}

/// The largest length of associated data in bytes. The data is stored until the message arrives.
const MAX_AAD: usize = 16 << 20;

impl Ccm {
    pub(super) fn new(aes: Aes, encrypt: bool, iv: &[u8], tag_len: usize) -> Result<Self, Fault> {
        if !(7..=13).contains(&iv.len()) {
            return Err(Fault::IvLength);
        }
        if tag_len % 2 == 1 {
            return Err(Fault::Length);
        }
        let tag = Tag::new(encrypt, tag_len, 4..=16)?;
        Ok(Self { aes, nonce: iv.to_vec(), aad: Vec::new(), updated: false, tag })
    }

    /// Returns the length of the longest message. The nonce and that length share 15 bytes.
    fn max_len(&self) -> u64 {
        let bytes = 15 - self.nonce.len() as u32;
        if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
    }

    pub(super) fn aad(&mut self, data: &[u8], message_len: Option<usize>) -> Result<(), Fault> {
        if message_len.is_some_and(|len| len as u64 > self.max_len()) || self.aad.len() + data.len() > MAX_AAD {
            return Err(Fault::Length);
        }
        self.aad.extend_from_slice(data);
        Ok(())
    }

    pub(super) fn update(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if std::mem::replace(&mut self.updated, true) {
            return Err(Fault::State);
        }
        if input.len() as u64 > self.max_len() {
            return Err(Fault::Length);
        }
        let start = out.len();
        out.extend_from_slice(input);
        let text = &mut out[start..];
        let sum;
        if self.tag.encrypt {
            sum = self.sum(text);
            self.apply(text);
        } else {
            self.apply(text);
            sum = self.sum(text);
        }
        let mut tag = self.aes.encrypt_one(self.counter(0));
        xor(&mut tag, &sum);
        let settled = self.tag.settle(&tag);
        if settled.is_err() {
            // The caller must not receive the text of a message that is not authentic.
            out.truncate(start);
        }
        settled
    }

    /// Ends the message. If the program has passed no bytes, the message is empty.
    pub(super) fn finish(&mut self) -> Result<(), Fault> {
        if self.updated { Ok(()) } else { self.update(&[], &mut Vec::new()) }
    }

    fn counter(&self, count: u64) -> Block {
        let mut block = [0; BLOCK];
        block[8..].copy_from_slice(&count.to_be_bytes());
        block[1..=self.nonce.len()].copy_from_slice(&self.nonce);
        block[0] = 14 - self.nonce.len() as u8;
        block
    }

    fn apply(&self, text: &mut [u8]) {
        for (index, chunk) in text.chunks_mut(64 * BLOCK).enumerate() {
            let mut pads = [[0; BLOCK]; 64];
            for (offset, pad) in pads.iter_mut().enumerate() {
                *pad = self.counter((index * 64 + offset + 1) as u64);
            }
            self.aes.encrypt(&mut pads);
            chunk.iter_mut().zip(pads.as_flattened()).for_each(|(byte, pad)| *byte ^= pad);
        }
    }

    /// Returns the CBC-MAC over the first block, the associated data and the text.
    fn sum(&self, text: &[u8]) -> Block {
        let mut first = [0; BLOCK];
        first[8..].copy_from_slice(&(text.len() as u64).to_be_bytes());
        first[1..=self.nonce.len()].copy_from_slice(&self.nonce);
        let tag = ((self.tag.len - 2) / 2) as u8;
        first[0] = u8::from(!self.aad.is_empty()) << 6 | tag << 3 | (14 - self.nonce.len() as u8);
        let mut sum = self.aes.encrypt_one(first);
        let mut add = |data: &[u8]| {
            for chunk in data.chunks(BLOCK) {
                sum.iter_mut().zip(chunk).for_each(|(byte, data)| *byte ^= data);
                sum = self.aes.encrypt_one(sum);
            }
        };
        if !self.aad.is_empty() {
            let len = self.aad.len();
            let mut data = if len < 0xff00 { (len as u16).to_be_bytes().to_vec() } else { vec![0xff, 0xfe] };
            if len >= 0xff00 {
                data.extend_from_slice(&(len as u32).to_be_bytes());
            }
            data.extend_from_slice(&self.aad);
            add(&data);
        }
        add(text);
        sum
    }
}
