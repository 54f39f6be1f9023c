// The embedded transport, with a fake addon. The tests in `test/sandbox` use the real addon.

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { Event, type OnEvent } from '../../src/transports/addon.js';
import { openAddon } from '../../src/transports/embedded.js';

const FAKE = fileURLToPath(new URL('../fixtures/fake-addon.cjs', import.meta.url));
const fake = createRequire(import.meta.url)(FAKE) as { calls: unknown[][]; version: string; paused: boolean; onEvent: OnEvent };
const OPTIONS = {
  imageDir: '/image',
  inlineUs: 0,
  workers: undefined,
  warmSlots: undefined,
  maxRuntimes: undefined,
  spinUs: undefined,
  snapshots: { directory: '/snapshots', maxBytes: 1, memoryBytes: 1 },
};

beforeEach(() => {
  fake.calls.length = 0;
  fake.version = '0.1.0';
  fake.paused = false;
});

const open = (imageDir = '/image') => openAddon(FAKE, { ...OPTIONS, imageDir }).connection;
const program = (code: string) => ({ runtime: 1, mode: 'exec' as const, code });

test('returns an outcome without a promise when the program has ended at once', () => {
  expect(open().start(1, program('now'))).toEqual({
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

test('returns a promise of an outcome that comes later', async () => {
  expect(await open().start(1, program('later'))).toMatchObject({ stdout: 'later', failure: { code: 'ERR_TIMEOUT' } });
});

test('passes arguments in their positions', async () => {
  const connection = open();
  const limits = { cpuMs: 2, outputBytes: 3, processes: undefined, inodes: 4 } as object;
  await connection.createRuntime({ env: { A: '1' }, cwd: '/', profile: 'hardened', limits, warn: true });
  const mount = { guestPath: '/m', hostPath: '/h', readOnly: false };
  await connection.createRuntime({
    files: { '/a': Buffer.from('x') },
    mounts: [mount, { ...mount, readOnly: true }, { ...mount, overlay: true }],
  });
  const stdin = Buffer.from('x');
  connection.start(5, {
    runtime: 1,
    mode: 'run',
    code: 'c',
    args: ['a'],
    env: {},
    cwd: '/',
    stdin,
    timeoutMs: 6,
    stream: { stderr: true },
  });
  connection.evaluate(6, { runner: 7, code: 'c', timeoutMs: 8, stream: { stdout: true, stderr: true } });
  expect(fake.calls).toEqual([
    ['createRuntime', { A: '1' }, '/', 'hardened', ['cpuMs', 'outputBytes', 'inodes'], [2, 3, 4], undefined, true, undefined],
    [
      'createRuntime',
      ...new Array(5).fill(undefined),
      ['/m', '/h', 'rw', '/m', '/h', 'ro', '/m', '/h', 'overlay'],
      undefined,
      undefined,
    ],
    ['writeFile', 1, '/a', Buffer.from('x'), false],
    ['start', 5, 1, 1, 'c', ['a'], {}, '/', stdin, 6, 2, undefined, undefined],
    ['evaluate', 6, 7, 'c', 8, 3],
  ]);
});

test('passes events to their own request only', async () => {
  const connection = open();
  const seen: string[] = [];
  const listener = (fd: number, data: Uint8Array): void => void seen.push(`${fd} ${Buffer.from(data)}`);
  const [streamed, failed] = await Promise.allSettled([
    connection.start(1, program('stream'), listener),
    connection.evaluate(2, { runner: 7, code: 'fail' }),
  ]);
  expect(streamed).toMatchObject({ status: 'fulfilled', value: { stdout: 'streamed' } });
  expect(failed).toMatchObject({ reason: { code: 'ERR_RUNNER_EXITED', message: 'ended', runner: 1, exitCode: 3 } });
  expect(seen).toEqual(['1 a', '2 b']);
  expect(await connection.createRunner({ runtime: 1 })).toMatchObject({ runner: 7 });
});

test('splits output into chunks of at most 64 KiB', async () => {
  const sizes: number[] = [];
  await open().start(1, program('large'), (_fd, data) => sizes.push(data.length));
  expect(sizes).toEqual([65_536, 65_536, 150_000 - 2 * 65_536]);
});

test('passes on cancel and credit while a request is pending', async () => {
  const connection = open();
  const later = connection.start(4, program('later'));
  connection.cancel(4);
  connection.credit(4, 99);
  await later;
  connection.cancel(4);
  connection.credit(4, 99);
  expect(fake.calls.slice(1)).toEqual([
    ['cancel', 4],
    ['credit', 4, 99],
  ]);
});

test('converts a refusal of the addon to an error with its facts, and passes other errors through', () => {
  const connection = open();
  const thrown = (code: string): unknown => {
    try {
      return connection.start(1, program(code));
    } catch (error) {
      return error;
    }
  };
  expect(thrown('refuse')).toMatchObject({ name: 'ColdframeError', code: 'ERR_RUNTIME_DISPOSED', runtime: 1 });
  expect(thrown('bug')).toMatchObject({ name: 'TypeError', message: 'a bug of its own' });
});

test('dispose() shuts the core down once and fails pending requests', async () => {
  const connection = open();
  const waiting = [connection.start(1, program('hang')), connection.start(2, program('hang'))];
  const results = Promise.allSettled(waiting);
  await Promise.all([connection.dispose(), connection.dispose()]);
  expect(await results).toMatchObject([
    { reason: { code: 'ERR_SIDECAR_DISPOSED' } },
    { reason: { code: 'ERR_SIDECAR_DISPOSED' } },
  ]);
  await expect(connection.ping()).rejects.toMatchObject({ code: 'ERR_SIDECAR_DISPOSED' });
  expect(fake.calls.filter(([name]) => name === 'shutdown')).toHaveLength(1);
});

test('opening fails for a missing image and for another version', () => {
  expect(() => open('missing')).toThrow(expect.objectContaining({ code: 'ERR_IMAGE', path: 'missing' }));
  fake.version = '9.9.9';
  expect(() => open()).toThrow(expect.objectContaining({ code: 'ERR_VERSION_MISMATCH', sidecar: '9.9.9' }));
  expect(fake.calls).toEqual([['shutdown']]);
  expect(() => openAddon('/nowhere/coldframe.node', OPTIONS)).toThrow(expect.objectContaining({ code: 'ERR_SIDECAR_SPAWN' }));
});

test('passes arguments of file operations in their positions and disposes a runtime whose files do not fit', async () => {
  const connection = open();
  await connection.readFile({ runtime: 1, path: '/a', length: 9 });
  await connection.statFile({ runtime: 1, path: '/a' });
  await connection.makeDirectory({ runtime: 1, path: '/d', recursive: true });
  await connection.removeFile({ runtime: 1, path: '/d' });
  await connection.renameFile({ runtime: 1, from: '/a', to: '/b' });
  await expect(connection.createRuntime({ files: { '/refuse': Buffer.alloc(1) } })).rejects.toMatchObject({
    code: 'ENOSPC',
    path: '/refuse',
    syscall: 'open',
  });
  expect(fake.calls.filter(([name]) => name !== 'createRuntime')).toEqual([
    ['readFile', 1, '/a', 0, 9],
    ['statFile', 1, '/a', true],
    ['makeDirectory', 1, '/d', true],
    ['removeFile', 1, '/d', false],
    ['renameFile', 1, '/a', '/b'],
    ['writeFile', 1, '/refuse', Buffer.alloc(1), false],
    ['disposeRuntime', 1],
  ]);
});

test('reports permission decisions again after a pause of the runtime', async () => {
  const connection = open();
  const received: number[] = [];
  await connection.watchPermissions(1, ({ lost }) => received.push(lost));
  const decided = (lost: number) => fake.onEvent(1, Event.permissions, { events: [], lost });
  fake.paused = true;
  decided(1);
  fake.paused = false;
  decided(2);
  await connection.disposeRuntime(1);
  decided(3);
  expect(received).toEqual([1, 2]);
  expect(fake.calls.filter(([name]) => name === 'takePermissions')).toHaveLength(2);
});
