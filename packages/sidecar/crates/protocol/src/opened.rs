//! Messages about what the SDK keeps open in a runtime: files for streams, archives, watches; and those that set what `file.stat` shows. A
//! handle is a number that belongs to its runtime. They go on where `files.rs` ends.

use serde::{Deserialize, Serialize};

/// `for` of `file.open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// The file is read.
    Read,
    /// It is made or cut off, and written. Directories above it are made.
    Write,
    /// The same, but it keeps what it holds, and all that is written goes to its end.
    Append,
    /// What lies at the path is read as a tar archive.
    Export,
    /// A tar archive is written, and unpacked into the directory at the path.
    Import,
}

/// `file.open`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileOpen<'a> {
    /// Whose file.
    pub runtime: u32,
    /// Which.
    pub path: &'a str,
    /// What for.
    pub r#for: Purpose,
    /// Permissions of a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

/// `file.close`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileClose {
    /// Whose.
    pub runtime: u32,
    /// Which file, archive or watch.
    pub handle: u32,
    /// An archive that is not complete is given up without an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard: Option<bool>,
}

/// `file.pull`. Its reply is that of `file.read`; an archive has no size and ends with no bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePull {
    /// Whose.
    pub runtime: u32,
    /// Which file or archive.
    pub handle: u32,
    /// Where to begin, in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes at most.
    pub length: u64,
}

/// `file.push`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePush<'a> {
    /// Whose.
    pub runtime: u32,
    /// Which file or archive.
    pub handle: u32,
    /// Where to write, in a file that is not appended to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// What.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
}

/// `file.watch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileWatch<'a> {
    /// Whose file or directory.
    pub runtime: u32,
    /// Which.
    pub path: &'a str,
    /// Everything below it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
}

/// `file.changes`. Its reply comes when something has happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileChanges {
    /// Whose.
    pub runtime: u32,
    /// Which watch.
    pub handle: u32,
}

/// `file.set`: what is not given stays as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FileSet<'a> {
    /// Whose file.
    pub runtime: u32,
    /// Which.
    pub path: &'a str,
    /// Permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Microseconds since 1970, as in the reply to `file.stat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atime_us: Option<i64>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtime_us: Option<i64>,
    /// Of a link: the file that it leads to, unless false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
}

/// `file.link`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileLink<'a> {
    /// Whose file.
    pub runtime: u32,
    /// The new name.
    pub path: &'a str,
    /// What the symbolic link says, or the file that gets a further name.
    pub target: &'a str,
    /// Whether it is a further name, and not a symbolic link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard: Option<bool>,
}

/// `file.readlink`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileReadlink<'a> {
    /// Whose link.
    pub runtime: u32,
    /// Which.
    pub path: &'a str,
}

/// The reply to `file.open` and `file.watch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileHandle {
    /// Its number until `file.close`.
    pub handle: u32,
    /// The file's size; 0 of anything else.
    pub size: u64,
    /// Whether a directory is watched.
    pub directory: bool,
}

/// What has happened to a name: in the reply to `file.changes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeType {
    /// It came, went or moved.
    Rename,
    /// What it names has other bytes or attributes.
    Change,
}

/// The reply to `file.changes`: two lists of one length, in the order of what happened.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeList<'a> {
    /// Paths below what is watched; empty for itself.
    #[serde(borrow)]
    pub names: Vec<&'a str>,
    /// What happened to each.
    pub types: Vec<ChangeType>,
    /// More happened than was kept.
    pub overflow: bool,
    /// The watch has been closed.
    pub ended: bool,
}

/// The reply to `file.readlink`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkTarget<'a> {
    /// Where the link leads.
    pub target: &'a str,
}
