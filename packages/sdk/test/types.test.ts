// Tests that the public types accept correct programs and refuse wrong programs.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
const project = fileURLToPath(new URL('types', import.meta.url));

test('a program that uses all public types compiles, and its marked errors do not', async () => {
  const run = promisify(execFile)(process.execPath, [tsc, '-p', project, '--pretty', 'false']);
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});
