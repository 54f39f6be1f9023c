// What the user of a slot has begun and is not over: calls that have not been answered, streams and watches that are open. A rollback ends what runs in
// the slot, and not what is still to be asked of it from out here: the next piece of a large file, the first of an archive that comes late, a way
// back of the user's own that waits for the disk. Each of them would come into the middle of the next use.

import { Duplex, Readable, Writable } from 'node:stream';

/** See the module. */
export class UnderWay {
  readonly #open = new Set<object>();

  /** Whether there is anything. */
  get any(): boolean {
    for (const one of this.#open) if (!isOver(one)) return true;
    return false;
  }

  /** What a call has given, as its caller gets it: its end is noticed. */
  follow(given: unknown): unknown {
    if (given instanceof Promise) return this.#until(given);
    if (given instanceof Readable || given instanceof Writable) this.#add(given, (end) => given.once('close', end));
    else if (isIterator(given)) return this.#iterator(given);
    return given;
  }

  // Another promise: one that nobody hears of is not heard of because of this.
  #until(promise: Promise<unknown>): Promise<unknown> {
    return promise.finally(this.#add(promise));
  }

  #iterator(iterator: AsyncIterableIterator<unknown>): AsyncIterableIterator<unknown> {
    const end = this.#add(iterator);
    const followed: AsyncIterableIterator<unknown> = {
      [Symbol.asyncIterator]: () => followed,
      next: async () => {
        try {
          const result = await iterator.next();
          if (result.done) end();
          return result;
        } catch (error) {
          end();
          throw error;
        }
      },
      return: async (value) => {
        end();
        return (await iterator.return?.(value)) ?? { done: true, value };
      },
    };
    return followed;
  }

  #add(one: object, until?: (end: () => void) => unknown): () => void {
    const end = (): void => void this.#open.delete(one);
    this.#open.add(one);
    until?.(end);
    return end;
  }
}

function isIterator(given: unknown): given is AsyncIterableIterator<unknown> {
  return typeof given === 'object' && given !== null && Symbol.asyncIterator in given && 'next' in given;
}

// A stream that has written all, or will read no more, asks for nothing any more while it closes.
function isOver(one: object): boolean {
  if (one instanceof Duplex) return one.closed;
  if (one instanceof Writable) return one.closed || one.writableFinished;
  return one instanceof Readable && (one.destroyed || one.readableEnded);
}
