// The examples of docs/command.md print the documented output. A block that opens with
// ```sh command is one script of bash, and the next block is its output.

import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { SUBCOMMANDS } from '../../../src/command/subcommands.js';
import { COMMAND } from './command.js';

const runFile = promisify(execFile);
const page = readFileSync(new URL('../../../../../docs/command.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/^```sh command\n(.*?)^```\n\n```text output\n(.*?)^```$/gms)].map(
  ([, script, output], index) => ({
    name: `example ${index + 1}`,
    script: script as string,
    output: output as string,
  }),
);

const folder = mkdtempSync(join(tmpdir(), 'coldframe-command-'));
writeFileSync(join(folder, 'coldframe'), `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`);
chmodSync(join(folder, 'coldframe'), 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

test('the page has an example of each subcommand', () => {
  const scripts = examples.map(({ script }) => script).join('');
  expect(SUBCOMMANDS.filter(({ name }) => !scripts.includes(`coldframe ${name}`))).toEqual([]);
});

test.each(examples)('$name', async ({ script, output }) => {
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
  const { stdout } = await runFile('bash', ['-c', script], { cwd: folder, env });
  expect(stdout).toBe(output);
});
