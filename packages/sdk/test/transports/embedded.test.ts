// Tests the embedded transport with a fake addon. The tests in `test/sandbox` use the real addon.

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import type { RequestId, RunnerId, RuntimeId } from '../../src/protocol/generated/messages.js';
import { NOTICES, REQUESTS } from '../../src/protocol/generated/tables.js';
import { openAddon } from '../../src/transports/embedded.js';

const FAKE = fileURLToPath(new URL('../fixtures/fake-addon.cjs', import.meta.url));
const fake = createRequire(import.meta.url)(FAKE) as { calls: unknown[][]; version: string };
const OPTIONS = {
  imageDir: '/image',
  edge: '/coldframe-edge',
  inlineUs: 0,
  workers: undefined,
  warmSlots: undefined,
  maxRuntimes: undefined,
  spinUs: undefined,
  snapshots: { directory: '/snapshots', maxBytes: 1, memoryBytes: 1 },
};
const RUNTIME = 1 as RuntimeId;
const RUNNER = 7 as RunnerId;
const id = (number: number): RequestId => number as RequestId;

beforeEach(() => {
  fake.calls.length = 0;
  fake.version = '0.1.0';
});

const open = (imageDir = '/image') => openAddon(FAKE, { ...OPTIONS, imageDir }).connection;
const program = (code: string) => ({ runtime: RUNTIME, mode: 'exec' as const, code });
/** Returns the recorded calls, without hello and without calls of `hold`. */
const calls = () => fake.calls.filter(([name, kind]) => name !== 'hold' && kind !== NOTICES.hello);

test('returns an outcome without a promise when the program has ended at once', () => {
  expect(open().start(id(1), program('now'))).toEqual({
    exitCode: 0,
    stdout: 'now',
    stderr: Buffer.from([0xff]),
    value: '1',
    failure: undefined,
    stdoutTruncated: true,
    stderrTruncated: false,
    timings: { memoryMapNs: 1, instantiateNs: 2, guestStartNs: 3, guestRunNs: 4 },
  });
});

test('returns a promise of an outcome that arrives later', async () => {
  expect(await open().start(id(1), program('later'))).toMatchObject({ stdout: 'later', failure: { code: 'ERR_TIMEOUT' } });
});

test('passes arguments in their positions', async () => {
  const connection = open();
  const limits = { cpuMs: 2, outputBytes: 3, processes: undefined, inodes: 4 } as object as Record<string, number>;
  await connection.createRuntime({ env: { A: '1' }, cwd: '/', profile: 'hardened', limits, tenant: 't' });
  await connection.createRuntime({});
  const stdin = Buffer.from('x');
  connection.start(id(5), {
    runtime: RUNTIME,
    mode: 'run',
    code: 'c',
    args: ['a'],
    execArgv: ['-x'],
    env: {},
    cwd: '/',
    stdin,
    timeoutMs: 6,
  });
  connection.evaluate(id(6), { runner: RUNNER, code: 'c', timeoutMs: 8 });
  expect(calls()).toEqual([
    ['createRuntime', { A: '1' }, '/', 'hardened', ['cpuMs', 'outputBytes', 'inodes'], [2, 3, 4], 't'],
    ['createRuntime', ...new Array(6).fill(undefined)],
    ['start', 5, 1, 1, 'c', ['a'], {}, '/', stdin, 6, ['-x']],
    ['evaluate', 6, 7, 'c', 8],
  ]);
});

test('sends options that have no position as frames', async () => {
  const connection = open();
  const mounts = [{ guestPath: '/m', hostPath: '/h', readOnly: true }];
  expect(await connection.createRuntime({ mounts })).toEqual({ runtime: 1, configureNs: 5 });
  await connection.start(id(5), { ...program('c'), stream: { stdout: true } }, () => {});
  void connection.start(id(7), { ...program('hang'), language: 'python' });
  await connection.evaluate(id(6), { runner: RUNNER, code: 'c', stream: { stderr: true } }, () => {});
  expect(calls()).toEqual([
    ['send', REQUESTS['runtime.create'].kind, 1, { mounts }],
    ['send', REQUESTS['process.start'].kind, 5, { ...program('c'), stream: { stdout: true } }],
    ['send', REQUESTS['process.start'].kind, 7, { ...program('hang'), language: 'python' }],
    ['send', REQUESTS['runner.eval'].kind, 6, { runner: 7, code: 'c', stream: { stderr: true } }],
  ]);
});

test('passes events to their own request only', async () => {
  const connection = open();
  const seen: string[] = [];
  const listener = (fd: number, data: Uint8Array): void => void seen.push(`${fd} ${Buffer.from(data)}`);
  const [streamed, failed] = await Promise.allSettled([
    connection.start(id(1), { ...program('c'), stream: { stdout: true, stderr: true } }, listener),
    connection.evaluate(id(2), { runner: RUNNER, code: 'fail later' }),
  ]);
  expect(streamed).toMatchObject({ status: 'fulfilled', value: { stdout: Buffer.from('streamed') } });
  expect(failed).toMatchObject({ reason: { code: 'ERR_RUNNER_EXITED', message: 'ended', runner: 1, exitCode: 3 } });
  expect(seen).toEqual(['1 a', '2 b']);
  expect(await connection.request('runner.create', { runtime: RUNTIME })).toMatchObject({ runner: 7 });
});

test('converts a failure within the call to a rejection', async () => {
  await expect(open().start(id(1), program('fail'))).rejects.toMatchObject({ code: 'ERR_RUNNER_EXITED', exitCode: 3 });
});

test('sends cancel and credit while a request is pending', async () => {
  const connection = open();
  const later = connection.start(id(4), program('later'));
  connection.cancel(id(4));
  connection.credit(id(4), 99);
  expect(calls().slice(1)).toEqual([
    ['send', NOTICES.cancel, 4, {}],
    ['send', NOTICES.credit, 4, { bytes: 99 }],
  ]);
  await later;
});

test('keeps the event loop alive exactly while a request is pending', async () => {
  const connection = open();
  connection.start(id(1), program('now'));
  expect(fake.calls.filter(([name]) => name === 'hold')).toEqual([]);
  await connection.start(id(2), program('later'));
  expect(fake.calls.filter(([name]) => name === 'hold')).toEqual([
    ['hold', true],
    ['hold', false],
  ]);
});

test('converts a refusal of the addon to an error with its facts, and passes other errors through', () => {
  const connection = open();
  const thrown = (code: string): unknown => {
    try {
      return connection.start(id(1), program(code));
    } catch (error) {
      return error;
    }
  };
  expect(thrown('refuse')).toMatchObject({ name: 'ColdframeError', code: 'ERR_RUNTIME_DISPOSED', runtime: 1 });
  expect(thrown('bug')).toMatchObject({ name: 'TypeError', message: 'a bug of its own' });
});

test('dispose() shuts the core down once and fails pending requests', async () => {
  const connection = open();
  const waiting = [connection.start(id(1), program('hang')), connection.start(id(2), program('hang'))];
  const results = Promise.allSettled(waiting);
  await Promise.all([connection.dispose(), connection.dispose()]);
  expect(await results).toMatchObject([
    { reason: { code: 'ERR_SIDECAR_DISPOSED' } },
    { reason: { code: 'ERR_SIDECAR_DISPOSED' } },
  ]);
  await expect(connection.request('ping', {})).rejects.toMatchObject({ code: 'ERR_SIDECAR_DISPOSED' });
  expect(() => connection.start(id(3), program('now'))).toThrow(expect.objectContaining({ code: 'ERR_SIDECAR_DISPOSED' }));
  expect(fake.calls.filter(([name]) => name === 'shutdown')).toHaveLength(1);
});

test('opening fails for a missing image and for another version', () => {
  expect(() => open('missing')).toThrow(expect.objectContaining({ code: 'ERR_IMAGE', path: 'missing' }));
  fake.version = '9.9.9';
  expect(() => open()).toThrow(expect.objectContaining({ code: 'ERR_VERSION_MISMATCH', sidecar: '9.9.9' }));
  expect(calls()).toEqual([['shutdown']]);
  expect(() => openAddon('/nowhere/coldframe.node', OPTIONS)).toThrow(expect.objectContaining({ code: 'ERR_SIDECAR_SPAWN' }));
});
