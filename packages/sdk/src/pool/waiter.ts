// A call that waits for a slot, until a slot is free, its time is over, or its signal aborts.

import { type Deferred, deferred } from '../deferred.js';
import type { WaitingCall } from './fair-queue.js';

/** A waiting call. */
export class Waiter<L> implements WaitingCall {
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

  /** Bounds the wait. The timer keeps the process alive, because the call is pending. */
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
