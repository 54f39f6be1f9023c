//! Options of the embedder about files: mounts, and how a file is opened.

use std::path::PathBuf;

/// A folder of the host machine in the guest's tree.
#[derive(Debug, Clone)]
pub struct MountOptions {
    /// The guest path of the folder. Absolute.
    pub guest_path: String,
    /// The folder's path on the host machine.
    pub host_path: PathBuf,
    /// Whether the guest must not change the folder.
    pub read_only: bool,
    /// Whether the guest's changes stay in memory and the folder is never written.
    pub overlay: bool,
}

/// How the embedder opens a file. Opening for writing makes the file and the directories above it,
/// if they are missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Whether the file is opened for writing. Otherwise it is opened for reading.
    pub write: bool,
    /// Whether opening removes the file's bytes.
    pub truncate: bool,
    /// Whether all writes go to the file's end.
    pub append: bool,
    /// The permissions of a new file. Default: 0644.
    pub mode: Option<u32>,
}

/// An app file system in the guest's tree. Its calls go to the runtime's [`crate::Host`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystemOptions {
    /// The guest path of the file system. Absolute.
    pub guest_path: String,
    /// The number by which the embedder knows the file system.
    pub number: u32,
    /// Whether the guest must not change anything in the file system.
    pub read_only: bool,
}
