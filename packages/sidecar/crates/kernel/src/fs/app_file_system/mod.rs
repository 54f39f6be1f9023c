//! File systems of the caller outside: mounts whose files are wherever its functions say.
//!
//! They stand among the mounts (`host/`), so that paths are resolved in one place, by the same rules and the same permissions. What a mounted folder
//! asks of the host's kernel, these ask of the caller: one question at a time, and the call of the guest is carried out anew with each
//! answer (`exchange.rs`). Answers are suspect: whatever does not fit is `EIO`. Nothing is kept between two calls: what is open is a path.
//! Next: `exchange.rs`, `wire.rs`.

mod exchange;
mod wire;

pub use exchange::{Exchange, FileSystemRequest};

use super::node::Type;
use super::stat::Stat;
use super::tree::GUEST;
use coldframe_error::Errno;
use exchange::ask;
use wire::{Input, Reader};

/// Bytes that one question reads or writes.
const PIECE: usize = 1 << 20;
/// Entries of one directory.
const MAX_ENTRIES: usize = 1 << 20;

/// One such file system.
pub(super) struct App {
    /// The number by which the caller knows it.
    number: u32,
}

impl App {
    pub(super) fn new(number: u32) -> Self {
        Self { number }
    }

    /// By which the caller knows it.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    fn about(&self, path: &[u8]) -> Result<Input, Errno> {
        // The caller's functions take text.
        std::str::from_utf8(path).map_err(|_| Errno::EILSEQ)?;
        Ok(Input::new(self.number).text(&[b"/", path].concat()))
    }

    /// The thing itself, also of a link. `device` is how the guest tells this mount from others.
    pub(super) fn stat(&self, device: u64, path: &[u8]) -> Result<Stat, Errno> {
        // The root is there: whether its file system works is seen by what is in it.
        if path.is_empty() {
            return Ok(Stat { kind: Type::Directory, mode: 0o755, links: 2, size: 4_096, ..nothing(device, 1) });
        }
        let answer = ask("stat", self.about(path)?)?;
        let mut reader = Reader::new(&answer);
        let kind = reader.kind()?;
        let mode = reader.u32()? & 0o7777;
        let size = i64::try_from(reader.u64()?).map_err(|_| Errno::EIO)?.unsigned_abs();
        let times = [reader.i64()?, reader.i64()?, reader.i64()?, reader.i64()?];
        let (ino, links) = (reader.u64()?, reader.u32()?);
        reader.end()?;
        let ino = if ino == 0 { number_of(path) } else { ino };
        let [atime, mtime, ctime, birthtime] = times;
        let blocks = size.div_ceil(512);
        Ok(Stat { kind, mode, size, blocks, links: links.into(), atime, mtime, ctime, birthtime, ..nothing(device, ino) })
    }

    pub(super) fn list(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, Type)>, Errno> {
        let answer = ask("readDir", self.about(path)?)?;
        let mut reader = Reader::new(&answer);
        let mut entries = Vec::new();
        while !reader.is_empty() {
            let (kind, name) = (reader.kind()?, reader.text()?);
            let is_name = !name.is_empty() && name != b"." && name != b".." && !name.iter().any(|byte| b"/\0".contains(byte));
            if !is_name || name.len() > super::node::MAX_NAME || entries.len() >= MAX_ENTRIES {
                return Err(Errno::EIO);
            }
            entries.push((name.to_vec(), kind));
        }
        Ok(entries)
    }

    pub(super) fn read(&self, path: &[u8], offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        let wanted = buffer.len().min(PIECE);
        if wanted == 0 {
            return Ok(0);
        }
        let answer = ask("read", self.about(path)?.u64(offset).u32(wanted as u32))?;
        let place = buffer[..wanted].get_mut(..answer.len()).ok_or(Errno::EIO)?;
        place.copy_from_slice(&answer);
        Ok(answer.len())
    }

    /// How many bytes were written: all of them, or as many as one question takes.
    pub(super) fn write(&self, path: &[u8], offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        let piece = &bytes[..bytes.len().min(PIECE)];
        self.effect("write", self.about(path)?.u64(offset).bytes(piece)).map(|()| piece.len())
    }

    pub(super) fn truncate(&self, path: &[u8], len: u64) -> Result<(), Errno> {
        self.effect("truncate", self.about(path)?.u64(len))
    }

    /// Makes an empty file that is not there yet.
    pub(super) fn create(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        self.effect("create", self.about(path)?.u32(mode & 0o1777))
    }

    pub(super) fn mkdir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        self.effect("mkdir", self.about(path)?.u32(mode & 0o1777))
    }

    /// A file, a link, or a directory that is empty.
    pub(super) fn remove(&self, path: &[u8]) -> Result<(), Errno> {
        self.effect("remove", self.about(path)?)
    }

    pub(super) fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        std::str::from_utf8(to).map_err(|_| Errno::EILSEQ)?;
        self.effect("rename", self.about(from)?.text(&[b"/", to].concat()))
    }

    pub(super) fn symlink(&self, target: &[u8], path: &[u8]) -> Result<(), Errno> {
        std::str::from_utf8(target).map_err(|_| Errno::EILSEQ)?;
        self.effect("symlink", self.about(path)?.text(target))
    }

    pub(super) fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let answer = ask("readlink", self.about(path)?)?;
        let is_target = !answer.is_empty() && answer.len() < 4_096 && !answer.contains(&0);
        if is_target { Ok(answer.to_vec()) } else { Err(Errno::EIO) }
    }

    pub(super) fn chmod(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        self.effect("chmod", self.about(path)?.u32(mode & 0o1777))
    }

    pub(super) fn utimes(&self, path: &[u8], atime: i64, mtime: i64) -> Result<(), Errno> {
        self.effect("utimes", self.about(path)?.u64(atime.cast_unsigned()).u64(mtime.cast_unsigned()))
    }

    fn effect(&self, name: &'static str, input: Input) -> Result<(), Errno> {
        if ask(name, input)?.is_empty() { Ok(()) } else { Err(Errno::EIO) }
    }
}

/// What all things of such a file system have.
fn nothing(dev: u64, ino: u64) -> Stat {
    Stat {
        dev,
        kind: Type::Unknown,
        mode: 0,
        links: 1,
        uid: GUEST,
        gid: GUEST,
        rdev: 0,
        ino,
        size: 0,
        blocks: 0,
        atime: 0,
        mtime: 0,
        ctime: 0,
        birthtime: 0,
    }
}

/// A number for something that its file system has not numbered: the same for the same path (FNV-1a), and one that a double holds.
fn number_of(path: &[u8]) -> u64 {
    let hash = path.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    (hash >> 12) | (1 << 51)
}
