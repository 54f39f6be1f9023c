// The output of a live program as an async iterable.
//
// The stream works like a pipe: it holds up to one window of unread output, then the program waits.
// After `drop()` chunks are discarded; the result has captured them. Next: `guest-process.ts`.

import { type Deferred, deferred } from '../deferred.js';

interface HeldChunk {
  data: Uint8Array;
  taken: Deferred<void>;
}

/** Chunks in order. Can be iterated once. */
export class OutputStream implements AsyncIterable<Uint8Array> {
  readonly #onRead: () => void;
  readonly #held: HeldChunk[] = [];
  #wanted: Deferred<void> | undefined;
  #dropped = false;
  #ended = false;
  #isRead = false;

  /** `onRead` is called when an iteration starts. */
  constructor(onRead: () => void) {
    this.#onRead = onRead;
  }

  /** Takes a chunk. The promise resolves when a reader has taken it. */
  push(data: Uint8Array): Promise<void> | undefined {
    if (this.#dropped) return undefined;
    const taken = deferred<void>();
    this.#held.push({ data, taken });
    this.#wanted?.resolve();
    return taken.promise;
  }

  /** Marks the end of the output. */
  end(): void {
    this.#ended = true;
    this.#wanted?.resolve();
  }

  /** Discards all chunks, unless the stream is being read. */
  drop(): void {
    if (!this.#isRead) this.#discard();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    if (this.#isRead) throw new TypeError('The output of a program can be read once');
    this.#isRead = true;
    this.#onRead();
    try {
      for (;;) {
        const next = this.#held.shift();
        if (next !== undefined) {
          // Resolved before the reader works on the chunk, because a reader that stops here must
          // not delay the program's end.
          next.taken.resolve();
          yield next.data;
        } else if (this.#ended) {
          return;
        } else {
          this.#wanted = deferred();
          await this.#wanted.promise;
        }
      }
    } finally {
      this.#discard();
    }
  }

  #discard(): void {
    this.#dropped = true;
    for (const { taken } of this.#held.splice(0)) taken.resolve();
  }
}
