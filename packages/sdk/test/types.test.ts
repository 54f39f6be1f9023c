// The public types compile as a program would use them, and refuse what they should.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
const project = fileURLToPath(new URL('types', import.meta.url));

test('a program that uses everything compiles, and what is wrong in it does not', async () => {
  const run = promisify(execFile)(process.execPath, [tsc, '-p', project, '--pretty', 'false']);
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});
