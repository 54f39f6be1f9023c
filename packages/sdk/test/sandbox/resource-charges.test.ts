// Runs guests that take as much of a resource of the sidecar's process as they can: memory and
// descriptors of the host machine. A neighbour keeps its part, and the memory returns to the system
// after the guest's end.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sidecarPath } from '@coldframe/sidecar';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createMemoryFileSystem, NodeRuntime, Sidecar } from '../../src/index.js';
import { MODES, withMode } from './modes.js';
import { heapBytes, until } from './processes.js';

const MIB = 1 << 20;

/** A hang bound: the sidecar returns memory within a second, but machines of tests are slow. */
const HANG_MS = 30_000;

/** Makes ciphers that each have had 64 KiB of input, prints their number, and stays. */
const CIPHERS = `
  import { createCipheriv } from 'node:crypto';
  const kept = [], data = Buffer.alloc(65536);
  for (let n = 0; n < 1_024; n++) {
    const cipher = createCipheriv('aes-256-cbc', Buffer.alloc(32), Buffer.alloc(16));
    cipher.update(data);
    kept.push(cipher);
  }
  console.log(kept.length);
  setInterval(() => {}, 60_000);`;

/** Opens the mounted file until an error, and prints the error's code. */
const OPEN_ALL = `
  import fs from 'node:fs';
  const open = [];
  try { for (;;) open.push(fs.openSync('/host/file')); } catch (error) { console.log(error.code, open.length); }`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'resource-charges-'));
  writeFileSync(join(folder, 'file'), 'text');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a sidecar whose process may have `count` descriptors. */
async function spawnWithDescriptors(count: number): Promise<Sidecar> {
  const program = join(folder, 'sidecar');
  writeFileSync(program, `#!/bin/sh\nulimit -n ${count}\nexec '${sidecarPath()}' "$@"\n`, { mode: 0o755 });
  vi.stubEnv('COLDFRAME_SIDECAR', program);
  try {
    return await Sidecar.spawn();
  } finally {
    vi.unstubAllEnvs();
  }
}

/** Spawns a program and waits for the first line of its output. */
async function firstLine(runtime: NodeRuntime, code: string): Promise<string> {
  let seen = '';
  let report = () => {};
  const reported = new Promise<void>((resolve) => {
    report = resolve;
  });
  const program = await runtime.spawn(code, {
    onStdout: (bytes) => {
      seen += Buffer.from(bytes).toString();
      if (seen.includes('\n')) report();
    },
  });
  await Promise.race([reported, program.result]);
  return seen;
}

describe('guests that share a process', () => {
  test('1,024 ciphers with input hold no more than their charge, and their memory returns to the system', async () => {
    await using sidecar = await Sidecar.spawn();
    await using neighbour = await NodeRuntime.create({ sidecar });
    const runtime = await NodeRuntime.create({ sidecar, limits: { profile: 'hardened', wallMs: 0, cpuMs: 600_000 } });
    expect((await neighbour.exec('console.log(1)')).stdout).toBe('1\n');
    const before = heapBytes(sidecar.pid);
    expect(await firstLine(runtime, CIPHERS)).toBe('1024\n');
    const { kernelBytes } = (await runtime.getResourceSnapshot()).limits;
    expect(heapBytes(sidecar.pid) - before).toBeLessThan(1.2 * kernelBytes.used + 8 * MIB);
    expect((await neighbour.exec('console.log(2)')).stdout).toBe('2\n');
    await runtime.dispose();
    await until(() => heapBytes(sidecar.pid) - before < 4 * MIB, HANG_MS, 'the memory is back at the system');
  });

  test('the files of a disposed runtime return to the system', async () => {
    await using sidecar = await Sidecar.spawn();
    await using neighbour = await NodeRuntime.create({ sidecar });
    const runtime = await NodeRuntime.create({ sidecar });
    expect((await neighbour.exec('console.log(1)')).stdout).toBe('1\n');
    const before = heapBytes(sidecar.pid);
    const write = `import fs from 'node:fs'; for (let n = 0; n < 1000; n++) fs.writeFileSync('f' + n, Buffer.alloc(60_000, 1));`;
    expect(await runtime.exec(write)).toMatchObject({ exitCode: 0, stderr: '' });
    // The neighbour's file is made later and keeps the end of the allocator's heap in use.
    await neighbour.exec(`import fs from 'node:fs'; fs.writeFileSync('last', Buffer.alloc(60_000, 1))`);
    expect(heapBytes(sidecar.pid) - before).toBeGreaterThan(50 * MIB);
    await runtime.dispose();
    await until(() => heapBytes(sidecar.pid) - before < 8 * MIB, HANG_MS, 'the memory is back at the system');
    expect((await neighbour.exec(`import fs from 'node:fs'; console.log(fs.statSync('last').size)`)).stdout).toBe('60000\n');
  });

  test('a guest that opens all host files leaves descriptors for a neighbour', async () => {
    await using sidecar = await spawnWithDescriptors(400);
    const mounts = [{ guestPath: '/host', hostPath: folder }];
    const limits = { hostFiles: 10_000, descriptors: 10_000 };
    const hostile = await Promise.all([1, 2, 3].map(() => NodeRuntime.create({ sidecar, mounts, limits })));
    for (const runtime of hostile) {
      const [code, count] = (await firstLine(runtime, `${OPEN_ALL} setInterval(() => {}, 60_000);`)).split(' ');
      expect(code).toBe('ENFILE');
      expect(Number(count)).toBeGreaterThanOrEqual(20);
    }
    await using neighbour = await NodeRuntime.create({ sidecar, mounts });
    const read = `import fs from 'node:fs'; for (let n = 0; n < 10; n++) fs.openSync('/host/file'); console.log('open')`;
    expect(await neighbour.exec(read)).toMatchObject({ stdout: 'open\n', stderr: '' });
    const watch = `import fs from 'node:fs'; fs.watch('/host').close(); console.log('watched')`;
    expect(await neighbour.exec(watch)).toMatchObject({ stdout: 'watched\n', stderr: '' });
    await neighbour.snapshot();
    for (const runtime of hostile) await runtime.dispose();
    const openAll = async () => Number(/^ENFILE (\d+)\n$/.exec((await neighbour.exec(OPEN_ALL)).stdout)?.[1]);
    while ((await openAll()) < 90);
  });
});

describe.each(MODES)('$name', (mode) => {
  test('replies of an app file system count for kernelBytes of the runtime', () =>
    withMode(mode, async (provisioning) => {
      const fileSystem = createMemoryFileSystem();
      for (let n = 0; n < 3_000; n++) fileSystem.create(`/${'n'.repeat(200)}${n}`, 0o644);
      fileSystem.create('/file', 0o644);
      fileSystem.write('/file', 0, Buffer.from('text'));
      const mounts = [{ guestPath: '/app', fileSystem }];
      const small = await provisioning.create({ mounts, limits: { kernelBytes: 256 << 10 } });
      const large = await provisioning.create({ mounts });
      const code = `
        import fs from 'node:fs';
        try { console.log(fs.readdirSync('/app').length); } catch (error) { console.log(error.code); }
        console.log(fs.readFileSync('/app/file', 'utf8'));`;
      expect(await small.exec(code)).toMatchObject({ stdout: 'ENOBUFS\ntext\n', stderr: '' });
      expect(await large.exec(code)).toMatchObject({ stdout: '3001\ntext\n', stderr: '' });
      expect((await small.getResourceSnapshot()).limits.kernelBytes).toMatchObject({ used: 0 });
      await Promise.all([small.dispose(), large.dispose()]);
    }));
});
