// Uses the public types as an app does. `tsc -p test/types` compiles this file against `dist`. A
// line after @ts-expect-error must not compile, so each such line is a test too.

import type { Duplex } from 'node:stream';
import {
  type BindingDefinition,
  type BindingErrorCode,
  type Bindings,
  type BootTiming,
  ColdframeError,
  type DirectoryEntry,
  type ErrorJson,
  type ExecResult,
  type ExposedPort,
  type Failure,
  type FileStatus,
  type GuestListener,
  type GuestProcess,
  type GuestResponse,
  type IdleOptions,
  isColdframeError,
  type LimitName,
  type LimitWarning,
  type Mount,
  NodeRuntime,
  type NodeRuntimeOptions,
  type PermissionEvent,
  type PermissionsPolicy,
  type PoolLease,
  type PoolStats,
  type ResidentRunner,
  type ResourceSnapshot,
  type RunResult,
  RuntimePool,
  type RuntimePoolOptions,
  type RuntimeState,
  Sidecar,
  type Snapshot,
  type SnapshotList,
  type SnapshotOptions,
  type SnapshotStore,
} from 'coldframe';
import * as z from 'zod';

export async function everything(): Promise<void> {
  await using sidecar: Sidecar = await Sidecar.spawn({ workers: 2, warmSlots: 4, maxRuntimes: 100, spinUs: 0 });
  await using embedded = await Sidecar.embedded({ inlineBudgetMs: 5, onBootTiming: (timing: BootTiming) => timing.phase });
  const options: NodeRuntimeOptions = {
    sidecar,
    env: { A: '1' },
    cwd: '/workspace',
    limits: { profile: 'hardened', memoryBytes: 1, cpuMs: 1, outputBytes: 1, filesystemBytes: 1, hostFiles: 1, wallMs: 0 },
    onLimitWarning: ({ limit, used, max, pid }: LimitWarning) => use(limit satisfies LimitName, used / max, pid),
    files: { '/a': 'text', '/b': new Uint8Array(1) },
    mounts: [{ guestPath: '/a', hostPath: '.', readOnly: false, overlay: true } satisfies Mount],
    nodeModules: { hostPath: 'node_modules' },
    bindings: {
      weather: {
        description: 'text',
        inputSchema: z.object({ city: z.string() }),
        handler: async ({ city }: { city: string }, { signal, pid }) => [city, signal.aborted, pid + 1],
        timeoutMs: 1,
        maxConcurrency: 1,
        maxInputBytes: 1,
        maxOutputBytes: 1,
        examples: [{ description: 'text', input: { city: 'Oslo' } }],
        command: false,
        commandAliases: ['wttr'],
      },
    },
  };
  await using runtime: NodeRuntime = await NodeRuntime.create(options);

  const result: ExecResult = await runtime.exec('1', {
    env: { A: '1' },
    cwd: '/',
    args: ['a'] as const,
    stdin: new Uint8Array(1),
    timeout: 5,
    signal: AbortSignal.timeout(5),
    onStdout: (chunk: Uint8Array) => chunk.length,
    onStderr: async () => {},
    explainLimits: true,
  });
  const json: Record<string, unknown> = result.toJSON();
  use(json, result.error?.toJSON() satisfies ErrorJson | undefined);
  const text: string = result.stdout + result.stderr;
  const bytes: Uint8Array = result.stdoutBytes;
  const code: number = result.exitCode;
  const truncated: boolean | undefined = result.stdoutTruncated ?? result.stderrTruncated;

  const typed: RunResult<{ n: number }> = await runtime.run<{ n: number }>('__return({ n: 1 })');
  const n: number | undefined = typed.value?.n;
  const untyped: unknown = (await runtime.run('1')).value;

  await using runner: ResidentRunner = await runtime.createResidentRunner({ env: {}, cwd: '/' });
  await runner.exec('1', { timeout: 5, signal: AbortSignal.abort(), onStdout: () => {} });
  const definition: BindingDefinition = { description: '', inputSchema: { type: 'object' }, handler: () => 1 };
  await runtime.registerBindings({ a: definition, b: { ...definition, inputSchema: true } } satisfies Bindings);
  await runtime.unregisterBindings(['a']);
  // @ts-expect-error a binding has a handler
  await runtime.registerBindings({ a: { description: '', inputSchema: {} } });
  const bindingCode: BindingErrorCode = 'ERR_BINDING_TIMEOUT';
  use(bindingCode);
  const snapshot: ResourceSnapshot = await runtime.getResourceSnapshot();
  const policy: PermissionsPolicy = { fs: { rules: [{ mode: 'allow', operations: ['read'], paths: ['/a'] }] }, network: 'deny' };
  await runtime.setPermissions({ ...policy, env: { default: 'allow', rules: [{ mode: 'deny', patterns: ['A*'] }] } });
  // @ts-expect-error fs has no such operation
  await runtime.setPermissions({ fs: { rules: [{ mode: 'allow', operations: ['spawn'] }] } });
  // @ts-expect-error `permissions` returns a read-only policy
  runtime.permissions.fs = 'allow';
  const stop: () => Promise<void> = await runtime.onPermission(
    (event: PermissionEvent) => use(event.scope, event.rule),
    (count: number) => use(count),
  );
  await stop();
  await runtime.writeFile('/a', 'text');
  const data: Uint8Array = await runtime.readFile('/a');
  const names: string[] = await runtime.readDir('/');
  const entries: DirectoryEntry[] = await runtime.readDirWithTypes('/');
  const status: FileStatus = await runtime.stat('/a', { followSymlinks: false });
  const there: boolean = await runtime.exists('/a');
  const response: GuestResponse = await runtime.fetch(3000, {
    method: 'POST',
    path: '/a',
    headers: { a: 'b' },
    body: 'text',
    timeoutMs: 1,
  });
  const sum: number = response.status + response.body.length + response.json<{ n: number }>().n;
  const cookies: string[] | undefined = (await runtime.fetch(3000, '/a', { maxResponseBytes: 1 })).headers['set-cookie'];
  await runtime.fetch(3000, new Request('http://a/b'));
  const listener: GuestListener = await runtime.waitForListener({ port: 3000, host: '::1' }, { timeoutMs: 5 });
  const server: GuestProcess = await runtime.spawnCommand('node', ['server.js']);
  await runtime.waitForListener({ port: 3000 }, { process: server });
  // @ts-expect-error an entry of the list of processes has no end
  await runtime.waitForListener({ port: 3000 }, { process: (await runtime.processes())[0] });
  const found: GuestListener | undefined = await runtime.findListener({ path: '/tmp/a.sock' });
  const duplex: Duplex = runtime.connect({ port: 3000, allowHalfOpen: true }).setTimeout(5).unref();
  await using exposed: ExposedPort = await runtime.exposePort(3000, { host: '127.0.0.1', hostPort: 0 });
  await runtime.dispatcher(3000).request({ origin: 'http://a', path: '/', method: 'GET' });
  use(sum, cookies, listener.processId, found?.path, duplex, exposed.url);
  await runtime.mkdir('/d', { recursive: true });
  await runtime.rename('/a', '/d/a');
  await runtime.remove('/d', { recursive: true });
  use(data, names, entries, status, there);
  await sidecar.ping();
  const pid: number = embedded.pid;
  await runtime.dispose();
  use(text, bytes, code, truncated, n, untyped, snapshot.processes, pid);
  use(snapshot.limits.pipes.high, snapshot.sidecar.warmSlots, (await sidecar.getResourceSnapshot()).runtimes);
}

export async function pools(): Promise<void> {
  const options: RuntimePoolOptions = {
    size: 4,
    min: 1,
    options: { bindings: {}, limits: { inodes: 1 } },
    prepare: (runtime: NodeRuntime) => runtime.createResidentRunner(),
    reuse: 10,
    recycle: 'last-use',
    idleTimeoutMs: 1,
    acquireTimeoutMs: 1,
    maxWaiting: 0,
  };
  await using pool: RuntimePool = new RuntimePool(options);
  const n: number = await pool.withRuntime(async (runtime: NodeRuntime) => (await runtime.exec('1')).exitCode, { tenant: 'a' });
  const text: string = await pool.withRuntime(() => 'text', { signal: AbortSignal.timeout(1) });
  await using lease: PoolLease<NodeRuntime> = await pool.acquire();
  lease.release();
  lease.discard();
  const stats: PoolStats = pool.stats();
  use(n, text, stats.hits + (stats.tenants['a']?.busy ?? 0));
  await pool.drain();
  await pool.dispose({ timeoutMs: 1 });
  const idle: IdleOptions = { afterMs: 1, action: 'pause', onError: (error: unknown) => use(error) };
  await NodeRuntime.create({ idle });
  // @ts-expect-error a pool has a size
  new RuntimePool({});
  // @ts-expect-error `options` of a pool have no sidecar
  new RuntimePool({ size: 1, options: { sidecar: undefined } });
  // @ts-expect-error an idle policy has two actions
  await NodeRuntime.create({ idle: { afterMs: 1, action: 'sleep' } });
}

export function failures({ error }: ExecResult): number | string | undefined {
  const failure: Failure | undefined = error;
  if (failure?.code === 'ERR_TIMEOUT') return failure.timeoutMs;
  if (failure?.code === 'ERR_MEMORY_LIMIT') return failure.limit.length + failure.memoryBytes;
  // @ts-expect-error this code has no such field
  return failure?.timeoutMs;
}

export function caught(error: unknown): string | undefined {
  if (isColdframeError(error, 'ERR_SIDECAR_EXITED')) return `${error.pid} ${error.exitCode} ${error.signal} ${error.stderr}`;
  if (isColdframeError(error, 'ERR_INVALID_OPTION', 'ERR_INVALID_REQUEST')) {
    return error.code === 'ERR_INVALID_OPTION' ? error.option : error.what;
  }
  if (isColdframeError(error, 'ERR_PROGRAM_EXITED')) return `${error.pid} ${error.exitCode} ${error.signal} ${error.stderr}`;
  if (isColdframeError(error, 'ERR_POOL_EXHAUSTED'))
    return `${error.tenant} ${error.busy} ${error.size} ${error.waiting} ${error.maxWaiting}`;
  return error instanceof ColdframeError ? error.code : undefined;
}

export async function snapshots(runtime: NodeRuntime, sidecar: Sidecar): Promise<void> {
  const options: SnapshotOptions = { name: 'a', labels: { b: 'c' }, store: 'disk', timeoutMs: 1 };
  const snapshot: Snapshot = await runtime.snapshot(options);
  const { id, name, labels, size, parent, createdAt, imageVersion, tenant, stored, programs } = snapshot;
  use(id satisfies string, name satisfies string | undefined, labels['b'], size + programs, parent, createdAt satisfies Date);
  use(imageVersion, tenant, stored satisfies 'memory' | 'disk' | 'both', (await snapshot.digest()) satisfies string);
  await snapshot.persist();
  await snapshot.export('/tmp/x');
  await snapshot.delete();
  await runtime.rollback(snapshot);
  await runtime.rollback('a');
  const one: NodeRuntime = await runtime.clone();
  const many: NodeRuntime[] = await runtime.clone(2, { timeoutMs: 1 });
  const settled: PromiseSettledResult<NodeRuntime>[] = await runtime.clone(2, { settle: true });
  const paused: Snapshot = await runtime.pause({ timeoutMs: 1 });
  await runtime.resume();
  const state: RuntimeState = runtime.state;
  const [runner] = await runtime.residentRunners();
  const [entry] = await runtime.processes();
  const attached: GuestProcess | undefined = await entry?.attach({ onStdout: (chunk: Uint8Array) => chunk.length });
  const store: SnapshotStore = sidecar.snapshots;
  const list: SnapshotList = await store.list({ tenant: 'a' });
  use(one, many, settled, paused, state, (runner as ResidentRunner).pid, attached, list[0]?.id, list.damaged[0]?.reason);
  use(await store.get('a'), await store.import('/tmp/x', { tenant: 'a' }), runtime.snapshots);
  await store.export('a', '/tmp/x');
  await store.delete('a');
  await NodeRuntime.create({ snapshot, tenant: 'a', bindings: {}, mounts: [] });
  await Sidecar.spawn({ snapshots: { directory: '/tmp', maxBytes: 1, memoryBytes: 1 } });
  // @ts-expect-error a snapshot has no public constructor
  new Snapshot();
  // @ts-expect-error a snapshot's fields are read-only
  snapshot.size = 1;
}

export async function refused(runtime: NodeRuntime, runner: ResidentRunner): Promise<void> {
  // @ts-expect-error an option of another call
  await runtime.exec('1', { permissions: {} });
  // @ts-expect-error a limit of the runtime
  await runtime.exec('1', { limits: { processes: 1 } });
  // @ts-expect-error an unknown option
  await runtime.exec('1', { timeoutMs: 5 });
  // @ts-expect-error a value of the wrong type
  await runtime.exec('1', { timeout: '5s' });
  // @ts-expect-error a port is a number
  await runtime.fetch('3000');
  // @ts-expect-error an unknown option
  await runtime.waitForListener({ port: 1 }, { pollIntervalMs: 5 });
  // @ts-expect-error an evaluation has no stdin
  await runner.exec('1', { stdin: '' });
  // @ts-expect-error only Sidecar.embedded() runs inline
  await Sidecar.spawn({ inlineBudgetMs: 5 });
  // @ts-expect-error a runtime has no public constructor
  new NodeRuntime();
  // @ts-expect-error a sidecar has no public constructor
  new Sidecar();
  // @ts-expect-error a result's fields are read-only
  (await runtime.exec('1')).exitCode = 1;
}

function use(..._values: unknown[]): void {}
