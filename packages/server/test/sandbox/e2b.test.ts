// Tests the server with E2B's own client, which is not modified.

import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CommandExitError, type ConnectionOpts, NotFoundError, Sandbox, SandboxNotFoundError } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServer, type Server } from '../../dist/index.js';

const KEY = `e2b_${'0'.repeat(40)}`;
let directory: string;
let server: Server;
let connection: ConnectionOpts;

async function open(): Promise<void> {
  server = await createServer({
    directory,
    apiKeys: [
      { key: KEY, tenant: 'one' },
      { key: 'other', tenant: 'two' },
    ],
  });
  const { port } = await server.listen(0);
  const url = `http://127.0.0.1:${port}`;
  connection = { apiKey: KEY, apiUrl: url, sandboxUrl: url };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coldframe-server-'));
  await open();
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

async function withSandbox(use: (sandbox: Sandbox) => Promise<void>, options = {}): Promise<void> {
  const sandbox = await Sandbox.create({ ...connection, ...options });
  try {
    await use(sandbox);
  } finally {
    await sandbox.kill();
  }
}

test('runs commands', async () =>
  withSandbox(
    async ({ commands }) => {
      expect(await commands.run('echo out; echo err >&2; pwd; whoami')).toMatchObject({
        exitCode: 0,
        stdout: 'out\n/home/user\nuser\n',
        stderr: 'err\n',
      });
      await expect(commands.run('exit 3')).rejects.toMatchObject({ exitCode: 3 });
      expect((await commands.run('echo $A-$B', { envs: { B: '2' }, cwd: '/tmp' })).stdout).toBe('1-2\n');
      await expect(commands.run('pwd', { cwd: '/missing' })).rejects.toThrow("cwd '/missing' does not exist");
    },
    { envs: { A: '1' } },
  ));

test('starts commands in the background, lists, connects and kills them', async () =>
  withSandbox(async ({ commands }) => {
    const started = await commands.run(`node -e 'process.stdin.on("data", (d) => console.log("got " + d))'`, {
      background: true,
      stdin: true,
    });
    expect((await commands.list()).map(({ pid, args }) => [pid, args.length])).toEqual([[started.pid, 3]]);
    const other = await commands.connect(started.pid);
    const seen = new Promise((resolve) => {
      void commands.connect(started.pid, { onStdout: resolve });
    });
    // The third reader is connected when the server has listed its call.
    await commands.list();
    await commands.sendStdin(started.pid, 'line');
    expect(await seen).toBe('got line\n');
    expect(await commands.kill(started.pid)).toBe(true);
    await expect(started.wait()).rejects.toThrow(CommandExitError);
    await expect(other.wait()).rejects.toThrow('signal: killed');
    expect(await commands.kill(9_999)).toBe(false);
  }));

test('a command ends at its deadline', async () =>
  withSandbox(async ({ commands }) => {
    await expect(commands.run('sleep 100', { timeoutMs: 300 })).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect.poll(() => commands.list()).toEqual([]);
  }));

test('the end of a sandbox ends its streams with the right error', async () => {
  const sandbox = await Sandbox.create(connection);
  const command = await sandbox.commands.run('sleep 100', { background: true });
  const waits = command.wait();
  waits.catch(() => {});
  await sandbox.kill();
  await expect(waits).rejects.toThrow('The sandbox was killed or reached its end of life');
  expect(await sandbox.isRunning()).toBe(false);
  await expect(Sandbox.connect(sandbox.sandboxId, connection)).rejects.toThrow(SandboxNotFoundError);
});

test('reads, writes, lists, moves and removes files', async () =>
  withSandbox(async ({ files }) => {
    expect(await files.write('/home/user/a/b.txt', 'hello')).toMatchObject({ name: 'b.txt', path: '/home/user/a/b.txt' });
    expect(await files.read('a/b.txt')).toBe('hello');
    const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 256);
    await files.write('bytes', new Blob([bytes]), { useOctetStream: true, gzip: true });
    expect(Buffer.compare(await files.read('bytes', { format: 'bytes' }), bytes)).toBe(0);
    await files.write([
      { path: '/0/x', data: 'x' },
      { path: 'empty', data: '' },
    ]);
    expect([await files.read('/0/x'), await files.read('empty')]).toEqual(['x', '']);
    expect((await files.list('.', { depth: 2 })).map(({ path }) => path)).toEqual([
      '/home/user/a',
      '/home/user/a/b.txt',
      '/home/user/bytes',
      '/home/user/empty',
    ]);
    expect(await files.getInfo('a')).toMatchObject({ type: 'dir', permissions: 'drwxr-xr-x', owner: 'user', group: 'user' });
    expect(await files.rename('a/b.txt', 'c/d.txt')).toMatchObject({ path: '/home/user/c/d.txt' });
    expect([await files.exists('a/b.txt'), await files.exists('c/d.txt')]).toEqual([false, true]);
    expect([await files.makeDir('new/one'), await files.makeDir('new/one')]).toEqual([true, false]);
    await files.remove('new');
    await files.remove('new');
    await expect(files.read('new')).rejects.toThrow(NotFoundError);
    await expect(files.list('empty')).rejects.toThrow('not a directory');
  }));

test('watches a directory', async () =>
  withSandbox(async ({ files }) => {
    const seen: string[] = [];
    let arrived = (): void => {};
    const handle = await files.watchDir('.', ({ type, name }) => {
      seen.push(`${type} ${name}`);
      arrived();
    });
    const until = async (last: string): Promise<void> => {
      while (!seen.includes(last)) await new Promise<void>((resolve) => (arrived = resolve));
    };
    await files.write('one', '1');
    await until('create one');
    await files.write('one', '22');
    await until('write one');
    await files.remove('one');
    await until('remove one');
    await handle.stop();
  }));

test('signed URLs open one file until they expire', async () =>
  withSandbox(async (sandbox) => {
    await sandbox.files.write('signed', 'content');
    expect(await (await fetch(await sandbox.downloadUrl('signed'))).text()).toBe('content');
    const expired = await fetch(await sandbox.downloadUrl('signed', { useSignatureExpiration: -10 }));
    expect([expired.status, await expired.json()]).toEqual([401, { code: 401, message: 'signature is already expired' }]);
    const form = new FormData();
    form.append('file', new Blob(['uploaded']));
    expect((await fetch(await sandbox.uploadUrl('up'), { method: 'POST', body: form })).status).toBe(200);
    expect(await sandbox.files.read('up')).toBe('uploaded');
  }));

test('lists sandboxes by metadata, in pages', async () => {
  const metadata = { group: 'a b&c=d' };
  const made = await Promise.all([1, 2, 3].map(() => Sandbox.create({ ...connection, metadata })));
  const pages = Sandbox.list({ ...connection, query: { metadata }, limit: 2 });
  const ids = [...(await pages.nextItems()), ...(await pages.nextItems())].map(({ sandboxId }) => sandboxId);
  expect([ids.length, pages.hasNext]).toEqual([3, false]);
  expect(new Set(ids)).toEqual(new Set(made.map(({ sandboxId }) => sandboxId)));
  await Promise.all(made.map((sandbox) => sandbox.kill()));
  expect(await Sandbox.list({ ...connection, query: { metadata } }).nextItems()).toEqual([]);
});

test('pauses, resumes and forks a sandbox with its programs', async () =>
  withSandbox(async (sandbox) => {
    await sandbox.files.write('state', 'kept');
    const { pid } = await sandbox.commands.run('sleep 1000', { background: true, timeoutMs: 0 });
    await sandbox.pause();
    expect((await sandbox.getInfo()).state).toBe('paused');
    const resumed = await Sandbox.connect(sandbox.sandboxId, connection);
    expect(await resumed.files.read('state')).toBe('kept');
    expect((await resumed.commands.list()).map((entry) => entry.pid)).toEqual([pid]);
    const [fork] = await resumed.fork();
    if (!(fork instanceof Sandbox)) throw fork ?? new Error('no fork');
    expect((await fork.commands.list()).map((entry) => entry.pid)).toEqual([pid]);
    await fork.files.write('state', 'changed');
    expect(await resumed.files.read('state')).toBe('kept');
    await fork.kill();
  }));

test('new sandboxes start from a snapshot', async () =>
  withSandbox(async (sandbox) => {
    await sandbox.files.write('state', 'kept');
    const { snapshotId } = await sandbox.createSnapshot();
    await withSandbox(async (copy) => expect(await copy.files.read('state')).toBe('kept'), { template: snapshotId });
    expect(await Sandbox.deleteSnapshot(snapshotId, connection)).toBe(true);
    expect(await Sandbox.deleteSnapshot(snapshotId, connection)).toBe(false);
  }));

test('after a restart, paused sandboxes resume and running sandboxes are not found', async () => {
  const paused = await Sandbox.create(connection);
  await paused.files.write('state', 'kept');
  await paused.pause();
  const running = await Sandbox.create(connection);
  await server.close();
  await open();
  const resumed = await Sandbox.connect(paused.sandboxId, connection);
  expect(await resumed.files.read('state')).toBe('kept');
  await resumed.kill();
  await expect(Sandbox.connect(running.sandboxId, connection)).rejects.toThrow(SandboxNotFoundError);
});

test('malformed targets of requests are refused, and the server continues', async () => {
  const { port } = new URL(connection.apiUrl as string);
  for (const target of ['//', '/files?signature=%', '/files?signature=x&path=//', '*', 'http://[']) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 4\d\d /);
  }
  expect((await fetch(`${connection.apiUrl}/health`)).status).toBe(204);
});

test('no route answers without a key, with the key of another tenant, or with another token', async () =>
  withSandbox(async (sandbox) => {
    const call = async (path: string, headers: Record<string, string>, method = 'GET') =>
      (await fetch(`${connection.apiUrl}${path}`, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) })).status;
    const json = { 'content-type': 'application/json' };
    expect(await call('/v2/sandboxes', {})).toBe(401);
    expect(await call('/v2/sandboxes', { 'x-api-key': 'wrong' })).toBe(401);
    expect(await call(`/sandboxes/${sandbox.sandboxId}`, { 'x-api-key': 'other' })).toBe(404);
    expect(await call(`/sandboxes/${sandbox.sandboxId}/pause`, { ...json, 'x-api-key': 'other' }, 'POST')).toBe(404);
    expect(await call(`/sandboxes/${sandbox.sandboxId}`, { 'x-api-key': 'other' }, 'DELETE')).toBe(404);
    const agent = { ...json, 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': '49983', 'x-access-token': 'wrong' };
    for (const path of ['/process.Process/List', '/filesystem.Filesystem/ListDir', '/files?path=a']) {
      expect(await call(path, agent, 'POST')).toBe(401);
    }
    expect(await call('/files?path=/etc/passwd', agent)).toBe(401);
    expect(await call('/envs', agent)).toBe(401);
  }));
