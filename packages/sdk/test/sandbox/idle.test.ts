// Real runtimes that nobody uses: they sleep with all that is in them, and nobody who calls notices.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { NodeRuntime, type NodeRuntimeOptions, Sidecar } from '../../src/index.js';
import { sleep, until } from './processes.js';

const directory = mkdtempSync(join(tmpdir(), 'coldframe-idle-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const MODES = [
  { name: 'shared', open: () => Sidecar.spawn({ snapshots: { directory } }) },
  { name: 'embedded', open: () => Sidecar.embedded({ snapshots: { directory } }) },
  { name: 'embedded inline', open: () => Sidecar.embedded({ snapshots: { directory }, inlineBudgetMs: 5 }) },
];

const asleep = (runtime: NodeRuntime) => until(() => runtime.state === 'paused', 10_000, 'it sleeps');

/** Resolves while it tries to go to sleep, which may be over soon. */
async function onItsWay(runtime: NodeRuntime): Promise<void> {
  const end = Date.now() + 20_000;
  while (runtime.state !== 'paused') {
    if (Date.now() > end) throw new Error('it does not try');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Resolves when the sidecar has so many runtimes. */
async function left(sidecar: Sidecar, runtimes: number): Promise<void> {
  while ((await sidecar.getResourceSnapshot()).runtimes !== runtimes) await sleep(5);
}

describe.each(MODES)('$name', (mode) => {
  const using = async (
    options: NodeRuntimeOptions,
    work: (runtime: NodeRuntime, sidecar: Sidecar) => Promise<void>,
  ): Promise<void> => {
    const sidecar = await mode.open();
    const errors: unknown[] = [];
    const idle = { afterMs: 50, action: 'pause', onError: (error: unknown) => errors.push(error) } as const;
    const runtime = await NodeRuntime.create({ sidecar, idle, ...options });
    try {
      await work(runtime, sidecar);
      expect(errors).toEqual([]);
    } finally {
      await runtime.dispose();
      await sidecar.dispose();
    }
  };

  test('a runner, files, a server and bindings go on after each sleep, and calls at once share one waking', () => {
    const bindings = { double: { description: '', inputSchema: true, handler: (n: unknown) => 2 * (n as number) } };
    return using({ bindings }, async (runtime, sidecar) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`
        const { createServer } = await import('node:http');
        globalThis.n = 0;
        globalThis.server = createServer((_, response) => response.end(String(++n))).listen(3000);
        await new Promise((resolve) => server.once('listening', resolve));
        server.unref();
      `);
      for (let round = 1; round <= 3; round++) {
        await asleep(runtime);
        const calls = [
          runner.exec('console.log(typeof server, await callBinding("double", 21))'),
          runtime.exec('console.log(await callBinding("double", 4))'),
          runtime.writeFile('/workspace/file', String(round)),
          runtime.listeners(),
          runtime.residentRunners(),
          runtime.processes(),
        ] as const;
        const [asked, ran, , listeners, runners, processes] = await Promise.all(calls);
        expect([asked.stdout, ran.stdout, listeners.length, runners.length]).toEqual(['object 42\n', '8\n', 1, 1]);
        expect(processes.length).toBeGreaterThan(0);
        await asleep(runtime);
        expect(Buffer.from(await runtime.readFile('/workspace/file')).toString()).toBe(String(round));
      }
      await asleep(runtime);
      expect((await runtime.fetch(3000)).body.toString()).toBe('1');
      // What it has slept on is not kept.
      await until(() => runtime.state === 'running', 1_000, 'it is awake');
      await runtime.dispose();
      expect([...(await sidecar.snapshots.list())]).toEqual([]);
    });
  });

  test('a program, a stream and a watch keep it awake', () =>
    using({}, async (runtime) => {
      const program = await runtime.spawn('process.stdin.pipe(process.stdout)');
      await sleep(200);
      expect(runtime.state).toBe('running');
      await program.writeStdin('x');
      await program.closeStdin();
      expect((await program.result).stdout).toBe('x');
      const controller = new AbortController();
      const watch = runtime.watch('/workspace', { signal: controller.signal });
      const next = watch.next();
      await sleep(200);
      expect(runtime.state).toBe('running');
      controller.abort('enough');
      await expect(next).rejects.toBe('enough');
      await asleep(runtime);
    }));

  test('what the app puts to sleep itself stays asleep until it says so', () =>
    using({}, async (runtime, sidecar) => {
      await runtime.writeFile('/workspace/file', 'kept');
      await asleep(runtime);
      const snapshot = await runtime.pause();
      await expect(runtime.readFile('/workspace/file')).rejects.toMatchObject({ code: 'ERR_RUNTIME_PAUSED' });
      const elsewhere = await NodeRuntime.create({ sidecar, snapshot: snapshot.id });
      expect(Buffer.from(await elsewhere.readFile('/workspace/file')).toString()).toBe('kept');
      await elsewhere.dispose();
      await runtime.resume();
      expect(Buffer.from(await runtime.readFile('/workspace/file')).toString()).toBe('kept');
      await asleep(runtime);
      await snapshot.delete();
    }));

  test('resume() wakes one that the policy has put to sleep', () =>
    using({}, async (runtime) => {
      await runtime.writeFile('/workspace/file', 'kept');
      await asleep(runtime);
      await runtime.resume();
      expect(runtime.state).toBe('running');
      await asleep(runtime);
      expect(Buffer.from(await runtime.readFile('/workspace/file')).toString()).toBe('kept');
    }));

  test('a policy ends with its runtime, also while the app puts it to sleep, and with its sidecar', () =>
    using({}, async (runtime, sidecar) => {
      const errors: unknown[] = [];
      const idle = { afterMs: 1, action: 'pause', onError: (error: unknown) => errors.push(error) } as const;
      for (let round = 0; round < 5; round++) {
        const other = await NodeRuntime.create({ sidecar, idle });
        await other.createResidentRunner();
        const pausing = other.pause().then(
          (snapshot) => snapshot.delete(),
          (error) => expect(error).toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' }),
        );
        await Promise.all([pausing, other.dispose()]);
      }
      // What it may have left on disk by then is no other test's.
      const last = await NodeRuntime.create({ sidecar, idle: { ...idle, afterMs: 20 }, tenant: 'the last' });
      await runtime.dispose();
      await sidecar.dispose();
      await sleep(200);
      await last.dispose();
      expect(errors).toEqual([]);
    }));

  test('dispose() does not wait for an attempt to put to sleep what does not rest', () =>
    using({}, async (runtime, sidecar) => {
      const other = await NodeRuntime.create({ sidecar, idle: { afterMs: 20, action: 'pause' } });
      const runner = await other.createResidentRunner();
      await runner.exec('setTimeout(() => { for (;;); }, 0).unref()');
      await onItsWay(other);
      // An attempt takes five seconds.
      const call = runtime.exec('setTimeout(() => {}, 2_000)').then(() => 'two seconds');
      expect(await Promise.race([other.dispose().then(() => 'disposed'), call])).toBe('disposed');
      await call;
      // The other one may sleep by now.
      await runtime.dispose();
      await left(sidecar, 0);
    }));

  test('copies and snapshots of one that sleeps, and copies sleep by themselves', () =>
    using({}, async (runtime) => {
      await runtime.writeFile('/workspace/file', 'kept');
      await asleep(runtime);
      const snapshot = await runtime.snapshot();
      await asleep(runtime);
      const copy = await runtime.clone();
      await asleep(copy);
      await asleep(runtime);
      expect(Buffer.from(await copy.readFile('/workspace/file')).toString()).toBe('kept');
      expect(runtime.state).toBe('paused');
      await copy.writeFile('/workspace/file', 'changed');
      await asleep(copy);
      await copy.rollback(snapshot);
      expect(Buffer.from(await copy.readFile('/workspace/file')).toString()).toBe('kept');
      await copy.dispose();
      await snapshot.delete();
    }));

  test('permissions, bindings and a signal on one that sleeps', () =>
    using({}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await asleep(runtime);
      await runner.dispose();
      expect(await runtime.processes()).toEqual([]);
      await asleep(runtime);
      await runtime.registerBindings({ late: { description: '', inputSchema: true, handler: () => 'late' } });
      await asleep(runtime);
      await runtime.setPermissions({ childProcess: 'deny' });
      await asleep(runtime);
      expect((await runtime.exec('console.log(await callBinding("late"))')).stdout).toBe('late\n');
      await asleep(runtime);
      const controller = new AbortController();
      const endless = runtime.exec('while (true);', { signal: controller.signal });
      controller.abort('enough');
      await expect(endless).rejects.toBe('enough');
      expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
    }));

  test("'dispose' ends it", () =>
    using({ idle: { afterMs: 50, action: 'dispose' } }, async (runtime, sidecar) => {
      await until(() => runtime.state === 'disposed', 10_000, 'it is disposed of');
      await expect(runtime.exec('1')).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
      await runtime.dispose();
      expect((await sidecar.getResourceSnapshot()).runtimes).toBe(0);
    }));

  test('many of them sleep and wake a hundred times', () =>
    using({ idle: { afterMs: 1, action: 'pause' } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      for (let round = 1; round <= 100; round++) {
        // Sometimes it is awake, sometimes on its way to sleep, sometimes asleep.
        if (round % 3 === 0) await sleep(round % 7);
        expect((await runner.exec('globalThis.n = (globalThis.n ?? 0) + 1; console.log(n)')).stdout).toBe(`${round}\n`);
      }
    }));
});

test('when the folder cannot be written the runtime stays awake, and that is told', async () => {
  const errors: unknown[] = [];
  await using sidecar = await Sidecar.spawn({ snapshots: { directory: '/proc/nowhere' } });
  const onError = (error: unknown) => errors.push(error);
  await using runtime = await NodeRuntime.create({ sidecar, idle: { afterMs: 20, action: 'pause', onError } });
  const runner = await runtime.createResidentRunner();
  await runner.exec('globalThis.n = 1');
  await until(() => errors.length > 0, 10_000, 'it is told');
  expect(errors[0]).toMatchObject({ code: 'ERR_SNAPSHOT_FILE' });
  expect((await runner.exec('console.log(++n)')).stdout).toBe('2\n');
});

test('a listener that throws keeps no runtime alive: it is disposed of while it cannot be put to sleep', async () => {
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  let heard = 0;
  process.on('uncaughtException', () => heard++);
  try {
    await using sidecar = await Sidecar.spawn({ snapshots: { directory: '/proc/nowhere' } });
    const onError = () => {
      throw new Error('mine');
    };
    for (let round = 0; round < 10; round++) {
      const runtime = await NodeRuntime.create({ sidecar, idle: { afterMs: 1, action: 'pause', onError } });
      const runner = await runtime.createResidentRunner();
      await onItsWay(runtime);
      if (round % 2 === 0) {
        expect((await runner.exec('console.log(1)')).stdout).toBe('1\n');
        await onItsWay(runtime);
      }
      await runtime.dispose();
    }
    await left(sidecar, 0);
    expect(heard).toBeGreaterThan(0);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  }
});

test('neither an idle policy nor a pool keeps the process alive', async () => {
  const program = fileURLToPath(new URL('../fixtures/at-rest.mjs', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  const [exitCode] = await once(child, 'close');
  expect([exitCode, said]).toEqual([0, 'at rest\n']);
});
