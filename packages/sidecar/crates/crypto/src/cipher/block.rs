//! AES and its modes without authentication: ECB and CBC with padding, and the stream modes.

use super::Mode;
use crate::Fault;
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};

pub(super) const BLOCK: usize = 16;
pub(super) type Block = [u8; BLOCK];
/// The number of blocks in one call of the AES crate, which processes several blocks in parallel.
const BATCH: usize = 64;

/// AES with a key of one of its three lengths.
#[derive(Clone)]
pub(crate) enum Aes {
    Short(Aes128),
    Middle(Aes192),
    Long(Aes256),
}

impl Aes {
    pub(crate) fn new(key: &[u8]) -> Result<Self, Fault> {
        match key.len() {
            16 => Aes128::new_from_slice(key).map(Self::Short),
            24 => Aes192::new_from_slice(key).map(Self::Middle),
            32 => Aes256::new_from_slice(key).map(Self::Long),
            _ => return Err(Fault::KeyLength),
        }
        .map_err(|_| Fault::KeyLength)
    }

    pub(crate) fn encrypt(&self, blocks: &mut [Block]) {
        let blocks = Array::cast_slice_from_core_mut(blocks);
        match self {
            Self::Short(aes) => aes.encrypt_blocks(blocks),
            Self::Middle(aes) => aes.encrypt_blocks(blocks),
            Self::Long(aes) => aes.encrypt_blocks(blocks),
        }
    }

    pub(crate) fn decrypt(&self, blocks: &mut [Block]) {
        let blocks = Array::cast_slice_from_core_mut(blocks);
        match self {
            Self::Short(aes) => aes.decrypt_blocks(blocks),
            Self::Middle(aes) => aes.decrypt_blocks(blocks),
            Self::Long(aes) => aes.decrypt_blocks(blocks),
        }
    }

    pub(super) fn encrypt_one(&self, block: Block) -> Block {
        let mut blocks = [block];
        self.encrypt(&mut blocks);
        blocks[0]
    }
}

/// A message in the mode ECB or CBC.
#[derive(Clone)]
pub(super) struct Padded {
    aes: Aes,
    encrypt: bool,
    chain: Option<Block>,
    /// Input that is not a whole block yet. When decrypting, also the last whole block, which may
    /// be padding. An array, so that a message keeps no memory of its pieces.
    held: Block,
    /// The number of used bytes of `held`.
    held_len: usize,
    pub(super) padding: bool,
}

impl Padded {
    pub(super) fn new(aes: Aes, encrypt: bool, chained: bool, iv: &[u8]) -> Result<Self, Fault> {
        let chain = if chained { Some(iv.try_into().map_err(|_| Fault::IvLength)?) } else { None };
        if !chained && !iv.is_empty() {
            return Err(Fault::IvLength);
        }
        Ok(Self { aes, encrypt, chain, held: [0; BLOCK], held_len: 0, padding: true })
    }

    pub(super) fn update(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let len = self.held_len + input.len();
        let mut ready = len / BLOCK;
        if !self.encrypt && self.padding && len.is_multiple_of(BLOCK) {
            ready = ready.saturating_sub(1);
        }
        if ready == 0 {
            self.held[self.held_len..len].copy_from_slice(input);
            self.held_len = len;
            return;
        }
        let start = out.len();
        let (now, later) = input.split_at(ready * BLOCK - self.held_len);
        out.extend_from_slice(&self.held[..self.held_len]);
        out.extend_from_slice(now);
        self.held[..later.len()].copy_from_slice(later);
        self.held_len = later.len();
        let (blocks, _) = out[start..].as_chunks_mut::<BLOCK>();
        blocks.chunks_mut(BATCH).for_each(|batch| self.convert(batch));
    }

    fn convert(&mut self, blocks: &mut [Block]) {
        match (&mut self.chain, self.encrypt) {
            (None, true) => self.aes.encrypt(blocks),
            (None, false) => self.aes.decrypt(blocks),
            (Some(chain), true) => {
                for block in blocks {
                    xor(block, chain);
                    *block = self.aes.encrypt_one(*block);
                    *chain = *block;
                }
            }
            (Some(chain), false) => {
                let cipher: Vec<Block> = blocks.to_vec();
                self.aes.decrypt(blocks);
                for (block, cipher) in blocks.iter_mut().zip(cipher) {
                    xor(block, chain);
                    *chain = cipher;
                }
            }
        }
    }

    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        if !self.padding {
            return if self.held_len == 0 { Ok(()) } else { Err(Fault::WrongFinalBlockLength) };
        }
        if self.encrypt {
            let pad = BLOCK - self.held_len % BLOCK;
            self.update(&[pad as u8; BLOCK][..pad], out);
            return Ok(());
        }
        if self.held_len != BLOCK {
            return Err(Fault::WrongFinalBlockLength);
        }
        let mut last: [Block; 1] = [self.held];
        self.convert(&mut last);
        let [last] = last;
        let pad = usize::from(last[BLOCK - 1]);
        let wrong = (0..BLOCK).fold(0, |wrong, at| {
            let is_padding = BLOCK - at <= pad;
            wrong | if is_padding { last[at] ^ last[BLOCK - 1] } else { 0 }
        });
        if wrong != 0 || !(1..=BLOCK).contains(&pad) {
            return Err(Fault::BadDecrypt);
        }
        out.extend_from_slice(&last[..BLOCK - pad]);
        Ok(())
    }
}

/// A message in a stream mode: CTR, OFB, CFB or CFB8.
#[derive(Clone)]
pub(super) struct Stream {
    mode: Mode,
    aes: Aes,
    encrypt: bool,
    register: Block,
    /// The key stream of the present block.
    pad: Block,
    /// The number of used bytes of `pad`.
    used: usize,
}

impl Stream {
    pub(super) fn new(mode: Mode, aes: Aes, encrypt: bool, iv: &[u8]) -> Result<Self, Fault> {
        let register = iv.try_into().map_err(|_| Fault::IvLength)?;
        Ok(Self { mode, aes, encrypt, register, pad: [0; BLOCK], used: BLOCK })
    }

    pub(super) fn update(&mut self, input: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(input);
        let data = &mut out[start..];
        match self.mode {
            Mode::Ctr => self.counter(data),
            Mode::Cfb8 => self.feedback_of_bytes(data),
            _ => self.feedback(data),
        }
    }

    fn counter(&mut self, mut data: &mut [u8]) {
        while !data.is_empty() {
            if self.used == BLOCK && data.len() >= BLOCK {
                let count = (data.len() / BLOCK).min(BATCH);
                let mut pads = [[0; BLOCK]; BATCH];
                for pad in &mut pads[..count] {
                    *pad = self.register;
                    self.step_counter();
                }
                self.aes.encrypt(&mut pads[..count]);
                let (now, rest) = data.split_at_mut(count * BLOCK);
                now.iter_mut().zip(pads.as_flattened()).for_each(|(byte, pad)| *byte ^= pad);
                data = rest;
                continue;
            }
            if self.used == BLOCK {
                self.pad = self.aes.encrypt_one(self.register);
                self.step_counter();
                self.used = 0;
            }
            data[0] ^= self.pad[self.used];
            self.used += 1;
            data = &mut data[1..];
        }
    }

    fn step_counter(&mut self) {
        self.register = u128::from_be_bytes(self.register).wrapping_add(1).to_be_bytes();
    }

    fn feedback(&mut self, data: &mut [u8]) {
        for byte in data {
            if self.used == BLOCK {
                self.pad = self.aes.encrypt_one(self.register);
                self.register = self.pad;
                self.used = 0;
            }
            let before = *byte;
            *byte ^= self.pad[self.used];
            if self.mode == Mode::Cfb {
                self.register[self.used] = if self.encrypt { *byte } else { before };
            }
            self.used += 1;
        }
    }

    fn feedback_of_bytes(&mut self, data: &mut [u8]) {
        for byte in data {
            let before = *byte;
            *byte ^= self.aes.encrypt_one(self.register)[0];
            self.register.rotate_left(1);
            self.register[BLOCK - 1] = if self.encrypt { *byte } else { before };
        }
    }
}

pub(super) fn xor(block: &mut Block, other: &Block) {
    block.iter_mut().zip(other).for_each(|(byte, other)| *byte ^= other);
}
