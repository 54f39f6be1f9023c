//! Messages about the files of a runtime.
//!
//! Paths are absolute guest paths. The embedder owns the runtime, so the permissions of the
//! runtime's programs do not apply. Writes to a read-only mount still fail. A handle is an id in
//! its runtime.

use coldframe_ids::{HandleId, RuntimeId};
use serde::{Deserialize, Serialize};

use super::Empty;
use crate::declare::requests;
use crate::maps::Blobs;

requests! {
    /// Requests about files.
    pub enum FileRequest<'a> {
        /// Reads a part of a file.
        FileRead(FileRead<'a>) = 18 "file.read" -> FileData<'a>,
        /// Writes a file. Directories above the file are created.
        FileWrite(FileWrite<'a>) = 19 "file.write" -> Empty,
        /// Lists a directory.
        FileList(FileList<'a>) = 20 "file.list" -> FileNames<'a>,
        /// Returns the attributes of a file.
        FileStat(FileStat<'a>) = 21 "file.stat" -> FileStatus,
        /// Creates a directory.
        FileMkdir(FileTree<'a>) = 22 "file.mkdir" -> Empty,
        /// Removes a file or a directory.
        FileRemove(FileTree<'a>) = 23 "file.remove" -> Empty,
        /// Renames a file.
        FileRename(FileRename<'a>) = 24 "file.rename" -> Empty,
        /// Opens a file, or an archive of a path.
        FileOpen(FileOpen<'a>) = 50 "file.open" -> FileHandle,
        /// Closes a file, an archive or a watch.
        FileClose(FileClose) = 51 "file.close" -> Empty,
        /// Reads from an open file or archive. For an archive, a reply without bytes means the end.
        FilePull(FilePull) = 52 "file.pull" -> FileData<'a>,
        /// Writes to an open file or archive.
        FilePush(FilePush<'a>) = 53 "file.push" -> Empty,
        /// Opens a watch of a file or a directory.
        FileWatch(FileWatch<'a>) = 54 "file.watch" -> FileHandle,
        /// Waits for the next changes of a watch.
        FileChanges(FileChanges) = 55 "file.changes" -> ChangeList<'a>,
        /// Returns the changes of a watch until now that `file.changes` has not returned.
        FileDrain(FileDrain) = 59 "file.drain" -> ChangeList<'a>,
        /// Sets or removes a user attribute of a file.
        FileAttributeSet(FileAttributeSet<'a>) = 120 "file.attribute.set" -> Empty,
        /// Returns the user attributes of a file.
        FileAttributes(FileAttributes<'a>) = 121 "file.attributes" -> FileAttributeList<'a>,
        /// Sets the mode, the times and the owner of a file. Omitted fields stay unchanged.
        FileSet(FileSet<'a>) = 56 "file.set" -> Empty,
        /// Creates a symbolic or a hard link.
        FileLink(FileLink<'a>) = 57 "file.link" -> Empty,
        /// Reads a symbolic link.
        FileReadlink(FileReadlink<'a>) = 58 "file.readlink" -> LinkTarget<'a>,
    }
}

/// A user and a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// The number of the user. 0 is `root`, and 1000 is `user`.
    pub uid: u32,
    /// The number of the group.
    pub gid: u32,
}

/// `file.read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRead<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file.
    pub path: &'a str,
    /// The first byte to read. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The largest number of bytes to read.
    pub length: u64,
}

/// `file.write`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileWrite<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file.
    pub path: &'a str,
    /// The bytes.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
    /// Whether the bytes are appended instead of replacing the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append: Option<bool>,
    /// The mode of a file that is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The owner of the file and of directories that are created. Default: the user `user` for
    /// new files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
}

/// `file.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileList<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The directory.
    pub path: &'a str,
}

/// `file.stat`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileStat<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file.
    pub path: &'a str,
    /// Whether a symbolic link is followed. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
}

/// `file.mkdir` and `file.remove`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileTree<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file or directory.
    pub path: &'a str,
    /// For `file.mkdir`: whether missing parents are created. For `file.remove`: whether a
    /// directory is removed with its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
    /// The owner of files that are created. Default: the user `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
}

/// `file.rename`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRename<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The present path.
    pub from: &'a str,
    /// The new path. A file there is replaced.
    pub to: &'a str,
}

/// The reply to `file.read` and `file.pull`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileData<'a> {
    /// The bytes. Fewer bytes than requested at the end of the file, and if a frame has no space
    /// for more.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
    /// The size of the file. 0 for an archive.
    pub size: u64,
}

/// The type of a file.
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
    /// The names in the directory.
    #[serde(borrow)]
    pub names: Vec<&'a str>,
    /// The type of each file.
    pub types: Vec<FileType>,
}

/// The reply to `file.stat`. Times are microseconds since 1970, because nanoseconds do not fit
/// into a JavaScript number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FileStatus {
    /// The type.
    pub r#type: FileType,
    /// The type and the permissions, as Linux's `st_mode`.
    pub mode: u32,
    /// The size in bytes.
    pub size: u64,
    /// The inode number.
    pub ino: u64,
    /// The number of hard links.
    pub nlink: u64,
    /// The user that owns the file.
    pub uid: u32,
    /// The group that owns the file.
    pub gid: u32,
    /// The time of the last access.
    pub atime_us: i64,
    /// The time of the last change of the content.
    pub mtime_us: i64,
    /// The time of the last change of the attributes.
    pub ctime_us: i64,
    /// The time of creation.
    pub birthtime_us: i64,
}

/// The purpose of `file.open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Reads the file.
    Read,
    /// Creates or truncates the file and writes it. Directories above the file are created.
    Write,
    /// Writes at the end of the file. Creates a missing file, and directories above the file.
    Append,
    /// Reads the file or the directory tree at the path as a tar archive.
    Export,
    /// Writes a tar archive, which is unpacked into the directory.
    Import,
}

/// `file.open`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FileOpen<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file or directory.
    pub path: &'a str,
    /// The access: read, write, append, or an archive.
    pub r#for: Purpose,
    /// The mode of a file that is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The owner of the file and of directories that are created. Default: the user `user` for
    /// new files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// For `import`: whether each file has the owner in the archive. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_owners: Option<bool>,
}

/// The reply to `file.open` and `file.watch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileHandle {
    /// The handle, valid until `file.close`, a pause, a rollback or the end of the runtime.
    pub handle: HandleId,
    /// The size of a file. 0 for an archive or a watch.
    pub size: u64,
    /// Whether the watched path is a directory.
    pub directory: bool,
}

/// `file.close`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileClose {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file, archive or watch.
    pub handle: HandleId,
    /// Whether an incomplete archive is dropped without an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard: Option<bool>,
}

/// `file.pull`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePull {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file or archive.
    pub handle: HandleId,
    /// The first byte to read, in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The largest number of bytes to read.
    pub length: u64,
}

/// `file.push`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePush<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file or archive.
    pub handle: HandleId,
    /// The position of the first byte, in a file that was not opened to append.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The bytes.
    #[serde(borrow, with = "serde_bytes")]
    pub data: &'a [u8],
}

/// `file.watch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileWatch<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file or directory.
    pub path: &'a str,
    /// Whether all files and directories below a directory are also watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursive: Option<bool>,
    /// Whether the watch reports `create`, `write`, `remove`, `rename` and `chmod`. Default false:
    /// `rename` and `change`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<bool>,
}

/// `file.changes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileChanges {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The watch.
    pub handle: HandleId,
}

/// `file.drain`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDrain {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The watch.
    pub handle: HandleId,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeType {
    /// The name was created, removed or moved. In a typed watch: the file was moved.
    Rename,
    /// The content or the attributes changed.
    Change,
    /// The name was created.
    Create,
    /// The name was removed.
    Remove,
    /// The content changed.
    Write,
    /// The attributes changed.
    Chmod,
}

/// The reply to `file.changes` and `file.drain`: lists of one length, oldest change first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeList<'a> {
    /// Paths relative to the watched directory. The path of the watched file itself is empty.
    #[serde(borrow)]
    pub names: Vec<&'a str>,
    /// The kind of each change.
    pub types: Vec<ChangeType>,
    /// The new path of each moved file, or an empty text. Omitted if all texts are empty.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<&'a str>>,
    /// Whether changes were dropped because the queue of the watch was full.
    pub overflow: bool,
    /// Whether the watch was closed.
    pub ended: bool,
}

/// `file.set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FileSet<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file.
    pub path: &'a str,
    /// The new permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The time of the last access, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atime_us: Option<i64>,
    /// The time of the last change of the content, in microseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtime_us: Option<i64>,
    /// The new owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// Whether a symbolic link is followed. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow: Option<bool>,
}

/// `file.attribute.set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileAttributeSet<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file.
    pub path: &'a str,
    /// The name, which begins with `user.`.
    pub name: &'a str,
    /// The value. Omitted: the attribute is removed.
    #[serde(borrow, default, with = "serde_bytes", skip_serializing_if = "Option::is_none")]
    pub value: Option<&'a [u8]>,
}

/// `file.attributes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileAttributes<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The file.
    pub path: &'a str,
}

/// The reply to `file.attributes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileAttributeList<'a> {
    /// The value of each attribute, in the order of the names.
    #[serde(borrow)]
    pub attributes: Blobs<'a>,
}

/// `file.link`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileLink<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The new name.
    pub path: &'a str,
    /// The target of a symbolic link, or the existing file of a hard link.
    pub target: &'a str,
    /// Whether the link is a hard link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard: Option<bool>,
    /// The owner of files that are created. Default: the user `user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
}

/// `file.readlink`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileReadlink<'a> {
    /// The runtime.
    pub runtime: RuntimeId,
    /// The symbolic link.
    pub path: &'a str,
}

/// The reply to `file.readlink`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkTarget<'a> {
    /// The text of the link.
    pub target: &'a str,
}
