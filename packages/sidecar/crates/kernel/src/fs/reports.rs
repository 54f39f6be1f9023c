//! What the embedder gets to know of files.

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Other,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The name; what is not UTF-8 in it is replaced.
    pub name: String,
    /// What it names.
    pub kind: FileType,
}

/// What is known of a file. Times are nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are stat's")]
pub struct FileStat {
    pub kind: FileType,
    pub mode: u32,
    pub size: u64,
    pub ino: u64,
    pub links: u64,
    pub uid: u32,
    pub gid: u32,
    pub atime_ns: i64,
    pub mtime_ns: i64,
    pub ctime_ns: i64,
    pub birthtime_ns: i64,
}

/// How a file that is watched has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// A name came, went or moved.
    Name,
    /// What it names has other bytes or attributes.
    Content,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// What happened.
    pub kind: ChangeKind,
    /// The path below what is watched; empty for what is watched itself.
    pub name: String,
}

/// What has happened since the last time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// In their order.
    pub changes: Vec<FileChange>,
    /// More happened than was kept.
    pub overflow: bool,
}
