// Programs use secrets that they cannot read, against servers of this machine. The connections have
// no TLS, so the secrets have `insecure: true`. `secrets-leaks.test.ts` searches for values where
// no value may be.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type NetworkEvents, NodeRuntime, RuntimePool, type SecretOptions } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { codeOf } from './network-helpers.js';
import { edgePids, HOST_ADDRESS } from './outside-helpers.js';
import { disposeAll, until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const HOST = HOST_ADDRESS ?? '';
const NAME = 'api.example.com';
const VALUE = 'the-real-value-of-the-key';

/** A server that records the headers of each request, and responds with them. */
async function recorder() {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    seen.push({ ...request.headers, ':path': request.url });
    response.end(JSON.stringify(request.headers));
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port, seen, last: () => seen.at(-1)?.authorization, [Symbol.asyncDispose]: close };
}

/** Options whose host is the server. */
function optionsOf(port: number, secret: Partial<SecretOptions> = {}) {
  const network = { allow: [`${NAME}:${port}`], private: [`${HOST}:${port}`], dns: { hosts: { [NAME]: HOST } } };
  return { network, secrets: { KEY: { value: VALUE, hosts: [`${NAME}:${port}`], insecure: true, ...secret } } };
}

/** Sends the variable KEY in a header, and prints the status and the body. */
const send = (port: number, header = 'authorization'): string => `
  const response = await fetch('http://${NAME}:${port}/path?query', { headers: { '${header}': 'Bearer ' + process.env.KEY } });
  console.log(response.status, response.headers.get('coldframe-denied') ?? '', await response.text());`;

async function output(runtime: NodeRuntime, code: string): Promise<string> {
  const { stdout, stderr } = await runtime.exec(code);
  return (stdout + stderr).trim();
}

describe.skipIf(HOST_ADDRESS === undefined).each(MODES)('$name', (mode) => {
  test('a program sends the placeholder, the host receives the value, and the echo is masked', async () => {
    await using server = await recorder();
    await withRuntime(mode, optionsOf(server.port), async (runtime) => {
      expect(await output(runtime, 'console.log(process.env.KEY)')).toMatch(/^cfs_[A-Za-z0-9]{32}$/);
      const printed = await output(runtime, send(server.port));
      expect(server.last()).toBe(`Bearer ${VALUE}`);
      expect(printed).toMatch(/^200/);
      expect(printed).toContain(`Bearer ${'*'.repeat(VALUE.length)}`);
      expect(printed).not.toContain(VALUE);
      await output(runtime, send(server.port, 'x-other'));
      expect(server.seen.at(-1)?.['x-other']).toMatch(/^Bearer cfs_/);
    });
  });

  test('a new value is used by the next request, and a removed secret by none', async () => {
    await using server = await recorder();
    await withRuntime(mode, optionsOf(server.port), async (runtime) => {
      await runtime.secrets.set('KEY', 'before-the-first-use');
      await output(runtime, send(server.port));
      expect(server.last()).toBe('Bearer before-the-first-use');
      await runtime.secrets.set('KEY', new TextEncoder().encode('after-the-first-use'));
      await output(runtime, send(server.port));
      expect(server.last()).toBe('Bearer after-the-first-use');
      expect(runtime.secrets.list()).toEqual([{ name: 'KEY', hosts: [`${NAME}:${server.port}`], hasValue: true }]);
      expect(await codeOf(runtime.secrets.set('OTHER', 'x'))).toBe('ERR_INVALID_OPTION');
      expect(await codeOf(runtime.secrets.set('KEY', 'line\nbreak'))).toBe('ERR_INVALID_OPTION');
      await runtime.secrets.delete('KEY');
      expect(runtime.secrets.list()).toEqual([]);
      await output(runtime, send(server.port));
      expect(server.last()).toMatch(/^Bearer cfs_/);
      expect(await codeOf(runtime.secrets.delete('KEY'))).toBe('ERR_INVALID_OPTION');
    });
  });

  test('the edge process gets the values again after it has ended', async () => {
    await using server = await recorder();
    await withRuntime(mode, optionsOf(server.port), async (runtime) => {
      await output(runtime, send(server.port));
      for (const pid of edgePids()) process.kill(pid, 'SIGKILL');
      await until(() => edgePids().length === 0);
      expect(await output(runtime, send(server.port))).toMatch(/^200/);
      expect(server.seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${VALUE}`, `Bearer ${VALUE}`]);
    });
  });

  test('a snapshot has the placeholder, and the restored runtime needs the value again', async () => {
    await using server = await recorder();
    const options = optionsOf(server.port);
    await withMode(mode, async (sandbox) => {
      const runtime = await sandbox.create(options);
      const copies: NodeRuntime[] = [];
      try {
        const placeholder = await output(runtime, 'console.log(process.env.KEY)');
        const snapshot = await runtime.snapshot();
        const bare = await sandbox.create({ snapshot, network: options.network });
        copies.push(bare);
        expect(await output(bare, 'console.log(process.env.KEY)')).toBe(placeholder);
        expect(bare.secrets.list()).toEqual([{ name: 'KEY', hosts: options.secrets.KEY.hosts, hasValue: false }]);
        const denied = await output(bare, send(server.port));
        expect(denied).toMatch(/^403 secret-missing/);
        expect(denied).toContain('"detail":"KEY"');
        expect(server.seen).toEqual([]);
        await bare.secrets.set('KEY', 'given-later');
        await output(bare, send(server.port));
        expect(server.last()).toBe('Bearer given-later');
        const given = await sandbox.create({ snapshot, ...options });
        copies.push(given);
        expect(await output(given, 'console.log(process.env.KEY)')).toBe(placeholder);
        await output(given, send(server.port));
        expect(server.last()).toBe(`Bearer ${VALUE}`);
      } finally {
        await disposeAll([...copies, runtime]);
      }
    });
  });

  test('clones and resumed runtimes have the secrets', async () => {
    await using server = await recorder();
    const options = optionsOf(server.port);
    await withMode(mode, async (sandbox) => {
      const runtime = await sandbox.create(options);
      const clones: NodeRuntime[] = [];
      try {
        const placeholder = await output(runtime, 'console.log(process.env.KEY)');
        clones.push(await runtime.clone());
        clones.push(await runtime.clone({ secrets: { KEY: { ...options.secrets.KEY, value: 'of-the-clone' } } }));
        for (const [clone, value] of [
          [clones[0], VALUE],
          [clones[1], 'of-the-clone'],
        ] as const) {
          expect(await output(clone as NodeRuntime, 'console.log(process.env.KEY)')).toBe(placeholder);
          await output(clone as NodeRuntime, send(server.port));
          expect(server.last()).toBe(`Bearer ${value}`);
        }
        await runtime.pause();
        await runtime.resume();
        await output(runtime, send(server.port));
        expect(server.last()).toBe(`Bearer ${VALUE}`);
        await runtime.pause();
        await runtime.resume({ secrets: { KEY: { ...options.secrets.KEY, value: 'of-the-resumption' } } });
        expect(await output(runtime, 'console.log(process.env.KEY)')).toBe(placeholder);
        await output(runtime, send(server.port));
        expect(server.last()).toBe('Bearer of-the-resumption');
      } finally {
        await disposeAll([...clones, runtime]);
      }
    });
  });
});

describe.skipIf(HOST_ADDRESS === undefined)('functions', () => {
  test('are called at the first use, once for each expiry', async () => {
    await using server = await recorder();
    let calls = 0;
    const value = async () => ({ value: `value-of-call-${++calls}`, expiresAt: new Date(Date.now() + 3_600_000) });
    await using runtime = await NodeRuntime.create(optionsOf(server.port, { value }));
    await output(runtime, 'console.log(process.env.KEY)');
    expect(calls).toBe(0);
    await Promise.all([output(runtime, send(server.port)), output(runtime, send(server.port))]);
    await output(runtime, send(server.port));
    expect([calls, server.last()]).toEqual([1, 'Bearer value-of-call-1']);
  });

  test('that fail cause the status 502, and the next value is used', async () => {
    await using server = await recorder();
    let fails = true;
    const value = () => {
      if (fails) throw new Error('no value');
      return 'now-there-is-a-value';
    };
    await using runtime = await NodeRuntime.create(optionsOf(server.port, { value }));
    const denied = await output(runtime, send(server.port));
    expect(denied).toMatch(/^502 secret-unavailable/);
    fails = false;
    await runtime.secrets.set('KEY', value);
    expect(await output(runtime, send(server.port))).toMatch(/^200/);
    expect(server.last()).toBe('Bearer now-there-is-a-value');
  });

  test('are called again before a value expires, and an expired value is not sent', async () => {
    await using server = await recorder();
    let calls = 0;
    const value = () => {
      calls++;
      if (calls > 2) throw new Error('no value');
      return { value: `value-of-call-${calls}`, expiresAt: Date.now() + 500 };
    };
    await using runtime = await NodeRuntime.create(optionsOf(server.port, { value }));
    await output(runtime, send(server.port));
    expect(server.last()).toBe('Bearer value-of-call-1');
    await until(() => calls >= 4);
    await until(async () => (await output(runtime, send(server.port))).startsWith('502 secret-unavailable'));
  });
});

describe.skipIf(HOST_ADDRESS === undefined)('rules of `network.http`', () => {
  test('allow requests by method and path, and set headers', async () => {
    await using server = await recorder();
    const { network, secrets } = optionsOf(server.port, { env: false });
    const http = [
      { host: `${NAME}:${server.port}`, methods: ['GET'], paths: ['/public/**'], inject: { authorization: 'Bearer ${KEY}' } },
    ];
    const { allow: _, ...rest } = network;
    await using runtime = await NodeRuntime.create({ network: { ...rest, http }, secrets });
    const events: NetworkEvents['request'][] = [];
    const stop = await runtime.network.on('request', (event) => events.push(event));
    const get = (path: string, method = 'GET') => `
      const response = await fetch('http://${NAME}:${server.port}${path}', { method: '${method}' });
      console.log(response.status, response.headers.get('coldframe-denied') ?? '');`;
    expect(await output(runtime, 'console.log(process.env.KEY)')).toBe('undefined');
    expect(await output(runtime, get('/public/a?key=value'))).toBe('200');
    expect(server.last()).toBe(`Bearer ${VALUE}`);
    expect(await output(runtime, get('/private'))).toMatch(/^403 \S+/);
    expect(await output(runtime, get('/public/a', 'POST'))).toMatch(/^403 \S+/);
    expect(server.seen.length).toBe(1);
    await stop();
    expect(events.map(({ method, host, path, status, secrets: names }) => [method, host, path, status, names])).toEqual([
      ['GET', `${NAME}:${server.port}`, '/public/a', 200, ['KEY']],
      ['GET', `${NAME}:${server.port}`, '/private', 403, []],
      ['POST', `${NAME}:${server.port}`, '/public/a', 403, []],
    ]);
    const url = `http://${NAME}:${server.port}`;
    expect(await runtime.network.check(`${url}/public/a`)).toMatchObject({ allowed: true });
    expect(await runtime.network.check(`${url}/public/a`, { method: 'POST' })).toMatchObject({ allowed: false });
    expect(await runtime.network.check(`${url}/private`)).toMatchObject({ allowed: false });
    expect(runtime.network.get().http).toEqual(http);
    await runtime.network.update({ http: [{ host: `${NAME}:${server.port}` }] });
    expect(await output(runtime, get('/private'))).toBe('200');
    await runtime.network.update({ http: null });
    expect(await runtime.network.check(`${url}/public/a`)).toMatchObject({ allowed: false });
  });

  test('with an invalid entry change nothing', async () => {
    await using runtime = await NodeRuntime.create({ network: {} });
    const update = (http: object) => codeOf(runtime.network.update({ http: [{ host: NAME, ...http }] }));
    expect(await update({ host: '10.0.0.1' })).toBe('ERR_INVALID_REQUEST');
    expect(await update({ inject: { host: 'a' } })).toBe('ERR_INVALID_REQUEST');
    expect(await update({ inject: { authorization: '${unclosed' } })).toBe('ERR_INVALID_REQUEST');
    expect(await update({ methods: ['get'] })).toBe('ERR_INVALID_OPTION');
    expect(runtime.network.get()).toEqual({});
  });
});

test.skipIf(HOST_ADDRESS === undefined)('a pool passes secrets to its runtimes', async () => {
  await using server = await recorder();
  await using pool = new RuntimePool({ size: 1, options: optionsOf(server.port) });
  for (let uses = 0; uses < 2; uses++) {
    await pool.withRuntime(async (runtime) => expect(await output(runtime, send(server.port))).toMatch(/^200/));
    expect(server.last()).toBe(`Bearer ${VALUE}`);
  }
});
