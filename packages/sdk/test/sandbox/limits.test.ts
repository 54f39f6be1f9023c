// Runs real programs that exceed each limit. The programs must get the error that `docs/limits.md`
// names. Their runtime must stay usable, and another runtime of the sidecar must not be affected.
// `programs.test.ts` tests time, memory and output; `sidecar-memory.test.ts` tests endless loops.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GuestProcess, Limits, NodeRuntime } from '../../src/index.js';
import { MODES, withMode } from './modes.js';

/**
 * Returns a program that repeats `step` until `step` throws, and prints the error's code and the
 * number of steps.
 */
const repeat = (prepare: string, step: string) =>
  `${prepare}; let done = 0; try { for (; done < 100_000; done++) { ${step} } } catch (error) { console.log(error.code, done); }`;
/** Returns a program that starts children, prints the codes of failures and exits. */
const children = (count: number, options: string) => `
  import { spawn } from 'node:child_process';
  const codes = [];
  for (let n = 0; n < ${count}; n++) {
    try {
      const child = spawn('node', ['-e', 'setTimeout(() => {}, 60_000)'], ${options});
      await new Promise((resolve) => child.once('spawn', resolve).once('error', (error) => resolve(codes.push(error.code))));
    } catch (error) { codes.push(error.code); }
  }
  console.log(codes.join(' '));
  process.exit();`;

const EXCEEDING_PROGRAMS: [string, Limits, string, string | RegExp][] = [
  ['descriptors', { descriptors: 10 }, repeat(`import fs from 'node:fs'`, `fs.openSync('/etc/hosts')`), 'EMFILE 7\n'],
  ['processes', { processes: 3 }, children(4, `{ stdio: 'ignore' }`), 'EAGAIN EAGAIN\n'],
  ['pipes', { pipes: 7 }, children(3, `{ stdio: 'pipe' }`), 'ENFILE\n'],
  ['totalMemoryBytes of children', { totalMemoryBytes: 40 << 20 }, children(3, `{ stdio: 'ignore' }`), /^ENOMEM( ENOMEM)?\n$/],
  [
    'sockets',
    { sockets: 4 },
    `import net from 'node:net';
    for (let n = 0; n < 5; n++) {
      const server = net.createServer();
      const code = await new Promise((resolve) => server.on('error', (e) => resolve(e.code)).listen(0, () => resolve(0)));
      console.log(code);
    }
    process.exit();`,
    '0\n0\n0\n0\nENFILE\n',
  ],
  [
    'filesystemBytes',
    { filesystemBytes: 100_000 },
    repeat(`import fs from 'node:fs'`, `fs.appendFileSync('/tmp/a', 'x'.repeat(10_000))`),
    'ENOSPC 10\n',
  ],
  [
    'filesystemBytes, scattered',
    { filesystemBytes: 100_000 },
    repeat(`import fs from 'node:fs'; const fd = fs.openSync('/tmp/b', 'w')`, `fs.writeSync(fd, 'x', (done + 1) * 65_536)`),
    'ENOSPC 24\n',
  ],
  // The mount point of the folder is an inode too.
  ['inodes', { inodes: 20 }, repeat(`import fs from 'node:fs'`, `fs.mkdirSync('/tmp/' + done)`), 'ENOSPC 19\n'],
  ['hostFiles', { hostFiles: 3 }, repeat(`import fs from 'node:fs'`, `fs.openSync('/host/file')`), 'ENFILE 3\n'],
  [
    'watches',
    { watches: 3 },
    `import fs from 'node:fs'; fs.mkdirSync('/tmp/w');
    ${repeat('', `fs.mkdirSync('/tmp/w/' + done); fs.watch('/tmp/w/' + done)`)} process.exit()`,
    'ENOSPC 3\n',
  ],
  [
    'operations',
    { operations: 16 },
    `import fs from 'node:fs'; fs.mkdirSync('/tmp/o');
    ${repeat('', `fs.mkdirSync('/tmp/o/' + done); fs.watch('/tmp/o/' + done)`)} process.exit()`,
    /^ENOBUFS 1[0-6]\n$/,
  ],
  [
    'argvBytes',
    { argvBytes: 5_000 },
    `import { spawnSync } from 'node:child_process'; console.log(spawnSync('node', ['-e', '0', 'x'.repeat(5_000)]).error.code)`,
    'E2BIG\n',
  ],
  [
    'envBytes',
    { envBytes: 5_000 },
    `import { spawnSync } from 'node:child_process';
    console.log(spawnSync('node', ['-e', '0'], { env: { A: 'x'.repeat(5_000) } }).error.code)`,
    'E2BIG\n',
  ],
  [
    'kernelBytes of a result',
    { kernelBytes: 1 << 20 },
    `import { pbkdf2 } from 'node:crypto';
    pbkdf2('p', 's', 1, 2 << 20, 'sha1', (error, key) => {
      console.log(error.code, key);
      pbkdf2('p', 's', 1, 2, 'sha1', (error, key) => console.log(error, key.length));
    });`,
    'ENOBUFS undefined\nnull 2\n',
  ],
  [
    'kernelBytes',
    { kernelBytes: 1 << 20 },
    `import { spawnSync } from 'node:child_process';
    const code = "const fs = require('fs'); let n = 0; " +
      "try { for (;;) { fs.openSync('/proc/self/environ'); n++ } } catch (e) { console.log(e.code, n) }";
    process.stdout.write(spawnSync('node', ['-e', code], { env: { A: 'x'.repeat(300_000) } }).stdout)`,
    'ENOMEM 2\n',
  ],
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'limits-'));
  await writeFile(join(folder, 'file'), 'x');
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(MODES)('$name', (mode) => {
  /**
   * Runs `work` in a runtime with limits, then checks that this runtime and another runtime still
   * work.
   */
  const limited = (limits: Limits, work: (runtime: NodeRuntime) => Promise<void>) =>
    withMode(mode, async (provisioning) => {
      const mounts = [{ guestPath: '/host', hostPath: folder }];
      const [runtime, other] = await Promise.all([provisioning.create({ limits, mounts }), provisioning.create()]);
      const runner = await other.createResidentRunner();
      await runner.exec('globalThis.state = 41');
      await work(runtime);
      expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
      expect((await runner.exec('console.log(state + 1)')).stdout).toBe('42\n');
      await Promise.all([runtime.dispose(), other.dispose()]);
    });

  test.each(EXCEEDING_PROGRAMS)('fails with its own error beyond the limit: %s', (_name, limits, code, expected) =>
    limited(limits, async (runtime) => {
      const result = await runtime.exec(code, { timeout: 30_000 });
      expect(result, JSON.stringify(result)).toMatchObject({ exitCode: 0, stderr: '' });
      if (typeof expected === 'string') expect(result.stdout).toBe(expected);
      else expect(result.stdout).toMatch(expected);
    }),
  );

  test('exceeding totalMemoryBytes ends programs and refuses new programs', () =>
    limited({ totalMemoryBytes: 48 << 20 }, async (runtime) => {
      const grow = 'const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));';
      const error = { code: 'ERR_MEMORY_LIMIT', limit: 'totalMemoryBytes', memoryBytes: 48 << 20 };
      expect(await runtime.exec(grow)).toMatchObject({ exitCode: 134, error });
      const waiting: GuestProcess[] = [];
      const start = async () => {
        while (waiting.length < 10) waiting.push(await runtime.spawn('setTimeout(() => {}, 60_000)'));
      };
      const refused = { code: 'ERR_RESOURCE_EXHAUSTED', resource: 'memory bytes in the runtime', limit: 48 << 20 };
      await expect(start()).rejects.toMatchObject(refused);
      expect(waiting.length).toBeGreaterThan(1);
      for (const child of waiting) await child.kill('SIGKILL');
      await Promise.all(waiting.map((child) => child.wait()));
    }));

  test('arguments, environment and stdin of the caller have limits', () =>
    limited({ argvBytes: 5_000, envBytes: 5_000, stdinBytes: 5_000 }, async (runtime) => {
      const long = 'x'.repeat(5_001);
      await expect(runtime.exec('1', { args: [long] })).rejects.toMatchObject({ code: 'E2BIG', syscall: 'spawn' });
      await expect(runtime.execCommand('node', ['-e', '0', long])).rejects.toMatchObject({ code: 'E2BIG', path: 'node' });
      await expect(runtime.exec('1', { env: { A: long } })).rejects.toMatchObject({ code: 'E2BIG' });
      const exhausted = { code: 'ERR_RESOURCE_EXHAUSTED', resource: 'stdin bytes of a process', limit: 5_000 };
      await expect(runtime.exec('1', { stdin: long })).rejects.toMatchObject(exhausted);
      await expect(runtime.spawn('1', { stdin: long })).rejects.toMatchObject({ code: 'ERR_RESOURCE_EXHAUSTED' });
      const child = await runtime.spawn('setTimeout(() => {}, 60_000)');
      const write = async () => {
        for (let n = 0; n < 100; n++) await child.writeStdin('x'.repeat(1_000));
      };
      await expect(write()).rejects.toMatchObject({ code: 'ENOBUFS' });
      await child.kill();
      await child.wait();
    }));

  test('results of a program have a limit', () =>
    limited({ resultBytes: 1_000 }, async (runtime) => {
      const long = await runtime.run(`console.log('out'); __return('x'.repeat(1_000))`);
      expect(long).toMatchObject({ stdout: 'out\n', exitCode: 137, error: { code: 'ERR_RESULT_LIMIT', resultBytes: 1_000 } });
      expect((await runtime.run(`__return('x'.repeat(998))`)).value).toBe('x'.repeat(998));
    }));

  test('returns a result with both outputs at their default limits and a value', () =>
    limited({}, async (runtime) => {
      const full = (stream: string) => `for (let n = 0; n < 17; n++) process.${stream}.write(block);`;
      const code = `const block = 'x'.repeat(1 << 20); ${full('stdout')} ${full('stderr')} __return('y'.repeat(1 << 20))`;
      const result = await runtime.run<string>(code);
      expect(result).toMatchObject({ exitCode: 0, stdoutTruncated: true, stderrTruncated: true });
      expect(result.value?.length).toBe(1 << 20);
      expect(Math.min(result.stdout.length, result.stderr.length)).toBeGreaterThan(15 << 20);
      expect(Math.max(result.stdout.length, result.stderr.length)).toBeLessThanOrEqual(16 << 20);
    }));

  test('wallMs ends programs without a timeout', () =>
    limited({ wallMs: 300 }, async (runtime) => {
      const sleep = 'await new Promise((resolve) => setTimeout(resolve, 60_000))';
      const late = { exitCode: 124, error: { code: 'ERR_TIMEOUT', timeoutMs: 300 } };
      expect(await runtime.exec(sleep)).toMatchObject(late);
      expect(await runtime.exec(sleep, { timeout: 50 })).toMatchObject({ error: { code: 'ERR_TIMEOUT', timeoutMs: 50 } });
      const child = await runtime.spawn(sleep);
      expect(await child.result).toMatchObject(late);
      const runner = await runtime.createResidentRunner();
      expect(await runner.exec(sleep)).toMatchObject(late);
      await new Promise((resolve) => setTimeout(resolve, 350));
      expect((await runner.exec('console.log(1)')).stdout).toBe('1\n');
      await runner.dispose();
    }));

  test('small buffers of pipes and sockets lose no bytes', () =>
    limited({ pipeBytes: 4_096, socketBytes: 4_096 }, async (runtime) => {
      const code = `
        import http from 'node:http';
        import { spawn } from 'node:child_process';
        const server = http.createServer((request, response) => request.pipe(response)).listen(0);
        const echo = await fetch('http://localhost:' + server.address().port, { method: 'POST', body: 'x'.repeat(300_000) });
        console.log((await echo.text()).length);
        server.close();
        const cat = spawn('cat');
        cat.stdin.end('y'.repeat(300_000));
        let length = 0;
        for await (const chunk of cat.stdout) length += chunk.length;
        console.log(length);
        process.exit();`;
      expect(await runtime.exec(code)).toMatchObject({ stdout: '300000\n300000\n', stderr: '' });
    }));

  test('fetchResponseBytes limits responses of a guest server', () =>
    limited({ fetchResponseBytes: 1_000 }, async (runtime) => {
      const code = `import http from 'node:http';
        http.createServer((_, response) => response.end('x'.repeat(1_001))).listen(3_000)`;
      const server = await runtime.spawn(code);
      await runtime.waitForListener({ port: 3_000 });
      const error = { code: 'ERR_RESPONSE_TOO_LARGE', maxResponseBytes: 1_000 };
      await expect(runtime.fetch(3_000)).rejects.toMatchObject(error);
      expect((await runtime.fetch(3_000, '/', { maxResponseBytes: 1_001 })).body.length).toBe(1_001);
      await server.kill();
      await server.wait();
    }));

  test('a single limit replaces the value of the hardened profile', () =>
    limited({ profile: 'hardened', descriptors: 20 }, async (runtime) => {
      const { limits } = await runtime.getResourceSnapshot();
      const most = Object.fromEntries(Object.entries(limits).map(([name, { max }]) => [name, max]));
      expect(most).toMatchObject({ descriptors: 20, processes: 32, memoryBytes: 64 << 20, outputBytes: 1 << 20 });
    }));
});
