// The use of one slot: the runtime, and its release.

import { asyncDispose } from '../async-dispose.js';
import type { LentRuntime } from './lent-runtime.js';
import type { PoolableRuntime } from './slot-source.js';

/** A runtime of a pool, until its release. */
export interface PoolLease<R> extends AsyncDisposable {
  /** The runtime, which refuses calls after the release. */
  readonly runtime: R;
  /**
   * Releases the runtime. Returns without waiting for the pool, which cleans the slot later.
   * Further calls do nothing.
   */
  release(): void;
  /** Releases the runtime as unusable. The pool ends the runtime. */
  discard(): void;
}

/** The lease of one slot. */
export class Lease<R extends PoolableRuntime> implements PoolLease<R> {
  /** Called when the pool revokes the slot. */
  onRevoked: ((error: Error) => void) | undefined;
  readonly #lent: LentRuntime<R>;
  readonly #onEnd: (isReusable: boolean) => void;
  #open = true;

  constructor(lent: LentRuntime<R>, onEnd: (isReusable: boolean) => void) {
    this.#lent = lent;
    this.#onEnd = onEnd;
  }

  get runtime(): R {
    return this.#lent.runtime;
  }

  release(): void {
    this.#end(this.#lent.isReusable);
  }

  discard(): void {
    this.#end(false);
  }

  /** Ends the lease although its user may still use the runtime. Passes `error` to `onRevoked`. */
  revoke(error: Error): void {
    this.onRevoked?.(error);
    this.discard();
  }

  async [asyncDispose](): Promise<void> {
    this.release();
  }

  #end(isReusable: boolean): void {
    if (!this.#open) return;
    this.#open = false;
    this.#lent.close();
    this.#onEnd(isReusable);
  }
}

/**
 * Runs `work` with the runtime of a lease and releases the lease, also after an error. If `signal`
 * aborts or the pool revokes the slot, rejects with the reason without waiting for `work`. In this
 * case the slot is ended instead of cleaned, because `work` may still use the runtime.
 */
export async function withLease<R extends PoolableRuntime, T>(
  lease: Lease<R>,
  work: (runtime: R) => T | PromiseLike<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  let abort = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    abort = () => {
      lease.discard();
      reject(signal?.reason);
    };
    lease.onRevoked = reject;
  });
  // `stopped` may reject after `work` has settled, when no call waits for `stopped`.
  stopped.catch(() => {});
  signal?.addEventListener('abort', abort, { once: true });
  try {
    // The signal may have aborted since the slot was granted.
    signal?.throwIfAborted();
    return await Promise.race([work(lease.runtime), stopped]);
  } finally {
    signal?.removeEventListener('abort', abort);
    lease.release();
  }
}
