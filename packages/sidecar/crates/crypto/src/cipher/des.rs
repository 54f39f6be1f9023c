//! Triple DES in the mode CBC, for keys and PKCS #12 files that are encrypted with it. Programs
//! cannot choose this cipher.

use crate::Fault;
use des::cipher::{Array, BlockCipherDecrypt, KeyInit};
use des::{TdesEde2, TdesEde3};

const BLOCK: usize = 8;

/// Decrypts a message and removes its padding. The key has 16 or 24 bytes.
///
/// # Errors
/// Returns a fault of a wrong length, or `BadDecrypt` for wrong padding.
pub(crate) fn decrypt(key: &[u8], iv: &[u8], text: &[u8]) -> Result<Vec<u8>, Fault> {
    match key.len() {
        16 => cbc(&TdesEde2::new_from_slice(key).map_err(|_| Fault::KeyLength)?, iv, text),
        24 => cbc(&TdesEde3::new_from_slice(key).map_err(|_| Fault::KeyLength)?, iv, text),
        _ => Err(Fault::KeyLength),
    }
}

fn cbc(cipher: &impl BlockCipherDecrypt<BlockSize = des::cipher::consts::U8>, iv: &[u8], text: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut chain: [u8; BLOCK] = iv.try_into().map_err(|_| Fault::IvLength)?;
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    if !rest.is_empty() || blocks.is_empty() {
        return Err(Fault::WrongFinalBlockLength);
    }
    let mut out = Vec::with_capacity(text.len());
    for block in blocks {
        let mut plain = Array(*block);
        cipher.decrypt_block(&mut plain);
        out.extend(plain.iter().zip(chain).map(|(byte, before)| byte ^ before));
        chain = *block;
    }
    let pad = out.last().map_or(0, |last| usize::from(*last));
    let padding = out.len().checked_sub(pad).and_then(|from| out.get(from..)).unwrap_or_default();
    if !(1..=BLOCK).contains(&pad) || padding.iter().any(|byte| usize::from(*byte) != pad) {
        return Err(Fault::BadDecrypt);
    }
    out.truncate(out.len() - pad);
    Ok(out)
}
