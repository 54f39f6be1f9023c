// The public handle of a pool: `slot-pool.ts` with runtimes of `runtime-source.ts`.

import { asyncDispose } from '../async-dispose.js';
import { checkArgument, checkGivenOptions, checkOptions } from '../options/check.js';
import type { AcquireOptions, PoolDisposeOptions } from '../options/pool.js';
import { CALLBACK, type Rule, rule } from '../options/rule.js';
import { DEFAULT_TENANT } from '../options/snapshots.js';
import type { NodeRuntime } from '../runtime/node-runtime.js';
import { type Lease, type PoolLease, withLease } from './lease.js';
import type { RuntimePoolOptions } from './options.js';
import { RuntimeSource } from './runtime-source.js';
import { SlotPool } from './slot-pool.js';
import type { PoolStats } from './stats.js';

const DISPOSE_MS = 5_000;

/**
 * A pool of equal runtimes that are kept ready, each for one call at a time.
 *
 * @example
 * const prepare = (runtime: NodeRuntime) => runtime.writeFile('/workspace/lib.js', source);
 * await using pool = new RuntimePool({ size: 16, prepare });
 * const { stdout } = await pool.withRuntime((runtime) => runtime.exec(code), { tenant: 'alice' });
 */
export class RuntimePool implements AsyncDisposable {
  readonly #source: RuntimeSource;
  readonly #pool: SlotPool<NodeRuntime>;
  readonly #servedTenant: Rule;

  /**
   * Starts to make `min` slots. Errors in `options.options` and errors of the snapshot are reported
   * by the calls of the pool.
   *
   * @throws `ERR_INVALID_OPTION`
   */
  constructor(options: RuntimePoolOptions) {
    checkGivenOptions('new RuntimePool()', options);
    const { size, reuse = 100, recycle = 'each-use' } = options;
    const { min = 1, idleTimeoutMs = 60_000, acquireTimeoutMs = 30_000, maxWaiting = 1_000 } = options;
    this.#source = new RuntimeSource({ ...options });
    const { tenant } = this.#source;
    this.#servedTenant = rule((value) => tenant === DEFAULT_TENANT || value === tenant, `'${tenant}', the owner of the pool`);
    this.#pool = new SlotPool(this.#source, { size, min, tenant, reuse, recycle, idleTimeoutMs, acquireTimeoutMs, maxWaiting });
  }

  /** The owner of the pool and its template. */
  get tenant(): string {
    return this.#source.tenant;
  }

  /**
   * Runs `work` with a runtime and returns the result of `work`. The runtime starts in the state of
   * the template and is released also after an error. If the signal aborts, rejects without waiting
   * for `work`.
   *
   * @throws the error of `work`, the signal's reason, `ERR_POOL_EXHAUSTED`, `ERR_POOL_TIMEOUT`,
   * `ERR_POOL_DISPOSED`, `ERR_INVALID_OPTION`; as `NodeRuntime.create()` if no runtime can be made
   * and none is in use
   */
  async withRuntime<T>(work: (runtime: NodeRuntime) => T | PromiseLike<T>, options: AcquireOptions = {}): Promise<T> {
    checkArgument('withRuntime()', 'work', CALLBACK, work);
    const lease = await this.#acquire('withRuntime()', options);
    return withLease(lease, work, options.signal);
  }

  /**
   * Returns the lease of a runtime. Release the lease in `finally` or with `await using`.
   *
   * @throws as `withRuntime()`
   */
  async acquire(options: AcquireOptions = {}): Promise<PoolLease<NodeRuntime>> {
    return this.#acquire('acquire()', options);
  }

  /** Returns the present state of the pool and the events so far. */
  stats(): PoolStats {
    return this.#pool.stats();
  }

  /**
   * Refuses new calls with `ERR_POOL_DISPOSED`. Resolves when all admitted calls, including waiting
   * calls, have released their runtimes and all slots have ended. The pool's template and its own
   * sidecar stay until `dispose()`.
   */
  drain(): Promise<void> {
    return this.#pool.drain();
  }

  /**
   * Ends the pool, and the sidecar that the pool started. Waiting and new calls fail with
   * `ERR_POOL_DISPOSED`. Runtimes that are still in use after `timeoutMs` are ended. A further
   * `dispose()` waits for the first disposal.
   *
   * @throws `ERR_INVALID_OPTION`
   */
  async dispose(options: PoolDisposeOptions = {}): Promise<void> {
    checkOptions('RuntimePool.dispose()', options);
    await this.#pool.dispose(options.timeoutMs ?? DISPOSE_MS);
  }

  /** Calls `dispose()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }

  async #acquire(call: 'acquire()' | 'withRuntime()', options: AcquireOptions): Promise<Lease<NodeRuntime>> {
    checkOptions(call, options);
    const { tenant = this.tenant } = options;
    checkArgument(call, 'tenant', this.#servedTenant, tenant);
    return this.#pool.acquire({ ...options, tenant });
  }
}
