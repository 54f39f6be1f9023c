// What a runtime's handle offers of its files. A class of its own, because `node-runtime.ts` is long enough: it checks what comes in, asks the
// connection, and shapes what comes back. Next: `files.ts`, `file-streams.ts`, `archives.ts`, `watch.ts`.

import type { Readable, Writable } from 'node:stream';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { acceptable, explain, type OptionSet } from '../options/check.js';
import { checkSource, type ExportTarOptions, exportTar, type ImportTarOptions, importTar, type TarSource } from './archives.js';
import { type ReadStreamOptions, readStream, type WriteStreamOptions, writeStream } from './file-streams.js';
import {
  checkData,
  checkMode,
  checkPath,
  checkTarget,
  type DirectoryEntry,
  entriesOf,
  exists,
  type FileStatus,
  microseconds,
  readFile,
  statusOf,
  toBytes,
  writeFile,
} from './files.js';
import { NetworkMethods } from './network-methods.js';
import { type FileChange, Watch, type WatchOptions } from './watch.js';

/** Whose files they are. */
export interface FilePlace {
  connection: SidecarConnection;
  runtime: number;
  /** Its working directory. */
  cwd: string;
}

/** The calls of a runtime that are about its files. Paths are absolute guest paths; the owner asks, so permissions do not count. */
export abstract class FileMethods extends NetworkMethods {
  /** @internal The runtime. */
  protected abstract place(): FilePlace;
  /** @internal Throws when it has been disposed. */
  protected abstract assertAlive(): void;

  /**
   * Replaces the file at `path`, an absolute guest path; directories above it are made. Text is written as UTF-8. The file belongs to the
   * guest; one that is made has the permissions `mode`, or 0o644. Like all file operations here it is not bound by permissions, but by mounts that are read-only.
   *
   * @throws a code such as `ENOSPC`, with `path` and `syscall`; `ERR_INVALID_OPTION`, and what `exec()` throws about runtime and sidecar
   */
  async writeFile(path: string, data: string | Uint8Array, options?: { mode?: number }): Promise<void> {
    if (!acceptable('writeFile()', options)) await explain('writeFile()', options);
    const { connection, runtime } = this.#checked('writeFile()', path);
    checkData('writeFile()', data);
    await writeFile(connection, runtime, path, toBytes(data), options?.mode);
  }

  /**
   * All bytes of a file.
   *
   * @throws a code such as `ENOENT`; otherwise as `writeFile()`
   */
  async readFile(path: string): Promise<Uint8Array> {
    const { connection, runtime } = this.#checked('readFile()', path);
    return readFile(connection, runtime, path);
  }

  /**
   * Names in a directory, in order.
   *
   * @throws a code such as `ENOTDIR`; otherwise as `writeFile()`
   */
  async readDir(path: string): Promise<string[]> {
    const { connection, runtime } = this.#checked('readDir()', path);
    return (await connection.listFiles({ runtime, path })).names;
  }

  /**
   * The same, with what each of them names.
   *
   * @throws as `readDir()`
   */
  async readDirWithTypes(path: string): Promise<DirectoryEntry[]> {
    const { connection, runtime } = this.#checked('readDirWithTypes()', path);
    return entriesOf(await connection.listFiles({ runtime, path }));
  }

  /**
   * What is known of a file; of a link itself with `followSymlinks: false`.
   *
   * @throws a code such as `ENOENT`; otherwise as `writeFile()`
   */
  async stat(path: string, options?: { followSymlinks?: boolean }): Promise<FileStatus> {
    if (!acceptable('stat()', options)) await explain('stat()', options);
    const { connection, runtime } = this.#checked('stat()', path);
    return statusOf(await connection.statFile({ runtime, path, follow: options?.followSymlinks }));
  }

  /**
   * Whether something is there; a link counts when its target is.
   *
   * @throws as `writeFile()`, but no file error that means that nothing is there
   */
  async exists(path: string): Promise<boolean> {
    const { connection, runtime } = this.#checked('exists()', path);
    return exists(connection, runtime, path);
  }

  /**
   * Makes a directory; with `recursive` also those above it, and then it may be there already.
   *
   * @throws a code such as `EEXIST`; otherwise as `writeFile()`
   */
  async mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
    if (!acceptable('mkdir()', options)) await explain('mkdir()', options);
    const { connection, runtime } = this.#checked('mkdir()', path);
    await connection.makeDirectory({ runtime, path, recursive: options?.recursive });
  }

  /**
   * Removes a file, a link or an empty directory; with `recursive` a directory with all that is in it.
   *
   * @throws a code such as `ENOTEMPTY`; otherwise as `writeFile()`
   */
  async remove(path: string, options?: { recursive?: boolean }): Promise<void> {
    if (!acceptable('remove()', options)) await explain('remove()', options);
    const { connection, runtime } = this.#checked('remove()', path);
    await connection.removeFile({ runtime, path, recursive: options?.recursive });
  }

  /**
   * Gives a file or a directory another name, in place of what has it.
   *
   * @throws a code such as `ENOENT`; otherwise as `writeFile()`
   */
  async rename(from: string, to: string): Promise<void> {
    const { connection, runtime } = this.#checked('rename()', from, 'from');
    checkPath('rename()', 'to', to);
    await connection.renameFile({ runtime, from, to });
  }

  /**
   * Makes a symbolic link at `path` that leads to `target`, a guest path or one relative to the link.
   *
   * @throws a code such as `EEXIST`; otherwise as `writeFile()`
   */
  async symlink(target: string, path: string): Promise<void> {
    checkTarget('symlink()', target);
    const { connection, runtime } = this.#checked('symlink()', path);
    await connection.opened.link({ runtime, path, target });
  }

  /**
   * What the symbolic link at `path` says.
   *
   * @throws `EINVAL` when it is no link; otherwise as `writeFile()`
   */
  async readlink(path: string): Promise<string> {
    const { connection, runtime } = this.#checked('readlink()', path);
    return connection.opened.readlink({ runtime, path });
  }

  /**
   * Sets a file's permissions, such as 0o755; of a link those of the file that it leads to.
   *
   * @throws a code such as `ENOENT`; otherwise as `writeFile()`
   */
  async chmod(path: string, mode: number): Promise<void> {
    checkMode('chmod()', mode);
    const { connection, runtime } = this.#checked('chmod()', path);
    await connection.opened.set({ runtime, path, mode });
  }

  /**
   * Sets when a file was last read and changed: a Date, or milliseconds since 1970.
   *
   * @throws a code such as `ENOENT`; otherwise as `writeFile()`
   */
  async utimes(path: string, atime: Date | number, mtime: Date | number): Promise<void> {
    const [atimeUs, mtimeUs] = [microseconds('utimes()', 'atime', atime), microseconds('utimes()', 'mtime', mtime)];
    const { connection, runtime } = this.#checked('utimes()', path);
    await connection.opened.set({ runtime, path, atimeUs, mtimeUs });
  }

  /**
   * What happens to a file or in a directory from now on, told by events; see `FileChange`. It ends with `return()` (leaving the loop), the
   * signal, or the runtime. What is not asked for is kept up to 64 KiB of names.
   *
   * @throws in the iteration: a code such as `ENOENT`, `ENOSYS` for what cannot be watched; otherwise as `writeFile()`
   */
  watch(path: string, options: WatchOptions = {}): AsyncIterableIterator<FileChange> {
    const { connection, runtime } = this.place();
    const ready = this.#ready('watch()', path, options);
    return new Watch(connection.opened, runtime, path, options, ready);
  }

  /**
   * Reads a file in pieces, however large it is. `start` and `end` are its first and its last byte, as in Node.
   *
   * @throws as the stream's `error`: as `readFile()`
   */
  createReadStream(path: string, options: ReadStreamOptions = {}): Readable {
    const { connection, runtime } = this.place();
    const ready = this.#ready('createReadStream()', path, options);
    return readStream(connection.opened, runtime, path, options, ready);
  }

  /**
   * Writes a file in pieces: one that is made or cut off, or with `append` grows. Directories above it are made.
   *
   * @throws as the stream's `error`: as `writeFile()`
   */
  createWriteStream(path: string, options: WriteStreamOptions = {}): Writable {
    const { connection, runtime } = this.place();
    const ready = this.#ready('createWriteStream()', path, options);
    const { append, mode, signal } = options;
    const purpose = append ? 'append' : 'write';
    return writeStream(connection.opened, runtime, { path, for: purpose, mode }, ready, signal);
  }

  /**
   * A tar archive of what lies at `path`, the working directory unless given. Of a directory it holds what is in it, with names that are
   * relative to it. Programs may go on meanwhile: what goes is left out. Devices, sockets and `/proc` are left out always.
   *
   * @throws as the stream's `error`: as `readFile()`
   */
  exportTar(path: string = this.place().cwd, options: ExportTarOptions = {}): Readable {
    const { connection, runtime } = this.place();
    const ready = this.#ready('exportTar()', path, options);
    return exportTar(connection.opened, runtime, path, options, ready);
  }

  /**
   * Unpacks a tar archive into a directory, and nowhere else: absolute names, `..`, devices and what would lie behind a link are refused.
   * Files and links that have a name of the archive's are replaced. When it fails, what came before in the archive stays.
   *
   * @throws `ERR_ARCHIVE`, a code such as `ENOSPC`, what the source or zlib throws; otherwise as `writeFile()`
   */
  async importTar(source: TarSource, options: ImportTarOptions = {}): Promise<void> {
    checkSource(source);
    const { connection, runtime, cwd } = this.place();
    const path = options.path ?? cwd;
    await this.#ready('importTar()', path, options);
    await importTar(connection.opened, runtime, path, source, options.gzip);
  }

  // What a stream begins with: it tells of what is wrong, even if nobody else asks.
  #ready(call: OptionSet, path: unknown, options: unknown): Promise<void> | undefined {
    try {
      if (acceptable(call, options)) {
        this.#checked(call, path);
        return undefined;
      }
    } catch (error) {
      return rejected(error);
    }
    const ready = explain(call, options).then(() => void this.#checked(call, path));
    ready.catch(() => {});
    return ready;
  }

  #checked(call: string, path: unknown, option = 'path'): FilePlace {
    checkPath(call, option, path);
    this.assertAlive();
    return this.place();
  }
}

function rejected(error: unknown): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  return promise;
}
