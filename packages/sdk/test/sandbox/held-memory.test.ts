// Compares what the sidecar charges to a runtime with the memory of the sidecar's process. Random
// programs keep data in the sidecar: files, pipes, sockets, digests, ciphers, texts of /proc,
// watches, environments and calls of bindings. After every step, the process has at most 1.2 times
// the charged memory. After the end of the runtime, the memory is back at the system.

import { describe, expect, test } from 'vitest';
import { deferred } from '../../src/deferred.js';
import { createMemoryFileSystem, type FileSystem, NodeRuntime, type ResourceSnapshot, Sidecar } from '../../src/index.js';
import { repetitions } from '../repetitions.js';
import { binding } from './binding-helpers.js';
import { heapBytes } from './processes.js';

const MIB = 1 << 20;
const RUNS = repetitions(2, 40);
/** The number of random steps after one step of each kind in a random order. */
const MORE_STEPS = repetitions(2, 30);
/** `COLDFRAME_SEED` repeats the run of one seed. */
const FIRST_SEED = Number(process.env['COLDFRAME_SEED'] ?? Date.now() % 1_000_000);

/**
 * The memory that no charge counts: tables whose number of entries has a limit, free memory between
 * used memory, and stacks.
 */
const CONSTANT = 16 * MIB;
/** The largest memory of an object whose number has a limit: an inode, a descriptor, a socket. */
const OBJECT = 1_024;
/** The largest memory of a program in the heap, besides its linear memory. */
const PROGRAM = MIB;

/** Returns a generator of integers below a bound (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** The state of the guest. The steps append to the lists, and other steps remove. */
const PREPARE = `
  import crypto from 'node:crypto';
  import fs from 'node:fs';
  import net from 'node:net';
  import dgram from 'node:dgram';
  import { spawn } from 'node:child_process';
  fs.mkdirSync('/tmp/held', { recursive: true });
  const kept = { contexts: [], texts: [], sockets: [], children: [], calls: [], watches: [], datagrams: [] };
  const data = Buffer.alloc(65536, 'data');
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  // A limit may refuse a step. The charge is compared in any case.
  const attempt = async (count, work) => { try { for (let n = 0; n < count; n++) await work(n); } catch {} await turn(); };
  let names = 0;
  // A line of standard input is a step.
  let lines = '';
  process.stdin.setEncoding('utf8').on('data', async (text) => {
    lines += text;
    if (!lines.endsWith('\\n')) return;
    const step = JSON.parse(lines);
    lines = '';
    await eval('(async () => {' + step + '})()');
    console.log('done');
  });
  console.log('ready');
`;

/** The steps, each with the code for an amount from 1 to 100. */
const STEP_KINDS: [name: string, code: (amount: number) => string][] = [
  [
    'ciphers with a piece of input',
    // Without a charge for capacity, the smallest amount exceeds the bound.
    (amount) => `await attempt(${320 + amount * 4}, (n) => {
      const cipher = crypto.createCipheriv('aes-256-cbc', Buffer.alloc(32), Buffer.alloc(16));
      cipher.update(data.subarray(0, 60_000 + n * 911 % 5_000));
      kept.contexts.push(cipher);
    })`,
  ],
  [
    'digests with a piece of input',
    (amount) => `await attempt(${amount * 4}, (n) => {
      const name = ['sha1', 'sha512', 'blake2b512', 'sha3-256'][n % 4];
      kept.contexts.push(n % 8 < 4 ? crypto.createHash(name).update(data) : crypto.createHmac('sha256', 'key').update(data));
    })`,
  ],
  [
    'files of many lengths',
    (amount) =>
      `await attempt(${amount}, (n) => {
        fs.writeFileSync('/tmp/held/' + names++, data.subarray(0, 1 + n * ${amount * 37} % 65536));
      })`,
  ],
  [
    'files that grow by small pieces',
    (amount) => `await attempt(${amount}, (n) => {
      const fd = fs.openSync('/tmp/held/' + names++, 'w');
      for (let at = 0; at < ${amount * 1_000}; at += 20_001) fs.writeSync(fd, data, 0, 20_001);
      fs.closeSync(fd);
    })`,
  ],
  [
    'long names and links',
    (amount) =>
      `await attempt(${amount * 4}, () => {
        fs.symlinkSync('t'.repeat(${amount * 40}), '/tmp/held/' + 'n'.repeat(200) + names++);
      })`,
  ],
  ['open texts of /proc', (amount) => `await attempt(${amount}, () => kept.texts.push(fs.openSync('/proc/self/environ')))`],
  [
    'connections with unread bytes',
    (amount) => `await attempt(${Math.ceil(amount / 10)}, async () => {
      const server = net.createServer({ pauseOnConnect: true }, (socket) => kept.sockets.push(socket));
      server.listen('/tmp/held/s' + names);
      const client = net.connect('/tmp/held/s' + names++).on('error', () => {});
      await new Promise((resolve) => client.on('connect', resolve).on('error', resolve));
      client.write(data.subarray(0, ${amount * 655}));
      kept.sockets.push(client, server);
    })`,
  ],
  [
    'unread datagrams',
    (amount) => `await attempt(${Math.ceil(amount / 10)}, async () => {
      const socket = dgram.createSocket('udp4').bind(0);
      await new Promise((resolve) => socket.once('listening', resolve).once('error', resolve));
      for (let n = 0; n < 10; n++) socket.send(data.subarray(0, ${amount * 60}), socket.address().port, '127.0.0.1', () => {});
      kept.datagrams.push(socket);
    })`,
  ],
  [
    'children with an environment and an unread pipe',
    (amount) => `await attempt(1, async () => {
      const env = { A: 'x'.repeat(${amount * 500}) };
      for (let n = 0; n < ${amount * 10}; n++) env['K' + n] = '';
      const child = spawn('node', ['-e', 'setTimeout(() => {}, 1e8)'], { env }).on('error', () => {});
      child.stdin.on('error', () => {}).write(data);
      kept.children.push(child);
      await new Promise((resolve) => child.once('spawn', resolve).once('error', resolve));
    })`,
  ],
  [
    'watches with events',
    (amount) => `await attempt(${Math.ceil(amount / 10)}, (n) => {
      kept.watches.push(fs.watch('/tmp/held', () => {}));
      for (let at = 0; at < 20; at++) fs.writeFileSync('/tmp/held/w' + 'w'.repeat(100) + (n + at) % 50, '');
    })`,
  ],
  [
    'calls of a binding without a reply',
    (amount) =>
      `await attempt(${Math.ceil(amount / 10)}, () => {
      kept.calls.push(callBinding('wait', 'x'.repeat(${amount * 2_000})).catch(() => {}));
    })`,
  ],
  [
    'listings and files of an app',
    (amount) => `await attempt(3, () => { fs.readdirSync('/app'); fs.readFileSync('/app/file${amount % 3}'); })`,
  ],
  [
    'computations',
    (amount) => `await attempt(1, () => Promise.all(Array.from({ length: ${amount} }, () =>
      new Promise((resolve) => crypto.randomBytes(${amount * 1_000}, resolve)))))`,
  ],
  [
    'removes a part',
    () => `
      for (const fd of kept.texts.splice(0, kept.texts.length / 2)) fs.closeSync(fd);
      for (const socket of kept.sockets.splice(0, 6)) (socket.destroy ?? socket.close).call(socket);
      for (const socket of kept.datagrams.splice(0, 2)) socket.close();
      for (const watch of kept.watches.splice(0, 3)) watch.close();
      for (const child of kept.children.splice(0, 1)) child.kill('SIGKILL');
      for (const context of kept.contexts.splice(0, kept.contexts.length / 2)) {
        try { (context.final ?? context.digest).call(context); } catch {}
      }
      for (const name of fs.readdirSync('/tmp/held').slice(0, 50)) fs.rmSync('/tmp/held/' + name, { force: true });
      await turn()`,
  ],
];

/** Returns the memory that the runtime is charged for. */
function chargedBytes(resources: ResourceSnapshot): number {
  const { kernelBytes, filesystemBytes, inodes, sockets, pipes, watches } = resources.limits;
  const objects = inodes.used + resources.descriptors + sockets.used + 2 * pipes.used + watches.used;
  return kernelBytes.used + filesystemBytes.used + resources.bufferedBytes + objects * OBJECT + resources.processes * PROGRAM;
}

/** Returns an app file system with many names, and files that need many calls. */
function appFiles(): FileSystem {
  const files = createMemoryFileSystem();
  for (let n = 0; n < 2_000; n++) files.create(`/file${n}`, 0o644);
  for (let n = 0; n < 3; n++) files.write(`/file${n}`, 0, new Uint8Array(300_000 * (n + 1)));
  return files;
}

describe('the memory of the sidecar', () => {
  const fileSystem = appFiles();

  test('is at most 1.2 times the charged memory after each step of random programs', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
      const next = random(seed);
      await using sidecar = await Sidecar.spawn();
      await using neighbour = await NodeRuntime.create({ sidecar });
      const runtime = await NodeRuntime.create({
        sidecar,
        env: { LONG: 'x'.repeat(50_000) },
        limits: { profile: 'hardened', wallMs: 0, cpuMs: 600_000, memoryBytes: 128 * MIB },
        mounts: [{ guestPath: '/app', fileSystem }],
        bindings: { wait: binding(() => new Promise(() => {}), { timeoutMs: 300_000 }) },
      });
      let said = deferred<string>();
      const program = await runtime.spawn(PREPARE, { onStdout: (bytes) => said.resolve(Buffer.from(bytes).toString()) });
      const ended = program.result.then((result) => `the program ended: ${JSON.stringify(result)}`);
      expect(await Promise.race([said.promise, ended])).toBe('ready\n');
      expect((await neighbour.exec('console.log(1)')).stdout).toBe('1\n');
      const base = heapBytes(sidecar.pid) - chargedBytes(await runtime.getResourceSnapshot());
      const steps: string[] = [];
      const unused = [...STEP_KINDS];
      for (let step = 0; step < STEP_KINDS.length + MORE_STEPS; step++) {
        const from = unused.length > 0 ? unused.splice(next(unused.length), 1) : [STEP_KINDS[next(STEP_KINDS.length)]];
        const [name, code] = from[0] as (typeof STEP_KINDS)[number];
        const amount = 1 + next(100);
        steps.push(`${name} (${amount})`);
        said = deferred();
        await program.writeStdin(`${JSON.stringify(code(amount))}\n`);
        expect(await Promise.race([said.promise, ended]), steps.join()).toBe('done\n');
        const charged = chargedBytes(await runtime.getResourceSnapshot());
        const held = heapBytes(sidecar.pid) - base;
        const story = `seed ${seed}, step ${step}: held ${held}, charged ${charged}; ${steps.join(', ')}`;
        if (process.env['COLDFRAME_SEED']) console.log(story);
        expect(held, story).toBeLessThanOrEqual(1.2 * charged + CONSTANT);
      }
      await runtime.dispose();
      expect((await neighbour.exec('console.log(2)')).stdout).toBe('2\n');
    }
  }, 600_000);
});
