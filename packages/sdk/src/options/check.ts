// Options are checked once, here, where they come in.
//
// A call must not pay for what it does not use: the tests below accept correct options in well under a microsecond. Whatever they do
// not accept goes to the zod schemas in `schemas.ts`, which have the last word and the message; zod itself (40 ms to import) is only
// loaded then. `check.test.ts` holds the two against each other.

import { openingOf } from '../sidecar/connections.js';
import { isBindings } from './bindings.js';
import { ENV_NAME, GUEST_PATH, MAX_INLINE_BUDGET_MS, WHOLE } from './bounds.js';
import { isIdle } from './idle.js';
import { isProfile, LIMIT_NAMES, LIMITS } from './limit-bounds.js';
import { NETWORK_TESTS } from './network.js';
import { isPolicy } from './permissions.js';
import { POOL_TESTS } from './pool.js';
import { isName, isReference, isStore, SNAPSHOT_TESTS } from './snapshots.js';

type Test = (value: unknown) => boolean;
type Tests = Readonly<Record<string, Test | null>>;

const isFunction: Test = (value) => typeof value === 'function';
const isText: Test = (value) => typeof value === 'string' && !value.includes('\0');
const isTexts: Test = (value) => Array.isArray(value) && value.every(isText);
const isInput: Test = (value) => typeof value === 'string' || value instanceof Uint8Array;
const isLanguage: Test = (value) => value === 'javascript' || value === 'typescript';
const isPath: Test = (value) => typeof value === 'string' && GUEST_PATH.test(value);
const isWhole = (bounds: { min: number; max: number }): Test => {
  const { min, max } = bounds;
  return (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
};
const isBudget: Test = (value) => typeof value === 'number' && value >= 0 && value <= MAX_INLINE_BUDGET_MS;
const isFlag: Test = (value) => typeof value === 'boolean';
const isSignal: Test = (value) => value instanceof AbortSignal;
const isHostPath: Test = (value) => isText(value) && value !== '';
const isLimits: Test = (value) => matches(limits, value);
const isRecord =
  (name: RegExp, entry: Test): Test =>
  (value) => {
    if (!isMap(value)) return false;
    // A `Map`, say, has no names of its own and would pass for an empty one.
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) return false;
    for (const key in value) if (!name.test(key) || !entry(value[key])) return false;
    return true;
  };
const isEnv = isRecord(ENV_NAME, isText);
const isFiles = isRecord(GUEST_PATH, isInput);
const isMounts: Test = (value) =>
  Array.isArray(value) &&
  value.every(
    (one) => (matches(mount, one) && one.guestPath !== undefined && one.hostPath !== undefined) || isFileSystemMount(one),
  );
const isFileSystemMount: Test = (value) =>
  matches(systemMount, value) && isPath((value as { guestPath?: unknown }).guestPath) && 'fileSystem' in (value as object);

/** Whether `value` has what every file system must have; for the schemas too. */
export const isFileSystem: Test = (value) => isMap(value) && ['stat', 'readDir', 'read'].every((name) => isFunction(value[name]));

/** Whether `value` is what `nodeModules` may be; for the schemas too. */
export const isNodeModules: Test = (value) =>
  isHostPath(value) || (matches(modules, value) && (value as Record<string, unknown>)['hostPath'] !== undefined);

/** Whether a runtime has files from the start or from its snapshot; for the schemas too. */
export const isOneOrigin = (options: Readonly<Record<string, unknown>>): boolean =>
  options['snapshot'] === undefined || options['files'] === undefined;

// `__proto__: null`, so that `constructor` is as unknown an option as any other.
const listener: Tests = { __proto__: null, onBootTiming: isFunction };
const place: Tests = { __proto__: null, env: isEnv, cwd: isPath };
const limits: Tests = {
  __proto__: null,
  profile: isProfile,
  ...Object.fromEntries(LIMIT_NAMES.map((name) => [name, isWhole(LIMITS[name])])),
};
const folder: Tests = { __proto__: null, guestPath: isPath, hostPath: isHostPath };
const modules: Tests = {
  __proto__: null,
  ...folder,
  roots: (value) => Array.isArray(value) && value.every(isHostPath),
};
const mount: Tests = { __proto__: null, ...folder, readOnly: isFlag, overlay: isFlag };
const systemMount: Tests = {
  __proto__: null,
  guestPath: isPath,
  fileSystem: (value) => isFileSystem(value),
  readOnly: isFlag,
  timeout: isWhole(WHOLE.timeout),
};
const recursive: Tests = { __proto__: null, recursive: isFlag };
const evaluation: Tests = {
  __proto__: null,
  timeout: isWhole(WHOLE.timeout),
  signal: (value) => value instanceof AbortSignal,
  onStdout: isFunction,
  onStderr: isFunction,
};
const run: Tests = {
  __proto__: null,
  ...place,
  ...evaluation,
  args: isTexts,
  execArgv: isTexts,
  language: isLanguage,
  stdin: isInput,
};
const command: Tests = { __proto__: null, ...place, ...evaluation, stdin: isInput };
const sidecar: Tests = {
  __proto__: null,
  ...listener,
  workers: isWhole(WHOLE.workers),
  warmSlots: isWhole(WHOLE.warmSlots),
  maxRuntimes: isWhole(WHOLE.maxRuntimes),
  spinUs: isWhole(WHOLE.spinUs),
  snapshots: isStore,
};
const isSidecar: Test = (value) => openingOf(value) !== undefined;

const SETS = {
  ...POOL_TESTS,
  ...NETWORK_TESTS,
  ...SNAPSHOT_TESTS,
  'NodeRuntime.create()': {
    __proto__: null,
    ...place,
    ...listener,
    sidecar: isSidecar,
    limits: isLimits,
    onLimitWarning: isFunction,
    files: isFiles,
    mounts: isMounts,
    nodeModules: isNodeModules,
    bindings: isBindings,
    permissions: isPolicy,
    snapshot: isReference,
    tenant: isName,
    idle: isIdle,
  } as Tests,
  'exec()': run,
  'execFile()': run,
  'run()': run,
  'spawn()': run,
  'spawnCommand()': command,
  'execCommand()': command,
  'createResidentRunner()': place,
  'ResidentRunner.exec()': evaluation,
  'registerBindings()': { __proto__: null, bindings: isBindings } as Tests,
  'mkdir()': recursive,
  'remove()': recursive,
  'stat()': { __proto__: null, followSymlinks: isFlag } as Tests,
  'setPermissions()': isPolicy,
  'writeFile()': { __proto__: null, mode: isWhole(WHOLE.mode) } as Tests,
  'watch()': { __proto__: null, recursive: isFlag, signal: isSignal } as Tests,
  'createReadStream()': {
    __proto__: null,
    start: isWhole(WHOLE.position),
    end: isWhole(WHOLE.position),
    signal: isSignal,
  } as Tests,
  'createWriteStream()': { __proto__: null, append: isFlag, mode: isWhole(WHOLE.mode), signal: isSignal } as Tests,
  'exportTar()': { __proto__: null, gzip: isFlag } as Tests,
  'importTar()': { __proto__: null, path: isPath, gzip: isFlag } as Tests,
  'Sidecar.spawn()': sidecar,
  'Sidecar.embedded()': { __proto__: null, ...sidecar, inlineBudgetMs: isBudget } as Tests,
};

/** The option sets, by the call they belong to. The names appear in messages. */
export type OptionSet = keyof typeof SETS;

/** Whether `options` are certainly correct. `false` means: ask `explain()`. */
export function acceptable(set: OptionSet, options: unknown): boolean {
  const tests: Tests | Test = SETS[set];
  if (options === undefined) return true;
  if (typeof tests === 'function') return tests(options);
  return matches(tests, options) && (set !== 'NodeRuntime.create()' || isOneOrigin(options as Record<string, unknown>));
}

/** Throws `ERR_INVALID_OPTION` with the first thing that is wrong with `options`, if anything is. */
export async function explain(set: OptionSet, options: unknown): Promise<void> {
  const { assertOptions } = await import('./schemas.js');
  assertOptions(set, options);
}

function matches(tests: Tests, options: unknown): boolean {
  if (!isMap(options)) return false;
  for (const name in options) {
    const test = tests[name];
    if (test === undefined || test === null) return false;
    const value = options[name];
    if (value !== undefined && !test(value)) return false;
  }
  return true;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
