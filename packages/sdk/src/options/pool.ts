// The options of `RuntimePool`, and the tests that accept what is correct. A constructor gives its error at once, so what is wrong is said here and not
// by the schemas, which would have to be loaded first; those have the options of its calls.

import { invalidOption } from '../errors/make.js';
import type { NodeRuntime } from '../runtime/node-runtime.js';
import { openingOf } from '../sidecar/connections.js';
import type { Sidecar } from '../sidecar/sidecar.js';
import type { Snapshot } from '../snapshots/snapshot.js';
import { hintFor } from './hints.js';
import { show } from './show.js';
import { DEFAULT_TENANT, isName, isReference } from './snapshots.js';
import type { NodeRuntimeOptions } from './types.js';

type Test = (value: unknown) => boolean;

/** Options of `new RuntimePool()`. */
export interface RuntimePoolOptions {
  /**
   * The sidecar to run in. Without it: that of the `Snapshot` while it lives, else one of the pool's own, which is started anew when it
   * dies and ended with the pool.
   */
  sidecar?: Sidecar;
  /** What every slot is a copy of: a snapshot, or the id or name of one. Without it the pool makes a runtime with `options`, and takes one of that. */
  snapshot?: Snapshot | string;
  /** How the runtimes are made; of one from `snapshot` what that does not bring: bindings, mounts, limits. */
  options?: Omit<NodeRuntimeOptions, 'sidecar' | 'snapshot' | 'tenant' | 'idle'>;
  /** What to do in the runtime that is made with `options` before the snapshot is taken: load packages, start a resident runner. */
  prepare?: (runtime: NodeRuntime) => unknown;
  /** Slots that may hold memory at a time, in use or not, 1 to 10,000. */
  size: number;
  /** Slots to have ready, 0 to `size`. They are made when nobody waits for anything. @default 1 */
  min?: number;
  /**
   * Whose the pool and its template are. Of a tenant other than 'default' the pool serves that tenant alone; 'default' is the app itself, and
   * its pool serves every tenant, each from slots of its own.
   * @default that of the `Snapshot`, else 'default'
   */
  tenant?: string;
  /** Uses of a slot, 1 to 1,000,000: then it is replaced, or rolled back (`recycle`). @default 100 */
  reuse?: number;
  /**
   * When a slot is rolled back to the template. `'each-use'`: after each use, and after `reuse` of them it is ended and another is made. `'last-use'`: after `reuse`
   * uses; until then each use sees what the uses before it have left, all of the same tenant.
   * @default 'each-use'
   */
  recycle?: 'each-use' | 'last-use';
  /** How long a slot beyond `min` may be idle, in milliseconds, before it goes to disk; after as long again it is ended. @default 60_000 */
  idleTimeoutMs?: number;
  /** How long a call may wait for a slot, in milliseconds. @default 30_000 */
  acquireTimeoutMs?: number;
  /** How many calls may wait for slots that are in use, 0 to 1,000,000. @default 1_000 */
  maxWaiting?: number;
}

/** Options of `pool.acquire()` and `pool.withRuntime()`. */
export interface AcquireOptions {
  /** Who is served: a slot that a tenant has used is never given to another. @default that of the pool */
  tenant?: string;
  /** Ends the wait when it aborts, and of `withRuntime()` the use: the call rejects with the signal's reason, and a slot in use is ended. */
  signal?: AbortSignal;
}

/** Options of `pool.dispose()`. */
export interface PoolDisposeOptions {
  /** How long those who have a slot may go on, in milliseconds. @default 5_000 */
  timeoutMs?: number;
}

const MILLISECONDS = 2_147_483_647;

/** Bounds of their whole numbers. */
export const POOL_WHOLE = {
  size: { min: 1, max: 10_000, unit: 'slots' },
  min: { min: 0, max: 10_000, unit: 'slots' },
  reuse: { min: 1, max: 1_000_000, unit: 'uses' },
  idleTimeoutMs: { min: 1, max: MILLISECONDS, unit: 'milliseconds' },
  acquireTimeoutMs: { min: 1, max: MILLISECONDS, unit: 'milliseconds' },
  maxWaiting: { min: 0, max: 1_000_000, unit: 'calls' },
  /** Of `dispose()`; the largest is a day. */
  timeoutMs: { min: 0, max: 86_400_000, unit: 'milliseconds' },
} as const;

const isWhole =
  (option: keyof typeof POOL_WHOLE): Test =>
  (value) =>
    Number.isInteger(value) && (value as number) >= POOL_WHOLE[option].min && (value as number) <= POOL_WHOLE[option].max;
const whole = (option: keyof typeof POOL_WHOLE): readonly [Test, string] => {
  const { min, max, unit } = POOL_WHOLE[option];
  return [isWhole(option), `a whole number of ${unit} from ${min} to ${max}`];
};
const isSignal: Test = (value) => value instanceof AbortSignal;
const acquire = { __proto__: null, tenant: isName, signal: isSignal } as unknown as Readonly<Record<string, Test>>;

/** Of the calls, for `check.ts`. */
export const POOL_TESTS = {
  'acquire()': acquire,
  'withRuntime()': acquire,
  'RuntimePool.dispose()': { __proto__: null, timeoutMs: isWhole('timeoutMs') } as unknown as Readonly<Record<string, Test>>,
};

const OPTIONS = {
  __proto__: null as never,
  sidecar: [(value) => openingOf(value) !== undefined, 'a Sidecar made by this copy of coldframe'],
  snapshot: [isReference, 'a Snapshot, or the id or name of one (1 to 200 characters)'],
  options: [isRuntimeOptions, 'options of NodeRuntime.create() without sidecar, snapshot, tenant and idle'],
  prepare: [(value) => typeof value === 'function', 'a function'],
  size: whole('size'),
  min: whole('min'),
  tenant: [isName, 'a tenant (1 to 200 characters)'],
  reuse: whole('reuse'),
  recycle: [(value) => value === 'each-use' || value === 'last-use', "'each-use' or 'last-use'"],
  idleTimeoutMs: whole('idleTimeoutMs'),
  acquireTimeoutMs: whole('acquireTimeoutMs'),
  maxWaiting: whole('maxWaiting'),
} satisfies Readonly<Record<string, readonly [Test, string]>>;

// What is in it is checked when the first runtime is made.
function isRuntimeOptions(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return ['sidecar', 'snapshot', 'tenant', 'idle'].every((name) => !(name in value));
}

const CALL = 'new RuntimePool()';

/** Throws unless these are options of a pool. */
export function checkPoolOptions(options: RuntimePoolOptions): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidOption(CALL, { option: 'options', expected: 'an object with options', received: show(options) });
  }
  const tests: Readonly<Record<string, readonly [Test, string]>> = OPTIONS;
  for (const [option, value] of Object.entries(options)) {
    const test = tests[option];
    if (test === undefined) throw unknown(option, value);
    if (value !== undefined && !test[0](value)) throw wrong(option, test[1], value);
  }
  const { size, min = 0, snapshot, prepare, tenant } = options;
  if (size === undefined) throw wrong('size', OPTIONS.size[1], size);
  if (min > size) throw wrong('min', `at most \`size\`, which is ${size}`, min);
  if (snapshot !== undefined && prepare !== undefined) throw wrong('prepare', 'nothing, because `snapshot` is prepared', prepare);
  if (typeof snapshot === 'object' && tenant !== undefined && tenant !== snapshot.tenant) {
    throw wrong('tenant', `that of the snapshot, '${snapshot.tenant}'`, tenant);
  }
}

function wrong(option: string, expected: string, value: unknown) {
  return invalidOption(CALL, { option, expected, received: show(value) });
}

function unknown(option: string, value: unknown) {
  const expected = `one of ${Object.keys(OPTIONS).join(', ')}`;
  return invalidOption(CALL, { option, expected, received: show(value) }, hintFor(option, 'withRuntime()'));
}

/** Throws when a pool of `own` does not serve `tenant`. */
export function checkTenant(call: string, own: string, tenant: string): void {
  if (own === DEFAULT_TENANT || own === tenant) return;
  throw invalidOption(call, { option: 'tenant', expected: `'${own}', whose the pool is`, received: show(tenant) });
}
