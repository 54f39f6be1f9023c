// Tests values, variables and working directories of evaluations in a resident runner.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

const PLACE = '__return([process.env.A ?? null, process.env.HOME_OF_RUNNER ?? null, process.cwd()])';
const OWN = { env: { HOME_OF_RUNNER: 'yes' }, cwd: '/tmp' };

describe.each(MODES)('$name', (mode) => {
  test('run() returns the value of each evaluation, and no value of an earlier evaluation', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.exec('globalThis.n = 1');
      expect((await runner.run<number>('__return(++n)')).value).toBe(2);
      expect((await runner.run('__return({ n, deep: [1, { a: null }] })')).value).toEqual({ n: 2, deep: [1, { a: null }] });
      expect('value' in (await runner.run('n'))).toBe(false);
      expect((await runner.run('__return(1); __return(2)')).value).toBe(2);
      expect((await runner.run('await 1; setTimeout(() => __return("late"), 1)')).value).toBe('late');
    }));

  test('exec() of a runner refuses __return()', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await runner.run('__return(1)');
      const { exitCode, stderr } = await runner.exec('__return(2)');
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('TypeError: __return() sets the result of run()')]);
      expect('value' in (await runner.run(''))).toBe(false);
    }));

  test('a value beyond the limit ends the evaluation, and the runner continues', () =>
    withRuntime(mode, { limits: { resultBytes: 10 } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const long = await runner.run('globalThis.kept = 1; __return("x".repeat(100))');
      expect(long.error).toMatchObject({ code: 'ERR_RESULT_LIMIT', resultBytes: 10 });
      expect((await runner.run('__return(kept)')).value).toBe(1);
    }));

  test('env and cwd of an evaluation end with the evaluation', () =>
    withRuntime(mode, { env: { A: 'runtime' } }, async (runtime) => {
      await runtime.mkdir('/data');
      const runner = await runtime.createResidentRunner(OWN);
      const own = ['runtime', 'yes', '/tmp'];
      const place = async (options?: { env?: Record<string, string>; cwd?: string }) => (await runner.run(PLACE, options)).value;
      expect(await place()).toEqual(own);
      expect(await place({ env: { A: 'call' }, cwd: '/data' })).toEqual(['call', 'yes', '/data']);
      expect(await place()).toEqual(own);
      expect(await place({ env: { HOME_OF_RUNNER: '' } })).toEqual(['runtime', '', '/tmp']);
      expect(await place({ cwd: '/data' })).toEqual(['runtime', 'yes', '/data']);
      await runner.exec('process.env.B = "kept"', { env: { C: '1' } });
      expect((await runner.run('__return([process.env.B, "C" in process.env])')).value).toEqual(['kept', false]);
    }));

  test('an interrupted evaluation leaves no variables and no working directory', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.mkdir('/data');
      const runner = await runtime.createResidentRunner(OWN);
      const endless = await runner.exec('for (;;);', { timeout: 50, env: { A: 'call' }, cwd: '/data' });
      expect(endless.error?.code).toBe('ERR_TIMEOUT');
      expect((await runner.run(PLACE)).value).toEqual([null, 'yes', '/tmp']);
    }));

  test('relative imports of an evaluation start at its working directory', () =>
    withRuntime(mode, { files: { '/data/lib.mjs': 'export default 7' } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const { value } = await runner.run(`import seven from './lib.mjs'; __return(seven)`, { cwd: '/data' });
      expect(value).toBe(7);
    }));

  test('a wrong env or cwd is refused, and the runner continues', () =>
    withRuntime(mode, { limits: { envBytes: 4_096 } }, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      await expect(runner.exec('1', { cwd: '/missing' })).rejects.toMatchObject({ code: 'ENOENT', path: '/missing' });
      await expect(runner.exec('1', { env: { 'a=b': '' } })).rejects.toMatchObject({
        code: 'ERR_INVALID_OPTION',
        option: 'env.a=b',
      });
      const large = runner.exec('1', { env: { A: 'x'.repeat(5_000) } });
      await expect(large).rejects.toMatchObject({ code: 'ERR_INVALID_REQUEST', what: 'env' });
      expect((await runner.run('__return(1)')).value).toBe(1);
    }));

  test('a waiting evaluation of a paused runtime keeps its settings', () =>
    withRuntime(mode, {}, async (runtime) => {
      const runner = await runtime.createResidentRunner();
      const first = runner.run('await new Promise((resolve) => setTimeout(resolve, 300)); __return("first")');
      const second = runner.run('__return(process.env.A)', { env: { A: 'second' } });
      await runtime.pause();
      await runtime.resume();
      expect((await first).value).toBe('first');
      expect((await second).value).toBe('second');
    }));
});
