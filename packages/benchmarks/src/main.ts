// Runs the command that `pnpm bench:NAME` names: a benchmark, or the comparison of two runs.
//
//   node dist/main.js NAME [ARGUMENTS]

import { benchmarks } from './benchmarks.js';
import { runCompareCommand } from './compare/command.js';
import { runBenchmarkCommand, runCommand } from './suite/command.js';
import { UsageError } from './suite/usage-error.js';

const COMPARE = 'compare';

const [name = '', ...args] = process.argv.slice(2);
const benchmark = benchmarks.find((each) => each.name === name);
if (benchmark) await runBenchmarkCommand(benchmark, args);
else if (name === COMPARE) await runCompareCommand(args);
else {
  const known = [...benchmarks.map((each) => each.name), COMPARE];
  await runCommand('', () => {
    throw new UsageError(`bench: expected one of ${known.join(', ')}, got ${JSON.stringify(name)}`);
  });
}
