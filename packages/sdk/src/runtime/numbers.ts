// Whose the numbers of a runtime's processes are. Requests name a process by its number, and a rollback takes the counter back with everything else: a number
// that has been used since the snapshot is given again. What a handle does must not reach the next one that has its number.

import type { RestoredProgram } from '../channel/messages.js';

/** A program that has a number, as its handle knows it. */
export interface Holder {
  /** It has ended: its number means nothing any more, or another one. */
  over: boolean;
}

/** See the module. */
export class Numbers {
  #generation = 0;
  readonly #holders = new Map<number, Holder>();

  /** Counts rollbacks. What was said of numbers in another generation is not true any more. */
  get generation(): number {
    return this.#generation;
  }

  /** A program has been given this number, so whoever had it has ended, also if the outcome has yet to come. A runner is not a holder: it has a number of its own. */
  take(pid: number, holder?: Holder): void {
    const before = this.#holders.get(pid);
    if (before !== undefined) before.over = true;
    if (holder === undefined || holder.over) this.#holders.delete(pid);
    else this.#holders.set(pid, holder);
  }

  /** It has ended. */
  end(pid: number, holder: Holder): void {
    holder.over = true;
    if (this.#holders.get(pid) === holder) this.#holders.delete(pid);
  }

  /** The runtime has gone back to a snapshot that brought these programs, which no handle that there is speaks of. */
  rolledBack(brought: readonly RestoredProgram[]): void {
    this.#generation++;
    for (const { pid } of brought) this.take(pid);
  }
}
