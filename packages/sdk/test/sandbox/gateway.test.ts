// Tests the gateway with a real server, real clients, and servers in a runtime.

import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, type GatewayOptions, NodeRuntime } from '../../src/index.js';
import { httpServer, PORT, serve, tcpServer, textOf } from './network-helpers.js';

const DOMAIN = 'sandbox.test';
const HOST = `${PORT}-one.${DOMAIN}`;

interface Reply {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  trailers: IncomingMessage['trailers'];
  body: string;
}

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string | string[]>;
  body?: string | undefined;
}

async function withGateway<T>(options: GatewayOptions, work: (port: number) => Promise<T>): Promise<T> {
  const domain = options.target === undefined ? DOMAIN : undefined;
  const { request: onRequest, upgrade } = createGateway({ domain, ...options });
  const server: Server = createServer(onRequest).on('upgrade', upgrade);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
}

async function begin(port: number, { method = 'GET', path = '/', headers = {}, body }: Sent = {}): Promise<IncomingMessage> {
  const sent = request({ port, host: '127.0.0.1', method, path, headers: { host: HOST, ...headers } });
  sent.end(body);
  return (await once(sent, 'response'))[0];
}

async function send(port: number, sent: Sent = {}): Promise<Reply> {
  const response = await begin(port, sent);
  const body = await textOf(response);
  return { status: response.statusCode, headers: response.headers, trailers: response.trailers, body };
}

/** Sends bytes and returns everything that is received until the end. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(bytes);
  return textOf(socket);
}

const ECHO = httpServer(`
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
    const { method, url, rawHeaders } = request;
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    response.setHeader('x-hop', 'of the connection');
    response.setHeader('connection', 'close, x-hop');
    response.statusCode = 201;
    response.statusMessage = 'Made';
    response.end(JSON.stringify({ method, url, rawHeaders, body: Buffer.concat(chunks).toString() }));
  });`);

/** Returns the values of a header in the guest. */
const seen = ({ body }: Reply, name: string): string[] => {
  const { rawHeaders } = JSON.parse(body) as { rawHeaders: string[] };
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
};

describe('a gateway', () => {
  let runtime: NodeRuntime;
  const resolve = (id: string) => (id === 'one' ? runtime : undefined);

  beforeAll(async () => {
    runtime = await NodeRuntime.create();
    await serve(runtime, ECHO);
  });
  afterAll(() => runtime.dispose());

  test('forwards requests with a body, and responses with all values of a header', () =>
    withGateway({ resolve }, async (port) => {
      const reply = await send(port, { method: 'PUT', path: '/a?b=%20', headers: { 'x-own': ['1', '2'] }, body: 'text' });
      expect(reply).toMatchObject({ status: 201, headers: { 'set-cookie': ['a=1', 'b=2'] } });
      expect(reply.headers['x-hop']).toBeUndefined();
      expect(JSON.parse(reply.body)).toMatchObject({ method: 'PUT', url: '/a?b=%20', body: 'text' });
      expect(seen(reply, 'x-own')).toEqual(['1', '2']);
      const chunked = await send(port, { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body: 'chunk' });
      expect([JSON.parse(chunked.body).body, seen(chunked, 'content-length')]).toEqual(['chunk', []]);
      const empty = await send(port, { method: 'POST' });
      expect([JSON.parse(empty.body).body, seen(empty, 'content-length')]).toEqual(['', ['0']]);
      const head = await send(port, { method: 'HEAD' });
      expect([head.status, head.body]).toEqual([201, '']);
    }));

  test('the guest receives the addresses of the client from the gateway alone', () =>
    withGateway({ resolve }, async (port) => {
      const forged = { 'x-forwarded-for': '8.8.8.8', 'x-forwarded-user': 'root', forwarded: 'for=8.8.8.8', te: 'trailers' };
      const reply = await send(port, { headers: { ...forged, connection: 'close, x-gone', 'x-gone': '1' } });
      const names = ['host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-user', 'forwarded', 'te'];
      expect(names.map((name) => seen(reply, name))).toEqual([
        [`localhost:${PORT}`],
        ['127.0.0.1'],
        [HOST],
        ['http'],
        [],
        [],
        [],
      ]);
      expect(seen(reply, 'x-gone')).toEqual([]);
    }));

  test('requestHost replaces the host that the guest receives', () =>
    withGateway({ resolve, requestHost: 'app.test:PORT' }, async (port) => {
      expect(seen(await send(port), 'host')).toEqual([`app.test:${PORT}`]);
    }));

  test('the app names the targets, the hosts and the responses to refused requests', () => {
    const target: GatewayOptions['target'] = ({ headers }) =>
      headers['x-id'] === undefined ? undefined : { id: String(headers['x-id']), port: Number(headers['x-port']) };
    const refusal: GatewayOptions['refusal'] = ({ reason, port, sandbox }) => ({
      status: 502,
      body: JSON.stringify({ reason, port, sandbox }),
    });
    const requestHost: GatewayOptions['requestHost'] = ({ id }) => (id === 'one' ? 'own.test:PORT' : undefined);
    return withGateway({ resolve, target, refusal, requestHost }, async (port) => {
      const to = (id: string, at = PORT) => ({ headers: { host: 'any.host', 'x-id': id, 'x-port': String(at) } });
      expect(seen(await send(port, to('one')), 'host')).toEqual([`own.test:${PORT}`]);
      for (const [sent, facts] of [
        [to('two'), { reason: 'not-found', port: PORT, sandbox: 'two' }],
        [to('one', 9), { reason: 'not-listening', port: 9, sandbox: 'one' }],
        [{}, { reason: 'host' }],
      ] as const) {
        const reply = await send(port, sent);
        expect([reply.status, JSON.parse(reply.body)]).toEqual([502, facts]);
      }
      const upgrade = await raw(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
      expect(upgrade).toMatch(/^HTTP\/1\.1 502 [\s\S]*{"reason":"host"}$/);
    });
  });

  test('a token is necessary, is checked for the id, and does not reach the guest', async () => {
    await withGateway({ resolve, token: 'secret' }, async (port) => {
      const wrong: Record<string, string | string[]>[] = [
        {},
        { 'coldframe-token': 'other' },
        { 'coldframe-token': ['secret', 'secret'] },
      ];
      for (const headers of wrong) {
        const { status, body } = await send(port, { headers });
        expect([status, JSON.parse(body)]).toEqual([403, expect.objectContaining({ code: 'ERR_GATEWAY', reason: 'token' })]);
      }
      const reply = await send(port, { headers: { 'coldframe-token': 'secret' } });
      expect([reply.status, seen(reply, 'coldframe-token')]).toEqual([201, []]);
    });
    await withGateway({ resolve, token: async (id) => (id === 'one' ? undefined : 'secret') }, async (port) => {
      expect((await send(port)).status).toBe(201);
      expect((await send(port, { headers: { host: `${PORT}-two.${DOMAIN}` } })).status).toBe(403);
    });
  });

  test('requests that reach no guest have the status and the reason as JSON', () =>
    withGateway({ resolve }, async (port) => {
      const refused = async (sent: Sent): Promise<unknown[]> => {
        const { status, body, headers } = await send(port, sent);
        expect(headers['content-type']).toBe('application/json');
        const { code, reason, sandbox, port: named } = JSON.parse(body);
        return [status, code, reason, sandbox, named];
      };
      const host = (name: string): Sent => ({ headers: { host: name } });
      expect(await refused(host(DOMAIN))).toEqual([400, 'ERR_GATEWAY', 'host', undefined, undefined]);
      expect(await refused(host(`${PORT}-two.${DOMAIN}`))).toEqual([404, 'ERR_GATEWAY', 'not-found', 'two', PORT]);
      expect(await refused(host(`1-one.${DOMAIN}`))).toEqual([502, 'ERR_GATEWAY', 'not-listening', 'one', 1]);
      expect(await refused({ path: 'http://other.test/' })).toEqual([400, 'ERR_GATEWAY', 'target', 'one', PORT]);
      const twice = await raw(port, `GET / HTTP/1.1\r\nHost: ${HOST}\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
      expect(twice).toMatch(/^HTTP\/1.1 400 /);
    }));

  test('errors of the functions of the app are reported to the app alone', async () => {
    const errors: unknown[] = [];
    const failing = {
      resolve: () => Promise.reject(new Error('the database is away')),
      onError: (error: unknown) => void errors.push(error),
    };
    await withGateway(failing, async (port) => {
      const { status, body } = await send(port);
      expect([status, body.includes('database')]).toEqual([502, false]);
      expect(errors).toEqual([new Error('the database is away')]);
    });
  });

  test('an ended runtime is unavailable', async () => {
    const ended = await NodeRuntime.create();
    await ended.dispose();
    await withGateway({ resolve: () => ended }, async (port) => {
      const { status, body } = await send(port);
      expect([status, JSON.parse(body).reason]).toEqual([502, 'unavailable']);
    });
  });

  test('parts of a response arrive at once, and a client that leaves ends the request of the guest', async () => {
    await serve(
      runtime,
      httpServer(
        `response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: first\\n\\n');
        request.socket.on('close', () => http.createServer().listen(4001));`,
        4000,
      ),
      4000,
    );
    await withGateway({ resolve }, async (port) => {
      const response = await begin(port, { headers: { host: `4000-one.${DOMAIN}`, accept: 'text/event-stream' } });
      const [first] = await once(response, 'data');
      expect(String(first)).toBe('data: first\n\n');
      response.destroy();
      await runtime.waitForListener({ port: 4001 });
    });
  });

  test('trailers are passed on, and a response that is not complete ends the connection', async () => {
    await serve(
      runtime,
      httpServer(
        `if (request.url === '/cut') { response.write('part'); setTimeout(() => response.destroy(), 10); return; }
        response.setHeader('trailer', 'x-sum');
        response.write('body');
        response.addTrailers({ 'x-sum': '42' });
        response.end();`,
        5000,
      ),
      5000,
    );
    await withGateway({ resolve }, async (port) => {
      const headers = { host: `5000-one.${DOMAIN}` };
      expect(await send(port, { headers })).toMatchObject({ status: 200, body: 'body', trailers: { 'x-sum': '42' } });
      await expect(send(port, { headers, path: '/cut' })).rejects.toMatchObject({ code: 'ECONNRESET' });
    });
  });

  test.each([
    ['is not HTTP', `socket.end('no http')`, 'response', 502],
    ['closes', 'socket.end()', 'response', 502],
    ['has the status 000', `socket.end('HTTP/1.1 000 None\\r\\n\\r\\n')`, 'response', 502],
    [
      'upgrades a request without an upgrade',
      `socket.write('HTTP/1.1 101 S\\r\\nConnection: upgrade\\r\\nUpgrade: x\\r\\n\\r\\n')`,
      'response',
      502,
    ],
    ['says nothing', 'socket.resume()', 'timeout', 504],
  ])('a response that %s is refused', async (_, handler, reason, status) => {
    const other = await NodeRuntime.create();
    await serve(other, tcpServer(handler));
    await withGateway({ resolve: () => other, headTimeoutMs: 500 }, async (port) => {
      const reply = await send(port);
      expect([reply.status, JSON.parse(reply.body).reason]).toEqual([status, reason]);
    });
    await other.dispose();
  });

  describe('an upgrade', () => {
    const HANDSHAKE = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'];
    const upgradeOf = (host: string, lines = HANDSHAKE): string =>
      `GET /ws HTTP/1.1\r\nHost: ${host}\r\n${lines.join('\r\n')}\r\n\r\n`;

    test('passes the bytes of both sides, also the first bytes', async () => {
      const other = await NodeRuntime.create();
      await serve(
        other,
        `import http from 'node:http';
        http.createServer().on('upgrade', (request, socket, head) => {
          const head101 = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket', '', 'hello '];
          socket.write(head101.join('\\r\\n') + request.headers.host);
          if (head.length > 0) socket.write(head);
          socket.pipe(socket);
        }).listen(${PORT});`,
      );
      await withGateway({ resolve: () => other }, async (port) => {
        const text = await raw(port, `${upgradeOf(HOST)}early`);
        expect(text).toMatch(/^HTTP\/1.1 101 Switching Protocols\r\n/);
        expect(text.toLowerCase()).toContain('upgrade: websocket\r\n');
        expect(text).toMatch(new RegExp(`\r\n\r\nhello localhost:${PORT}early$`));
      });
      await other.dispose();
    });

    test('that the guest refuses has the response of the guest', () =>
      withGateway({ resolve }, async (port) => {
        const text = await raw(port, upgradeOf(HOST));
        expect(text).toMatch(/^HTTP\/1.1 201 Made\r\nConnection: close\r\n/);
        expect(text).toContain('"url":"/ws"');
      }));

    test('that reaches no guest has the status and the reason as JSON', () =>
      withGateway({ resolve, token: (id) => (id === 'locked' ? 'secret' : undefined) }, async (port) => {
        const reasonOf = async (bytes: string): Promise<string> => {
          const text = await raw(port, bytes);
          return `${text.slice(9, 12)} ${JSON.parse(text.slice(text.indexOf('\r\n\r\n'))).reason}`;
        };
        expect(await reasonOf(upgradeOf(DOMAIN))).toBe('400 host');
        expect(await reasonOf(upgradeOf(`${PORT}-locked.${DOMAIN}`))).toBe('403 token');
        expect(await reasonOf(upgradeOf(`${PORT}-two.${DOMAIN}`))).toBe('404 not-found');
        expect(await reasonOf(upgradeOf(`1-one.${DOMAIN}`))).toBe('502 not-listening');
        expect(await reasonOf(`${upgradeOf(HOST, [...HANDSHAKE, 'Content-Length: 4'])}body`)).toBe('400 target');
      }));
  });

  test('the first request after a rollback reaches the restored server', async () => {
    const other = await NodeRuntime.create();
    await serve(other, httpServer(`globalThis.count = (globalThis.count ?? 0) + 1; response.end(String(count));`));
    await withGateway({ resolve: () => other }, async (port) => {
      expect((await send(port)).body).toBe('1');
      const snapshot = await other.snapshot();
      expect((await send(port)).body).toBe('2');
      await other.rollback(snapshot);
      expect((await send(port)).body).toBe('2');
    });
    await other.dispose();
  });

  test('requests share a connection until a rollback, and requests to an object that only connects do not', async () => {
    const other = await NodeRuntime.create();
    const count = `request.socket.requests = (request.socket.requests ?? 0) + 1; response.end(String(request.socket.requests));`;
    await serve(other, httpServer(count));
    const bodies = async (port: number) => [(await send(port)).body, (await send(port)).body];
    await withGateway({ resolve: () => other }, async (port) => {
      expect(await bodies(port)).toEqual(['1', '2']);
      const snapshot = await other.snapshot();
      expect(await bodies(port)).toEqual(['3', '4']);
      await other.rollback(snapshot);
      expect(await bodies(port)).toEqual(['1', '2']);
    });
    const only = { connect: (target: { port: number }) => other.connect(target) };
    await withGateway({ resolve: () => only }, async (port) => expect(await bodies(port)).toEqual(['1', '1']));
    await other.dispose();
  });

  test('a request over a kept connection that the guest closes is sent again', async () => {
    const other = await NodeRuntime.create();
    const closing = `request.socket.requests = (request.socket.requests ?? 0) + 1;
      if (request.socket.requests > 1) request.socket.destroy();
      else response.end(request.method);`;
    await serve(other, httpServer(closing));
    await withGateway({ resolve: () => other }, async (port) => {
      for (const method of ['GET', 'GET', 'POST', 'OPTIONS', 'DELETE']) {
        expect(await send(port, { method })).toMatchObject({ status: 200, body: method });
      }
    });
    await other.dispose();
  });
});

test('refuses wrong options', () => {
  const wrong = (options: object) => () => createGateway(options as GatewayOptions);
  const resolve = () => undefined;
  expect(wrong({ resolve })).toThrow('`domain`');
  expect(wrong({ domain: 'a.test' })).toThrow('`resolve`');
  for (const domain of ['', 'A.test', '.test', 'a..test', '*.a.test', 'a.test.'])
    expect(wrong({ domain, resolve })).toThrow('`domain`');
  expect(wrong({ domain: 'a.test', resolve, token: '' })).toThrow('`token`');
  expect(wrong({ domain: 'a.test', resolve, requestHost: 'a b' })).toThrow('`requestHost`');
  expect(wrong({ domain: 'a.test', target: () => undefined, resolve })).toThrow('`target`');
  expect(wrong({ target: 'a', resolve })).toThrow('`target`');
  expect(wrong({ domain: 'a.test', resolve, refusal: {} })).toThrow('`refusal`');
});
