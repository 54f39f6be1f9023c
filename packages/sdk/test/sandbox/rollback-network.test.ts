// Sends HTTP requests to a guest before and after a rollback or a pause. Requests to the earlier
// state never reach the later state, and later requests get responses.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Dispatcher } from 'undici';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { codeOf, httpServer, PORT, serve, textOf } from './network-helpers.js';
import { until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

// A server that responds at once or never, and records the requests.
const SERVER = `import { appendFileSync } from 'node:fs';
  ${httpServer(`
    appendFileSync('/tmp/requests', request.url + '\\n');
    if (!request.url.startsWith('/never')) response.end('fine');`)}`;

async function requestsOf(runtime: NodeRuntime): Promise<string[]> {
  if (!(await runtime.exists('/tmp/requests'))) return [];
  return Buffer.from(await runtime.readFile('/tmp/requests'))
    .toString()
    .trim()
    .split('\n');
}

/**
 * Starts more requests than there are connections, and waits until each connection has a request.
 */
async function fillConnections(runtime: NodeRuntime): Promise<Promise<string>[]> {
  const requests = Array.from({ length: 100 }, (_, n) => codeOf(runtime.fetch(PORT, `/never/${n}`)));
  await until(async () => (await requestsOf(runtime)).length === 64);
  return requests;
}

describe.each(MODES)('$name', (mode) => {
  test('serves requests right after a rollback and a resumption, although connections were kept alive', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, SERVER);
      const dispatcher = runtime.dispatcher(PORT);
      const responses = async () => {
        const { body } = await dispatcher.request({ path: '/', method: 'GET' } as Dispatcher.RequestOptions);
        return [await body.text(), (await runtime.fetch(PORT)).body, (await runtime.fetch(PORT)).body];
      };
      const fine = ['fine', 'fine', 'fine'];
      const snapshot = await runtime.snapshot();
      for (let round = 0; round < 10; round++) {
        expect(await responses()).toEqual(fine);
        await runtime.rollback(snapshot);
      }
      expect(await responses()).toEqual(fine);
      for (let round = 0; round < 3; round++) {
        const paused = await runtime.pause();
        await runtime.resume();
        expect(await responses()).toEqual(fine);
        await paused.delete();
      }
      expect(runtime.dispatcher(PORT)).toBe(dispatcher);
    }));

  test('a rollback ends all pending requests, and no request reaches the new state', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, SERVER);
      const snapshot = await runtime.snapshot();
      const before = await fillConnections(runtime);
      await runtime.rollback(snapshot);
      expect((await runtime.fetch(PORT)).body).toBe('fine');
      expect(new Set(await Promise.all(before))).toEqual(new Set(['ERR_ROLLED_BACK']));
      const immediate = codeOf(runtime.fetch(PORT, '/never/at-once'));
      await runtime.rollback(snapshot);
      expect([(await runtime.fetch(PORT)).body, await immediate]).toEqual(['fine', 'ERR_ROLLED_BACK']);
      expect(await requestsOf(runtime)).toEqual(['/']);
    }));

  test('a failing rollback ends no request', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, SERVER);
      const failed = codeOf(runtime.rollback('nothing'));
      const response = runtime.fetch(PORT);
      expect(await failed).toBe('ERR_SNAPSHOT_NOT_FOUND');
      expect((await response).body).toBe('fine');
    }));

  test('a pause ends all pending requests, and no request reaches the resumed runtime', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, SERVER);
      const before = await fillConnections(runtime);
      const first = await requestsOf(runtime);
      const dispatcher = runtime.dispatcher(PORT);
      const paused = await runtime.pause();
      const meanwhile = Array.from({ length: 100 }, () =>
        codeOf(dispatcher.request({ path: '/never/meanwhile', method: 'GET' } as Dispatcher.RequestOptions)),
      );
      await runtime.resume();
      expect((await runtime.fetch(PORT)).body).toBe('fine');
      expect(new Set(await Promise.all([...before, ...meanwhile]))).toEqual(new Set(['ERR_RUNTIME_PAUSED']));
      expect(await requestsOf(runtime)).toEqual([...first, '/']);
      await paused.delete();
    }));

  test('does not reuse a connection that the guest has reset', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = `const sockets = new Set();
        process.stdin.on('data', () => { for (const socket of sockets) socket.resetAndDestroy(); console.log('reset'); });
        ${httpServer(`sockets.add(request.socket); response.end('fine')`)}`;
      const server = await serve(runtime, code);
      const output = server.stdout[Symbol.asyncIterator]();
      for (let round = 0; round < 5; round++) {
        expect((await runtime.fetch(PORT)).body).toBe('fine');
        await server.writeStdin('now');
        expect(Buffer.from((await output.next()).value as Uint8Array).toString()).toBe('reset\n');
        expect((await runtime.fetch(PORT)).body).toBe('fine');
      }
    }));
});

test('closes idle connections in time although the guest requests a longer time', async () => {
  await using sidecar = await Sidecar.embedded();
  await using runtime = await NodeRuntime.create({ sidecar });
  const code = `import http from 'node:http'; import { writeFileSync } from 'node:fs';
    const server = http.createServer((request, response) => response.end());
    server.keepAliveTimeout = 300_000;
    server.on('connection', (socket) => socket.on('close', () => writeFileSync('/tmp/closed', ''))).listen(${PORT});`;
  await serve(runtime, code);
  expect((await runtime.fetch(PORT)).headers['keep-alive']).toBe('timeout=300');
  await until(() => runtime.exists('/tmp/closed'));
});

test.each(['shared', 'embedded'])('an unread connection that has ended does not keep the process alive: %s', async (mode) => {
  const program = fileURLToPath(new URL('../fixtures/unread-connection.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [output, [exitCode]] = await Promise.all([textOf(child.stdout), once(child, 'close')]);
    expect([exitCode, output]).toEqual([0, 'unread\n']);
  } finally {
    child.kill('SIGKILL');
  }
});
