// A slot for the time of one function. It goes back whatever the function does: return, throw, dispose of the runtime, or never come to an end.

import type { Lease } from './lease.js';
import type { PoolableRuntime } from './poolable.js';

/**
 * Gives what `work` gives. When `signal` aborts or the pool takes the slot away first, it rejects with the reason and does not wait for `work`; the slot
 * is then ended and not cleaned, because `work` may still be at it.
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
  // Nobody may be waiting for it any more.
  stopped.catch(() => {});
  signal?.addEventListener('abort', abort, { once: true });
  try {
    // Between the moment it was granted and this one.
    signal?.throwIfAborted();
    return await Promise.race([work(lease.runtime), stopped]);
  } finally {
    signal?.removeEventListener('abort', abort);
    lease.release();
  }
}
