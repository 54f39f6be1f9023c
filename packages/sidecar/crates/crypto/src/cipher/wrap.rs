//! AES key wrap (RFC 3394).
//!
//! The mode wraps a key of whole half-blocks in one piece. The wrapped key is eight bytes longer.

use super::block::{Aes, BLOCK, Block};
use crate::Fault;

const HALF: usize = BLOCK / 2;
/// The longest key in bytes. Wrapping makes six passes over the key, which no watch can stop.
const MAX_LEN: usize = 64 << 10;

#[derive(Clone)]
pub(super) struct Wrap {
    aes: Aes,
    encrypt: bool,
    check: [u8; HALF],
    updated: bool,
}

impl Wrap {
    pub(super) fn new(aes: Aes, encrypt: bool, iv: &[u8]) -> Result<Self, Fault> {
        Ok(Self { aes, encrypt, check: iv.try_into().map_err(|_| Fault::IvLength)?, updated: false })
    }

    pub(super) fn update(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        if std::mem::replace(&mut self.updated, true) {
            return Err(Fault::State);
        }
        let least = if self.encrypt { 2 * HALF } else { 3 * HALF };
        if !input.len().is_multiple_of(HALF) || !(least..=MAX_LEN).contains(&input.len()) {
            return Err(Fault::Length);
        }
        if self.encrypt {
            self.wrap(input, out);
            return Ok(());
        }
        self.unwrap(input, out)
    }

    fn wrap(&self, input: &[u8], out: &mut Vec<u8>) {
        let mut halves: Vec<[u8; HALF]> = input.as_chunks::<HALF>().0.to_vec();
        let mut a = self.check;
        let mut count = 0_u64;
        for _ in 0..6 {
            for half in &mut halves {
                count += 1;
                let block = self.aes.encrypt_one(join(a, *half));
                (a, *half) = split(block);
                a = (u64::from_be_bytes(a) ^ count).to_be_bytes();
            }
        }
        out.extend_from_slice(&a);
        out.extend_from_slice(halves.as_flattened());
    }

    fn unwrap(&self, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let (halves, _) = input.as_chunks::<HALF>();
        let Some((first, rest)) = halves.split_first() else { return Err(Fault::Length) };
        let (mut a, mut halves) = (*first, rest.to_vec());
        let mut count = 6 * halves.len() as u64;
        for _ in 0..6 {
            for half in halves.iter_mut().rev() {
                a = (u64::from_be_bytes(a) ^ count).to_be_bytes();
                count -= 1;
                let mut block = [join(a, *half)];
                self.aes.decrypt(&mut block);
                (a, *half) = split(block[0]);
            }
        }
        if u64::from_be_bytes(a) ^ u64::from_be_bytes(self.check) != 0 {
            return Err(Fault::Unauthenticated);
        }
        out.extend_from_slice(halves.as_flattened());
        Ok(())
    }
}

fn join(a: [u8; HALF], b: [u8; HALF]) -> Block {
    let mut block = [0; BLOCK];
    block[..HALF].copy_from_slice(&a);
    block[HALF..].copy_from_slice(&b);
    block
}

fn split(block: Block) -> ([u8; HALF], [u8; HALF]) {
    let (mut a, mut b) = ([0; HALF], [0; HALF]);
    a.copy_from_slice(&block[..HALF]);
    b.copy_from_slice(&block[HALF..]);
    (a, b)
}
