//! Unpacking: bytes come in pieces, and what is complete is in the tree at once.
//!
//! When something is wrong it stops there: entries before it stay, the file whose data was coming is removed. Next: `reader.rs`.

use super::super::view::View;
use super::Refusal;
use super::reader::{Failed, Reader};
use super::unpack::{Progress, Unpacker};

/// See the module.
pub struct Import {
    base: Vec<u8>,
    reader: Reader,
    progress: Progress,
    /// It has stopped: nothing more is taken.
    stopped: bool,
}

impl Import {
    /// Below `base`: an absolute path of a directory, without links in it.
    pub(in crate::fs) fn new(base: &[u8]) -> Self {
        let base = base.strip_suffix(b"/").unwrap_or(base).to_vec();
        Self { base, reader: Reader::default(), progress: Progress::default(), stopped: false }
    }

    /// Takes more of the archive.
    pub(in crate::fs) fn push(&mut self, view: &View<'_>, bytes: &[u8]) -> Result<(), Failed> {
        if self.stopped {
            return Err(Failed::Archive(Refusal::new(b"", "an error before has ended it")));
        }
        let mut unpacker = Unpacker { view, base: &self.base, progress: &mut self.progress };
        let pushed = self.reader.push(bytes, &mut unpacker);
        if pushed.is_err() {
            unpacker.give_up();
            self.stopped = true;
        }
        pushed
    }

    /// The archive has no more bytes.
    pub(in crate::fs) fn finish(&mut self, view: &View<'_>) -> Result<(), Failed> {
        if self.stopped {
            return Ok(());
        }
        self.stopped = true;
        let mut unpacker = Unpacker { view, base: &self.base, progress: &mut self.progress };
        if self.reader.is_complete() {
            return unpacker.finish();
        }
        unpacker.give_up();
        Err(Failed::Archive(Refusal::new(b"", "it ends too early: it is cut off, or has no end mark")))
    }

    /// Nobody will go on.
    pub(in crate::fs) fn give_up(&mut self, view: &View<'_>) {
        Unpacker { view, base: &self.base, progress: &mut self.progress }.give_up();
    }
}
