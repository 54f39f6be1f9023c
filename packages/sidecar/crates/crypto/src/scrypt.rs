//! scrypt (RFC 7914): derives a key from a password with much time and memory.
//!
//! The computation may mix a gigabyte of memory for seconds, and the caller must be able to stop
//! the loop. The function of the `scrypt` crate cannot be stopped.

use crate::kdf::pbkdf2;
use crate::{Algorithm, Fault, Watch};

/// The parameters of scrypt that determine its time and memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) n: u64,
    pub(crate) r: u64,
    pub(crate) p: u64,
    pub(crate) max_memory: u64,
}

/// The number of bytes that are mixed between two steps of the watch. A round mixes `128 * r`
/// bytes.
const STEP_BYTES: usize = 1 << 20;

impl Cost {
    /// Checks the parameters by OpenSSL's rules, in OpenSSL's order, and returns the bytes needed.
    /// Fails with `Length` for an invalid parameter, and with `Memory` if the cost is too high.
    pub(crate) fn check(self) -> Result<usize, Fault> {
        let Self { n, r, p, max_memory } = self;
        if r == 0 || p == 0 || n < 2 || !n.is_power_of_two() {
            return Err(Fault::Length);
        }
        if p > ((1 << 30) - 1) / r || (16 * r <= 63 && n >= 1_u64 << (16 * r)) {
            return Err(Fault::Memory);
        }
        let blocks = p.checked_mul(128 * r);
        let mixed = n.checked_add(2).and_then(|n| n.checked_mul(128 * r));
        let needed = blocks.zip(mixed).and_then(|(blocks, mixed)| blocks.checked_add(mixed)).ok_or(Fault::Memory)?;
        if needed > max_memory {
            return Err(Fault::Memory);
        }
        usize::try_from(needed).map_err(|_| Fault::Memory)
    }
}

pub(crate) fn scrypt(password: &[u8], salt: &[u8], cost: Cost, len: usize, watch: &mut dyn Watch) -> Result<Vec<u8>, Fault> {
    let needed = cost.check()?;
    if needed.saturating_add(len) > watch.memory() {
        return Err(Fault::Memory);
    }
    let lane = 128 * cost.r as usize;
    let mut blocks = pbkdf2(Algorithm::Sha256, password, salt, 1, lane * cost.p as usize, watch)?;
    let mut mixer = Mixer::new(cost.n as usize, lane / 4);
    for block in blocks.chunks_mut(lane) {
        mixer.mix(block, watch)?;
    }
    drop(mixer);
    pbkdf2(Algorithm::Sha256, password, &blocks, 1, len, watch)
}

/// The memory of one lane: `n` blocks of `words` words.
struct Mixer {
    table: Vec<u32>,
    words: usize,
    x: Vec<u32>,
    y: Vec<u32>,
}

impl Mixer {
    fn new(n: usize, words: usize) -> Self {
        Self { table: vec![0; n * words], words, x: vec![0; words], y: vec![0; words] }
    }

    /// Computes `scryptROMix` of RFC 7914 in place.
    fn mix(&mut self, block: &mut [u8], watch: &mut dyn Watch) -> Result<(), Fault> {
        let Self { table, words, x, y } = self;
        let words = *words;
        let step = (STEP_BYTES / (words * 4)).max(1);
        for (word, bytes) in x.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        for (index, saved) in table.chunks_exact_mut(words).enumerate() {
            if index % step == 0 {
                watch.step()?;
            }
            saved.copy_from_slice(x);
            mix_block(x, y);
        }
        let mask = table.len() / words - 1;
        for index in 0..=mask {
            if index % step == 0 {
                watch.step()?;
            }
            let chosen = (x[words - 16] as usize | (x[words - 15] as usize) << 32) & mask;
            x.iter_mut().zip(&table[chosen * words..]).for_each(|(word, saved)| *word ^= saved);
            mix_block(x, y);
        }
        for (word, bytes) in x.iter().zip(block.as_chunks_mut::<4>().0) {
            *bytes = word.to_le_bytes();
        }
        Ok(())
    }
}

/// Computes `scryptBlockMix` of RFC 7914. Writes the result to `x`. `y` is a buffer for
/// intermediate blocks.
fn mix_block(x: &mut [u32], y: &mut [u32]) {
    let half = x.len() / 2;
    let mut last = [0_u32; 16];
    last.copy_from_slice(&x[x.len() - 16..]);
    for (index, chunk) in x.as_chunks::<16>().0.iter().enumerate() {
        last.iter_mut().zip(chunk).for_each(|(last, word)| *last ^= word);
        salsa20_8(&mut last);
        let place = index / 2 * 16 + if index % 2 == 0 { 0 } else { half };
        y[place..place + 16].copy_from_slice(&last);
    }
    x.copy_from_slice(y);
}

fn salsa20_8(block: &mut [u32; 16]) {
    let mut x = *block;
    let mut quarter = |a: usize, b: usize, c: usize, d: usize| {
        x[b] ^= x[a].wrapping_add(x[d]).rotate_left(7);
        x[c] ^= x[b].wrapping_add(x[a]).rotate_left(9);
        x[d] ^= x[c].wrapping_add(x[b]).rotate_left(13);
        x[a] ^= x[d].wrapping_add(x[c]).rotate_left(18);
    };
    for _ in 0..4 {
        quarter(0, 4, 8, 12);
        quarter(5, 9, 13, 1);
        quarter(10, 14, 2, 6);
        quarter(15, 3, 7, 11);
        quarter(0, 1, 2, 3);
        quarter(5, 6, 7, 4);
        quarter(10, 11, 8, 9);
        quarter(15, 12, 13, 14);
    }
    block.iter_mut().zip(x).for_each(|(word, mixed)| *word = word.wrapping_add(mixed));
}
