// Requests that servers read in different ways, and names of TLS servers, at a host with rules
// about HTTP. No refused request reaches the server.

import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { HOST_ADDRESS } from '../outside-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY } from '../tls-certificates.js';
import { evaluations, useSidecar } from './attempts.js';
import { hostileDns } from './hostile-servers.js';

const HOST = HOST_ADDRESS ?? '';
const inRuntime = useSidecar();

/** An origin that records the requests that arrive. */
async function startOrigin(isTls: boolean) {
  const seen: string[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    seen.push(`${request.method} ${request.headers.host} ${request.url}`);
    response.end('arrived');
  };
  const server = isTls ? createHttps({ key: KEY, cert: CERTIFICATE }, listener) : createHttp(listener);
  await once(server.listen(0, HOST), 'listening');
  return {
    seen,
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const SECURE = `tls.connect({ ca: ${JSON.stringify(AUTHORITY)}, servername: 'secure.example.com', ...to })`;

/** Sends raw bytes, and resolves with the status line and the header `coldframe-denied`. */
const RAW = (port: number, tls: boolean): string => `
  import net from 'node:net';
  import tls from 'node:tls';
  const raw = (bytes, options = {}) => new Promise((resolve, reject) => {
    let all = '';
    const to = { host: 'secure.example.com', port: ${port}, ...options };
    const socket = ${tls ? SECURE : 'net.connect(to)'};
    socket.on('error', reject).setEncoding('latin1').on('data', (data) => (all += data));
    socket.on('close', () => resolve([all.slice(9, 12), /^coldframe-denied: (.*)$/im.exec(all)?.[1]?.trim()]));
    socket.end(bytes);
  });
  const get = (host, more = '') => 'GET / HTTP/1.1\\r\\nHost: ' + host + '\\r\\nConnection: close\\r\\n' + more + '\\r\\n';`;

describe.skipIf(HOST_ADDRESS === undefined).each([false, true])('filter, TLS: %s', (isTls) => {
  test('smuggling, two hosts, CONNECT, TRACE and another protocol never reach the origin', async () => {
    await using server = await startOrigin(isTls);
    await using names = await hostileDns(({ type }) => (type === 'A' ? [{ address: HOST }] : []));
    const host = `secure.example.com:${server.port}`;
    const network = {
      http: [{ host, methods: ['GET', 'POST'] }],
      private: [`${HOST}:${server.port}`],
      dns: { servers: [`127.0.0.1:${names.port}`] },
      ca: { extra: [AUTHORITY] },
    };
    await inRuntime(network, async (runtime) => {
      const bad = [
        `get('other.example.com')`,
        `get('${HOST}')`,
        `get('${host}', 'Host: other.example.com\\r\\n')`,
        `get('${host}', 'Content-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n') + '0\\r\\n\\r\\n'`,
        `get('${host}', 'Content-Length: 1\\r\\nContent-Length: 2\\r\\n') + 'ab'`,
        `get('${host}', 'Transfer-Encoding: gzip, chunked, identity\\r\\n')`,
        `get('${host}', 'Transfer-Encoding : chunked\\r\\n')`,
        `get('${host}', 'X: a\\r\\n folded\\r\\n')`,
        `get('${host}', 'X: a\\0b\\r\\n')`,
        `get('${host}').replaceAll('\\r\\n', '\\n')`,
        `get('${host}', 'X: a\\rY: b\\r\\n')`,
        `get('${host}').replace('GET /', 'GET http://other.example.com/')`,
        `get('${host}', 'X: ' + 'a'.repeat(70_000) + '\\r\\n')`,
        `get('${host}', Array.from({ length: 200 }, (_, n) => 'X' + n + ': a\\r\\n').join(''))`,
        `'CONNECT other.example.com:443 HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n'`,
        `'TRACE / HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n'`,
        `'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n'`,
        `get('${host}', 'Upgrade: h2c\\r\\nHTTP2-Settings: AAMAAABkAAQAAP__\\r\\n')`,
      ];
      const all = await evaluations(
        runtime,
        RAW(server.port, isTls),
        bad.map((bytes) => `raw(${bytes})`),
      );
      // Each has a status of refusal with its reason.
      expect(all.filter((result) => !/^done \["(4\d\d|505)","[a-z0-9-]+"\]$/.test(result))).toEqual([]);
      expect(server.seen).toEqual([]);
      expect(await evaluations(runtime, RAW(server.port, isTls), [`raw(get('${host}'))`])).toEqual([
        expect.stringContaining('"200"'),
      ]);
      expect(server.seen).toEqual([`GET ${host} /`]);
    });
  });
});

describe.skipIf(HOST_ADDRESS === undefined)('SNI', () => {
  test('only the name that is pinned to the address begins a session', async () => {
    await using server = await startOrigin(true);
    await using names = await hostileDns(({ type }) => (type === 'A' ? [{ address: HOST }] : []));
    const host = `secure.example.com:${server.port}`;
    const network = {
      http: [{ host }],
      private: [`${HOST}:${server.port}`],
      dns: { servers: [`127.0.0.1:${names.port}`] },
      ca: { extra: [AUTHORITY] },
    };
    await inRuntime(network, async (runtime) => {
      const results = await evaluations(runtime, RAW(server.port, true), [
        `raw(get('${host}'))`,
        `raw(get('${host}'), { servername: 'other.example.com', rejectUnauthorized: false })`,
        `raw(get('${host}'), { servername: '', rejectUnauthorized: false })`,
        `raw(get('${host}'), { servername: 'a'.repeat(64_000) + '.example.com', rejectUnauthorized: false })`,
        `raw(get('${host}'), { servername: 'secure.example.com\\r\\nx', rejectUnauthorized: false })`,
        // The operator's authorities decide, although the program accepts any certificate.
        `raw(get('${host}'), { rejectUnauthorized: false, ca: [] })`,
      ]);
      expect(results[0]).toContain('"200"');
      for (const result of results.slice(1, 5)) expect(result).toMatch(/^(EACCES sni|ERR_)/);
      expect(results[5]).toContain('"200"');
      expect(server.seen).toEqual([`GET ${host} /`, `GET ${host} /`]);
    });
  });
});
