// Sends datagrams of programs to sockets of this machine through the edge process. The tests cover
// the echo of datagrams, refusals, names, changes of the policy, limits and restores.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { NetworkEvents, NodeRuntime } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { codeOf } from './network-helpers.js';
import { dns } from './outside-helpers.js';
import { disposeAll, evaluate, runnerOf, until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

interface UdpServer extends AsyncDisposable {
  readonly port: number;
  readonly count: () => number;
}

/** A socket that returns each datagram, and counts the datagrams. */
async function udpEcho(address = '127.0.0.1'): Promise<UdpServer> {
  const socket: Socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  let count = 0;
  socket.on('message', (data, from) => {
    count++;
    socket.send(data, from.port, from.address);
  });
  socket.bind(0, address);
  await once(socket, 'listening');
  const close = (): Promise<void> => new Promise((resolve) => socket.close(() => resolve()));
  return { port: socket.address().port, count: () => count, [Symbol.asyncDispose]: close };
}

/** Sends `text`, and prints the reply and its sender, or the error. */
const ask = (port: number, text: string, host = '127.0.0.1'): string => `
  import dgram from 'node:dgram';
  const socket = dgram.createSocket('${host.includes(':') ? 'udp6' : 'udp4'}');
  socket.on('message', (data, from) => {
    console.log(String(data), from.address, from.port === ${port}, from.family, from.size);
    socket.close();
  });
  socket.send(${JSON.stringify(text)}, ${port}, ${JSON.stringify(host)}, (error, size) => {
    if (error === null) return;
    console.log([error.code, error.syscall, error.permission, error.reason, error.rule].filter(Boolean).join(' '));
    socket.close();
  });`;

/** Defines `send(text)`, which returns the reply or the error. The socket is not referenced. */
const SETUP = (port: number, isConnected: boolean): string => `
  import dgram from 'node:dgram';
  import { once } from 'node:events';
  globalThis.errors = [];
  globalThis.socket = dgram.createSocket('udp4').on('error', (error) => errors.push(error.code));
  globalThis.send = async (text) => {
    const hold = setInterval(() => {}, 1_000);
    try {
      return await new Promise((resolve) => {
        socket.once('message', (data) => resolve(String(data)));
        const to = ${isConnected} ? [] : [${port}, '127.0.0.1'];
        socket.send(text, ...to, (error) => error && resolve(error.code + ' ' + error.reason));
      });
    } finally {
      clearInterval(hold);
    }
  };
  socket.bind();
  await once(socket, 'listening');
  if (${isConnected}) await new Promise((resolve) => socket.connect(${port}, '127.0.0.1', resolve));
  socket.unref();`;

async function output(runtime: NodeRuntime, code: string): Promise<string> {
  const { stdout, stderr } = await runtime.exec(code);
  return (stdout + stderr).trim();
}

const opened = ({ port }: UdpServer): string => `udp://127.0.0.1:${port}`;

describe.each(MODES)('$name', (mode) => {
  test('sends datagrams to the machine by address and by name, and receives the replies', async () => {
    await using server = await udpEcho();
    await using names = await dns({ 'time.example.com': '127.0.0.1' });
    const network = {
      allow: [`udp://time.example.com:${server.port}`],
      private: [opened(server)],
      dns: { servers: [`127.0.0.1:${names.port}`], hosts: { 'time.test': '127.0.0.1' } },
    };
    await withRuntime(mode, { network }, async (runtime) => {
      for (const host of ['127.0.0.1', 'time.test', 'time.example.com']) {
        expect(await output(runtime, ask(server.port, 'hello', host)), host).toBe('hello 127.0.0.1 true IPv4 5');
      }
      const code = `
        import dgram from 'node:dgram';
        import { once } from 'node:events';
        const socket = dgram.createSocket('udp4');
        const [sizes, received] = [[1, 0, 1_472, 30_000], []];
        socket.on('message', (data) => received.push(data.length));
        const send = (size) => new Promise((resolve) => {
          socket.send(Buffer.alloc(size, 7), ${server.port}, '127.0.0.1', (error, sent) => resolve(error?.code ?? sent));
        });
        console.log((await Promise.all(sizes.map(send))).join(' '));
        while (received.length < sizes.length) await once(socket, 'message');
        // A larger datagram fills the buffer of the socket alone.
        console.log(received.join(' '), await send(65_507), await send(65_508));
        while (received.length <= sizes.length) await once(socket, 'message');
        console.log(received.at(-1));
        socket.close();`;
      expect(await output(runtime, code)).toBe('1 0 1472 30000\n1 0 1472 30000 65507 EMSGSIZE\n65507');
    });
  });

  test('a refused peer receives nothing, and the callback gets the reason', async () => {
    await using server = await udpEcho();
    const refused = (reason: string): string => `EACCES send network.udp ${reason}`;
    const networks: [object | undefined, string, string][] = [
      [{}, '10.1.2.3', refused('private-address')],
      [{ private: [`10.0.0.0/8:*`] }, '10.1.2.3', refused('private-address')],
      [{ outside: 'public' }, '8.8.8.8', refused('not-allowed')],
      [{ outside: 'public' }, '224.0.0.251', refused('private-address')],
      [{ outside: 'public' }, '255.255.255.255', refused('private-address')],
      [{ allow: ['udp://time.example.com:123'] }, '8.8.8.8', refused('name-not-pinned')],
      [{ allow: ['udp://8.8.8.0/24:1-65535'], deny: ['8.8.8.8'] }, '8.8.8.8', refused('denied deny[0]')],
    ];
    for (const [network, host, expected] of networks) {
      await withRuntime(mode, { network: network as object }, async (runtime) => {
        expect(await output(runtime, ask(server.port, 'x', host)), `${JSON.stringify(network)} ${host}`).toBe(expected);
      });
    }
    await withRuntime(mode, {}, async (runtime) => {
      expect(await output(runtime, ask(server.port, 'x', '8.8.8.8'))).toBe('EACCES send network.udp');
    });
    const rules = [{ mode: 'deny', operations: ['udp'], patterns: [`127.0.0.1:${server.port}`] }] as const;
    const permissions = { network: { default: 'allow', rules } } as const;
    await withRuntime(mode, { network: { private: [opened(server)] }, permissions }, async (runtime) => {
      expect(await output(runtime, ask(server.port, 'x'))).toBe('EACCES send network.udp');
    });
    expect(server.count()).toBe(0);
  });

  test('a connected socket sends to its peer, and learns that no socket listens', async () => {
    await using server = await udpEcho();
    const closed = await udpEcho();
    await closed[Symbol.asyncDispose]();
    await withRuntime(mode, { network: { private: [opened(server), opened(closed)] } }, async (runtime) => {
      const code = (port: number): string => `
        import dgram from 'node:dgram';
        const socket = dgram.createSocket('udp4');
        socket.connect(${port}, '127.0.0.1', () => {
          console.log(socket.remoteAddress().port === ${port});
          socket.send('to the peer');
        });
        socket.on('message', (data) => { console.log(String(data)); socket.close(); });
        socket.on('error', (error) => { console.log(error.code); socket.close(); });`;
      expect(await output(runtime, code(server.port))).toBe('true\nto the peer');
      expect(await output(runtime, code(closed.port))).toBe('true\nECONNREFUSED');
    });
  });

  test('flows and events list the datagrams, and an update ends them', async () => {
    await using server = await udpEcho();
    await withRuntime(mode, { network: { private: [opened(server)] } }, async (runtime) => {
      const events: (NetworkEvents['open'] | NetworkEvents['close'] | NetworkEvents['denied'])[] = [];
      const stops = [];
      for (const type of ['open', 'close', 'denied'] as const) {
        stops.push(await runtime.network.on(type, (event) => events.push(event)));
      }
      const runner = await runtime.createResidentRunner();
      await runner.exec(SETUP(server.port, false));
      expect(await evaluate(runner, "await send('hi')")).toBe('hi');
      const rule = { rule: 'private[0]', pattern: opened(server) };
      const peer = { protocol: 'udp', address: '127.0.0.1', port: server.port };
      const flows = [];
      for await (const flow of runtime.network.flows()) flows.push(flow);
      expect(flows).toMatchObject([{ ...peer, ...rule, sent: 2, received: 2, dropped: 0 }]);
      await runtime.network.update({ deny: [opened(server)] });
      expect(await evaluate(runner, "await send('hi')")).toBe('EACCES denied');
      expect(server.count()).toBe(1);
      await runtime.network.update({ deny: null });
      expect(await evaluate(runner, "await send('hi')")).toBe('hi');
      for (const stop of stops) await stop();
      expect(events.map(({ type }) => type)).toEqual(['open', 'denied', 'close', 'denied', 'open']);
      expect(events[0]).toMatchObject({ ...peer, ...rule });
      expect(events[1]).toMatchObject({ ...peer, reason: 'denied', rule: 'deny[0]' });
      expect(events[2]).toMatchObject({ ...peer, sent: 2, received: 2, dropped: 0, reason: 'denied' });
      await evaluate(runner, 'socket.close()');
      expect(await codeOf(runtime.network.update({ allow: ['udp://example.com'] }))).toBe('ERR_INVALID_REQUEST');
      expect(await codeOf(runtime.network.update({ allow: ['udp://example.com:443'] }))).toBe('ERR_INVALID_REQUEST');
    });
  });

  test('a runtime has at most 64 flows, and a closed socket frees its flows', async () => {
    await using server = await udpEcho();
    await withRuntime(mode, { network: { private: ['udp://127.0.0.1:1', opened(server)] } }, async (runtime) => {
      const code = `
        import dgram from 'node:dgram';
        const sockets = Array.from({ length: 65 }, () => dgram.createSocket('udp4'));
        const send = (socket) => new Promise((resolve) => {
          socket.send('x', ${server.port}, '127.0.0.1', (error) => resolve(error?.code + ' ' + error?.message));
        });
        const results = [];
        for (const socket of sockets) results.push(await send(socket));
        console.log(new Set(results.slice(0, 64)).size, results[0], '|', results[64]);
        sockets[0].close();
        console.log(await send(sockets[64]));
        for (const socket of sockets.slice(1)) socket.close();`;
      const [first, second] = (await output(runtime, code)).split('\n');
      expect(first).toMatch(/^1 undefined undefined \| ENOBUFS .*the limit network\.limits\.udpFlows is reached/);
      expect(second).toBe('undefined undefined');
      await until(async () => {
        for await (const _ of runtime.network.flows()) return false;
        return true;
      });
    });
  });

  test('a restored, cloned or rolled back socket opens another flow', async () => {
    await using server = await udpEcho();
    const network = { private: [opened(server)] };
    await withMode(mode, async (provisioning) => {
      const runtime = await provisioning.create({ network });
      const made = [runtime];
      try {
        const runner = await runtime.createResidentRunner();
        await runner.exec(SETUP(server.port, true));
        expect(await evaluate(runner, "await send('first')")).toBe('first');
        const snapshot = await runtime.snapshot();
        const clone = await runtime.clone();
        const narrow = await runtime.clone({ network: { ...network, deny: [opened(server)] } });
        made.push(clone, narrow);
        expect(await evaluate(await runnerOf(clone), "await send('of the clone')")).toBe('of the clone');
        expect(await evaluate(await runnerOf(narrow), "await send('x')")).toBe('EACCES denied');
        await runtime.rollback(snapshot);
        const again = await runnerOf(runtime);
        expect(await evaluate(again, "await send('after the rollback')")).toBe('after the rollback');
        expect(await evaluate(again, 'errors.length')).toBe('0');
        expect(server.count()).toBe(3);
      } finally {
        await disposeAll(made);
      }
    });
  });
});
