// HTTP to guests' servers, in every way to provision a runtime: single requests, many at once, what a hostile server answers, and its end.

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
    response.end(JSON.stringify({ method, url, host: headers.host, own: headers['x-own'], body: Buffer.concat(chunks).toString() }));
  });`);

describe.each(MODES)('$name', (mode) => {
  test('a request goes in and the whole answer comes back', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, ECHO);
      const answer = await runtime.fetch(PORT, {
        method: 'post',
        path: '/a?b=%C3%BC',
        headers: { 'x-own': 'yes' },
        body: 'größe',
      });
      expect(answer).toMatchObject({ status: 201, statusText: 'Made', ok: true });
      expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] });
      const said = { method: 'POST', url: '/a?b=%C3%BC', host: `localhost:${PORT}`, own: 'yes', body: 'größe' };
      expect(answer.json()).toEqual(said);
      expect(answer.body).toBe(JSON.stringify(said));
      expect(Buffer.from(answer.bodyBytes).toString()).toBe(answer.body);
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

  test('a hundred requests at once have each their own answer', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(runtime, httpServer(`setTimeout(() => response.end(request.url), 5)`));
      const paths = Array.from({ length: 100 }, (_, n) => `/${n}`);
      const answers = await Promise.all(paths.map(async (path) => (await runtime.fetch(PORT, path)).body));
      expect(answers).toEqual(paths);
    }));

  test('an endless, a large, a slow and a broken answer are errors, and the next one is none', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(
        runtime,
        httpServer(`
          if (request.url === '/endless') { const more = () => { while (response.write('x'.repeat(10_000))); }; response.on('drain', more); more(); }
          else if (request.url === '/large') response.end('x'.repeat(1_048_577));
          else if (request.url === '/slow') { response.write('x'); setInterval(() => response.write('x'), 10); }
          else if (request.url === '/never') ;
          else if (request.url === '/head') { response.setHeader('x-large', 'x'.repeat(100_000)); response.end(); }
          else if (request.url === '/broken') request.socket.end('HTTP/1.1 200 OK\\r\\ncontent-length: 10\\r\\n\\r\\nshort');
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
      await expect(runtime.fetch(PORT, '/never', { signal: AbortSignal.timeout(50) })).rejects.toThrow('timeout');
      expect((await runtime.fetch(PORT)).body).toBe('fine');
    }));

  test('a server that ends in the middle of an answer is an error, and so is one that is not there', () =>
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

  test('the runtime takes requests, connections and waits with it', () =>
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

  test('nothing of this gives a guest a way out', () =>
    withRuntime(mode, {}, async (runtime) => {
      await serve(
        runtime,
        httpServer(`
          fetch('http://192.0.2.1/').catch((error) => response.end(error.cause.code));`),
      );
      expect((await runtime.fetch(PORT)).body).toBe('EACCES');
    }));
});

test('a sidecar that is killed takes requests, connections and waits with it', async () => {
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
