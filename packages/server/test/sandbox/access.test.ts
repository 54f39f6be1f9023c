// Walks all routes of the server. No route is answered without a key or with the key of another
// tenant. A key of a narrow scope and the token of another sandbox are refused too.

import { Sandbox, Volume } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, KEY, OTHER_KEY, startServer } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startServer({
    apiKeys: [
      { key: KEY, tenant: 'one' },
      { key: OTHER_KEY, tenant: 'two' },
      { key: 'reader', tenant: 'one', scopes: ['read'] },
      { key: 'runner', tenant: 'one', scopes: ['exec'] },
    ],
  });
});
afterAll(() => harness.close());

/** Routes that have no secret and change nothing. */
const OPEN = new Set(['GET /health', 'GET /ready', 'GET /openapi.json']);
/** Bodies that pass the checks of the routes. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /v2/sandboxes': { templateID: 'base' },
  'POST /sandboxes': { templateID: 'base' },
  'POST /sandboxes/{id}/timeout': { timeout: 1 },
  'POST /sandboxes/{id}/resume': { timeout: 1 },
  'POST /sandboxes/{id}/probe': { port: 1 },
  'POST /sandboxes/{id}/rollback': { snapshotID: 'x' },
  'POST /v3/templates': { name: 'x' },
  'POST /v2/templates': { alias: 'x' },
  'POST /templates': { dockerfile: 'FROM node' },
  'POST /templates/{id}': { dockerfile: 'FROM node' },
  'POST /templates/tags': { target: 'x', tags: ['y'] },
  'DELETE /templates/tags': { name: 'x', tags: ['y'] },
  'POST /volumes': { name: 'x' },
  'POST /secrets': { name: 'x', value: 'y' },
  'POST /secrets/{id}': { value: 'y' },
  'POST /events/webhooks': { name: 'x', url: 'https://example.com' },
  'POST /api-keys': { name: 'x' },
  'PATCH /api-keys/{id}': { name: 'x' },
  'PUT /node/cordon': { cordoned: true },
};

interface Route {
  name: string;
  method: string;
  path: string;
}

// The description of all routes is made from the routes themselves, so no route is missing.
async function allRoutes(): Promise<Route[]> {
  const { paths } = (await harness.call('GET', '/openapi.json')).body as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path })),
  );
}

const urlOf = ({ path }: Route, ids: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'x') + (path.includes('volumecontent') ? '?path=/' : '');

test('no route is answered without a key or with a wrong key', async () => {
  const routes = (await allRoutes()).filter(({ name }) => !OPEN.has(name));
  expect(routes.length).toBeGreaterThan(60);
  for (const route of routes) {
    for (const headers of [{ 'x-api-key': '' }, { 'x-api-key': 'wrong' }, { 'x-api-key': '', authorization: 'Bearer wrong' }]) {
      const url = urlOf(route, { id: 'x' });
      const given = route.method === 'GET' ? undefined : (BODIES[route.name] ?? {});
      const { status, body } = await harness.call(route.method, url, given, headers as Record<string, string>);
      const isRefused = status === 401 || (route.path.startsWith('/uploads') && status === 400);
      expect([route.name, status, isRefused, body.code]).toEqual([route.name, status, true, status]);
    }
  }
});

test('no route about one thing is answered for another tenant', async () => {
  const sandbox = await Sandbox.create(harness.connection);
  await sandbox.files.write('kept', 'kept');
  const { snapshotId } = await sandbox.createSnapshot({ name: 'kept' });
  const volume = await Volume.create('kept', harness.connection);
  const secret = (await harness.call('POST', '/secrets', { name: 'kept', value: 'value' })).body.secretID as string;
  const hook = (await harness.call('POST', '/events/webhooks', { name: 'kept', url: 'https://example.com', enabled: false })).body
    .id as string;
  const key = (await harness.call('POST', '/api-keys', { name: 'kept' })).body.id as string;
  const routes = (await allRoutes()).filter(({ path }) => path.includes('{id}') && !path.startsWith('/volumecontent'));
  const idFor = (path: string): string => {
    if (path.startsWith('/volumes')) return volume.volumeId;
    if (path.startsWith('/secrets')) return secret;
    if (path.startsWith('/events/webhooks')) return hook;
    if (path.startsWith('/api-keys')) return key;
    if (path.includes('/templates') || path.startsWith('/snapshots')) return snapshotId.split(':')[0] as string;
    return sandbox.sandboxId;
  };
  for (const route of routes) {
    const url = urlOf(route, { id: idFor(route.path), build: 'x', hash: 'a' });
    const body = route.method === 'GET' ? undefined : (BODIES[route.name] ?? {});
    const reply = await harness.call(route.method, url, body, { 'x-api-key': OTHER_KEY });
    // A list of another tenant's events is empty.
    if (route.name === 'GET /events/sandboxes/{id}') expect(reply.body).toEqual([]);
    else expect([route.name, reply.status]).toEqual([route.name, 404]);
  }
  expect(await sandbox.files.read('kept')).toBe('kept');
  for (const list of [
    '/v2/sandboxes',
    '/snapshots',
    '/volumes',
    '/secrets',
    '/events/webhooks',
    '/api-keys',
    '/templates',
    '/events/sandboxes',
  ]) {
    expect((await harness.call('GET', list, undefined, { 'x-api-key': OTHER_KEY })).body).toEqual([]);
  }
  await sandbox.kill();
});

test('the token of one sandbox opens no call of another sandbox', async () => {
  const [own, foreign] = await Promise.all([Sandbox.create(harness.connection), Sandbox.create(harness.connection)]);
  const token = (await harness.call('GET', `/sandboxes/${foreign.sandboxId}`)).body.envdAccessToken as string;
  const calls: [string, string][] = [
    ...['List', 'Start', 'Connect', 'SendInput', 'StreamInput', 'SendSignal', 'CloseStdin', 'Update'].map(
      (name): [string, string] => ['POST', `/process.Process/${name}`],
    ),
    ...['Stat', 'MakeDir', 'Move', 'ListDir', 'Remove', 'WatchDir', 'CreateWatcher', 'GetWatcherEvents', 'RemoveWatcher'].map(
      (name): [string, string] => ['POST', `/filesystem.Filesystem/${name}`],
    ),
    ['GET', '/files?path=/etc/passwd'],
    ['POST', '/files?path=x'],
    ['POST', '/files/compose'],
    ['GET', '/envs'],
    ['GET', '/metrics'],
  ];
  const target = { 'e2b-sandbox-id': own.sandboxId, 'e2b-sandbox-port': '49983' };
  for (const [method, path] of calls) {
    for (const headers of [{}, { 'x-access-token': token }, { 'x-access-token': '' }]) {
      const body = method === 'POST' ? {} : undefined;
      const { status } = await harness.call(method, path, body, { ...target, ...headers } as Record<string, string>);
      expect([path, status]).toEqual([path, 401]);
    }
  }
  const { volumeId } = await Volume.create('own', harness.connection);
  for (const path of ['path', 'dir', 'file']) {
    const reply = await harness.call('GET', `/volumecontent/${volumeId}/${path}?path=/`, undefined, {
      authorization: `Bearer ${token}`,
    });
    expect([path, reply.status]).toEqual([path, 401]);
  }
  await Promise.all([own.kill(), foreign.kill()]);
});

test('a key allows what its scopes contain', async () => {
  const sandbox = await Sandbox.create(harness.connection);
  const as = async (key: string, method: string, path: string, body?: unknown) =>
    (await harness.call(method, path, body, { 'x-api-key': key })).status;
  const one = `/sandboxes/${sandbox.sandboxId}`;
  expect(await as('reader', 'GET', one)).toBe(200);
  expect((await harness.call('GET', one, undefined, { 'x-api-key': 'reader' })).body.envdAccessToken).toBeUndefined();
  expect(await as('reader', 'POST', `${one}/timeout`, { timeout: 100 })).toBe(403);
  expect(await as('runner', 'POST', `${one}/timeout`, { timeout: 100 })).toBe(204);
  expect(await as('runner', 'POST', '/api-keys', { name: 'x' })).toBe(403);
  expect(await as('runner', 'GET', '/metrics')).toBe(403);
  expect(await as(KEY, 'PUT', '/node/cordon', { cordoned: true })).toBe(403);
  expect((await harness.call('POST', '/api-keys', { name: 'x', scopes: ['operator'] })).status).toBe(400);
  const made = (await harness.call('POST', '/api-keys', { name: 'made', scopes: ['read'] })).body;
  expect(await as(made.key, 'GET', one)).toBe(200);
  expect(await as(made.key, 'DELETE', one)).toBe(403);
  await harness.call('DELETE', `/api-keys/${made.id}`);
  expect(await as(made.key, 'GET', one)).toBe(401);
  await sandbox.kill();
});
