// Tests the template of a pool: a template that is evicted, a template that never becomes ready,
// and a template whose sidecar exits.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NodeRuntime, RuntimePool, Sidecar, type Snapshot } from '../../src/index.js';
import { childrenOf, processExists, sleep, until } from './processes.js';
import { usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const readAnswer = async (runtime: NodeRuntime): Promise<string> => {
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
])('makes a template that was removed from the store again, once for all calls: %s', async (_, open) => {
  await using sidecar = await open();
  let [prepared, running, most] = [0, 0, 0];
  const prepare = async (runtime: NodeRuntime): Promise<void> => {
    most = Math.max(most, ++running);
    await (await runtime.createResidentRunner()).exec('globalThis.answer = 42');
    running--;
    prepared++;
  };
  await using pool = new RuntimePool({ size: 6, min: 1, sidecar, prepare });
  expect(await pool.withRuntime(readAnswer)).toBe('42\n');
  for (let round = 1; round < 4; round++) {
    // Removes the snapshots, as an eviction does.
    for (const snapshot of await sidecar.snapshots.list()) await snapshot.delete();
    // These tenants have no slots yet.
    const calls = [1, 2, 3, 4].map((n) => pool.withRuntime(readAnswer, { tenant: `${round}-${n}` }));
    expect(await Promise.all(calls)).toEqual(['42\n', '42\n', '42\n', '42\n']);
    expect(prepared).toBeGreaterThan(round);
  }
  expect(most).toBe(1);
  expect(pool.stats()).toMatchObject({ failed: 0, timeouts: 0 });
});

test('the permissions that `prepare` sets apply in every slot', async () => {
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

test('disposes a pool and its sidecar although `prepare` never ends', async () => {
  const before = childrenOf();
  let begun = false;
  const prepare = (): Promise<never> => {
    begun = true;
    return new Promise(() => {});
  };
  const pool = new RuntimePool({ size: 1, prepare });
  const call = expect(pool.withRuntime(readAnswer)).rejects.toMatchObject({ code: 'ERR_POOL_DISPOSED' });
  await until(() => begun, 10_000, 'prepare has begun');
  expect(childrenOf().filter((child) => !before.includes(child)).length).toBe(1);
  await pool.dispose();
  await call;
  expect(pool.stats()).toMatchObject({ preparing: 0, errors: 0 });
  expect(childrenOf().filter((child) => !before.includes(child))).toEqual([]);
});

test('a pool that is disposed while `prepare` runs leaves no runtime in the sidecar of the app', async () => {
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
  // A killed program may need some time to end.
  while ((await runtimes()) > 0) await sleep(5);
  expect([...(await sidecar.snapshots.list())]).toEqual([]);
  await until(() => failed !== undefined, 10_000, 'prepare has continued');
  expect(failed).toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
});

test('a pool keeps its sidecar after `prepare` has failed', async () => {
  const before = childrenOf();
  const pids = new Set<number>();
  let attempts = 0;
  const prepare = async (runtime: NodeRuntime): Promise<void> => {
    for (const child of childrenOf()) if (!before.includes(child)) pids.add(child);
    if (++attempts < 3) throw new Error(`attempt ${attempts}`);
    await (await runtime.createResidentRunner()).exec('globalThis.answer = 42');
  };
  await using pool = new RuntimePool({ size: 1, min: 0, prepare });
  await expect(pool.withRuntime(readAnswer)).rejects.toThrow('attempt 1');
  await expect(pool.withRuntime(readAnswer)).rejects.toThrow('attempt 2');
  expect(await pool.withRuntime(readAnswer)).toBe('42\n');
  expect(pids.size).toBe(1);
});

test('serves waiting calls after kill -9 of the pool’s own sidecar, while one use hangs', async () => {
  const before = childrenOf();
  const prepare = async (runtime: NodeRuntime): Promise<void> => {
    await (await runtime.createResidentRunner()).exec('globalThis.answer = 42');
  };
  await using pool = new RuntimePool({ size: 2, min: 2, prepare });
  const controller = new AbortController();
  const hanging = pool.withRuntime(() => new Promise(() => {}), { signal: controller.signal });
  const running = pool.withRuntime((runtime) => runtime.exec('await new Promise(() => setInterval(() => {}, 1000))'));
  await until(() => pool.stats().busy === 2, 10_000, 'all slots are in use');
  const waiting = [pool.withRuntime(readAnswer), pool.withRuntime(readAnswer, { tenant: 'a' })];
  await until(() => pool.stats().waiting === 2, 10_000, 'two calls wait');
  const [pid] = childrenOf().filter((child) => !before.includes(child)) as [number];
  process.kill(pid, 'SIGKILL');
  await expect(running).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED', pid });
  expect(await Promise.all(waiting)).toEqual(['42\n', '42\n']);
  expect(processExists(pid)).toBe(false);
  controller.abort('enough');
  await expect(hanging).rejects.toBe('enough');
  expect(pool.stats()).toMatchObject({ failed: 0, timeouts: 0 });
});

test('looks up a name once, also when the sidecar is killed', async () => {
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
    const before = childrenOf();
    await using pool = new RuntimePool({ size: 1, snapshot: 'template' });
    expect(await pool.withRuntime(readAnswer)).toBe('1\n');
    await keep(2);
    process.kill(childrenOf().find((child) => !before.includes(child)) as number, 'SIGKILL');
    await until(() => childrenOf().every((child) => before.includes(child)), 10_000, 'the sidecar has ended');
    expect(await pool.withRuntime(readAnswer)).toBe('1\n');
  } finally {
    if (before === undefined) delete process.env['XDG_DATA_HOME'];
    else process.env['XDG_DATA_HOME'] = before;
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['shared', () => Sidecar.spawn({ maxRuntimes: 2 })],
  ['embedded', () => Sidecar.embedded({ maxRuntimes: 2 })],
])('ends idle slots of one tenant for another at the limit of the sidecar: %s', async (_, open) => {
  await using sidecar = await open();
  await using pool = new RuntimePool({ size: 10, min: 0, sidecar, snapshot: await templateIn(sidecar) });
  const both = Promise.all([pool.acquire({ tenant: 'a' }), pool.acquire({ tenant: 'a' })]);
  for (const lease of await both) lease.release();
  await until(() => pool.stats().idle === 2, 10_000, 'both slots are idle');
  expect(await pool.withRuntime(readAnswer, { tenant: 'b' })).toBe('42\n');
  expect(pool.stats()).toMatchObject({ failed: 0, timeouts: 0 });
});
