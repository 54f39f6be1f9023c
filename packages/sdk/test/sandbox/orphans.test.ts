// Tests the option `orphans` in every mode: processes that outlive their command, the end of the
// output that they hold, and their limits.

import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const KEEP = { orphans: 'keep' } as const;
/** Writes a line to a file every 20 ms. */
const TICK = `node -e "setInterval(() => require('fs').appendFileSync('/tmp/ticks', '.'), 20)"`;
const ticks = async (runtime: NodeRuntime): Promise<number> =>
  (await runtime.exists('/tmp/ticks')) ? (await runtime.readFile('/tmp/ticks')).length : 0;

async function moreTicks(runtime: NodeRuntime): Promise<void> {
  const before = await ticks(runtime);
  await until(async () => (await ticks(runtime)) > before);
}

describe.each(MODES)('$name', (mode) => {
  test('a background process ends with its command, or is kept, listed and killed by its pid', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.execCommand('sh', ['-c', `${TICK} >/dev/null 2>&1 & echo started`]);
      await until(async () => (await runtime.processes()).length === 0);
      const { stdout, exitCode } = await runtime.execCommand('sh', ['-c', `${TICK} >/dev/null 2>&1 & echo $!; exit 3`], KEEP);
      expect(exitCode).toBe(3);
      await moreTicks(runtime);
      const [orphan, ...others] = await runtime.processes();
      expect([orphan?.pid, orphan?.ppid, others.length]).toEqual([Number(stdout), 1, 0]);
      expect(orphan?.command).toContain('setInterval');
      expect((await runtime.getResourceSnapshot()).limits.processes.used).toBe(1);
      expect([await orphan?.kill(0), await orphan?.kill('SIGKILL')]).toEqual([true, true]);
      await until(async () => (await orphan?.kill()) === false);
      expect(await runtime.processes()).toEqual([]);
    }));

  test('a process that holds the output keeps the call and its stream open', () =>
    withRuntime(mode, {}, async (runtime) => {
      const late = `node -e "setTimeout(() => console.log('late'), 150)"`;
      const seen: string[] = [];
      const onStdout = (chunk: Uint8Array) => void seen.push(Buffer.from(chunk).toString());
      const handle = await runtime.spawnCommand('sh', ['-c', `${late} & echo early; exit 4`], { ...KEEP, onStdout });
      await until(async () => !(await runtime.processes()).some(({ pid }) => pid === handle.pid));
      expect(handle.exitCode).toBeUndefined();
      expect(await handle.result).toMatchObject({ exitCode: 4, signal: null, stdout: 'early\nlate\n' });
      expect(seen.join('')).toBe('early\nlate\n');
      // Without the option, the process ends with its command.
      expect(await runtime.execCommand('sh', ['-c', `${late} & echo early`])).toMatchObject({ stdout: 'early\n' });
    }));

  test('the output ends when the last process closes it, and the process continues', () =>
    withRuntime(mode, {}, async (runtime) => {
      const closes = `node -e "const fs = require('fs'); setTimeout(() => { fs.closeSync(1); fs.closeSync(2); }, 100);
        setInterval(() => fs.appendFileSync('/tmp/ticks', '.'), 20)"`;
      expect(await runtime.execCommand('sh', ['-c', `${closes} & echo a`], KEEP)).toMatchObject({ stdout: 'a\n' });
      await moreTicks(runtime);
    }));

  test('a timeout and an abort end the processes that hold the output', () =>
    withRuntime(mode, {}, async (runtime) => {
      const held = ['-c', 'sleep 100 & exit 0'];
      const late = await runtime.execCommand('sh', held, { ...KEEP, timeout: 1_500 });
      expect(late).toMatchObject({ exitCode: 124, signal: 'SIGKILL', error: { code: 'ERR_TIMEOUT', timeoutMs: 1_500 } });
      const controller = new AbortController();
      const aborted = await runtime.spawnCommand('sh', held, { ...KEEP, signal: controller.signal });
      await until(async () => !(await runtime.processes()).some(({ pid }) => pid === aborted.pid));
      controller.abort(new Error('stop'));
      await expect(aborted.result).rejects.toThrow('stop');
      await until(async () => (await runtime.processes()).length === 0);
    }));

  test('the timeout of a call ends with the call, and limits continue for the kept processes', () =>
    withRuntime(mode, { limits: { cpuMs: 400 } }, async (runtime) => {
      const kept = `${TICK} >/dev/null 2>&1 & true`;
      expect(await runtime.execCommand('sh', ['-c', kept], { ...KEEP, timeout: 1_500 })).toMatchObject({ exitCode: 0 });
      await new Promise((resolve) => setTimeout(resolve, 1_700));
      await moreTicks(runtime);
      for (const { kill } of await runtime.processes()) await kill('SIGKILL');
      // A chain of processes that start each other shares one limit.
      const chain = `const { spawn } = require('child_process');
        const end = process.cpuUsage().user + 20_000; while (process.cpuUsage().user < end);
        spawn('node', ['-e', process.argv[1], process.argv[1]], { stdio: 'ignore' }); process.exit();`;
      const start = `import { spawn } from 'node:child_process';
        const code = ${JSON.stringify(chain)};
        spawn('node', ['-e', code, code], { stdio: 'ignore' }); process.exit();`;
      expect(await runtime.exec(start, KEEP)).toMatchObject({ exitCode: 0 });
      await until(async () => (await runtime.processes()).length === 0);
      expect((await runtime.getResourceSnapshot()).cpuMs).toBeLessThan(3_000);
    }));

  test('runtimeCpuMs ends kept processes and calls that wait for output', () =>
    withRuntime(mode, { limits: { runtimeCpuMs: 400 } }, async (runtime) => {
      const spin = `node -e "for (;;);" & exit 0`;
      const waiting = runtime.execCommand('sh', ['-c', 'sleep 100 & exit 0'], KEEP);
      // The shell has exited. Its outcome has the limit only if the limit ends the call itself.
      const { exitCode, error } = await runtime.execCommand('sh', ['-c', spin], KEEP);
      expect([exitCode, error?.code]).toEqual(error === undefined ? [0, undefined] : [124, 'ERR_CPU_LIMIT']);
      expect([0, 124]).toContain((await waiting).exitCode);
      await until(async () => (await runtime.getResourceSnapshot()).limits.processes.used === 0);
      await expect(runtime.exec('')).rejects.toMatchObject({ code: 'ERR_CPU_LIMIT', limit: 'runtimeCpuMs' });
    }));

  test('dispose() ends a call that waits for output', () =>
    withRuntime(mode, {}, async (runtime) => {
      const held = await runtime.spawnCommand('sh', ['-c', 'sleep 100 & exit 0'], KEEP);
      await until(async () => !(await runtime.processes()).some(({ pid }) => pid === held.pid));
      await runtime.dispose();
      expect(await held.result).toMatchObject({ exitCode: 137, error: { code: 'ERR_RUNTIME_DISPOSED' } });
    }));

  test('kept processes survive a pause and a clone, and a call that waits for output resolves', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.execCommand('sh', ['-c', `${TICK} >/dev/null 2>&1 &`], KEEP);
      const held = await runtime.spawnCommand('sh', ['-c', 'sleep 100 & echo out; exit 2'], KEEP);
      await until(async () => !(await runtime.processes()).some(({ pid }) => pid === held.pid));
      const [clone, before] = [await runtime.clone(), await runtime.processes()];
      expect((await clone.processes()).map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid));
      await moreTicks(clone);
      await clone.dispose();
      const snapshot = await runtime.pause();
      expect(await held.result).toMatchObject({ exitCode: 2, stdout: 'out\n' });
      await runtime.resume();
      expect((await runtime.processes()).map(({ pid }) => pid)).toEqual(before.map(({ pid }) => pid));
      await moreTicks(runtime);
      await snapshot.delete();
    }));

  test('a command that was running at a pause still waits for its output after the resumption', () =>
    withRuntime(mode, {}, async (runtime) => {
      const script = 'while ! test -e /tmp/go; do sleep 0.02; done; (sleep 0.3; echo late) & echo early';
      const running = runtime.execCommand('sh', ['-c', script], KEEP);
      await until(async () => (await runtime.processes()).length > 0);
      const snapshot = await runtime.pause();
      await runtime.resume();
      await runtime.writeFile('/tmp/go', '');
      expect(await running).toMatchObject({ exitCode: 0, stdout: 'early\nlate\n' });
      await snapshot.delete();
    }));

  test('a rollback ends a call that waits for output', () =>
    withRuntime(mode, {}, async (runtime) => {
      const snapshot = await runtime.snapshot();
      const held = await runtime.spawnCommand('sh', ['-c', 'sleep 100 & exit 0'], KEEP);
      await until(async () => !(await runtime.processes()).some(({ pid }) => pid === held.pid));
      await runtime.rollback(snapshot);
      expect(await held.result).toMatchObject({ error: { code: 'ERR_ROLLED_BACK' } });
      expect(await runtime.processes()).toEqual([]);
    }));
});
