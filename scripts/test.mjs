// `pnpm test`: builds what is missing, then runs every check and every test, and prints a summary.

import { ensureBuilt, runMain } from './build.mjs';
import { checks } from './suites/checks.mjs';
import { runSuites } from './suites/report.mjs';
import { tests } from './suites/tests.mjs';

const build = {
  name: 'build',
  run: async () => {
    await ensureBuilt();
    return { passed: 1, failed: 0 };
  },
};

await runMain(async () => {
  if (!(await runSuites([build, ...checks, ...tests]))) process.exitCode = 1;
});
