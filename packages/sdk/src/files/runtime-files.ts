// Implements the calls for the files of one runtime: checks arguments, sends requests and converts
// results. Permissions are not checked, because the calls are the app's own. Next: `contents.ts`,
// `streams.ts`, `archives.ts`.

import type { Readable, Writable } from 'node:stream';
import { checkArgument, checkOptions, type OptionCall } from '../options/check.js';
import {
  DIRECTORY_PREFIX,
  type ExportTarOptions,
  FILE_DATA,
  FILE_MODE,
  FILE_OWNER,
  FILE_PATH,
  FILE_TIME,
  type ImportTarOptions,
  LINK_TARGET,
  type MkdirOptions,
  type ReadStreamOptions,
  type StatOptions,
  TAR_SOURCE,
  type TarSource,
  type TreeOptions,
  timeOf,
  type WatchOptions,
  type WriteFileOptions,
  type WriteStreamOptions,
} from '../options/files.js';
import { idsOf, type Owner } from '../options/owner.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import { exportTar, importTar } from './archives.js';
import { type DirectoryEntry, entriesOf, exists, type FileStatus, readFile, statusOf, toBytes, writeFile } from './contents.js';
import { readStream, writeStream } from './streams.js';
import { makeTemporaryDirectory } from './temporary-directory.js';
import { UserAttributes } from './user-attributes.js';
import { type FileChange, type FileEvent, type FileWatch, Watch } from './watch.js';

/** The calls of `NodeRuntime` for files. */
export class RuntimeFiles {
  readonly #access: RuntimeAccess;
  readonly #cwd: string;

  /** `cwd` is the runtime's working directory. */
  constructor(access: RuntimeAccess, cwd: string) {
    this.#access = access;
    this.#cwd = cwd;
  }

  get xattrs(): UserAttributes {
    return new UserAttributes(this.#access);
  }

  async writeFile(path: string, data: string | Uint8Array, options: WriteFileOptions | undefined): Promise<void> {
    checkOptions('writeFile()', options);
    const { connection, runtime } = this.#checked('writeFile()', path);
    checkArgument('writeFile()', 'data', FILE_DATA, data);
    await writeFile(connection, runtime, path, toBytes(data), { mode: options?.mode, owner: idsOf(options?.owner) });
  }

  async readFile(path: string): Promise<Uint8Array> {
    const { connection, runtime } = this.#checked('readFile()', path);
    return readFile(connection, runtime, path);
  }

  async readDir(path: string): Promise<string[]> {
    const { connection, runtime } = this.#checked('readDir()', path);
    return (await connection.request('file.list', { runtime, path })).names;
  }

  async readDirWithTypes(path: string): Promise<DirectoryEntry[]> {
    const { connection, runtime } = this.#checked('readDirWithTypes()', path);
    return entriesOf(await connection.request('file.list', { runtime, path }));
  }

  async stat(path: string, options: StatOptions | undefined): Promise<FileStatus> {
    checkOptions('stat()', options);
    const { connection, runtime } = this.#checked('stat()', path);
    return statusOf(await connection.request('file.stat', { runtime, path, follow: options?.followSymlinks }));
  }

  async exists(path: string): Promise<boolean> {
    const { connection, runtime } = this.#checked('exists()', path);
    return exists(connection, runtime, path);
  }

  async mkdir(path: string, options: MkdirOptions | undefined): Promise<void> {
    checkOptions('mkdir()', options);
    const { connection, runtime } = this.#checked('mkdir()', path);
    await connection.request('file.mkdir', { runtime, path, recursive: options?.recursive, owner: idsOf(options?.owner) });
  }

  async mkdtemp(prefix: string): Promise<string> {
    checkArgument('mkdtemp()', 'prefix', DIRECTORY_PREFIX, prefix);
    this.#access.assertUsable();
    return makeTemporaryDirectory(this.#access, prefix);
  }

  async remove(path: string, options: TreeOptions | undefined): Promise<void> {
    checkOptions('remove()', options);
    const { connection, runtime } = this.#checked('remove()', path);
    await connection.request('file.remove', { runtime, path, recursive: options?.recursive });
  }

  async rename(from: string, to: string): Promise<void> {
    const { connection, runtime } = this.#checked('rename()', from, 'from');
    checkArgument('rename()', 'to', FILE_PATH, to);
    await connection.request('file.rename', { runtime, from, to });
  }

  async symlink(target: string, path: string): Promise<void> {
    checkArgument('symlink()', 'target', LINK_TARGET, target);
    const { connection, runtime } = this.#checked('symlink()', path);
    await connection.request('file.link', { runtime, path, target });
  }

  async readlink(path: string): Promise<string> {
    const { connection, runtime } = this.#checked('readlink()', path);
    return (await connection.request('file.readlink', { runtime, path })).target;
  }

  async chmod(path: string, mode: number): Promise<void> {
    checkArgument('chmod()', 'mode', FILE_MODE, mode);
    const { connection, runtime } = this.#checked('chmod()', path);
    await connection.request('file.set', { runtime, path, mode });
  }

  async chown(path: string, owner: Owner): Promise<void> {
    checkArgument('chown()', 'owner', FILE_OWNER, owner);
    const { connection, runtime } = this.#checked('chown()', path);
    await connection.request('file.set', { runtime, path, owner: idsOf(owner) });
  }

  async utimes(path: string, atime: Date | number, mtime: Date | number): Promise<void> {
    checkArgument('utimes()', 'atime', FILE_TIME, atime);
    checkArgument('utimes()', 'mtime', FILE_TIME, mtime);
    const { connection, runtime } = this.#checked('utimes()', path);
    await connection.request('file.set', { runtime, path, atimeUs: microseconds(atime), mtimeUs: microseconds(mtime) });
  }

  watch<T extends FileChange | FileEvent>(path: string, options: WatchOptions): FileWatch<T> {
    const { connection, runtime } = this.#access;
    return new Watch<T>(connection, runtime, path, options, this.#ready('watch()', path, options));
  }

  createReadStream(path: string, options: ReadStreamOptions): Readable {
    const { connection, runtime } = this.#access;
    return readStream(connection, runtime, path, options, this.#ready('createReadStream()', path, options));
  }

  createWriteStream(path: string, options: WriteStreamOptions): Writable {
    const { connection, runtime } = this.#access;
    const ready = this.#ready('createWriteStream()', path, options);
    const { append, mode, owner, signal } = options;
    const purpose = append ? 'append' : 'write';
    return writeStream(connection, runtime, { path, for: purpose, mode, owner: idsOf(owner) }, ready, signal);
  }

  exportTar(path: string = this.#cwd, options: ExportTarOptions = {}): Readable {
    const { connection, runtime } = this.#access;
    return exportTar(connection, runtime, path, options, this.#ready('exportTar()', path, options));
  }

  async importTar(source: TarSource, options: ImportTarOptions): Promise<void> {
    checkArgument('importTar()', 'source', TAR_SOURCE, source);
    const path = options.path ?? this.#cwd;
    checkOptions('importTar()', options);
    const { connection, runtime } = this.#checked('importTar()', path);
    await undefined; // the app's iterator must not run before `importTar()` has returned
    const { gzip, keepOwners, owner } = options;
    await importTar(connection, runtime, { path, keepOwners, owner: idsOf(owner) }, source, gzip);
  }

  // Checks the arguments of a call that returns a stream or a watch. Returns `undefined` for
  // correct arguments, else a promise that rejects. The stream or the watch reports the rejection.
  // If the app uses neither, no unhandled rejection occurs.
  #ready(call: OptionCall, path: unknown, options: unknown): Promise<void> | undefined {
    try {
      checkOptions(call, options);
      this.#checked(call, path);
      return undefined;
    } catch (error) {
      const failed = Promise.reject(error);
      failed.catch(() => {});
      return failed;
    }
  }

  #checked(call: string, path: unknown, argument = 'path'): RuntimeAccess {
    checkArgument(call, argument, FILE_PATH, path);
    this.#access.assertUsable();
    return this.#access;
  }
}

const microseconds = (time: Date | number): number => Math.round((timeOf(time) as number) * 1000);
