// The options of calls about snapshots, and the tests that accept what is certainly correct. `snapshot-schemas.ts` says what is wrong with the rest.

import { isSnapshot } from '../snapshots/known.js';
import type { EvaluationOptions } from './types.js';

type Test = (value: unknown) => boolean;
type Tests = Readonly<Record<string, Test | null>>;

/** Options of `runtime.snapshot()`. */
export interface SnapshotOptions {
  /** What it is called, 1 to 200 characters, and not as an id; of several with one name the newest is meant. @default none */
  name?: string;
  /** What you want to remember of it: up to 64 names and texts. @default {} */
  labels?: Readonly<Record<string, string>>;
  /** Where it is kept: in the sidecar's memory, which ends with the sidecar, or in a file too. @default 'memory' */
  store?: 'memory' | 'disk';
  /** How long programs may take to come to a point at which they can be saved, in milliseconds. @default 5_000 */
  timeoutMs?: number;
}

/** Options of `runtime.clone()` and `runtime.pause()`. */
export interface QuietOptions {
  /** How long programs may take to come to a point at which they can be saved, in milliseconds. @default 5_000 */
  timeoutMs?: number;
}

/** Options of `runtime.clone(n)`. */
export interface CloneOptions extends QuietOptions {
  /** Whether copies that can be made stay when another cannot, and the result says of each what became of it. @default false */
  settle?: boolean;
}

/** Whose snapshots are meant. */
export interface TenantOptions {
  /** A tenant, 1 to 200 characters. @default that of the runtime; of a sidecar 'default' */
  tenant?: string;
}

/** Options of a process's `attach()`. */
export type AttachOptions = Pick<EvaluationOptions, 'onStdout' | 'onStderr' | 'signal'>;

/** Where a sidecar keeps snapshots, and how many of them: `snapshots` of `Sidecar.spawn()` and `Sidecar.embedded()`. */
export interface SnapshotStoreOptions {
  /** The folder for those on disk, made when the first one is written; others of this machine's users must not be able to write in it. @default `coldframe/snapshots` in `$XDG_DATA_HOME`, or in `~/.local/share` */
  directory?: string;
  /** Bytes that those on disk may have together; beyond it the ones that were not used for longest go. @default 10_737_418_240 (10 GiB) */
  maxBytes?: number;
  /** Bytes that those in memory may have for themselves together; beyond it the ones that were not used for longest go. @default 4_294_967_296 (4 GiB) */
  memoryBytes?: number;
}

/** Whose a runtime is that is given no tenant. */
export const DEFAULT_TENANT = 'default';

const TERABYTE = 1_099_511_627_776;

/** Bounds of these options' numbers. */
export const SNAPSHOT_WHOLE = {
  /** Milliseconds; the largest is five minutes. */
  timeoutMs: { min: 1, max: 300_000 },
  /** Bytes. */
  maxBytes: { min: 0, max: 64 * TERABYTE },
  /** Bytes. */
  memoryBytes: { min: 0, max: TERABYTE },
  /** Runtimes. */
  copies: { min: 1, max: 10_000 },
} as const;

// Half a surrogate pair is no text: on the wire all of them become the same character, and two names would be one.

/** A tenant, and what a snapshot is asked for by. */
export const NAME = /^[^\0\p{Cs}]{1,200}$/su;
/** A snapshot's name: an id means that snapshot and nothing else. */
export const SNAPSHOT_NAME = /^(?!snap-[a-z0-9]{26}$)[^\0\p{Cs}]{1,200}$/su;
/** How many labels. */
export const MAX_LABELS = 64;
/** A label's name and text. No name is `__proto__`: it would be no entry of a map, but what the map is. */
export const LABEL = /^[^\0\p{Cs}]{0,1000}$/su;

const isWhole =
  (option: keyof typeof SNAPSHOT_WHOLE): Test =>
  (value) =>
    Number.isInteger(value) && (value as number) >= SNAPSHOT_WHOLE[option].min && (value as number) <= SNAPSHOT_WHOLE[option].max;
const isFlag: Test = (value) => typeof value === 'boolean';
const isFunction: Test = (value) => typeof value === 'function';

/** Whether `value` may be a tenant, or what a snapshot is asked for by; for the schemas too. */
export const isName: Test = (value) => typeof value === 'string' && NAME.test(value);

/** Whether `value` may be what `snapshot` says; for the schemas too. */
export const isReference: Test = (value) => isSnapshot(value) || isName(value);

/** Whether `value` may be `labels`; for the schemas too. */
export const isLabels: Test = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const entries = Object.entries(value);
  const isText: Test = (text) => typeof text === 'string' && LABEL.test(text);
  const isLabel: Test = (name) => name !== '' && name !== '__proto__' && isText(name);
  return entries.length <= MAX_LABELS && entries.every(([name, text]) => isLabel(name) && isText(text));
};

const quiet: Tests = { __proto__: null, timeoutMs: isWhole('timeoutMs') };
const tenant: Tests = { __proto__: null, tenant: isName };
const store: Tests = {
  __proto__: null,
  directory: (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
  maxBytes: isWhole('maxBytes'),
  memoryBytes: isWhole('memoryBytes'),
};

/** Whether `value` is certainly what `snapshots` of a sidecar may be. */
export const isStore: Test = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const given = value as Readonly<Record<string, unknown>>;
  // What is inherited counts too, as it does for the schema.
  for (const name in given) {
    const test = store[name];
    if (test === undefined || test === null || (given[name] !== undefined && !test(given[name]))) return false;
  }
  return true;
};

/** By the calls that they belong to. */
export const SNAPSHOT_TESTS = {
  'snapshot()': {
    ...quiet,
    __proto__: null,
    name: (value) => typeof value === 'string' && SNAPSHOT_NAME.test(value),
    labels: isLabels,
    store: (value) => value === 'memory' || value === 'disk',
  } as Tests,
  'clone()': { ...quiet, __proto__: null, settle: isFlag } as Tests,
  'pause()': quiet,
  'snapshots.list()': tenant,
  'snapshots.get()': tenant,
  'snapshots.delete()': tenant,
  'snapshots.export()': tenant,
  'snapshots.import()': tenant,
  'attach()': {
    __proto__: null,
    onStdout: isFunction,
    onStderr: isFunction,
    signal: (value) => value instanceof AbortSignal,
  } as Tests,
};
