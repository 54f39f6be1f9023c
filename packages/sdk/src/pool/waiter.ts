// Somebody who waits for a slot: until there is one, the time is over, or the caller has lost interest.

import { type Deferred, deferred } from '../deferred.js';
import type { Waiting } from './queue.js';

/** See the module. */
export class Waiter<L> implements Waiting {
  readonly tenant: string;
  readonly #deferred: Deferred<L> = deferred();
  #timer: NodeJS.Timeout | undefined;
  #signal: AbortSignal | undefined;
  #onAbort: (() => void) | undefined;

  constructor(tenant: string) {
    this.tenant = tenant;
  }

  get outcome(): Promise<L> {
    return this.#deferred.promise;
  }

  /** Has it told when it has waited for so long, or the signal aborts. The timer keeps the process alive: somebody waits. */
  limit(timeoutMs: number, onTimeout: () => void, signal: AbortSignal | undefined, onAbort: () => void): void {
    this.#timer = setTimeout(onTimeout, timeoutMs);
    this.#signal = signal;
    this.#onAbort = onAbort;
    signal?.addEventListener('abort', onAbort, { once: true });
  }

  resolve(lease: L): void {
    this.#stop();
    this.#deferred.resolve(lease);
  }

  reject(error: unknown): void {
    this.#stop();
    this.#deferred.reject(error);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}
