// Moves snapshots between two servers as files: whole files, damaged files and cut files.

import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Sandbox } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, KEY, OTHER_KEY, type Reply, startServer } from './harness.ts';

const MIB = 1 << 20;
const IMPORT_BYTES = 64 * MIB;

let from: Harness;
let to: Harness;
beforeAll(async () => {
  const apiKeys = [
    { key: KEY, tenant: 'one' },
    { key: OTHER_KEY, tenant: 'two' },
    { key: 'reader', tenant: 'one', scopes: ['read' as const] },
  ];
  [from, to] = await Promise.all([
    startServer({ apiKeys }),
    startServer({ apiKeys, importBytes: IMPORT_BYTES, sandbox: { filesystemBytes: 24 * MIB } }),
  ]);
});
afterAll(() => Promise.all([from.close(), to.close()]));

const fileOf = (server: Harness, id: string, key = KEY) =>
  fetch(`${server.url}/snapshots/${id}/file`, { headers: { 'x-api-key': key } });

async function bytesOf(server: Harness, id: string): Promise<Buffer> {
  const response = await fileOf(server, id);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.length).toBe(Number(response.headers.get('content-length')));
  return bytes;
}

async function send(server: Harness, body: Buffer, query = '', key = KEY): Promise<Reply> {
  const headers = { 'x-api-key': key, 'content-type': 'application/octet-stream' };
  const options = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
  const response = await fetch(`${server.url}/snapshots/file${query}`, options);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Makes a snapshot of a sandbox with a file, metadata, an environment and a running program. */
async function makeSnapshot(name?: string): Promise<{ id: string; token: string }> {
  const sandbox = await Sandbox.create({ ...from.connection, envs: { NAME: 'value' } });
  await sandbox.files.write('kept', 'content', { metadata: { by: 'test' } });
  const program = `let count = 0; require('node:http').createServer((_, reply) => reply.end(String(++count))).listen(3000)`;
  await sandbox.commands.run(`node -e "${program}"`, { background: true });
  await from.call('POST', `/sandboxes/${sandbox.sandboxId}/probe`, { port: 3000, path: '/' });
  const { envdAccessToken: token } = (await from.call('GET', `/sandboxes/${sandbox.sandboxId}`)).body;
  const { snapshotId } = await sandbox.createSnapshot(name === undefined ? {} : { name });
  await sandbox.kill();
  return { id: snapshotId.split(':')[0] as string, token };
}

/** Returns everything that a refused import could leave behind. */
async function left({ directory }: Harness): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => /snap-|\.part$/.test(name));
}

test('a snapshot moves to another server, and a sandbox continues with its state', async () => {
  const { id, token } = await makeSnapshot('moved');
  const bytes = await bytesOf(from, id);
  expect(bytes.includes(token)).toBe(false);
  const moved = await send(to, bytes);
  expect([moved.status, moved.body.names]).toEqual([201, ['one/moved']]);
  expect((await to.call('GET', '/snapshots')).body).toMatchObject([{ snapshotID: moved.body.snapshotID }]);
  await to.restart();
  const sandbox = await Sandbox.create('moved', to.connection);
  expect(await sandbox.files.read('kept')).toBe('content');
  expect((await sandbox.files.getInfo('kept')).metadata).toEqual({ by: 'test' });
  expect((await sandbox.commands.run('echo $NAME')).stdout).toBe('value\n');
  // The probe made the first request.
  expect((await sandbox.commands.run('curl -s localhost:3000')).stdout).toBe('2');
  await sandbox.kill();
  // The server has the snapshot.
  expect((await send(to, bytes)).body).toMatchObject({ code: 409, error_code: 'id_taken' });
  expect((await send(to, bytes, '', OTHER_KEY)).body).toMatchObject({ code: 409, error_code: 'id_taken' });
  expect((await to.call('DELETE', '/templates/moved')).status).toBe(204);
  expect(await left(to)).toEqual([]);
  const again = await send(to, bytes, '?name=renamed', OTHER_KEY);
  expect([again.status, again.body.names]).toEqual([201, ['two/renamed']]);
  expect((await to.call('GET', '/snapshots')).body).toEqual([]);
  await to.call('DELETE', '/templates/renamed', undefined, { 'x-api-key': OTHER_KEY });
  await from.call('DELETE', '/templates/moved');
});

test('the limits of the server that imports apply', async () => {
  const { id } = await makeSnapshot();
  const { body } = await send(to, await bytesOf(from, id));
  expect(body.names).toEqual([]);
  const sandbox = await Sandbox.create(body.snapshotID, to.connection);
  const write = 'head -c 40000000 /dev/zero > large';
  const full = { result: { stderr: expect.stringContaining('ENOSPC') } };
  await expect(sandbox.commands.run(write)).rejects.toMatchObject(full);
  const again = await sandbox.createSnapshot();
  await sandbox.kill();
  const copy = await Sandbox.create(again.snapshotId, to.connection);
  await expect(copy.commands.run(write)).rejects.toMatchObject(full);
  await copy.kill();
  for (const one of [body.snapshotID, again.snapshotId]) await to.call('DELETE', `/templates/${one.split(':')[0]}`);
  const own = await Sandbox.create(id, from.connection);
  await own.commands.run(write);
  await own.kill();
  await from.call('DELETE', `/templates/${id}`);
});

test('a file is exported for its tenant alone, and not for a key that only reads', async () => {
  const { id } = await makeSnapshot();
  const statuses = await Promise.all([fileOf(from, id, OTHER_KEY), fileOf(from, id, 'reader'), fileOf(from, 'missing')]);
  expect(statuses.map(({ status }) => status)).toEqual([404, 403, 404]);
  expect((await send(to, Buffer.from('x'), '', 'reader')).status).toBe(403);
  // A client that leaves during the export.
  const aborted = new AbortController();
  const response = await fetch(`${from.url}/snapshots/${id}/file`, { headers: { 'x-api-key': KEY }, signal: aborted.signal });
  aborted.abort();
  await expect(response.arrayBuffer()).rejects.toThrow();
  for (let at = 0; at < 6; at++) await bytesOf(from, id);
  expect((await left(from)).filter((name) => name.endsWith('.part'))).toEqual([]);
  await from.call('DELETE', `/templates/${id}`);
});

test('a damaged, cut or too long file is refused, and leaves nothing', { timeout: 120_000 }, async () => {
  const { id } = await makeSnapshot('damaged');
  const bytes = await bytesOf(from, id);
  const refused = async (body: Buffer): Promise<void> => {
    const { status, body: reply } = await send(to, body);
    expect([status, reply.error_code]).toEqual([400, 'snapshot_damaged']);
    expect(reply.message).not.toContain(to.directory);
  };
  const step = Math.ceil(bytes.length / 60);
  const places = [...Array.from({ length: 60 }, (_, at) => at), 200, bytes.length - 1];
  for (let at = 60; at < bytes.length; at += step) places.push(at);
  for (const at of places) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 0x10;
    const { status, body } = await send(to, changed);
    // The version of a format precedes its digest.
    expect([at, status === 400 || body.error_code === 'snapshot_foreign']).toEqual([at, true]);
  }
  for (const length of [0, 1, 43, 44, 100, 5_000, bytes.length >> 1, bytes.length - 1]) {
    await refused(bytes.subarray(0, length));
  }
  await refused(Buffer.concat([bytes, Buffer.from('x')]));
  expect(await left(to)).toEqual([]);
  expect((await to.call('GET', '/snapshots')).body).toEqual([]);
  expect((await send(to, bytes)).status).toBe(201);
  await to.call('DELETE', '/templates/damaged');
  await from.call('DELETE', '/templates/damaged');
});

test('a client that leaves during the import leaves nothing', async () => {
  const { id } = await makeSnapshot();
  const bytes = await bytesOf(from, id);
  const headers = { 'x-api-key': KEY, 'content-length': bytes.length };
  const options = { host: '127.0.0.1', port: to.port, path: '/snapshots/file', method: 'POST', headers, agent: false };
  for (let at = 0; at < 6; at++) {
    const sent = request(options);
    const closed = new Promise((resolve) => sent.once('close', resolve));
    sent.on('error', () => {});
    sent.write(bytes.subarray(0, bytes.length >> 1), () => sent.destroy());
    await closed;
  }
  await expect.poll(() => left(to)).toEqual([]);
  const whole = await send(to, bytes);
  expect(whole.status).toBe(201);
  for (const server of [from, to])
    await server.call('DELETE', `/templates/${server === from ? id : whole.body.snapshotID.split(':')[0]}`);
  expect(await left(to)).toEqual([]);
});

test('a file beyond the bound is refused with 413, with and without a stated length', { timeout: 60_000 }, async () => {
  expect((await send(to, Buffer.alloc(IMPORT_BYTES + 1))).status).toBe(413);
  const { id } = await makeSnapshot();
  const bytes = await bytesOf(from, id);
  const headers = { 'x-api-key': KEY, 'transfer-encoding': 'chunked' };
  const options = { host: '127.0.0.1', port: to.port, path: '/snapshots/file', method: 'POST', headers, agent: false };
  const reply = await new Promise<{ status: number; content: string }>((resolve, reject) => {
    const sent = request(options);
    sent.on('response', (response) => {
      text(response).then((content) => resolve({ status: response.statusCode as number, content }), reject);
    });
    sent.on('error', reject);
    sent.write(bytes);
    const zeros = Buffer.alloc(MIB);
    let count = IMPORT_BYTES / MIB;
    const more = (): void => {
      if (count-- > 0) sent.write(zeros, more);
      else sent.end();
    };
    more();
  });
  expect([reply.status, JSON.parse(reply.content).code]).toEqual([413, 413]);
  expect(await left(to)).toEqual([]);
  expect((await fetch(`${to.url}/health`)).status).toBe(204);
  await from.call('DELETE', `/templates/${id}`);
});

test('names and quotas of the tenant are checked', async () => {
  const { id } = await makeSnapshot('quota');
  const bytes = await bytesOf(from, id);
  await to.call('POST', '/v3/templates', { name: 'quota' });
  expect((await send(to, bytes)).body).toMatchObject({ code: 409, error_code: 'name_taken' });
  expect((await send(to, bytes, '?name=no:such:name')).status).toBe(400);
  await to.call('DELETE', '/templates/quota');
  const small = await startServer({ quotas: { one: { templates: 0 } } });
  expect((await send(small, bytes)).status).toBe(429);
  expect(await readdir(join(small.directory, 'snapshots')).catch(() => [])).toEqual([]);
  await small.close();
  await from.call('DELETE', '/templates/quota');
});
