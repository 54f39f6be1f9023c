// Tests that all data of the results survives `JSON.stringify()` and `structuredClone()`: an app
// sends results to models, logs and other threads. The table has a row for each type that a call
// returns. The type of a row requires every public field of its type.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type BootTiming,
  type ColdframeError,
  type DirectoryEntry,
  type ExecResult,
  type ExposedPort,
  type FileChange,
  type FileStatus,
  type GuestListener,
  type GuestProcess,
  type GuestResponse,
  type LimitWarning,
  NodeRuntime,
  type PermissionEvent,
  type PermissionsPolicy,
  type ProcessEntry,
  type RunResult,
  RuntimePool,
  Sidecar,
  type Snapshot,
} from '../../src/index.js';
import { httpServer, PORT, serve } from './network-helpers.js';

const BINARY = Buffer.from([0x50, 0xff, 0x00, 0x4b]);

/** A value, its JSON form and its clone. */
interface Forms {
  value: Record<string, unknown>;
  json: Record<string, unknown>;
  clone: Record<string, unknown>;
}

/** Checks one field in both forms. */
type Check = (name: string, forms: Forms) => void;

const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null');

/** The field has equal data in both forms. */
const data: Check = (name, { value, json, clone }) => {
  expect(value[name]).not.toBeUndefined();
  expect(json[name]).toEqual(jsonOf(value[name]));
  expect(clone[name]).toEqual(value[name]);
};

/** The value has the field, and a clone too. The JSON has no such field. */
const notInJson: Check = (name, { value, json, clone }) => {
  expect([json[name], clone[name]]).toEqual([undefined, value[name]]);
};

/** The value has no such field. */
const none: Check = (name, { value, json, clone }) => {
  expect([value[name], json[name], clone[name]]).toEqual([undefined, undefined, undefined]);
};

/** The bytes can be restored from both forms: from base64 or bytes, else from the text. */
const bytes: Check = (name, { value, json, clone }) => {
  const text = name.replace('Bytes', '');
  const base64 = json[name.replace('Bytes', 'Base64')] as string | undefined;
  const exact = Buffer.from(value[name] as Uint8Array);
  expect(base64 === undefined).toBe(exact.equals(Buffer.from(String(value[text]))));
  expect(base64 === undefined ? Buffer.from(json[text] as string) : Buffer.from(base64, 'base64')).toEqual(exact);
  const cloned = clone[name] as Uint8Array | undefined;
  expect(cloned === undefined ? Buffer.from(clone[text] as string) : Buffer.from(cloned)).toEqual(exact);
  // A clone of a view has the whole buffer, which may have data of other calls.
  if (cloned !== undefined) expect(cloned.buffer.byteLength).toBe(exact.length);
};

/**
 * The error has all its facts in JSON and in `toJSON()`. In a clone, the platform keeps only the
 * message and the stack.
 */
const failure: Check = (name, { value, json, clone }) => {
  const error = value[name] as ColdframeError;
  expect(json[name]).toEqual({ ...error, name: 'ColdframeError', message: error.message });
  expect(json[name]).toMatchObject({ code: expect.stringMatching(/^ERR_/) });
  expect((clone[name] as Error).message).toBe(error.message);
  const { toJSON } = value as { toJSON?: () => Record<string, unknown> };
  const plain = toJSON === undefined ? error.toJSON() : toJSON.call(value)[name];
  expect(structuredClone(plain)).toEqual(json[name]);
};

type DataName<T> = { [K in keyof T]-?: T[K] extends (...args: never[]) => unknown ? never : K }[keyof T];
type Checks<T> = Record<Extract<DataName<T>, string>, Check>;
type Row = [type: string, make: () => Promise<unknown> | unknown, checks: Record<string, Check> | undefined];
/** A row for an object without methods, whose fields are all data. */
const plain = (type: string, make: () => Promise<object> | object): Row => [type, make, undefined];
const row = <T>(type: string, make: () => Promise<T> | T, checks: Checks<T>): Row => [type, make, checks];

let folder: string;
let sidecar: Sidecar;
let runtime: NodeRuntime;
let server: GuestProcess;
let exposed: ExposedPort;
let pool: RuntimePool;
const timings: BootTiming[] = [];
const warnings: LimitWarning[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coldframe-'));
  sidecar = await Sidecar.spawn({ snapshots: { directory: folder } });
  runtime = await NodeRuntime.create({
    sidecar,
    limits: { outputBytes: 16 },
    onBootTiming: (timing) => void timings.push(timing),
    onLimitWarning: (warning) => void warnings.push(warning),
  });
  const binary = `Buffer.from('${BINARY.toString('base64')}', 'base64')`;
  server = await serve(
    runtime,
    httpServer(`response.setHeader('set-cookie', ['a=1', 'b=2']).end(request.url === '/binary' ? ${binary} : 'täxt')`),
  );
  exposed = await runtime.exposePort(PORT);
  pool = new RuntimePool({ size: 1, sidecar });
  await pool.withRuntime(() => {}, { tenant: 'a' });
});
afterAll(async () => {
  await pool?.dispose();
  await runtime?.dispose();
  await sidecar?.dispose();
  await rm(folder, { recursive: true });
});

const result: Checks<ExecResult> = {
  stdout: data,
  stderr: data,
  exitCode: data,
  signal: data,
  timings: notInJson,
  stdoutBytes: bytes,
  stderrBytes: bytes,
  error: none,
  stdoutTruncated: none,
  stderrTruncated: none,
};
const runResult: Checks<RunResult> = { ...result, value: data };
const response: Checks<GuestResponse> = {
  status: data,
  statusText: data,
  ok: data,
  headers: data,
  body: data,
  bodyBytes: bytes,
};
const listener: Checks<GuestListener> = { processId: data, host: data, port: data, path: none };
const snapshot: Checks<Snapshot> = {
  id: data,
  name: data,
  labels: data,
  size: data,
  parent: none,
  createdAt: data,
  imageVersion: data,
  tenant: data,
  programs: data,
  stored: data,
};
const writeBinary = `process.stdout.write(Buffer.from('${BINARY.toString('base64')}', 'base64'));`;

const ROWS: Row[] = [
  row('a result of exec()', () => runtime.exec(`console.log('ö'); console.error('no'); process.exit(3)`), result),
  row('a result with output that is not UTF-8', () => runtime.exec(writeBinary), result),
  row('a result with truncated output', () => runtime.exec(`console.log('x'.repeat(99)); console.error('x'.repeat(99))`), {
    ...result,
    stdoutTruncated: data,
    stderrTruncated: data,
  }),
  row('a result of a program that a limit ended', () => runtime.exec('for (;;);', { timeout: 20 }), {
    ...result,
    error: failure,
  }),
  row('a result of run()', () => runtime.run('__return({ deep: [1, null, "a"] })'), runResult),
  row('a result of run() that a limit ended', () => runtime.run('for (;;);', { timeout: 20 }), {
    ...runResult,
    value: none,
    error: failure,
  }),
  row('a result of execCommand()', () => runtime.execCommand('sh', ['-c', 'echo out; echo err >&2']), result),
  row('a result of a program with a handle', async () => (await runtime.spawn('console.log(1)')).result, result),
  row('a response with text', () => runtime.fetch(PORT, '/text'), response),
  row('a response that is not UTF-8', () => runtime.fetch(PORT, '/binary'), response),
  row<GuestListener>('a listener', () => runtime.waitForListener({ port: PORT }), listener),
  row<GuestListener>('an entry of listeners()', async () => first(await runtime.listeners()), listener),
  row<ProcessEntry>('an entry of processes()', async () => first(await runtime.processes()), {
    pid: data,
    ppid: data,
    group: data,
    command: data,
  }),
  row<DirectoryEntry>('an entry of a directory', async () => first(await runtime.readDirWithTypes('/')), {
    name: data,
    type: data,
    isDirectory: data,
    isSymbolicLink: data,
  }),
  row<FileStatus>('the status of a file', () => runtime.stat('/tmp'), {
    type: data,
    isDirectory: data,
    isSymbolicLink: data,
    mode: data,
    size: data,
    ino: data,
    nlink: data,
    uid: data,
    gid: data,
    atimeMs: data,
    mtimeMs: data,
    ctimeMs: data,
    birthtimeMs: data,
  }),
  row<FileChange>(
    'a change of a file',
    async () => {
      const changes = runtime.watch('/tmp');
      await runtime.writeFile('/tmp/changed', '');
      for await (const change of changes) return change;
      throw new Error('the watch ended');
    },
    { type: data, path: data },
  ),
  row<Snapshot>('a snapshot', () => runtime.snapshot({ name: 'one', labels: { a: 'b' } }), { ...snapshot, parent: none }),
  row<Snapshot>(
    'a snapshot of the store, after persist()',
    async () => {
      const { id } = await runtime.snapshot({ name: 'two' });
      const found = await runtime.snapshots.get(id);
      await found.persist();
      expect(found.stored).toBe('both');
      return found;
    },
    { ...snapshot, parent: data },
  ),
  row<Snapshot>('an entry of the list of snapshots', async () => first(await runtime.snapshots.list()), {
    ...snapshot,
    parent: data,
  }),
  plain('the resources of a runtime', () => runtime.getResourceSnapshot()),
  plain('the resources of a sidecar', () => sidecar.getResourceSnapshot()),
  row<ExposedPort>('an exposed port', () => exposed, { port: data, host: data, url: data }),
  plain('the statistics of a pool', () => pool.stats()),
  row<Readonly<Required<PermissionsPolicy>>>('a policy', () => runtime.permissions, {
    fs: data,
    network: data,
    childProcess: data,
    process: data,
    env: data,
    binding: data,
  }),
  plain('a permission decision', async () => {
    const events: PermissionEvent[] = [];
    const stop = await runtime.onPermission((event) => void events.push(event));
    await runtime.exec(`import fs from 'node:fs'; fs.readdirSync('/')`);
    await stop();
    return first(events);
  }),
  row<LimitWarning>(
    'a limit warning',
    async () => {
      const open = `import fs from 'node:fs'; for (let n = 0; n < 250; n++) fs.openSync('/etc/hosts')`;
      await runtime.exec(open);
      return first(warnings.filter(({ limit }) => limit === 'descriptors'));
    },
    { limit: data, used: data, max: data, pid: data },
  ),
  row<BootTiming>('a timing', () => first(timings), { phase: data, durationMs: data }),
  row<{ status: string; reason: unknown }>(
    'a rejection of allSettled()',
    async () => first(await Promise.allSettled([runtime.readFile('/none')])) as PromiseRejectedResult,
    {
      status: data,
      reason: (name, forms) => {
        const { message } = forms.value[name] as Error;
        const facts = { name: 'ColdframeError', code: 'ENOENT', message, path: '/none', syscall: expect.any(String) };
        expect(forms.json[name]).toEqual(facts);
        expect(forms.clone[name]).toMatchObject({ message });
      },
    },
  ),
];

function first<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined) throw new Error('no item');
  return item;
}

describe('all data survives JSON and structuredClone()', () => {
  test.each(ROWS)('of %s', async (_, make, given) => {
    const value = (await make()) as Record<string, unknown>;
    const forms: Forms = { value, json: jsonOf(value) as Forms['json'], clone: structuredClone(value) };
    const checks = given ?? Object.fromEntries(Object.keys(value).map((name) => [name, data]));
    expect(Object.keys(checks).length).toBeGreaterThan(1);
    for (const [name, check] of Object.entries(checks)) check(name, forms);
    const names = Object.keys(checks);
    expect(Object.keys(value).filter((name) => !names.includes(name))).toEqual([]);
    expect([...names, ...names.map((name) => name.replace('Bytes', 'Base64'))]).toEqual(
      expect.arrayContaining(Object.keys(forms.json)),
    );
  });
});

test('the JSON of a handle of a program has its pid and exit code', async () => {
  expect(JSON.parse(JSON.stringify(server))).toEqual({ pid: server.pid });
  const ended = await runtime.spawn('process.exit(4)');
  await ended.wait();
  expect(JSON.parse(JSON.stringify(ended))).toEqual({ pid: ended.pid, exitCode: 4, signal: null });
});

test('the JSON of a handle of a pool is readable after the release', async () => {
  const program = await pool.withRuntime(async (lent) => {
    const started = await lent.spawn('process.exit(4)');
    await started.wait();
    return started;
  });
  expect(JSON.parse(JSON.stringify(program))).toEqual({ pid: program.pid, exitCode: 4, signal: null });
});
