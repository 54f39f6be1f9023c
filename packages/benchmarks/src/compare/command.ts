// `bench:compare A.json B.json [--fail-above RATIO]`: prints a table of ratios on stdout. The exit
// code is 1 only if RATIO is given and a figure exceeds RATIO.

import { HELP, runCommand } from '../suite/command.js';
import { positiveNumber, readFlags } from '../suite/options.js';
import { figure, table, time, words } from '../suite/table.js';
import { textTable } from '../suite/text.js';
import { type Comparison, compareReports, readReport, slowerThan } from './compare.js';

const HELP_TEXT = `bench:compare A.json B.json [--fail-above RATIO]

Ratios of the medians, B / A, with twice their standard error, of two runs of one benchmark. With
--fail-above the exit code is 1 when a figure (no floor) is more than RATIO times slower in B beyond
its noise.`;

const resultTable = (comparisons: readonly Comparison[]) =>
  table('', comparisons, [
    words('row (ms, unless it says KiB)', ({ name }) => name),
    time('A p50', ({ a }) => a),
    time('B p50', ({ b }) => b),
    figure('B / A', ({ ratio }) => ratio.toFixed(2)),
    figure('±', ({ noise }) => noise.toFixed(2)),
    words('verdict', ({ verdict }) => verdict),
  ]);

export const runCompareCommand = (args: readonly string[]): Promise<void> =>
  runCommand(HELP_TEXT, () => {
    const { values, positionals, help } = readFlags(args, ['fail-above'], { min: 2, max: 2 });
    if (help) return HELP;
    const limitText = values['fail-above'];
    const limit = limitText === undefined ? Number.POSITIVE_INFINITY : positiveNumber('--fail-above', limitText);
    const [a = '', b = ''] = positionals;
    const { comparisons, unmatched } = compareReports(readReport(a), readReport(b));
    const { head, rows, textColumns } = resultTable(comparisons);
    process.stdout.write(`${textTable(head, rows, textColumns)}\n`);
    if (unmatched.length > 0) process.stdout.write(`\nIn one file only: ${unmatched.join(', ')}\n`);
    const tooSlow = slowerThan(comparisons, limit);
    for (const { name, ratio } of tooSlow) process.stderr.write(`${name}: ${ratio.toFixed(2)} × is above ${limit}\n`);
    return tooSlow.length > 0 ? 1 : 0;
  });
