//! Reports about files for the embedder: attributes, directory entries and changes. The reports are
//! copies, and do not refer to the tree.

/// The type of a file.
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

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The name of the entry. Invalid UTF-8 is replaced by U+FFFD.
    pub name: String,
    /// The type of the file.
    pub kind: FileType,
}

/// The attributes of a file. Times are nanoseconds since 1970.
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

/// The kind of a change of a watched file. A watch reports the first two kinds, or with typed
/// events the other kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// A name was added, removed or moved.
    Name,
    /// The file's bytes or attributes changed.
    Content,
    /// A name was added.
    Created,
    /// A name was removed.
    Removed,
    /// A file was moved from a name.
    Renamed,
    /// The file's bytes changed.
    Written,
    /// The file's attributes changed.
    Attributes,
}

/// One change of a watched file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The kind of change.
    pub kind: ChangeKind,
    /// The path below the watched file or directory. Empty for a change of the watched file itself.
    pub name: String,
    /// The new path of a renamed file. `None` outside the watched directory.
    pub to: Option<String>,
}

/// The changes since the last batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The changes, oldest first.
    pub changes: Vec<FileChange>,
    /// Whether changes were lost because the bound on stored changes was reached.
    pub overflow: bool,
}
