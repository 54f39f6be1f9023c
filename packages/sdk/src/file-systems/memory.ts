// An app file system in this process's memory: for tests, for files that outlive a runtime, and as
// an example of the interface.

import type { FileSystem, FileSystemEntry, FileSystemStat } from '../options/file-system.js';

/** Options of `createMemoryFileSystem()`. */
export interface MemoryFileSystemOptions {
  /**
   * The largest total size of all files in bytes. A write that exceeds the limit fails with
   * `ENOSPC`. As many bytes are available for names, directories and links. Each entry counts as
   * 512 bytes, and the length of its name and of its target.
   * @default 67_108_864 (64 MiB)
   */
  maxBytes?: number | undefined;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** Bytes that an entry counts in addition to its texts: about the memory of a `Node` in a `Map`. */
const ENTRY_BYTES = 512;

interface NodeStatus {
  ino: number;
  mode: number;
  atimeMs: number;
  mtimeMs: number;
  ctimeMs: number;
  birthtimeMs: number;
}
interface Folder extends NodeStatus {
  type: 'directory';
  entries: Map<string, Node>;
}
interface File extends NodeStatus {
  type: 'file';
  data: Buffer;
  size: number;
}
interface Link extends NodeStatus {
  type: 'symlink';
  target: string;
}
type Node = Folder | File | Link;

/** Returns the bytes that an entry counts apart from the content of its file. */
const costOf = (name: string, node: Node): number =>
  ENTRY_BYTES + name.length + (node.type === 'symlink' ? node.target.length : 0);

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: '${path}'`), { code });
}

/**
 * Makes an empty file system. The files exist as long as the app or a runtime refers to the file
 * system. Several runtimes may mount the file system at the same time, and the app may call the
 * methods of the file system.
 */
export function createMemoryFileSystem(options: MemoryFileSystemOptions = {}): Required<FileSystem> {
  return new MemoryFileSystem(options.maxBytes ?? MAX_BYTES);
}

class MemoryFileSystem implements Required<FileSystem> {
  readonly #maxBytes: number;
  /** Bytes of the buffers of all files. */
  #bytes = 0;
  /** Bytes that all entries count. */
  #entryBytes = 0;
  #lastIno = 1;
  readonly #root: Folder;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#root = { type: 'directory', entries: new Map(), ...this.#newStatus(0o755) };
  }

  stat(path: string): FileSystemStat {
    const node = this.#find(path);
    const { type, mode, ino, atimeMs, mtimeMs, ctimeMs, birthtimeMs } = node;
    const size = node.type === 'file' ? node.size : node.type === 'symlink' ? Buffer.byteLength(node.target) : 4096;
    return { type, size, mode, ino, nlink: 1, atimeMs, mtimeMs, ctimeMs, birthtimeMs };
  }

  readDir(path: string): FileSystemEntry[] {
    return [...this.#folder(path).entries].map(([name, { type }]) => ({ name, type }));
  }

  read(path: string, offset: number, length: number): Uint8Array {
    const file = this.#file(path);
    const end = Math.min(offset + length, file.size);
    return offset >= end ? new Uint8Array(0) : Uint8Array.from(file.data.subarray(offset, end));
  }

  write(path: string, offset: number, data: Uint8Array): void {
    const file = this.#file(path);
    if (offset + data.length > file.size) this.#resize(file, offset + data.length, path);
    file.data.set(data, offset);
    this.#changed(file);
  }

  create(path: string, mode: number): void {
    this.#add(path, { type: 'file', data: Buffer.alloc(0), size: 0, ...this.#newStatus(mode) });
  }

  truncate(path: string, length: number): void {
    const file = this.#file(path);
    this.#resize(file, length, path);
    this.#changed(file);
  }

  mkdir(path: string, mode: number): void {
    this.#add(path, { type: 'directory', entries: new Map(), ...this.#newStatus(mode) });
  }

  remove(path: string): void {
    const { folder, name } = this.#parentOf(path);
    const node = folder.entries.get(name);
    if (node === undefined) throw failure('ENOENT', path);
    if (node.type === 'directory' && node.entries.size > 0) throw failure('ENOTEMPTY', path);
    folder.entries.delete(name);
    this.#entryBytes -= costOf(name, node);
    if (node.type === 'file') this.#bytes -= node.data.length;
    this.#changed(folder);
  }

  rename(from: string, to: string): void {
    const node = this.#find(from);
    const [source, target] = [this.#parentOf(from), this.#parentOf(to)];
    const old = target.folder.entries.get(target.name);
    if (old === node) return;
    if (node.type === 'directory' && `${to}/`.startsWith(`${from}/`)) throw failure('EINVAL', to);
    if (old !== undefined) {
      if (old.type === 'directory' && node.type !== 'directory') throw failure('EISDIR', to);
      if (old.type !== 'directory' && node.type === 'directory') throw failure('ENOTDIR', to);
      this.remove(to);
    }
    const grown = target.name.length - source.name.length;
    if (grown > this.#maxBytes - this.#entryBytes) throw failure('ENOSPC', to);
    this.#entryBytes += grown;
    source.folder.entries.delete(source.name);
    target.folder.entries.set(target.name, node);
    node.ctimeMs = Date.now();
    this.#changed(source.folder);
    this.#changed(target.folder);
  }

  symlink(target: string, path: string): void {
    this.#add(path, { type: 'symlink', target, ...this.#newStatus(0o777) });
  }

  readlink(path: string): string {
    const node = this.#find(path);
    if (node.type !== 'symlink') throw failure('EINVAL', path);
    return node.target;
  }

  chmod(path: string, mode: number): void {
    const node = this.#find(path);
    node.mode = mode;
    node.ctimeMs = Date.now();
  }

  utimes(path: string, atimeMs: number, mtimeMs: number): void {
    Object.assign(this.#find(path), { atimeMs, mtimeMs, ctimeMs: Date.now() });
  }

  #newStatus(mode: number): NodeStatus {
    const now = Date.now();
    return { ino: ++this.#lastIno, mode, atimeMs: now, mtimeMs: now, ctimeMs: now, birthtimeMs: now };
  }

  #changed(node: Node): void {
    node.mtimeMs = node.ctimeMs = Date.now();
  }

  #find(path: string): Node {
    let node: Node = this.#root;
    for (const name of path.split('/')) {
      if (name === '') continue;
      if (node.type !== 'directory') throw failure('ENOTDIR', path);
      const next: Node | undefined = node.entries.get(name);
      if (next === undefined) throw failure('ENOENT', path);
      node = next;
    }
    return node;
  }

  #folder(path: string): Folder {
    const node = this.#find(path);
    if (node.type !== 'directory') throw failure('ENOTDIR', path);
    return node;
  }

  #file(path: string): File {
    const node = this.#find(path);
    if (node.type === 'directory') throw failure('EISDIR', path);
    if (node.type === 'symlink') throw failure('EINVAL', path);
    return node;
  }

  #parentOf(path: string): { folder: Folder; name: string } {
    const cut = path.lastIndexOf('/');
    const name = path.slice(cut + 1);
    if (name === '') throw failure('EBUSY', path);
    return { folder: this.#folder(path.slice(0, cut)), name };
  }

  #add(path: string, node: Node): void {
    const { folder, name } = this.#parentOf(path);
    if (folder.entries.has(name)) throw failure('EEXIST', path);
    const cost = costOf(name, node);
    if (cost > this.#maxBytes - this.#entryBytes) throw failure('ENOSPC', path);
    this.#entryBytes += cost;
    folder.entries.set(name, node);
    this.#changed(folder);
  }

  // The buffer of a growing file grows by half of its size, so that most small writes copy no
  // buffer. The buffer counts, and not the size, because a file can be much smaller than its
  // buffer.
  #resize(file: File, size: number, path: string): void {
    const room = this.#maxBytes - this.#bytes + file.data.length;
    if (size > room) throw failure('ENOSPC', path);
    if (size > file.data.length || size < file.data.length / 4) {
      const isGrowing = size > file.size && file.size > 0;
      const data = Buffer.alloc(isGrowing ? Math.min(room, Math.max(size, Math.ceil(file.size * 1.5))) : size);
      file.data.copy(data, 0, 0, Math.min(file.size, size));
      this.#bytes += data.length - file.data.length;
      file.data = data;
    } else {
      file.data.fill(0, Math.min(size, file.size), Math.max(size, file.size));
    }
    file.size = size;
  }
}
