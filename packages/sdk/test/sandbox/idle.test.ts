// Tests idle policies of real runtimes. An unused runtime is paused with its whole state, and the
// next call resumes the runtime.

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

const untilPaused = (runtime: NodeRuntime) => until(() => runtime.state === 'paused', 10_000, 'the runtime is paused');

/**
 * Waits until the policy tries to pause the runtime. Checks the state in every turn, because the
 * attempt may fail soon.
 */
async function untilPausing(runtime: NodeRuntime): Promise<void> {
  const end = Date.now() + 20_000;
  while (runtime.state !== 'paused') {
    if (Date.now() > end) throw new Error('the policy does not try to pause the runtime');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Waits until the sidecar has `runtimes` runtimes. */
async function untilRuntimes(sidecar: Sidecar, runtimes: number): Promise<void> {
  while ((await sidecar.getResourceSnapshot()).runtimes !== runtimes) await sleep(5);
}

describe.each(MODES)('$name', (mode) => {
  const withIdleRuntime = async (
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

  test('a runner, files, a server and bindings work after each pause, and concurrent calls share one resumption', () => {
    const bindings = { double: { description: '', inputSchema: true, handler: (n: unknown) => 2 * (n as number) } };
    return withIdleRuntime({ bindings }, async (runtime, sidecar) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec(`
        const { createServer } = await import('node:http');
        globalThis.n = 0;
        globalThis.server = createServer((_, response) => response.end(String(++n))).listen(3000);
        await new Promise((resolve) => server.once('listening', resolve));
        server.unref();
      `);
      for (let round = 1; round <= 3; round++) {
        await untilPaused(runtime);
        const calls = [
          runner.exec('console.log(typeof server, await callBinding("double", 21))'),
          runtime.exec('console.log(await callBinding("double", 4))'),
          runtime.writeFile('/workspace/file', String(round)),
          runtime.listeners(),
          runtime.residentRunners(),
          runtime.processes(),
        ] as const;
        const [called, ran, , listeners, runners, processes] = await Promise.all(calls);
        expect([called.stdout, ran.stdout, listeners.length, runners.length]).toEqual(['object 42\n', '8\n', 1, 1]);
        expect(processes.length).toBeGreaterThan(0);
        await untilPaused(runtime);
        expect(Buffer.from(await runtime.readFile('/workspace/file')).toString()).toBe(String(round));
      }
      await untilPaused(runtime);
      expect((await runtime.fetch(3000)).body.toString()).toBe('1');
      // The snapshots of the pauses are deleted.
      await until(() => runtime.state === 'running', 1_000, 'the runtime is running');
      await runtime.dispose();
      expect([...(await sidecar.snapshots.list())]).toEqual([]);
    });
  });

  test('a running program, a stream and a watch keep the runtime running', () =>
    withIdleRuntime({}, async (runtime) => {
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
      await untilPaused(runtime);
    }));

  test('a runtime that the app paused stays paused until resume()', () =>
    withIdleRuntime({}, async (runtime, sidecar) => {
      await runtime.writeFile('/workspace/file', 'kept');
      await untilPaused(runtime);
      const snapshot = await runtime.pause();
      await expect(runtime.readFile('/workspace/file')).rejects.toMatchObject({ code: 'ERR_RUNTIME_PAUSED' });
      const elsewhere = await NodeRuntime.create({ sidecar, snapshot: snapshot.id });
      expect(Buffer.from(await elsewhere.readFile('/workspace/file')).toString()).toBe('kept');
      await elsewhere.dispose();
      await runtime.resume();
      expect(Buffer.from(await runtime.readFile('/workspace/file')).toString()).toBe('kept');
      await untilPaused(runtime);
      await snapshot.delete();
    }));

  test('resume() resumes a runtime that the policy paused', () =>
    withIdleRuntime({}, async (runtime) => {
      await runtime.writeFile('/workspace/file', 'kept');
      await untilPaused(runtime);
      await runtime.resume();
      expect(runtime.state).toBe('running');
      await untilPaused(runtime);
      expect(Buffer.from(await runtime.readFile('/workspace/file')).toString()).toBe('kept');
    }));

  test('a policy ends with its runtime, also during a pause() of the app, and with its sidecar', () =>
    withIdleRuntime({}, async (runtime, sidecar) => {
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
      // A separate tenant keeps these snapshots apart from other tests.
      const last = await NodeRuntime.create({ sidecar, idle: { ...idle, afterMs: 20 }, tenant: 'last' });
      await runtime.dispose();
      await sidecar.dispose();
      await sleep(200);
      await last.dispose();
      expect(errors).toEqual([]);
    }));

  test('dispose() does not wait for a pause whose programs do not quiesce', () =>
    withIdleRuntime({}, async (runtime, sidecar) => {
      const other = await NodeRuntime.create({ sidecar, idle: { afterMs: 20, action: 'pause' } });
      const runner = await other.createResidentRunner();
      await runner.exec('setTimeout(() => { for (;;); }, 0).unref()');
      await untilPausing(other);
      // An attempt to quiesce fails after five seconds.
      const call = runtime.exec('setTimeout(() => {}, 2_000)').then(() => 'two seconds');
      expect(await Promise.race([other.dispose().then(() => 'disposed'), call])).toBe('disposed');
      await call;
      // The policy may have paused `runtime` already.
      await runtime.dispose();
      await untilRuntimes(sidecar, 0);
    }));

  test('a paused runtime can be cloned and snapshotted, and clones are paused on their own', () =>
    withIdleRuntime({}, async (runtime) => {
      await runtime.writeFile('/workspace/file', 'kept');
      await untilPaused(runtime);
      const snapshot = await runtime.snapshot();
      await untilPaused(runtime);
      const copy = await runtime.clone();
      await untilPaused(copy);
      await untilPaused(runtime);
      expect(Buffer.from(await copy.readFile('/workspace/file')).toString()).toBe('kept');
      expect(runtime.state).toBe('paused');
      await copy.writeFile('/workspace/file', 'changed');
      await untilPaused(copy);
      await copy.rollback(snapshot);
      expect(Buffer.from(await copy.readFile('/workspace/file')).toString()).toBe('kept');
      await copy.dispose();
      await snapshot.delete();
    }));

  test('permissions, bindings and a signal resume a paused runtime', () =>
    withIdleRuntime({}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await untilPaused(runtime);
      await runner.dispose();
      expect(await runtime.processes()).toEqual([]);
      await untilPaused(runtime);
      await runtime.registerBindings({ late: { description: '', inputSchema: true, handler: () => 'late' } });
      await untilPaused(runtime);
      await runtime.setPermissions({ childProcess: 'deny' });
      await untilPaused(runtime);
      expect((await runtime.exec('console.log(await callBinding("late"))')).stdout).toBe('late\n');
      await untilPaused(runtime);
      const controller = new AbortController();
      const endless = runtime.exec('while (true);', { signal: controller.signal });
      controller.abort('enough');
      await expect(endless).rejects.toBe('enough');
      expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
    }));

  test("the action 'dispose' disposes the runtime", () =>
    withIdleRuntime({ idle: { afterMs: 50, action: 'dispose' } }, async (runtime, sidecar) => {
      await until(() => runtime.state === 'disposed', 10_000, 'the runtime is disposed');
      await expect(runtime.exec('1')).rejects.toMatchObject({ code: 'ERR_RUNTIME_DISPOSED' });
      await runtime.dispose();
      expect((await sidecar.getResourceSnapshot()).runtimes).toBe(0);
    }));

  test('many runtimes are paused and resumed a hundred times', () =>
    withIdleRuntime({ idle: { afterMs: 1, action: 'pause' } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      for (let round = 1; round <= 100; round++) {
        // The runtime is sometimes running, sometimes pausing and sometimes paused.
        if (round % 3 === 0) await sleep(round % 7);
        expect((await runner.exec('globalThis.n = (globalThis.n ?? 0) + 1; console.log(n)')).stdout).toBe(`${round}\n`);
      }
    }));
});

test('the runtime stays running and reports an error when the store folder is not writable', async () => {
  const errors: unknown[] = [];
  await using sidecar = await Sidecar.spawn({ snapshots: { directory: '/proc/nowhere' } });
  const onError = (error: unknown) => errors.push(error);
  await using runtime = await NodeRuntime.create({ sidecar, idle: { afterMs: 20, action: 'pause', onError } });
  const runner = await runtime.createResidentRunner();
  await runner.exec('globalThis.n = 1');
  await until(() => errors.length > 0, 10_000, 'the error is reported');
  expect(errors[0]).toMatchObject({ code: 'ERR_SNAPSHOT_FILE' });
  expect((await runner.exec('console.log(++n)')).stdout).toBe('2\n');
});

test('a runtime that cannot be paused can be disposed although its error listener throws', async () => {
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  let uncaught = 0;
  process.on('uncaughtException', () => uncaught++);
  try {
    await using sidecar = await Sidecar.spawn({ snapshots: { directory: '/proc/nowhere' } });
    const onError = () => {
      throw new Error('mine');
    };
    for (let round = 0; round < 10; round++) {
      const runtime = await NodeRuntime.create({ sidecar, idle: { afterMs: 1, action: 'pause', onError } });
      const runner = await runtime.createResidentRunner();
      await untilPausing(runtime);
      if (round % 2 === 0) {
        expect((await runner.exec('console.log(1)')).stdout).toBe('1\n');
        await untilPausing(runtime);
      }
      await runtime.dispose();
    }
    await untilRuntimes(sidecar, 0);
    expect(uncaught).toBeGreaterThan(0);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  }
});

test('neither an idle policy nor a pool keeps the process alive', async () => {
  const program = fileURLToPath(new URL('../fixtures/idle-parent.mjs', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  const [exitCode] = await once(child, 'close');
  expect([exitCode, output]).toEqual([0, 'idle\n']);
});
