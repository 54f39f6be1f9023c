// Tests resident runners. Snippets run one after another in one process with one state.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

const ENDLESS = 'while (true);';

describe.each(MODES)('$name', (mode) => {
  test('snippets share globals and have separate output', () =>
    withRuntime(mode, { env: { A: '1' } }, async (runtime) => {
      const runner = await runtime.createResidentRunner({ env: { B: '2' }, cwd: '/tmp' });
      await runner.exec('globalThis.n = 40');
      const results = await Promise.all([
        runner.exec('n++; console.log("first", n); await new Promise((r) => setTimeout(r, 30)); console.error("late")'),
        runner.exec('n++; console.log("second", n, process.env.A, process.env.B, process.cwd())'),
      ]);
      const timings = { startMs: 0, runMs: expect.any(Number) };
      expect(results).toEqual([
        { stdout: 'first 41\n', stderr: 'late\n', exitCode: 0, signal: null, timings },
        { stdout: 'second 42 1 2 /tmp\n', stderr: '', exitCode: 0, signal: null, timings },
      ]);
      expect((await runtime.exec('console.log(typeof n)')).stdout).toBe('undefined\n');
      await runner.dispose();
    }));

  test('a snippet that throws fails alone', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.kept = "kept"');
      const failed = await runner.exec('throw new TypeError("no")');
      expect(failed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('TypeError: no') });
      expect(await runner.exec('console.log(kept)')).toMatchObject({ exitCode: 0, stdout: 'kept\n' });
      expect(await runner.exec('this is no program')).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('SyntaxError'),
      });
      expect(await runner.exec('console.log(kept)')).toMatchObject({ exitCode: 0, stdout: 'kept\n' });
    }));

  test('a timeout ends a snippet and keeps the state', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.kept = "kept"');
      for (const code of [ENDLESS, 'await new Promise(() => setTimeout(() => {}, 60_000))']) {
        const result = await runner.exec(`console.log("begun"); ${code}`, { timeout: 100 });
        expect(result).toMatchObject({ exitCode: 124, stdout: 'begun\n', error: { code: 'ERR_TIMEOUT', timeoutMs: 100 } });
      }
      expect((await runner.exec('console.log(kept)')).stdout).toBe('kept\n');
    }));

  test('a signal ends a running snippet and a waiting snippet', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const controller = new AbortController();
      const waiting = new AbortController();
      const running = runner.exec(ENDLESS, { signal: controller.signal });
      const queued = runner.exec('console.log("never")', { signal: waiting.signal });
      waiting.abort('queued');
      await expect(queued).rejects.toBe('queued');
      setTimeout(() => controller.abort('running'), 50);
      await expect(running).rejects.toBe('running');
      expect((await runner.exec('console.log("alive")')).stdout).toBe('alive\n');
    }));

  test('streams the output of a snippet', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      for (const word of ['one', 'two']) {
        const seen: string[] = [];
        const { stdout } = await runner.exec(`console.log("${word}")`, {
          onStdout: (chunk) => seen.push(String(Buffer.from(chunk))),
        });
        expect([stdout, seen.join('')]).toEqual([`${word}\n`, `${word}\n`]);
      }
    }));

  test('process.exit() ends the runner', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      expect(await runner.exec('console.log("bye"); process.exit(3)')).toMatchObject({ exitCode: 3, stdout: 'bye\n' });
      await expect(runner.exec('1')).rejects.toMatchObject({ code: 'ERR_RUNNER_EXITED', exitCode: 3 });
      await runner.dispose();
    }));

  test('dispose() ends the running snippet, and later snippets are refused', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const running = runner.exec(ENDLESS);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await Promise.all([runner.dispose(), runner.dispose()]);
      expect(await running).toMatchObject({ exitCode: 137, error: { code: 'ERR_CANCELED' } });
      await expect(runner.exec('1')).rejects.toMatchObject({ code: 'ERR_RUNNER_DISPOSED' });
    }));

  test('a runner ends with its runtime', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const running = runner.exec(ENDLESS);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await runtime.dispose();
      expect(await running).toMatchObject({ exitCode: 137, error: { code: 'ERR_RUNTIME_DISPOSED' } });
      await runner.dispose();
    }));
});
