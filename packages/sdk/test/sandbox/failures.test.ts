// Tests the option `throwOnError`, which makes a failed program an error, and the timings of
// results.

import { describe, expect, test } from 'vitest';
import { ColdframeError, type ExecResult, type NodeRuntime, type RunOptions } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

type Call = (runtime: NodeRuntime, options: RunOptions) => Promise<ExecResult>;

const FAILS = `console.log('out'); console.error('why'); process.exit(3)`;
const FILES = { '/workspace/fails.cjs': FAILS };
const COMMAND = ['fails.cjs'];
const CALLS: [string, Call][] = [
  ['exec()', (runtime, options) => runtime.exec(FAILS, options)],
  ['run()', (runtime, options) => runtime.run(FAILS, options)],
  ['execFile()', (runtime, options) => runtime.execFile('fails.cjs', options)],
  ['execFiles()', (runtime, options) => runtime.execFiles({ 'main.cjs': FAILS }, options)],
  ['execCommand()', (runtime, options) => runtime.execCommand('node', COMMAND, options)],
  ['spawn()', async (runtime, options) => (await runtime.spawn(FAILS, options)).result],
  ['spawnCommand()', async (runtime, options) => (await runtime.spawnCommand('node', COMMAND, options)).result],
  ['runner.exec()', async (runtime, options) => (await runtime.createResidentRunner()).exec(FAILS, options)],
  ['runner.run()', async (runtime, options) => (await runtime.createResidentRunner()).run(FAILS, options)],
];

describe.each(MODES)('$name', (mode) => {
  test.each(CALLS)('%s rejects for a failed program only with throwOnError', (_, call) =>
    withRuntime(mode, { files: FILES }, async (runtime) => {
      expect((await call(runtime, {})).exitCode).toBe(3);
      const error = await call(runtime, { throwOnError: true }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ColdframeError);
      expect(error).toMatchObject({ code: 'ERR_PROGRAM_FAILED', exitCode: 3, stdout: 'out\n', stderr: 'why\n' });
      expect((error as Error).message).toContain('exit code 3. Its last output:\nwhy');
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code: 'ERR_PROGRAM_FAILED', stderr: 'why\n' });
    }),
  );

  test('the error names the reason if the sandbox ended the program', () =>
    withRuntime(mode, {}, async (runtime) => {
      const run = runtime.exec('for (;;);', { timeout: 50, throwOnError: true });
      await expect(run).rejects.toMatchObject({
        code: 'ERR_PROGRAM_FAILED',
        exitCode: 124,
        reason: 'ERR_TIMEOUT',
        cause: { code: 'ERR_TIMEOUT', timeoutMs: 50 },
      });
    }));

  test('wait() of a failed program returns the exit code', () =>
    withRuntime(mode, {}, async (runtime) => {
      const program = await runtime.spawn(FAILS, { throwOnError: true });
      expect(await program.wait()).toBe(3);
      await expect(program.result).rejects.toMatchObject({ code: 'ERR_PROGRAM_FAILED' });
      expect((await runtime.exec('1', { throwOnError: true })).exitCode).toBe(0);
    }));

  test('results have the durations of the start and the run', () =>
    withRuntime(mode, {}, async (runtime) => {
      const { timings } = await runtime.exec('const end = performance.now() + 20; while (performance.now() < end);');
      expect(timings.startMs).toBeGreaterThan(0);
      expect(timings.runMs).toBeGreaterThanOrEqual(20);
      const runner = await runtime.createResidentRunner();
      expect((await runner.exec('1')).timings).toEqual({ startMs: 0, runMs: expect.any(Number) });
    }));
});
