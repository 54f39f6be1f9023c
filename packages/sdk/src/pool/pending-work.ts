// The pending work of a slot's user: calls without a reply, open streams and watches.
//
// A rollback ends the programs of a slot, but not requests that this process has yet to send.
// Examples are the next piece of a large file, the first chunk of a late archive, and a rollback
// that waits for the disk. Each of these requests would disturb the next user.

import { requireBuiltin } from '../packages/installed.js';

/** The pending work of one user. */
export class PendingWork {
  readonly #open = new Set<object>();

  /** Returns whether any work is pending. */
  get any(): boolean {
    for (const work of this.#open) if (!isOver(work)) return true;
    return false;
  }

  /**
   * Counts the result of a call as pending until the result settles or closes. Returns the result
   * for the user.
   */
  follow(result: unknown): unknown {
    if (result instanceof Promise) return this.#followPromise(result);
    const { Readable, Writable } = requireBuiltin('node:stream');
    if (result instanceof Readable || result instanceof Writable) result.once('close', this.#add(result));
    else if (isIterator(result)) return this.#followIterator(result);
    return result;
  }

  // Returns another promise, so that a rejection that the user does not handle stays unhandled.
  #followPromise(promise: Promise<unknown>): Promise<unknown> {
    return promise.finally(this.#add(promise));
  }

  #followIterator(iterator: AsyncIterableIterator<unknown>): AsyncIterableIterator<unknown> {
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

  // Adds pending work. Returns a function that removes the work.
  #add(work: object): () => void {
    this.#open.add(work);
    return () => void this.#open.delete(work);
  }
}

function isIterator(value: unknown): value is AsyncIterableIterator<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value;
}

// Returns whether a stream sends no further request while it closes, because all data is written or
// no more data is read.
function isOver(work: object): boolean {
  const { Duplex, Readable, Writable } = requireBuiltin('node:stream');
  if (work instanceof Duplex) return work.closed;
  if (work instanceof Writable) return work.closed || work.writableFinished;
  return work instanceof Readable && (work.destroyed || work.readableEnded);
}
