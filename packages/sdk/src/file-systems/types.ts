// File systems of the app's own: what such a one is, for those who write one. Next: `memory.ts`, an example that works.

/** What a file system knows of a file. */
export interface FileSystemStat {
  type: 'file' | 'directory' | 'symlink';
  /** Bytes. */
  size: number;
  /** Permissions. @default 0o755 for directories, 0o777 for links, 0o644 */
  mode?: number;
  /** Milliseconds since 1970, as the others. @default 0 */
  mtimeMs?: number;
  /** @default mtimeMs */
  atimeMs?: number;
  /** @default mtimeMs */
  ctimeMs?: number;
  /** @default ctimeMs */
  birthtimeMs?: number;
  /** A number that the file keeps. @default one that comes of its path */
  ino?: number;
  /** How many names it has. @default 1 */
  nlink?: number;
}

/** A name in a directory. */
export interface FileSystemEntry {
  name: string;
  type: FileSystemStat['type'];
}

/** What a method gives: at once, or later. */
export type Eventually<T> = T | Promise<T>;

/**
 * Files that are wherever its methods say, for `mounts: [{ guestPath, fileSystem }]`. Paths are absolute, `/` is where it is mounted, and links on
 * the way have been followed already: a method is about the thing itself.
 *
 * A method throws, or rejects with, an error that has the name of a Linux error number as its `code`, such as `ENOENT`; any other error is
 * `EIO` for the guest, and its text stays here. What is not given back within the mount's `timeout` is `ETIMEDOUT`. Methods that are
 * left out are `EROFS` when they change what files hold, else `EOPNOTSUPP`. Several calls may be under way at a time.
 */
export interface FileSystem {
  /** Of a link: the link's own. `ENOENT` when there is nothing. */
  stat(path: string): Eventually<FileSystemStat>;
  /** Everything in a directory, in any order, without `.` and `..`. */
  readDir(path: string): Eventually<readonly FileSystemEntry[]>;
  /** At most `length` bytes from `offset` on; fewer, or none, at the end of the file. */
  read(path: string, offset: number, length: number): Eventually<Uint8Array>;
  /** Writes all of `data`; a file that is shorter than `offset` is filled up with zeros. The bytes are the method's to keep. */
  write?(path: string, offset: number, data: Uint8Array): Eventually<void>;
  /** Makes an empty file. `EEXIST` when something is there. */
  create?(path: string, mode: number): Eventually<void>;
  /** Makes a file shorter, or longer with zeros. */
  truncate?(path: string, length: number): Eventually<void>;
  /** Makes a directory. `EEXIST` when something is there. */
  mkdir?(path: string, mode: number): Eventually<void>;
  /** Removes a file, a link, or a directory; `ENOTEMPTY` when something is in it. */
  remove?(path: string): Eventually<void>;
  /** Gives something another name, in place of what has it: a file or a link, or an empty directory (`ENOTEMPTY`). */
  rename?(from: string, to: string): Eventually<void>;
  /** Makes a symbolic link. */
  symlink?(target: string, path: string): Eventually<void>;
  /** What a symbolic link says: a path of the guest, or one relative to the link. */
  readlink?(path: string): Eventually<string>;
  /** Sets permissions. */
  chmod?(path: string, mode: number): Eventually<void>;
  /** Sets times, in milliseconds since 1970. */
  utimes?(path: string, atimeMs: number, mtimeMs: number): Eventually<void>;
}

/** A file system of the app's in the guest's tree. */
export interface FileSystemMount {
  /** Where the guest sees it, an absolute guest path. Directories above it are made; what lies there is hidden. */
  guestPath: string;
  fileSystem: FileSystem;
  /** Whether programs can change nothing in it, whatever methods it has. @default false */
  readOnly?: boolean;
  /** For how many milliseconds a program waits for one of its methods. @default 30_000 */
  timeout?: number;
}
