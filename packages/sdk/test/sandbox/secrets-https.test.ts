// Programs use secrets over TLS, against a server of this machine whose authority is in
// `network.ca.extra`.

import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { HOST_ADDRESS } from './outside-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY } from './tls-certificates.js';

const HOST = HOST_ADDRESS ?? '';
const NAME = 'secure.example.com';
const VALUE = 'the-real-value-of-the-key';

/** A server that records the headers of each request, and responds with the key. */
async function recorder() {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer({ key: KEY, cert: CERTIFICATE, ALPNProtocols: ['http/1.1'] }, (request, response) => {
    seen.push(request.headers);
    response.end(request.headers.authorization);
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port: (server.address() as AddressInfo).port, seen, [Symbol.asyncDispose]: close };
}

const optionsOf = (port: number, extra: readonly string[] = [AUTHORITY]) => ({
  network: {
    allow: [`${NAME}:${port}`],
    private: [`${HOST}:${port}`],
    dns: { hosts: { [NAME]: HOST } },
    ca: { extra },
  },
  secrets: { KEY: { value: VALUE, hosts: [`${NAME}:${port}`] } },
});

const send = (port: number, options = ''): string => `
  import https from 'node:https';
  const headers = { authorization: 'Bearer ' + process.env.KEY };
  https.get('https://${NAME}:${port}/', { headers, agent: false, ${options} }, (response) => {
    response.on('data', (data) => console.log(response.statusCode, String(data)));
  }).on('error', ({ code }) => console.log(code));`;

async function output(runtime: NodeRuntime, code: string): Promise<string> {
  const { stdout, stderr } = await runtime.exec(code);
  return (stdout + stderr).trim();
}

describe.skipIf(HOST_ADDRESS === undefined).each(MODES)('$name', (mode) => {
  test('the host receives the value over TLS, and the echo is masked', async () => {
    await using server = await recorder();
    await withRuntime(mode, optionsOf(server.port), async (runtime) => {
      expect(await output(runtime, send(server.port))).toBe(`200 Bearer ${'*'.repeat(VALUE.length)}`);
      expect(server.seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${VALUE}`]);
    });
  });

  test('a host with another authority receives nothing, also if the program accepts the certificate', async () => {
    await using server = await recorder();
    await withRuntime(mode, optionsOf(server.port, []), async (runtime) => {
      for (const options of ['rejectUnauthorized: false', `ca: ${JSON.stringify(AUTHORITY)}`]) {
        await output(runtime, send(server.port, options));
        expect(server.seen.filter(({ authorization }) => authorization?.includes(VALUE))).toEqual([]);
      }
    });
  });
});
