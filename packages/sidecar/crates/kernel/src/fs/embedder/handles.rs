//! The embedder's open files, which the SDK's streams use. An open file refers to an inode or to a
//! file of the host machine. A rename or a removal of the name therefore has no effect on the open
//! file. Next: `runtime/handles.rs` of the crate `core`, which assigns numbers to the files.

use super::super::open::{self, Opened};
use super::super::tree::FileSystem;
use super::{EmbedderFiles, NEW_FILE, PERMISSIONS, READ_ONLY, TRUNCATE, WRITE, make_holder};
use crate::descriptors::APPEND;
use crate::fs::options::OpenOptions;
use coldframe_error::Errno;
use coldframe_error::Error;

/// An open file. The embedder must close the file with [`EmbedderFiles::close`], otherwise the file
/// keeps its space.
pub struct EmbedderFile {
    opened: Opened,
    path: String,
    appends: bool,
    writes: bool,
}

impl EmbedderFiles<'_> {
    /// Opens a file. Returns the file and its size.
    pub fn open(&self, path: &str, options: OpenOptions) -> Result<(EmbedderFile, u64), Error> {
        let flag = |is_set: bool, bits: u32| if is_set { bits } else { 0 };
        let flags =
            if options.write { WRITE | flag(options.truncate, TRUNCATE) | flag(options.append, APPEND) } else { READ_ONLY };
        let mode = options.mode.unwrap_or(NEW_FILE) & PERMISSIONS;
        let (opened, size) = self.explained("open", path, |path| {
            let mut tree = self.view.lock();
            if options.write {
                make_holder(&mut tree, &self.view.user, path)?;
            }
            let opened = open::find(&mut tree, &self.view, path, flags, mode)?;
            match &opened {
                Opened::Directory(_) => return Err(Errno::EISDIR),
                Opened::Device(..) | Opened::Descriptor(_) => return Err(Errno::EINVAL),
                Opened::Memory(_) | Opened::Host(_) => {}
            }
            if options.write {
                self.give(&mut tree, &opened)?;
            }
            let size = opened.size(&tree)?;
            opened.hold(&mut tree);
            Ok((opened, size))
        })?;
        Ok((EmbedderFile { opened, path: path.to_owned(), appends: options.append, writes: options.write }, size))
    }

    /// Reads at most `most` bytes from `offset`. Returns the bytes and the file's size.
    pub fn read_open(&self, file: &EmbedderFile, offset: u64, most: usize) -> Result<(Vec<u8>, u64), Error> {
        self.explained("read", &file.path, |_| {
            let mut tree = self.view.lock();
            let size = file.opened.size(&tree)?;
            let wanted = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX).min(most);
            let mut bytes = vec![0; wanted];
            let mut done = 0;
            while done < wanted {
                match file.opened.read(&mut tree, offset + done as u64, &mut bytes[done..])? {
                    0 => break,
                    count => done += count,
                }
            }
            bytes.truncate(done);
            Ok((bytes, size))
        })
    }

    /// Writes all bytes at `offset`, or at the end of a file that was opened for appending. Fails
    /// with `EBADF` if the file was opened only for reading.
    pub fn write_open(&self, file: &EmbedderFile, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.explained("write", &file.path, |_| {
            if !file.writes {
                return Err(Errno::EBADF);
            }
            let mut tree = self.view.lock();
            let mut at = if file.appends { file.opened.size(&tree)? } else { offset };
            let mut rest = bytes;
            while !rest.is_empty() {
                let count = file.opened.write(&mut tree, at, rest)?;
                at += count as u64;
                rest = &rest[count..];
            }
            Ok(())
        })
    }

    /// Closes an open file. The last close of a file without a name frees the file.
    pub fn close(&self, file: &EmbedderFile) {
        let mut tree: super::Guard<'_> = self.view.lock();
        let tree: &mut FileSystem = &mut tree;
        file.opened.release(tree);
    }
}
