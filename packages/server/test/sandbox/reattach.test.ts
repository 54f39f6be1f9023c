// Tests the output that a program wrote while no client read, and the next client that attaches.

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Sandbox } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startServer } from './harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startServer();
});
afterAll(() => harness.close());

const KEPT = 64 << 10;
const HEAD_BYTES = 5;
const LINES = 20_000;
// Reads a line of stdin, and then does what the line says.
const PROGRAM = `const { createInterface } = require('node:readline');
createInterface({ input: process.stdin }).on('line', (word) => {
  if (word === 'both') { process.stdout.write('out '); process.stderr.write('err '); process.stdout.write('again'); }
  if (word === 'many') for (let at = 0; at < ${LINES}; at++) process.stdout.write(String(at).padStart(7) + '\\n');
  if (word === 'end') process.exit(3);
});
console.log('ready');`;
const COUNT = `const { writeSync } = require('node:fs');
for (let at = 0; at < 1_000_000; at++) writeSync(1, String(at).padStart(7) + '\\n');`;
const COMMAND = 'node /tmp/program.js';
const ALL = Array.from({ length: LINES }, (_, at) => `${String(at).padStart(7)}\n`).join('');

/** Waits until the server has noticed the connections that ended before. */
async function settle(sandbox: Sandbox): Promise<void> {
  for (let at = 0; at < 3; at++) await sandbox.commands.list();
}

const until = (sandbox: Sandbox, running: number) =>
  expect.poll(() => sandbox.commands.list(), { timeout: 60_000 }).toHaveLength(running);

/** Starts the program without a client. Returns the pid. */
async function startAlone(sandbox: Sandbox): Promise<number> {
  await sandbox.files.write('/tmp/program.js', PROGRAM);
  let ready = (_: string): void => {};
  const isReady = new Promise<string>((resolve) => {
    ready = resolve;
  });
  const started = await sandbox.commands.run(COMMAND, { background: true, stdin: true, onStdout: (text) => ready(text) });
  expect(await isReady).toBe('ready\n');
  await started.disconnect();
  await settle(sandbox);
  return started.pid;
}

/** Reads the program until its end. */
async function readAll(sandbox: Sandbox, pid: number) {
  const pieces: [string, string][] = [];
  const push = (source: string) => (text: string) => void pieces.push([source, text]);
  const handle = await sandbox.commands.connect(pid, { onStdout: push('out'), onStderr: push('err') });
  await handle.wait().catch(() => {});
  return { handle, pieces, text: pieces.map(([, text]) => text).join('') };
}

test('a client that attaches after the end receives the unread output of both sources once', async () =>
  harness.withSandbox(async (sandbox) => {
    const pid = await startAlone(sandbox);
    await sandbox.commands.sendStdin(pid, 'both\n');
    await sandbox.commands.sendStdin(pid, 'end\n');
    await until(sandbox, 0);
    const { handle, pieces, text } = await readAll(sandbox, pid);
    // Two pipes have no common order.
    expect([text.length, handle.stdout, handle.stderr]).toEqual(['out err again'.length, 'out again', 'err ']);
    expect(pieces.length).toBeGreaterThan(1);
    expect(handle.exitCode).toBe(3);
    const again = await readAll(sandbox, pid);
    expect([again.text, again.handle.exitCode]).toEqual(['', 3]);
  }));

test('a client that attaches receives the newest 64 KiB, and then live output', async () =>
  harness.withSandbox(async (sandbox) => {
    const pid = await startAlone(sandbox);
    await sandbox.commands.sendStdin(pid, 'many\n');
    const logs = async () => JSON.stringify((await harness.call('GET', `/sandboxes/${sandbox.sandboxId}/logs?limit=1000`)).body);
    await expect.poll(logs).toContain(String(LINES - 1));
    let text = '';
    const push = (piece: string): void => {
      text += piece;
    };
    const again = await sandbox.commands.connect(pid, { onStdout: push });
    await sandbox.commands.sendStdin(pid, 'both\n');
    await expect.poll(() => text).toContain('again');
    expect([text.slice(0, KEPT) === ALL.slice(-KEPT), text.slice(KEPT)]).toEqual([true, 'out again']);
    await again.kill();
  }));

/** Starts a command over a connection of its own, whose response is not read. */
async function startUnread(sandbox: Sandbox, command: string): Promise<[ClientRequest, IncomingMessage]> {
  const { envdAccessToken } = (await harness.call('GET', `/sandboxes/${sandbox.sandboxId}`)).body;
  const body = Buffer.from(JSON.stringify({ process: { cmd: 'sh', args: ['-c', command] } }));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(body.length, 1);
  const headers = {
    'e2b-sandbox-id': sandbox.sandboxId,
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
  response.on('error', () => {});
  response.pause();
  return [sent, response];
}

test('the output that a broken stream has not taken goes to the next client', { timeout: 120_000 }, async () =>
  harness.withSandbox(async (sandbox) => {
    await sandbox.files.write('/tmp/count.js', COUNT);
    const [sent, response] = await startUnread(sandbox, 'node /tmp/count.js; read word; echo $word');
    await until(sandbox, 1);
    const pid = (await sandbox.commands.list())[0]?.pid as number;
    // The program waits for its reader. The reader breaks the stream.
    const closed = new Promise((resolve) => response.once('close', resolve));
    sent.destroy();
    await closed;
    await settle(sandbox);
    await sandbox.commands.sendStdin(pid, 'last\n');
    await until(sandbox, 0);
    const { handle, text } = await readAll(sandbox, pid);
    const lines = Array.from({ length: KEPT / 8 }, (_, at) => `${String(1_000_000 - KEPT / 8 + at).padStart(7)}\n`);
    expect([text === `${lines.join('')}last\n`.slice(-KEPT), handle.exitCode]).toEqual([true, 0]);
  }),
);

test('output that one of two clients has read is not kept', async () =>
  harness.withSandbox(async (sandbox) => {
    const pid = await startAlone(sandbox);
    const [one, other] = await Promise.all([sandbox.commands.connect(pid), sandbox.commands.connect(pid)]);
    await one.disconnect();
    await settle(sandbox);
    await sandbox.commands.sendStdin(pid, 'both\n');
    await expect.poll(() => [other.stdout, other.stderr]).toEqual(['out again', 'err ']);
    await other.disconnect();
    await settle(sandbox);
    await sandbox.commands.sendStdin(pid, 'end\n');
    await until(sandbox, 0);
    expect((await readAll(sandbox, pid)).text).toBe('');
  }));

test('a terminal keeps its unread output', async () =>
  harness.withSandbox(async (sandbox) => {
    const pty = await sandbox.pty.create({ cols: 80, rows: 24, onData: () => {} });
    await pty.disconnect();
    await settle(sandbox);
    await sandbox.pty.sendInput(pty.pid, new TextEncoder().encode('echo un$((1))read\n'));
    const decoder = new TextDecoder();
    let text = '';
    const push = (bytes: Uint8Array): void => {
      text += decoder.decode(bytes);
    };
    const again = await sandbox.pty.connect(pty.pid, { onData: push });
    await expect.poll(() => text).toContain('un1read');
    await again.kill();
  }));
