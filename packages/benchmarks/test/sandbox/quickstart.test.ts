// The quickstart: our first program, a program of the reader's, a program that fails, a file that is not there.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runScript } from '../helpers/command.js';

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coldframe-quickstart-'));
  // The quickstart builds what is stale, which may take minutes when this file is run alone after a change.
  await runScript('scripts/build.mjs', [], {}, 900_000);
}, 900_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const quickstart = (args: string[]) => runScript('scripts/quickstart.mjs', args);

test('the first program runs in the four modes, with a table of timings', async () => {
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

test("a reader's program; an error has its stack, and its exit code is the command's", async () => {
  const file = join(folder, 'mine.mjs');
  writeFileSync(file, "console.log('mine');\nfunction broken() {\n  throw new Error('as written');\n}\nbroken();\n");
  const { code, stdout } = await quickstart([file]);
  expect(code).toBe(1);
  expect(stdout).toContain('    mine\n');
  expect(stdout).toContain('as written');
  expect(stdout).toContain('broken');
  expect(stdout).toContain('    exit code 1\n');
});

test('a file that is not there is named', async () => {
  const { code, stderr } = await quickstart([join(folder, 'missing.mjs')]);
  expect(code).toBe(1);
  expect(stderr).toContain(`FILE: expected a readable JavaScript file, received ${join(folder, 'missing.mjs')} (ENOENT)`);
});
