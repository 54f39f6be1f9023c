// Tests pools of real runtimes. A use of a slot must not see the changes of earlier uses.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NodeRuntime, RuntimePool, type RuntimePoolOptions, Sidecar } from '../../src/index.js';
import { childrenOf, processExists, sleep, until } from './processes.js';

const folder = mkdtempSync(join(tmpdir(), 'coldframe-pool-'));
const XDG = process.env['XDG_DATA_HOME'];
beforeAll(() => {
  process.env['XDG_DATA_HOME'] = folder;
});
afterAll(() => {
  if (XDG === undefined) delete process.env['XDG_DATA_HOME'];
  else process.env['XDG_DATA_HOME'] = XDG;
  rmSync(folder, { recursive: true, force: true });
});

const MODES: { name: string; open(): Promise<Sidecar | undefined> }[] = [
  { name: 'owned', open: async () => undefined },
  { name: 'shared', open: () => Sidecar.spawn() },
  { name: 'embedded', open: () => Sidecar.embedded() },
  { name: 'embedded inline', open: () => Sidecar.embedded({ inlineBudgetMs: 5 }) },
];

// Prepares a template with a runner that has state in memory.
const prepare = async (runtime: NodeRuntime): Promise<void> => {
  await runtime.writeFile('/workspace/template.txt', 'template');
  const runner = await runtime.createResidentRunner({ env: { FROM: 'template' } });
  await runner.exec('globalThis.count = 1');
};

async function withPool<T>(
  mode: (typeof MODES)[number],
  options: Partial<RuntimePoolOptions>,
  work: (pool: RuntimePool, sidecar: Sidecar | undefined) => Promise<T>,
): Promise<T> {
  const sidecar = await mode.open();
  const pool = new RuntimePool({ size: 2, min: 1, prepare, ...(sidecar && { sidecar }), ...options });
  try {
    return await work(pool, sidecar);
  } finally {
    await pool.dispose();
    await sidecar?.dispose();
  }
}

async function runnerOf(runtime: NodeRuntime) {
  const [runner] = await runtime.residentRunners();
  if (runner === undefined) throw new Error('the template has no runner');
  return runner;
}

// Changes every kind of state that a use can change.
const changeEverything = async (runtime: NodeRuntime): Promise<void> => {
  const runner = await runnerOf(runtime);
  await runner.exec(`
    globalThis.count = 100;
    process.env.SECRET = 'secret';
    Object.prototype.poisoned = true;
    setInterval(() => { globalThis.ticks = (globalThis.ticks ?? 0) + 1; }, 1).unref();
    process.on('SIGUSR2', () => {});
    const { createServer } = await import('node:net');
    globalThis.server = createServer().listen(4000);
    await new Promise((resolve) => server.once('listening', resolve));
    server.unref();
  `);
  await runtime.exec(`
    import { spawn } from 'node:child_process';
    import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
    for (const path of ['/workspace/secret', '/tmp/secret', '/workspace/template.txt']) writeFileSync(path, 'secret');
    mkdirSync('/opt/deep/er', { recursive: true });
    symlinkSync('/tmp/secret', '/workspace/link');
    spawn('node', ['-e', 'setInterval(() => require("fs").writeFileSync("/tmp/again", "secret"), 1)'], {
      detached: true,
      stdio: 'ignore'
    }).unref();
  `);
  await runtime.spawn('await new Promise(() => setInterval(() => {}, 1000))');
  await runtime.writeFile('/etc/secret', 'secret');
};

// Returns the state that the changes could have affected.
const observe = async (runtime: NodeRuntime): Promise<unknown> => {
  const runner = await runnerOf(runtime);
  const { stdout } = await runner.exec(`
    const { existsSync, readFileSync } = await import('node:fs');
    const places = ['/workspace/secret', '/tmp/secret', '/tmp/again', '/opt/deep', '/workspace/link', '/etc/secret'];
    console.log(JSON.stringify({
      count: globalThis.count,
      env: [process.env.FROM, process.env.SECRET ?? null],
      poisoned: 'poisoned' in {},
      ticks: globalThis.ticks ?? null,
      server: typeof globalThis.server,
      signals: process.listenerCount('SIGUSR2'),
      template: readFileSync('/workspace/template.txt', 'utf8'),
      found: places.filter((path) => existsSync(path)),
    }));
  `);
  const listeners = await runtime.listeners();
  const processes = await runtime.processes();
  return { ...JSON.parse(stdout), listeners: listeners.length, processes: processes.length };
};

const CLEAN = {
  count: 1,
  env: ['template', null],
  poisoned: false,
  ticks: null,
  server: 'undefined',
  signals: 0,
  template: 'template',
  found: [],
  listeners: 0,
  processes: 1,
};

describe.each(MODES)('$name', (mode) => {
  test('the next use sees no changes of the earlier use, in its tenant or in another tenant', () =>
    withPool(mode, { size: 1 }, async (pool) => {
      expect(await pool.withRuntime(observe, { tenant: 'a' })).toEqual(CLEAN);
      for (let round = 0; round < 3; round++) {
        await pool.withRuntime(changeEverything, { tenant: 'a' });
        expect(await pool.withRuntime(observe, { tenant: 'a' })).toEqual(CLEAN);
      }
      await pool.withRuntime(changeEverything, { tenant: 'a' });
      expect(await pool.withRuntime(observe, { tenant: 'b' })).toEqual(CLEAN);
      // The slot was rolled back for its own tenant. For the other tenant the slot was evicted, and
      // another slot was made.
      expect(pool.stats()).toMatchObject({ created: 2, evicted: 1, errors: 0, replaced: 0 });
    }));

  test('replaces a slot whose changes a rollback cannot undo', () =>
    withPool(mode, { size: 1 }, async (pool) => {
      await pool.withRuntime(async (runtime) => {
        await runtime.registerBindings({ late: { description: '', inputSchema: true, handler: () => 'late' } });
        await runtime.setPermissions({ fs: 'deny' });
      });
      const after = await pool.withRuntime((runtime) =>
        runtime.exec(`
          const called = await callBinding('late').catch((error) => error.code);
          console.log(called, (await import('node:fs')).readFileSync('/workspace/template.txt', 'utf8'));
        `),
      );
      expect(after.stdout).toBe('ERR_BINDING_NOT_FOUND template\n');
      expect(pool.stats()).toMatchObject({ created: 2, replaced: 1 });
    }));

  test('each slot has the bindings, mounts and limits of the options, and its own random numbers', () => {
    const options: RuntimePoolOptions['options'] = {
      bindings: { double: { description: '', inputSchema: true, handler: (n) => 2 * (n as number) } },
      mounts: [{ guestPath: '/host', hostPath: folder }],
      limits: { inodes: 777 },
      files: { '/workspace/given.txt': 'given' },
      env: { GIVEN: 'yes' },
      cwd: '/tmp',
    };
    return withPool(mode, { size: 3, options }, async (pool) => {
      const seen = await Promise.all(
        [1, 2, 3].map((n) =>
          pool.withRuntime(async (runtime) => {
            const { stdout } = await runtime.exec(`
              import { existsSync } from 'node:fs';
              const { GIVEN } = process.env;
              console.log(
                await callBinding('double', ${n}), existsSync('/host'), existsSync('/workspace/given.txt'), GIVEN, process.cwd()
              );
              console.log(Math.random(), crypto.randomUUID());
            `);
            const random = (await (await runnerOf(runtime)).exec('console.log(Math.random(), crypto.randomUUID())')).stdout;
            const { inodes } = (await runtime.getResourceSnapshot()).limits;
            return { stdout, random, limit: inodes.max };
          }),
        ),
      );
      seen.forEach(({ stdout, limit }, index) => {
        expect(stdout).toMatch(`${2 * (index + 1)} true true yes /tmp\n`);
        expect(limit).toBe(777);
      });
      const random = seen.flatMap(({ stdout, random: other }) => [stdout.split('\n')[1], other.trim()]).join(' ');
      expect(new Set(random.split(' ')).size).toBe(12);
    });
  });

  test('idle slots are paused on disk and resume as the template', () =>
    withPool(mode, { size: 2, min: 0, idleTimeoutMs: 200 }, async (pool) => {
      await pool.withRuntime(changeEverything, { tenant: 'a' });
      await until(() => pool.stats().paused === 1, 10_000, 'the slot is on disk');
      expect(await pool.withRuntime(observe, { tenant: 'a' })).toEqual(CLEAN);
      expect(pool.stats()).toMatchObject({ resumed: 1, created: 1, errors: 0 });
      await until(() => pool.stats().paused === 1, 10_000, 'the slot is on disk again');
      await until(() => pool.stats().paused === 0, 10_000, 'the slot has ended');
      expect(await pool.withRuntime(observe, { tenant: 'a' })).toEqual(CLEAN);
    }));

  test('dispose() removes every runtime, process and snapshot', () =>
    withPool(mode, { size: 4, min: 4, idleTimeoutMs: 100 }, async (pool, sidecar) => {
      const work = Array.from({ length: 20 }, (_, n) => pool.withRuntime(changeEverything, { tenant: `tenant-${n % 3}` }));
      const endless = pool.withRuntime((runtime) => runtime.exec('await new Promise(() => setInterval(() => {}, 1000))'));
      await Promise.all(work);
      const ended = expect(endless).rejects.toMatchObject({ code: 'ERR_POOL_DISPOSED' });
      await pool.dispose({ timeoutMs: 10 });
      await ended;
      if (sidecar === undefined) return;
      // A killed program may need some time to end.
      let { runtimes, processes } = await sidecar.getResourceSnapshot();
      for (const end = Date.now() + 10_000; runtimes + processes > 0 && Date.now() < end; await sleep(5)) {
        ({ runtimes, processes } = await sidecar.getResourceSnapshot());
      }
      expect({ runtimes, processes }).toEqual({ runtimes: 0, processes: 0 });
      expect([...(await sidecar.snapshots.list())]).toEqual([]);
    }));
});

test('uses a snapshot of the app as template after the runtime of the snapshot is disposed', async () => {
  const runtime = await NodeRuntime.create();
  await prepare(runtime);
  const snapshot = await runtime.snapshot({ name: 'template' });
  const pool = new RuntimePool({ snapshot, size: 2 });
  await runtime.dispose();
  await pool.withRuntime(changeEverything);
  expect(await pool.withRuntime(observe)).toEqual(CLEAN);
  await pool.dispose();
});

test('looks up a name once, so a newer snapshot with the name does not reach reused slots', async () => {
  await using sidecar = await Sidecar.spawn();
  const runtime = await NodeRuntime.create({ sidecar });
  await prepare(runtime);
  await runtime.snapshot({ name: 'template' });
  await using pool = new RuntimePool({ sidecar, snapshot: 'template', size: 1 });
  expect(await pool.withRuntime(observe)).toEqual(CLEAN);
  await changeEverything(runtime);
  await runtime.snapshot({ name: 'template' });
  for (let use = 0; use < 3; use++) expect(await pool.withRuntime(observe)).toEqual(CLEAN);
});

test("a tenant cannot use another tenant's snapshots through a pool", async () => {
  await using pool = new RuntimePool({ size: 2 });
  const refused = { code: 'ERR_INVALID_OPTION' };
  await pool.withRuntime(
    async (runtime) => {
      await runtime.writeFile('/workspace/secret', 'a');
      await expect(runtime.snapshot({ name: 'checkpoint' })).rejects.toMatchObject(refused);
      const mine = await runtime.snapshot();
      await runtime.writeFile('/workspace/secret', 'changed');
      await runtime.rollback(mine);
      expect(Buffer.from(await runtime.readFile('/workspace/secret')).toString()).toBe('a');
      await expect(runtime.rollback('checkpoint')).rejects.toMatchObject(refused);
      expect(() => runtime.snapshots).toThrow(expect.objectContaining(refused));
      const copy = await runtime.clone();
      await expect(copy.snapshot({ name: 'checkpoint' })).rejects.toMatchObject(refused);
      await copy.dispose();
      await mine.delete();
    },
    { tenant: 'a' },
  );
  await using own = new RuntimePool({ size: 1, tenant: 'a' });
  await expect(own.withRuntime(async () => {}, { tenant: 'b' })).rejects.toMatchObject({ ...refused, option: 'tenant' });
  expect(await own.withRuntime(async (runtime) => (await runtime.snapshot({ name: 'mine' })).tenant)).toBe('a');
});

test('running calls fail after kill -9 of the pool’s own sidecar, and later calls get another sidecar', async () => {
  const before = childrenOf();
  await using pool = new RuntimePool({ size: 4, min: 2, prepare });
  expect(await pool.withRuntime(observe)).toEqual(CLEAN);
  for (let round = 0; round < 3; round++) {
    const [pid] = childrenOf().filter((child) => !before.includes(child));
    const running = pool.withRuntime((runtime) => runtime.exec('while (true);'));
    const failed = expect(running).rejects.toMatchObject({ code: 'ERR_SIDECAR_EXITED', pid });
    process.kill(pid as number, 'SIGKILL');
    await failed;
    expect(await pool.withRuntime(observe)).toEqual(CLEAN);
    expect(processExists(pid as number)).toBe(false);
  }
  await pool.dispose();
  expect(childrenOf().filter((child) => !before.includes(child))).toEqual([]);
});

test('every call fails after kill -9 of the sidecar of the app, and dispose() works', async () => {
  const sidecar = await Sidecar.spawn();
  const pool = new RuntimePool({ sidecar, size: 1, prepare });
  await pool.withRuntime(observe);
  const running = pool.withRuntime((runtime) => runtime.exec('while (true);'));
  const ended = { code: 'ERR_SIDECAR_EXITED', pid: sidecar.pid };
  const waiting = expect(pool.withRuntime(observe)).rejects.toMatchObject(ended);
  process.kill(sidecar.pid, 'SIGKILL');
  await expect(running).rejects.toMatchObject(ended);
  await waiting;
  await expect(pool.withRuntime(observe)).rejects.toMatchObject(ended);
  await pool.dispose();
  await sidecar.dispose();
});

test('the constructor refuses wrong options of the pool, and calls refuse wrong options of the runtimes', async () => {
  const wrong: [object, string][] = [
    [{}, 'size'],
    [{ size: 0 }, 'size'],
    [{ size: 2, min: 3 }, 'min'],
    [{ size: 1, reuse: 0 }, 'reuse'],
    [{ size: 1, recycle: 'never' }, 'recycle'],
    [{ size: 1, options: { sidecar: {} } }, 'options'],
    [{ size: 1, sidecar: {} }, 'sidecar'],
    [{ size: 1, snapshot: 7 }, 'snapshot'],
    [{ size: 1, snapshot: 'a', prepare: () => {} }, 'prepare'],
    [{ size: 1, tenant: '' }, 'tenant'],
    [{ size: 1, tenant: '\ud800' }, 'tenant'],
    [{ size: 1, snapshot: '\ud800' }, 'snapshot'],
    [{ size: 1, max: 5 }, 'max'],
  ];
  for (const [options, option] of wrong) {
    const make = () => new RuntimePool(options as RuntimePoolOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', option }));
  }
  expect(() => new RuntimePool({ size: 1, maxQueue: 5 } as never)).toThrow(
    /expected one of .*maxWaiting.* It is called `maxWaiting` of a pool/,
  );
  expect(() => new RuntimePool(undefined as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }));
  await using sidecar = await Sidecar.spawn();
  await using broken = new RuntimePool({ sidecar, size: 1, options: { limits: { memoryBytes: -1 } } });
  const refused = { code: 'ERR_INVALID_OPTION', option: 'limits.memoryBytes' };
  await expect(broken.withRuntime(observe)).rejects.toMatchObject(refused);
  await using missing = new RuntimePool({ sidecar, size: 1, snapshot: 'nothing' });
  await expect(missing.withRuntime(observe)).rejects.toMatchObject({ code: 'ERR_SNAPSHOT_NOT_FOUND' });
  await expect(missing.acquire({ tenant: '' })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'tenant' });
  await expect(missing.withRuntime('work' as never)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'work' });
});
