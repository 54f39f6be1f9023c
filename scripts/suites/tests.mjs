// The test suites: the Rust workspace, the TypeScript packages and the repository itself, and short runs of the frame fuzzers.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cargo } from '../build/cargo.mjs';
import { BuildFailure } from '../build/failure.mjs';
import { cargoTargetDir, fromRoot, root } from '../build/paths.mjs';
import { run } from '../build/run.mjs';

const REPORT = '.build/vitest.json';

/** Sums cargo's `test result:` lines; a run that fails without one (it does not compile) is one failure. */
async function rust(print) {
  const sum = { passed: 0, failed: 0 };
  const count = (line) => {
    const [, passed, failed] = /^test result: .* (\d+) passed; (\d+) failed/.exec(line) ?? [];
    sum.passed += Number(passed ?? 0);
    sum.failed += Number(failed ?? 0);
    print(line);
  };
  // The builder profile, as for clippy: wasmtime and its compiler are there already, and are not compiled a third time.
  const args = ['test', '--locked', '--profile', 'builder', '--workspace', '--no-fail-fast'];
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
    await run(`${root}/node_modules/.bin/vitest`, args, { onLine: print, env: { NO_COLOR: '1' } });
  } catch (error) {
    failure = error;
  }
  const report = readReport();
  if (!report) throw failure ?? new BuildFailure('vitest wrote no report');
  // A file that cannot be loaded, or an error outside any test, fails the run without failing a test.
  return { passed: report.numPassedTests, failed: report.numFailedTests || (failure ? 1 : 0) };
}

function readReport() {
  try {
    return JSON.parse(readFileSync(fromRoot(REPORT), 'utf8'));
  } catch {
    return undefined;
  }
}

const FUZZ_SECONDS = '5';

const fuzz = (name, work) => ({
  name,
  run: async (print) => {
    await work(print);
    return { passed: 1, failed: 0 };
  },
});

// The example that the Rust tests have compiled already: `cargo run` would select one package, and compile what it needs again with other
// features.
async function sidecarFuzz(print) {
  await cargo(['build', '--locked', '--profile', 'builder', '--workspace', '--example', 'fuzz_frames'], print);
  await run(join(cargoTargetDir, 'builder/examples/fuzz_frames'), ['--seconds', FUZZ_SECONDS], { onLine: print });
}

const sdkFuzz = ['packages/sdk/test/fuzz/frames.mjs', '--seconds', FUZZ_SECONDS];

export const tests = [
  { name: 'Rust tests', run: rust },
  { name: 'TypeScript tests', run: vitest },
  fuzz('fuzz, sidecar', sidecarFuzz),
  fuzz('fuzz, SDK', (print) => run(process.execPath, sdkFuzz, { onLine: print })),
];
