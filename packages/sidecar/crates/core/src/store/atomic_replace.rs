//! Replaces a file of the embedder atomically: the new file is written beside the old file, flushed
//! and renamed, and the folder is flushed. If the replacement fails, the old file is unchanged.
//! Next: `threads.rs`.

use coldframe_error::Error;
use std::fs::File;
use std::io;
use std::path::Path;

/// Replaces `path` with the bytes that `fill` writes.
pub(super) fn atomic_replace(path: &Path, fill: impl FnOnce(&mut File) -> Result<(), Error>) -> Result<(), Error> {
    let failed = |error: io::Error| Error::snapshot_file(path, &error);
    let mut replacement = coldframe_sys::host_access().replace(path, super::names::PART).map_err(failed)?;
    fill(replacement.file())?;
    replacement.file().sync_data().map_err(failed)?;
    replacement.commit().map_err(failed)
}
