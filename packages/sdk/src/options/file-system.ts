// The interface of app file systems, and the option that mounts an app file system.
// `file-systems/memory.ts` implements the interface.

/** The status of a file. */
export interface FileSystemStat {
  type: 'file' | 'directory' | 'symlink';
  /** Size in bytes. */
  size: number;
  /** Permission bits. @default 0o755 for directories, 0o777 for links, 0o644 for files */
  mode?: number | undefined;
  /** The time of the last change. All times are milliseconds since 1970. @default 0 */
  mtimeMs?: number | undefined;
  /** The time of the last read. @default mtimeMs */
  atimeMs?: number | undefined;
  /** The time of the last change of the status. @default mtimeMs */
  ctimeMs?: number | undefined;
  /** The time of the creation. @default ctimeMs */
  birthtimeMs?: number | undefined;
  /** A number that identifies the file and never changes. @default derived from the path */
  ino?: number | undefined;
  /** Number of names of the file. @default 1 */
  nlink?: number | undefined;
}

/** An entry of a directory. */
export interface FileSystemEntry {
  name: string;
  type: FileSystemStat['type'];
}

/** A result, or a promise of a result. */
export type Eventually<T> = T | Promise<T>;

/**
 * Files that an app provides, for `mounts: [{ guestPath, fileSystem }]`. Paths are absolute, and
 * `/` is the root of the mount. Links in a path have been followed already.
 *
 * A method fails with an error whose `code` is the name of a Linux error number for files, such as
 * `ENOENT`. Any other error becomes `EIO` in the guest, and its text does not leave this process. A
 * method that exceeds the mount's `timeout` fails with `ETIMEDOUT`. A missing `write`, `create`,
 * `truncate`, `mkdir`, `remove` or `rename` fails with `EROFS`, and any other missing method with
 * `EOPNOTSUPP`. Several calls may run concurrently.
 */
export interface FileSystem {
  /**
   * Returns the status of a file. Does not follow a link at `path`. Fails with `ENOENT` if nothing
   * exists at `path`.
   */
  stat(path: string): Eventually<FileSystemStat>;
  /** Returns all entries of a directory in any order, without `.` and `..`. */
  readDir(path: string): Eventually<readonly FileSystemEntry[]>;
  /**
   * Returns at most `length` bytes from `offset`. Fewer bytes, or none, mean the end of the file.
   */
  read(path: string, offset: number, length: number): Eventually<Uint8Array>;
  /**
   * Writes all of `data`. Fills a gap before `offset` with zeros. The method may keep the bytes.
   */
  write?(path: string, offset: number, data: Uint8Array): Eventually<void>;
  /** Makes an empty file. Fails with `EEXIST` if `path` exists. */
  create?(path: string, mode: number): Eventually<void>;
  /** Sets the size of a file. Fills added bytes with zeros. */
  truncate?(path: string, length: number): Eventually<void>;
  /** Makes a directory. Fails with `EEXIST` if `path` exists. */
  mkdir?(path: string, mode: number): Eventually<void>;
  /**
   * Removes a file, a link, or an empty directory. Fails with `ENOTEMPTY` if the directory has
   * entries.
   */
  remove?(path: string): Eventually<void>;
  /**
   * Renames a file, a link or a directory. Replaces a file, a link or an empty directory at `to`.
   * Fails with `ENOTEMPTY` if the directory at `to` has entries.
   */
  rename?(from: string, to: string): Eventually<void>;
  /** Makes a symbolic link. */
  symlink?(target: string, path: string): Eventually<void>;
  /** Returns the target of a symbolic link: a guest path, or a path relative to the link. */
  readlink?(path: string): Eventually<string>;
  /** Sets permission bits. */
  chmod?(path: string, mode: number): Eventually<void>;
  /** Sets the times of the last read and the last change, in milliseconds since 1970. */
  utimes?(path: string, atimeMs: number, mtimeMs: number): Eventually<void>;
}

/** An app file system in the guest's tree. */
export interface FileSystemMount {
  /**
   * An absolute guest path. Missing parent directories are made. The runtime's own files at the
   * path are hidden.
   */
  guestPath: string;
  fileSystem: FileSystem;
  /**
   * Whether the mount refuses changes with `EROFS`, even if the object has methods for changes.
   * @default false
   */
  readOnly?: boolean | undefined;
  /** Milliseconds that a program waits for one method. @default 30_000 */
  timeout?: number | undefined;
}
