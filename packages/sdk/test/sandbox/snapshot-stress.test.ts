// What has gone wrong in other systems of this kind, each as a test: state that comes through a reused slot, clones that agree on random
// numbers, a sleeper that cannot be woken, a snapshot that cannot be deleted, a disk that fills up while a runtime goes to sleep.

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
  directory = await mkdtemp(join(tmpdir(), 'coldframe-horrors-'));
  sidecar = await Sidecar.spawn({ snapshots: { directory } });
});

afterAll(async () => {
  await sidecar.dispose();
  rmSync(directory, { recursive: true, force: true });
});

async function say(runner: ResidentRunner, code: string): Promise<string> {
  const { stdout, stderr, exitCode, error } = await runner.exec(code);
  expect({ exitCode, stderr, error }).toEqual({ exitCode: 0, stderr: '', error: undefined });
  return stdout.trim();
}

const first = async (runtime: NodeRuntime): Promise<ResidentRunner> => {
  const [runner] = await runtime.residentRunners();
  if (runner === undefined) throw new Error('the copy has no runner');
  return runner;
};

async function withSecret(secret: string): Promise<{ runtime: NodeRuntime; runner: ResidentRunner }> {
  const runtime = await NodeRuntime.create({ sidecar });
  const runner = await runtime.createResidentRunner();
  await say(
    runner,
    `import { writeFileSync } from 'node:fs';
     globalThis.secret = '${secret}'.repeat(1000); process.env.SECRET = '${secret}'; writeFileSync('/tmp/secret', '${secret}')`,
  );
  return { runtime, runner };
}

const LOOK = `
  import { existsSync, readFileSync } from 'node:fs';
  const file = existsSync('/tmp/secret') ? readFileSync('/tmp/secret', 'utf8') : 'none';
  console.log([typeof secret === 'string' ? secret.slice(0, 5) : 'none', process.env.SECRET ?? 'none', file].join());
`;

test('a reused slot brings nothing of another snapshot, however often they take turns', async () => {
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
    expect(await say(await first(runtime), LOOK)).toBe(`${secret},${secret},${secret}`);
    const plain = await NodeRuntime.create({ sidecar });
    expect(await say(await plain.createResidentRunner(), LOOK)).toBe('none,none,none');
    await Promise.all([runtime.dispose(), plain.dispose()]);
  }
  for (const { snapshot } of taken) await snapshot.delete();
});

test('a hundred clones agree on no random number, of whatever kind', async () => {
  const { runtime, runner } = await withSecret('seeds');
  await say(runner, `import { randomUUID } from 'node:crypto'; Math.random(); randomUUID();`);
  const draw = `
    import { createHash, randomBytes, randomInt, randomUUID, generateKeySync } from 'node:crypto';
    import { mkdtempSync } from 'node:fs';
    console.log(JSON.stringify([Math.random(), randomUUID(), crypto.randomUUID(), randomBytes(8).toString('hex'), randomInt(2 ** 47),
      crypto.getRandomValues(new Uint32Array(2)).join(), generateKeySync('hmac', { length: 64 }).export().toString('hex'),
      mkdtempSync('/tmp/x-')]));`;
  const copies = await runtime.clone(100);
  const drawn = [runner, ...(await Promise.all(copies.map(first)))].map(
    async (one) => JSON.parse(await say(one, draw)) as unknown[],
  );
  const rows = await Promise.all(drawn);
  for (let kind = 0; kind < (rows[0]?.length ?? 0); kind++) {
    const values = rows.map((row) => String(row[kind]));
    expect(new Set(values).size, `kind ${kind}: ${values.slice(0, 3)}`).toBe(values.length);
  }
  await Promise.all([runtime, ...copies].map((one) => one.dispose()));
});

describe('sleep', () => {
  test('a hundred times, and nothing is lost', async () => {
    const { runtime, runner } = await withSecret('sleep');
    await say(runner, 'globalThis.n = 0');
    for (let cycle = 1; cycle <= 100; cycle++) {
      await say(runner, `n += 1; import { appendFileSync } from 'node:fs'; appendFileSync('/tmp/log', n + ' ')`);
      const snapshot = await runtime.pause();
      expect(runtime.state).toBe('paused');
      await runtime.resume();
      await snapshot.delete();
    }
    const all = Array.from({ length: 100 }, (_, n) => `${n + 1} `).join('');
    expect(Buffer.from(await runtime.readFile('/tmp/log')).toString()).toBe(all);
    expect(await say(runner, `console.log(n, secret.length)`)).toBe('100 5000');
    await runtime.dispose();
  });

  test('a runtime whose guest spins says so, and lives', async () => {
    const { runtime, runner } = await withSecret('spins');
    let spins = (): void => {};
    const begun = new Promise<void>((resolve) => {
      spins = resolve;
    });
    const code = 'console.log(1); globalThis.until = Date.now() + 400; while (Date.now() < until);';
    const spinning = runner.exec(code, { onStdout: () => spins() });
    await begun;
    await expect(runtime.snapshot({ timeoutMs: 20 })).rejects.toMatchObject({ code: 'ERR_NOT_QUIET' });
    expect((await spinning).exitCode).toBe(0);
    const snapshot = await runtime.snapshot();
    expect(await say(runner, LOOK)).toBe('spins,spins,spins');
    await snapshot.delete();
    await runtime.dispose();
  });

  test('who pauses, resumes and disposes at the same time gets an answer each', async () => {
    const { runtime, runner } = await withSecret('busy1');
    const evaluation = say(runner, LOOK);
    const calls = await Promise.allSettled([runtime.pause(), runtime.pause(), runtime.snapshot()]);
    expect(calls.map(({ status }) => status).slice(0, 2)).toEqual(['fulfilled', 'fulfilled']);
    expect(runtime.state).toBe('paused');
    await Promise.all([runtime.resume(), runtime.resume()]);
    // It was under way when the runtime went to sleep, and goes on where it was.
    expect(await evaluation).toBe('busy1,busy1,busy1');
    expect(runtime.state).toBe('running');
    expect(await say(runner, LOOK)).toBe('busy1,busy1,busy1');
    const late = runner.exec('await new Promise((resolve) => setTimeout(resolve, 1e9))');
    await runtime.pause();
    await expect(runtime.exec('1')).rejects.toMatchObject({ code: 'ERR_RUNTIME_PAUSED' });
    await runtime.dispose();
    // Nobody waits for a sleeper that is gone.
    expect(
      await late.then(
        (result) => result.error?.code,
        (error: { code: string }) => error.code,
      ),
    ).toBe('ERR_RUNTIME_DISPOSED');
    await expect(runtime.resume()).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
  });
});

describe('deleting', () => {
  test('a snapshot whose runtimes live, twice, and while it is read', async () => {
    const { runtime } = await withSecret('gone1');
    for (const store of ['memory', 'disk'] as const) {
      const snapshot = await runtime.snapshot({ store });
      const copy = await NodeRuntime.create({ sidecar, snapshot });
      const reading = NodeRuntime.create({ sidecar, snapshot });
      await snapshot.delete();
      await expect(snapshot.delete()).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_NOT_FOUND' });
      await expect(sidecar.snapshots.get(snapshot.id)).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_NOT_FOUND' });
      expect((await sidecar.snapshots.list()).map(({ id }) => id)).not.toContain(snapshot.id);
      // It lives on what it has mapped.
      expect(await say(await first(copy), LOOK)).toBe('gone1,gone1,gone1');
      const read = await reading.catch((error: { code: string }) => error.code);
      if (read instanceof NodeRuntime) await read.dispose();
      else expect(read).toBe('ERR_SNAPSHOT_NOT_FOUND');
      await copy.dispose();
    }
    await runtime.dispose();
  });

  test('gives the disk back', async () => {
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

// Mounting needs root; whoever is not, cannot make a disk full either.
test.skipIf(process.getuid?.() !== 0)('a disk that fills up in the middle of a pause leaves the runtime alive', async () => {
  const small = await mkdtemp(join(tmpdir(), 'coldframe-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', small]);
  const own = await Sidecar.spawn({ snapshots: { directory: small } });
  try {
    const runtime = await NodeRuntime.create({ sidecar: own });
    const runner = await runtime.createResidentRunner();
    await say(runner, `import { randomBytes } from 'node:crypto'; globalThis.kept = randomBytes(8 << 20); globalThis.n = 1`);
    for (let round = 0; round < 3; round++) {
      await expect(runtime.pause()).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_FILE', errno: 'ENOSPC' });
      expect(runtime.state).toBe('running');
      expect(await say(runner, `n += 1; console.log(n, kept.length)`)).toBe(`${round + 2} 8388608`);
      expect(bytesIn(small), 'nothing is left behind').toBe(0);
    }
    await say(runner, 'globalThis.kept = undefined; globalThis.gc?.()');
    await runtime.dispose();
  } finally {
    await own.dispose();
    execFileSync('umount', [small]);
    rmSync(small, { recursive: true, force: true });
  }
});

test('a folder that is no folder is named, and the runtime lives', async () => {
  const file = join(directory, 'a-file');
  writeFileSync(file, 'text');
  const own = await Sidecar.spawn({ snapshots: { directory: join(file, 'below') } });
  const runtime = await NodeRuntime.create({ sidecar: own });
  await expect(runtime.pause()).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_FILE', errno: 'ENOTDIR' });
  expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
  await own.dispose();
  rmSync(file);
});

test('ten heaps of 100 MB are saved at once, and each copy has its own', async () => {
  const runtimes = await Promise.all(
    Array.from({ length: 10 }, async (_, n) => {
      const runtime = await NodeRuntime.create({ sidecar, limits: { memoryBytes: 256 << 20 } });
      await say(await runtime.createResidentRunner(), `globalThis.heap = Buffer.alloc(100 << 20, ${n + 1})`);
      return runtime;
    }),
  );
  const snapshots = await Promise.all(runtimes.map((runtime) => runtime.snapshot()));
  const copies = await Promise.all(snapshots.map((snapshot) => NodeRuntime.create({ sidecar, snapshot })));
  const look = `console.log(heap.length, heap[0], heap[50_000_000], heap.at(-1))`;
  const told = await Promise.all(copies.map(async (copy) => say(await first(copy), look)));
  expect(told).toEqual(told.map((_, n) => `104857600 ${n + 1} ${n + 1} ${n + 1}`));
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
