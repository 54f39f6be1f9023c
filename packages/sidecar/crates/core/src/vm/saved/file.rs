//! A saved VM as a file: written aside, synced and renamed, so that a name always stands for a whole file; every byte is checked when it is read.
//!
//! The file is mapped like an image: what is restored from it reads the disk's pages as it touches them, and restores share them. Whoever
//! may change the file may change the programs in it, as with any file that a program maps; the folder must be the user's own. Next: `format.rs`.

use super::Saved;
use super::format::{Digest, FIXED, Head, Part, Refusal, head_len, processor};
use crate::error::Error;
use crate::image::{Extent, Image, Piece, overlay};
use crate::vm::Factory;
use sha2::{Digest as _, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Clean slots that an image from a file keeps.
const WARM_SLOTS: usize = 4;

/// What a file held besides the VM.
#[cfg_attr(not(test), expect(dead_code, reason = "the snapshots of runtimes will call it"))]
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) saved: Arc<Saved>,
    /// The snapshot's name.
    pub(crate) name: Digest,
    pub(crate) parent: Option<Digest>,
    /// What its owner added.
    pub(crate) added: Vec<u8>,
    /// Bytes on disk.
    pub(crate) bytes: u64,
}

fn sha256(bytes: &[u8]) -> Digest {
    Sha256::digest(bytes).into()
}

#[cfg_attr(not(test), expect(dead_code, reason = "the snapshots of runtimes will call it"))]
impl Saved {
    /// Writes it to `path`, in place of what is there; returns its name. `added` is the owner's: what it keeps for the VM.
    pub(crate) fn write(&self, factory: &Factory, path: &Path, parent: Option<Digest>, added: Vec<u8>) -> Result<Digest, Error> {
        let unreadable = || Error::ResourceExhausted { resource: "memory mappings", limit: crate::sys::max_mappings() };
        let extents = self.memory.own_extents(&factory.image);
        let mut parts = Vec::with_capacity(extents.len());
        let mut pages = Vec::with_capacity(extents.len());
        for extent in &extents {
            let bytes = extent.piece.bytes(extent.offset, extent.len).ok_or_else(unreadable)?;
            parts.push(Part { at: extent.at as u64, len: extent.len as u64, digest: sha256(bytes) });
            pages.push(bytes);
        }
        let head = Head {
            image: self.memory.header().hash,
            parent,
            memory_len: self.memory.len() as u64,
            monotonic_ns: self.monotonic_ns,
            wall_ns: self.wall_ns,
            processor: processor(),
            parts,
            added,
        };
        let failed = |reason: String| Error::SnapshotFile { path: path.display().to_string(), reason };
        let (bytes, name) = head.encode(sha256).map_err(failed)?;
        replace(path, &bytes, &pages).map_err(|error| failed(error.to_string()))?;
        Ok(name)
    }

    /// Reads what [`Saved::write`] wrote, and checks it.
    pub(crate) fn open(factory: &Factory, path: &Path) -> Result<Opened, Error> {
        let text = || path.display().to_string();
        let failed = |error: io::Error| Error::SnapshotFile { path: text(), reason: error.to_string() };
        let refused = |refusal: Refusal| match refusal {
            Refusal::Damaged(reason) => Error::SnapshotDamaged { path: text(), reason },
            Refusal::Foreign { what, needed, found } => Error::SnapshotForeign { what, needed, found },
        };
        let damaged = |reason: &str| refused(reason.into());
        let mut file = File::open(path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Err(damaged("it is not a file"));
        }
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(FIXED as u64).read_to_end(&mut bytes).map_err(failed)?;
        let head_len = head_len(&bytes).map_err(refused)?;
        if head_len as u64 > meta.len() {
            return Err(damaged("it is shorter than its header"));
        }
        Read::by_ref(&mut file).take((head_len - bytes.len()) as u64).read_to_end(&mut bytes).map_err(failed)?;
        let (head, name) = Head::decode(&bytes, meta.len(), sha256).map_err(refused)?;
        drop(bytes);
        check_origin(&head, &factory.image)?;
        if head.memory_len < factory.image.len() as u64 {
            return Err(damaged("its memory is smaller than the image"));
        }
        let piece = Piece::new(file, meta.len(), factory.image.budget())?;
        let mut extents = Vec::with_capacity(head.parts.len());
        let mut offset = head_len as u64;
        for part in &head.parts {
            let extent = Extent { at: part.at as usize, len: part.len as usize, piece: piece.clone(), offset };
            let Some(content) = piece.bytes(offset, extent.len) else { return Err(damaged("it cannot be mapped")) };
            if sha256(content) != part.digest {
                return Err(refused(Refusal::Damaged(format!("its bytes for {} are not what was written", part.at))));
            }
            extents.push(extent);
            offset += part.len;
        }
        let extents = overlay(&factory.image.extents(), &extents);
        let memory = factory.image.saved(extents, head.memory_len as usize, WARM_SLOTS);
        let saved = Self { memory, monotonic_ns: head.monotonic_ns, wall_ns: head.wall_ns };
        Ok(Opened { saved: Arc::new(saved), name, parent: head.parent, added: head.added, bytes: meta.len() })
    }
}

fn check_origin(head: &Head, image: &Image) -> Result<(), Error> {
    let hex = |digest: &Digest| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let image = &image.header().hash;
    if head.image != *image {
        return Err(Error::SnapshotForeign { what: "the image", needed: hex(&head.image), found: hex(image) });
    }
    let found = processor();
    if head.processor != found {
        return Err(Error::SnapshotForeign { what: "a processor with", needed: head.processor.clone(), found });
    }
    Ok(())
}

fn replace(path: &Path, head: &[u8], pages: &[&[u8]]) -> io::Result<()> {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}-{}.part", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed)));
    let aside = folder.join(name);
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&aside)?;
        file.write_all(head)?;
        for bytes in pages {
            file.write_all(bytes)?;
        }
        file.sync_all()?;
        std::fs::rename(&aside, path)?;
        // The name itself must be on disk too.
        File::open(folder)?.sync_all()
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_file(&aside);
    })
}
