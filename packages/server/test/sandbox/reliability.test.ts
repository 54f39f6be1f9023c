// Tests the server under slow and broken clients, many connections, steps of the machine's time, a
// full disk, and many sandboxes one after the other.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sandbox } from 'e2b';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { repetitions } from '../../../sdk/test/repetitions.ts';
import { type Harness, KEY, killProcess, startProcess, startServer } from './harness.ts';

const HEAD_BYTES = 5;
const IDLE_CONNECTIONS = repetitions(500, 10_000);
const SANDBOXES = repetitions(300, 100_000);
const TEN_MINUTES = 600_000;

let harness: Harness;
beforeAll(async () => {
  harness = await startServer();
});
afterAll(() => harness.close());

interface Created {
  sandboxID: string;
  envdAccessToken: string;
}

const create = async (): Promise<Created> => (await harness.call('POST', '/sandboxes', { templateID: 'base' })).body;

/** Starts a command over a connection of its own, and returns the response with unread events. */
async function start({ sandboxID, envdAccessToken }: Created, command: string): Promise<[ClientRequest, IncomingMessage]> {
  const body = Buffer.from(JSON.stringify({ process: { cmd: 'sh', args: ['-c', command] }, stdin: false }));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(body.length, 1);
  const headers = {
    'e2b-sandbox-id': sandboxID,
    'e2b-sandbox-port': '49983',
    'x-access-token': envdAccessToken,
    'content-type': 'application/connect+json',
    'connect-protocol-version': '1',
  };
  const path = '/process.Process/Start';
  const sent = request({ host: '127.0.0.1', port: harness.port, method: 'POST', path, headers, agent: false });
  sent.on('error', () => {});
  sent.end(Buffer.concat([head, body]));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return [sent, response];
}

/** Returns the number of bytes of stdout in the events of a command. */
async function stdoutBytes(response: IncomingMessage): Promise<number> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const all = Buffer.concat(pieces);
  let [at, bytes] = [0, 0];
  while (at < all.length) {
    const length = all.readUInt32BE(at + 1);
    const message = JSON.parse(all.toString('utf8', at + HEAD_BYTES, at + HEAD_BYTES + length));
    bytes += Buffer.from(message.event?.data?.stdout ?? '', 'base64').length;
    at += HEAD_BYTES + length;
  }
  return bytes;
}

test('a client that reads slowly delays only its own command, and receives everything', async () => {
  const created = await create();
  const [, slow] = await start(created, 'head -c 8000000 /dev/zero; touch /tmp/written');
  slow.pause();
  const [, other] = await start(created, 'echo other');
  expect(await stdoutBytes(other)).toBe('other\n'.length);
  // The command waits for its reader.
  expect(await stdoutBytes((await start(created, 'cat /tmp/written'))[1])).toBe(0);
  expect(await stdoutBytes(slow)).toBe(8_000_000);
  await harness.call('DELETE', `/sandboxes/${created.sandboxID}`);
});

test('a broken stream neither ends the program nor stays with the server', async () => {
  const created = await create();
  const broken = await Promise.all(Array.from({ length: 20 }, () => start(created, 'echo begun; sleep 100')));
  for (const [sent] of broken) sent.destroy();
  const sandbox = await Sandbox.connect(created.sandboxID, harness.connection);
  const running = await sandbox.commands.list();
  expect(running.length).toBe(20);
  await Promise.all(running.map(({ pid }) => sandbox.commands.kill(pid)));
  await expect.poll(() => sandbox.commands.list()).toEqual([]);
  await sandbox.kill();
});

test(`the server answers beside ${IDLE_CONNECTIONS} idle connections`, { timeout: TEN_MINUTES }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coldframe-server-'));
  // A process of its own, because both ends in one process need twice as many descriptors.
  const server = await startProcess(directory);
  const opened: Socket[] = [];
  try {
    for (let count = 0; count < IDLE_CONNECTIONS; count++) {
      const socket = connect(server.port, '127.0.0.1');
      opened.push(socket);
      await once(socket, 'connect');
      socket.on('error', () => {});
    }
    const sandbox = await Sandbox.create(server.connection);
    expect((await sandbox.commands.run('echo 1')).stdout).toBe('1\n');
    await sandbox.kill();
  } finally {
    for (const socket of opened) socket.destroy();
    await killProcess(server);
    await rm(directory, { recursive: true });
  }
});

test('a step of the machine’s time neither ends a sandbox nor keeps one', async () => {
  const real = Date.now;
  const sandbox = await Sandbox.create({ ...harness.connection, timeoutMs: 30_000 });
  const ending = await Sandbox.create({ ...harness.connection, timeoutMs: 2_000 });
  try {
    vi.spyOn(Date, 'now').mockImplementation(() => real() + 3_600_000);
    expect((await sandbox.commands.run('echo later')).stdout).toBe('later\n');
    vi.spyOn(Date, 'now').mockImplementation(() => real() - 3_600_000);
    await sandbox.setTimeout(60_000);
    expect((await sandbox.commands.run('echo earlier')).stdout).toBe('earlier\n');
    await expect.poll(() => ending.isRunning(), { timeout: 20_000 }).toBe(false);
    expect(await sandbox.isRunning()).toBe(true);
  } finally {
    vi.restoreAllMocks();
    await sandbox.kill();
  }
});

/** Returns a folder on a small file system, or `undefined` without the right to mount. */
async function smallDisk(): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'coldframe-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder], { stdio: 'ignore' });
  if (status === 0) return folder;
  await rm(folder, { recursive: true });
  return undefined;
}

test('a full disk fails a pause, and the sandbox continues', async ({ skip }) => {
  const folder = await smallDisk();
  if (folder === undefined) return skip('this user cannot mount a small file system');
  const server = await startProcess(folder);
  const { connection } = server;
  try {
    const sandbox = await Sandbox.create(connection);
    const write = `fs.writeFileSync('/tmp/large', crypto.randomBytes(10_000_000))`;
    await sandbox.commands.run(`node -e "${write}"`);
    await expect(sandbox.pause()).rejects.toThrow('cannot be written');
    expect((await sandbox.commands.run('wc -c < /tmp/large')).stdout.trim()).toBe('10000000');
    await sandbox.commands.run('rm /tmp/large; echo kept > /tmp/small');
    await sandbox.pause();
    expect(await (await Sandbox.connect(sandbox.sandboxId, connection)).files.read('/tmp/small')).toBe('kept\n');
    expect((await readdir(join(folder, 'snapshots'), { recursive: true })).filter((name) => name.includes('.part'))).toEqual([]);
    await sandbox.kill();
  } finally {
    await killProcess(server);
    spawnSync('umount', ['-l', folder]);
    await rm(folder, { recursive: true });
  }
});

async function resourcesOf(pid: number): Promise<{ descriptors: number; residentKib: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return {
    descriptors: (await readdir(`/proc/${pid}/fd`)).length,
    residentKib: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]),
  };
}

test(`nothing remains of ${SANDBOXES} sandboxes`, { timeout: 60 * TEN_MINUTES }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coldframe-server-'));
  const server = await startProcess(directory);
  const url = server.connection.apiUrl;
  const pid = server.child.pid as number;
  try {
    const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
    const cycle = async (): Promise<void> => {
      const made = await fetch(`${url}/sandboxes`, { method: 'POST', headers, body: JSON.stringify({ templateID: 'base' }) });
      const { sandboxID } = (await made.json()) as Created;
      expect((await fetch(`${url}/sandboxes/${sandboxID}`, { method: 'DELETE', headers })).status).toBe(204);
    };
    const cycles = async (count: number): Promise<void> => {
      for (let done = 0; done < count; done += 10) await Promise.all(Array.from({ length: 10 }, cycle));
    };
    await cycles(200);
    const before = await resourcesOf(pid);
    await cycles(SANDBOXES);
    const after = await resourcesOf(pid);
    expect(after.descriptors - before.descriptors).toBeLessThan(20);
    // The registry keeps the ends of the newest sandboxes.
    expect(after.residentKib - before.residentKib).toBeLessThan(128 << 10);
    expect(await (await fetch(`${url}/v2/sandboxes`, { headers })).json()).toEqual([]);
  } finally {
    await killProcess(server);
    await rm(directory, { recursive: true });
  }
});
