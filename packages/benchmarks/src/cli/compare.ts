// `bench:compare A.json B.json [--fail-above RATIO]`: a table of ratios on stdout; exit code 1 only when RATIO is given and exceeded.

import { type Comparison, compareReports, slowerThan } from '../compare/compare.js';
import { readReport } from '../compare/read.js';
import { readFlags } from '../config/flags.js';
import { positiveNumber } from '../config/parse.js';
import { ms, textTable } from '../report/format.js';
import { runCommand } from './command.js';

const HELP = `bench:compare A.json B.json [--fail-above RATIO]

Ratios of the medians, B / A, with twice their standard error, of two runs of bench:coldstart, bench:lifecycle, bench:density or
bench:pool. With --fail-above the exit code is 1 when a row of ours (no floor)
is more than RATIO times slower in B beyond its noise.`;

const HEAD = ['row (ms, unless it says KiB)', 'A p50', 'B p50', 'B / A', '±', 'verdict'];

const cells = ({ name, a, b, ratio, noise, verdict }: Comparison): string[] => [
  name,
  ms(a),
  ms(b),
  ratio.toFixed(2),
  noise.toFixed(2),
  verdict,
];

await runCommand(HELP, () => {
  const { values, positionals, help } = readFlags(process.argv.slice(2), ['fail-above'], { min: 2, max: 2 });
  if (help) return 'help';
  const limitText = values['fail-above'];
  const limit = limitText === undefined ? Number.POSITIVE_INFINITY : positiveNumber('--fail-above', limitText);
  const [a = '', b = ''] = positionals;
  const { comparisons, unmatched } = compareReports(readReport(a), readReport(b));
  process.stdout.write(`${textTable(HEAD, comparisons.map(cells), [0, 5])}\n`);
  if (unmatched.length > 0) process.stdout.write(`\nIn one file only: ${unmatched.join(', ')}\n`);
  const tooSlow = slowerThan(comparisons, limit);
  for (const { name, ratio } of tooSlow) process.stderr.write(`${name}: ${ratio.toFixed(2)} × is above ${limit}\n`);
  return tooSlow.length > 0 ? 1 : 0;
});
