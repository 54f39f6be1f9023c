// HTTP to guests whose runtime gets another state: what was asked of the one before never reaches it, and what is asked afterwards is answered.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Dispatcher } from 'undici';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { codeOf, httpServer, PORT, serve, textOf } from './network-helpers.js';
import { inFolderOfItsOwn, until } from './snapshot-helpers.js';

inFolderOfItsOwn();

// Answers at once or never, and writes down what it was asked.
const SERVER = `import { appendFileSync } from 'node:fs';
  ${httpServer(`
    appendFileSync('/tmp/asked', request.url + '\\n');
    if (!request.url.startsWith('/never')) response.end('fine');`)}`;

async function askedOf(runtime: NodeRuntime): Promise<string[]> {
  if (!(await runtime.exists('/tmp/asked'))) return [];
  return Buffer.from(await runtime.readFile('/tmp/asked'))
    .toString()
    .trim()
    .split('\n');
}

/** More requests than there are connections, when all connections have one. */
async function many(runtime: NodeRuntime): Promise<Promise<string>[]> {
  const requests = Array.from({ length: 100 }, (_, n) => codeOf(runtime.fetch(PORT, `/never/${n}`)));
  await until(async () => (await askedOf(runtime)).length === 64);
  return requests;
}

describe.each(MODES)('$name', (mode) => {
  test('requests right after a rollback and a resume are answered, though connections were kept', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, SERVER);
      const dispatcher = runtime.dispatcher(PORT);
      const answers = async () => {
        const { body } = await dispatcher.request({ path: '/', method: 'GET' } as Dispatcher.RequestOptions);
        return [await body.text(), (await runtime.fetch(PORT)).body, (await runtime.fetch(PORT)).body];
      };
      const fine = ['fine', 'fine', 'fine'];
      const snapshot = await runtime.snapshot();
      for (let round = 0; round < 10; round++) {
        expect(await answers()).toEqual(fine);
        await runtime.rollback(snapshot);
      }
      expect(await answers()).toEqual(fine);
      for (let round = 0; round < 3; round++) {
        const asleep = await runtime.pause();
        await runtime.resume();
        expect(await answers()).toEqual(fine);
        await asleep.delete();
      }
      expect(runtime.dispatcher(PORT)).toBe(dispatcher);
    }));

  test('a rollback ends all requests of before, and the new state is asked none of them', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, SERVER);
      const snapshot = await runtime.snapshot();
      const before = await many(runtime);
      await runtime.rollback(snapshot);
      expect((await runtime.fetch(PORT)).body).toBe('fine');
      expect(new Set(await Promise.all(before))).toEqual(new Set(['ERR_ROLLED_BACK']));
      const atOnce = codeOf(runtime.fetch(PORT, '/never/at-once'));
      await runtime.rollback(snapshot);
      expect([(await runtime.fetch(PORT)).body, await atOnce]).toEqual(['fine', 'ERR_ROLLED_BACK']);
      expect(await askedOf(runtime)).toEqual(['/']);
    }));

  test('a rollback that fails ends no request', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, SERVER);
      const failed = codeOf(runtime.rollback('nothing'));
      const answer = runtime.fetch(PORT);
      expect(await failed).toBe('ERR_SNAPSHOT_NOT_FOUND');
      expect((await answer).body).toBe('fine');
    }));

  test('a sleep ends all requests of before, and who wakes up is asked none of them', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, SERVER);
      const before = await many(runtime);
      const first = await askedOf(runtime);
      const dispatcher = runtime.dispatcher(PORT);
      const asleep = await runtime.pause();
      const meanwhile = Array.from({ length: 100 }, () =>
        codeOf(dispatcher.request({ path: '/never/meanwhile', method: 'GET' } as Dispatcher.RequestOptions)),
      );
      await runtime.resume();
      expect((await runtime.fetch(PORT)).body).toBe('fine');
      expect(new Set(await Promise.all([...before, ...meanwhile]))).toEqual(new Set(['ERR_RUNTIME_PAUSED']));
      expect(await askedOf(runtime)).toEqual([...first, '/']);
      await asleep.delete();
    }));

  test('a connection that a guest has reset is not used once more', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = `const sockets = new Set();
        process.stdin.on('data', () => { for (const socket of sockets) socket.resetAndDestroy(); console.log('reset'); });
        ${httpServer(`sockets.add(request.socket); response.end('fine')`)}`;
      const server = await serve(runtime, code);
      const said = server.stdout[Symbol.asyncIterator]();
      for (let round = 0; round < 5; round++) {
        expect((await runtime.fetch(PORT)).body).toBe('fine');
        await server.writeStdin('now');
        expect(Buffer.from((await said.next()).value as Uint8Array).toString()).toBe('reset\n');
        expect((await runtime.fetch(PORT)).body).toBe('fine');
      }
    }));
});

test('a guest cannot have its connections kept for longer than is promised', async () => {
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

test.each(['shared', 'embedded'])('a connection that is over and unread does not keep the process alive: %s', async (mode) => {
  const program = fileURLToPath(new URL('../fixtures/unread.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [said, [exitCode]] = await Promise.all([textOf(child.stdout), once(child, 'close')]);
    expect([exitCode, said]).toEqual([0, 'unread\n']);
  } finally {
    child.kill('SIGKILL');
  }
});
