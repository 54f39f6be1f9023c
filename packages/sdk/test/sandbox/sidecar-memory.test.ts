// Runs programs that make the sidecar allocate in a loop until a limit ends the programs. The calls
// of a program may fail or succeed. The tests measure the private pages of the sidecar's process,
// which other tenants share, while the programs run.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { NodeRuntime, Sidecar } from '../../src/index.js';
import { repetitions } from '../repetitions.js';

/**
 * The bound in MiB: linear memory (64), files (32), kernel (16) and buffers of one hardened
 * runtime, and free memory of the allocator.
 */
const MAX_MIB = 256;

/**
 * The processor time and the wall time of each program. Unbounded memory grows from the first
 * second on.
 */
const CPU_MS = repetitions(1_500, 4_000);
const WALL_MS = repetitions(2_500, 6_000);

/**
 * Returns a program that repeats `step` and ignores its errors. `turns` lets the event loop run
 * between steps.
 */
const repeat = (prepare: string, step: string, loop: 'turns' | 'busy') =>
  `${prepare};
  for (let n = 0; ; n++) {
    try { ${step} } catch {}
    ${loop === 'turns' ? 'if (n % 500 === 0) await new Promise((resolve) => setImmediate(resolve));' : ''}
  }`;
const WAITING = `setTimeout(() => {}, 60_000)`;

const loops: [string, string][] = [
  ['timers', repeat('', 'setTimeout(() => {}, 1e9)', 'busy')],
  ['listeners', repeat('', `process.on('x' + n, () => n)`, 'busy')],
  ['environment', repeat('', `process.env['K' + n] = 'x'.repeat(10_000)`, 'busy')],
  [
    'watches and their events',
    repeat(
      `import fs from 'node:fs'`,
      `fs.mkdirSync('/tmp/' + n % 500, { recursive: true }); fs.watch('/tmp', { recursive: true });
       fs.writeFileSync('/tmp/' + n % 500 + '/' + 'n'.repeat(200) + n % 50, '')`,
      'busy',
    ),
  ],
  [
    'digests between two calls',
    repeat(`import { createHash } from 'node:crypto'; const all = []`, `all.push(createHash('sha512'))`, 'busy'),
  ],
  [
    'computations and their results',
    repeat(
      `const data = new Uint8Array(4 << 20);
       const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["encrypt"])`,
      `crypto.subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, key, data).catch(() => {})`,
      'busy',
    ),
  ],
  [
    'random bytes that are not used',
    repeat(`import { randomBytes } from 'node:crypto'`, 'randomBytes(1 << 20, () => {})', 'busy'),
  ],
  [
    'bytes scattered over files',
    repeat(`import fs from 'node:fs'; const fd = fs.openSync('/tmp/a', 'w')`, `fs.writeSync(fd, 'x', n * 65_536)`, 'busy'),
  ],
  [
    'directories and links',
    repeat(
      `import fs from 'node:fs'; let at = '/tmp'`,
      `fs.symlinkSync('t'.repeat(4_000), '/tmp/l' + n); fs.mkdirSync(at += '/d')`,
      'busy',
    ),
  ],
  [
    'listeners and unaccepted connections',
    repeat(
      `import net from 'node:net'; const server = net.createServer({ pauseOnConnect: true }).listen(7_000)`,
      `net.createServer().on('error', () => {}).listen(0); net.connect(7_000).on('error', () => {}).write('x'.repeat(100_000))`,
      'turns',
    ),
  ],
  [
    'unread datagrams',
    repeat(
      `import dgram from 'node:dgram'; const all = [];
       for (let n = 0; n < 50; n++) all.push(dgram.createSocket('udp4').bind(9_000 + n));
       await new Promise((resolve) => setTimeout(resolve, 50)); const data = Buffer.alloc(30_000)`,
      `all[n % 50].send(data, 9_000 + (n * 7) % 50, '127.0.0.1', () => {})`,
      'turns',
    ),
  ],
  [
    'unread pipes',
    `import { spawn } from 'node:child_process';
     for (let n = 0; n < 28; n++) {
       try {
         const child = spawn('node', ['-e', '${WAITING}'], { stdio: 'pipe' }).on('error', () => {});
         child.stdin.on('error', () => {}).write('x'.repeat(1 << 20));
       } catch {}
     }
     setTimeout(() => {}, 60_000)`,
  ],
  [
    'children with long arguments',
    `import { spawn } from 'node:child_process';
     const long = Array.from({ length: 10_000 }, () => 'xxx');
     for (let n = 0; ; n++) {
       try {
         spawn('node', ['-e', '${WAITING}', ...long], { stdio: 'ignore', env: { A: 'x'.repeat(100_000) } }).on('error', () => {});
       } catch {}
       await new Promise((resolve) => setTimeout(resolve, 1));
     }`,
  ],
  [
    'open texts of /proc',
    `import { spawn } from 'node:child_process';
     const code = 'for (;;) { try { for (;;) fs.openSync("/proc/self/environ"); } catch {} ' +
       'if (Date.now() % 1000 < 5) break; } ${WAITING}';
     const env = { A: 'x'.repeat(120_000) };
     for (let n = 0; n < 20; n++) try { spawn('node', ['-e', code], { stdio: 'ignore', env }).on('error', () => {}); } catch {}
     setTimeout(() => {}, 60_000)`,
  ],
  [
    'processes',
    `import { spawn } from 'node:child_process';
     for (;;) {
       try { spawn('node', ['-e', '${WAITING}'], { stdio: 'ignore', detached: true }).on('error', () => {}).unref(); } catch {}
       await new Promise((resolve) => setTimeout(resolve, 1));
     }`,
  ],
  ['output', `const line = 'x'.repeat(10_000); for (;;) { console.log(line); console.error(line); }`],
];

/** Returns the size of a process's private pages in MiB. */
function ownMemory(pid: number): number {
  return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

/**
 * Runs `work` and returns the largest growth of the process's private pages during `work`, in MiB.
 */
async function growth(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = ownMemory(pid);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, ownMemory(pid));
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.round(most - before);
}

describe('the memory of the sidecar is bounded while a program repeats', () => {
  test.each(loops)('%s', async (_name, code) => {
    await using sidecar = await Sidecar.spawn();
    await using neighbour = await NodeRuntime.create({ sidecar });
    await using runtime = await NodeRuntime.create({ sidecar, limits: { profile: 'hardened', cpuMs: CPU_MS, wallMs: WALL_MS } });
    expect((await neighbour.exec('console.log(1)')).stdout).toBe('1\n');
    let ends = '';
    const grown = await growth(sidecar.pid, async () => {
      const result = await runtime.exec(code);
      ends = `${result.error?.code} ${result.exitCode} ${result.stderr.slice(0, 500)}`;
    });
    expect(grown, `MiB; the program ended with ${ends}`).toBeLessThan(MAX_MIB);
    // The error proves that a limit ended the program, and not a failure.
    expect(ends).toMatch(/^ERR_(CPU_LIMIT|TIMEOUT|MEMORY_LIMIT) /);
    expect((await runtime.exec('console.log(2)')).stdout).toBe('2\n');
    expect((await neighbour.exec('console.log(3)')).stdout).toBe('3\n');
  });

  test('the memory of the sidecar is bounded while a gigabyte is written to an unread stdin', async () => {
    await using sidecar = await Sidecar.spawn();
    await using runtime = await NodeRuntime.create({ sidecar });
    const child = await runtime.spawn(WAITING);
    const block = new Uint8Array(1 << 20);
    let written = 0;
    const grown = await growth(sidecar.pid, async () => {
      const write = async () => {
        for (; written < 1_024; written++) await child.writeStdin(block);
      };
      await expect(write()).rejects.toMatchObject({ code: 'ENOBUFS' });
      const long = new Uint8Array(24 << 20);
      await expect(runtime.exec('1', { stdin: long })).rejects.toMatchObject({ code: 'ERR_RESOURCE_EXHAUSTED', limit: 16 << 20 });
    });
    expect(written).toBe(16);
    // While the queue grows, memory grows by at most twice 16 MiB and the frames in flight.
    expect(grown, 'MiB').toBeLessThan(128);
    await child.kill();
    await child.wait();
  });
});
