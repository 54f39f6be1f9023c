// Tests that the public types accept correct programs and refuse wrong programs, with the compiler
// options of this repository and with stricter options of apps.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));

// Compiles the project in a folder of this folder. Returns the errors.
async function compile(folder: string, ...options: string[]): Promise<string> {
  const project = fileURLToPath(new URL(folder, import.meta.url));
  const run = promisify(execFile)(process.execPath, [tsc, '-p', project, '--pretty', 'false', ...options]);
  return (await run.catch((error: { stdout: string }) => error)).stdout;
}

test('a program that uses all public types compiles, and its marked errors do not', async () => {
  expect(await compile('types')).toBe('');
});

test('the declarations compile with `exactOptionalPropertyTypes` and without `skipLibCheck`', async () => {
  expect(await compile('consumers')).toBe('');
});

test('the types refuse `require()` for versions of Node that cannot load an ES module so', async () => {
  const errors = await compile('consumers', '--module', 'node16');
  expect(errors).toMatch(/common-js\.cts\(\d+,\d+\): error TS1471: [^\n]*\n$/m);
  expect(errors.match(/error TS/g)).toHaveLength(1);
});
