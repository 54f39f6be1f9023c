// Tests programs with a language or options of `node`: TypeScript as text, `--input-type`, and an
// unknown option.

import { expect, test } from 'vitest';
import { NodeRuntime } from '../../src/index.js';

test('exec() and run() accept TypeScript', async () => {
  await using runtime = await NodeRuntime.create();
  const code = 'interface A { a: number }\nconst x: A = { a: 1 } satisfies A;\n';
  const { stdout, stderr } = await runtime.exec(`${code}console.log(x, process.execArgv);`, { language: 'typescript' });
  expect([stdout, stderr]).toEqual(["{ a: 1 } [ '--input-type=module-typescript' ]\n", '']);
  const { value } = await runtime.run<{ a: number }>(`${code}__return(x as unknown);`, { language: 'typescript' });
  expect(value).toEqual({ a: 1 });
});

test('refuses TypeScript that needs code, and an error quotes its line', async () => {
  await using runtime = await NodeRuntime.create();
  const refused = await runtime.exec('enum A { x }', { language: 'typescript' });
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain('SyntaxError [ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX]: TypeScript enum is not supported');
  const thrown = await runtime.exec('const a: string = "b";\nthrow new Error(a);', { language: 'typescript' });
  expect(thrown.stderr).toContain('file:///workspace/[eval1]:2\nthrow new Error(a);\n');
});

test('--input-type makes a program CommonJS', async () => {
  await using runtime = await NodeRuntime.create();
  const { stdout } = await runtime.exec('console.log(typeof require, typeof fs, __filename)', {
    execArgv: ['--input-type=commonjs'],
  });
  expect(stdout).toBe('function object [eval]\n');
});

test('an unknown option ends the program with exit code 9', async () => {
  await using runtime = await NodeRuntime.create();
  const { exitCode, stderr } = await runtime.exec('', { execArgv: ['--no-such-option'] });
  expect([exitCode, stderr]).toEqual([9, 'node: bad option: --no-such-option\n']);
});
