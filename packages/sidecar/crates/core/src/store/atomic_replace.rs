//! Replaces a file of the embedder atomically: the new file is written beside the old file, flushed
//! and renamed, and the folder is flushed. If the replacement fails, the old file is unchanged.
//! Next: `threads.rs`.

use coldframe_error::Error;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Replaces `path` with the bytes that `fill` writes. `fill` receives the path of the part file.
pub(super) fn atomic_replace(path: &Path, fill: impl FnOnce(&mut File, &Path) -> Result<(), Error>) -> Result<(), Error> {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let failed = |error: io::Error| Error::snapshot_file(path, &error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?);
    name.push(format!(".{}-{}{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed), super::names::PART));
    let part = folder.join(name);
    let mut options = OpenOptions::new();
    let mut file = options.read(true).write(true).create_new(true).mode(0o600).open(&part).map_err(failed)?;
    let write = || {
        fill(&mut file, &part)?;
        file.sync_data().map_err(failed)?;
        std::fs::rename(&part, path).map_err(failed)?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}
