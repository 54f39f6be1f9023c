// Sessions of HTTP/2 in the guest's memory: snapshots contain the sessions, and limits apply. The
// sandbox can end code that runs in a callback of the library nghttp2.

import { describe, expect, test } from 'vitest';
import { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

// Starts a server and a client without keeping the event loop alive. `ask(path)` sends a request
// over the client's session.
const SESSION = `
  import { once } from 'node:events';
  import http2 from 'node:http2';
  globalThis.count = 0;
  globalThis.server = http2.createServer();
  server.on('connection', (socket) => socket.unref());
  server.on('sessionError', () => {});
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    if (headers[':path'] === '/spin') for (;;);
    stream.respond({ ':status': 200 });
    stream.end(String(++count));
  });
  server.listen(0);
  await once(server, 'listening');
  globalThis.connect = async () => {
    const client = http2.connect('http://localhost:' + server.address().port);
    client.on('error', () => {});
    await once(client, 'connect');
    client.unref();
    return client;
  };
  globalThis.ask = async (path) => {
    const alive = setInterval(() => {}, 1000);
    try {
      const stream = client.request({ ':path': path });
      let text = '';
      for await (const chunk of stream) text += chunk;
      return text;
    } finally {
      clearInterval(alive);
    }
  };
  globalThis.client = await connect();
  server.unref();`;
const ASK = `__return(await ask('/'))`;

describe.each(MODES)('$name', (mode) => {
  test('continues sessions of HTTP/2 after a snapshot and a rollback', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(SESSION, { throwOnError: true });
      expect((await runner.run(ASK)).value).toBe('1');
      const snapshot = await runtime.snapshot();
      expect((await runner.run(ASK)).value).toBe('2');
      await runtime.rollback(snapshot);
      const [restored] = await runtime.residentRunners();
      expect((await restored?.run(ASK))?.value).toBe('2');
      expect((await restored?.run(ASK))?.value).toBe('3');
    }));
});

test('ends code that spins in a callback of HTTP/2, and ends the session', async () => {
  await using runtime = await NodeRuntime.create();
  const runner = await runtime.createResidentRunner();
  await runner.exec(SESSION, { throwOnError: true });
  const { error } = await runner.run(`__return(await ask('/spin'))`, { timeout: 300 });
  expect(error?.code).toBe('ERR_TIMEOUT');
  await runner.exec('client = await connect()', { throwOnError: true });
  expect((await runner.run(ASK)).value).toBe('1');
});

test('charges the sessions of HTTP/2 to the memory limit of the program', async () => {
  await using runtime = await NodeRuntime.create({ limits: { memoryBytes: 64 * 2 ** 20 } });
  const result = await runtime.exec(`
    import { duplexPair } from 'node:stream';
    import http2 from 'node:http2';
    const server = http2.createServer();
    const kept = [];
    for (;;) {
      const [clientSide, serverSide] = duplexPair();
      server.emit('connection', serverSide);
      const client = http2.connect('http://localhost', { createConnection: () => clientSide });
      const stream = client.request({ ':method': 'POST' });
      stream.write(Buffer.alloc(100_000));
      kept.push(client);
      await new Promise(setImmediate);
    }`);
  expect(result.error?.code).toBe('ERR_MEMORY_LIMIT');
});
