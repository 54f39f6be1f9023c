// Connects programs to the loopback of this machine. An exact entry of `private` opens one address
// and one port, and a listener of the runtime hides the machine's listener.

import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { codeOf } from './network-helpers.js';
import { dns, greeting } from './outside-helpers.js';
import { disposeAll, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

/** Connects, and prints what arrives, and the addresses; or prints the code of the error. */
const read = (port: number, host = '127.0.0.1'): string => `
  import net from 'node:net';
  let all = '';
  const socket = net.connect({ port: ${port}, host: '${host}' });
  socket.on('connect', () => {
    all = [socket.localAddress, socket.remoteAddress, socket.remotePort === ${port}, ''].join(' ');
  });
  socket.setEncoding('utf8').on('data', (data) => (all += data)).on('end', () => console.log(all));
  socket.on('error', (error) => console.log(error.code, error.reason ?? ''));`;

async function output(runtime: NodeRuntime, code: string): Promise<string> {
  const { stdout, stderr } = await runtime.exec(code);
  return (stdout + stderr).trim();
}

const FROM_HOST = '127.0.0.1 127.0.0.1 true of the machine';

describe.each(MODES)('$name', (mode) => {
  test('an exact entry opens one port of the machine, by address and by name', async () => {
    await using server = await greeting('of the machine');
    await using other = await greeting('of another');
    await using names = await dns({ 'db.example.com': '127.0.0.1' });
    const network = {
      allow: [`db.example.com:${server.port}`],
      private: [`127.0.0.1:${server.port}`],
      dns: { servers: [`127.0.0.1:${names.port}`], hosts: { 'db.test': '127.0.0.1' } },
    };
    await withRuntime(mode, { network }, async (runtime) => {
      for (const host of ['127.0.0.1', 'localhost', '0.0.0.0', '::ffff:127.0.0.1', 'db.test', 'db.example.com']) {
        const received = await output(runtime, read(server.port, host));
        expect(received.replaceAll('::ffff:', ''), host).toBe(FROM_HOST);
      }
      expect(await output(runtime, read(other.port))).toBe('ECONNREFUSED');
      expect(await output(runtime, read(server.port, '127.0.0.2'))).toBe('ECONNREFUSED');
      expect(await output(runtime, read(server.port, '::1'))).toBe('ECONNREFUSED');
    });
    expect(other.count()).toBe(0);
  });

  test('no other option opens the loopback', async () => {
    await using server = await greeting('of the machine');
    const networks = [
      undefined,
      {},
      { outside: 'public' },
      { private: ['10.0.0.0/8:*'], dns: { hosts: { 'db.test': '127.0.0.1' } } },
    ];
    for (const network of networks) {
      await withRuntime(mode, network === undefined ? {} : { network: network as object }, async (runtime) => {
        expect(await output(runtime, read(server.port))).toBe('ECONNREFUSED');
      });
    }
    await withRuntime(mode, { network: {} }, async (runtime) => {
      for (const wide of ['127.0.0.1', '127.0.0.1:*', `127.0.0.0/8:${server.port}`, '[::1]:1-65535']) {
        expect(await codeOf(runtime.network.update({ private: [wide] })), wide).toBe('ERR_INVALID_REQUEST');
      }
    });
    expect(server.count()).toBe(0);
  });

  test('a listener of the runtime hides the listener of the machine', async () => {
    await using server = await greeting('of the machine');
    await withRuntime(mode, { network: { private: [`127.0.0.1:${server.port}`] } }, async (runtime) => {
      const code = `
        import net from 'node:net';
        import { once } from 'node:events';
        const text = async () => {
          let all = '';
          for await (const part of net.connect(${server.port}, '127.0.0.1')) all += part;
          return all;
        };
        const own = net.createServer((socket) => socket.end('of the runtime')).listen(${server.port}, '127.0.0.1');
        await once(own, 'listening');
        const first = await text();
        own.close();
        await once(own, 'close');
        console.log(first, '|', await text());`;
      expect(await output(runtime, code)).toBe('of the runtime | of the machine');
    });
    expect(server.count()).toBe(1);
  });

  test('the permission, an update and a clone decide about the loopback too', async () => {
    await using server = await greeting('of the machine');
    const network = { private: [`127.0.0.1:${server.port}`] };
    await withMode(mode, async (provisioning) => {
      const runtime = await provisioning.create({ network });
      const made = [runtime];
      try {
        expect(await output(runtime, read(server.port))).toBe(FROM_HOST);
        const clone = await runtime.clone();
        const narrow = await runtime.clone({ network: {} });
        made.push(clone, narrow);
        expect(await output(clone, read(server.port))).toBe(FROM_HOST);
        expect(await output(narrow, read(server.port))).toBe('ECONNREFUSED');
        await runtime.network.update({ deny: [`127.0.0.1:${server.port}`] });
        expect(await output(runtime, read(server.port))).toBe('EACCES denied');
        await runtime.network.update({ deny: null, private: null });
        expect(await output(runtime, read(server.port))).toBe('ECONNREFUSED');
        await clone.setPermissions({ network: 'deny' });
        expect(await output(clone, read(server.port))).toMatch(/^EACCES/);
      } finally {
        await disposeAll(made);
      }
    });
    expect(server.count()).toBe(2);
  });
});

test('an entry opens the loopback of IPv6', async ({ skip }) => {
  const server = await greeting('of the machine', '::1').catch(() => skip('this machine has no IPv6'));
  await using _server = server;
  await withRuntime(MODES[0] as (typeof MODES)[number], { network: { private: [`[::1]:${server.port}`] } }, async (runtime) => {
    expect(await output(runtime, read(server.port, '::1'))).toBe('::1 ::1 true of the machine');
    expect(await output(runtime, read(server.port))).toBe('ECONNREFUSED');
  });
});
