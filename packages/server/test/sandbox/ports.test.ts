// Tests requests to servers in sandboxes, by host names and by headers.

import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import type { Sandbox } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, requestPort, startServer } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startServer();
});
afterAll(() => harness.close());

const PROGRAM = `
const http = require('http');
const server = http.createServer((q, s) => {
  if (q.url === '/events') {
    s.writeHead(200, { 'content-type': 'text/event-stream' });
    s.write('data: one\\n\\n');
    q.on('close', () => {});
    return setTimeout(() => s.end('data: two\\n\\n'), 300);
  }
  let body = '';
  q.on('data', (d) => (body += d)).on('end', () => {
    const { host, 'e2b-traffic-access-token': token } = q.headers;
    s.end(JSON.stringify({ host, method: q.method, url: q.url, body, token }));
  });
});
server.on('upgrade', (q, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: echo\\r\\nConnection: Upgrade\\r\\n\\r\\n');
  socket.on('data', (d) => socket.write('echo ' + d));
});
server.listen(8080, () => console.log('listening'));
`;

async function serve(sandbox: Sandbox): Promise<void> {
  await sandbox.files.write('server.js', PROGRAM);
  await new Promise<void>((resolve, reject) => {
    sandbox.commands.run('node server.js', { background: true, timeoutMs: 0, onStdout: () => resolve() }).catch(reject);
  });
}

test('the host name or two headers reach a server in a sandbox', () =>
  harness.withSandbox(async (sandbox) => {
    await serve(sandbox);
    const host = `8080-${sandbox.sandboxId}.sbx.test`;
    const named = await requestPort(harness, host, { path: '/a?b=1', method: 'POST', body: 'text' });
    expect([named.status, JSON.parse(named.body)]).toEqual([
      200,
      { host: 'localhost:8080', method: 'POST', url: '/a?b=1', body: 'text' },
    ]);
    const headers = { 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': '8080' };
    expect((await requestPort(harness, 'localhost', { headers })).status).toBe(200);
  }));

test('a stream of events arrives in parts, and an upgrade passes bytes both ways', () =>
  harness.withSandbox(async (sandbox) => {
    await serve(sandbox);
    const host = `8080-${sandbox.sandboxId}.sbx.test`;
    const events = request({ host: '127.0.0.1', port: harness.port, path: '/events', headers: { host } }).end();
    const [response] = await once(events, 'response');
    expect(String((await once(response, 'data'))[0])).toBe('data: one\n\n');
    expect(String((await once(response, 'data'))[0])).toBe('data: two\n\n');
    const upgrade = request({
      host: '127.0.0.1',
      port: harness.port,
      headers: { host, connection: 'Upgrade', upgrade: 'echo' },
    }).end();
    const [, socket] = (await once(upgrade, 'upgrade')) as [unknown, Socket];
    socket.write('hello');
    expect(String((await once(socket, 'data'))[0])).toBe('echo hello');
    // The end of the sandbox ends the connection.
    const closed = once(socket, 'close');
    await sandbox.kill();
    await closed;
  }));

test('requests that reach no server have the bodies that clients compare', () =>
  harness.withSandbox(async ({ sandboxId }) => {
    const at = async (host: string, headers = {}) => {
      const { status, body } = await requestPort(harness, host, { headers });
      return [status, JSON.parse(body)];
    };
    expect(await at(`9999-${sandboxId}.sbx.test`)).toEqual([
      502,
      { sandboxId, port: 9999, message: 'The sandbox is running but port is not open', code: 502 },
    ]);
    expect(await at('9999-imissing.sbx.test')).toEqual([
      502,
      { sandboxId: 'imissing', message: 'The sandbox was not found', error_code: 'sandbox_not_found', code: 502 },
    ]);
    expect(await at('localhost', { 'e2b-sandbox-id': 'i/x', 'e2b-sandbox-port': '1' })).toEqual([
      400,
      { message: 'The sandbox id or the port is malformed', code: 400 },
    ]);
  }));

test('a sandbox without public traffic needs its token, which servers do not receive', () =>
  harness.withSandbox(
    async (sandbox) => {
      await serve(sandbox);
      const host = `8080-${sandbox.sandboxId}.sbx.test`;
      const token = sandbox.trafficAccessToken as string;
      expect((await requestPort(harness, host)).status).toBe(403);
      const wrong = await requestPort(harness, host, { headers: { 'e2b-traffic-access-token': 'wrong' } });
      expect([wrong.status, JSON.parse(wrong.body).code]).toEqual([403, 403]);
      const right = await requestPort(harness, host, { headers: { 'E2B-Traffic-Access-Token': token } });
      expect(JSON.parse(right.body)).toEqual({ host: 'own:8080', method: 'GET', url: '/', body: '' });
    },
    { network: { allowPublicTraffic: false, maskRequestHost: 'own:${PORT}' } },
  ));

test('an unused sandbox is paused, and the next request resumes it', async () => {
  const own = await startServer({ idlePauseMs: 300 });
  try {
    await own.withSandbox(
      async (sandbox) => {
        await serve(sandbox);
        // The open stream of the server's command is a use.
        const state = async () => (await own.call('GET', `/sandboxes/${sandbox.sandboxId}`)).body.state;
        await new Promise((resolve) => setTimeout(resolve, 700));
        expect(await state()).toBe('running');
        await sandbox.commands.run('true');
        const [{ pid } = { pid: 0 }] = await sandbox.commands.list();
        expect(pid).toBeGreaterThan(0);
      },
      { lifecycle: { onTimeout: 'pause', autoResume: true } },
    );
    const { body } = await own.call('POST', '/v2/sandboxes', {
      templateID: 'base',
      autoPause: true,
      autoResume: { enabled: true },
    });
    const state = async () => (await own.call('GET', `/sandboxes/${body.sandboxID}`)).body.state;
    await expect.poll(state, { timeout: 5_000 }).toBe('paused');
    const headers = { 'e2b-sandbox-id': body.sandboxID, 'e2b-sandbox-port': '49983' };
    expect((await fetch(`${own.url}/health`, { headers })).status).toBe(204);
    expect(await state()).toBe('running');
  } finally {
    await own.close();
  }
});

test('a request resumes a paused sandbox only if its client wants that', async () => {
  const lifecycle = { onTimeout: 'pause', autoResume: true } as const;
  await harness.withSandbox(
    async (sandbox) => {
      await serve(sandbox);
      await sandbox.pause();
      const host = `8080-${sandbox.sandboxId}.sbx.test`;
      expect((await Promise.all([1, 2, 3].map(() => requestPort(harness, host)))).map(({ status }) => status)).toEqual([
        200, 200, 200,
      ]);
      expect((await sandbox.getInfo()).state).toBe('running');
    },
    { lifecycle },
  );
  await harness.withSandbox(async (sandbox) => {
    await sandbox.pause();
    expect((await requestPort(harness, `8080-${sandbox.sandboxId}.sbx.test`)).status).toBe(502);
  });
});
