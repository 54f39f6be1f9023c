// The HTTP server of the tests of HTTP clients and of clients of models. The server never waits for
// a time: it holds a response until the client's next request arrives. Next: clients.mjs.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { WebSocketServer } from '../../../npm-clients/packages.mjs';

const COMPRESS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };
const TEXT = 'compressible text '.repeat(10_000);
const COUNT = ['one', ' two', ' three', ' four', ' five'];

// Waits for events that may have occurred before.
class Counter {
  #count = 0;
  #waiting = [];

  add() {
    const first = this.#waiting.shift();
    if (first === undefined) this.#count++;
    else first();
  }

  take() {
    if (this.#count === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#count--;
  }

  clear() {
    this.#count = 0;
  }
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function pattern(length) {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at++) bytes[at] = (at * 31 + (at >> 8)) & 0xff;
  return bytes;
}

function sendJson(response, value, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/**
 * Starts the server, with TLS if `tls` has a key and a certificate. Clients of models must send the
 * key `apiKey`. Returns the port, and `close`.
 */
export async function startHttpServer({ tls, apiKey = 'placeholder' } = {}) {
  const started = new Counter();
  const aborted = new Counter();
  const next = new Counter();
  const connections = new WeakMap();
  const transports = new Map();
  let connectionCount = 0;
  let failures = 0;
  let resets = 0;

  async function sendEvents(response, events) {
    next.clear();
    response.on('close', () => response.writableFinished || aborted.add());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [at, event] of events.entries()) {
      if (at > 0) await next.take();
      response.write(event);
    }
    response.end();
  }

  // Resets the TCP connection, also below TLS.
  const reset = ({ socket }) => transports.get(socket.remotePort).resetAndDestroy() && true;

  // Resets the connection of the first such request.
  const isReset = (request, body) => body.includes('reset-once') && resets++ === 0 && reset(request);

  const isUnauthorized = ({ headers }, body) =>
    body.includes('unauthorized') || (headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', '')) !== apiKey;

  async function openai(request, response, body) {
    if (request.url.endsWith('/files')) return sendJson(response, { id: 'file', bytes: body.length });
    if (isUnauthorized(request, body)) return sendJson(response, { error: { message: 'wrong key' } }, 401);
    if (isReset(request, body)) return;
    const chunk = (delta) => ({ id: 'id', object: 'chat.completion.chunk', choices: [{ index: 0, delta }] });
    if (JSON.parse(body).stream !== true) {
      return sendJson(response, { id: 'id', choices: [{ index: 0, message: { role: 'assistant', content: COUNT.join('') } }] });
    }
    const events = COUNT.map((content) => `data: ${JSON.stringify(chunk({ content }))}\n\n`);
    await sendEvents(response, [...events, 'data: [DONE]\n\n']);
  }

  async function anthropic(request, response, body) {
    if (isUnauthorized(request, body)) return sendJson(response, { type: 'error', error: { message: 'wrong key' } }, 401);
    if (isReset(request, body)) return;
    const message = {
      id: 'id',
      type: 'message',
      role: 'assistant',
      model: 'model',
      usage: { input_tokens: 1, output_tokens: 5 },
    };
    const content = [{ type: 'text', text: COUNT.join('') }];
    if (JSON.parse(body).stream !== true) return sendJson(response, { ...message, content, stop_reason: 'end_turn' });
    const events = [
      { type: 'message_start', message: { ...message, content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...COUNT.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ];
    await sendEvents(
      response,
      events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    );
  }

  const routes = {
    '/json': (request, response) => sendJson(response, { method: request.method, url: request.url }),
    '/redirect': (_request, response) => response.writeHead(302, { location: '/json?redirected' }).end('moved'),
    '/encoded': (request, response) => {
      const encoding = request.headers['accept-encoding'];
      response.writeHead(200, { 'content-encoding': encoding }).end(COMPRESS[encoding](TEXT));
    },
    '/large': (_request, response, { searchParams }) => response.end(pattern(Number(searchParams.get('bytes')))),
    '/digest': async (request, response) =>
      response.end(
        createHash('sha256')
          .update(await bodyOf(request))
          .digest('hex')
          .slice(0, 16),
      ),
    '/echo': async (request, response) => {
      response.setHeader('content-type', request.headers['content-type']);
      response.end(await bodyOf(request));
    },
    '/status/404': (_request, response) => response.writeHead(404).end('nothing here'),
    '/fail-twice': (_request, response) => response.writeHead(failures++ < 2 ? 503 : 200).end('at last'),
    '/trailers': (_request, response) => {
      response.writeHead(200, { trailer: 'x-checksum' });
      response.write('body');
      response.addTrailers({ 'x-checksum': '42' });
      response.end();
    },
    '/never': (_request, response) => {
      started.add();
      response.on('close', () => aborted.add());
    },
    '/until-never': async (_request, response) => response.end(`${await started.take()}`),
    '/until-aborted': async (_request, response) => response.end(`${await aborted.take()}`),
    '/reset': reset,
    '/reset-body': (request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('part', () => reset(request));
    },
    '/malformed': (request) => request.socket.end('HTTP/1.1 200 OK\r\nbad header\r\n\r\n'),
    '/events': (_request, response, { searchParams }) => {
      const count = Number(searchParams.get('to'));
      return sendEvents(
        response,
        Array.from({ length: count }, (_, n) => `id: ${n}\ndata: event ${n}\n\n`),
      );
    },
    '/next': (_request, response) => {
      next.add();
      response.end();
    },
  };

  const serve = async (request, response) => {
    if (!connections.has(request.socket)) connections.set(request.socket, ++connectionCount);
    response.setHeader('x-connection', `${connections.get(request.socket)}`);
    response.on('error', () => {});
    const url = new URL(request.url, 'http://server');
    if (url.pathname.startsWith('/openai/')) return openai(request, response, await bodyOf(request));
    if (url.pathname.startsWith('/anthropic/')) return anthropic(request, response, await bodyOf(request));
    const route = routes[url.pathname];
    if (route === undefined) return response.writeHead(404).end();
    await route(request, response, url);
  };
  const options = { keepAliveTimeout: 60_000, ...tls };
  const server = tls === undefined ? createServer(options, serve) : createSecureServer(options, serve);
  server.on('connection', (socket) => transports.set(socket.remotePort, socket) && socket.on('error', () => {}));
  server.on('secureConnection', (socket) => socket.on('error', () => {}));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })));
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const close = () =>
    new Promise((resolve) => {
      sockets.close();
      server.close(resolve);
      server.closeAllConnections();
    });
  return { port: server.address().port, close };
}
