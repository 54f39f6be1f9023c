//! App file systems: mounts whose calls the embedder answers.
//!
//! An app file system is a kind of mount (`mounts/`), so the path walk and the permission checks of
//! other mounts apply. For a host directory, the kernel makes system calls of the host machine. For
//! an app file system, the kernel makes host calls to the embedder, one at a time. The guest's
//! system call runs again after each reply (`exchange.rs`). Replies are not trusted: an invalid
//! reply fails the call with `EIO`. No state is stored between two calls: an open file is only a
//! path. Next: `exchange.rs`, `wire.rs`.

mod exchange;
mod wire;

pub use exchange::{Exchange, FileSystemRequest};

use super::node::Type;
use super::stat::Stat;
use super::user::GUEST;
use coldframe_error::Errno;
use exchange::ask;
use wire::{Input, Reader};

/// The maximum number of bytes that one host call reads or writes.
const PIECE: usize = 1 << 20;
/// The maximum number of entries of one directory.
const MAX_ENTRIES: usize = 1 << 20;

/// An app file system, which makes host calls for its files.
pub(super) struct App {
    /// The file system's number in host calls, which the embedder chose.
    number: u32,
}

impl App {
    pub(super) fn new(number: u32) -> Self {
        Self { number }
    }

    /// Returns the file system's number in host calls, which the embedder chose.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    fn about(&self, path: &[u8]) -> Result<Input, Errno> {
        // The embedder's functions receive paths as text, so a path must be UTF-8.
        std::str::from_utf8(path).map_err(|_| Errno::EILSEQ)?;
        Ok(Input::new(self.number).text(&[b"/", path].concat()))
    }

    /// Returns the attributes of a file. A link at the path's end is not followed.
    /// `device` is the device number of the mount.
    pub(super) fn stat(&self, device: u64, path: &[u8]) -> Result<Stat, Errno> {
        // The root's attributes need no host call, so that the mount exists even if the embedder's
        // functions fail.
        if path.is_empty() {
            return Ok(Stat { kind: Type::Directory, mode: 0o755, links: 2, size: 4_096, ..base_stat(device, 1) });
        }
        let reply = ask("stat", self.about(path)?)?;
        let mut reader = Reader::new(&reply);
        let kind = reader.kind()?;
        let mode = reader.u32()? & 0o7777;
        let size = i64::try_from(reader.u64()?).map_err(|_| Errno::EIO)?.unsigned_abs();
        let times = [reader.i64()?, reader.i64()?, reader.i64()?, reader.i64()?];
        let (ino, links) = (reader.u64()?, reader.u32()?);
        reader.end()?;
        let ino = if ino == 0 { number_of(path) } else { ino };
        let [atime, mtime, ctime, birthtime] = times;
        let blocks = size.div_ceil(512);
        Ok(Stat { kind, mode, size, blocks, links: links.into(), atime, mtime, ctime, birthtime, ..base_stat(device, ino) })
    }

    pub(super) fn list(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, Type)>, Errno> {
        let reply = ask("readDir", self.about(path)?)?;
        let mut reader = Reader::new(&reply);
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
        let reply = ask("read", self.about(path)?.u64(offset).u32(wanted as u32))?;
        let place = buffer[..wanted].get_mut(..reply.len()).ok_or(Errno::EIO)?;
        place.copy_from_slice(&reply);
        Ok(reply.len())
    }

    /// Writes at most the bytes that fit into one host call. Returns the number of written bytes.
    pub(super) fn write(&self, path: &[u8], offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        let piece = &bytes[..bytes.len().min(PIECE)];
        self.effect("write", self.about(path)?.u64(offset).bytes(piece)).map(|()| piece.len())
    }

    pub(super) fn truncate(&self, path: &[u8], len: u64) -> Result<(), Errno> {
        self.effect("truncate", self.about(path)?.u64(len))
    }

    /// Creates an empty file. The file must not exist.
    pub(super) fn create(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        self.effect("create", self.about(path)?.u32(mode & 0o1777))
    }

    pub(super) fn mkdir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        self.effect("mkdir", self.about(path)?.u32(mode & 0o1777))
    }

    /// Removes a file, a link or an empty directory.
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
        let reply = ask("readlink", self.about(path)?)?;
        let is_target = !reply.is_empty() && reply.len() < 4_096 && !reply.contains(&0);
        if is_target { Ok(reply.to_vec()) } else { Err(Errno::EIO) }
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

/// Returns attributes with the device number, the inode number and the values that all files of an
/// app file system share. The caller sets the other fields.
fn base_stat(dev: u64, ino: u64) -> Stat {
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

/// Returns the inode number of a file to which the app assigned no number: a hash of the path
/// (FNV-1a). The number is less than 2^52, so that a double represents the number exactly.
fn number_of(path: &[u8]) -> u64 {
    let hash = path.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    (hash >> 12) | (1 << 51)
}
