//! The embedder's operations on a runtime's files.
//!
//! The embedder owns the runtime, so permission bits and the policy do not apply to the embedder's
//! operations. Files that the embedder creates belong to `user` unless the embedder chooses another
//! owner. A read-only mount stays
//! read-only. Paths are absolute, and no link of a program leads an operation into another mount
//! (`guest_links.rs`). Next: `handles.rs` for open files, and `view.rs`.

mod archives;
mod attributes;
mod handles;
mod watching;

pub use handles::EmbedderFile;
pub use watching::EmbedderWatch;

use super::guard::RequestedOperations;
use super::guest_links::{Crossing, take_crossing};
use super::lock::{FilesLock, Guard};
use super::node::{MAX_NAME, Type};
use super::open::{self, Opened};
use super::overlay::Raise;
use super::stat::Stat;
use super::tree::FileSystem;
use super::user::{Owner, User};
use super::view::View;
use super::walk::{FinalLink, Location, PathEnd};
use crate::arguments::MAX_PATH;
use crate::fs::options::FileSystemOptions;
use crate::fs::options::MountOptions;
use crate::fs::reports::DirectoryEntry;
use crate::fs::reports::FileStat;
use crate::fs::reports::FileType;
use coldframe_error::Errno;
use coldframe_error::Error;

const READ_ONLY: u32 = 0;
const WRITE: u32 = 0o101;
const TRUNCATE: u32 = 0o1000;
const DIRECTORY: u32 = 0o200_000;
/// The mode bits that the embedder can set: all except the set-id bits.
const PERMISSIONS: u32 = 0o1777;
const NEW_FILE: u32 = 0o644;

/// The bytes by which the buffer for a text of `/proc` grows. The size of a text is unknown.
const TEXT_PIECE: usize = 64 << 10;

/// The embedder's access to a runtime's files.
pub struct EmbedderFiles<'k> {
    pub(super) view: View<'k>,
    /// Whether written files that exist are given to the owner of new files.
    gives: bool,
}

impl From<Type> for FileType {
    fn from(kind: Type) -> Self {
        match kind {
            Type::File => Self::File,
            Type::Directory => Self::Directory,
            Type::Link => Self::Link,
            _ => Self::Other,
        }
    }
}

impl<'k> EmbedderFiles<'k> {
    /// Makes the embedder's access to `files`. Permission rules do not apply to the embedder.
    pub(crate) fn new(files: &'k FilesLock) -> Self {
        Self { view: View { files, user: User::EMBEDDER, cwd: None, umask: 0, permissions: None }, gives: false }
    }

    /// Returns the access with which new files and written files belong to `owner`.
    #[must_use]
    pub fn owned_by(mut self, owner: Owner) -> Self {
        (self.view.user, self.gives) = (User::Embedder(owner), true);
        self
    }

    /// Sets the chosen owner of an opened file in memory. A mount has fixed owners.
    fn give(&self, tree: &mut FileSystem, opened: &Opened) -> Result<(), Errno> {
        let (Opened::Memory(ino), true) = (opened, self.gives) else { return Ok(()) };
        let Owner { uid, gid } = self.view.user.owner();
        tree.chown(&self.view.user, *ino, Some(uid), Some(gid))
    }

    /// Adds the mounts, the files and the working directory of the options to a new runtime.
    pub fn furnish(
        &self,
        mounts: &[MountOptions],
        systems: &[FileSystemOptions],
        files: &[(String, Vec<u8>)],
        cwd: &str,
    ) -> Result<(), Error> {
        for mount in mounts {
            self.view.lock().add_mount(mount)?;
        }
        for system in systems {
            self.view.lock().add_file_system(system)?;
        }
        for (path, bytes) in files {
            self.write(path, bytes, false)?;
        }
        // An error is ignored. Programs then have no working directory, as after a removal of the
        // directory.
        let _ = self.view.lock().make_directories(&self.view.user, cwd.as_bytes());
        Ok(())
    }

    /// Replaces a file's bytes, or appends bytes. Creates missing directories above the file.
    pub fn write(&self, path: &str, bytes: &[u8], append: bool) -> Result<(), Error> {
        self.write_with_mode(path, bytes, append, NEW_FILE)
    }

    /// Replaces a file's bytes, or appends bytes. A new file has the mode `mode`, without set-id
    /// bits.
    pub fn write_with_mode(&self, path: &str, bytes: &[u8], append: bool, mode: u32) -> Result<(), Error> {
        let run = |path: &[u8]| {
            let mut tree = self.view.lock();
            make_holder(&mut tree, &self.view.user, path)?;
            let flags = if append { WRITE } else { WRITE | TRUNCATE };
            let file = open::find(&mut tree, &self.view, path, flags, mode & PERMISSIONS)?;
            self.give(&mut tree, &file)?;
            let mut at = if append { file.size(&tree)? } else { 0 };
            let mut rest = bytes;
            while !rest.is_empty() {
                let count = file.write(&mut tree, at, rest)?;
                at += count as u64;
                rest = &rest[count..];
            }
            Ok(())
        };
        self.explained("open", path, run)
    }

    /// Reads at most `most` bytes from `offset`. Returns the bytes and the file's size.
    pub fn read(&self, path: &str, offset: u64, most: usize) -> Result<(Vec<u8>, u64), Error> {
        self.explained("open", path, |path| {
            let mut tree = self.view.lock();
            let file = open::find(&mut tree, &self.view, path, READ_ONLY, 0)?;
            if let Opened::Directory(_) = file {
                return Err(Errno::EISDIR);
            }
            let size = file.size(&tree)?;
            let left = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX);
            // Files of `/proc` have the size 0, as on Linux. Reads of devices would have no end.
            let is_text = size == 0 && matches!(file, Opened::Host(_));
            let (wanted, piece) = if is_text { (most, TEXT_PIECE) } else { (left.min(most), most) };
            let mut bytes = Vec::new();
            let mut done = 0;
            while done < wanted {
                bytes.resize(wanted.min(done.saturating_add(piece)), 0);
                match file.read(&mut tree, offset + done as u64, &mut bytes[done..])? {
                    0 => break,
                    count => done += count,
                }
            }
            bytes.truncate(done);
            let end = if done == 0 { 0 } else { offset.saturating_add(done as u64) };
            Ok((bytes, size.max(end)))
        })
    }

    /// Returns the names and types of a directory's entries, sorted by name.
    pub fn list(&self, path: &str) -> Result<Vec<DirectoryEntry>, Error> {
        let mut entries = self.explained("scandir", path, |path| self.entries(path))?;
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        let entry = |(name, kind): (Vec<u8>, Type)| DirectoryEntry {
            name: String::from_utf8_lossy(&name).into_owned(),
            kind: kind.into(),
        };
        Ok(entries.into_iter().map(entry).collect())
    }

    fn entries(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, Type)>, Errno> {
        let mut tree = self.view.lock();
        let Opened::Directory(place) = open::find(&mut tree, &self.view, path, DIRECTORY, 0)? else { return Err(Errno::ENOTDIR) };
        match place {
            Location::Memory(ino) => {
                if let Some(mut listing) = tree.merged(ino)? {
                    return std::iter::from_fn(|| listing.next().transpose()).collect();
                }
                let names = &tree.directory(ino)?.names;
                let entry = |(name, ino): (&[u8], _)| Ok((name.to_vec(), tree.node(ino)?.kind()));
                names.after(None).map(|named| named.and_then(entry)).collect()
            }
            Location::Mount(mount, path) => {
                let mut listing = tree.mount(mount)?.list(&path)?;
                drop(tree);
                std::iter::from_fn(|| listing.next().transpose()).collect()
            }
        }
    }

    /// Returns the attributes of a file. If the path ends at a link, `follow` selects the link's
    /// target.
    pub fn stat(&self, path: &str, follow: bool) -> Result<FileStat, Error> {
        let stat: Stat = self.explained(if follow { "stat" } else { "lstat" }, path, |path| self.view.stat(path, follow))?;
        Ok(FileStat {
            kind: stat.kind.into(),
            mode: stat.mode | stat.kind.mode_bits(),
            size: stat.size,
            ino: stat.ino,
            links: stat.links,
            uid: stat.uid,
            gid: stat.gid,
            atime_ns: stat.atime,
            mtime_ns: stat.mtime,
            ctime_ns: stat.ctime,
            birthtime_ns: stat.birthtime,
        })
    }

    /// Creates a directory. With `recursive`, missing parents are created too.
    pub fn mkdir(&self, path: &str, recursive: bool) -> Result<(), Error> {
        self.explained("mkdir", path, |path| {
            if recursive { self.view.lock().make_directories(&self.view.user, path) } else { self.view.mkdir(path, 0o755) }
        })
    }

    /// Removes a file, a link or an empty directory. With `recursive`, also removes a directory
    /// with its content.
    pub fn remove(&self, path: &str, recursive: bool) -> Result<(), Error> {
        self.explained("rm", path, |path| {
            let kind = self.view.stat(path, false)?.kind;
            if kind != Type::Directory {
                return self.view.unlink(path);
            }
            if recursive { self.remove_all(path) } else { self.view.rmdir(path) }
        })
    }

    fn remove_all(&self, path: &[u8]) -> Result<(), Errno> {
        let mut tree = self.view.lock();
        match self.view.walk_to(&mut tree, path, FinalLink::Name, RequestedOperations::only(0), Raise::Itself)? {
            PathEnd::Memory(end) => tree.remove_all(&self.view.user, &end),
            PathEnd::Mount(end) => tree.mount(end.mount)?.remove_all(&end),
        }
    }

    /// Renames a file, a directory or a link.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), Error> {
        self.explained("rename", to, |_| Ok(()))?;
        self.explained("rename", from, |from| self.view.rename(from, to.as_bytes()))
    }

    /// Checks the path and calls `run`. An error from `run` receives the name of the call and the
    /// path.
    pub(super) fn explained<T>(
        &self,
        call: &'static str,
        path: &str,
        run: impl FnOnce(&[u8]) -> Result<T, Errno>,
    ) -> Result<T, Error> {
        if !path.starts_with('/') || path.contains('\0') {
            return Err(Error::InvalidRequest {
                what: "path".to_owned(),
                expected: "an absolute guest path without NUL".to_owned(),
                received: format!("{:?}", path.chars().take(100).collect::<String>()),
            });
        }
        let too_long = path.len() > MAX_PATH || path.split('/').any(|name| name.len() > MAX_NAME);
        drop(take_crossing());
        let result = if too_long { Err(Errno::ENAMETOOLONG) } else { run(path.as_bytes()) };
        result.map_err(|errno| self.error(errno, call, path))
    }

    fn error(&self, errno: Errno, call: &'static str, path: &str) -> Error {
        if let (Errno::EXDEV, Some(Crossing { link, mount })) = (errno, take_crossing()) {
            return Error::LinkToMount { link, mount, call, path: path.to_owned() };
        }
        let reason = self.view.reason().filter(|_| errno == Errno::EACCES);
        let reason = reason.map_or_else(|| errno.message().to_owned(), |reason| format!("{} ({reason})", errno.message()));
        Error::File { errno: errno.name(), reason, call, path: path.to_owned() }
    }
}

/// Creates the missing directories above a file.
fn make_holder(tree: &mut FileSystem, user: &User, path: &[u8]) -> Result<(), Errno> {
    match path.iter().rposition(|byte| *byte == b'/').filter(|end| *end > 0) {
        Some(end) => tree.make_directories(user, &path[..end]),
        None => Ok(()),
    }
}

impl Opened {
    pub(super) fn size(&self, tree: &FileSystem) -> Result<u64, Errno> {
        match self {
            Self::Memory(ino) => Ok(tree.node(*ino)?.size()),
            Self::Host(file) => Ok(file.stat()?.size),
            Self::Device(..) | Self::Descriptor(_) | Self::Directory(_) => Ok(0),
        }
    }

    /// Reads bytes from `at`. The filesystem is unlocked while the call waits for the host
    /// machine's disk.
    pub(super) fn read(&self, tree: &mut Guard<'_>, at: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        match self {
            Self::Memory(ino) => tree.read(*ino, at, buffer),
            Self::Host(file) => Guard::unlocked(tree, || file.read(at, buffer)),
            Self::Device(..) | Self::Descriptor(_) | Self::Directory(_) => Err(Errno::EINVAL),
        }
    }

    /// Sets the file's length to `len`. Added bytes are zeros without storage.
    pub(super) fn truncate(&self, tree: &mut FileSystem, len: u64) -> Result<(), Errno> {
        match self {
            Self::Memory(ino) => tree.truncate(*ino, len),
            Self::Host(file) => file.truncate(len),
            Self::Device(..) | Self::Descriptor(_) | Self::Directory(_) => Err(Errno::EINVAL),
        }
    }

    pub(super) fn write(&self, tree: &mut Guard<'_>, at: u64, bytes: &[u8]) -> Result<usize, Errno> {
        match self {
            Self::Memory(ino) => tree.write(*ino, Some(at), bytes).map(|(_, count)| count),
            Self::Host(file) => Guard::unlocked(tree, || file.write(at, bytes)),
            Self::Device(..) | Self::Descriptor(_) | Self::Directory(_) => Err(Errno::EINVAL),
        }
    }
}
