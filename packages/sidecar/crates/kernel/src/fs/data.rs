//! Reads, writes and truncates the bytes of files in memory.
//!
//! Access times follow Linux's `relatime`. A read updates the access time only if the access time
//! is not later than the last change, or is at least a day old. Most repeated reads therefore
//! change nothing. Next: `content.rs`.

use super::content::Content;
use super::node::{Body, Ino};
use super::tree::{FileSystem, now};
use super::watch::Change;
use coldframe_error::Errno;

/// The largest file size, in bytes.
const MAX_SIZE: u64 = i64::MAX as u64;
const DAY: i64 = 86_400 * 1_000_000_000;

impl FileSystem {
    pub(crate) fn content(&self, ino: Ino) -> Result<&Content, Errno> {
        match &self.node(ino)?.body {
            Body::File(content) => Ok(content),
            Body::Directory(_) => Err(Errno::EISDIR),
            _ => Err(Errno::EINVAL),
        }
    }

    pub(crate) fn read(&mut self, ino: Ino, offset: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
        let count = self.content(ino)?.read(offset, buffer)?;
        self.was_read(ino)?;
        Ok(count)
    }

    /// Updates the access time if the `relatime` rule requires it.
    pub(crate) fn was_read(&mut self, ino: Ino) -> Result<(), Errno> {
        let meta = &self.node(ino)?.meta;
        let now = now();
        if meta.atime <= meta.mtime.max(meta.ctime) || now.saturating_sub(meta.atime) >= DAY {
            self.node_mut(ino)?.meta.atime = now;
        }
        Ok(())
    }

    /// Writes at `offset`, or at the file's end if `offset` is `None`. Returns the offset after the
    /// last written byte, and the number of written bytes. The number is smaller than requested if
    /// the space is not enough. Fails with `ENOSPC` if no byte fits, and with `EFBIG` if `offset`
    /// is too large.
    pub(crate) fn write(&mut self, ino: Ino, offset: Option<u64>, bytes: &[u8]) -> Result<(u64, usize), Errno> {
        let room = self.limits.bytes.saturating_sub(self.used.bytes);
        let node = self.node_mut(ino)?;
        let Body::File(content) = &mut node.body else { return Err(Errno::EINVAL) };
        let offset = offset.unwrap_or(content.len());
        if bytes.is_empty() {
            return Ok((offset, 0));
        }
        if offset >= MAX_SIZE {
            return Err(Errno::EFBIG);
        }
        let most = usize::try_from(MAX_SIZE - offset).unwrap_or(usize::MAX).min(bytes.len());
        let before = content.stored();
        let count = content.write(offset, &bytes[..most], room)?;
        let grown = content.stored() - before;
        if count == 0 {
            return Err(Errno::ENOSPC);
        }
        let now = now();
        (node.meta.mtime, node.meta.ctime) = (now, now);
        self.used.bytes += grown;
        self.update_marks();
        self.notify_content(Change::Written, ino);
        Ok((offset + count as u64, count))
    }

    pub(crate) fn truncate(&mut self, ino: Ino, len: u64) -> Result<(), Errno> {
        if len > MAX_SIZE {
            return Err(Errno::EFBIG);
        }
        let node = self.node_mut(ino)?;
        let Body::File(content) = &mut node.body else { return Err(Errno::EINVAL) };
        let before = content.stored();
        content.truncate(len);
        let freed = before - content.stored();
        let now = now();
        (node.meta.mtime, node.meta.ctime) = (now, now);
        self.return_space(freed, 0);
        self.notify_content(Change::Written, ino);
        Ok(())
    }

    /// Replaces the content of `to` with the content of `from`. The two files share the bytes until
    /// one of the files changes. Fails with `ENOSPC` if the content exceeds the limit.
    pub(crate) fn share(&mut self, from: Ino, to: Ino) -> Result<(), Errno> {
        let content = self.content(from)?.clone();
        self.replace(to, content).map(drop)
    }

    /// Replaces the content of a file and returns the old content. Fails with `ENOSPC` if the
    /// content exceeds the limit.
    pub(crate) fn replace(&mut self, ino: Ino, content: Content) -> Result<Content, Errno> {
        let before = self.content(ino)?.clone();
        let held = before.stored();
        if content.stored() > self.limits.bytes.saturating_sub(self.used.bytes).saturating_add(held) {
            return Err(Errno::ENOSPC);
        }
        self.return_space(held, 0);
        self.used.bytes += content.stored();
        self.update_marks();
        let node = self.node_mut(ino)?;
        node.body = Body::File(content);
        let now = now();
        (node.meta.mtime, node.meta.ctime) = (now, now);
        self.notify_content(Change::Written, ino);
        Ok(before)
    }
}
