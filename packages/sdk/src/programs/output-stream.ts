// The output of a live program as an async iterable.
//
// The stream works like a pipe: when one window of output is unread, the program blocks. After
// `drop()` chunks are discarded. The program's result still contains the captured output. Next:
// `guest-process.ts`.

import { type Deferred, deferred } from '../deferred.js';

interface HeldChunk {
  data: Uint8Array;
  taken: Deferred<void>;
}

/** Iterates over chunks in order. Can be iterated once. */
export class OutputStream implements AsyncIterable<Uint8Array> {
  readonly #onRead: () => void;
  readonly #held: HeldChunk[] = [];
  #wanted: Deferred<void> | undefined;
  #dropped = false;
  #ended = false;
  #isRead = false;

  /** `onRead`: called when an iteration starts. */
  constructor(onRead: () => void) {
    this.#onRead = onRead;
  }

  /**
   * Receives a chunk. Returns a promise that resolves when a reader has received the chunk, or
   * `undefined` after `drop()`.
   */
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
          // Resolves before the reader handles the chunk, because a reader that stops iterating
          // must not delay the program's end.
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
