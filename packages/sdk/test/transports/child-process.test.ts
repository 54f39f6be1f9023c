// Tests the transport of a sidecar process with a fake sidecar, which follows or violates the
// protocol. The tests in `test/sandbox` use the real sidecar.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import type { Opening } from '../../src/channel/sidecar-connection.js';
import type { RuntimeId } from '../../src/protocol/generated/messages.js';
import { spawnSidecar } from '../../src/transports/child-process.js';

const RUNTIME = 1 as RuntimeId;

const FAKE = fileURLToPath(new URL('../fixtures/fake-sidecar.mjs', import.meta.url));

const open: Opening[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ connection }) => connection.dispose()));
});

function fake(behaviour = 'well'): Opening {
  const opening = spawnSidecar(process.execPath, [FAKE, behaviour]);
  open.push(opening);
  return opening;
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

test('sends a request before the sidecar has sent anything', async () => {
  const { connection } = fake();
  const { runtime } = await connection.createRuntime({});
  const outcome = await connection.start(connection.nextId(), { runtime, mode: 'exec', code: 'hi' });
  expect(Buffer.from(outcome.stdout).toString()).toBe('hi');
});

test('measures the steps of opening', async () => {
  const { opened } = fake();
  const { spawnMs, sessionMs, moduleLoadMs } = await opened;
  expect(spawnMs).toBeGreaterThan(0);
  expect(sessionMs).toBeGreaterThan(0);
  expect(moduleLoadMs).toBe(1);
});

test('dispose() ends the process and fails pending requests', async () => {
  const { connection, opened } = fake();
  await opened;
  const waiting = connection.start(connection.nextId(), { runtime: RUNTIME, mode: 'exec', code: 'hang' });
  const failed = expect(waiting).rejects.toMatchObject({ code: 'ERR_SIDECAR_DISPOSED' });
  await Promise.all([connection.dispose(), connection.dispose()]);
  await failed;
  expect(isAlive(connection.pid)).toBe(false);
  await expect(connection.request('ping', {})).rejects.toMatchObject({ code: 'ERR_SIDECAR_DISPOSED' });
});

test('kills a sidecar that does not end when its channel closes', async () => {
  const { connection, opened } = fake('ignores-end');
  await opened;
  await connection.dispose();
  expect(isAlive(connection.pid)).toBe(false);
});

test('a crash fails all requests with one error that contains the end of stderr', async () => {
  const { connection, opened } = fake();
  await opened;
  const start = (code: string) => connection.start(connection.nextId(), { runtime: RUNTIME, mode: 'exec', code });
  const results = await Promise.allSettled([
    start('hang'),
    start('crash'),
    connection.request('ping', {}).then(() => start('hang')),
  ]);
  const reasons = results.map((result) => result.status === 'rejected' && result.reason);
  expect(reasons[0]).toMatchObject({
    code: 'ERR_SIDECAR_EXITED',
    pid: connection.pid,
    exitCode: null,
    signal: 'SIGKILL',
    stderr: 'first\nthe last words',
  });
  expect(new Set(reasons).size).toBe(1);
  await expect(connection.request('ping', {})).rejects.toBe(reasons[0]);
});

test('reports an exit with its code', async () => {
  const { connection } = fake();
  const waiting = connection.start(connection.nextId(), { runtime: RUNTIME, mode: 'exec', code: 'exit 7' });
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED', exitCode: 7, signal: null });
});

test.each([
  ['die', { code: 'ERR_SIDECAR_EXITED', exitCode: 3, stderr: 'no image' }],
  ['other-version', { code: 'ERR_VERSION_MISMATCH', sidecar: '9.9.9' }],
  ['garbage', { code: 'ERR_FRAME_TOO_LARGE', bytes: 0x50545448 }],
  ['oversize', { code: 'ERR_FRAME_TOO_LARGE' }],
])('opening fails when the sidecar behaves like this: %s', async (behaviour, error) => {
  const { connection, opened } = fake(behaviour);
  await expect(connection.request('ping', {})).rejects.toMatchObject(error);
  await expect(opened).rejects.toMatchObject(error);
  await connection.dispose();
  expect(isAlive(connection.pid)).toBe(false);
});

test('opening fails when the program does not exist', async () => {
  const { connection, opened } = spawnSidecar('/nowhere/sidecar', []);
  const error = { code: 'ERR_SIDECAR_SPAWN', path: '/nowhere/sidecar', reason: expect.stringContaining('ENOENT') };
  await expect(connection.request('ping', {})).rejects.toMatchObject(error);
  await expect(opened).rejects.toMatchObject(error);
  await connection.dispose();
});

test('opening fails when the program is not executable', async () => {
  const { connection } = spawnSidecar(FAKE, []);
  await expect(connection.request('ping', {})).rejects.toMatchObject({
    code: 'ERR_SIDECAR_SPAWN',
    reason: expect.stringContaining('EACCES'),
  });
  await connection.dispose();
});

test('passes no environment to the sidecar', async () => {
  const { connection, opened } = spawnSidecar('/bin/sh', ['-c', 'export -p >&2']);
  await expect(opened).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED', stderr: expect.not.stringMatching(/PATH|HOME/) });
  await connection.dispose();
});

// Runs a program with a sidecar and returns its output. An idle sidecar must not keep the program
// alive. A pending request must keep the program alive.
async function runParent(body: string, behaviour = 'well'): Promise<string> {
  const script = `
    import { spawnSidecar } from ${JSON.stringify(new URL('../../dist/transports/child-process.js', import.meta.url).href)};
    const { connection, opened } = spawnSidecar(process.execPath, [${JSON.stringify(FAKE)}, '${behaviour}']);
    ${body}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { timeout: 50_000 });
  return stdout;
}

test('an idle sidecar does not keep its parent alive', async () => {
  expect(await runParent("await opened; console.log('end');")).toBe('end\n');
  expect(await runParent("await connection.request('ping', {}); await connection.request('ping', {}); console.log('end');")).toBe(
    'end\n',
  );
});

test('a pending request keeps the parent alive', async () => {
  const body = "opened.then(() => setTimeout(() => process.kill(connection.pid, 'SIGKILL'), 200).unref());";
  const ending = "connection.start(1, { runtime: 1, mode: 'exec', code: 'hang' }).catch((error) => console.log(error.code));";
  expect(await runParent(`${body} await opened; ${ending}`)).toBe('ERR_SIDECAR_EXITED\n');
});

test('dispose() keeps the parent alive until stderr has closed after the exit of the sidecar', async () => {
  expect(await runParent("await opened; await connection.dispose(); console.log('end');", 'late-stderr')).toBe('end\n');
});

test('a request after a crash keeps the parent alive until stderr has closed', async () => {
  const body = "await opened; process.kill(connection.pid, 'SIGKILL');";
  const ending = "await connection.request('ping', {}).catch((error) => console.log(error.code, error.signal));";
  expect(await runParent(`${body} ${ending}`, 'late-stderr')).toBe('ERR_SIDECAR_EXITED SIGKILL\n');
});
