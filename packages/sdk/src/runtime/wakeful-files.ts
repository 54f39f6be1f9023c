// What is open from outside in a runtime that may fall asleep: files, archives, watches. One is in use until it is closed, or until the state that it was
// opened in is gone, whether anybody has noticed or not.

import type { OpenedFiles } from '../channel/opened.js';
import type { IdlePolicy } from './idle.js';
import { whileUsed } from './while-used.js';

interface Held {
  /** When it is known. */
  handle?: number;
  done(): void;
}

/** See above. */
export class WakefulFiles {
  /** `opened`, with the policy between. */
  readonly opened: OpenedFiles;
  readonly #held = new Set<Held>();

  constructor(opened: OpenedFiles, policy: IdlePolicy) {
    const during = <T>(work: () => Promise<T>): Promise<T> => Promise.resolve(whileUsed(policy, work)) as Promise<T>;
    // In use from the request on, so that a state that ends before the answer takes it along.
    const open = async <T extends { handle: number }>(work: () => Promise<T>): Promise<T> => {
      const held: Held = { done: policy.use() };
      this.#held.add(held);
      try {
        const file = await work();
        held.handle = file.handle;
        return file;
      } catch (error) {
        this.#release(held);
        throw error;
      }
    };
    this.opened = {
      open: (request) => during(() => open(() => opened.open(request))),
      watch: (request) => during(() => open(() => opened.watch(request))),
      close: (request) =>
        during(() => {
          for (const held of this.#held) if (held.handle === request.handle) this.#release(held);
          return opened.close(request);
        }),
      pull: (request) => during(() => opened.pull(request)),
      push: (request) => during(() => opened.push(request)),
      changes: (request) => during(() => opened.changes(request)),
      set: (request) => during(() => opened.set(request)),
      link: (request) => during(() => opened.link(request)),
      readlink: (request) => during(() => opened.readlink(request)),
    };
  }

  /** Gives what is to be called when the state is gone to which everything belongs that has been opened so far. */
  untilNow(): () => void {
    const held = [...this.#held];
    return () => {
      for (const one of held) this.#release(one);
    };
  }

  #release(held: Held): void {
    this.#held.delete(held);
    held.done();
  }
}
