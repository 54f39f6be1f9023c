//! Files, directories and descriptors: calls from 0x100.

use super::system_calls;

system_calls! {
    /// A call about files.
    FileCall, blocks: false {
        /// Opens or creates a file. `O_PATH` and `O_TMPFILE` fail with `EOPNOTSUPP`.
        Open(path: Path, flags, mode) = 0x100 => Value("the lowest free descriptor");
        /// Closes a descriptor. The standard streams can be closed too. In a program that the
        /// embedder started, the import `write` still writes to 1 and 2.
        Close(fd) = 0x101 => Zero;
        /// Reads at `offset`, or at the descriptor's own position if `offset` is -1. Reads at most
        /// 1 MiB (`MAX_TRANSFER`), also if the buffer is larger.
        Read(fd, buffer: Buffer, offset) = 0x102 => Value("bytes read");
        /// Writes at `offset`, or at the descriptor's own position if `offset` is -1. Writes at
        /// most 1 MiB, and fewer bytes when space runs out. Fails with `EAGAIN` on a stream whose
        /// buffer is full.
        Write(fd, bytes: Bytes, offset) = 0x103 => Value("bytes written");
        /// Writes 18 f64 in the order of Node's stats array. The first 10 are dev, mode, nlink,
        /// uid, gid, rdev, blksize, ino, size and blocks. The others are atime, mtime, ctime and
        /// birthtime as seconds and nanoseconds.
        Stat(path: Path, buffer: Buffer, follow) = 0x104 => Zero;
        /// Writes the numbers of `stat` for a descriptor.
        Fstat(fd, buffer: Buffer) = 0x105 => Zero;
        /// Checks whether the program may access a file with `mode`.
        Access(path: Path, mode) = 0x106 => Zero;
        /// Makes a directory.
        Mkdir(path: Path, mode) = 0x107 => Zero;
        /// Removes an empty directory.
        Rmdir(path: Path) = 0x108 => Zero;
        /// Removes a name of a file. The file is freed with its last name and last descriptor.
        Unlink(path: Path) = 0x109 => Zero;
        /// Renames a file or a directory.
        Rename(from: Path, to: Path) = 0x10a => Zero;
        /// Adds a name to a file.
        Link(from: Path, to: Path) = 0x10b => Zero;
        /// Makes a symbolic link.
        Symlink(target: Path, path: Path) = 0x10c => Zero;
        /// Writes the part of a link's target that fits.
        Readlink(path: Path, buffer: Buffer) = 0x10d => Value("the target's length");
        /// Writes entries back to back: u8 type (`UV_DIRENT_*`), u8 0, u16 length, name. The names
        /// of a directory in memory are sorted. `.` and `..` are omitted. The buffer must have at
        /// least 259 bytes.
        Readdir(fd, buffer: Buffer) = 0x10e => Value("bytes used, 0 at the end");
        /// Sets a file's length.
        Ftruncate(fd, length) = 0x10f => Zero;
        /// Sets a file's mode.
        Chmod(path: Path, mode, follow) = 0x110 => Zero;
        /// Sets the mode of an open file.
        Fchmod(fd, mode) = 0x111 => Zero;
        /// Sets a file's owner and group. -1 leaves an id unchanged.
        Chown(path: Path, uid, gid, follow) = 0x112 => Zero;
        /// Sets the owner and group of an open file.
        Fchown(fd, uid, gid) = 0x113 => Zero;
        /// Sets a file's times. The lowest i64 leaves a time unchanged, and the highest i64 sets
        /// the present time.
        Utimes(path: Path, atime, mtime, follow) = 0x114 => Zero;
        /// Sets the times of an open file.
        Futimes(fd, atime, mtime) = 0x115 => Zero;
        /// Writes an open file's changes to its disk.
        Fsync(fd) = 0x116 => Zero;
        /// Resolves all links of a path. Writes the part of the result that fits.
        Realpath(path: Path, buffer: Buffer) = 0x117 => Value("the result's length");
        /// Writes 7 f64: type, bsize, blocks, bfree, bavail, files, ffree.
        Statfs(path: Path, buffer: Buffer) = 0x118 => Zero;
        /// Moves a descriptor's position. A directory is listed from the start again.
        Lseek(fd, offset, whence) = 0x119 => Value("the new position");
        /// Sets the working directory.
        Chdir(path: Path) = 0x11a => Zero;
        /// Writes the part of the working directory's path that fits. Fails with `ENOENT` if the
        /// directory was removed.
        Getcwd(buffer: Buffer) = 0x11b => Value("the path's length");
        /// Copies at most 1 MiB. Call again with the result as `at`, which is 0 at first. With
        /// `mode` 1 the call fails with `EEXIST` if the copy exists. The copy gets the original's
        /// mode if the program may change modes. Two files in memory share the bytes until a
        /// program writes to one of the files.
        CopyFile(from: Path, to: Path, mode, at) = 0x11c => Value("0 after the last part, else the next `at`");
        /// Tests whether a path leads to a file or to a directory.
        ModuleStat(path: Path) = 0x11d => Value("0 for a file, 1 for a directory");
        /// Reads a whole file. If the file is longer than the buffer, the call reads no bytes: call
        /// again with a larger buffer. A file that is longer than 1 MiB is never read: open the
        /// file.
        ReadFile(path: Path, buffer: Buffer) = 0x11e => Value("the file's length");
        /// Waits for changes of a file or a directory. With flag 1, also reports changes below the
        /// directory, each with its path. Entries have the form of `readdir`: type 1 for a name
        /// that was made, removed or moved, type 2 for changed bytes or attributes.
        Watch(path: Path, flags) = 0x11f => Operation("the first batch of changes");
        /// Ends the watch whose last operation is `operation`, and cancels that operation.
        Unwatch(operation) = 0x120 => Zero;
        /// Sets the umask.
        Umask(mask) = 0x121 => Value("the old umask");
        /// Sets the length of the file at a path.
        Truncate(path: Path, length) = 0x122 => Zero;
        /// Writes one sentence with the reason why the last call of any family failed with
        /// `EACCES`. Each sentence is returned once.
        Reason(buffer: Buffer) = 0x123 => Value("the sentence's length, 0 without a sentence");
        /// Returns the kind of a descriptor in the numbers of Node's `guessHandleType`. A TCP
        /// socket is 0, an end of a terminal 1, and a UDP socket 2. Pipes and Unix sockets are 4,
        /// all other descriptors 3. A number without a descriptor is 6.
        Kind(fd) = 0x124 => Value("the kind");
        /// Opens another descriptor of the same description: the lowest free descriptor that is at
        /// least `lowest`.
        Duplicate(fd, lowest) = 0x125 => Value("the new descriptor");
        /// Makes the descriptor `to` refer to the description of `fd`. If `to` is open and is not
        /// `fd`, `to` is closed first, in the same step. Fails with `EBADF` if no descriptor may
        /// have the number `to`.
        DuplicateTo(fd, to) = 0x126 => Value("`to`");
        /// Returns the status flags of a description: the access mode, `O_APPEND` and
        /// `O_NONBLOCK`. The kernel stores `O_NONBLOCK` for the guest's libc. No call of this
        /// family waits.
        StatusFlags(fd) = 0x127 => Value("the flags");
        /// Sets `O_APPEND` and `O_NONBLOCK` of a description, and ignores the other flags. Fails
        /// with `EOPNOTSUPP` if the call would change `O_APPEND` of a file in a mount.
        SetStatusFlags(fd, flags) = 0x128 => Zero;
        /// Sets a user attribute, whose name begins with `user.`. `flags`: 1 fails with `EEXIST` if
        /// the attribute exists, 2 fails with `ENODATA` if not. Fails with `EOPNOTSUPP` for other
        /// names and in mounts. Fails with `E2BIG` for a value of more than 64 KiB. Fails with
        /// `ENOSPC` for more than 256 attributes or 64 KiB of a file.
        SetAttribute(path: Path, name: Text, value: Bytes, flags, follow) = 0x130 => Zero;
        /// Returns the value of a user attribute. With an empty buffer, returns only the length.
        /// Fails with `ENODATA` if the attribute is missing, and with `ERANGE` if the buffer is too
        /// short.
        Attribute(path: Path, name: Text, out: Buffer, follow) = 0x131 => Value("the length of the value");
        /// Returns the names of the user attributes, each with a NUL. With an empty buffer, returns
        /// only the length. Fails with `ERANGE` if the buffer is too short.
        AttributeNames(path: Path, out: Buffer, follow) = 0x132 => Value("the length of the names");
        /// Removes a user attribute. Fails with `ENODATA` if the attribute is missing.
        RemoveAttribute(path: Path, name: Text, follow) = 0x133 => Zero;
    }
}
