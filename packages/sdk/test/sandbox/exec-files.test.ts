// Tests programs of several files, and directories with unique names.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

const FILES = {
  'main.mjs': `import { add } from './lib/add.mjs'; console.log(add(1, 2), process.cwd() === import.meta.dirname);`,
  'lib/add.mjs': 'export const add = (a, b) => a + b;',
  'other.ts': 'const text: string = process.argv[2]; console.log(text);',
};

describe.each(MODES)('$name', (mode) => {
  test('runs the entry in a directory of its own, and removes the directory', () =>
    withRuntime(mode, {}, async (runtime) => {
      expect(await runtime.execFiles(FILES)).toMatchObject({ exitCode: 0, stdout: '3 true\n', stderr: '' });
      const other = await runtime.execFiles(FILES, { entry: 'other.ts', args: ['given'], cwd: '/workspace' });
      expect(other.stdout).toBe('given\n');
      expect(await runtime.readDir('/tmp')).toEqual([]);
    }));

  test('removes the directory also after a failure, and programs at the same time do not meet', () =>
    withRuntime(mode, {}, async (runtime) => {
      const run = (n: number) =>
        runtime.execFiles({ 'a.cjs': `console.log(require('./b.cjs')); process.exit(${n})`, 'b.cjs': `module.exports = ${n}` });
      const results = await Promise.all([1, 2, 3, 4].map(run));
      expect(results.map(({ stdout, exitCode }) => [stdout, exitCode])).toEqual([1, 2, 3, 4].map((n) => [`${n}\n`, n]));
      expect(await runtime.readDir('/tmp')).toEqual([]);
    }));

  test.each([
    [{ '../out.js': '' }, {}, '../out.js'],
    [{ '/abs.js': '' }, {}, '/abs.js'],
    [{ 'a/./b.js': '' }, {}, 'a/./b.js'],
    [{ 'a//b.js': '' }, {}, 'a//b.js'],
    [{}, {}, 'files'],
    [{ 'a.js': '' }, { entry: 'b.js' }, 'entry'],
    [{ 'a.js': '' }, { entry: '../a.js' }, 'entry'],
    [{ 'a.js': 1 }, {}, 'a.js'],
  ])('refuses %j with %j', (files, options, option) =>
    withRuntime(mode, {}, async (runtime) => {
      const call = runtime.execFiles(files as Record<string, string>, options);
      await expect(call).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option });
      expect(await runtime.exists('/tmp/exec-')).toBe(false);
    }),
  );

  test('mkdtemp() makes directories with unique names', () =>
    withRuntime(mode, {}, async (runtime) => {
      const paths = await Promise.all(Array.from({ length: 20 }, () => runtime.mkdtemp('/workspace/new/job-')));
      expect(new Set(paths).size).toBe(20);
      expect((await runtime.readDir('/workspace/new')).length).toBe(20);
      expect(await runtime.mkdtemp()).toMatch(/^\/tmp\/[\w-]{8}$/);
      await expect(runtime.mkdtemp('relative')).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'prefix' });
    }));
});
