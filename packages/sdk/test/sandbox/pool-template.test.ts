// The template of a pool, and what becomes of the pool when it is lost, is never done, or its sidecar goes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NodeRuntime, RuntimePool, Sidecar, type Snapshot } from '../../src/index.js';
import { childrenOf, isThere, sleep, until } from './processes.js';
import { inFolderOfItsOwn } from './snapshot-helpers.js';

inFolderOfItsOwn();

const answer = async (runtime: NodeRuntime): Promise<string> => {
  const [runner] = await runtime.residentRunners();
  return (await runner?.exec('console.log(answer)'))?.stdout ?? 'no runner';
};

async function templateIn(sidecar: Sidecar): Promise<Snapshot> {
  await using runtime = await NodeRuntime.create({ sidecar });
  await (await runtime.createResidentRunner()).exec('globalThis.answer = 42');
  return await runtime.snapshot();
}

test.each([
  ['shared', () => Sidecar.spawn()],
  ['embedded', () => Sidecar.embedded()],
])('a template that is gone from the store is made anew, once for all who need it: %s', async (_, open) => {
  await using sidecar = await open();
  let [prepared, running, most] = [0, 0, 0];
  const prepare = async (runtime: NodeRuntime): Promise<void> => {
    most = Math.max(most, ++running);
    await (await runtime.createResidentRunner()).exec('globalThis.answer = 42');
    running--;
    prepared++;
  };
  await using pool = new RuntimePool({ size: 6, min: 1, sidecar, prepare });
  expect(await pool.withRuntime(answer)).toBe('42\n');
  for (let round = 1; round < 4; round++) {
    // As when the store needs the room.
    for (const snapshot of await sidecar.snapshots.list()) await snapshot.delete();
    // Tenants that have no slots yet.
    const calls = [1, 2, 3, 4].map((n) => pool.withRuntime(answer, { tenant: `${round}-${n}` }));
    expect(await Promise.all(calls)).toEqual(['42\n', '42\n', '42\n', '42\n']);
    expect(prepared).toBeGreaterThan(round);
  }
  expect(most).toBe(1);
  expect(pool.stats()).toMatchObject({ failed: 0, timeouts: 0 });
});

test('what `prepare` has permitted and forbidden counts in every slot', async () => {
  const prepare = (runtime: NodeRuntime) => runtime.setPermissions({ fs: 'deny', network: 'deny', env: 'allow' });
  await using pool = new RuntimePool({
    size: 1,
    prepare,
    options: { permissions: { fs: 'allow', network: 'allow', env: 'allow' } },
  });
  for (let use = 0; use < 2; use++) {
    await pool.withRuntime(async (runtime) => {
      expect(runtime.permissions).toMatchObject({ fs: 'deny', network: 'deny', env: 'allow' });
      const { stdout } = await runtime.exec(
        "console.log(await import('node:fs').then((fs) => fs.readFileSync('/etc/passwd')).catch((error) => error.code))",
      );
      expect(stdout).toBe('EACCES\n');
    });
  }
  expect(pool.stats()).toMatchObject({ created: 1, recycled: 1 });
});

test('a pool whose `prepare` never ends is disposed of, and its sidecar too', async () => {
  const before = childrenOf();
  let begun = false;
  const prepare = (): Promise<never> => {
    begun = true;
    return new Promise(() => {});
  };
  const pool = new RuntimePool({ size: 1, prepare });
  const call = expect(pool.withRuntime(answer)).rejects.toMatchObject({ code: 'ERR_POOL_DISPOSED' });
  await until(() => begun, 10_000, 'prepare has begun');
  expect(childrenOf().filter((child) => !before.includes(child)).length).toBe(1);
  await pool.dispose();
  await call;
  expect(pool.stats()).toMatchObject({ preparing: 0, errors: 0 });
  expect(childrenOf().filter((child) => !before.includes(child))).toEqual([]);
});

test('a pool that is disposed of while `prepare` runs leaves nothing in a sidecar of the app', async () => {
  await using sidecar = await Sidecar.spawn();
  let [begun, failed]: [boolean, unknown] = [false, undefined];
  const prepare = async (runtime: NodeRuntime): Promise<void> => {
    begun = true;
    await runtime.exec('await new Promise(() => setInterval(() => {}, 1000))');
    failed = await runtime.exec('').catch((error: unknown) => error);
  };
  const pool = new RuntimePool({ size: 1, sidecar, prepare });
  const runtimes = async (): Promise<number> => (await sidecar.getResourceSnapshot()).runtimes;
  await until(() => begun, 10_000, 'prepare has begun');
  await pool.dispose({ timeoutMs: 0 });
  // A program that was killed may take a moment to go.
  while ((await runtimes()) > 0) await sleep(5);
  expect([...(await sidecar.snapshots.list())]).toEqual([]);
  await until(() => failed !== undefined, 10_000, 'prepare has gone on');
  expect(failed).toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
});

test('a pool goes on with its sidecar when `prepare` has failed', async () => {
  const before = childrenOf();
  const pids = new Set<number>();
  let attempts = 0;
  const prepare = async (runtime: NodeRuntime): Promise<void> => {
    for (const child of childrenOf()) if (!before.includes(child)) pids.add(child);
    if (++attempts < 3) throw new Error(`attempt ${attempts}`);
    await (await runtime.createResidentRunner()).exec('globalThis.answer = 42');
  };
  await using pool = new RuntimePool({ size: 1, min: 0, prepare });
  await expect(pool.withRuntime(answer)).rejects.toThrow('attempt 1');
  await expect(pool.withRuntime(answer)).rejects.toThrow('attempt 2');
  expect(await pool.withRuntime(answer)).toBe('42\n');
  expect(pids.size).toBe(1);
});

test('kill -9 of the pool’s own sidecar while calls wait and a user hangs: those who wait are served', async () => {
  const before = childrenOf();
  const prepare = async (runtime: NodeRuntime): Promise<void> => {
    await (await runtime.createResidentRunner()).exec('globalThis.answer = 42');
  };
  await using pool = new RuntimePool({ size: 2, min: 2, prepare });
  const controller = new AbortController();
  const hanging = pool.withRuntime(() => new Promise(() => {}), { signal: controller.signal });
  const running = pool.withRuntime((runtime) => runtime.exec('await new Promise(() => setInterval(() => {}, 1000))'));
  await until(() => pool.stats().busy === 2, 10_000, 'all slots are in use');
  const waiting = [pool.withRuntime(answer), pool.withRuntime(answer, { tenant: 'a' })];
  await until(() => pool.stats().waiting === 2, 10_000, 'they wait');
  const [pid] = childrenOf().filter((child) => !before.includes(child)) as [number];
  process.kill(pid, 'SIGKILL');
  await expect(running).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED', pid });
  expect(await Promise.all(waiting)).toEqual(['42\n', '42\n']);
  expect(isThere(pid)).toBe(false);
  controller.abort('enough');
  await expect(hanging).rejects.toBe('enough');
  expect(pool.stats()).toMatchObject({ failed: 0, timeouts: 0 });
});

test('a name is looked up once, also when the sidecar that had it dies', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'coldframe-pool-'));
  const before = process.env['XDG_DATA_HOME'];
  process.env['XDG_DATA_HOME'] = folder;
  try {
    await using sidecar = await Sidecar.spawn();
    await using runtime = await NodeRuntime.create({ sidecar });
    const runner = await runtime.createResidentRunner();
    const keep = async (value: number): Promise<void> => {
      await runner.exec(`globalThis.answer = ${value}`);
      await runtime.snapshot({ name: 'template', store: 'disk' });
    };
    await keep(1);
    const known = childrenOf();
    await using pool = new RuntimePool({ size: 1, snapshot: 'template' });
    expect(await pool.withRuntime(answer)).toBe('1\n');
    await keep(2);
    process.kill(childrenOf().find((child) => !known.includes(child)) as number, 'SIGKILL');
    await until(() => childrenOf().every((child) => known.includes(child)), 10_000, 'it is gone');
    expect(await pool.withRuntime(answer)).toBe('1\n');
  } finally {
    if (before === undefined) delete process.env['XDG_DATA_HOME'];
    else process.env['XDG_DATA_HOME'] = before;
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['shared', () => Sidecar.spawn({ maxRuntimes: 2 })],
  ['embedded', () => Sidecar.embedded({ maxRuntimes: 2 })],
])('at the limit of a sidecar idle slots of one tenant give way to another: %s', async (_, open) => {
  await using sidecar = await open();
  await using pool = new RuntimePool({ size: 10, min: 0, sidecar, snapshot: await templateIn(sidecar) });
  const both = Promise.all([pool.acquire({ tenant: 'a' }), pool.acquire({ tenant: 'a' })]);
  for (const lease of await both) lease.release();
  await until(() => pool.stats().idle === 2, 10_000, 'both are idle');
  expect(await pool.withRuntime(answer, { tenant: 'b' })).toBe('42\n');
  expect(pool.stats()).toMatchObject({ failed: 0, timeouts: 0 });
});
