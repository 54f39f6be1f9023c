// Uses secrets, and then searches for their values in plain text, base64 and hexadecimal digits.
// Searched are the memory of the sidecar, the files of snapshots, and the log. Searched are also
// the environments and the arguments of the sidecar and the edge process. After `delete()`, the
// memory of the edge process has no value either.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { formsOf, has, memoryHas } from './memory-search.js';
import { edgePids, HOST_ADDRESS } from './outside-helpers.js';
import { until, usePrivateStoreFolder } from './snapshot-helpers.js';

const store = usePrivateStoreFolder();
const HOST = HOST_ADDRESS ?? '';
const SDK = new URL('../../dist/index.js', import.meta.url).href;

/** Returns the paths of all files below a folder. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** Sends the variable KEY to a server of this machine. */
const use = (port: number): string => `
  const response = await fetch('http://api.example.com:${port}/', { headers: { authorization: 'Bearer ' + process.env.KEY } });
  console.log(response.status, await response.text());`;

const optionsOf = (port: number, value: string) => ({
  network: {
    allow: [`api.example.com:${port}`],
    private: [`${HOST}:${port}`],
    dns: { hosts: { 'api.example.com': HOST } },
  },
  secrets: { KEY: { value, hosts: [`api.example.com:${port}`], insecure: true } },
});

/** A server that counts the requests with the header. */
async function server(expected: () => string) {
  let count = 0;
  const http = createServer((request, response) => {
    if (request.headers.authorization === `Bearer ${expected()}`) count++;
    response.end(request.headers.authorization);
  });
  http.listen(0, '0.0.0.0');
  await once(http, 'listening');
  const close = async (): Promise<void> => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  return { port: (http.address() as AddressInfo).port, count: () => count, [Symbol.asyncDispose]: close };
}

test.skipIf(HOST_ADDRESS === undefined)(
  'only this process and the edge process have a value',
  async () => {
    // The value is new in each run, so no file of the test has it.
    const value = `value-${crypto.randomUUID()}`;
    const forms = formsOf(value);
    await using peer = await server(() => value);
    const sidecar = await Sidecar.spawn();
    try {
      const runtime = await NodeRuntime.create({ sidecar, ...optionsOf(peer.port, value) });
      const before = edgePids();
      const runner = await runtime.createResidentRunner();
      expect((await runner.exec(use(peer.port))).stdout).toMatch(/^200 Bearer \*+/);
      expect(peer.count()).toBe(1);
      const snapshot = await runtime.snapshot({ store: 'disk' });
      const exported = join(store.path(), 'exported');
      await runtime.snapshots.export(snapshot.id, exported);
      const files = filesBelow(store.path());
      expect(files.length).toBeGreaterThan(0);
      expect(files.filter((path) => has(readFileSync(path), forms))).toEqual([]);
      const edges = edgePids().filter((pid) => !before.includes(pid));
      expect(edges.length).toBe(1);
      const [edge] = edges as [number];
      // The search finds a value where a value is.
      expect(memoryHas(process.pid, forms)).toBe(true);
      expect(memoryHas(edge, forms)).toBe(true);
      expect(memoryHas(sidecar.pid, forms)).toBe(false);
      for (const pid of [sidecar.pid, edge]) {
        for (const name of ['environ', 'cmdline'])
          expect(has(readFileSync(`/proc/${pid}/${name}`), forms), `${name}`).toBe(false);
      }
      await runtime.secrets.delete('KEY');
      // The connections of the secret are reset, which frees their buffers.
      await until(() => !memoryHas(edge, forms));
      await runtime.dispose();
    } finally {
      await sidecar.dispose();
    }
  },
  120_000,
);

test.skipIf(HOST_ADDRESS === undefined)('the log has no value', async () => {
  const value = `value-${crypto.randomUUID()}`;
  await using peer = await server(() => value);
  const code = `
    import { NodeRuntime } from ${JSON.stringify(SDK)};
    const runtime = await NodeRuntime.create(${JSON.stringify(optionsOf(peer.port, value))});
    const { stdout } = await runtime.exec(${JSON.stringify(use(peer.port))});
    await runtime.secrets.set('KEY', ${JSON.stringify(`${value}-2`)});
    await runtime.exec(${JSON.stringify(use(peer.port))});
    await runtime.snapshot();
    await runtime.dispose();
    console.log(stdout);
  `;
  const env = { ...process.env, COLDFRAME_LOG: 'all' };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], { env });
  expect(stdout).toMatch(/^200 Bearer \*+/);
  expect(stderr).toMatch(/ request: \d+ secrets\.put, \d+ bytes/);
  expect(has(Buffer.from(stderr), formsOf(value))).toBe(false);
});
