// What people write who come from elsewhere, and what it is called here. A wrong name that is one of these gets the right one as a hint;
// one that is nearly a right name gets that.

import type { OptionSet } from './check.js';
import { LIMIT_NAMES } from './limit-bounds.js';

const FOREIGN: Readonly<Record<string, string>> = {
  __proto__: null as never,
  timeoutMs: '`timeout`, in milliseconds',
  timeoutSeconds: '`timeout`, in milliseconds',
  loopbackExemptPorts: '`exposePort()`, a call: guest ports are reached by calls of yours and by nothing else',
  pollIntervalMs: '`timeoutMs`: listeners are awaited by events, not looked for again and again',
  maxDuration: '`timeout`, in milliseconds',
  deadline: '`timeout`, in milliseconds',
  abortSignal: '`signal`',
  environment: '`env`',
  envs: '`env`',
  envVars: '`env`',
  workingDirectory: '`cwd`',
  workdir: '`cwd`',
  workDir: '`cwd`',
  dir: '`cwd`',
  argv: '`args`',
  nodeArgs: '`execArgv`',
  nodeOptions: '`execArgv`, or NODE_OPTIONS in `env`',
  arguments: '`args`',
  input: '`stdin`',
  stdout: '`onStdout`, a function',
  stderr: '`onStderr`, a function',
  onOutput: '`onStdout` and `onStderr`',
  memory: '`limits.memoryBytes`, in bytes',
  memoryMb: '`limits.memoryBytes`, in bytes',
  memoryMB: '`limits.memoryBytes`, in bytes',
  memoryLimit: '`limits.memoryBytes`, in bytes',
  memoryLimitBytes: '`limits.memoryBytes`, in bytes',
  maxMemory: '`limits.memoryBytes`, in bytes',
  cpuTime: '`limits.cpuMs`, in milliseconds',
  cpuTimeLimitMs: '`limits.cpuMs`, in milliseconds',
  cpuLimit: '`limits.cpuMs`, in milliseconds',
  maxBuffer: '`limits.outputBytes`, in bytes',
  maxOutputBytes: '`limits.outputBytes`, in bytes',
  threads: '`workers`',
  inlineBudget: '`inlineBudgetMs`, in milliseconds',
  resourceLimits: '`limits`',
  limit: '`limits`',
  volumes: '`mounts`, a list of `{ guestPath, hostPath, readOnly?, overlay? }`',
  mount: '`mounts`, a list of `{ guestPath, hostPath, readOnly?, overlay? }`',
  readonly: '`readOnly`',
  source: '`hostPath`',
  target: '`guestPath`',
  destination: '`guestPath`',
  node_modules: '`nodeModules`',
  modules: '`nodeModules`',
  fs: '`files`, a map of guest paths to contents',
  filesystem: '`files`, a map of guest paths to contents',
  maxFiles: '`limits.inodes`',
  maxOpenFiles: '`limits.descriptors`',
  maxProcesses: '`limits.processes`',
  maxSockets: '`limits.sockets`',
  maxPipes: '`limits.pipes`',
  fds: '`limits.descriptors`',
  wallTimeMs: '`limits.wallMs`, in milliseconds',
  maxFilesystemBytes: '`limits.filesystemBytes`, in bytes',
  force: '`recursive`',
  permission: '`permissions`',
  policy: '`permissions`',
  allowNetwork: '`permissions.network`',
  follow: '`followSymlinks`',
  tools: '`bindings`, a map of names to `{ description, inputSchema, handler }`',
  toolKits: '`bindings`, a map of names to `{ description, inputSchema, handler }`',
  schema: '`inputSchema`',
  parameters: '`inputSchema`',
  execute: '`handler`',
  aliases: '`commandAliases`',
  max: '`size` of a pool',
  maxSize: '`size` of a pool',
  minSize: '`min` of a pool',
  maxUses: '`reuse` of a pool',
  idleTimeout: '`idleTimeoutMs` of a pool, or `idle.afterMs` of a runtime, in milliseconds',
  acquireTimeout: '`acquireTimeoutMs` of a pool, in milliseconds',
  maxQueue: '`maxWaiting` of a pool',
  maxWaitingClients: '`maxWaiting` of a pool',
  from: '`snapshot`',
  template: '`snapshot`',
  tags: '`labels`, a map of names to text',
  label: '`name`',
  tenantId: '`tenant`',
};

// Where an option belongs that is right, but not here.
const ELSEWHERE: Readonly<Record<string, OptionSet[]>> = {
  __proto__: null as never,
  limits: ['NodeRuntime.create()'],
  ...Object.fromEntries(['profile', ...LIMIT_NAMES].map((name) => [name, ['NodeRuntime.create()'] as OptionSet[]])),
  onLimitWarning: ['NodeRuntime.create()'],
  files: ['NodeRuntime.create()'],
  mounts: ['NodeRuntime.create()'],
  nodeModules: ['NodeRuntime.create()'],
  readOnly: ['NodeRuntime.create()'],
  overlay: ['NodeRuntime.create()'],
  hostPath: ['NodeRuntime.create()'],
  guestPath: ['NodeRuntime.create()'],
  bindings: ['NodeRuntime.create()'],
  recursive: ['mkdir()', 'remove()', 'watch()'],
  mode: ['writeFile()', 'createWriteStream()'],
  append: ['createWriteStream()'],
  gzip: ['exportTar()', 'importTar()'],
  followSymlinks: ['stat()'],
  sidecar: ['NodeRuntime.create()'],
  snapshot: ['NodeRuntime.create()'],
  tenant: ['NodeRuntime.create()'],
  snapshots: ['Sidecar.spawn()', 'Sidecar.embedded()'],
  name: ['snapshot()'],
  labels: ['snapshot()'],
  store: ['snapshot()'],
  settle: ['clone()'],
  permissions: ['NodeRuntime.create()'],
  idle: ['NodeRuntime.create()'],
  onBootTiming: ['NodeRuntime.create()', 'Sidecar.spawn()', 'Sidecar.embedded()'],
  inlineBudgetMs: ['Sidecar.embedded()'],
  workers: ['Sidecar.spawn()', 'Sidecar.embedded()'],
  warmSlots: ['Sidecar.spawn()', 'Sidecar.embedded()'],
  maxRuntimes: ['Sidecar.spawn()', 'Sidecar.embedded()'],
  spinUs: ['Sidecar.spawn()', 'Sidecar.embedded()'],
  timeout: ['exec()', 'execFile()', 'run()', 'spawn()', 'execCommand()', 'ResidentRunner.exec()'],
  signal: ['exec()', 'execFile()', 'run()', 'ResidentRunner.exec()'],
  stdin: ['exec()', 'execFile()', 'run()', 'spawn()', 'execCommand()'],
  args: ['exec()', 'execFile()', 'run()'],
  execArgv: ['exec()', 'execFile()', 'run()'],
  language: ['exec()', 'execFile()', 'run()'],
  onStdout: ['exec()', 'execFile()', 'run()', 'ResidentRunner.exec()'],
  onStderr: ['exec()', 'execFile()', 'run()', 'ResidentRunner.exec()'],
  env: ['NodeRuntime.create()', 'exec()', 'execFile()', 'run()', 'createResidentRunner()'],
  cwd: ['NodeRuntime.create()', 'exec()', 'execFile()', 'run()', 'createResidentRunner()'],
};

// How an option is reached that is not on the outermost level.
const INNER: Readonly<Record<string, string>> = {
  __proto__: null as never,
  ...Object.fromEntries(['profile', ...LIMIT_NAMES].map((name) => [name, `limits.${name}`])),
  readOnly: 'mounts[].readOnly',
  overlay: 'mounts[].overlay',
  hostPath: 'mounts[].hostPath',
  guestPath: 'mounts[].guestPath',
};

/** A sentence that leads from a wrong name to the right one, if one is known. */
export function hintFor(name: string, set: OptionSet): string | undefined {
  const right = FOREIGN[name];
  if (right !== undefined) return `It is called ${right}${placeOf(/^`(\w+)/.exec(right)?.[1], set)}.`;
  if (name in ELSEWHERE) {
    const inner = INNER[name] === undefined ? '' : ` It is \`${INNER[name]}\` there.`;
    return `It is an option of ${(ELSEWHERE[name] as OptionSet[]).join(', ')}.${inner}`;
  }
  const near = Object.keys(ELSEWHERE).find((known) => known.toLowerCase() === name.toLowerCase());
  return near === undefined ? undefined : `It is spelled \`${near}\`.`;
}

function placeOf(option: string | undefined, set: OptionSet): string {
  const places = ELSEWHERE[option ?? ''];
  return places === undefined || places.includes(set) ? '' : `, and an option of ${places.join(', ')}`;
}
