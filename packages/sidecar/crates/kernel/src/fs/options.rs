//! What the embedder chooses about files: mounts, and how a file is opened.

use std::path::PathBuf;

/// A folder of the host in the guest's tree.
#[derive(Debug, Clone)]
pub struct MountOptions {
    /// Where the guest sees it: an absolute path.
    pub guest_path: String,
    /// The folder.
    pub host_path: PathBuf,
    /// Whether the guest can change nothing in it.
    pub read_only: bool,
    /// Whether the folder is never written, and what the guest changes in it lies in memory.
    pub overlay: bool,
}

/// How the caller outside opens a file. Writing makes it if it is not there, and the directories above it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// For writing; else for reading.
    pub write: bool,
    /// Cut it off at its beginning.
    pub truncate: bool,
    /// All writes go to its end.
    pub append: bool,
    /// Permissions of a new file. Default: 0644.
    pub mode: Option<u32>,
}

/// A file system of the caller's in the guest's tree: what happens in it is asked of the runtime's [`crate::Host`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystemOptions {
    /// Where the guest sees it: an absolute path.
    pub guest_path: String,
    /// The number by which the caller knows it.
    pub number: u32,
    /// Whether the guest can change nothing in it.
    pub read_only: bool,
}
