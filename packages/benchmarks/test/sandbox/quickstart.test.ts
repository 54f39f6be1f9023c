// Tests the quickstart: its first program, a program of the reader, a program that fails, and a
// missing file.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runScript } from '../helpers/command.js';

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coldframe-quickstart-'));
  // The quickstart builds stale parts, which can take minutes when this file runs alone after a
  // change.
  await runScript('scripts/build.mjs', [], {}, 900_000);
}, 900_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const quickstart = (args: string[]) => runScript('scripts/quickstart.mjs', args);

test('runs the first program in the four modes, with a table of timings', async () => {
  const { code, stdout, stderr } = await quickstart([]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('    The first primes are 2 3 5 7 11 13 17 19 23 29\n');
  expect(stdout).toContain("    Of the host's environment I see nothing.\n");
  expect(stdout.match(/\(the same output as owned\)/g)).toHaveLength(3);
  for (const mode of ['owned', 'shared', 'resident', 'embedded']) {
    expect(stdout).toMatch(new RegExp(`^${mode} +[\\d.]+ +[\\d.]+ +[\\d.]+ +[\\d.]+ +\\d+ `, 'm'));
  }
  expect(stdout).toMatch(/^node -e 1 +[\d.]+ +5$/m);
});

test("shows the stack of a reader's program that fails, and returns its exit code", async () => {
  const file = join(folder, 'mine.mjs');
  writeFileSync(file, "console.log('mine');\nfunction broken() {\n  throw new Error('as written');\n}\nbroken();\n");
  const { code, stdout } = await quickstart([file]);
  expect(code).toBe(1);
  expect(stdout).toContain('    mine\n');
  expect(stdout).toContain('as written');
  expect(stdout).toContain('broken');
  expect(stdout).toContain('    exit code 1\n');
});

test('names a missing file', async () => {
  const { code, stderr } = await quickstart([join(folder, 'missing.mjs')]);
  expect(code).toBe(1);
  expect(stderr).toContain(`FILE: expected a readable JavaScript file, received ${join(folder, 'missing.mjs')} (ENOENT)`);
});
