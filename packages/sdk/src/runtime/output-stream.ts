// Output of a live program, for who iterates over it.
//
// It is a pipe: what nobody has read yet is held, the window's worth of it, and then the program waits. Once it is clear that nobody will
// read (`drop`), chunks are let go; the result has captured them. Next: `guest-process.ts`.

import { type Deferred, deferred } from '../deferred.js';

interface Held {
  data: Uint8Array;
  taken: Deferred<void>;
}

/** Chunks in their order; may be iterated over once. */
export class OutputStream implements AsyncIterable<Uint8Array> {
  readonly #onRead: () => void;
  readonly #held: Held[] = [];
  #wanted: Deferred<void> | undefined;
  #dropped = false;
  #ended = false;
  #read = false;

  /** `onRead`: somebody begins to iterate. */
  constructor(onRead: () => void) {
    this.#onRead = onRead;
  }

  /** Takes a chunk; the promise resolves when it has been read. */
  push(data: Uint8Array): Promise<void> | undefined {
    if (this.#dropped) return undefined;
    const taken = deferred<void>();
    this.#held.push({ data, taken });
    this.#wanted?.resolve();
    return taken.promise;
  }

  /** Nothing follows. */
  end(): void {
    this.#ended = true;
    this.#wanted?.resolve();
  }

  /** Nobody will read it, unless somebody does already. */
  drop(): void {
    if (!this.#read) this.#letGo();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    if (this.#read) throw new TypeError('The output of a program can be read once');
    this.#read = true;
    this.#onRead();
    try {
      for (;;) {
        const next = this.#held.shift();
        if (next !== undefined) {
          // Before it is worked on: who stops after it must not hold up the program's end.
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
      this.#letGo();
    }
  }

  #letGo(): void {
    this.#dropped = true;
    for (const { taken } of this.#held.splice(0)) taken.resolve();
  }
}
