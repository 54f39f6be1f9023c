// `pnpm test`: builds everything that is missing, runs every check and every test, and prints a
// summary. `pnpm test:long` runs no checks, but the tests with long repetitions, and the slow
// suites.

import { parseArgs } from 'node:util';
import { ensureBuilt, runMain } from './build.mjs';
import { checks } from './suites/checks.mjs';
import { runSuites } from './suites/report.mjs';
import { longTests, tests } from './suites/tests.mjs';

const build = {
  name: 'build',
  run: async () => {
    await ensureBuilt();
    return { passed: 1, failed: 0 };
  },
};

await runMain(async () => {
  const { values } = parseArgs({ options: { long: { type: 'boolean' } } });
  // The tests in Rust and in JavaScript read this variable.
  if (values.long) process.env.COLDFRAME_TESTS = 'long';
  const suites = values.long ? [build, ...tests, ...longTests] : [build, ...checks, ...tests];
  if (!(await runSuites(suites))) process.exitCode = 1;
});
