//! Writes snapshots to files, and reads snapshots from files.
//!
//! The digest of every part is checked before the part is used. The file is mapped, and restores
//! share its pages. A copy of a file is checked while the bytes are copied, so an export and an
//! import read the bytes once. Next: `format.rs`, the layout of the bytes; `folder.rs`, the files
//! on disk.

use super::SnapshotInfo;
use super::format::{FIXED, Head, MemoryEntry, head_len, padded};
use super::storable::Storable;
use crate::installation::Installation;
use crate::snapshot::StoredMemory;
use coldframe_error::Error;
use coldframe_ids::Digest;
use coldframe_memory::Piece;
use coldframe_vm::{CopyError, HashedCopy, LaidOut, Pages, VmSnapshot};
use sha2::{Digest as _, Sha256};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

const WRONG_STATE: &str = "its state is not what was written";
const WRONG_MEMORY: &str = "a memory is not the one that its head names";

/// The content of a file to be written.
pub(super) struct Content {
    head: Head,
    state: Vec<u8>,
    memories: Vec<LaidOut>,
}

impl Content {
    /// Lays out a whole snapshot for a file, and hashes its parts.
    pub(super) fn of<S: Storable>(installation: &Installation, snapshot: &S) -> Result<Self, Error> {
        let state = snapshot.state_bytes()?;
        let mut memories = Vec::new();
        let mut entries = Vec::new();
        for StoredMemory { pid, image, snapshot } in snapshot.memories() {
            let laid = snapshot.lay_out(&*installation.factory(image)?, None, Vec::new())?;
            entries.push(MemoryEntry { pid, image, len: laid.len(), name: laid.name });
            memories.push(laid);
        }
        let head = Head {
            info: snapshot.info().clone(),
            state_len: state.len() as u64,
            state: Digest::new(Sha256::digest(&state).into()),
            memories: entries,
        };
        Ok(Self { head, state, memories })
    }

    pub(super) fn head(&self) -> &Head {
        &self.head
    }

    /// Removes the tenant from the head, for an exported file.
    pub(super) fn without_tenant(mut self) -> Self {
        self.head.info.tenant.clear();
        self
    }

    /// Returns the length of the file without its head.
    pub(super) fn body_len(&self) -> u64 {
        body_len(&self.head)
    }

    /// Writes the body, which follows the head.
    pub(super) fn write_body(&self, file: &mut File) -> io::Result<()> {
        file.write_all(&self.state)?;
        let padding = padded(self.state.len() as u64) - self.state.len() as u64;
        io::copy(&mut io::repeat(0).take(padding), file)?;
        for memory in &self.memories {
            file.write_all(&memory.head)?;
            memory.pages().try_for_each(|pages| file.write_all(pages))?;
        }
        Ok(())
    }
}

/// Returns the length of the body that follows a head.
pub(super) fn body_len(head: &Head) -> u64 {
    padded(head.state_len) + head.memories.iter().map(|memory| memory.len).sum::<u64>()
}

/// The proof that [`Source::copy`] has checked the bytes of a file.
pub(super) struct Checked(());

/// A file whose head has been read and checked.
pub(super) struct Source {
    pub(super) file: File,
    pub(super) meta: Metadata,
    pub(super) head: Head,
    body_at: u64,
}

impl Source {
    /// Opens `path`, which must be an ordinary file, and reads its head.
    fn open_with(path: &Path, flags: i32) -> Result<Self, Error> {
        // With O_NONBLOCK, opening a pipe does not wait for a writer. The pipe is refused
        // afterwards.
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | flags).open(path);
        Self::of(file.map_err(|error| Error::snapshot_file(path, &error))?, path)
    }

    /// Reads the head of `file`, which must be an ordinary file. Errors name `path`.
    pub(super) fn of(mut file: File, path: &Path) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::snapshot_file(path, &error);
        let damaged = |reason: &str| Error::SnapshotDamaged { path: path.display().to_string(), reason: reason.to_owned() };
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Err(damaged("it is not a file"));
        }
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(FIXED as u64).read_to_end(&mut bytes).map_err(failed)?;
        let body_at = head_len(&bytes).map_err(|refusal| refusal.of(path))?;
        Read::by_ref(&mut file).take((body_at - bytes.len()) as u64).read_to_end(&mut bytes).map_err(failed)?;
        let head = Head::decode(&bytes, meta.len()).map_err(|refusal| refusal.of(path))?;
        Ok(Self { file, meta, head, body_at: body_at as u64 })
    }

    /// Opens a file of the store's folder. Checks that the file belongs to `tenant`, and that no
    /// other user could have written it.
    pub(super) fn open_own(path: &Path, tenant: &str, id: &str) -> Result<Self, Error> {
        let found = Self::open_with(path, libc::O_NOFOLLOW)?;
        let damaged = |reason: &str| Error::SnapshotDamaged { path: path.display().to_string(), reason: reason.to_owned() };
        if found.meta.uid() != rustix::process::geteuid().as_raw() {
            return Err(damaged("it belongs to another user"));
        }
        if found.meta.mode() & 0o022 != 0 {
            return Err(damaged("others may write to it"));
        }
        if found.head.info.tenant != tenant || found.head.info.id != id {
            return Err(damaged("it is not what its name says"));
        }
        Ok(found)
    }

    /// Checks that the snapshot was taken with the installation's image.
    pub(super) fn check_image(&self, installation: &Installation) -> Result<(), Error> {
        let (needed, found) = (&self.head.info.image, installation.image_id());
        if needed != found {
            return Err(Error::SnapshotForeign { what: "the image", needed: needed.clone(), found: found.to_owned() });
        }
        Ok(())
    }

    /// Checks the whole file and makes the snapshot. Errors name `path`.
    pub(super) fn assemble<S: Storable>(self, installation: &Installation, path: &Path) -> Result<Arc<S>, Error> {
        self.assembled(installation, path, Pages::Unchecked)
    }

    /// Makes the snapshot like [`Source::assemble`], without another hash. The file is the copy
    /// that returned `Checked`, and no other process changes the copy.
    pub(super) fn assemble_copy<S: Storable>(
        self,
        installation: &Installation,
        path: &Path,
        _: Checked,
    ) -> Result<Arc<S>, Error> {
        self.assembled(installation, path, Pages::Checked)
    }

    fn assembled<S: Storable>(self, installation: &Installation, path: &Path, pages: Pages) -> Result<Arc<S>, Error> {
        self.check_image(installation)?;
        let damaged = |reason: &str| Error::SnapshotDamaged { path: path.display().to_string(), reason: reason.to_owned() };
        let Self { file, meta, head, body_at } = self;
        let budget = installation.node().image().budget().clone();
        let piece = Piece::new(file, meta.len(), &budget)?;
        // A failure for lack of address space must not mark the file as damaged, because a later
        // attempt may succeed.
        piece.make_readable()?;
        let state_len = usize::try_from(head.state_len).map_err(|_| damaged("its state is too long"))?;
        let all = piece.bytes(body_at, padded(head.state_len) as usize).ok_or_else(|| damaged("it cannot be mapped"))?;
        let (state, padding) = all.split_at(state_len);
        let is_written = || Sha256::digest(state)[..] == *head.state.as_bytes() && padding.iter().all(|byte| *byte == 0);
        if pages == Pages::Unchecked && !is_written() {
            return Err(damaged(WRONG_STATE));
        }
        let mut at = body_at + all.len() as u64;
        let mut memories = Vec::with_capacity(head.memories.len());
        for MemoryEntry { pid, image, len, name } in head.memories {
            let opened = VmSnapshot::read(&*installation.factory(image)?, &piece, (at, len), pages, path)?;
            if opened.name != name {
                return Err(damaged(WRONG_MEMORY));
            }
            memories.push(StoredMemory { pid, image, snapshot: opened.snapshot });
            at += len;
        }
        S::assemble(installation, head.info, state, memories).map_err(|error| match error {
            // The state's error has no path.
            Error::SnapshotDamaged { reason, .. } => Error::SnapshotDamaged { path: path.display().to_string(), reason },
            error => error,
        })
    }

    /// Writes `head` and then the body of this file to `file`. Checks every byte of the body, and
    /// that the snapshot was taken with the installation's image. Errors name the paths of both
    /// files.
    pub(super) fn copy(
        mut self,
        head: &[u8],
        installation: &Installation,
        (file, to): (&mut File, &Path),
        from: &Path,
    ) -> Result<Checked, Error> {
        self.check_image(installation)?;
        file.write_all(head).map_err(|error| Error::snapshot_file(to, &error))?;
        self.file.seek(SeekFrom::Start(self.body_at)).map_err(|error| Error::snapshot_file(from, &error))?;
        let failed = |error: CopyError| error.of(from, to);
        let damaged = |reason: &str| Err(failed(CopyError::Refused(reason.into())));
        let mut copy = HashedCopy::new(&mut self.file, file);
        let state = copy.bytes(self.head.state_len).map_err(failed)?;
        let has_zeros = copy.zeros(padded(self.head.state_len) - self.head.state_len).map_err(failed)?;
        if state != self.head.state || !has_zeros {
            return damaged(WRONG_STATE);
        }
        for memory in &self.head.memories {
            let factory = installation.factory(memory.image)?;
            if VmSnapshot::copy(&factory, &mut copy, memory.len).map_err(failed)? != memory.name {
                return damaged(WRONG_MEMORY);
            }
        }
        Ok(Checked(()))
    }
}

/// Returns the head of a file as bytes.
pub(super) fn encoded(head: &Head) -> Result<Vec<u8>, Error> {
    head.encode().map_err(|reason| Error::Snapshot { reason })
}

/// Returns the encoded head with `info` in place of its facts. The rest of the head stays
/// unchanged.
pub(super) fn with_info(head: &Head, info: SnapshotInfo) -> Result<Vec<u8>, Error> {
    encoded(&Head { info, ..head.clone() })
}
