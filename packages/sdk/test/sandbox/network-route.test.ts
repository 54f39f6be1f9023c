// Connects programs through a proxy of this machine, which accepts the method CONNECT, and from a
// chosen address of this machine.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { greeting, HOST_ADDRESS, http } from './outside-helpers.js';
import { until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const HOST = HOST_ADDRESS ?? '';

async function output(runtime: NodeRuntime, code: string): Promise<string> {
  const { stdout, stderr } = await runtime.exec(code);
  return (stdout + stderr).trim();
}

const get = (url: string): string => `
  try {
    const response = await fetch('${url}');
    console.log(response.status, await response.text());
  } catch ({ cause }) {
    console.log(cause.code, cause.permission ?? '', cause.reason ?? '');
  }`;

/**
 * Starts a proxy that connects every target to `port` of this machine. `credentials` are the
 * credentials that it requires.
 */
async function proxy(port: number, credentials: string) {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on('connect', (request, socket: Socket, head) => {
    socket.on('error', () => {});
    const expected = `Basic ${Buffer.from(credentials).toString('base64')}`;
    if (request.headers['proxy-authorization'] !== expected) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    targets.push(request.url ?? '');
    const upstream = connect(port, HOST, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
  });
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { port: (server.address() as AddressInfo).port, targets, [Symbol.asyncDispose]: close };
}

describe.skipIf(HOST_ADDRESS === undefined).each(MODES)('$name', (mode) => {
  test('a connection goes through the proxy, and the policy decides first', async () => {
    await using server = await http();
    await using through = await proxy(server.port, 'user:p@ss');
    await using own = await greeting('of the machine');
    const network = {
      allow: ['web.example.com:80'],
      // The address is public, and nothing but the proxy connects to the server.
      dns: { hosts: { 'web.example.com': '93.184.216.34' } },
      private: [`127.0.0.1:${own.port}`],
      proxy: `http://user:p%40ss@127.0.0.1:${through.port}`,
    };
    await withRuntime(mode, { network }, async (runtime) => {
      const denials: unknown[] = [];
      const stop = await runtime.network.on('denied', ({ address, reason }) => void denials.push([address, reason]));
      expect(await output(runtime, get('http://web.example.com/path'))).toBe('200 GET /path');
      expect(await output(runtime, get('http://web.example.com:81/'))).toBe('EACCES network.connect not-allowed');
      expect(through.targets).toEqual(['93.184.216.34:80']);
      // A connection to the loopback of the machine is direct.
      const read = `import net from 'node:net';
        for await (const part of net.connect(${own.port}, '127.0.0.1')) console.log(String(part));`;
      expect(await output(runtime, read)).toBe('of the machine');
      await runtime.network.update({ proxy: `http://user:wrong@127.0.0.1:${through.port}` });
      expect(await output(runtime, get('http://web.example.com/'))).toBe('EACCES network.connect proxy');
      await until(() => denials.length === 2);
      expect(denials[1]).toEqual(['93.184.216.34', 'proxy']);
      expect(through.targets).toHaveLength(1);
      const shown = await output(runtime, 'console.log(JSON.stringify(process.env))');
      expect(shown).not.toContain('p%40ss');
      await stop();
    });
  });

  test('a connection begins at the chosen address, or fails', async () => {
    await using server = await http();
    const network = { private: [`${HOST}:${server.port}`], localAddress: HOST };
    await withRuntime(mode, { network }, async (runtime) => {
      expect(await output(runtime, get(`http://${HOST}:${server.port}/`))).toBe('200 GET /');
      // No interface of this machine has the address.
      await runtime.network.update({ localAddress: '203.0.113.9' });
      expect(await output(runtime, get(`http://${HOST}:${server.port}/`))).toBe('EADDRNOTAVAIL');
      await runtime.network.update({ localAddress: null });
      expect(await output(runtime, get(`http://${HOST}:${server.port}/`))).toBe('200 GET /');
      expect(server.count()).toBe(2);
    });
  });
});
