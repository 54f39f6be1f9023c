// The public handle of a pool: checks what comes in and leaves the rest to `slot-pool.ts`, with runtimes from `runtime-source.ts`.

import { asyncDispose } from '../async-dispose.js';
import { invalidOption } from '../errors/make.js';
import { acceptable, explain } from '../options/check.js';
import {
  type AcquireOptions,
  checkPoolOptions,
  checkTenant,
  type PoolDisposeOptions,
  type RuntimePoolOptions,
} from '../options/pool.js';
import { show } from '../options/show.js';
import type { NodeRuntime } from '../runtime/node-runtime.js';
import type { Lease, PoolLease } from './lease.js';
import { RuntimeSource } from './runtime-source.js';
import { SlotPool } from './slot-pool.js';
import type { PoolStats } from './stats.js';
import { withLease } from './with-runtime.js';

const DISPOSE_MS = 5_000;

/**
 * Runtimes that lie ready, all alike, each for one call at a time.
 *
 * @example
 * await using pool = new RuntimePool({ size: 16, min: 4, prepare: (runtime) => runtime.writeFile('/workspace/lib.js', source) });
 * const { stdout } = await pool.withRuntime((runtime) => runtime.exec(code), { tenant: 'alice' });
 */
export class RuntimePool implements AsyncDisposable {
  readonly #source: RuntimeSource;
  readonly #pool: SlotPool<NodeRuntime>;

  /**
   * Begins to make the slots that shall be ready. What is wrong with `options.options` or the snapshot is told by the calls.
   *
   * @throws `ERR_INVALID_OPTION`
   */
  constructor(options: RuntimePoolOptions) {
    checkPoolOptions(options);
    const { size, reuse = 100, recycle = 'each-use' } = options;
    const { min = 1, idleTimeoutMs = 60_000, acquireTimeoutMs = 30_000, maxWaiting = 1_000 } = options;
    this.#source = new RuntimeSource({ ...options });
    const { tenant } = this.#source;
    this.#pool = new SlotPool(this.#source, { size, min, tenant, reuse, recycle, idleTimeoutMs, acquireTimeoutMs, maxWaiting });
  }

  /** Whose the pool and its template are. */
  get tenant(): string {
    return this.#source.tenant;
  }

  /**
   * Has `work` done with a runtime and gives what it gives. The runtime is as the template is, and goes back to the pool whatever `work` does; when the signal
   * aborts, without waiting for it.
   *
   * @throws what `work` throws, the signal's reason, `ERR_POOL_EXHAUSTED`, `ERR_POOL_TIMEOUT`, `ERR_POOL_DISPOSED`, `ERR_INVALID_OPTION`; what
   * `NodeRuntime.create()` throws, when no runtime can be made and none is in use
   */
  async withRuntime<T>(work: (runtime: NodeRuntime) => T | PromiseLike<T>, options: AcquireOptions = {}): Promise<T> {
    if (typeof work !== 'function') {
      throw invalidOption('withRuntime()', { option: 'work', expected: 'a function', received: show(work) });
    }
    const lease = await this.#acquire('withRuntime()', options);
    return withLease(lease, work, options.signal);
  }

  /**
   * A runtime to give back yourself: `release()` it, in `finally` or with `await using`.
   *
   * @throws as `withRuntime()`
   */
  async acquire(options: AcquireOptions = {}): Promise<PoolLease<NodeRuntime>> {
    return this.#acquire('acquire()', options);
  }

  /** How the pool is now, and what has happened in it. */
  stats(): PoolStats {
    return this.#pool.stats();
  }

  /**
   * Lets nobody in any more: calls from now on fail with `ERR_POOL_DISPOSED`. Resolves when those that were let in before are done, those that wait among them,
   * and all slots are ended.
   */
  drain(): Promise<void> {
    return this.#pool.drain();
  }

  /**
   * Ends the pool: calls that wait fail with `ERR_POOL_DISPOSED`; those who have a runtime may go on for `timeoutMs`, then it is ended under them. Ends its
   * sidecar too, if that is its own. May be called more than once.
   *
   * @throws `ERR_INVALID_OPTION`
   */
  async dispose(options: PoolDisposeOptions = {}): Promise<void> {
    if (!acceptable('RuntimePool.dispose()', options)) await explain('RuntimePool.dispose()', options);
    await this.#pool.dispose(options.timeoutMs ?? DISPOSE_MS);
  }

  /** `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #acquire(call: 'acquire()' | 'withRuntime()', options: AcquireOptions): Promise<Lease<NodeRuntime>> {
    if (!acceptable(call, options)) await explain(call, options);
    const { tenant = this.tenant } = options;
    checkTenant(call, this.tenant, tenant);
    return this.#pool.acquire({ ...options, tenant });
  }
}
