// Tests what a fleet of servers needs of one server: ids and tokens without a table, manifests,
// capacity, and ends in every state.

import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Sandbox } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, KEY, startServer } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startServer({
    apiKeys: [{ key: KEY, tenant: 'one', scopes: ['operator'] }],
    capacity: { sandboxes: 4, reserveBytes: 0 },
  });
});
afterAll(() => harness.close());

const FILES = '/files?path=kept';
const detailOf = async (id: string) => (await harness.call('GET', `/sandboxes/${id}`)).body;
const readFileWith = (id: string, token: string) =>
  fetch(harness.url + FILES, { headers: { 'e2b-sandbox-id': id, 'e2b-sandbox-port': '49983', 'x-access-token': token } });

async function loseRegistry(): Promise<void> {
  const { directory } = harness;
  for (const name of await readdir(directory)) if (name.startsWith('registry.db')) await rm(join(directory, name));
}

test('a paused sandbox and its snapshot survive the loss of the registry', async () => {
  const metadata = { label: 'kept' };
  const network = { allowPublicTraffic: false };
  const lifecycle = { onTimeout: 'pause', autoResume: true } as const;
  const made = await Sandbox.create({
    ...harness.connection,
    metadata,
    network,
    lifecycle,
    envs: { NAME: 'value' },
    timeoutMs: 90_000,
  });
  await made.files.write('kept', 'content', { metadata: { by: 'test' } });
  await made.createSnapshot({ name: 'kept' });
  const { envdAccessToken: token } = await detailOf(made.sandboxId);
  const { body: node } = await harness.call('GET', '/node');
  await made.pause();
  const ended = await Sandbox.create(harness.connection);
  await ended.pause();
  await ended.kill();
  const before = await detailOf(made.sandboxId);
  expect(before).toMatchObject({ movable: true, pins: [] });
  expect(before.remainingMs).toBeGreaterThan(0);

  await harness.restart(loseRegistry);
  const after = await detailOf(made.sandboxId);
  expect(after).toEqual(before);
  expect((await harness.call('GET', '/v2/sandboxes')).body).toHaveLength(1);
  expect((await harness.call('GET', '/snapshots')).body).toMatchObject([
    { sandboxID: made.sandboxId, names: [expect.stringContaining('kept')] },
  ]);
  const { body: next } = await harness.call('GET', '/node');
  expect([next.home, next.epoch > node.epoch]).toEqual([node.home, true]);

  const resumed = await Sandbox.connect(made.sandboxId, harness.connection);
  expect(await resumed.files.read('kept')).toBe('content');
  expect((await resumed.files.getInfo('kept')).metadata).toEqual({ by: 'test' });
  expect((await resumed.commands.run('echo $NAME')).stdout).toBe('value\n');
  // The token that the first server has handed out is still valid.
  expect((await readFileWith(made.sandboxId, token)).status).toBe(200);
  await resumed.kill();
  await harness.call('DELETE', '/templates/kept');
  expect(await readdir(join(harness.directory, 'manifests'))).toEqual([]);
});

test('a manifest of an ended or unknown thing brings nothing back', async () => {
  const sandbox = await Sandbox.create(harness.connection);
  await sandbox.pause();
  const folder = join(harness.directory, 'manifests');
  const [name] = (await readdir(folder)) as [string];
  const manifest = await readFile(join(folder, name), 'utf8');
  await sandbox.kill();
  await writeFile(join(folder, name), manifest);
  await writeFile(join(folder, 'snap-damaged.json'), '{');
  await harness.restart();
  expect((await harness.call('GET', '/v2/sandboxes')).body).toEqual([]);
  expect(await readdir(folder)).toEqual(['snap-damaged.json']);
  await rm(join(folder, 'snap-damaged.json'));
});

test('a manifest states the digest and the size of the snapshot, and no token', async () => {
  const sandbox = await Sandbox.create(harness.connection);
  const { envdAccessToken: token } = await detailOf(sandbox.sandboxId);
  await sandbox.pause();
  const folder = join(harness.directory, 'manifests');
  const [name] = (await readdir(folder)) as [string];
  const text = await readFile(join(folder, name), 'utf8');
  const { images } = (await harness.call('GET', '/node')).body;
  expect(JSON.parse(text)).toMatchObject({
    version: 1,
    kind: 'sandbox',
    snapshot: { image: images[0], layers: [{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), size: expect.any(Number) }] },
    limits: { totalMemoryBytes: 1 << 30 },
    sandbox: { id: sandbox.sandboxId, tenant: 'one', templateId: 'base', autoPause: false, pauseMode: 'full' },
  });
  expect(text).not.toContain(token);
  await sandbox.kill();
});

test('a revocation ends all earlier tokens of a sandbox, over a restart too', async () => {
  const sandbox = await Sandbox.create(harness.connection);
  await sandbox.files.write('kept', 'content');
  const id = sandbox.sandboxId;
  const { envdAccessToken: first } = await detailOf(id);
  expect((await readFileWith(id, first)).status).toBe(200);
  const revoked = await harness.call('POST', `/sandboxes/${id}/tokens`);
  expect(revoked.status).toBe(201);
  const { envdAccessToken: second } = revoked.body;
  expect([(await readFileWith(id, first)).status, (await readFileWith(id, second)).status]).toEqual([401, 200]);
  await sandbox.pause();
  await harness.restart();
  await Sandbox.connect(id, harness.connection);
  expect([(await readFileWith(id, first)).status, (await readFileWith(id, second)).status]).toEqual([401, 200]);
  await sandbox.kill();
});

test('a caller can choose the id of a sandbox once', async () => {
  const { home } = (await harness.call('GET', '/node')).body;
  const sandboxID = `${home}${'a'.repeat(18)}`;
  const create = (id: string) => harness.call('POST', '/v2/sandboxes', { templateID: 'base', sandboxID: id });
  const replies = await Promise.all([create(sandboxID), create(sandboxID)]);
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect(replies.find(({ status }) => status === 201)?.body.sandboxID).toBe(sandboxID);
  expect((await create(sandboxID)).body.error_code).toBe('id_taken');
  await harness.call('DELETE', `/sandboxes/${sandboxID}`);
  expect((await create(sandboxID)).body.error_code).toBe('id_taken');
  for (const wrong of ['x', `iother${'a'.repeat(18)}`, `${home}${'A'.repeat(18)}`]) {
    expect((await create(wrong)).status).toBe(400);
  }
});

test('a full server and a cordoned server refuse new sandboxes only', async () => {
  const create = () => harness.call('POST', '/v2/sandboxes', { templateID: 'base' });
  const made = await Promise.all(Array.from({ length: 4 }, create));
  const full = await create();
  expect([full.status, full.body.error_code, full.headers.get('retry-after')]).toEqual([503, 'full', '1']);
  expect((await harness.call('GET', '/node')).body).toMatchObject({
    state: 'ready',
    isFull: true,
    sandboxes: 4,
    sandboxesMax: 4,
  });
  for (const { body } of made) await harness.call('DELETE', `/sandboxes/${body.sandboxID}`);
  const running = (await create()).body.sandboxID;
  expect((await harness.call('PUT', '/node/cordon', { cordoned: true })).status).toBe(204);
  const refused = await create();
  expect([refused.status, refused.body.error_code, refused.headers.get('retry-after')]).toEqual([503, 'cordoned', '1']);
  expect((await fetch(`${harness.url}/ready`)).status).toBe(503);
  expect((await detailOf(running)).state).toBe('running');
  expect((await harness.call('PUT', '/node/cordon', { cordoned: false })).status).toBe(204);
  expect((await fetch(`${harness.url}/ready`)).status).toBe(204);
  await harness.call('DELETE', `/sandboxes/${running}`);
});

const BUSY = `node -e "const end = Date.now() + 8000; while (Date.now() < end);"`;

test('a frozen sandbox goes to disk when its program rests, and then survives the server', { timeout: 120_000 }, async () => {
  const sandbox = await Sandbox.create(harness.connection);
  await sandbox.commands.run(BUSY, { background: true });
  await sandbox.pause();
  expect(await detailOf(sandbox.sandboxId)).toMatchObject({ state: 'paused', movable: false, pins: ['frozen'] });
  await expect.poll(async () => (await detailOf(sandbox.sandboxId)).pins, { timeout: 60_000 }).toEqual([]);
  const [event] = (await harness.call('GET', `/events/sandboxes/${sandbox.sandboxId}?limit=1`)).body;
  expect(event).toMatchObject({ type: 'sandbox.lifecycle.updated', eventData: { frozen: false } });
  await harness.restart();
  expect((await detailOf(sandbox.sandboxId)).state).toBe('paused');
  const resumed = await Sandbox.connect(sandbox.sandboxId, harness.connection);
  expect((await resumed.commands.run('echo alive')).stdout).toBe('alive\n');
  await resumed.kill();
});

test('a sandbox can be ended in every state', { timeout: 120_000 }, async () => {
  const end = async (id: string): Promise<number> => (await harness.call('DELETE', `/sandboxes/${id}`)).status;
  const running = await Sandbox.create(harness.connection);
  const files = await Sandbox.create(harness.connection);
  await files.pause({ keepMemory: false });
  const frozen = await Sandbox.create(harness.connection);
  await frozen.commands.run(BUSY, { background: true });
  const pausing = frozen.pause();
  expect(await end(running.sandboxId)).toBe(204);
  expect(await end(files.sandboxId)).toBe(204);
  await pausing;
  expect((await detailOf(frozen.sandboxId)).pins).toEqual(['frozen']);
  expect(await end(frozen.sandboxId)).toBe(204);
  expect(await end(frozen.sandboxId)).toBe(404);

  // A kill during a pause and during a resume.
  const busy = await Sandbox.create(harness.connection);
  const ends = await Promise.allSettled([busy.pause(), end(busy.sandboxId)]);
  expect(ends[1]).toEqual({ status: 'fulfilled', value: 204 });
  const waking = await Sandbox.create(harness.connection);
  await waking.pause();
  const both = await Promise.allSettled([Sandbox.connect(waking.sandboxId, harness.connection), end(waking.sandboxId)]);
  expect(both[1]).toEqual({ status: 'fulfilled', value: 204 });

  // A paused sandbox whose snapshot is damaged or missing.
  for (const harm of [(path: string) => writeFile(path, 'x'), (path: string) => rm(path)]) {
    const broken = await Sandbox.create(harness.connection);
    await broken.pause();
    await harness.restart();
    const folder = join(harness.directory, 'snapshots');
    const names = (await readdir(folder, { recursive: true })).filter((name) => /snap-/.test(name));
    expect(names).toHaveLength(1);
    await harm(join(folder, names[0] as string));
    const refused = await harness.call('POST', `/v2/sandboxes/${broken.sandboxId}/connect`, {});
    expect([refused.status, refused.body.error_code]).toEqual([410, 'state_lost']);
    expect(await end(broken.sandboxId)).toBe(204);
  }
  expect((await harness.call('GET', '/v2/sandboxes')).body).toEqual([]);
  expect(await readdir(join(harness.directory, 'manifests'))).toEqual([]);
});
