// HTTP/2 over TLS in programs: secure servers and clients inside the runtime, clients of servers of
// this machine, and connections that end during the handshake.

import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { HOST_ADDRESS } from './outside-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY } from './tls-certificates.js';

const HOST = HOST_ADDRESS ?? '';
const PEM = `
  const ca = ${JSON.stringify(AUTHORITY)};
  const cert = ${JSON.stringify(CERTIFICATE)};
  const key = ${JSON.stringify(KEY)};
  import http2 from 'node:http2'; import https from 'node:https'; import net from 'node:net';
  import tls from 'node:tls'; import { once } from 'node:events';
  const log = (...all) => console.log(...all);
  const listen = async (server) => (server.listen(0), await once(server, 'listening'), server.address().port);
  const textOf = async (stream) => (await stream.setEncoding('utf8').toArray()).join('');
`;

async function output(runtime: NodeRuntime, code: string): Promise<string[]> {
  const { stdout, stderr } = await runtime.exec(PEM + code, { timeout: 20_000 });
  return (stdout + stderr).trim().split('\n');
}

/** Runs a program in a runtime that may connect to no host, and expects its lines. */
const inside = (name: string, code: string, lines: readonly string[]): void => {
  test(name, () =>
    withRuntime(MODES[0] as (typeof MODES)[number], { network: {} }, async (runtime) => {
      expect(await output(runtime, code)).toEqual(lines);
    }),
  );
};

describe.skipIf(HOST_ADDRESS === undefined).each(MODES)('$name', (mode) => {
  test('a client reaches a server of this machine over HTTP/2', async () => {
    const server = createSecureServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
      let size = 0;
      request.on('data', (data: Buffer) => (size += data.length));
      request.on('end', () => response.end(request.url === '/large' ? Buffer.alloc(3_000_000, 'a') : `${request.url} ${size}`));
    });
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const code = `
      const client = http2.connect('https://${HOST}:${port}', { ca, servername: 'localhost' });
      await once(client, 'connect');
      log(client.alpnProtocol, client.encrypted, client.socket.authorized);
      const requests = Array.from({ length: 20 }, (_, n) => {
        const stream = client.request({ ':path': '/' + n, ':method': 'POST' });
        stream.end('x'.repeat(n * 10_000));
        return textOf(stream);
      });
      log((await Promise.all(requests)).at(-1));
      log((await textOf(client.request({ ':path': '/large' }))).length);
      client.close();`;
    await withRuntime(mode, { network: { private: [`${HOST}:${port}`] } }, async (runtime) => {
      expect(await output(runtime, code)).toEqual(['h2 true true', '/19 190000', '3000000']);
    });
    await new Promise((resolve) => server.close(resolve));
  });
});

inside(
  'a secure server speaks HTTP/2 and, if allowed, HTTP/1.1',
  `
  const server = http2.createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
    const { alpnProtocol } = request.httpVersion === '2.0' ? request.stream.session.socket : request.socket;
    response.setHeader('x-version', request.httpVersion);
    response.end(alpnProtocol + ' ' + request.url);
  });
  const port = await listen(server);
  const client = http2.connect('https://localhost:' + port, { ca });
  const stream = client.request({ ':path': '/two' });
  const [headers] = await once(stream, 'response');
  log(headers['x-version'], await textOf(stream), [...client.originSet].join() === 'https://localhost:' + port);
  client.close();
  const [response] = await once(https.get({ port, ca, path: '/one', ALPNProtocols: ['http/1.1'], agent: false }), 'response');
  log(response.headers['x-version'], await textOf(response));
  server.close();`,
  ['2.0 h2 /two true', '1.1 http/1.1 /one'],
);

inside(
  'a secure server pushes streams, and refuses clients of other protocols',
  `
  const server = http2.createSecureServer({ key, cert });
  server.on('stream', (stream) => {
    stream.pushStream({ ':path': '/pushed' }, (error, pushed) => { pushed.respond(); pushed.end('pushed body'); });
    stream.respond({ ':status': 200 });
    stream.end('body');
  });
  server.on('unknownProtocol', (socket) => { log('unknown', socket.alpnProtocol); socket.destroy(); });
  const port = await listen(server);
  const client = http2.connect('https://localhost:' + port, { ca });
  const pushed = once(client, 'stream');
  log(await textOf(client.request()));
  const [stream, headers] = await pushed;
  log(headers[':path'], await textOf(stream));
  client.close();
  const other = tls.connect({ port, ca, servername: 'localhost' });
  other.on('error', () => {}).resume();
  await once(other, 'close');
  const refused = tls.connect({ port, ca, servername: 'localhost', ALPNProtocols: ['x'] });
  log((await once(refused, 'error'))[0].code);
  server.close();`,
  ['body', '/pushed pushed body', 'unknown false', 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'],
);

inside(
  'a session ends although its socket was ended before the first frame',
  `
  const server = http2.createSecureServer({ key, cert, ALPNCallback: ({ protocols }) => protocols[0] });
  server.on('secureConnection', (socket) => {
    log(socket.alpnProtocol);
    socket.end();
    socket.on('close', () => closed.push('socket'));
    server.close();
  });
  const closed = [];
  server.on('close', () => closed.push('server'));
  process.on('exit', () => log(closed.sort().join()));
  const port = await listen(server);
  const client = tls.connect({ port, ca, servername: 'localhost', ALPNProtocols: ['a'] }, () => client.end());
  client.resume();`,
  ['a', 'server,socket'],
);

inside(
  'a client that ends during the handshake sends no alert, and an idle client does not keep a program alive',
  `
  const server = tls.createServer({ key, cert });
  server.on('tlsClientError', ({ code, message }) => log(code, message));
  const port = await listen(server);
  const early = tls.connect({ port, ca, servername: 'localhost' });
  early.on('error', ({ code }) => log('client', code)).on('connect', () => early.end()).resume();
  await once(early, 'close');
  server.close();
  const silent = net.createServer((socket) => socket.unref());
  const request = https.get({ port: await listen(silent) });
  request.on('socket', (socket) => socket.unref()).on('error', () => {});
  silent.unref();`,
  ['ECONNRESET socket hang up'],
);
