// Tests HTTP requests to guest servers in every mode: single and concurrent requests, responses of
// hostile servers, and the end of a server.

import { finished } from 'node:stream/promises';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { codeOf, httpServer, PORT, serve, tcpServer } from './network-helpers.js';

const ECHO = httpServer(`
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    const { method, url, headers } = request;
    response.writeHead(201, 'Made', { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] });
    response.end(JSON.stringify({
      method, url, host: headers.host, own: headers['x-own'], body: Buffer.concat(chunks).toString()
    }));
  });`);

describe.each(MODES)('$name', (mode) => {
  test('sends a request and returns the whole response', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, ECHO);
      const response = await runtime.fetch(PORT, {
        method: 'post',
        path: '/a?b=%C3%BC',
        headers: { 'x-own': 'yes' },
        body: 'größe',
      });
      expect(response).toMatchObject({ status: 201, statusText: 'Made', ok: true });
      expect(response.headers).toMatchObject({ 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] });
      const echoed = { method: 'POST', url: '/a?b=%C3%BC', host: `localhost:${PORT}`, own: 'yes', body: 'größe' };
      expect(response.json()).toEqual(echoed);
      expect(response.body).toBe(JSON.stringify(echoed));
      expect(Buffer.from(response.bodyBytes).toString()).toBe(response.body);
      expect((await runtime.fetch(PORT)).json()).toMatchObject({ method: 'GET', url: '/' });
      expect((await runtime.fetch(PORT, '/path')).json()).toMatchObject({ url: '/path' });
      const request = new Request('http://elsewhere/x?y', { method: 'PUT', body: 'sent', headers: { 'x-own': 'no' } });
      expect((await runtime.fetch(PORT, request)).json()).toMatchObject({ method: 'PUT', url: '/x?y', own: 'no', body: 'sent' });
      async function* pieces(): AsyncGenerator<string> {
        yield 'one ';
        yield 'two';
      }
      expect((await runtime.fetch(PORT, { method: 'POST', body: pieces() })).json()).toMatchObject({ body: 'one two' });
    }));

  test('each of a hundred concurrent requests gets its own response', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, httpServer(`setTimeout(() => response.end(request.url), 5)`));
      const paths = Array.from({ length: 100 }, (_, n) => `/${n}`);
      const responses = await Promise.all(paths.map(async (path) => (await runtime.fetch(PORT, path)).body));
      expect(responses).toEqual(paths);
    }));

  test('endless, large, slow and broken responses are errors, and the next request works', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(
        runtime,
        httpServer(`
          if (request.url === '/endless') {
            const more = () => { while (response.write('x'.repeat(10_000))); };
            response.on('drain', more);
            more();
          } else if (request.url === '/large') response.end('x'.repeat(1_048_577));
          else if (request.url === '/slow') { response.write('x'); setInterval(() => response.write('x'), 10); }
          else if (request.url === '/never') ;
          else if (request.url === '/head') { response.setHeader('x-large', 'x'.repeat(100_000)); response.end(); }
          else if (request.url === '/broken') request.socket.end('HTTP/1.1 200 OK\\r\\ncontent-length: 10\\r\\n\\r\\nshort');
          else if (request.url.startsWith('/status/'))
            request.socket.end('HTTP/1.1 ' + request.url.slice(8) + ' X\\r\\ncontent-length: 2\\r\\n\\r\\nok');
          else if (request.url === '/noise') request.socket.end('not HTTP at all\\r\\n\\r\\n');
          else response.end('fine');`),
      );
      const fetchCode = (path: string, options = {}) => codeOf(runtime.fetch(PORT, { path, ...options }));
      expect(await fetchCode('/endless')).toBe('ERR_RESPONSE_TOO_LARGE');
      expect(await fetchCode('/large')).toBe('ERR_RESPONSE_TOO_LARGE');
      expect((await runtime.fetch(PORT, '/large', { maxResponseBytes: 1_048_577 })).body.length).toBe(1_048_577);
      expect(await fetchCode('/slow', { timeoutMs: 200 })).toBe('ERR_FETCH_TIMEOUT');
      expect(await fetchCode('/never', { timeoutMs: 200 })).toBe('ERR_FETCH_TIMEOUT');
      expect(await fetchCode('/head')).toBe('ERR_RESPONSE_INVALID');
      expect(await fetchCode('/broken')).toBe('ECONNRESET');
      expect(await fetchCode('/noise')).toBe('ERR_RESPONSE_INVALID');
      for (const status of ['000', '099', '101', '1000', '2x0'])
        expect(await fetchCode(`/status/${status}`)).toBe('ERR_RESPONSE_INVALID');
      expect((await runtime.fetch(PORT, '/status/999')).status).toBe(999);
      await expect(runtime.fetch(PORT, '/never', { signal: AbortSignal.timeout(50) })).rejects.toThrow('timeout');
      expect((await runtime.fetch(PORT)).body).toBe('fine');
    }));

  test('a request fails when the server ends within the response or does not exist', () =>
    withRuntime(mode, {}, async (runtime) => {
      expect(await codeOf(runtime.fetch(PORT))).toBe('ECONNREFUSED');
      const server = await serve(
        runtime,
        httpServer(`response.writeHead(200, { 'content-length': 10 }); response.write('half')`),
      );
      const halves = Array.from({ length: 5 }, () => codeOf(runtime.fetch(PORT)));
      const seen = runtime.connect({ port: PORT }).on('error', () => {});
      seen.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      await new Promise((resolve) => seen.once('data', resolve));
      await server.kill('SIGKILL');
      expect(await server.wait()).toBe(137);
      expect(new Set(await Promise.all(halves))).toEqual(new Set(['ECONNRESET']));
      expect(await codeOf(runtime.fetch(PORT))).toBe('ECONNREFUSED');
      await serve(runtime, httpServer(`response.end('again')`));
      expect((await runtime.fetch(PORT)).body).toBe('again');
    }));

  test('dispose() fails requests, connections and waits', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, tcpServer(''));
      const fetching = codeOf(runtime.fetch(PORT));
      const waiting = codeOf(runtime.waitForListener({ port: 9 }));
      const stream = runtime.connect({ port: PORT });
      const failed = new Promise((resolve) => stream.once('error', resolve));
      await new Promise((resolve) => stream.once('connect', resolve));
      await runtime.dispose();
      expect(await failed).toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
      expect([await fetching, await waiting]).toEqual(['ERR_RUNTIME_DISPOSED', 'ERR_RUNTIME_DISPOSED']);
      expect(await codeOf(runtime.fetch(PORT))).toBe('ERR_RUNTIME_DISPOSED');
      expect(() => runtime.connect({ port: PORT })).toThrow('disposed');
    }));

  test('a guest that serves requests has no network outside of its runtime', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(
        runtime,
        httpServer(`
          fetch('http://192.0.2.1/').catch((error) => response.end(error.cause.code));`),
      );
      expect((await runtime.fetch(PORT)).body).toBe('EACCES');
    }));
});

test('requests, connections and waits fail when the sidecar is killed', async () => {
  const sidecar = await Sidecar.spawn();
  const runtime = await NodeRuntime.create({ sidecar });
  try {
    await serve(runtime, tcpServer(''));
    const stream = runtime.connect({ port: PORT });
    await new Promise((resolve) => stream.once('connect', resolve));
    const lost = [finished(stream), runtime.fetch(PORT), runtime.waitForListener({ port: 9 })].map(codeOf);
    process.kill(sidecar.pid, 'SIGKILL');
    expect(await Promise.all(lost)).toEqual(Array(3).fill('ERR_SIDECAR_EXITED'));
    expect(await codeOf(runtime.fetch(PORT))).toBe('ERR_SIDECAR_EXITED');
  } finally {
    await runtime.dispose();
    await sidecar.dispose();
  }
});
