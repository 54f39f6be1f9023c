// Decodes the host calls of app file systems, and encodes the results. Numbers are little-endian. A
// text is its length (u32) and its UTF-8 bytes. `docs/internals/protocol.md` has the table of
// calls.

import { HostError } from '../host-calls/host-error.js';
import type { FileSystemEntry, FileSystemStat } from '../options/file-system.js';

const KINDS = { file: 1, directory: 2, symlink: 3 } as const;
const MODES = { file: 0o644, directory: 0o755, symlink: 0o777 } as const;
const STAT_BYTES = 57;
const NS_PER_MS = 1e6;
const MAX_TIME_MS = 9e12;

/**
 * Reads the input of a host call. The sidecar wrote the input, so malformed input means a broken
 * sidecar.
 */
export class CallReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(input: Uint8Array) {
    this.#bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  }

  u32(): number {
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  u64(): number {
    this.#at += 8;
    return Number(this.#bytes.readBigUInt64LE(this.#at - 8));
  }

  /** Reads nanoseconds and returns milliseconds. */
  time(): number {
    this.#at += 8;
    return Number(this.#bytes.readBigInt64LE(this.#at - 8)) / NS_PER_MS;
  }

  text(): string {
    const length = this.u32();
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  rest(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(this.#at));
  }
}

/** Bytes before the name of an entry: its type and the length of the name. */
const ENTRY_HEAD_BYTES = 5;

/** Makes the error for an invalid result of a method. */
const invalidResult = (what: string): HostError => new HostError('EIO', `the file system returned ${what}`);

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function time(value: unknown): bigint {
  if (typeof value !== 'number' || !(Math.abs(value) <= MAX_TIME_MS)) throw invalidResult('an invalid time');
  return BigInt(Math.round(value * NS_PER_MS));
}

/** Encodes a status in 57 bytes. Throws `EIO` for an invalid status. */
export function encodeStat(stat: FileSystemStat): Uint8Array {
  if (typeof stat !== 'object' || stat === null || !Object.hasOwn(KINDS, stat.type)) throw invalidResult('a stat without a type');
  const { type, size, mode = MODES[type], ino = 0, nlink = 1, mtimeMs = 0, atimeMs = mtimeMs, ctimeMs = mtimeMs } = stat;
  if (!isWhole(size) || !isWhole(mode) || !isWhole(ino) || !isWhole(nlink)) throw invalidResult('a stat with invalid numbers');
  const bytes = Buffer.alloc(STAT_BYTES);
  let at = bytes.writeUInt8(KINDS[type], 0);
  at = bytes.writeUInt32LE(mode & 0o7777, at);
  at = bytes.writeBigUInt64LE(BigInt(size), at);
  for (const ms of [atimeMs, mtimeMs, ctimeMs, stat.birthtimeMs ?? ctimeMs]) at = bytes.writeBigInt64LE(time(ms), at);
  at = bytes.writeBigUInt64LE(BigInt(ino), at);
  bytes.writeUInt32LE(Math.min(nlink, 0xffffffff), at);
  return bytes;
}

/**
 * Encodes each entry of a directory as its type, the length of its name, and its name. Throws `EIO`
 * for an invalid entry.
 */
export function encodeEntries(entries: readonly FileSystemEntry[]): Uint8Array {
  if (!Array.isArray(entries)) throw invalidResult('no list of entries');
  // One buffer for all entries: two buffers for each entry of a long list kept the app's event loop
  // busy with the collection of garbage.
  let length = 0;
  for (const entry of entries as readonly FileSystemEntry[]) {
    if (typeof entry?.name !== 'string' || !Object.hasOwn(KINDS, entry.type)) throw invalidResult('an invalid entry');
    length += ENTRY_HEAD_BYTES + Buffer.byteLength(entry.name);
  }
  const bytes = Buffer.alloc(length);
  let at = 0;
  for (const { name, type } of entries as readonly FileSystemEntry[]) {
    const written = bytes.write(name, at + ENTRY_HEAD_BYTES);
    bytes.writeUInt8(KINDS[type], at);
    bytes.writeUInt32LE(written, at + 1);
    at += ENTRY_HEAD_BYTES + written;
  }
  if (at !== length) throw invalidResult('entries that change');
  return bytes;
}

/**
 * Returns the bytes that `read` returned. Throws `EIO` for more than `length` bytes, or for any
 * other value.
 */
export function checkBytes(data: Uint8Array, length: number): Uint8Array {
  if (!(data instanceof Uint8Array) || data.length > length) throw invalidResult('no bytes, or too many');
  return data;
}

/** Encodes the target of a link. Throws `EIO` for a target that is empty or contains NUL. */
export function encodeTarget(target: string): Uint8Array {
  if (typeof target !== 'string' || target === '' || target.includes('\0')) throw invalidResult('an invalid target');
  return Buffer.from(target);
}
