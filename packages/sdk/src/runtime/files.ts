// A runtime's files, from outside: what is asked of the connection, in pieces that fit into a frame, and what comes back, in the shapes
// that users of Node know. Next: `seed.ts`, files that are there from the start.

import type { FileNames, FileType, FileStatus as WireStatus } from '../channel/messages.js';
import type { FileHandle, FileOpen, OpenedFiles } from '../channel/opened.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import { isColdframeError } from '../errors/error.js';
import { invalidOption } from '../errors/make.js';
import { GUEST_PATH, WHOLE } from '../options/bounds.js';
import { show } from '../options/show.js';

// What a Date can be.
const MAX_TIME_MS = 8.64e15;
// Bytes of one read or write; a frame holds twice as much.
const PIECE_BYTES = 16 * 1024 * 1024;

/** A name in a directory. */
export interface DirectoryEntry {
  /** The name alone. */
  name: string;
  /** What it names; a link is not followed. */
  type: FileType;
  isDirectory: boolean;
  isSymbolicLink: boolean;
}

/** What is known of a file. Times are milliseconds since 1970. */
export interface FileStatus {
  /** What it is. */
  type: FileType;
  isDirectory: boolean;
  isSymbolicLink: boolean;
  /** Type and permissions, as in `fs.Stats`. */
  mode: number;
  /** Bytes. */
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

/** Throws unless `path` is an absolute guest path. */
export function checkPath(call: string, option: string, path: unknown): void {
  if (typeof path === 'string' && GUEST_PATH.test(path)) return;
  throw invalidOption(call, { option, expected: 'an absolute guest path such as /workspace/data.json', received: show(path) });
}

/** Throws unless `data` is what a file can be written with. */
export function checkData(call: string, data: unknown): void {
  if (typeof data === 'string' || data instanceof Uint8Array) return;
  throw invalidOption(call, { option: 'data', expected: 'text or a Uint8Array', received: show(data) });
}

/** Throws unless `mode` is permissions. */
export function checkMode(call: string, mode: unknown): void {
  if (Number.isInteger(mode) && (mode as number) >= 0 && (mode as number) <= WHOLE.mode.max) return;
  throw invalidOption(call, { option: 'mode', expected: 'permissions such as 0o644', received: show(mode) });
}

/** A time of `utimes()` in microseconds. */
export function microseconds(call: string, option: string, time: unknown): number {
  const ms = time instanceof Date ? time.getTime() : time;
  if (typeof ms === 'number' && Math.abs(ms) <= MAX_TIME_MS) return Math.round(ms * 1000);
  throw invalidOption(call, { option, expected: 'a Date, or milliseconds since 1970', received: show(time) });
}

/** Throws unless `target` is what a link may say. */
export function checkTarget(call: string, target: unknown): void {
  if (typeof target === 'string' && target !== '' && !target.includes('\0')) return;
  throw invalidOption(call, { option: 'target', expected: 'text without NUL that is not empty', received: show(target) });
}

/** Text as UTF-8. */
export const toBytes = (data: string | Uint8Array): Uint8Array => (typeof data === 'string' ? Buffer.from(data) : data);

/** Replaces a file. One that is larger than a piece is not replaced at once, but in one state of the runtime: it stays open meanwhile. */
export async function writeFile(
  connection: SidecarConnection,
  runtime: number,
  path: string,
  data: Uint8Array,
  mode?: number,
): Promise<void> {
  if (data.length <= PIECE_BYTES) return connection.writeFile({ runtime, path, data, mode });
  const { opened } = connection;
  await whileOpen(opened, { runtime, path, for: 'write', mode }, async ({ handle }) => {
    for (let offset = 0; offset < data.length; offset += PIECE_BYTES) {
      await opened.push({ runtime, handle, offset, data: data.subarray(offset, offset + PIECE_BYTES) });
    }
  });
}

/** All bytes of a file, as they are in one state of the runtime. */
export async function readFile(connection: SidecarConnection, runtime: number, path: string): Promise<Uint8Array> {
  const first = await connection.readFile({ runtime, path, length: PIECE_BYTES });
  // A copy: what the channel hands out is a view of memory that it uses again.
  if (first.data.length >= first.size) return Uint8Array.from(first.data);
  const { opened } = connection;
  // From its beginning: by now it may be another file, or the file of another state.
  return whileOpen(opened, { runtime, path, for: 'read' }, async ({ handle, size }) => {
    const pieces: Uint8Array[] = [];
    for (let offset = 0; offset < size; ) {
      const { data } = await opened.pull({ runtime, handle, offset, length: PIECE_BYTES });
      if (data.length === 0) break; // it has become shorter meanwhile
      pieces.push(Uint8Array.from(data));
      offset += data.length;
    }
    return joined(pieces);
  });
}

// What goes wrong with closing it is not as important as what is done with it.
async function whileOpen<T>(files: OpenedFiles, open: FileOpen, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await files.open(open);
  try {
    return await work(file);
  } finally {
    await files.close({ runtime: open.runtime, handle: file.handle }).catch(() => {});
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

/** A listing as entries. */
export function entriesOf({ names, types }: FileNames): DirectoryEntry[] {
  return names.map((name, index) => {
    const type = types[index] as FileType;
    return { name, type, isDirectory: type === 'directory', isSymbolicLink: type === 'symlink' };
  });
}

/** A status in milliseconds. */
export function statusOf({ atimeUs, mtimeUs, ctimeUs, birthtimeUs, type, ...rest }: WireStatus): FileStatus {
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

/** Whether something is there, a link's target included. */
export async function exists(connection: SidecarConnection, runtime: number, path: string): Promise<boolean> {
  try {
    await connection.statFile({ runtime, path });
    return true;
  } catch (error) {
    if (isColdframeError(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG')) return false;
    throw error;
  }
}
