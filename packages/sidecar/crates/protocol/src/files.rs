//! The messages about a runtime's files: what the SDK sends, then what the sidecar sends. They are part of [`crate::messages`], in the order of
//! `docs/internals/protocol.md`.

use serde::{Deserialize, Serialize};

/// An entry of `mounts` of `runtime.create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Mount<'a> {
    /// Where the guest sees it.
    pub guest_path: &'a str,
    /// The folder on the host.
    pub host_path: &'a str,
    /// Whether the guest can change nothing in it.
    pub read_only: bool,
    /// Whether the folder is never written, and what the guest changes in it lies in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay: Option<bool>,
    /// It is no folder, but a file system of the SDK's that has this number; `host_path` is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<u32>,
}

/// `file.read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRead<'a> {
    /// Whose file.
    pub runtime: u32,
    /// An absolute guest path, as in all that follow.
    pub path: &'a str,
    /// Where to begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// How many bytes at most.
    pub length: u64,
}

/// `file.write`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileWrite<'a> {
    /// Whose file.
    pub runtime: u32,
    /// Which; directories above it are made.
    pub path: &'a str,
    /// What it holds afterwards.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
    /// Add to its end instead of replacing it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append: Option<bool>,
    /// Permissions of a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

/// `file.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileList<'a> {
    /// Whose directory.
    pub runtime: u32,
    /// Which.
    pub path: &'a str,
}

/// `file.stat`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileStat<'a> {
    /// Whose file.
    pub runtime: u32,
    /// Which.
    pub path: &'a str,
    /// Of a link: the file that it leads to, unless false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
}

/// `file.mkdir` and `file.remove`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileTree<'a> {
    /// Whose.
    pub runtime: u32,
    /// Which.
    pub path: &'a str,
    /// Make the directories above it too, or remove what is in it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
}

/// `file.rename`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRename<'a> {
    /// Whose file.
    pub runtime: u32,
    /// The name it has.
    pub from: &'a str,
    /// The name it gets, in place of what has it.
    pub to: &'a str,
}

/// The reply to `file.read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileData<'a> {
    /// The bytes, as many as there are and were asked for.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
    /// The file's size.
    pub size: u64,
}

/// What a file is: in the replies to `file.list` and `file.stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, a pipe or a socket.
    Other,
}

/// The reply to `file.list`: two lists of one length, in the order of the names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileNames<'a> {
    /// The names.
    #[serde(borrow)]
    pub names: Vec<&'a str>,
    /// What each of them names.
    pub types: Vec<FileType>,
}

/// The reply to `file.stat`. Times are microseconds since 1970: nanoseconds would not fit into a JavaScript number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are stat's")]
pub struct FileStatus {
    pub r#type: FileType,
    pub mode: u32,
    pub size: u64,
    pub ino: u64,
    pub nlink: u64,
    pub uid: u32,
    pub gid: u32,
    pub atime_us: i64,
    pub mtime_us: i64,
    pub ctime_us: i64,
    pub birthtime_us: i64,
}
