// Connects programs to servers of this machine through the edge process. The tests cover TCP,
// names, HTTP, denials, changes of the policy, the end of the edge process, and snapshots.

import { describe, expect, test } from 'vitest';
import type { NetworkEvents, NodeRuntime } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { codeOf } from './network-helpers.js';
import { dns, echo, edgePids, HOST_ADDRESS, http, type TestServer, tcp } from './outside-helpers.js';
import { disposeAll, evaluate, runnerOf, until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const HOST = HOST_ADDRESS ?? '';

/** Opens a server of this machine by its address. */
const opened = ({ port }: TestServer): string => `${HOST}:${port}`;

/** Connects, sends `text`, and prints what arrives until the end, or the code of an error. */
const talk = (port: number, text: string, host = HOST): string => `
  import net from 'node:net';
  const socket = net.connect(${port}, ${JSON.stringify(host)});
  let all = '';
  socket.setEncoding('utf8').on('data', (data) => (all += data)).on('end', () => console.log(all));
  socket.on('error', (error) => console.log([error.code, error.permission, error.reason, error.rule].filter(Boolean).join(' ')));
  socket.end(${JSON.stringify(text)});`;

async function output(runtime: NodeRuntime, code: string): Promise<string> {
  const { stdout, stderr } = await runtime.exec(code);
  return (stdout + stderr).trim();
}

/** Starts a program that holds a connection and prints the code of the connection's error. */
const HOLD = (port: number): string => `
  import net from 'node:net';
  const socket = net.connect(${port}, ${JSON.stringify(HOST)}, () => console.log('open'));
  socket.on('error', ({ code }) => console.log(code)).on('close', () => console.log('close'));
  process.on('message', () => {});
  setInterval(() => {}, 1_000);`;

describe.skipIf(HOST_ADDRESS === undefined).each(MODES)('$name', (mode) => {
  test('sends and receives bytes, and ends each direction separately', async () => {
    await using server = await tcp((socket) => {
      let all = '';
      socket.on('data', (data) => (all += data));
      // The response follows the end of the request.
      socket.on('end', () => socket.end(`${all.length} bytes, ${all.slice(0, 5)}`));
    });
    await withRuntime(mode, { network: { private: [opened(server)] } }, async (runtime) => {
      expect(await output(runtime, talk(server.port, 'hello'))).toBe('5 bytes, hello');
      expect(await output(runtime, talk(server.port, 'x'.repeat(3_000_000)))).toBe('3000000 bytes, xxxxx');
    });
  });

  test('receives more bytes than a window', async () => {
    await using server = await tcp((socket) => socket.end(Buffer.alloc(5_000_000, 'a')));
    await withRuntime(mode, { network: { private: [opened(server)] } }, async (runtime) => {
      const code = `${talk(server.port, '')} socket.on('end', () => console.log(all.length))`;
      expect((await output(runtime, code)).slice(-7)).toBe('5000000');
    });
  });

  test('looks up names at the servers of the option, and fetches over HTTP', async () => {
    await using server = await http();
    await using names = await dns({ 'web.example.com': HOST });
    const network = {
      allow: [`*.example.com:${server.port}`],
      private: [opened(server)],
      dns: { servers: [`127.0.0.1:${names.port}`], hosts: { 'fixed.example.com': HOST } },
    };
    await withRuntime(mode, { network }, async (runtime) => {
      const get = (host: string): string => `
        const response = await fetch('http://${host}:${server.port}/path?query');
        console.log(response.status, await response.text());`;
      expect(await output(runtime, get('web.example.com'))).toBe('200 GET /path?query');
      expect(names.asked).toContain('web.example.com');
      const asked = names.count();
      expect(await output(runtime, get('fixed.example.com'))).toBe('200 GET /path?query');
      expect(names.count()).toBe(asked);
      const look = `import dns from 'node:dns/promises';
        for (const name of ['none.example.com', 'web.example.org']) {
          await dns.lookup(name).catch(({ code, reason }) => console.log(name, code, reason ?? ''));
        }`;
      expect(await output(runtime, look)).toBe('none.example.com ENOTFOUND \nweb.example.org ENOTFOUND not-allowed');
      expect(names.asked).not.toContain('web.example.org');
    });
  });

  test('a denied connection fails at once, with the reason and the rule', async () => {
    await using server = await echo();
    await withRuntime(mode, { network: {} }, async (runtime) => {
      expect(await output(runtime, talk(server.port, 'x'))).toBe('EACCES network.connect private-address');
      expect(await output(runtime, talk(443, 'x', '93.184.216.34'))).toBe('EACCES network.connect not-allowed');
      await runtime.network.update({ outside: 'public', deny: ['93.184.216.34'] });
      expect(await output(runtime, talk(443, 'x', '93.184.216.34'))).toBe('EACCES network.connect denied deny[0]');
      expect(await output(runtime, talk(server.port, 'x'))).toBe('EACCES network.connect private-address');
    });
    expect(server.count()).toBe(0);
  });

  test('reports the errors of the network by their names', async () => {
    const server = await echo();
    await server[Symbol.asyncDispose]();
    await withRuntime(mode, { network: { private: [opened(server)] } }, async (runtime) => {
      expect(await output(runtime, talk(server.port, 'x'))).toBe('ECONNREFUSED');
    });
  });

  test('the permission and the option must both allow', async () => {
    await using server = await echo();
    const network = { private: [opened(server)] };
    await withRuntime(mode, { network, permissions: { network: 'deny' } }, async (runtime) => {
      expect(await output(runtime, talk(server.port, 'x'))).toMatch(/^EACCES network\.connect/);
      await runtime.setPermissions({});
      expect(await output(runtime, talk(server.port, 'x'))).toBe('x');
    });
    await withRuntime(mode, { permissions: { network: 'allow' } }, async (runtime) => {
      expect(await output(runtime, talk(server.port, 'x'))).toMatch(/^EACCES/);
    });
    expect(server.count()).toBe(1);
  });

  test('an update closes the connections that it denies, and no other', async () => {
    await using one = await echo();
    await using two = await echo();
    await withRuntime(mode, { network: { private: [opened(one), opened(two)] } }, async (runtime) => {
      const outputs = ['', ''];
      const programs = await Promise.all(
        [one, two].map((server, at) =>
          runtime.spawn(HOLD(server.port), { onStdout: (text) => (outputs[at] += String(Buffer.from(text))) }),
        ),
      );
      await until(() => outputs.every((text) => text.startsWith('open')));
      await runtime.network.update({ private: [opened(two)] }, { existing: 'keep' });
      expect(await output(runtime, talk(one.port, 'x'))).toMatch(/^EACCES/);
      expect(outputs).toEqual(['open\n', 'open\n']);
      // The same options again, for the open connections too.
      await runtime.network.update({ private: [opened(two)] });
      await until(() => outputs[0] === 'open\nECONNRESET\nclose\n');
      expect(outputs[1]).toBe('open\n');
      await runtime.network.update({ private: null });
      await until(() => outputs[1] === 'open\nECONNRESET\nclose\n');
      expect(runtime.network.get()).toEqual({});
      await Promise.all(programs.map((program) => program.kill('SIGKILL')));
    });
  });

  test('an invalid update changes nothing', async () => {
    await using server = await echo();
    const network = { private: [opened(server)] };
    await withRuntime(mode, { network }, async (runtime) => {
      for (const change of [{ allow: ['10.0.0.0/8'] }, { dns: { hosts: { 'a b': '1.1.1.1' } } }, { private: ['example.com'] }]) {
        expect(await codeOf(runtime.network.update({ ...change, deny: [opened(server)] }))).toBe('ERR_INVALID_REQUEST');
      }
      expect(runtime.network.get()).toEqual(network);
      expect(await output(runtime, talk(server.port, 'x'))).toBe('x');
    });
  });

  test('the end of the edge process resets connections, and the next use starts another', async () => {
    await using server = await echo();
    await until(() => edgePids().length === 0);
    await withRuntime(mode, { network: { private: [opened(server)] } }, async (runtime) => {
      let text = '';
      const program = await runtime.spawn(HOLD(server.port), { onStdout: (more) => (text += Buffer.from(more)) });
      await until(() => text === 'open\n');
      const [pid, ...others] = edgePids();
      expect(others).toEqual([]);
      process.kill(pid as number, 'SIGKILL');
      await until(() => text === 'open\nECONNRESET\nclose\n');
      expect(await output(runtime, talk(server.port, 'again'))).toBe('again');
      expect(edgePids()).toHaveLength(1);
      expect(edgePids()).not.toContain(pid);
      await program.kill('SIGKILL');
    });
    // The process ends with its sidecar.
    await until(() => edgePids().length === 0);
  });

  test('a snapshot contains no connections, and a request after each restore succeeds', async () => {
    await using server = await http();
    const network = { private: [opened(server)] };
    // The agent keeps the connection of a request for the next request.
    const setup = `
      import http from 'node:http';
      const agent = new http.Agent({ keepAlive: true });
      globalThis.get = () => new Promise((resolve) => {
        const request = http.get({ host: '${HOST}', port: ${server.port}, path: '/', agent }, (response) => {
          response.setEncoding('utf8').on('data', resolve);
        });
        request.on('error', ({ code }) => resolve(code));
      });`;
    const get = async (runtime: NodeRuntime): Promise<string> => evaluate(await runnerOf(runtime), 'await get()');
    await withMode(mode, async (provisioning) => {
      const runtime = await provisioning.create({ network });
      const made = [runtime];
      try {
        await (await runtime.createResidentRunner()).exec(setup);
        expect(await get(runtime)).toBe('GET /');
        const snapshot = await runtime.snapshot();
        expect(await get(runtime)).toBe('GET /');
        await runtime.rollback(snapshot);
        expect(await get(runtime)).toBe('GET /');
        const clone = await runtime.clone();
        made.push(clone);
        expect(clone.network.get()).toEqual(network);
        expect(await get(clone)).toBe('GET /');
        const narrow = await runtime.clone({ network: {} });
        made.push(narrow);
        expect(await get(narrow)).toBe('EACCES');
        await runtime.pause();
        await runtime.resume();
        expect(await get(runtime)).toBe('GET /');
        await runtime.pause();
        await runtime.resume({ network: {} });
        expect(runtime.network.get()).toEqual({});
        expect(await get(runtime)).toBe('EACCES');
        const restored = await provisioning.create({ snapshot, network });
        made.push(restored);
        expect(await get(restored)).toBe('GET /');
        const without = await provisioning.create({ snapshot });
        made.push(without);
        expect(await get(without)).toBe('EACCES');
        expect(without.permissions.network).toMatchObject({ rules: [{ patterns: ['localhost', 'unix:*'] }] });
      } finally {
        await disposeAll(made);
      }
    });
  });

  test('judges URLs, lists the open connections, and reports events', async () => {
    await using server = await echo();
    const network = { allow: ['*.example.com'], deny: ['bad.example.com'], private: [opened(server)] };
    await withRuntime(mode, { network }, async (runtime) => {
      expect(await runtime.network.check('https://a.example.com/')).toEqual({
        allowed: true,
        rule: 'allow[0]',
        pattern: '*.example.com',
      });
      expect(await runtime.network.check(new URL('https://bad.example.com'))).toMatchObject({ allowed: false, reason: 'denied' });
      expect(await runtime.network.check('http://a.example.com/')).toMatchObject({ allowed: false, reason: 'not-allowed' });
      expect(await codeOf(runtime.network.check('no url'))).toBe('ERR_INVALID_REQUEST');
      const events: NetworkEvents[keyof NetworkEvents][] = [];
      const stops = await Promise.all(
        (['open', 'close', 'denied'] as const).map((type) => runtime.network.on(type, (event) => void events.push(event))),
      );
      let text = '';
      const program = await runtime.spawn(HOLD(server.port), { onStdout: (more) => (text += Buffer.from(more)) });
      await until(() => text === 'open\n');
      const flows = [];
      for await (const flow of runtime.network.flows()) flows.push(flow);
      expect(flows).toMatchObject([{ address: HOST, port: server.port, rule: 'private[0]', pattern: opened(server), sent: 0 }]);
      await program.kill('SIGKILL');
      await program.wait();
      expect(await output(runtime, talk(443, 'x', '93.184.216.34'))).toMatch(/^EACCES/);
      await until(() => events.length >= 3);
      for (const stop of stops) await stop();
      expect(events.map(({ type }) => type).sort()).toEqual(['close', 'denied', 'open']);
      expect(events.find(({ type }) => type === 'denied')).toMatchObject({ address: '93.184.216.34', port: 443 });
      expect(await output(runtime, talk(server.port, 'x'))).toBe('x');
      expect(events).toHaveLength(3);
    });
  });

  test('a runtime without the option gets options and listeners later', async () => {
    await using server = await echo();
    await until(() => edgePids().length === 0);
    await withRuntime(mode, {}, async (runtime) => {
      const opens: number[] = [];
      const stop = await runtime.network.on('open', ({ port }) => void opens.push(port ?? 0));
      expect(await runtime.network.check('http://example.com/')).toEqual({ allowed: false, reason: 'not-allowed' });
      expect(await output(runtime, talk(server.port, 'x'))).toMatch(/^EACCES/);
      expect(edgePids()).toEqual([]);
      await runtime.network.update({ private: [opened(server)] });
      expect(await output(runtime, talk(server.port, 'x'))).toBe('x');
      await stop();
      expect(opens).toEqual([server.port]);
    });
  });

  test('starts no process before the first use', async () => {
    await withMode(mode, async (provisioning) => {
      const before = edgePids();
      const plain = await provisioning.create();
      const unused = await provisioning.create({ network: { outside: 'public', allow: ['example.com'] } });
      for (const runtime of [plain, unused]) {
        expect(await output(runtime, 'console.log(1)')).toBe('1');
        expect(await output(runtime, talk(80, 'x', '127.0.0.1'))).toBe('ECONNREFUSED');
      }
      await unused.network.update({ deny: ['example.org'] });
      expect(edgePids()).toEqual(before);
      await plain.dispose();
      await unused.dispose();
    });
  });
});

test('a server sees the connection of a program end with the runtime', async () => {
  if (HOST_ADDRESS === undefined) return;
  let ended: Promise<unknown> | undefined;
  await using server = await tcp((socket) => {
    ended = new Promise((resolve) => socket.once('close', resolve));
  });
  await withRuntime(MODES[1] as (typeof MODES)[number], { network: { private: [opened(server)] } }, async (runtime) => {
    let text = '';
    await runtime.spawn(HOLD(server.port), { onStdout: (more) => (text += Buffer.from(more)) });
    await until(() => text === 'open\n');
  });
  await ended;
  expect(ended).toBeDefined();
});
