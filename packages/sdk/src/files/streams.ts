// Files of a runtime as streams of Node. A stream keeps its file open, so that a rename does not
// change the file that the stream reads or writes. Node's stream buffers a few pieces. Next:
// `archives.ts`.

import { Readable, Writable } from 'node:stream';
import type { Requester } from '../channel/sidecar-connection.js';
import type { ReadStreamOptions } from '../options/files.js';
import type { FileOpen, HandleId, RuntimeId } from '../protocol/generated/messages.js';

/**
 * The usual number of bytes that one request reads, and the largest number that one request writes.
 */
export const PIECE_BYTES = 256 * 1024;

type Callback = (error?: Error | null) => void;

const settle = (work: Promise<unknown>, callback: Callback): void => {
  work.then(() => callback(), callback);
};

/** The open file of a stream, from the stream's construction to its end. */
class StreamFile {
  readonly #sidecar: Requester;
  readonly #runtime: RuntimeId;
  #handle: HandleId | undefined;

  constructor(sidecar: Requester, runtime: RuntimeId) {
    this.#sidecar = sidecar;
    this.#runtime = runtime;
  }

  get handle(): HandleId {
    return this.#handle as HandleId;
  }

  /** Opens the file once `ready` resolves. `ready` rejects if an argument of the call is wrong. */
  async open(ready: Promise<void> | undefined, open: Omit<FileOpen, 'runtime'>): Promise<void> {
    await ready;
    const { handle } = await this.#sidecar.request('file.open', { runtime: this.#runtime, ...open });
    this.#handle = handle;
  }

  async close(discard: boolean): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle !== undefined) await this.#sidecar.request('file.close', { runtime: this.#runtime, handle, discard });
  }

  /**
   * Closes the file and drops an incomplete archive that a writer has sent. Then passes `error` to
   * `callback`. Ignores a failure to close the file.
   */
  abandon(error: Error | null, callback: Callback): void {
    const after = () => callback(error);
    this.close(true).then(after, after);
  }
}

/**
 * Returns a stream that reads a file from `start` to `end`. `ready` rejects if an argument of the
 * call is wrong.
 */
export function readStream(
  sidecar: Requester,
  runtime: RuntimeId,
  path: string,
  { start = 0, end = Number.MAX_SAFE_INTEGER, signal }: ReadStreamOptions,
  ready: Promise<void> | undefined,
): Readable {
  const file = new StreamFile(sidecar, runtime);
  let at = start;
  const read = async (size: number): Promise<Uint8Array | null> => {
    const length = Math.min(Math.max(size, PIECE_BYTES), end + 1 - at);
    if (length <= 0) return null;
    const { data } = await sidecar.request('file.pull', { runtime, handle: file.handle, offset: at, length });
    at += data.length;
    // The bytes are copied, because the transport may reuse their memory.
    return data.length === 0 ? null : Buffer.from(data);
  };
  return readableOf(file, { path, for: 'read' }, ready, read, signal);
}

/**
 * Returns a stream that reads a tar archive of `path`. `ready` rejects if an argument of the call
 * is wrong.
 */
export function exportStream(sidecar: Requester, runtime: RuntimeId, path: string, ready: Promise<void> | undefined): Readable {
  const file = new StreamFile(sidecar, runtime);
  const read = async (): Promise<Uint8Array | null> => {
    const { data } = await sidecar.request('file.pull', { runtime, handle: file.handle, length: PIECE_BYTES });
    return data.length === 0 ? null : Buffer.from(data);
  };
  return readableOf(file, { path, for: 'export' }, ready, read);
}

function readableOf(
  file: StreamFile,
  open: Omit<FileOpen, 'runtime'>,
  ready: Promise<void> | undefined,
  read: (size: number) => Promise<Uint8Array | null>,
  signal?: AbortSignal,
): Readable {
  return new Readable({
    highWaterMark: PIECE_BYTES,
    ...(signal === undefined ? {} : { signal }),
    construct: (callback) => settle(file.open(ready, open), callback),
    read(size) {
      read(size).then(
        (piece) => this.push(piece),
        (error) => this.destroy(error),
      );
    },
    destroy: (error, callback) => file.abandon(error, callback),
  });
}

/**
 * Returns a stream that writes a file or unpacks an archive. `ready` rejects if an argument of the
 * call is wrong.
 */
export function writeStream(
  sidecar: Requester,
  runtime: RuntimeId,
  open: Omit<FileOpen, 'runtime'>,
  ready: Promise<void> | undefined,
  signal?: AbortSignal,
): Writable {
  const file = new StreamFile(sidecar, runtime);
  let at = 0;
  const write = async (data: Uint8Array): Promise<void> => {
    for (let done = 0; done < data.length; done += PIECE_BYTES) {
      const piece = data.subarray(done, done + PIECE_BYTES);
      await sidecar.request('file.push', { runtime, handle: file.handle, offset: at, data: piece });
      at += piece.length;
    }
  };
  return new Writable({
    highWaterMark: PIECE_BYTES,
    ...(signal === undefined ? {} : { signal }),
    construct: (callback) => settle(file.open(ready, open), callback),
    write: (chunk: Buffer, _encoding, callback) => settle(write(chunk), callback),
    writev: (chunks, callback) => settle(write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer))), callback),
    final: (callback) => settle(file.close(false), callback),
    destroy: (error, callback) => file.abandon(error, callback),
  });
}
