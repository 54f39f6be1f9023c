// Runs suites one after the other, prints their output immediately, and prints a summary at the
// end.
//
// A suite is `{ name, run }`; `run(print)` resolves with `{ passed, failed }`. A suite that throws
// counts as one failure. Later suites still run, so that the summary has every failure.

import { BuildFailure } from '../build/failure.mjs';

const seconds = (from) => (performance.now() - from) / 1000;

const clock = (total) => `${Math.floor(total / 60)}:${String(Math.round(total % 60)).padStart(2, '0')}`;

const print = (line) => process.stdout.write(`${line}\n`);

async function runOne(suite) {
  try {
    return await suite.run(print);
  } catch (error) {
    print(error instanceof BuildFailure ? error.message : (error?.stack ?? String(error)));
    return { passed: 0, failed: 1 };
  }
}

/**
 * Runs `suites`. Resolves with true if all suites passed. The last printed line is `N passed, N
 * failed`.
 */
export async function runSuites(suites) {
  const started = performance.now();
  const rows = [];
  for (const [index, suite] of suites.entries()) {
    const begun = performance.now();
    print(`\n── ${index + 1}/${suites.length} ${suite.name} (${clock(seconds(started))} so far)`);
    const { passed, failed } = await runOne(suite);
    rows.push({ name: suite.name, passed, failed, took: seconds(begun) });
  }
  const width = Math.max(...rows.map((row) => row.name.length));
  print('');
  for (const { name, passed, failed, took } of rows) {
    const cells = [
      name.padEnd(width),
      (failed > 0 ? 'FAILED' : 'ok').padEnd(6),
      `${String(passed).padStart(5)} passed`,
      `${String(failed).padStart(3)} failed`,
      `${took.toFixed(1).padStart(7)} s`,
    ];
    print(cells.join('  '));
  }
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  print(`\nin ${clock(seconds(started))}`);
  print(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') === 0;
}
