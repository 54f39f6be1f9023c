// Large files in pieces, as Node's streams: a file stays open meanwhile, so that it is the same file whatever happens to its name, and no
// more than a few pieces of it are in memory. Next: `archives.ts`.

import { Readable, Writable } from 'node:stream';
import type { FileHandle, FileOpen, OpenedFiles } from '../channel/opened.js';

/** Options of `runtime.createReadStream()`. */
export interface ReadStreamOptions {
  /** The first byte. @default 0 */
  start?: number;
  /** The last byte, which is read too, as in Node. @default the file's end */
  end?: number;
  /** Ends the stream with an error when it aborts. */
  signal?: AbortSignal;
}

/** Options of `runtime.createWriteStream()`. */
export interface WriteStreamOptions {
  /** Whether the file keeps what it holds and everything goes to its end. @default false */
  append?: boolean;
  /** Permissions of a file that is made, such as 0o755. @default 0o644 */
  mode?: number;
  /** Ends the stream with an error when it aborts. */
  signal?: AbortSignal;
}

/** Bytes of one request. */
export const PIECE_BYTES = 256 * 1024;

type Callback = (error?: Error | null) => void;

const settle = (work: Promise<unknown>, callback: Callback): void => {
  work.then(() => callback(), callback);
};

/** A handle that a stream holds, from its construction to its end. */
class Held {
  readonly #files: OpenedFiles;
  readonly #runtime: number;
  #handle: FileHandle | undefined;

  constructor(files: OpenedFiles, runtime: number) {
    this.#files = files;
    this.#runtime = runtime;
  }

  get number(): number {
    return (this.#handle as FileHandle).handle;
  }

  /** `ready` rejects when the options are wrong. */
  async open(ready: Promise<void> | undefined, open: Omit<FileOpen, 'runtime'>): Promise<void> {
    await ready;
    this.#handle = await this.#files.open({ runtime: this.#runtime, ...open });
  }

  async close(discard: boolean): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle !== undefined) await this.#files.close({ runtime: this.#runtime, handle: handle.handle, discard });
  }

  /** Closes it, and what goes wrong with that is not as important as `error`. */
  giveUp(error: Error | null, callback: Callback): void {
    const after = () => callback(error);
    this.close(true).then(after, after);
  }
}

/** Reads a file; `ready` rejects when the options are wrong. */
export function readStream(
  files: OpenedFiles,
  runtime: number,
  path: string,
  { start = 0, end = Number.MAX_SAFE_INTEGER, signal }: ReadStreamOptions,
  ready: Promise<void> | undefined,
): Readable {
  const held = new Held(files, runtime);
  let at = start;
  const read = async (size: number): Promise<Uint8Array | null> => {
    const length = Math.min(Math.max(size, PIECE_BYTES), end + 1 - at);
    if (length <= 0) return null;
    const { data } = await files.pull({ runtime, handle: held.number, offset: at, length });
    at += data.length;
    // A copy: what the channel hands out is a view of memory that it uses again.
    return data.length === 0 ? null : Buffer.from(data);
  };
  return pulled(held, { path, for: 'read' }, ready, read, signal);
}

/** Reads an archive of `path`. */
export function exportStream(files: OpenedFiles, runtime: number, path: string, ready: Promise<void> | undefined): Readable {
  const held = new Held(files, runtime);
  const read = async (): Promise<Uint8Array | null> => {
    const { data } = await files.pull({ runtime, handle: held.number, length: PIECE_BYTES });
    return data.length === 0 ? null : Buffer.from(data);
  };
  return pulled(held, { path, for: 'export' }, ready, read);
}

function pulled(
  held: Held,
  open: Omit<FileOpen, 'runtime'>,
  ready: Promise<void> | undefined,
  read: (size: number) => Promise<Uint8Array | null>,
  signal?: AbortSignal,
): Readable {
  return new Readable({
    highWaterMark: PIECE_BYTES,
    ...(signal === undefined ? {} : { signal }),
    construct: (callback) => settle(held.open(ready, open), callback),
    read(size) {
      read(size).then(
        (piece) => this.push(piece),
        (error) => this.destroy(error),
      );
    },
    destroy: (error, callback) => held.giveUp(error, callback),
  });
}

/** Writes a file, or unpacks an archive. */
export function writeStream(
  files: OpenedFiles,
  runtime: number,
  open: Omit<FileOpen, 'runtime'>,
  ready: Promise<void> | undefined,
  signal?: AbortSignal,
): Writable {
  const held = new Held(files, runtime);
  let at = 0;
  const write = async (data: Uint8Array): Promise<void> => {
    for (let done = 0; done < data.length; done += PIECE_BYTES) {
      const piece = data.subarray(done, done + PIECE_BYTES);
      await files.push({ runtime, handle: held.number, offset: at, data: piece });
      at += piece.length;
    }
  };
  return new Writable({
    highWaterMark: PIECE_BYTES,
    ...(signal === undefined ? {} : { signal }),
    construct: (callback) => settle(held.open(ready, open), callback),
    write: (chunk: Buffer, _encoding, callback) => settle(write(chunk), callback),
    writev: (chunks, callback) => settle(write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer))), callback),
    final: (callback) => settle(held.close(false), callback),
    destroy: (error, callback) => held.giveUp(error, callback),
  });
}
