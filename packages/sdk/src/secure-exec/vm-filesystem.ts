// `vm.filesystem` of secure-exec 0.2.21: the files of the VM, for the app.

import { notSupported } from '../errors/make.js';
import type { DirectoryEntry, FileStatus, NodeRuntime } from '../index.js';

/** An entry of a tree. */
export interface DirEntry {
  /** The absolute path. */
  path: string;
  type: DirectoryEntry['type'];
  size: number;
}

/** Options of `readdirRecursive()`. */
export interface ReaddirRecursiveOptions {
  /** The number of levels below the immediate entries. @default all */
  maxDepth?: number | undefined;
  /** Names of directories that are left out. */
  exclude?: readonly string[] | undefined;
}

/** The result for one file of several. */
export interface BatchWriteResult {
  path: string;
  success: boolean;
  error?: string;
}

/** The content of one file of several. */
export interface BatchReadResult {
  path: string;
  content: Uint8Array | null;
  error?: string;
}

/** The files of a VM. */
export class VmFilesystem {
  readonly #runtime: NodeRuntime;

  constructor(runtime: NodeRuntime) {
    this.#runtime = runtime;
  }

  readFile(path: string): Promise<Uint8Array> {
    return this.#runtime.readFile(path);
  }

  writeFile(path: string, content: string | Uint8Array): Promise<void> {
    return this.#runtime.writeFile(path, content);
  }

  readFiles(paths: readonly string[]): Promise<BatchReadResult[]> {
    return Promise.all(
      paths.map((path) =>
        this.readFile(path).then(
          (content) => ({ path, content }),
          (error: unknown) => ({ path, content: null, error: messageOf(error) }),
        ),
      ),
    );
  }

  writeFiles(entries: readonly { path: string; content: string | Uint8Array }[]): Promise<BatchWriteResult[]> {
    return Promise.all(
      entries.map(({ path, content }) =>
        this.writeFile(path, content).then(
          () => ({ path, success: true }),
          (error: unknown) => ({ path, success: false, error: messageOf(error) }),
        ),
      ),
    );
  }

  stat(path: string): Promise<FileStatus> {
    return this.#runtime.stat(path);
  }

  exists(path: string): Promise<boolean> {
    return this.#runtime.exists(path);
  }

  mkdir(path: string, options?: { recursive?: boolean | undefined }): Promise<void> {
    return this.#runtime.mkdir(path, options);
  }

  readdir(path: string): Promise<string[]> {
    return this.#runtime.readDir(path);
  }

  readdirEntries(path: string): Promise<DirectoryEntry[]> {
    return this.#runtime.readDirWithTypes(path);
  }

  /** Returns the entries below a directory. Links are not followed. */
  async readdirRecursive(path: string, options: ReaddirRecursiveOptions = {}): Promise<DirEntry[]> {
    const { maxDepth = Number.POSITIVE_INFINITY, exclude = [] } = options;
    const entries = await this.readdirEntries(path);
    const found: DirEntry[] = [];
    for (const { name, type, isDirectory } of entries) {
      if (isDirectory && exclude.includes(name)) continue;
      const below = `${path === '/' ? '' : path}/${name}`;
      const { size } = await this.#runtime.stat(below, { followSymlinks: false });
      found.push({ path: below, type, size });
      if (isDirectory && maxDepth > 0) found.push(...(await this.readdirRecursive(below, { exclude, maxDepth: maxDepth - 1 })));
    }
    return found;
  }

  move(from: string, to: string): Promise<void> {
    return this.#runtime.rename(from, to);
  }

  remove(path: string, options?: { recursive?: boolean | undefined }): Promise<void> {
    return this.#runtime.remove(path, options);
  }

  /** Rejects with `ERR_NOT_SUPPORTED`. */
  async export(): Promise<never> {
    throw notSupported('filesystem.export()', 'use `exportTar()` of the SDK: `vm.coldframe.exportTar()`');
  }

  /** Rejects with `ERR_NOT_SUPPORTED`. */
  async mount(): Promise<never> {
    throw notSupported('filesystem.mount()', 'pass `mounts` to createVm()');
  }

  /** Rejects with `ERR_NOT_SUPPORTED`. */
  async unmount(): Promise<never> {
    throw notSupported('filesystem.unmount()', 'pass `mounts` to createVm()');
  }

  /** Rejects with `ERR_NOT_SUPPORTED`. */
  async listMounts(): Promise<never> {
    throw notSupported('filesystem.listMounts()', 'the app knows the mounts that it passed to createVm()');
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
