//! The system calls that open, feed and finish ciphers. One call encrypts or decrypts at most
//! [`MAX_CHUNK`] bytes. Next: `contexts.rs`, which stores ciphers between calls.

use super::contexts::{Context, Contexts};
use super::{MAX_CHUNK, chunk, refused};
use crate::ids::ContextId;
use crate::{Answer, Arguments};
use coldframe_crypto::{Cipher, Fault, Setup};
use coldframe_error::Errno;

/// The bit of the cipher's number that selects encryption. Without the bit, the cipher decrypts.
const ENCRYPT: i64 = 1 << 16;

pub(super) fn update(contexts: &mut Contexts, arguments: &mut Arguments<'_>) -> Answer {
    let mut out = Vec::with_capacity(MAX_CHUNK + 32);
    let cipher = contexts.get(arguments.id(0)?)?.cipher()?;
    let done = cipher.update(chunk(arguments, 1)?, &mut out);
    answer(done, &out, arguments, 3)
}

/// Ends a cipher and writes the last output. After an authenticated encryption, the tag follows the
/// output.
pub(super) fn finish(contexts: &mut Contexts, arguments: &mut Arguments<'_>) -> Answer {
    let mut out = Vec::new();
    let mut context = contexts.remove(arguments.id(0)?)?;
    let cipher = context.cipher()?;
    let done = cipher.finish(&mut out);
    out.extend_from_slice(cipher.tag().unwrap_or_default());
    answer(done, &out, arguments, 1)
}

/// Sets the additional data, the tag, or the padding of a cipher.
pub(super) fn set(contexts: &mut Contexts, arguments: &Arguments<'_>) -> Answer {
    let cipher = contexts.get(arguments.id(0)?)?.cipher()?;
    let bytes = chunk(arguments, 2)?;
    let done = match arguments.int(1) {
        0 => cipher.set_aad(bytes, None),
        1 => cipher.set_tag(bytes),
        2 => {
            cipher.set_padding(bytes.first().is_some_and(|on| *on != 0));
            Ok(())
        }
        _ => return Err(Errno::EINVAL),
    };
    Ok(done.map_or_else(refused, |()| 0))
}

pub(super) fn open(contexts: &mut Contexts, arguments: &Arguments<'_>) -> Answer {
    let number = arguments.int(0);
    let setup = Setup {
        cipher: u32::try_from(number & !ENCRYPT).map_err(|_| Errno::EINVAL)?,
        encrypt: number & ENCRYPT != 0,
        key: chunk(arguments, 1)?,
        iv: chunk(arguments, 3)?,
        tag_len: arguments.number(5)?,
    };
    match Cipher::new(&setup) {
        // Ciphers that need the whole message at once are jobs (`Command::Cipher`), because one
        // call with a long message would take too long.
        Ok(cipher) if cipher.wants_whole() => Err(Errno::EINVAL),
        Ok(cipher) => contexts.insert(Context::Cipher(Box::new(cipher))).map(ContextId::answer),
        Err(fault) => Ok(refused(fault)),
    }
}

/// Copies the output to the buffer at `index` and returns the length of the output. If the
/// computation failed, returns the fault as a negative number. Fails with `EMSGSIZE` if the buffer
/// is too small.
fn answer(done: Result<(), Fault>, out: &[u8], arguments: &mut Arguments<'_>, index: usize) -> Answer {
    if let Err(fault) = done {
        return Ok(refused(fault));
    }
    if out.len() > arguments.bytes(index)?.len() {
        return Err(Errno::EMSGSIZE);
    }
    arguments.put(index, out)
}
