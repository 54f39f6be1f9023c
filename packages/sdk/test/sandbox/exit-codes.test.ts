// Apps that await the end of runtimes and pools at their top level. If no handle keeps the event
// loop alive during such an `await`, Node ends the app with exit code 13.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const RUNS = 6;
const RUNTIMES = 100;

// Runs an app of `test/fixtures` and returns its stdout. Rejects for another exit code than 0.
async function runApp(name: string, ...args: string[]): Promise<string> {
  const path = fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
  return (await promisify(execFile)(process.execPath, [path, ...args])).stdout;
}

test(`an app that awaits the disposal of ${RUNTIMES} owned runtimes exits with 0, ${RUNS} times`, async () => {
  for (let run = 0; run < RUNS; run++) expect(await runApp('disposing-app.mjs', String(RUNTIMES))).toBe('disposed\n');
});

test('an app that drains a pool exits with 0 when `prepare` does not keep the process alive', async () => {
  expect(await runApp('draining-app.mjs')).toBe('drained\n');
});
