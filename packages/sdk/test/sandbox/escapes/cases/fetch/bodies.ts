// Sends bodies that have a wrong length, never end, or belong to another response.

import { createServer } from 'node:net';
import { join } from 'node:path';
import type { EscapeCase } from '../../harness/case.js';
import { codeOf, hostile, outcome, PORT, serve, withHostServer } from './server.js';

const chunked = (name: string, chunks: string, expected: string, show?: Parameters<typeof hostile>[3]): EscapeCase =>
  hostile(name, `socket.end(HEAD + 'transfer-encoding: chunked\\r\\n\\r\\n' + ${chunks});`, expected, show);

export const bodies: EscapeCase[] = [
  chunked('a chunk of more than 64 bits is an error', `'fffffffffffffffff\\r\\nhi'`, 'ERR_RESPONSE_INVALID'),
  chunked('a chunk of 64 bits is an error', `'ffffffffffffffff\\r\\nhi'`, 'ECONNRESET'),
  chunked('a negative chunk is an error', `'-1\\r\\nhi\\r\\n0\\r\\n\\r\\n'`, 'ERR_RESPONSE_INVALID'),
  chunked('a chunk with a prefix is an error', `'0x2\\r\\nhi\\r\\n0\\r\\n\\r\\n'`, 'ERR_RESPONSE_INVALID'),
  chunked('an empty size of a chunk is an error', `'\\r\\nhi\\r\\n0\\r\\n\\r\\n'`, 'ERR_RESPONSE_INVALID'),
  chunked('a chunk that is longer than its size is an error', `'1\\r\\nhi\\r\\n0\\r\\n\\r\\n'`, 'ERR_RESPONSE_INVALID'),
  chunked(
    'an extension of a chunk is not part of the body',
    `'2;evil="' + 'x'.repeat(8000) + '"\\r\\nhi\\r\\n0\\r\\n\\r\\n'`,
    '200 hi',
  ),
  chunked(
    'trailers do not become headers',
    `'2\\r\\nhi\\r\\n0\\r\\nset-cookie: evil=1\\r\\ncontent-length: 999\\r\\n\\r\\n'`,
    'ERR_RESPONSE_INVALID',
    ({ body, headers }) => `${body} ${headers['set-cookie']} ${headers['content-length']}`,
  ),
  chunked(
    'a flood of trailers is an error',
    `'2\\r\\nhi\\r\\n0\\r\\n' + 'a: b\\r\\n'.repeat(100000) + '\\r\\n'`,
    'ERR_RESPONSE_INVALID',
  ),
  hostile('a body shorter than its length is an error', `socket.end(HEAD + 'content-length: 100\\r\\n\\r\\nhi');`, 'ECONNRESET'),
  hostile(
    'bytes behind the body do not become part of the body',
    `socket.end(HEAD + 'content-length: 2\\r\\n\\r\\nhi and more');`,
    '200 hi',
  ),
  hostile(
    'two lengths are an error',
    `socket.end(HEAD + 'content-length: 2\\r\\ncontent-length: 5\\r\\n\\r\\nhello');`,
    'ERR_RESPONSE_INVALID',
  ),
  hostile('a list of lengths is an error', `socket.end(HEAD + 'content-length: 2, 5\\r\\n\\r\\nhello');`, 'ERR_RESPONSE_INVALID'),
  hostile(
    'a length beside chunks is an error',
    `socket.end(HEAD + 'content-length: 5\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n2\\r\\nhi\\r\\n0\\r\\n\\r\\n');`,
    'ERR_RESPONSE_INVALID',
  ),
  ...['-1', '1e1', '0x2', '99999999999999999999', '+2', '2.0', ' ', 'NaN'].map((length) =>
    hostile(
      `a length ${JSON.stringify(length)} is an error`,
      `socket.end(HEAD + 'content-length: ${length}\\r\\n\\r\\nhi');`,
      'ERR_RESPONSE_INVALID',
    ),
  ),
  hostile(
    'an unknown transfer encoding is not decoded',
    `socket.end(HEAD + 'transfer-encoding: gzip, evil\\r\\n\\r\\nhi');`,
    '200 hi',
  ),
  hostile(
    'an announced body beyond the limit is refused',
    `socket.write(HEAD + 'content-length: 1000000000\\r\\n\\r\\n');`,
    'ERR_RESPONSE_TOO_LARGE',
  ),
  hostile(
    'an endless body is refused',
    `for (socket.write(HEAD + '\\r\\n'); !socket.destroyed; ) await drained(socket, Buffer.alloc(65536));`,
    'ERR_RESPONSE_TOO_LARGE',
  ),
  hostile(
    'endless chunks are refused',
    `for (socket.write(HEAD + 'transfer-encoding: chunked\\r\\n\\r\\n'); !socket.destroyed; ) await drained(socket,
'1\\r\\nx\\r\\n'.repeat(4000));`,
    'ERR_RESPONSE_TOO_LARGE',
  ),
  hostile(
    'a slow body ends at the timeout',
    `for (socket.write(HEAD + 'content-length: 1000\\r\\n\\r\\n'); !socket.destroyed; await sleep(20)) socket.write('x');`,
    'ERR_FETCH_TIMEOUT',
    undefined,
    { timeoutMs: 300 },
  ),
  hostile('a silent server ends at the timeout', `await sleep(60000);`, 'ERR_FETCH_TIMEOUT', undefined, { timeoutMs: 200 }),
  hostile(
    'a compressed body is not decompressed',
    `const bomb = (await import('node:zlib')).gzipSync(Buffer.alloc(20 << 20)); socket.end(Buffer.concat([Buffer.from(HEAD +
'content-encoding: gzip\\r\\ncontent-length: ' + bomb.length + '\\r\\n\\r\\n'), bomb]));`,
    'true',
    ({ bodyBytes }) => bodyBytes.length < 100_000,
  ),
  hostile(
    'a reset during the body is an error',
    `await drained(socket, HEAD + 'content-length: 100\\r\\n\\r\\nhi'); socket.resetAndDestroy();`,
    'ECONNRESET',
  ),
  hostile(
    'JSON of the body does not reach prototypes',
    `const body = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
socket.end(HEAD + 'content-length: ' + body.length + '\\r\\n\\r\\n' + body);`,
    'undefined undefined',
    (response) => `${(response.json() as { polluted?: number }).polluted} ${({} as { polluted?: unknown }).polluted}`,
  ),
  {
    name: 'fetch: a redirect is not followed to the host machine',
    attack: (runtime) =>
      withHostServer(async (port, connections) => {
        await serve(
          runtime,
          `
const at = ['http://127.0.0.1:${port}/', '//127.0.0.1:${port}/', 'file:///etc/passwd',
'http://169.254.169.254/'][Number(request[5])];
socket.end('HTTP/1.1 302 Found\\r\\nlocation: ' + at + '\\r\\nrefresh: 0; url=' + at +
'\\r\\nalt-svc: h2="127.0.0.1:${port}"\\r\\ncontent-length: 0\\r\\n\\r\\n');`,
        );
        const states = [];
        for (const n of [0, 1, 2, 3]) states.push(await outcome(runtime, ({ status }) => status, { path: `/${n}` }));
        return `${states} ${connections()}`;
      }),
    expected: '302,302,302,302 0',
  },
  {
    name: 'fetch: a second response on a connection does not answer the next request',
    attack: async (runtime) => {
      await serve(
        runtime,
        `
const reply = (text) => HEAD + 'content-length: ' + text.length + '\\r\\n\\r\\n' + text;
const of = (data) => String(data).split(' ')[1];
socket.write(reply('for ' + of(request)) + reply('poison'));
socket.on('data', (data) => socket.write(reply('for ' + of(data)) + reply('poison')));`,
      );
      const seen = [];
      for (let n = 0; n < 10; n++) seen.push(await outcome(runtime, ({ body }) => body === `for /${n}`, { path: `/${n}` }));
      return [...new Set(seen)].sort().join();
    },
    expected: 'true',
  },
  {
    name: 'fetch: a body of a response without a body does not answer the next request',
    attack: async (runtime) => {
      await serve(
        runtime,
        `
const evil = 'HTTP/1.1 200 OK\\r\\ncontent-length: 6\\r\\n\\r\\npoison';
const of = (data) => String(data).split(' ')[1];
const reply = (data) => socket.write(String(data).startsWith('HEAD') || of(data) === '/204' ? 'HTTP/1.1 ' + (of(data)
=== '/204' ? '204' : '200') + ' x\\r\\ncontent-length: ' + evil.length + '\\r\\n\\r\\n' + evil : HEAD +
'content-length: 4\\r\\n\\r\\nreal');
reply(request); socket.on('data', reply);`,
      );
      const seen = [
        await outcome(runtime, ({ body }) => `head ${body}`, { method: 'HEAD' }),
        await outcome(runtime, ({ body }) => `get ${body}`),
        await outcome(runtime, ({ body }) => `204 ${body}`, { path: '/204' }),
        await outcome(runtime, ({ body }) => `get ${body}`),
      ];
      return seen.join();
    },
    expected: 'head ,get real,ERR_RESPONSE_INVALID,get real',
  },
  {
    name: 'fetch: options of the app cannot inject a request',
    attack: async (runtime) => {
      await serve(runtime, `socket.end(HEAD + '\\r\\n' + JSON.stringify(request.split('\\r\\n').length > 8));`);
      const codes = await Promise.all([
        outcome(runtime, ({ body }) => body, { path: '/a b\r\nx-evil: 1' }),
        outcome(runtime, ({ body }) => body, { headers: { 'x\r\ny': '1' } }),
        outcome(runtime, ({ body }) => body, { headers: { x: '1\r\nx-evil: 2' } }),
        outcome(runtime, ({ body }) => body, { method: 'GET / HTTP/1.1\r\nx-evil: 1\r\n\r\nGET' }),
        outcome(runtime, ({ body }) => body, { path: 'http://169.254.169.254/' }),
      ]);
      return codes.join();
    },
    expected: 'ERR_INVALID_OPTION,ERR_INVALID_OPTION,ERR_INVALID_OPTION,ERR_INVALID_OPTION,ERR_INVALID_OPTION',
  },
  {
    name: 'fetch: many requests to a server that never replies end with the runtime',
    attack: async (runtime) => {
      await serve(runtime, ``);
      const all = Array.from({ length: 200 }, () => outcome(runtime, ({ status }) => status));
      await runtime.dispose();
      return [...new Set(await Promise.all(all))].join();
    },
    expected: 'ERR_RUNTIME_DISPOSED',
  },
  {
    name: 'fetch: a connection of the app passes hostile bytes unchanged',
    attack: async (runtime) => {
      await runtime.spawn(`import net from 'node:net';
net.createServer((socket) => socket.end(Buffer.from(Array.from({ length: 256 }, (_, n) => n)))).listen(${PORT});`);
      await runtime.waitForListener({ port: PORT });
      const chunks: Uint8Array[] = [];
      for await (const chunk of runtime.connect({ port: PORT })) chunks.push(chunk);
      return String(Buffer.concat(chunks).equals(Buffer.from(Array.from({ length: 256 }, (_, n) => n))));
    },
    expected: 'true',
  },
  ...['end(bytes)', 'write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 5))'].map(
    (end): EscapeCase => ({
      name: `fetch: a response that fills the window does not end the app: ${end.slice(0, 5)}`,
      attack: async (runtime) => {
        await serve(runtime, `const bytes = HEAD + '\\r\\n' + 'x'.repeat(400000); socket.${end};`);
        const seen = new Set<string>();
        for (let n = 0; n < 10; n++) seen.add(await outcome(runtime, ({ body }) => body.length <= 400_000));
        const { body } = await runtime.dispatcher(PORT).request({ path: '/', method: 'GET' });
        // The reader is slower than the server, so the parser of the client is paused at the end.
        const read = async (): Promise<void> => {
          for await (const _chunk of body) await new Promise((resolve) => setImmediate(resolve));
        };
        await read().catch(() => {});
        seen.delete('ECONNRESET');
        return [...seen].join();
      },
      expected: /^(true)?$/,
    }),
  ),
  {
    name: 'fetch: connect reaches no socket of the host machine by path',
    attack: async (runtime, { inside }) => {
      const server = createServer();
      const path = join(inside, 's');
      await new Promise<void>((resolve) => server.listen(path, resolve));
      const paths = [path, `/..${path}`, `/proc/self/root${path}`, '/workspace/neighbour.sock', '/m/s'];
      const codes = await Promise.all(
        paths.map(
          (name) =>
            new Promise((resolve) =>
              runtime
                .connect({ path: name })
                .once('error', (error) => resolve(codeOf(error)))
                .once('connect', () => resolve('connected')),
            ),
        ),
      );
      await new Promise((resolve) => server.close(resolve));
      return codes.join();
    },
    options: ({ inside }) => ({ mounts: [{ guestPath: '/m', hostPath: inside }] }),
    expected: 'ENOENT,ENOENT,ENOENT,ENOENT,EACCES',
  },
];
