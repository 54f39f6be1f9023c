//! Unpacks an archive whose bytes arrive in pieces. An entry is in the tree as soon as all bytes of
//! the entry have arrived.
//!
//! The modes and times of directories are set at the end. An error ends the import. Earlier entries
//! stay in the tree, and the incomplete file is removed. Next: `reader.rs`.

use super::super::user::{Owner, User};
use super::super::view::View;
use super::Refusal;
use super::reader::{Failed, Reader};
use super::unpack::{Progress, Unpacker};

/// The owners of unpacked files.
#[derive(Debug, Clone, Copy)]
pub(in crate::fs) struct Owners {
    /// The owner of all files, unless the archive's owners are kept.
    pub(in crate::fs) all: Owner,
    /// Whether each file has the owner in the archive.
    pub(in crate::fs) kept: bool,
}

impl Owners {
    /// Returns the embedder's access with which new files belong to `all`.
    fn view<'k>(self, view: &View<'k>) -> View<'k> {
        View { files: view.files, user: User::Embedder(self.all), cwd: None, umask: view.umask, permissions: view.permissions }
    }

    fn unpacker<'u>(self, view: &'u View<'u>, base: &'u [u8], progress: &'u mut Progress) -> Unpacker<'u> {
        Unpacker { view, base, keeps_owners: self.kept, progress }
    }
}

/// An archive that is unpacked piece by piece.
pub struct Import {
    base: Vec<u8>,
    owners: Owners,
    reader: Reader,
    progress: Progress,
    /// Whether the import has ended and refuses further bytes.
    stopped: bool,
}

impl Import {
    /// Creates an import into `base`, the absolute path of a directory. No name of the path may be
    /// a link.
    pub(in crate::fs) fn new(base: &[u8], owners: Owners) -> Self {
        let base = base.strip_suffix(b"/").unwrap_or(base).to_vec();
        Self { base, owners, reader: Reader::default(), progress: Progress::default(), stopped: false }
    }

    /// Unpacks the next bytes of the archive. Every call after an error fails.
    pub(in crate::fs) fn push(&mut self, view: &View<'_>, bytes: &[u8]) -> Result<(), Failed> {
        if self.stopped {
            return Err(Failed::Archive(Refusal::new(b"", "an earlier error has ended the import")));
        }
        let view = &self.owners.view(view);
        let mut unpacker = self.owners.unpacker(view, &self.base, &mut self.progress);
        let pushed = self.reader.push(bytes, &mut unpacker);
        if pushed.is_err() {
            unpacker.give_up();
            self.stopped = true;
        }
        pushed
    }

    /// Ends the import and sets the modes and times of directories. Fails if the archive is
    /// incomplete. Has no effect after an error or an earlier end.
    pub(in crate::fs) fn finish(&mut self, view: &View<'_>) -> Result<(), Failed> {
        if self.stopped {
            return Ok(());
        }
        self.stopped = true;
        let view = &self.owners.view(view);
        let mut unpacker = self.owners.unpacker(view, &self.base, &mut self.progress);
        if self.reader.is_complete() {
            return unpacker.finish();
        }
        unpacker.give_up();
        Err(Failed::Archive(Refusal::new(b"", "the archive ends too early: it was cut off, or has no end mark")))
    }

    /// Abandons the import and removes the incomplete file.
    pub(in crate::fs) fn give_up(&mut self, view: &View<'_>) {
        self.owners.unpacker(view, &self.base, &mut self.progress).give_up();
    }
}
