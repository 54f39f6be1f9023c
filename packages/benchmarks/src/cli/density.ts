// `bench:density [--out FILE.json] [--report FILE.html] [--counts N,…] [--kinds NAMES] …`: what many live runtimes in one sidecar cost, and whether all of them answer.
// JSON to stdout or FILE, everything for people to stderr. The exit code is 1 when anything failed or a row is
// missing, but not for those that the sidecar refused by name because the system has no room for them.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFlags } from '../config/flags.js';
import { list, wholeNumber } from '../config/parse.js';
import { UsageError } from '../config/usage-error.js';
import { KINDS, type KindName } from '../density/kinds.js';
import { measureDensities } from '../density/measure.js';
import { renderDensity } from '../density/page.js';
import { type DensityPlan, ORDINARY, QUICK } from '../density/plan.js';
import { type DensityReport, SCHEMA } from '../density/report.js';
import { densityTables } from '../density/tables.js';
import { isRefusedByName, judgeDensity } from '../density/targets.js';
import { densityWarnings } from '../density/warnings.js';
import { openSidecar } from '../lifecycle/adapter.js';
import { PACKAGES } from '../lifecycle/packages.js';
import { observe } from '../machine/observe.js';
import { machineWarnings } from '../report/warnings.js';
import { runCommand } from './command.js';
import { showTables, writeReport } from './output.js';
import { toStderr } from './progress.js';

const HELP = `bench:density [--out FILE.json] [--report FILE.html] [--counts N,…] [--kinds NAMES] [--hold N] [--budget SECONDS] [--quick]

Live runtimes in one sidecar: memory, page tables, mappings and descriptors of each, the time to make one more, and a probe of every one afterwards.
--counts  how many (default ${ORDINARY.counts.join(',')})
--kinds   out of ${KINDS.join(', ')}
--hold    asked for at one moment; 0 leaves it out (default ${ORDINARY.hold})
--budget  seconds; rows that come after that are skipped (default 300)
--quick   few: shows that everything works, measures nothing`;

const FLAGS = ['out', 'report', 'counts', 'kinds', 'hold', 'budget'];
const MOST = 100_000;

function kindName(text: string): KindName {
  const known = KINDS.find((name) => name === text);
  if (known) return known;
  throw new UsageError(`--kinds: expected names out of ${KINDS.join(', ')}, got ${JSON.stringify(text)}`);
}

await runCommand(HELP, async () => {
  const { values, switches, help } = readFlags(process.argv.slice(2), FLAGS, { min: 0, max: 0 }, ['quick']);
  if (help) return 'help';
  const quick = switches.has('quick');
  const base = quick ? QUICK : ORDINARY;
  const plan: DensityPlan = {
    ...base,
    ...(values.counts !== undefined && {
      counts: list('--counts', values.counts, (text) => wholeNumber('--counts', text, 1, MOST)),
    }),
    ...(values.kinds !== undefined && { kinds: list('--kinds', values.kinds, kindName) }),
    ...(values.hold !== undefined && { hold: wholeNumber('--hold', values.hold, 0, MOST) }),
  };
  const budgetMs = 1_000 * (values.budget === undefined ? 300 : wholeNumber('--budget', values.budget, 1, 86_400));
  const scratch = mkdtempSync(join(tmpdir(), 'coldframe-density-'));
  try {
    const { head, result } = await observe(() =>
      measureDensities({ open: openSidecar, plan, scratch, budgetMs, floorSamples: quick ? 4 : 40, say: toStderr }),
    );
    const report: DensityReport = {
      schema: SCHEMA,
      ...head,
      plan,
      packages: PACKAGES,
      system: { maxMapCount: Number(readFileSync('/proc/sys/vm/max_map_count', 'utf8')) },
      warnings: [...machineWarnings(head.hardware, head.machine), ...densityWarnings(result)],
      targets: judgeDensity(result),
      ...result,
    };
    showTables(densityTables(report), report.warnings, report.durationMs);
    writeReport(report, values.out, { path: values.report, render: () => renderDensity(report) });
    const crowds = [...result.rows, ...result.holds].every((row) => row.successRate === 1 || isRefusedByName(row));
    const bursts = result.bursts.every(({ rows }) => rows.every(({ successRate }) => successRate === 1));
    return result.skipped.length === 0 && crowds && bursts ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});
