// Tests the routes besides the basic life of a sandbox: samples, lines, connections, volumes,
// secrets, rollbacks, copies, quotas, events, and the server's own state.

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { RateLimitError, Sandbox, Volume } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, KEY, startServer } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startServer({
    allowPrivateWebhooks: true,
    webhooks: { attempts: 3, firstDelayMs: 20 },
    quotas: { small: { sandboxes: 1, templates: 1, volumes: 1 } },
    apiKeys: [
      { key: KEY, tenant: 'one' },
      { key: 'small', tenant: 'small' },
    ],
    internetAccess: false,
  });
});
afterAll(() => harness.close());

test('samples show the use of a sandbox, and lines its output', () =>
  harness.withSandbox(async (sandbox) => {
    await sandbox.commands.run('echo first; echo second >&2');
    const [sample] = await sandbox.getMetrics();
    expect(sample).toMatchObject({ cpuCount: 1, memTotal: 2 ** 30, diskTotal: 2 ** 30 });
    expect(sample?.memUsed).toBeGreaterThanOrEqual(0);
    expect(sample?.diskUsed).toBeGreaterThanOrEqual(0);
    const day = 24 * 3_600_000;
    expect(await sandbox.getMetrics({ start: new Date(Date.now() - 2 * day), end: new Date(Date.now() - day) })).toEqual([]);
    const { logs } = (await harness.call('GET', `/v2/sandboxes/${sandbox.sandboxId}/logs?level=info`)).body;
    expect(logs.map(({ level, message }: Record<string, string>) => [level, message])).toEqual([
      ['info', 'first'],
      ['warn', 'second'],
    ]);
    const agent = { 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': '49983' };
    const { envdAccessToken: token } = (await harness.call('GET', `/sandboxes/${sandbox.sandboxId}`)).body;
    const metrics = await harness.call('GET', '/metrics', undefined, { ...agent, 'x-access-token': token });
    expect(metrics.body).toMatchObject({ cpu_count: 1, mem_total: 2 ** 30 });
    await sandbox.files.write([
      { path: 'a', data: 'one ' },
      { path: 'b', data: 'two' },
    ]);
    const joined = await harness.call(
      'POST',
      '/files/compose',
      { source_paths: ['a', 'b'], destination: 'c/d' },
      { ...agent, 'x-access-token': token },
    );
    expect([joined.status, joined.body.path, await sandbox.files.read('c/d'), await sandbox.files.exists('a')]).toEqual([
      200,
      '/home/user/c/d',
      'one two',
      false,
    ]);
  }));

test('connections out of a sandbox change while it runs', async () => {
  const service = createServer((request, response) => response.end(String(request.headers['x-own'] ?? 'reached')));
  await once(service.listen(0, '127.0.0.1'), 'listening');
  await harness.withSandbox(async (sandbox) => {
    const put = (body: unknown) => harness.call('PUT', `/sandboxes/${sandbox.sandboxId}/network`, body);
    const codeOf = async (address: string) => {
      const program = `require('net').connect(443, '${address}').on('error', (e) => { console.log(e.code); process.exit() })`;
      return (await sandbox.commands.run(`node -e "${program}"`, { timeoutMs: 20_000 })).stdout.trim();
    };
    expect(await codeOf('203.0.113.7')).toBe('EACCES');
    expect((await put({ allowOut: ['10.0.0.0/8'], denyOut: ['0.0.0.0/0'] })).status).toBe(400);
    expect((await put({ denyOut: ['example.com'] })).status).toBe(400);
    expect((await put({ allowOut: ['example.com'], denyOut: ['0.0.0.0/0'] })).status).toBe(204);
    expect((await put({ allow_internet_access: true, allowOut: ['example.com'] })).status).toBe(400);
    const secret = await harness.call('POST', '/secrets', { name: 'Api-Key', value: 'hidden-value' });
    expect(secret.body).toMatchObject({ name: 'api-key', currentVersion: 1 });
    const rules = { 'example.com': [{ transform: { headers: { authorization: 'Bearer ${e2b.secrets.api-key}' } } }] };
    expect((await put({ allowOut: ['example.com'], denyOut: ['0.0.0.0/0'], rules })).status).toBe(204);
    const unknown = { 'example.com': [{ transform: { headers: { a: '${e2b.secrets.absent}' } } }] };
    expect((await put({ allowOut: ['example.com'], denyOut: ['0.0.0.0/0'], rules: unknown })).status).toBe(404);
    expect((await sandbox.commands.run('echo alive')).stdout).toBe('alive\n');
    const { network, allowInternetAccess } = (await harness.call('GET', `/sandboxes/${sandbox.sandboxId}`)).body;
    expect([network.allowOut, network.rules, allowInternetAccess]).toEqual([['example.com'], rules, null]);
    expect(JSON.stringify(network)).not.toContain('hidden-value');
  });
  service.close();
});

test('files of a volume outlive its sandboxes', async () => {
  const volume = await Volume.create('shared', harness.connection);
  const mounts = { volumeMounts: [{ name: 'shared', path: '/data' }] };
  const { body } = await harness.call('POST', '/v2/sandboxes', { templateID: 'base', ...mounts });
  const first = await Sandbox.connect(body.sandboxID, harness.connection);
  await first.commands.run('mkdir /data/folder && echo kept > /data/folder/file && ln -s folder/file /data/link');
  await first.kill();
  await harness.withSandbox(async (other) => {
    const { token } = (await harness.call('GET', `/volumes/${volume.volumeId}`)).body;
    const content = (method: string, path: string, init: RequestInit = {}) =>
      fetch(`${harness.url}/volumecontent/${volume.volumeId}/${path}`, {
        method,
        ...init,
        headers: { authorization: `Bearer ${token}` },
      });
    expect(await (await content('GET', 'file?path=/folder/file')).text()).toBe('kept\n');
    // A link is never followed.
    expect((await content('GET', 'file?path=/link')).status).toBe(400);
    const written = await content('PUT', 'file?path=new/deep/file&mode=384', { body: 'x'.repeat(200_000) });
    expect([written.status, await written.json()]).toMatchObject([201, { path: '/new/deep/file', size: 200_000, mode: 0o600 }]);
    const entries = (await (await content('GET', 'dir?path=/&depth=2')).json()) as { path: string }[];
    expect(entries.map(({ path }) => path)).toEqual(['/folder', '/folder/file', '/link', '/new', '/new/deep']);
    expect((await content('GET', 'path?path=/../../etc/passwd')).status).toBe(404);
    expect((await content('DELETE', 'path?path=/new')).status).toBe(204);
    expect(other.sandboxId).toBeTruthy();
  });
  await harness.restart();
  const again = await harness.call('POST', '/v2/sandboxes', { templateID: 'base', ...mounts });
  const second = await Sandbox.connect(again.body.sandboxID, harness.connection);
  expect((await second.commands.run('cat /data/link; ls /data')).stdout).toBe('kept\nfolder\nlink\n');
  await second.pause();
  await second.connect();
  expect((await second.commands.run('cat /data/link')).stdout).toBe('kept\n');
  await second.kill();
});

test('a pause without memory keeps the files and their metadata, and no program', () =>
  harness.withSandbox(async (sandbox) => {
    await sandbox.files.write('kept', 'kept', { metadata: { a: 'b' } });
    await sandbox.commands.run('sleep 1000', { background: true, timeoutMs: 0 });
    await sandbox.pause({ keepMemory: false });
    expect((await harness.call('GET', `/sandboxes/${sandbox.sandboxId}`)).body).toMatchObject({
      state: 'paused',
      pauseMode: 'filesystem',
    });
    await harness.restart();
    const resumed = await Sandbox.connect(sandbox.sandboxId, harness.connection);
    expect([await resumed.files.read('kept'), (await resumed.files.getInfo('kept')).metadata]).toEqual(['kept', { a: 'b' }]);
    expect(await resumed.commands.list()).toEqual([]);
  }));

test('a rollback restores files and programs, and copies are independent', () =>
  harness.withSandbox(async (sandbox) => {
    const one = `/sandboxes/${sandbox.sandboxId}`;
    await sandbox.files.write('state', 'before');
    const { snapshotId } = await sandbox.createSnapshot();
    await sandbox.files.write('state', 'after');
    expect((await harness.call('POST', `${one}/rollback`, { snapshotID: snapshotId })).status).toBe(204);
    expect(await sandbox.files.read('state')).toBe('before');
    expect((await harness.call('POST', `${one}/rollback`, { snapshotID: 'missing' })).status).toBe(404);
    const { body } = await harness.call('POST', `${one}/clone`, { count: 3 });
    expect(body).toHaveLength(3);
    for (const { sandbox: copy } of body) {
      const other = await Sandbox.connect(copy.sandboxID, harness.connection);
      expect(await other.files.read('state')).toBe('before');
      await other.kill();
    }
  }));

test('a repeated request with its key returns the first sandbox', async () => {
  const key = { 'idempotency-key': 'once-1' };
  const create = () => harness.call('POST', '/v2/sandboxes', { templateID: 'base' }, key);
  const [first, second] = await Promise.all([create(), create()]);
  expect([first.status, second.body.sandboxID]).toEqual([201, first.body.sandboxID]);
  expect((await create()).body.sandboxID).toBe(first.body.sandboxID);
  expect((await harness.call('DELETE', `/sandboxes/${first.body.sandboxID}-suffix`)).status).toBe(204);
  const gone = await harness.call('GET', `/sandboxes/${first.body.sandboxID}`);
  expect([gone.status, gone.body.message]).toEqual([404, `The sandbox ${first.body.sandboxID} was not found: it was killed`]);
});

test('a tenant cannot exceed its quota', async () => {
  const small = { ...harness.connection, apiKey: 'small' };
  const sandbox = await Sandbox.create(small);
  await expect(Sandbox.create({ ...small, requestTimeoutMs: 500 })).rejects.toThrow();
  const refused = await harness.call('POST', '/v2/sandboxes', { templateID: 'base' }, { 'x-api-key': 'small' });
  expect([refused.status, refused.body.error_code, refused.headers.get('retry-after')]).toEqual([429, 'quota', '1']);
  await expect(sandbox.fork({ requestTimeoutMs: 500 })).rejects.toThrow();
  await sandbox.createSnapshot();
  await expect(sandbox.createSnapshot({ requestTimeoutMs: 5_000 })).rejects.toThrow(RateLimitError);
  await sandbox.kill();
  await (await Sandbox.create(small)).kill();
});

test('events are listed, signed, sent and repeated', async () => {
  const received: { headers: Record<string, unknown>; body: string }[] = [];
  const receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(received.length === 1 ? 500 : 200).end();
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const { port } = receiver.address() as AddressInfo;
  const hook = (
    await harness.call('POST', '/events/webhooks', {
      name: 'hook',
      url: `http://127.0.0.1:${port}/`,
      events: ['sandbox.lifecycle.created', 'sandbox.lifecycle.killed'],
      signatureSecret: 'a secret of some length',
    })
  ).body;
  let id = '';
  await harness.withSandbox(async (sandbox) => {
    id = sandbox.sandboxId;
    await sandbox.setTimeout(100_000);
  });
  await expect.poll(() => received.length).toBe(3);
  const [first, second, third] = received as [(typeof received)[0], (typeof received)[0], (typeof received)[0]];
  expect(second.body).toBe(first.body);
  const { headers, body } = third;
  const expected = createHmac('sha256', 'a secret of some length')
    .update(`${headers['e2b-signature-timestamp']}.${body}`)
    .digest('hex');
  expect([headers['e2b-signature'], headers['e2b-webhook-id']]).toEqual([expected, hook.id]);
  expect(JSON.parse(body)).toMatchObject({
    type: 'sandbox.lifecycle.killed',
    sandboxId: id,
    sandboxTeamId: 'one',
    eventData: { reason: 'killed' },
  });
  const deliveries = (await harness.call('GET', `/events/webhooks/${hook.id}/deliveries`)).body;
  expect(deliveries.map(({ status, attempt }: Record<string, number>) => [status, attempt])).toEqual([
    [200, 1],
    [200, 2],
    [500, 1],
  ]);
  const events = (await harness.call('GET', `/events/sandboxes/${id}?orderAsc=true`)).body;
  expect(events.map(({ type }: Record<string, string>) => type)).toEqual(
    ['created', 'updated', 'killed'].map((name) => `sandbox.lifecycle.${name}`),
  );
  await harness.call('DELETE', `/events/webhooks/${hook.id}`);
  receiver.close();
  const audit = (await readFile(join(harness.directory, 'audit.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(audit.some(({ kind, path, tenant }) => kind === 'request' && path === '/events/webhooks' && tenant === 'one')).toBe(
    true,
  );
  expect(audit.some(({ kind, sandboxId }) => kind === 'event' && sandboxId === id)).toBe(true);
});

test('the server describes its routes, its readiness and its counters', async () => {
  expect((await fetch(`${harness.url}/ready`)).status).toBe(204);
  const { openapi, paths } = (await harness.call('GET', '/openapi.json')).body;
  expect([openapi, Object.keys(paths).length > 40]).toEqual(['3.0.3', true]);
  const response = await fetch(`${harness.url}/metrics`, { headers: { 'x-api-key': KEY } });
  const lines = (await response.text()).split('\n');
  expect(response.headers.get('content-type')).toContain('application/openmetrics-text');
  expect(lines.at(-2)).toBe('# EOF');
  expect(
    lines.some((line) => line.startsWith('coldframe_requests_total{method="POST",route="/v2/sandboxes",status="201"}')),
  ).toBe(true);
});

test('a probe waits until a server is ready', () =>
  harness.withSandbox(async (sandbox) => {
    const path = `/sandboxes/${sandbox.sandboxId}/probe`;
    const refused = await harness.call('POST', path, { port: 8080, timeout: 0 });
    expect([refused.status, refused.body.error_code]).toEqual([504, 'not_ready']);
    const ready = harness.call('POST', path, { port: 8080, path: '/health', timeout: 60 });
    // The server answers the first two requests with the status 503.
    const code = `let n = 0; require('node:http').createServer((request, reply) => {
      reply.statusCode = request.url === '/health' && n++ > 1 ? 200 : 503; reply.end(); }).listen(8080)`;
    await sandbox.files.write('server.js', code);
    await sandbox.commands.run('node server.js', { background: true, timeoutMs: 0 });
    expect((await ready).status).toBe(204);
    const missing = await harness.call('POST', path, { port: 8080, path: '/other', timeout: 1 });
    expect([missing.status, missing.body.message]).toEqual([
      504,
      'The server is not ready after 1000 ms: GET /other at port 8080 has the status 503',
    ]);
    expect((await harness.call('POST', path, { port: 0 })).status).toBe(400);
  }));

test('a call for another epoch of a sandbox changes nothing', () =>
  harness.withSandbox(async ({ sandboxId }) => {
    const path = `/sandboxes/${sandboxId}`;
    const { epoch } = (await harness.call('GET', path)).body;
    const late = await harness.call('DELETE', path, undefined, { 'expect-epoch': String(epoch - 1) });
    expect([late.status, late.body.error_code]).toEqual([409, 'wrong_epoch']);
    const kept = await harness.call('GET', path, undefined, { 'expect-epoch': String(epoch) });
    expect([kept.status, kept.body.state]).toEqual([200, 'running']);
  }));

test('a probe ends with its sandbox', () =>
  harness.withSandbox(async ({ sandboxId }) => {
    const path = `/sandboxes/${sandboxId}`;
    const paused = harness.call('POST', `${path}/probe`, { port: 8080, timeout: 60 });
    // The calls are handled in turn.
    await harness.call('GET', path);
    await harness.call('POST', `${path}/pause`);
    const { status, body } = await paused;
    expect([status, body.error_code]).toEqual([409, 'not_running']);
  }));
