// Without the package `@coldframe/server`, its subcommands fail with the line that installs the
// package. They also find the package in the folder of the user.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VERSION } from '../../../src/version.js';
import { COMMAND } from './command.js';

const runFile = promisify(execFile);
let folder: string;

// A copy of the package in a folder that has no other package.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coldframe-alone-'));
  const copy = join(folder, 'installed', 'node_modules', 'coldframe');
  const dist = dirname(COMMAND);
  for (const name of ['command.js', 'index.js', 'mcp.js', 'chunks'])
    cpSync(join(dist, name), join(copy, 'dist', name), { recursive: true });
  cpSync(join(dist, '..', 'package.json'), join(copy, 'package.json'));
  mkdirSync(join(folder, 'app'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...words: string[]) =>
  runFile(process.execPath, [join(folder, 'installed/node_modules/coldframe/dist/command.js'), ...words], {
    cwd: join(folder, 'app'),
  });

test.each(['serve', 'sandbox', 'template', 'login', 'logout', 'whoami'])(
  '%s names the missing package and its version',
  async (name) => {
    await expect(run(name)).rejects.toMatchObject({
      code: 125,
      stderr: expect.stringMatching(
        new RegExp(`ERR_PACKAGE_NOT_FOUND: The package @coldframe/server .*npm install @coldframe/server@${VERSION}`),
      ),
    });
  },
);

test('finds the package in the folder of the user', async () => {
  const place = join(folder, 'app', 'node_modules', '@coldframe', 'server');
  mkdirSync(place, { recursive: true });
  const manifest = { name: '@coldframe/server', type: 'module', exports: { './command': './command.js' } };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  const code = 'export async function execute(call) { console.log(call.name, call.operands.join()); return 7; }';
  writeFileSync(join(place, 'command.js'), code);
  await expect(run('sandbox', 'exec', 'ID', 'ls', '-la')).rejects.toMatchObject({ code: 7, stdout: 'sandbox exec,ID,ls,-la\n' });
});
