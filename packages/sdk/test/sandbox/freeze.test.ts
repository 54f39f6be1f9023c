// Tests runtimes whose programs never rest: `pause({ whenBusy: 'freeze' })` freezes them in memory.

import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { codeOf } from './network-helpers.js';
import { evaluate, until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const FREEZE = { whenBusy: 'freeze', timeoutMs: 100 } as const;
/** Counts in a file, in one turn that never ends. */
const SPIN = `import fs from 'node:fs'; for (let n = 0; ; n++) if (n % 2_000 === 0) fs.writeFileSync('/tmp/n', String(n));`;

/** Starts a program that spins. The end of the runtime ends the program. */
async function spin(runtime: NodeRuntime): Promise<void> {
  runtime.exec(SPIN).catch(() => {});
  await until(() => runtime.exists('/tmp/n'));
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(MODES.filter(({ name }) => name !== 'embedded inline'))('$name', (mode) => {
  test('a frozen runtime uses no processor, refuses calls, and continues with resume()', () =>
    withMode(mode, async ({ create }) => {
      const [runtime, neighbour] = [await create({ limits: { cpuMs: 600_000 } }), await create()];
      const controller = new AbortController();
      const running = runtime.exec(SPIN, { signal: controller.signal });
      running.catch(() => {});
      await until(() => runtime.exists('/tmp/n'));
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.kept = 5');
      expect(await runtime.pause(FREEZE)).toBeUndefined();
      expect(runtime.state).toBe('frozen');
      const { sidecar } = await neighbour.getResourceSnapshot();
      expect(sidecar.processes).toBeGreaterThanOrEqual(mode.name === 'owned' ? 0 : 2);
      for (const call of [
        () => runtime.exec('1'),
        () => runtime.readFile('/tmp/n'),
        () => runner.exec('1'),
        () => runtime.processes(),
      ]) {
        expect(await codeOf(call())).toBe('ERR_RUNTIME_PAUSED');
      }
      for (const call of [() => runtime.snapshot(), () => runtime.clone()]) {
        await expect(call()).rejects.toMatchObject({ code: 'ERR_NOT_QUIET', command: 'node' });
      }
      const before = process.cpuUsage();
      await wait(300);
      // In embedded mode, the sidecar's threads are threads of this process.
      if (mode.name === 'embedded') expect(process.cpuUsage(before).user).toBeLessThan(200_000);
      await runtime.resume();
      expect(runtime.state).toBe('running');
      const count = async () => Number(Buffer.from(await runtime.readFile('/tmp/n')).toString());
      const n = await count();
      await until(async () => (await count()) > n);
      expect(await evaluate(runner, 'kept')).toBe('5');
      controller.abort(new Error('end'));
      await expect(running).rejects.toThrow('end');
      await Promise.all([runtime.dispose(), neighbour.dispose()]);
    }));

  test('without the option the pause fails, and a runtime that rests goes to disk', () =>
    withRuntime(mode, {}, async (runtime) => {
      const running = runtime.exec(`import fs from 'node:fs'; while (!fs.existsSync('/tmp/go')) fs.writeFileSync('/tmp/n', '');
        await new Promise((resolve) => setTimeout(resolve, 60_000));`);
      await until(() => runtime.exists('/tmp/n'));
      await expect(runtime.pause({ timeoutMs: 100 })).rejects.toMatchObject({ code: 'ERR_NOT_QUIET' });
      expect(runtime.state).toBe('running');
      expect(await runtime.pause(FREEZE)).toBeUndefined();
      expect(await runtime.pause(FREEZE)).toBeUndefined();
      await expect(runtime.pause({ timeoutMs: 100 })).rejects.toMatchObject({ code: 'ERR_NOT_QUIET' });
      expect(runtime.state).toBe('frozen');
      await runtime.resume();
      await runtime.writeFile('/tmp/go', '');
      const snapshot = await runtime.pause({ whenBusy: 'freeze' });
      expect([runtime.state, snapshot?.stored]).toEqual(['paused', 'disk']);
      await runtime.resume();
      await snapshot?.delete();
      await runtime.dispose();
      expect(await running).toMatchObject({ error: { code: 'ERR_RUNTIME_DISPOSED' } });
    }));

  test('clocks, timers, timeouts and sleeps stop', () =>
    withRuntime(mode, { limits: { runtimeWallMs: 60_000 } }, async (runtime) => {
      await spin(runtime);
      const timed = runtime.exec(`const began = performance.now(); await new Promise((resolve) => setTimeout(resolve, 400));
        console.log(Math.round(performance.now() - began));`);
      const slept =
        runtime.exec(`const began = performance.now(); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
        console.log(Math.round(performance.now() - began));`);
      const limited = runtime.exec('await new Promise((resolve) => setTimeout(resolve, 60_000))', { timeout: 1_200 });
      await until(async () => (await runtime.processes()).length === 4);
      await runtime.pause(FREEZE);
      await wait(1_500);
      const ended = { timed: false, slept: false, limited: false };
      timed.then(() => (ended.timed = true));
      slept.then(() => (ended.slept = true));
      limited.then(() => (ended.limited = true));
      await wait(50);
      expect(ended.limited).toBe(false);
      const resumed = Date.now();
      await runtime.resume();
      for (const { stdout } of await Promise.all([timed, slept])) {
        expect(Number(stdout)).toBeGreaterThanOrEqual(399);
        expect(Number(stdout)).toBeLessThan(1_400);
      }
      expect(await limited).toMatchObject({ error: { code: 'ERR_TIMEOUT', timeoutMs: 1_200 } });
      expect(Date.now() - resumed).toBeGreaterThan(200);
      const { used } = (await runtime.getResourceSnapshot()).limits.runtimeWallMs;
      expect(used).toBeGreaterThan(0);
    }));

  test('a program of a frozen runtime can be killed, and the runtime disposed', () =>
    withRuntime(mode, {}, async (runtime) => {
      const handle = await runtime.spawn(SPIN);
      await until(() => runtime.exists('/tmp/n'));
      const other = runtime.exec(SPIN);
      await until(async () => (await runtime.processes()).length === 2);
      await runtime.pause(FREEZE);
      expect(await handle.kill('SIGKILL')).toBe(true);
      expect([await handle.wait(), handle.signal, runtime.state]).toEqual([137, 'SIGKILL', 'frozen']);
      await runtime.dispose();
      expect(await other).toMatchObject({ exitCode: 137, error: { code: 'ERR_RUNTIME_DISPOSED' } });
    }));

  test('resume() of a frozen runtime takes no network options', () =>
    withRuntime(mode, {}, async (runtime) => {
      await spin(runtime);
      await runtime.pause(FREEZE);
      await expect(runtime.resume({ network: {} })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'network' });
      await runtime.resume();
      expect(runtime.state).toBe('running');
    }));
});
