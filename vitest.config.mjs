// The tests of all packages and of the repository, in two groups. Tests in `sandbox/` folders start
// real sidecars, count processes and measure times: their files run alone, one after the other. All
// other tests only compute: two of their files run at a time.

import { defineConfig } from 'vitest/config';

// pnpm sets the variable for scripts. With the variable, an app of a test would find packages that
// are not installed for the app.
delete process.env.NODE_PATH;

const TESTS = ['packages/*/test/**/*.test.{ts,mjs}', 'scripts/test/**/*.test.mjs', 'examples/*/test/**/*.test.mjs'];
const SANDBOX_TESTS = [
  'packages/*/test/sandbox/**/*.test.{ts,mjs}',
  'scripts/test/sandbox/**/*.test.mjs',
  'examples/*/test/sandbox/**/*.test.mjs',
];

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'unit', include: TESTS, exclude: SANDBOX_TESTS, maxWorkers: 2, testTimeout: 60_000 },
      },
      {
        test: {
          name: 'sandbox',
          include: SANDBOX_TESTS,
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
