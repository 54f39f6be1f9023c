// The transport against a stand-in that behaves well or breaks the rules; the real sidecar is in `test/sandbox`.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import type { Opening } from '../../src/channel/sidecar-connection.js';
import { spawnSidecar } from '../../src/transports/child-process.js';

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

test('a request may be sent before the sidecar has said anything', async () => {
  const { connection } = fake();
  const { runtime } = await connection.createRuntime({});
  const outcome = await connection.start(connection.nextId(), { runtime, mode: 'exec', code: 'hi' });
  expect(Buffer.from(outcome.stdout).toString()).toBe('hi');
});

test('opening is measured', async () => {
  const { opened } = fake();
  const { spawnMs, sessionMs, moduleLoadMs } = await opened;
  expect(spawnMs).toBeGreaterThan(0);
  expect(sessionMs).toBeGreaterThan(0);
  expect(moduleLoadMs).toBe(1);
});

test('dispose() ends the process and fails what waits', async () => {
  const { connection, opened } = fake();
  await opened;
  const waiting = connection.start(connection.nextId(), { runtime: 1, mode: 'exec', code: 'hang' });
  const failed = expect(waiting).rejects.toMatchObject({ code: 'ERR_SIDECAR_DISPOSED' });
  await Promise.all([connection.dispose(), connection.dispose()]);
  await failed;
  expect(isAlive(connection.pid)).toBe(false);
  await expect(connection.ping()).rejects.toMatchObject({ code: 'ERR_SIDECAR_DISPOSED' });
});

test('a sidecar that does not end when its channel closes is killed', async () => {
  const { connection, opened } = fake('ignores-end');
  await opened;
  await connection.dispose();
  expect(isAlive(connection.pid)).toBe(false);
});

test('a crash fails everything with one error that has the last words', async () => {
  const { connection, opened } = fake();
  await opened;
  const start = (code: string) => connection.start(connection.nextId(), { runtime: 1, mode: 'exec', code });
  const results = await Promise.allSettled([start('hang'), start('crash'), connection.ping().then(() => start('hang'))]);
  const reasons = results.map((result) => result.status === 'rejected' && result.reason);
  expect(reasons[0]).toMatchObject({
    code: 'ERR_SIDECAR_EXITED',
    pid: connection.pid,
    exitCode: null,
    signal: 'SIGKILL',
    stderr: 'first\nthe last words',
  });
  expect(new Set(reasons).size).toBe(1);
  await expect(connection.ping()).rejects.toBe(reasons[0]);
});

test('an exit is told with its code', async () => {
  const { connection } = fake();
  const waiting = connection.start(connection.nextId(), { runtime: 1, mode: 'exec', code: 'exit 7' });
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED', exitCode: 7, signal: null });
});

test.each([
  ['die', { code: 'ERR_SIDECAR_EXITED', exitCode: 3, stderr: 'no image' }],
  ['other-version', { code: 'ERR_VERSION_MISMATCH', sidecar: '9.9.9' }],
  ['garbage', { code: 'ERR_FRAME_TOO_LARGE', bytes: 0x50545448 }],
  ['oversize', { code: 'ERR_FRAME_TOO_LARGE' }],
])('a sidecar that does this at first: %s', async (behaviour, error) => {
  const { connection, opened } = fake(behaviour);
  await expect(connection.ping()).rejects.toMatchObject(error);
  await expect(opened).rejects.toMatchObject(error);
  await connection.dispose();
  expect(isAlive(connection.pid)).toBe(false);
});

test('a program that is not there', async () => {
  const { connection, opened } = spawnSidecar('/nowhere/sidecar', []);
  const error = { code: 'ERR_SIDECAR_SPAWN', path: '/nowhere/sidecar', reason: expect.stringContaining('ENOENT') };
  await expect(connection.ping()).rejects.toMatchObject(error);
  await expect(opened).rejects.toMatchObject(error);
  await connection.dispose();
});

test('a program that may not be executed', async () => {
  const { connection } = spawnSidecar(FAKE, []);
  await expect(connection.ping()).rejects.toMatchObject({ code: 'ERR_SIDECAR_SPAWN', reason: expect.stringContaining('EACCES') });
  await connection.dispose();
});

test('the sidecar gets no environment', async () => {
  const { connection, opened } = spawnSidecar('/bin/sh', ['-c', 'export -p >&2']);
  await expect(opened).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED', stderr: expect.not.stringMatching(/PATH|HOME/) });
  await connection.dispose();
});

// An idle sidecar must not keep a program alive; a request that waits must.
async function runHost(body: string): Promise<string> {
  const script = `
    import { spawnSidecar } from ${JSON.stringify(new URL('../../dist/transports/child-process.js', import.meta.url).href)};
    const { connection, opened } = spawnSidecar(process.execPath, [${JSON.stringify(FAKE)}, 'well']);
    ${body}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { timeout: 10_000 });
  return stdout;
}

test('an idle sidecar does not keep the program alive', async () => {
  expect(await runHost("await opened; console.log('end');")).toBe('end\n');
  expect(await runHost("await connection.ping(); await connection.ping(); console.log('end');")).toBe('end\n');
});

test('a request that waits does', async () => {
  const body = "opened.then(() => setTimeout(() => process.kill(connection.pid, 'SIGKILL'), 200).unref());";
  const ending = "connection.start(1, { runtime: 1, mode: 'exec', code: 'hang' }).catch((error) => console.log(error.code));";
  expect(await runHost(`${body} await opened; ${ending}`)).toBe('ERR_SIDECAR_EXITED\n');
});
