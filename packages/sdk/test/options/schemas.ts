// Describes the options of every call as zod schemas, independently of the tables in `src/options`.
// `check.test.ts` asserts that the tables and the schemas accept equal options. A new option needs
// a row in its table and an entry in its schema.

import * as z from 'zod/mini';
import type { OptionCall } from '../../src/options/check.js';
import { isSidecar, isSnapshot } from '../../src/options/handles.js';

const MAX_MS = 2_147_483_647;
const MIB = 1_048_576;
const TERABYTE = 1_099_511_627_776;

const whole = (min: number, max: number) => z.int().check(z.gte(min), z.lte(max));
const number = (min: number, max: number) => z.optional(whole(min, max));
const matching = (pattern: RegExp) => z.string().check(z.regex(pattern));
const custom = (test: (value: unknown) => boolean) => z.optional(z.custom(test));
const oneOf = (...values: unknown[]) => custom((value) => values.includes(value));

const GUEST_PATH = /^\/[^\0]*$/s;
const TEXT = matching(/^[^\0]*$/s);
const HOST_PATH = matching(/^[^\0]+$/s);
const flag = z.optional(z.boolean());
const callback = custom((value) => typeof value === 'function');
const signal = custom((value) => value instanceof AbortSignal);
const isFile = (value: unknown) =>
  value instanceof URL
    ? /^file:\/\/\//.test(value.href)
    : typeof value === 'string' && /^(?![a-z][a-z\d+.-]+:)[^\0]+$|^file:\/\/\/[^\0]*$/is.test(value);
const isContent = (value: unknown) => typeof value === 'string' || value instanceof Uint8Array;
const isProgram = (value: unknown) => typeof Object(value).pid === 'number' && Object(value).ended instanceof Promise;
const env = z.optional(z.record(matching(/^[^=\0]+$/s), TEXT));
const cwd = z.optional(matching(GUEST_PATH));

const isPlain = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

const isOwner = (value: unknown) =>
  value === 'root' ||
  value === 'user' ||
  (isPlain(value) &&
    Object.keys(value).sort().join() === 'gid,uid' &&
    [value.uid, value.gid].every((id) => Number.isInteger(id) && Number(id) >= 0 && Number(id) < 4_294_967_295));

const isStandardSchema = (schema: unknown): boolean => {
  if ((typeof schema !== 'object' || schema === null) && typeof schema !== 'function') return false;
  const standard: unknown = (schema as Record<string, unknown>)['~standard'];
  return typeof standard === 'object' && standard !== null && typeof (standard as { validate?: unknown }).validate === 'function';
};

const isExample = (value: unknown): boolean =>
  isPlain(value) &&
  'input' in value &&
  Object.keys(value).every((key) => key === 'input' || key === 'description') &&
  (value['description'] === undefined || typeof value['description'] === 'string');

const name = matching(/^[A-Za-z][\w.-]{0,63}$/);
const binding = z.strictObject({
  description: z.string(),
  inputSchema: z.custom((value) => typeof value === 'boolean' || isStandardSchema(value) || isPlain(value)),
  handler: z.custom((value) => typeof value === 'function'),
  timeoutMs: number(1, 300_000),
  maxConcurrency: number(1, 1_024),
  maxInputBytes: number(1, 16 * MIB),
  maxOutputBytes: number(1, 16 * MIB),
  command: flag,
  examples: z.optional(z.array(z.custom(isExample))),
  commandAliases: z.optional(z.array(name).check(z.maxLength(15))),
});
const bindings = z.optional(z.record(name, binding));

const limits = z.strictObject({
  profile: oneOf('default', 'hardened'),
  memoryBytes: number(1, 2_048 * MIB),
  totalMemoryBytes: number(1, TERABYTE),
  kernelBytes: number(65_536, TERABYTE),
  cpuMs: number(1, MAX_MS),
  wallMs: number(0, MAX_MS),
  runtimeCpuMs: number(0, MAX_MS),
  runtimeWallMs: number(0, MAX_MS),
  processes: number(1, 65_536),
  descriptors: number(3, 65_536),
  pipes: number(0, 196_608),
  terminals: number(0, 4_096),
  pipeBytes: number(4_096, 16 * MIB),
  sockets: number(0, 65_536),
  socketBytes: number(4_096, 16 * MIB),
  filesystemBytes: number(0, TERABYTE),
  inodes: number(0, 16 * MIB),
  hostFiles: number(0, 65_536),
  watches: number(0, 65_536),
  operations: number(16, MIB),
  argvBytes: number(4_096, 16 * MIB),
  envBytes: number(4_096, 16 * MIB),
  stdinBytes: number(0, MAX_MS),
  outputBytes: number(0, MAX_MS),
  resultBytes: number(0, 16 * MIB),
  fetchResponseBytes: number(0, 536_870_888),
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isFileSystem = (value: unknown): boolean =>
  isObject(value) && ['stat', 'readDir', 'read'].every((method) => typeof value[method] === 'function');
const mount = z
  .strictObject({
    guestPath: matching(GUEST_PATH),
    hostPath: z.optional(HOST_PATH),
    fileSystem: custom(isFileSystem),
    readOnly: flag,
    overlay: flag,
    timeout: number(1, MAX_MS),
  })
  .check(
    z.refine(({ hostPath, fileSystem, overlay, timeout }) =>
      hostPath === undefined
        ? fileSystem !== undefined && overlay === undefined
        : fileSystem === undefined && timeout === undefined,
    ),
  );
const nodeModules = z.optional(
  z.union([
    HOST_PATH,
    z.strictObject({
      hostPath: HOST_PATH,
      guestPath: z.optional(matching(GUEST_PATH)),
      roots: z.optional(z.array(HOST_PATH)),
    }),
  ]),
);

const isRequirement = (value: unknown) =>
  typeof value === 'string' &&
  ((!value.includes('://') && !value.includes('\0') && value.endsWith('.whl') && value.length > 4) ||
    /^[a-z0-9][^\0\p{Cc}\p{Cs}]{0,999}$/iu.test(value));
const indexUrl = z.string().check(z.refine((url) => /^https?:\/\/[^\s\0]{1,2000}$/.test(url) && URL.canParse(url)));

const python = z.optional(
  z.strictObject({
    packages: z.optional(z.array(z.custom(isRequirement))),
    requirements: z.optional(HOST_PATH),
    noBinary: z.optional(z.array(matching(/^[a-z0-9][\w.-]{0,199}$/i))),
    indexUrl: z.optional(indexUrl),
    extraIndexUrls: z.optional(z.array(indexUrl)),
  }),
);
const isPattern = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 4_095 && !value.includes('\0');
const isRulePath = (value: unknown): boolean =>
  isPattern(value) &&
  /^(?:\/|\*\*$|\*\*\/)[^\0]*$/s.test(value) &&
  !value.split('/').some((part) => part === '.' || part === '..');
const OPERATIONS: Readonly<Record<string, readonly string[]>> = {
  fs: 'read write stat readdir create_dir rm rename symlink link readlink chmod chown utimes truncate watch execute'.split(' '),
  network: ['listen', 'connect', 'udp', 'dns'],
  childProcess: ['spawn'],
  process: ['signal', 'chdir', 'setpgid'],
  env: ['read', 'write'],
  binding: ['call'],
};
const mode = z.enum(['allow', 'deny']);
const scopeOf = (scope: string) => {
  const operations = z.optional(z.array(z.custom((value) => (OPERATIONS[scope] as readonly unknown[]).includes(value))));
  const resources = (test: (value: unknown) => boolean) => z.optional(z.array(z.custom(test)));
  const rule =
    scope === 'fs'
      ? z.strictObject({ mode, operations, paths: resources(isRulePath) })
      : z.strictObject({ mode, operations, patterns: resources(isPattern) });
  return z.optional(z.union([mode, z.strictObject({ default: z.optional(mode), rules: z.array(rule) })]));
};
const permissions = z.strictObject(Object.fromEntries(Object.keys(OPERATIONS).map((scope) => [scope, scopeOf(scope)])));

const isShort = (value: unknown): boolean => typeof value === 'string' && /^[^\0\p{Cs}]{1,200}$/su.test(value);
const tenant = custom(isShort);
const snapshot = custom((value) => isSnapshot(value) || isShort(value));
const isLabels = (value: unknown): boolean => {
  if (!isPlain(value)) return false;
  const entries = Object.entries(value);
  const isText = (text: unknown): boolean => typeof text === 'string' && /^[^\0\p{Cs}]{0,1000}$/su.test(text);
  return entries.length <= 64 && entries.every(([key, text]) => key !== '' && key !== '__proto__' && isText(key) && isText(text));
};
const snapshots = z.strictObject({
  directory: z.optional(HOST_PATH),
  maxBytes: number(0, 64 * TERABYTE),
  memoryBytes: number(0, TERABYTE),
});

const idle = z.strictObject({
  afterMs: whole(1, MAX_MS),
  action: z.enum(['pause', 'dispose']),
  onError: callback,
});

const evaluation = {
  timeout: number(1, MAX_MS),
  signal,
  onStdout: callback,
  onStderr: callback,
  explainLimits: flag,
  throwOnError: flag,
};
const processLimits = z.optional(
  z.strictObject({
    memoryBytes: number(1, 2_048 * MIB),
    cpuMs: number(1, MAX_MS),
    outputBytes: number(0, MAX_MS),
    resultBytes: number(0, 16 * MIB),
  }),
);
const RELATIVE = /^(?!\/)(?!.*(?:^|\/)(?:\.{0,2})(?:\/|$))[^\0]+$/s;
const stdin = custom(isContent);
const owner = custom(isOwner);
const orphans = oneOf('kill', 'keep');
const run = z.strictObject({
  ...evaluation,
  env,
  cwd,
  args: z.optional(z.array(TEXT)),
  execArgv: z.optional(z.array(TEXT)),
  language: oneOf('javascript', 'typescript', 'python'),
  stdin,
  limits: processLimits,
  user: owner,
  orphans,
});
const command = z.strictObject({ ...evaluation, env, cwd, stdin, limits: processLimits, user: owner, orphans });
const walls = oneOf('auto', 'required', 'off');
const runtime = z
  .strictObject({
    env,
    cwd,
    limits: z.optional(limits),
    onLimitWarning: callback,
    files: z.optional(z.record(matching(GUEST_PATH), z.custom(isContent))),
    mounts: z.optional(z.array(mount)),
    nodeModules,
    python,
    bindings,
    permissions: z.optional(permissions),
    idle: z.optional(idle),
    snapshot,
    tenant,
    weight: number(1, 10_000),
    onBootTiming: callback,
    walls,
    sidecar: custom(isSidecar),
  })
  .check(z.refine((options) => options.snapshot === undefined || options.files === undefined))
  .check(
    z.refine(
      ({ snapshot, python }) => snapshot === undefined || !(python?.packages?.length || python?.requirements !== undefined),
    ),
  )
  .check(z.refine((options) => options.sidecar === undefined || options.walls === undefined));
const sidecar = {
  onBootTiming: callback,
  workers: number(1, 256),
  warmSlots: number(0, 4_096),
  maxRuntimes: number(1, 65_536),
  spinUs: number(0, 10_000),
  snapshots: z.optional(snapshots),
};
const until = z.optional(oneOf('value', 'idle'));
const acquire = z.strictObject({ tenant, signal });
const timeoutMs = number(1, 300_000);
const permissionBits = number(0, 0o1777);
const position = number(0, Number.MAX_SAFE_INTEGER - 1);
const storeCall = z.strictObject({ tenant });

/** Calls that other tests cover. */
type Other = 'new RuntimePool()' | 'createGateway()' | 'resume()' | 'Network.create()' | 'network.join()';

/** The schema of each call. */
export const SCHEMAS: Readonly<Record<Exclude<OptionCall, Other>, z.ZodMiniType>> = {
  'network.update()': z.strictObject({ existing: z.optional(oneOf('recheck', 'keep')) }),
  'network.check()': z.strictObject({ method: z.optional(matching(/^[A-Za-z][A-Za-z-]{0,31}$/)) }),
  'NodeRuntime.create()': runtime,
  'exec()': run,
  'execFile()': run,
  'execFiles()': z.extend(run, { entry: z.optional(matching(RELATIVE)) }),
  'run()': run,
  'spawn()': run,
  'spawnCommand()': command,
  'execCommand()': command,
  'openTerminal()': z.strictObject({
    env,
    cwd,
    limits: processLimits,
    timeout: evaluation.timeout,
    signal,
    command: z.optional(z.string()),
    args: z.optional(z.array(TEXT)),
    cols: number(1, 65_535),
    rows: number(1, 65_535),
    term: z.optional(TEXT),
    onData: callback,
  }),
  'createResidentRunner()': z.strictObject({
    env,
    cwd,
    limits: processLimits,
    user: owner,
    language: oneOf('javascript', 'bash', 'python'),
  }),
  'ResidentRunner.exec()': z.strictObject({ ...evaluation, env, cwd, until }),
  'ResidentRunner.run()': z.strictObject({ ...evaluation, env, cwd, until }),
  'ResidentRunner.cell()': z.strictObject({
    ...evaluation,
    env,
    cwd,
    until,
    language: oneOf('javascript', 'typescript', 'python'),
  }),
  'check()': z.strictObject({
    language: oneOf('javascript', 'typescript'),
    types: flag,
    from: custom(isFile),
    timeout: number(1, MAX_MS),
  }),
  'attach()': z.strictObject({ onStdout: callback, onStderr: callback, signal, onLost: callback }),
  'registerBindings()': z.strictObject({ bindings }),
  'setPermissions()': permissions,
  'mkdir()': z.strictObject({ recursive: flag, owner }),
  'remove()': z.strictObject({ recursive: flag }),
  'stat()': z.strictObject({ followSymlinks: flag }),
  'writeFile()': z.strictObject({ mode: permissionBits, owner }),
  'watch()': z.strictObject({ recursive: flag, typed: flag, signal }),
  'createReadStream()': z.strictObject({ start: position, end: position, signal }),
  'createWriteStream()': z.strictObject({ append: flag, mode: permissionBits, owner, signal }),
  'exportTar()': z.strictObject({ gzip: flag }),
  'importTar()': z.strictObject({ path: cwd, gzip: flag, keepOwners: flag, owner }),
  'waitForListener()': z.strictObject({
    timeoutMs: number(1, MAX_MS),
    signal,
    process: custom(isProgram),
  }),
  'exposePort()': z.strictObject({
    host: z.optional(matching(/^(localhost|127(\.\d{1,3}){3}|::1)$/)),
    hostPort: number(0, 65_535),
  }),
  'fetch()': z.strictObject({
    method: z.optional(matching(/^[A-Za-z][A-Za-z-]*$/)),
    path: z.optional(matching(/^\/[^\s\0]*$/)),
    headers: custom((value) => typeof value === 'object' && value !== null),
    body: custom((value) => isContent(value) || (typeof value === 'object' && value !== null && Symbol.asyncIterator in value)),
    signal,
    timeoutMs: number(1, MAX_MS),
    maxResponseBytes: number(0, 536_870_888),
  }),
  'snapshot()': z.strictObject({
    name: z.optional(matching(/^(?!snap-[a-z0-9]{26}$)[^\0\p{Cs}]{1,200}$/su)),
    labels: custom(isLabels),
    store: oneOf('memory', 'disk'),
    timeoutMs,
    memory: flag,
  }),
  'clone()': z.strictObject({ timeoutMs, settle: flag }),
  'pause()': z.strictObject({ timeoutMs, whenBusy: oneOf('reject', 'freeze') }),
  'snapshots.list()': storeCall,
  'snapshots.get()': storeCall,
  'snapshots.delete()': storeCall,
  'snapshots.export()': storeCall,
  'snapshots.import()': storeCall,
  'acquire()': acquire,
  'withRuntime()': acquire,
  'RuntimePool.dispose()': z.strictObject({ timeoutMs: number(0, 86_400_000) }),
  'Sidecar.spawn()': z.strictObject({ ...sidecar, walls }),
  'Sidecar.embedded()': z.strictObject({ ...sidecar, inlineBudgetMs: z.optional(z.number().check(z.gte(0), z.lte(1_000))) }),
};
