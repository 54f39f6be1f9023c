// The test suites: the Rust workspace, the TypeScript packages with the repository itself, and a
// run of the SDK's fuzzer. `pnpm test:long` also runs the engine's long tests, the tests of the
// sanitized guest, the fuzz targets of the sidecar and the packages of Python. The command then
// opens the documentation site in a browser.

import { readFileSync, rmSync } from 'node:fs';
import { cargo } from '../build/cargo.mjs';
import { BuildFailure } from '../build/failure.mjs';
import { fromRoot, root } from '../build/paths.mjs';
import { run } from '../build/run.mjs';
import { STAND_IN } from './checks.mjs';

const REPORT = '.build/vitest.json';
/** A bound for tests that hang. All tests take about 25 min on two processors. */
const VITEST_MS = 50 * 60_000;

/**
 * Runs the Rust tests and sums cargo's `test result:` lines. A run that fails without a failed test
 * throws the error.
 */
async function rust(print) {
  const sum = { passed: 0, failed: 0 };
  const count = (line) => {
    const [, passed, failed] = /^test result: .* (\d+) passed; (\d+) failed/.exec(line) ?? [];
    sum.passed += Number(passed ?? 0);
    sum.failed += Number(failed ?? 0);
    print(line);
  };
  // Tests use the profile `builder`, as clippy does, because the build has already compiled
  // wasmtime in that profile.
  // The feature adds the stand-in for an escaped guest to the sidecar of the tests.
  const args = ['test', '--locked', '--profile', 'builder', '--workspace', '--no-fail-fast', '--features', STAND_IN];
  try {
    await cargo(args, count);
  } catch (error) {
    if (sum.failed === 0) throw error;
  }
  return sum;
}

async function vitest(print) {
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
  rmSync(fromRoot(REPORT), { force: true });
  let failure;
  try {
    await run(`${root}/node_modules/.bin/vitest`, args, {
      onLine: print,
      env: { NO_COLOR: '1' },
      longestMs: VITEST_MS,
    });
  } catch (error) {
    failure = error;
  }
  const report = readReport();
  if (!report) throw failure ?? new BuildFailure('vitest wrote no report');
  // A file that cannot be loaded and an error outside a test fail the run without failing a test.
  return { passed: report.numPassedTests, failed: report.numFailedTests || (failure ? 1 : 0) };
}

function readReport() {
  try {
    return JSON.parse(readFileSync(fromRoot(REPORT), 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Returns the run time of each fuzzer, in seconds: longer in `pnpm test:long` than in `pnpm test`.
 */
const fuzzSeconds = () => (process.env.COLDFRAME_TESTS === 'long' ? '120' : '5');

const single = (name, work) => ({
  name,
  run: async (print) => {
    await work(print);
    return { passed: 1, failed: 0 };
  },
});

async function sdkFuzz(print) {
  await run(process.execPath, ['packages/sdk/test/fuzz/frames.mjs', '--seconds', fuzzSeconds()], { onLine: print });
}

/**
 * The time limit of the engine's tests, which take minutes and compile the engine without the
 * patches.
 */
const LONGEST_MS = 3 * 60 * 60_000;

const engine = (script) => (print) =>
  run(process.execPath, [`packages/runner/test/engine/${script}`], { onLine: print, longestMs: LONGEST_MS });

/** The Rust tests run the kept inputs of the fuzz targets. This suite searches for new inputs. */
const targets = (print) =>
  run(process.execPath, ['scripts/fuzz.mjs', '--seconds', fuzzSeconds()], { onLine: print, longestMs: LONGEST_MS });

const sanitized = (print) => run(process.execPath, ['scripts/sanitized.mjs'], { onLine: print, longestMs: 2 * LONGEST_MS });

const pythonPackages = (print) =>
  run(process.execPath, ['packages/python/test/packages/run.mjs'], { onLine: print, longestMs: LONGEST_MS });

const look = (print) => run(process.execPath, ['packages/site/browser/look.mjs'], { onLine: print });

export const tests = [{ name: 'Rust tests', run: rust }, { name: 'TypeScript tests', run: vitest }, single('fuzz, SDK', sdkFuzz)];

/** The suites that only `pnpm test:long` runs. */
export const longTests = [
  single('QuickJS tests', engine('quickjs-tests.mjs')),
  single('random programs', engine('random-programs/run.mjs')),
  single('sanitized guest', sanitized),
  single('fuzz, sidecar', targets),
  single('packages of Python', pythonPackages),
  single('documentation site in a browser', look),
];
