//! Galois/counter mode (NIST SP 800-38D), with the message in pieces.

use super::Tag;
use super::block::{Aes, BLOCK, Block};
use crate::Fault;
use ghash::GHash;
use ghash::universal_hash::UniversalHash;

const BATCH: usize = 64;

#[derive(Clone)]
pub(super) struct Gcm {
    aes: Aes,
    hash: Absorber<GHash>,
    /// The first counter block, which encrypts the tag.
    first: Block,
    counter: Block,
    pad: Block,
    used: usize,
    aad_len: u64,
    text_len: u64,
    pub(super) tag: Tag,
}

impl Gcm {
    pub(super) fn new(aes: Aes, encrypt: bool, iv: &[u8], tag_len: usize) -> Result<Self, Fault> {
        if iv.is_empty() {
            return Err(Fault::IvLength);
        }
        let key = aes.encrypt_one([0; BLOCK]);
        let ghash = GHash::new(&key.into());
        let mut first = [0; BLOCK];
        if iv.len() == 12 {
            first[..12].copy_from_slice(iv);
            first[15] = 1;
        } else {
            let mut hash = ghash.clone();
            hash.update_padded(iv);
            let mut lengths = [0; BLOCK];
            lengths[8..].copy_from_slice(&(iv.len() as u64 * 8).to_be_bytes());
            hash.update(&[lengths.into()]);
            first = hash.finalize().into();
        }
        let hash = Absorber::new(ghash);
        let tag = Tag::new(encrypt, tag_len, 4..=16)?;
        let mut gcm = Self { aes, hash, first, counter: first, pad: [0; BLOCK], used: BLOCK, aad_len: 0, text_len: 0, tag };
        gcm.step();
        Ok(gcm)
    }

    fn step(&mut self) {
        let count = u32::from_be_bytes([self.counter[12], self.counter[13], self.counter[14], self.counter[15]]);
        self.counter[12..].copy_from_slice(&count.wrapping_add(1).to_be_bytes());
    }

    pub(super) fn aad(&mut self, data: &[u8]) -> Result<(), Fault> {
        if self.text_len > 0 {
            return Err(Fault::State);
        }
        self.hash.absorb(data);
        self.aad_len += data.len() as u64;
        Ok(())
    }

    pub(super) fn update(&mut self, input: &[u8], out: &mut Vec<u8>) {
        if self.text_len == 0 {
            self.hash.fill_block();
        }
        self.text_len += input.len() as u64;
        if !self.tag.encrypt {
            self.hash.absorb(input);
        }
        let start = out.len();
        out.extend_from_slice(input);
        self.apply(&mut out[start..]);
        if self.tag.encrypt {
            self.hash.absorb(&out[start..]);
        }
    }

    fn apply(&mut self, mut data: &mut [u8]) {
        while !data.is_empty() {
            if self.used == BLOCK && data.len() >= BLOCK {
                let count = (data.len() / BLOCK).min(BATCH);
                let mut pads = [[0; BLOCK]; BATCH];
                for pad in &mut pads[..count] {
                    *pad = self.counter;
                    self.step();
                }
                self.aes.encrypt(&mut pads[..count]);
                let (now, rest) = data.split_at_mut(count * BLOCK);
                now.iter_mut().zip(pads.as_flattened()).for_each(|(byte, pad)| *byte ^= pad);
                data = rest;
                continue;
            }
            if self.used == BLOCK {
                self.pad = self.aes.encrypt_one(self.counter);
                self.step();
                self.used = 0;
            }
            data[0] ^= self.pad[self.used];
            self.used += 1;
            data = &mut data[1..];
        }
    }

    pub(super) fn finish(&mut self) -> Result<(), Fault> {
        self.hash.fill_block();
        let mut lengths = [0; BLOCK];
        lengths[..8].copy_from_slice(&(self.aad_len * 8).to_be_bytes());
        lengths[8..].copy_from_slice(&(self.text_len * 8).to_be_bytes());
        self.hash.absorb(&lengths);
        let mut tag = self.aes.encrypt_one(self.first);
        tag.iter_mut().zip(self.hash.result()).for_each(|(byte, hash)| *byte ^= hash);
        self.tag.settle(&tag)
    }
}

/// A hash over blocks, which accepts pieces of any length.
#[derive(Clone)]
pub(super) struct Absorber<H> {
    hash: H,
    block: Block,
    used: usize,
}

impl<H: UniversalHash<BlockSize = ghash::universal_hash::consts::U16> + Clone> Absorber<H> {
    pub(super) fn new(hash: H) -> Self {
        Self { hash, block: [0; BLOCK], used: 0 }
    }

    pub(super) fn absorb(&mut self, mut data: &[u8]) {
        if self.used > 0 {
            let count = data.len().min(BLOCK - self.used);
            self.block[self.used..self.used + count].copy_from_slice(&data[..count]);
            self.used += count;
            data = &data[count..];
            if self.used < BLOCK {
                return;
            }
            self.fill_block();
        }
        let whole = data.len() / BLOCK * BLOCK;
        self.hash.update_padded(&data[..whole]);
        let rest = &data[whole..];
        self.block[..rest.len()].copy_from_slice(rest);
        self.used = rest.len();
    }

    /// Fills an unfinished block with zeros and hashes the block.
    pub(super) fn fill_block(&mut self) {
        if self.used > 0 {
            self.block[self.used..].fill(0);
            self.hash.update(&[self.block.into()]);
            self.used = 0;
        }
    }

    pub(super) fn result(&self) -> Block {
        self.hash.clone().finalize().into()
    }
}
