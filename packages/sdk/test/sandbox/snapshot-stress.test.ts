// Tests failures that other snapshot systems had: state that leaks through a reused slot, and
// clones with equal random numbers. Further tests cover a paused runtime that cannot resume, a
// snapshot that cannot be deleted, and a disk that fills during a pause.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NodeRuntime, type ResidentRunner, Sidecar } from '../../src/index.js';

let directory: string;
let sidecar: Sidecar;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coldframe-stress-'));
  sidecar = await Sidecar.spawn({ snapshots: { directory } });
});

afterAll(async () => {
  await sidecar.dispose();
  rmSync(directory, { recursive: true, force: true });
});

async function evaluate(runner: ResidentRunner, code: string): Promise<string> {
  const { stdout, stderr, exitCode, error } = await runner.exec(code);
  expect({ exitCode, stderr, error }).toEqual({ exitCode: 0, stderr: '', error: undefined });
  return stdout.trim();
}

const runnerOf = async (runtime: NodeRuntime): Promise<ResidentRunner> => {
  const [runner] = await runtime.residentRunners();
  if (runner === undefined) throw new Error('the copy has no runner');
  return runner;
};

async function withSecret(secret: string): Promise<{ runtime: NodeRuntime; runner: ResidentRunner }> {
  const runtime = await NodeRuntime.create({ sidecar });
  const runner = await runtime.createResidentRunner();
  await evaluate(
    runner,
    `import { writeFileSync } from 'node:fs';
     globalThis.secret = '${secret}'.repeat(1000); process.env.SECRET = '${secret}'; writeFileSync('/tmp/secret', '${secret}')`,
  );
  return { runtime, runner };
}

const READ_SECRET = `
  import { existsSync, readFileSync } from 'node:fs';
  const file = existsSync('/tmp/secret') ? readFileSync('/tmp/secret', 'utf8') : 'none';
  console.log([typeof secret === 'string' ? secret.slice(0, 5) : 'none', process.env.SECRET ?? 'none', file].join());
`;

test('a reused slot has no state of another snapshot over 60 alternations', async () => {
  const secrets = ['alpha', 'bravo', 'gamma'];
  const taken = [];
  for (const secret of secrets) {
    const { runtime } = await withSecret(secret);
    taken.push({ secret, snapshot: await runtime.snapshot() });
    await runtime.dispose();
  }
  for (let round = 0; round < 60; round++) {
    const { secret, snapshot } = taken[round % taken.length] as (typeof taken)[0];
    const runtime = await NodeRuntime.create({ sidecar, snapshot });
    expect(await evaluate(await runnerOf(runtime), READ_SECRET)).toBe(`${secret},${secret},${secret}`);
    const plain = await NodeRuntime.create({ sidecar });
    expect(await evaluate(await plain.createResidentRunner(), READ_SECRET)).toBe('none,none,none');
    await Promise.all([runtime.dispose(), plain.dispose()]);
  }
  for (const { snapshot } of taken) await snapshot.delete();
});

test('a hundred clones have no random value of any kind in common', async () => {
  const { runtime, runner } = await withSecret('seeds');
  await evaluate(runner, `import { randomUUID } from 'node:crypto'; Math.random(); randomUUID();`);
  const draw = `
    import { createHash, randomBytes, randomInt, randomUUID, generateKeySync } from 'node:crypto';
    import { mkdtempSync } from 'node:fs';
    console.log(JSON.stringify([
      Math.random(),
      randomUUID(),
      crypto.randomUUID(),
      randomBytes(8).toString('hex'),
      randomInt(2 ** 47),
      crypto.getRandomValues(new Uint32Array(2)).join(),
      generateKeySync('hmac', { length: 64 }).export().toString('hex'),
      mkdtempSync('/tmp/x-')
    ]));`;
  const copies = await runtime.clone(100);
  const drawn = [runner, ...(await Promise.all(copies.map(runnerOf)))].map(
    async (one) => JSON.parse(await evaluate(one, draw)) as unknown[],
  );
  const rows = await Promise.all(drawn);
  for (let kind = 0; kind < (rows[0]?.length ?? 0); kind++) {
    const values = rows.map((row) => String(row[kind]));
    expect(new Set(values).size, `kind ${kind}: ${values.slice(0, 3)}`).toBe(values.length);
  }
  await Promise.all([runtime, ...copies].map((one) => one.dispose()));
});

describe('pause', () => {
  test('a runtime keeps its state over a hundred pauses', async () => {
    const { runtime, runner } = await withSecret('pause');
    await evaluate(runner, 'globalThis.n = 0');
    for (let cycle = 1; cycle <= 100; cycle++) {
      await evaluate(runner, `n += 1; import { appendFileSync } from 'node:fs'; appendFileSync('/tmp/log', n + ' ')`);
      const snapshot = await runtime.pause();
      expect(runtime.state).toBe('paused');
      await runtime.resume();
      await snapshot.delete();
    }
    const all = Array.from({ length: 100 }, (_, n) => `${n + 1} `).join('');
    expect(Buffer.from(await runtime.readFile('/tmp/log')).toString()).toBe(all);
    expect(await evaluate(runner, `console.log(n, secret.length)`)).toBe('100 5000');
    await runtime.dispose();
  });

  test('a snapshot of a runtime whose guest computes is refused, and the runtime keeps running', async () => {
    const { runtime, runner } = await withSecret('loops');
    let started = (): void => {};
    const begun = new Promise<void>((resolve) => {
      started = resolve;
    });
    const code = 'console.log(1); globalThis.until = Date.now() + 400; while (Date.now() < until);';
    const computing = runner.exec(code, { onStdout: () => started() });
    await begun;
    await expect(runtime.snapshot({ timeoutMs: 20 })).rejects.toMatchObject({ code: 'ERR_NOT_QUIET' });
    expect((await computing).exitCode).toBe(0);
    const snapshot = await runtime.snapshot();
    expect(await evaluate(runner, READ_SECRET)).toBe('loops,loops,loops');
    await snapshot.delete();
    await runtime.dispose();
  });

  test('concurrent pause(), resume() and dispose() all settle', async () => {
    const { runtime, runner } = await withSecret('busy1');
    const evaluation = evaluate(runner, READ_SECRET);
    const calls = await Promise.allSettled([runtime.pause(), runtime.pause(), runtime.snapshot()]);
    expect(calls.map(({ status }) => status).slice(0, 2)).toEqual(['fulfilled', 'fulfilled']);
    expect(runtime.state).toBe('paused');
    await Promise.all([runtime.resume(), runtime.resume()]);
    // The evaluation was running when the runtime was paused, and continues.
    expect(await evaluation).toBe('busy1,busy1,busy1');
    expect(runtime.state).toBe('running');
    expect(await evaluate(runner, READ_SECRET)).toBe('busy1,busy1,busy1');
    const late = runner.exec('await new Promise((resolve) => setTimeout(resolve, 1e9))');
    await runtime.pause();
    await expect(runtime.exec('1')).rejects.toMatchObject({ code: 'ERR_RUNTIME_PAUSED' });
    await runtime.dispose();
    // A disposed runtime ends its pending results.
    expect(
      await late.then(
        (result) => result.error?.code,
        (error: { code: string }) => error.code,
      ),
    ).toBe('ERR_RUNTIME_DISPOSED');
    await expect(runtime.resume()).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
  });
});

describe('delete()', () => {
  test('deletes a snapshot of live runtimes, fails the second time, and settles a concurrent restore', async () => {
    const { runtime } = await withSecret('alive');
    for (const store of ['memory', 'disk'] as const) {
      const snapshot = await runtime.snapshot({ store });
      const copy = await NodeRuntime.create({ sidecar, snapshot });
      const reading = NodeRuntime.create({ sidecar, snapshot });
      await snapshot.delete();
      await expect(snapshot.delete()).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_NOT_FOUND' });
      await expect(sidecar.snapshots.get(snapshot.id)).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_NOT_FOUND' });
      expect((await sidecar.snapshots.list()).map(({ id }) => id)).not.toContain(snapshot.id);
      // The restored runtime keeps the pages of the deleted snapshot that it has mapped.
      expect(await evaluate(await runnerOf(copy), READ_SECRET)).toBe('alive,alive,alive');
      const read = await reading.catch((error: { code: string }) => error.code);
      if (read instanceof NodeRuntime) await read.dispose();
      else expect(read).toBe('ERR_SNAPSHOT_NOT_FOUND');
      await copy.dispose();
    }
    await runtime.dispose();
  });

  test('frees the space on disk', async () => {
    const { runtime } = await withSecret('disk1');
    const before = bytesIn(directory);
    const snapshots = [];
    for (let n = 0; n < 5; n++) snapshots.push(await runtime.snapshot({ store: 'disk' }));
    expect(bytesIn(directory)).toBeGreaterThan(before);
    for (const snapshot of snapshots) await snapshot.delete();
    expect(bytesIn(directory)).toBe(before);
    await runtime.dispose();
  });
});

// Mounting a small disk needs root.
test.skipIf(process.getuid?.() !== 0)('a disk that fills during a pause leaves the runtime running', async () => {
  const small = await mkdtemp(join(tmpdir(), 'coldframe-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', small]);
  const own = await Sidecar.spawn({ snapshots: { directory: small } });
  try {
    const runtime = await NodeRuntime.create({ sidecar: own });
    const runner = await runtime.createResidentRunner();
    await evaluate(runner, `import { randomBytes } from 'node:crypto'; globalThis.kept = randomBytes(8 << 20); globalThis.n = 1`);
    for (let round = 0; round < 3; round++) {
      await expect(runtime.pause()).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_FILE', errno: 'ENOSPC' });
      expect(runtime.state).toBe('running');
      expect(await evaluate(runner, `n += 1; console.log(n, kept.length)`)).toBe(`${round + 2} 8388608`);
      expect(bytesIn(small), 'bytes that remain on disk').toBe(0);
    }
    await evaluate(runner, 'globalThis.kept = undefined; globalThis.gc?.()');
    await runtime.dispose();
  } finally {
    await own.dispose();
    execFileSync('umount', [small]);
    rmSync(small, { recursive: true, force: true });
  }
});

test('a store folder below a file is an error of pause(), and the runtime keeps running', async () => {
  const file = join(directory, 'a-file');
  writeFileSync(file, 'text');
  // Behind the wall, the parent of the folder is an empty folder for reading only.
  for (const [walls, errno] of [
    ['off', 'ENOTDIR'],
    ['auto', expect.stringMatching(/^(ENOTDIR|EROFS)$/)],
  ] as const) {
    const own = await Sidecar.spawn({ snapshots: { directory: join(file, 'below') }, walls });
    const runtime = await NodeRuntime.create({ sidecar: own });
    await expect(runtime.pause()).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_FILE', errno });
    expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
    await own.dispose();
  }
  rmSync(file);
});

test('takes ten snapshots of 100 MB at once, and each copy has its own heap', async () => {
  const runtimes = await Promise.all(
    Array.from({ length: 10 }, async (_, n) => {
      const runtime = await NodeRuntime.create({ sidecar, limits: { memoryBytes: 256 << 20 } });
      await evaluate(await runtime.createResidentRunner(), `globalThis.heap = Buffer.alloc(100 << 20, ${n + 1})`);
      return runtime;
    }),
  );
  const snapshots = await Promise.all(runtimes.map((runtime) => runtime.snapshot()));
  const copies = await Promise.all(snapshots.map((snapshot) => NodeRuntime.create({ sidecar, snapshot })));
  const readHeap = `console.log(heap.length, heap[0], heap[50_000_000], heap.at(-1))`;
  const heaps = await Promise.all(copies.map(async (copy) => evaluate(await runnerOf(copy), readHeap)));
  expect(heaps).toEqual(heaps.map((_, n) => `104857600 ${n + 1} ${n + 1} ${n + 1}`));
  for (const runtime of [...runtimes, ...copies]) await runtime.dispose();
  for (const snapshot of snapshots) await snapshot.delete();
});

function bytesIn(folder: string): number {
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    return 0;
  }
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(folder, name)));
  return entries.filter((entry) => entry.isFile()).reduce((sum, entry) => sum + entry.size, 0);
}
