//! The fuzz target `crypto`: the commands that a guest requests.
//!
//! The first byte of an input chooses the command, and the rest is the request. A key that a
//! command returns can be read again and has the same encoding. The watch stops a computation after
//! a few steps, so that every input is fast.

use crate::fields::{Fields, Reply};
use crate::{Command, Fault, Watch, run};

/// The steps of a computation. A step of the longest computations takes a third of a second.
const STEPS: u32 = 6;
const MEMORY: usize = 1 << 20;
/// The numbers of the encodings of keys.
const PKCS1: i64 = 0;
const PKCS8: i64 = 1;
const SPKI: i64 = 2;
const SEC1: i64 = 3;
/// The longest request in bytes.
const MOST: usize = 4_096;

struct Few(u32);

impl Watch for Few {
    fn step(&mut self) -> Result<(), Fault> {
        self.0 = self.0.checked_sub(1).ok_or(Fault::Stopped)?;
        Ok(())
    }

    fn memory(&self) -> usize {
        MEMORY
    }
}

fn answer(command: Command, request: &[u8]) -> Result<Vec<u8>, Fault> {
    run(command, request, &mut Few(STEPS))
}

/// Checks that a returned key can be read again.
fn check_key(reply: &[u8]) -> Result<(), Fault> {
    let fields = &mut Fields::new(reply);
    let (kind, is_private, held) = (fields.number::<i64>()?, fields.number::<i64>()?, fields.bytes()?);
    let row = || Reply::default().bytes(held)?.number(is_private).map(Reply::done);
    let parts = answer(Command::KeyParts, &row()?);
    assert!(parts.is_ok(), "the parts of a key of kind {kind}: {parts:?}");
    if is_private != 0 {
        let public = answer(Command::KeyPublic, &Reply::default().bytes(held)?.done());
        assert!(public.is_ok(), "the public key of a key of kind {kind}: {public:?}");
    }
    for encoding in [PKCS1, PKCS8, SPKI, SEC1] {
        let exported = Reply::default().bytes(held)?.number(is_private)?.number(encoding)?.number(0)?.done();
        let Ok(der) = answer(Command::KeyExport, &exported) else { continue };
        let wanted = i64::from(is_private != 0 && encoding != SPKI);
        let imported = Reply::default().number(wanted)?.number(0)?.number(encoding)?.bytes(&der)?;
        let again = answer(Command::KeyImport, &imported.done());
        assert!(again.is_ok(), "an exported key of kind {kind} in encoding {encoding}: {again:?}");
    }
    Ok(())
}

/// Runs one command.
///
/// # Panics
/// Panics if a returned key cannot be read again.
pub fn requests(data: &[u8]) {
    let Some((number, request)) = data.split_first() else { return };
    let request = &request[..request.len().min(MOST)];
    let Some(command) = Command::of(1 + i64::from(*number) % 23) else { return };
    let Ok(reply) = answer(command, request) else { return };
    if matches!(command, Command::KeyImport | Command::KeyOpen | Command::KeyPublic | Command::KeyBuild | Command::KeyGenerate) {
        let checked = check_key(&reply);
        assert!(checked.is_ok(), "the reply of {command:?}: {checked:?}");
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn kept_requests_cause_no_panic() {
        coldframe_testing::run_kept_inputs("crypto", super::requests);
    }
}
