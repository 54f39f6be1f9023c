// Tests connections into guests in every mode: raw streams, half-closed and reset streams, large
// bodies with bounded memory, WebSockets, and exposed ports.

import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ExposedPort } from '../../src/network/exposed-port.js';
import { MODES, withRuntime } from './modes.js';
import { codeOf, httpServer, PORT, serve, tcpServer, textOf } from './network-helpers.js';
import { childrenOf, residentBytes, until } from './processes.js';

const MEGABYTE = 1 << 20;
const TOTAL = 50 * MEGABYTE;
const CHUNK = 100_000;
/** A mount of the whole repository, because packages of pnpm are links into the repository. */
const REPOSITORY = { guestPath: '/repository', hostPath: fileURLToPath(new URL('../../../../', import.meta.url)) };
/** Different blocks of bytes, which are made before memory is measured. */
const BLOCKS = Array.from({ length: 16 }, () => randomBytes(CHUNK));

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the bytes of live buffers in this process, and the memory of its sidecars. */
function usedMemory(): number[] {
  collectGarbage();
  collectGarbage(); // the first collection frees its buffers on another thread
  return [process.memoryUsage().arrayBuffers, ...childrenOf().map((pid) => residentBytes(pid))];
}

describe.each(MODES)('$name', (mode) => {
  test('passes bytes in both directions, and each side ends its own direction', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = tcpServer(`socket.on('data', (data) => socket.write(String(data).toUpperCase()));
        socket.on('end', () => setTimeout(() => socket.end('bye'), 20)); console.log(socket.remoteAddress)`);
      const server = await serve(runtime, code);
      const stream = runtime.connect({ port: PORT, allowHalfOpen: true });
      stream.end('hello ');
      expect(await textOf(stream)).toBe('HELLO bye');
      expect([stream.bytesWritten, stream.bytesRead, stream.connecting]).toEqual([6, 9, false]);
      const reset = runtime.connect({ port: PORT });
      await new Promise((resolve) => reset.once('connect', resolve));
      reset.resetAndDestroy();
      const lines: string[] = [];
      for await (const chunk of server.stdout) {
        lines.push(...Buffer.from(chunk).toString().trim().split('\n'));
        if (lines.length >= 3) break;
      }
      expect(lines).toEqual(['::ffff:127.0.0.1', '::ffff:127.0.0.1', 'ECONNRESET']);
      const refused = runtime.connect({ port: 9 });
      await expect(finished(refused)).rejects.toMatchObject({ code: 'ECONNREFUSED', syscall: 'connect', path: 'localhost:9' });
    }));

  test('connects to Unix sockets and to the IPv6 loopback', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.spawn(`
        import net from 'node:net';
        process.chdir('/tmp');
        net.createServer((socket) => socket.end('by path')).listen('own.sock');
        net.createServer((socket) => socket.end('by v6')).listen(4000, '::1');`);
      const path = '/tmp/own.sock';
      expect(await runtime.waitForListener({ path })).toMatchObject({ path });
      await runtime.waitForListener({ port: 4000 });
      expect(await textOf(runtime.connect({ path }))).toBe('by path');
      expect(await textOf(runtime.connect({ port: 4000 }))).toBe('by v6');
      expect(await codeOf(finished(runtime.connect({ port: 4000, host: '127.0.0.1' })))).toBe('ECONNREFUSED');
      expect(await codeOf(finished(runtime.connect({ path: '/etc/hosts' })))).toBe('ECONNREFUSED');
      expect(await codeOf(finished(runtime.connect({ path: '/tmp/none' })))).toBe('ENOENT');
    }));

  test('passes 50 MB in and back with bounded memory on both sides', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, httpServer(`request.pipe(response)`));
      const before = usedMemory();
      const peaks = [...before];
      const [sent, received] = [createHash('sha256'), createHash('sha256')];
      async function* body(): AsyncGenerator<Uint8Array> {
        for (let n = 0, left = TOTAL; left > 0; n++) {
          const chunk = (BLOCKS[n % BLOCKS.length] as Buffer).subarray(0, left);
          left -= chunk.length;
          sent.update(chunk);
          yield chunk;
        }
      }
      const { body: response } = await runtime.dispatcher(PORT).request({
        origin: 'http://any.host',
        path: '/',
        method: 'POST',
        body: body() as never,
      });
      let bytes = 0;
      for await (const chunk of response) {
        received.update(chunk);
        bytes += chunk.length;
        if (bytes % (4 * MEGABYTE) < chunk.length)
          for (const [i, now] of usedMemory().entries()) peaks[i] = Math.max(peaks[i] ?? 0, now);
      }
      expect(bytes).toBe(TOTAL);
      expect(received.digest('hex')).toBe(sent.digest('hex'));
      const grown = peaks.map((peak, i) => Math.round((peak - (before[i] ?? 0)) / MEGABYTE));
      // The windows are 256 KiB in each direction, and streams buffer some bytes. The sidecar's
      // memory includes the guest's memory.
      expect(Math.max(...grown), `megabytes grown in buffers here and in the sidecar: ${grown}`).toBeLessThan(20);
    }));

  test('a side that does not read blocks only the writer of its stream', () =>
    withRuntime(mode, {}, async (runtime) => {
      const unreading = tcpServer(`socket.pause()`);
      await serve(runtime, unreading);
      const stream = runtime.connect({ port: PORT });
      stream.on('error', () => {});
      const block = new Uint8Array(MEGABYTE);
      for (let i = 0; i < 4; i++) stream.write(block);
      await until(() => stream.bytesWritten > 0, 5_000, 'bytes are sent');
      expect((await runtime.exec('console.log("next door")')).stdout).toBe('next door\n');
      // The sent bytes fill the window, and the buffers of the guest's socket and its stream.
      expect(stream.bytesWritten).toBeLessThan(MEGABYTE);
      stream.destroy();
      const flood = tcpServer(
        `const more = () => { while (socket.write('x'.repeat(10_000))); }; socket.on('drain', more); more()`,
        3001,
      );
      await serve(runtime, flood, 3001);
      const unread = runtime.connect({ port: 3001 }).on('error', () => {});
      await until(() => unread.bytesRead > 200_000, 5_000, 'the window is full');
      expect((await runtime.exec('console.log("next door")')).stdout).toBe('next door\n');
      expect(unread.bytesRead).toBeLessThanOrEqual(262_144);
      unread.destroy();
    }));

  test('a dispatcher serves the global fetch() on kept connections', () =>
    withRuntime(mode, {}, async (runtime) => {
      const code = `import http from 'node:http'; let connections = 0;
        http.createServer((request, response) => response.end(request.headers.host + ' ' + connections))
          .on('connection', () => connections++).listen(${PORT});`;
      await serve(runtime, code);
      const dispatcher = runtime.dispatcher(PORT);
      expect(runtime.dispatcher(PORT)).toBe(dispatcher);
      const request = async () => (await fetch('http://app.test/x', { dispatcher } as object)).text();
      const responses: string[] = [];
      for (let n = 0; n < 10; n++) {
        responses.push(await request());
        // undici marks a connection as free in a later turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
      }
      // undici may open a second connection before the first response has ended.
      expect(
        responses.every((response) => /^app\.test [12]$/.test(response)),
        String(responses),
      ).toBe(true);
    }));

  test('a WebSocket client talks to a server in the guest', () =>
    withRuntime(mode, { cwd: '/repository/packages/sdk', mounts: [REPOSITORY] }, async (runtime) => {
      const code = `import { WebSocketServer } from 'ws';
        new WebSocketServer({ port: ${PORT} }).on('connection', (socket) => {
          socket.on('message', (data, binary) => socket.send(binary ? Buffer.from(data).reverse() : 'got ' + data));
        });`;
      await serve(runtime, code);
      const socket = new WebSocket('ws://guest/', { createConnection: () => runtime.connect({ port: PORT }) as never });
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      const next = () => new Promise<Buffer>((resolve) => socket.once('message', (data) => resolve(data as Buffer)));
      socket.send('you');
      expect(String(await next())).toBe('got you');
      const large = randomBytes(500_000);
      socket.send(large);
      expect((await next()).equals(Buffer.from(large).reverse())).toBe(true);
      socket.close();
      await new Promise((resolve) => socket.once('close', resolve));
    }));

  test('an exposed port connects to a guest until the port is closed or the runtime is disposed', () =>
    withRuntime(mode, {}, async (runtime) => {
      expect(await codeOf(runtime.exposePort(PORT, { host: '0.0.0.0' }))).toBe('ERR_INVALID_OPTION');
      const exposed = await runtime.exposePort(PORT);
      expect(exposed).toBeInstanceOf(ExposedPort);
      expect(exposed.url).toBe(`http://127.0.0.1:${exposed.port}`);
      await expect(fetch(exposed.url)).rejects.toThrow('fetch failed');
      await serve(runtime, httpServer(`request.pipe(response)`));
      const [body, own] = [randomBytes(MEGABYTE), () => connect(exposed.port, exposed.host)];
      const response = await fetch(exposed.url, { method: 'POST', body });
      expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
      const half = own();
      half.end('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      expect(await textOf(half)).toContain('200 OK');
      const open = own().on('error', () => {});
      await new Promise((resolve) => open.once('connect', resolve));
      const closed = new Promise((resolve) => open.once('close', resolve));
      await exposed.close();
      await closed;
      expect(await codeOf(finished(own()))).toBe('ECONNREFUSED');
      const second = await runtime.exposePort(PORT, { host: 'localhost' });
      await runtime.dispose();
      expect(await codeOf(finished(connect(second.port, second.host)))).toBe('ECONNREFUSED');
    }));
});
