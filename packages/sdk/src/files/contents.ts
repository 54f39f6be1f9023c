// Reads and writes whole files of a runtime in pieces that fit into a frame. Converts the sidecar's
// listings and statuses to the public types.

import type { Requester } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';
import { assertSameLength } from '../protocol/check.js';
import type {
  FileHandle,
  FileNames,
  FileOpen,
  FileStatus as FileStatusMessage,
  FileType,
  RuntimeId,
} from '../protocol/generated/messages.js';

/** The largest size of one read or write in bytes: half of a frame. */
const PIECE_BYTES = 16 * 1024 * 1024;

/** An entry of a directory. */
export interface DirectoryEntry {
  /** The name without the directory. */
  name: string;
  /** The type of the entry. A link is not followed. */
  type: FileType;
  isDirectory: boolean;
  isSymbolicLink: boolean;
}

/** The status of a file. Times are milliseconds since 1970. */
export interface FileStatus {
  /** The type of the file. */
  type: FileType;
  isDirectory: boolean;
  isSymbolicLink: boolean;
  /** Type and permission bits, as in `fs.Stats`. */
  mode: number;
  /** Size in bytes. */
  size: number;
  ino: number;
  nlink: number;
  uid: number;
  gid: number;
  atimeMs: number;
  mtimeMs: number;
  ctimeMs: number;
  birthtimeMs: number;
}

/** Encodes text as UTF-8. */
export const toBytes = (data: string | Uint8Array): Uint8Array => (typeof data === 'string' ? Buffer.from(data) : data);

/**
 * Replaces a file. A file larger than a piece is not replaced atomically. Such a file stays open
 * until all pieces are written, so that a rollback before the last piece fails the call. A new file
 * has the mode and the owner in `created`.
 */
export async function writeFile(
  sidecar: Requester,
  runtime: RuntimeId,
  path: string,
  data: Uint8Array,
  created?: Pick<FileOpen, 'mode' | 'owner'>,
): Promise<void> {
  if (data.length <= PIECE_BYTES) return sidecar.request('file.write', { runtime, path, data, ...created });
  await whileOpen(sidecar, { runtime, path, for: 'write', ...created }, async ({ handle }) => {
    for (let offset = 0; offset < data.length; offset += PIECE_BYTES) {
      await sidecar.request('file.push', { runtime, handle, offset, data: data.subarray(offset, offset + PIECE_BYTES) });
    }
  });
}

/** Reads a whole file. All pieces belong to one state of the runtime. */
export async function readFile(sidecar: Requester, runtime: RuntimeId, path: string): Promise<Uint8Array> {
  const first = await sidecar.request('file.read', { runtime, path, length: PIECE_BYTES });
  // The bytes are copied, because the transport may reuse their memory.
  if (first.data.length >= first.size) return Uint8Array.from(first.data);
  // The file is read again from the start. After the first read, the path may name another file, or
  // the runtime may have been rolled back.
  return whileOpen(sidecar, { runtime, path, for: 'read' }, async ({ handle, size }) => {
    const pieces: Uint8Array[] = [];
    for (let offset = 0; offset < size; ) {
      const { data } = await sidecar.request('file.pull', { runtime, handle, offset, length: PIECE_BYTES });
      if (data.length === 0) break; // the file has become shorter
      pieces.push(Uint8Array.from(data));
      offset += data.length;
    }
    return joined(pieces);
  });
}

// Runs `work` with the open file, then closes the file. Ignores a failure to close the file,
// because the result of `work` matters more.
async function whileOpen<T>(sidecar: Requester, open: FileOpen, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await sidecar.request('file.open', open);
  try {
    return await work(file);
  } finally {
    await sidecar.request('file.close', { runtime: open.runtime, handle: file.handle }).catch(() => {});
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((bytes, piece) => bytes + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Converts the sidecar's listing of a directory to entries. */
export function entriesOf({ names, types }: FileNames): DirectoryEntry[] {
  assertSameLength(names, types);
  return names.map((name, index) => {
    const type = types[index] as FileType;
    return { name, type, isDirectory: type === 'directory', isSymbolicLink: type === 'symlink' };
  });
}

/** Converts the sidecar's status of a file, whose times are microseconds. */
export function statusOf({ atimeUs, mtimeUs, ctimeUs, birthtimeUs, type, ...rest }: FileStatusMessage): FileStatus {
  return {
    type,
    isDirectory: type === 'directory',
    isSymbolicLink: type === 'symlink',
    ...rest,
    atimeMs: atimeUs / 1000,
    mtimeMs: mtimeUs / 1000,
    ctimeMs: ctimeUs / 1000,
    birthtimeMs: birthtimeUs / 1000,
  };
}

/** Returns whether a path, or the target of a link, exists and can be reached. */
export async function exists(sidecar: Requester, runtime: RuntimeId, path: string): Promise<boolean> {
  try {
    await sidecar.request('file.stat', { runtime, path });
    return true;
  } catch (error) {
    if (isColdframeError(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG')) return false;
    throw error;
  }
}
