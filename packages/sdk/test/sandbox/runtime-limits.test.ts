// Exceeds the limits of a whole runtime and of a program's descendants. A program must not leave a
// limit by children that outlive the program.

import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';

const CPU_MS = 300;
const CPU_ERROR = { code: 'ERR_CPU_LIMIT', cpuMs: CPU_MS, limit: 'runtimeCpuMs' };
/** The statement that computes until the program has used `ms` of processor time. */
const compute = (ms: number) => `
  while (Number(process.getBuiltinModule('fs').readFileSync('/proc/self/stat', 'utf8').split(' ')[13]) < ${ms / 10}) {
    for (let n = 0; n < 10_000; n++);
  }`;
/** Computes for 20 ms of processor time, and repeats that with a detached copy of itself. */
const CHAIN = `${compute(20)}
  const { spawn } = require('child_process');
  spawn('node', ['-e', process.argv[1], process.argv[1]], { detached: true, stdio: 'ignore' }).unref();`;

const startDetached = (code: string) => `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  const code = ${JSON.stringify(code)};
  const child = spawn('node', ['-e', code, code], { detached: true, stdio: 'ignore' });
  await once(child, 'spawn');
  child.unref();`;

async function untilEmpty(runtime: NodeRuntime): Promise<void> {
  while ((await runtime.getResourceSnapshot()).limits.processes.used > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe.each(MODES.filter(({ name }) => name !== 'embedded inline'))('$name', (mode) => {
  test('cpuMs ends a chain of detached programs that start each other', () =>
    withRuntime(mode, { limits: { cpuMs: CPU_MS } }, async (runtime) => {
      expect(await runtime.exec(startDetached(CHAIN))).toMatchObject({ exitCode: 0 });
      await untilEmpty(runtime);
      const { cpuMs } = await runtime.getResourceSnapshot();
      expect(cpuMs).toBeGreaterThan(CPU_MS / 2);
      expect(cpuMs).toBeLessThan(4 * CPU_MS);
      expect((await runtime.exec('console.log(1)')).stdout).toBe('1\n');
    }));

  test('wallMs and timeout end detached programs that outlive their root program', () =>
    withRuntime(mode, { limits: { wallMs: 400 } }, async (runtime) => {
      const wait = startDetached('setInterval(() => {}, 1_000)');
      expect(await runtime.exec(wait)).toMatchObject({ exitCode: 0 });
      expect(await runtime.exec(wait, { timeout: 600 })).toMatchObject({ exitCode: 0 });
      expect((await runtime.getResourceSnapshot()).limits.processes.used).toBeGreaterThan(0);
      await untilEmpty(runtime);
    }));

  test('runtimeCpuMs ends all programs, later starts fail, and the files stay', () =>
    withRuntime(mode, { limits: { runtimeCpuMs: CPU_MS } }, async (runtime) => {
      await runtime.writeFile('/workspace/kept', 'text');
      const runner = await runtime.createResidentRunner();
      const waiting = runtime.exec('setInterval(() => {}, 1_000)');
      const spinning = runtime.exec(`${startDetached('while (true);')} while (true);`);
      expect(await spinning).toMatchObject({ exitCode: 124, error: CPU_ERROR });
      expect(await waiting).toMatchObject({ exitCode: 124, error: CPU_ERROR });
      await expect(runtime.exec('')).rejects.toMatchObject(CPU_ERROR);
      await expect(runner.exec('')).rejects.toMatchObject({ code: 'ERR_CPU_LIMIT' });
      await untilEmpty(runtime);
      expect(Buffer.from(await runtime.readFile('/workspace/kept')).toString()).toBe('text');
      const { limits } = await runtime.getResourceSnapshot();
      expect(limits.runtimeCpuMs).toMatchObject({ max: CPU_MS });
      expect(limits.runtimeCpuMs.used).toBeGreaterThan(CPU_MS);
    }));

  test('runtimeCpuMs counts computations and short programs together, and warns', () =>
    withMode(mode, async (provisioning) => {
      const warnings: [string, number][] = [];
      const runtime = await provisioning.create({
        limits: { runtimeCpuMs: CPU_MS },
        onLimitWarning: ({ limit, max }) => warnings.push([limit, max]),
      });
      const code = `import { pbkdf2 } from 'node:crypto'; import { promisify } from 'node:util';
        await promisify(pbkdf2)('a', 'b', 20_000, 64, 'sha512');`;
      const run = async () => {
        for (;;) {
          const { error } = await runtime.exec(code);
          if (error !== undefined) return error;
        }
      };
      expect(await run().catch((error: unknown) => error)).toMatchObject({ code: 'ERR_CPU_LIMIT', limit: 'runtimeCpuMs' });
      expect(warnings).toContainEqual(['runtimeCpuMs', CPU_MS]);
      await runtime.dispose();
    }));

  test('a rollback and a pause return no time, and a clone has its own time', () =>
    withRuntime(mode, { limits: { runtimeCpuMs: 1_000 } }, async (runtime) => {
      const used = async () => (await runtime.getResourceSnapshot()).limits.runtimeCpuMs.used;
      const snapshot = await runtime.snapshot();
      await runtime.exec(compute(220));
      expect(await used()).toBeGreaterThanOrEqual(200);
      await runtime.rollback(snapshot);
      expect(await used()).toBeGreaterThanOrEqual(200);
      await runtime.pause();
      await runtime.resume();
      expect(await used()).toBeGreaterThanOrEqual(200);
      const clone = await runtime.clone();
      expect((await clone.getResourceSnapshot()).limits.runtimeCpuMs).toMatchObject({ max: 1_000 });
      expect((await clone.getResourceSnapshot()).limits.runtimeCpuMs.used).toBeLessThan(200);
      await clone.dispose();
      const end = await runtime.exec('while (true);');
      expect(end).toMatchObject({ error: { code: 'ERR_CPU_LIMIT', limit: 'runtimeCpuMs' } });
      await expect(runtime.rollback(snapshot)).rejects.toMatchObject({ code: 'ERR_CPU_LIMIT' });
    }));

  test('runtimeWallMs ends all programs and refuses later starts', () =>
    withRuntime(mode, { limits: { runtimeWallMs: 400 } }, async (runtime) => {
      const error = { code: 'ERR_TIMEOUT', timeoutMs: 400, limit: 'runtimeWallMs' };
      const wait = 'await new Promise((resolve) => setTimeout(resolve, 60_000))';
      expect(await runtime.exec(wait, { timeout: 50_000 })).toMatchObject({ exitCode: 124, error });
      await expect(runtime.exec('')).rejects.toMatchObject(error);
    }));
});
