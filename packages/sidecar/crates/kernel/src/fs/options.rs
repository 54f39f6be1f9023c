//! The embedder's options about files: host directories and app file systems to mount, and the
//! options of an open.

use std::path::PathBuf;

/// A folder of the host machine that is mounted in a runtime.
#[derive(Debug, Clone)]
pub struct MountOptions {
    /// The guest path of the mount point, which must be absolute.
    pub guest_path: String,
    /// The folder's path on the host machine.
    pub host_path: PathBuf,
    /// Whether changes of the folder fail with `EROFS`.
    pub read_only: bool,
    /// Whether the guest's changes stay in memory and the folder is never written.
    pub overlay: bool,
}

/// The options with which the embedder opens a file. An open for writing creates a missing file and
/// missing directories above the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Whether the file is opened for writing. Otherwise the file is opened for reading.
    pub write: bool,
    /// Whether opening the file removes its bytes.
    pub truncate: bool,
    /// Whether all writes append to the file.
    pub append: bool,
    /// The permission bits of a new file. `None` means 0644.
    pub mode: Option<u32>,
}

/// An app file system in the guest's tree. The runtime's [`crate::Embedder`] receives the calls of
/// the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystemOptions {
    /// The guest path of the mount point, which must be absolute.
    pub guest_path: String,
    /// The file system's number in host calls.
    pub number: u32,
    /// Whether changes of the file system fail with `EROFS`.
    pub read_only: bool,
}
