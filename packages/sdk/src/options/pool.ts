// Options of `RuntimePool`. The types of the handles are parameters, because the classes of the
// handles import the options. `pool/options.ts` supplies the types.

import { isSidecar } from './handles.js';
import { CALLBACK, type Fault, isObject, MAX_TIMER_MS, oneOf, rule, SIGNAL, TIMEOUT_MS, whole } from './rule.js';
import { POOL_TENANT, SNAPSHOT_REFERENCE } from './snapshots.js';
import { known, type OptionTable, objectWith, required } from './table.js';

/** Options of a new pool. */
export interface PoolOptions<Sidecar, Snapshot, Runtime, RuntimeOptions> {
  /**
   * The sidecar of the pool. Without this option the pool uses the sidecar of the `Snapshot` while
   * that sidecar lives, else a sidecar that the pool starts. The pool replaces its own sidecar
   * after a crash, and ends its own sidecar in `dispose()`.
   */
  sidecar?: Sidecar | undefined;
  /**
   * The template, from which every slot is restored: a `Snapshot`, or an id, digest or name.
   * Without this option the pool makes a runtime with `options` and takes a snapshot of that
   * runtime.
   */
  snapshot?: Snapshot | string | undefined;
  /**
   * Options of the runtimes. If `snapshot` is set, the options have the same effect as in
   * `NodeRuntime.create({ snapshot })`.
   */
  options?: RuntimeOptions | undefined;
  /**
   * Prepares the runtime that is made with `options`, before its snapshot is taken. An example is a
   * function that loads packages or starts a resident runner.
   */
  prepare?: ((runtime: Runtime) => unknown) | undefined;
  /** The largest number of slots that use memory at a time, in use or idle, 1 to 10,000. */
  size: number;
  /**
   * The number of slots that are kept ready, 0 to `size`. These slots are made while no call waits.
   * @default 1
   */
  min?: number | undefined;
  /**
   * The owner of the pool and its template. The pool of 'default', which is the app itself, serves
   * every tenant, each from its own slots. The pool of any other tenant serves that tenant alone.
   * @default the tenant of the `Snapshot`, else 'default'
   */
  tenant?: string | undefined;
  /**
   * Uses of a slot, 1 to 1,000,000. After these uses the slot is replaced, or rolled back
   * (`recycle`).
   * @default 100
   */
  reuse?: number | undefined;
  /**
   * The rule for rollbacks. `'each-use'`: a slot is rolled back to the template after each use, and
   * replaced after `reuse` uses. `'last-use'`: a slot is rolled back after `reuse` uses. Until the
   * rollback each use sees the changes of earlier uses, which are uses of one tenant.
   * @default 'each-use'
   */
  recycle?: 'each-use' | 'last-use' | undefined;
  /**
   * Milliseconds that a slot beyond `min` may be idle before the slot is paused on disk. After the
   * same time on disk the slot is ended.
   * @default 60_000
   */
  idleTimeoutMs?: number | undefined;
  /** Milliseconds that a call may wait for a slot. @default 30_000 */
  acquireTimeoutMs?: number | undefined;
  /** Calls that may be admitted beyond `size` calls, 0 to 1,000,000. @default 1_000 */
  maxWaiting?: number | undefined;
}

/** Options of `pool.acquire()` and `pool.withRuntime()`. */
export interface AcquireOptions {
  /**
   * The tenant of the call. A slot that one tenant has used never serves another tenant.
   * @default the pool's tenant
   */
  tenant?: string | undefined;
  /**
   * Ends the wait when the signal aborts. The call rejects with the signal's reason. In
   * `withRuntime()`, also ends the use and the slot.
   */
  signal?: AbortSignal | undefined;
}

/** Options of `pool.dispose()`. */
export interface PoolDisposeOptions {
  /** Milliseconds from the call until slots in use are ended. @default 5_000 */
  timeoutMs?: number | undefined;
}

const MAX_SLOTS = 10_000;
const MAX_USES = 1_000_000;
const DAY_MS = 86_400_000;
const WITHOUT = ['sidecar', 'snapshot', 'tenant', 'idle'];

// Returns false for an object with an option that the pool itself sets. `NodeRuntime.create()`
// checks the other options when the first runtime is made.
const isRuntimeOptions = (value: unknown): boolean =>
  isObject(value) && WITHOUT.every((name) => !(name in value)) && !(isObject(value['network']) && 'join' in value['network']);

const POOL: OptionTable<PoolOptions<unknown, unknown, unknown, unknown>> = {
  sidecar: rule(isSidecar, 'a Sidecar made by this copy of coldframe'),
  snapshot: SNAPSHOT_REFERENCE,
  options: rule(isRuntimeOptions, 'options of NodeRuntime.create() without sidecar, snapshot, tenant, idle and network.join'),
  prepare: CALLBACK,
  size: known(required(whole(1, MAX_SLOTS, 'slots')), ['max', 'maxSize'], ' of a pool'),
  min: known(whole(0, MAX_SLOTS, 'slots'), ['minSize'], ' of a pool'),
  tenant: POOL_TENANT,
  reuse: known(whole(1, MAX_USES, 'uses'), ['maxUses'], ' of a pool'),
  recycle: oneOf(['each-use', 'last-use'], "'each-use' or 'last-use'"),
  idleTimeoutMs: known(
    whole(1, MAX_TIMER_MS, 'milliseconds'),
    ['idleTimeout'],
    ' of a pool, or `idle.afterMs` of a runtime, in milliseconds',
  ),
  acquireTimeoutMs: known(TIMEOUT_MS, ['acquireTimeout'], ' of a pool, in milliseconds'),
  maxWaiting: known(whole(0, 1_000_000, 'calls'), ['maxQueue', 'maxWaitingClients'], ' of a pool'),
};

function fitting({ size, min, snapshot, prepare, tenant }: Readonly<Record<string, unknown>>): Fault | undefined {
  if (min !== undefined && (min as number) > (size as number)) {
    return { path: ['min'], expected: `at most \`size\`, which is ${size}`, received: min };
  }
  if (snapshot !== undefined && prepare !== undefined) {
    return { path: ['prepare'], expected: 'nothing, because `snapshot` is prepared', received: prepare };
  }
  const owner = isObject(snapshot) ? snapshot['tenant'] : tenant;
  if (tenant === undefined || tenant === owner) return undefined;
  return { path: ['tenant'], expected: `that of the snapshot, '${owner}'`, received: tenant };
}

/** Accepts the options of a pool. */
export const POOL_OPTIONS = objectWith(POOL, undefined, fitting);

/** The option table of `acquire()` and `withRuntime()`. */
export const ACQUIRE: OptionTable<AcquireOptions> = { tenant: POOL_TENANT, signal: SIGNAL };

/** The option table of `RuntimePool.dispose()`. */
export const POOL_DISPOSE: OptionTable<PoolDisposeOptions> = { timeoutMs: whole(0, DAY_MS, 'milliseconds') };
