// Tests the built module `coldframe/secure-exec` in an app of its own process. The app was written
// for secure-exec, and only the line of its import changes.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundlesIn, dependenciesIn, loadedBy } from '../../loaded-modules.js';

const PACKAGE = new URL('../../../', import.meta.url);
const APP = new URL('../../fixtures/secure-exec-app.mjs', import.meta.url);

// Runs a module of text in the folder of this package, where `coldframe` names this package.
async function run(code: string): Promise<string> {
  const args = ['--input-type=module', '--eval', code];
  return (await promisify(execFile)(process.execPath, args, { cwd: fileURLToPath(PACKAGE) })).stdout;
}

test('an app of secure-exec runs with a changed import line', async () => {
  const app = await readFile(APP, 'utf8');
  const changed = app.replace(`from 'secure-exec';`, `from 'coldframe/secure-exec';`);
  expect(changed.split('\n').filter((line, index) => line !== app.split('\n')[index])).toHaveLength(1);
  expect(await run(changed)).toBe('value 1 guest\nresponse 200 path /health null\nexit code 137\n');
});

test('the module loads the SDK once, and no module of a dependency', async () => {
  const urls = await loadedBy('coldframe', 'coldframe/secure-exec');
  expect(bundlesIn(urls).sort()).toEqual(['chunks/chunk.js', 'index.js', 'secure-exec.js']);
  expect(dependenciesIn(urls)).toEqual([]);
});

test('the module exports classes of the SDK, and rejects with errors of the SDK', async () => {
  const output = await run(`
    import * as coldframe from 'coldframe';
    import { NodeRuntime, Sidecar, SidecarRejectedError } from 'coldframe/secure-exec';
    const error = await NodeRuntime.create({ commandsDir: '/commands' }).catch((thrown) => thrown);
    console.log(Sidecar === coldframe.Sidecar, error.constructor === coldframe.ColdframeError);
    console.log(error instanceof SidecarRejectedError, error.message);
  `);
  expect(output).toBe(
    'true true\ntrue Invalid `commandsDir` in NodeRuntime.create(): expected no value: `sh` and the other commands ' +
      'are parts of the package, received "/commands" (string).\n',
  );
});
