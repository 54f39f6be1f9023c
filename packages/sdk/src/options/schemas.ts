// The options of every public call as strict zod schemas. Loaded only when `check.ts` has not accepted something; the message of a
// check is the words that complete "expected ...". Next: `hints.ts`.

import * as z from 'zod/mini';
import { invalidOption } from '../errors/make.js';
import { openingOf } from '../sidecar/connections.js';
import { binding, bindings } from './binding-schemas.js';
import { ENV_NAME, GUEST_PATH, HOST_PATH, MAX_INLINE_BUDGET_MS, TEXT, WHOLE } from './bounds.js';
import { isFileSystem, isNodeModules, isOneOrigin, type OptionSet } from './check.js';
import { hintFor } from './hints.js';
import { idle } from './idle-schema.js';
import { isProfile, LIMIT_NAMES, LIMITS } from './limit-bounds.js';
import { NETWORK_SCHEMAS } from './network-schemas.js';
import { type Issue, knownNames, meant, permissionHint, permissionsPolicy } from './permission-schemas.js';
import { POOL_SCHEMAS } from './pool-schemas.js';
import { show } from './show.js';
import { SNAPSHOT_SCHEMAS, snapshot, snapshotStore, tenant } from './snapshot-schemas.js';

function whole(bounds: { min: number; max: number }, unit: string) {
  const error = `a whole number of ${unit} from ${bounds.min} to ${bounds.max}`;
  return z.optional(z.int({ error }).check(z.gte(bounds.min, { error }), z.lte(bounds.max, { error })));
}

function matching(pattern: RegExp, error: string) {
  return z.string({ error }).check(z.regex(pattern, { error }));
}

function custom<T>(test: (value: unknown) => boolean, error: string) {
  return z.optional(z.custom<T>(test, { error }));
}

function strict<T extends z.core.$ZodLooseShape>(shape: T, error = 'an object with options') {
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : error) });
}

const ENV = 'a map of names without "=" and NUL to text without NUL';
const callback = custom((value) => typeof value === 'function', 'a function');
const env = z.optional(z.record(matching(ENV_NAME, ENV), matching(TEXT, 'text without NUL'), { error: ENV }));
const cwd = z.optional(matching(GUEST_PATH, 'an absolute guest path such as /workspace'));
const text = matching(TEXT, 'text without NUL');
const isInput = (value: unknown) => typeof value === 'string' || value instanceof Uint8Array;
const contents = z.custom<string | Uint8Array>(isInput, { error: 'text or a Uint8Array' });
const limits = strict(
  {
    ...Object.fromEntries(LIMIT_NAMES.map((name) => [name, whole(LIMITS[name], LIMITS[name].unit)])),
    profile: custom(isProfile, "'default' or 'hardened'"),
  },
  'an object with limits',
);
const FILES = 'a map of absolute guest paths to text or Uint8Arrays';
const guestPath = matching(GUEST_PATH, 'an absolute guest path such as /workspace/data');
const flag = z.optional(z.boolean({ error: 'true or false' }));
const mount = strict(
  {
    guestPath,
    hostPath: z.optional(matching(HOST_PATH, 'a folder of this machine')),
    fileSystem: custom(isFileSystem, 'a FileSystem: an object with stat, readDir and read'),
    readOnly: flag,
    overlay: flag,
    timeout: whole(WHOLE.timeout, 'milliseconds'),
  },
  'an object with a mount',
);
const isOneOf = ({ hostPath, fileSystem, overlay, timeout }: Readonly<Record<string, unknown>>): boolean =>
  hostPath === undefined ? fileSystem !== undefined && overlay === undefined : fileSystem === undefined && timeout === undefined;
const oneMount = mount.check(z.refine(isOneOf, { error: 'hostPath (and overlay), or fileSystem (and timeout)' }));
const isLanguage = (value: unknown): boolean => value === 'javascript' || value === 'typescript';
const signal = custom((value) => value instanceof AbortSignal, 'an AbortSignal');
const mode = whole(WHOLE.mode, 'permissions');
const position = whole(WHOLE.position, 'bytes');
const evaluation = {
  timeout: whole(WHOLE.timeout, 'milliseconds'),
  signal,
  onStdout: callback,
  onStderr: callback,
};
const run = strict({
  ...evaluation,
  env,
  cwd,
  args: z.optional(z.array(text, { error: 'a list of text' })),
  execArgv: z.optional(z.array(text, { error: 'a list of text' })),
  language: custom(isLanguage, "'javascript' or 'typescript'"),
  stdin: custom(isInput, 'text or a Uint8Array'),
});
const command = strict({ ...evaluation, env, cwd, stdin: custom(isInput, 'text or a Uint8Array') });
const runtime = strict({
  env,
  cwd,
  limits: z.optional(limits),
  onLimitWarning: callback,
  files: z.optional(z.record(matching(GUEST_PATH, FILES), contents, { error: FILES })),
  mounts: z.optional(
    z.array(oneMount, {
      error: 'a list of mounts: { guestPath, hostPath, readOnly?, overlay? } or { guestPath, fileSystem, readOnly?, timeout? }',
    }),
  ),
  nodeModules: custom(isNodeModules, 'a folder of this machine, or { hostPath, guestPath?, roots? }'),
  bindings,
  permissions: z.optional(permissionsPolicy),
  idle,
  snapshot,
  tenant,
  onBootTiming: callback,
  sidecar: custom(
    (value) => openingOf(value) !== undefined,
    'a Sidecar made by Sidecar.spawn() or Sidecar.embedded() of this copy of coldframe',
  ),
});
const sidecar = {
  onBootTiming: callback,
  workers: whole(WHOLE.workers, 'threads'),
  warmSlots: whole(WHOLE.warmSlots, 'slots'),
  maxRuntimes: whole(WHOLE.maxRuntimes, 'runtimes'),
  spinUs: whole(WHOLE.spinUs, 'microseconds'),
  snapshots: z.optional(snapshotStore),
};
const budget = `a number of milliseconds from 0 to ${MAX_INLINE_BUDGET_MS}`;

/** The schema of each option set. */
export const SCHEMAS: Readonly<Record<OptionSet, z.ZodMiniType>> = {
  ...NETWORK_SCHEMAS,
  ...POOL_SCHEMAS,
  ...SNAPSHOT_SCHEMAS,
  'NodeRuntime.create()': runtime.check(
    z.refine(isOneOrigin, { path: ['files'], error: 'none beside `snapshot`, which has files of its own' }),
  ),

  'exec()': run,
  'execFile()': run,
  'run()': run,
  'spawn()': run,
  'spawnCommand()': command,
  'execCommand()': command,
  'createResidentRunner()': strict({ env, cwd }),
  'ResidentRunner.exec()': strict(evaluation),
  'registerBindings()': strict({ bindings }),
  'mkdir()': strict({ recursive: flag }),
  'remove()': strict({ recursive: flag }),
  'stat()': strict({ followSymlinks: flag }),
  'setPermissions()': permissionsPolicy,
  'writeFile()': strict({ mode }),
  'watch()': strict({ recursive: flag, signal }),
  'createReadStream()': strict({ start: position, end: position, signal }),
  'createWriteStream()': strict({ append: flag, mode, signal }),
  'exportTar()': strict({ gzip: flag }),
  'importTar()': strict({ path: cwd, gzip: flag }),
  'Sidecar.spawn()': strict(sidecar),
  'Sidecar.embedded()': strict({
    ...sidecar,
    inlineBudgetMs: z.optional(
      z.number({ error: budget }).check(z.gte(0, { error: budget }), z.lte(MAX_INLINE_BUDGET_MS, { error: budget })),
    ),
  }),
};

/** Throws `ERR_INVALID_OPTION` with the first thing that is wrong with `options`. */
export function assertOptions(set: OptionSet, options: unknown): void {
  const first = SCHEMAS[set].safeParse(options).error?.issues[0];
  if (first === undefined) return;
  const at = (path: readonly PropertyKey[]) =>
    path.reduce((value: unknown, name) => (value as Record<PropertyKey, unknown> | undefined)?.[name], options);
  const issue = meant(first as Issue, at(first.path));
  const unknownName = issue.code === 'unrecognized_keys' ? issue.keys?.[0] : undefined;
  const path = unknownName === undefined ? issue.path : [...issue.path, unknownName];
  const option = path.length === 0 ? 'options' : path.map(String).join('.');
  const value = at(path);
  const expected = unknownName === undefined ? issue.message : `one of ${known(set, issue.path).join(', ')}`;
  const hint = hintOf(set, path, unknownName, value);
  throw invalidOption(set, { option, expected, received: show(value) }, hint);
}

// Where in a policy a path leads, if it does.
function inPolicy(set: OptionSet, path: readonly PropertyKey[]): readonly PropertyKey[] | undefined {
  if (set === 'setPermissions()') return path;
  return path[0] === 'permissions' ? path.slice(1) : undefined;
}

function hintOf(
  set: OptionSet,
  path: readonly PropertyKey[],
  unknownName: string | undefined,
  value: unknown,
): string | undefined {
  const within = inPolicy(set, path);
  if (within !== undefined && within.length > 0) return permissionHint(within, value);
  return unknownName === undefined ? undefined : hintFor(unknownName, set);
}

// The names that a strict object at `path` has.
function known(set: OptionSet, path: readonly PropertyKey[]): string[] {
  const within = inPolicy(set, path);
  if (within !== undefined) return knownNames(within);
  const inner: Readonly<Record<string, { shape: object }>> = {
    limits,
    mounts: mount,
    bindings: binding,
    snapshots: snapshotStore,
  };
  const whole = set === 'NodeRuntime.create()' ? runtime : (SCHEMAS[set] as ReturnType<typeof strict>);
  const schema = inner[String(path[0])] ?? whole;
  return Object.keys(schema.shape);
}
