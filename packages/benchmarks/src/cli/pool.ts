// `bench:pool [--out FILE.json] [--report FILE.html] [--uses N,…] [--tasks N] …`: what tasks cost in a pool of runtimes, and without one. JSON to stdout or FILE, everything
// for people to stderr. The exit code is 1 when anything was wrong or a row is missing.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFlags } from '../config/flags.js';
import { list, wholeNumber } from '../config/parse.js';
import { observe } from '../machine/observe.js';
import { openPoolHost } from '../pool/host.js';
import { measurePools } from '../pool/measure.js';
import { renderPools } from '../pool/page.js';
import { ORDINARY, type PoolPlan, QUICK } from '../pool/plan.js';
import { type PoolReport, SCHEMA } from '../pool/report.js';
import { poolTables } from '../pool/tables.js';
import { judgePools } from '../pool/targets.js';
import { poolWarnings } from '../pool/warnings.js';
import { machineWarnings } from '../report/warnings.js';
import { runCommand } from './command.js';
import { showTables, writeReport } from './output.js';
import { toStderr } from './progress.js';

const HELP = `bench:pool [--out FILE.json] [--report FILE.html] [--uses N,…] [--tasks N] [--slots N] [--crowds N,…] [--budget SECONDS] [--quick]

Tasks in a pool of runtimes against runtimes that are made for each and against \`node -e\`; calls at one moment, cold, prewarmed and from disk after
kill -9; taking and giving back, and what is left behind.
--uses    uses of a slot (default ${ORDINARY.uses.join(',')})
--tasks   of each row (default ${ORDINARY.tasks})
--slots   of a pool (default ${ORDINARY.slots})
--crowds  calls at one moment (default ${ORDINARY.crowds.join(',')})
--budget  seconds; rows that come after that are skipped (default 300)
--quick   few: shows that everything works, measures nothing`;

const FLAGS = ['out', 'report', 'uses', 'tasks', 'slots', 'crowds', 'budget'];
const MOST = 100_000;

await runCommand(HELP, async () => {
  const { values, switches, help } = readFlags(process.argv.slice(2), FLAGS, { min: 0, max: 0 }, ['quick']);
  if (help) return 'help';
  const quick = switches.has('quick');
  const number = (name: 'tasks' | 'slots', most: number) =>
    values[name] === undefined ? {} : { [name]: wholeNumber(`--${name}`, values[name], 1, most) };
  const numbers = (name: 'uses' | 'crowds', most: number) =>
    values[name] === undefined
      ? {}
      : { [name]: list(`--${name}`, values[name], (text) => wholeNumber(`--${name}`, text, 1, most)) };
  const plan: PoolPlan = {
    ...(quick ? QUICK : ORDINARY),
    ...number('tasks', MOST),
    ...number('slots', 1_000),
    ...numbers('uses', MOST),
    ...numbers('crowds', 1_000),
  };
  const budgetMs = 1_000 * (values.budget === undefined ? 300 : wholeNumber('--budget', values.budget, 1, 86_400));
  const scratch = mkdtempSync(join(tmpdir(), 'coldframe-pool-'));
  try {
    const { head, result } = await observe(() =>
      measurePools({ open: openPoolHost, plan, scratch, budgetMs, floorSamples: quick ? 4 : 40, say: toStderr }),
    );
    const report: PoolReport = {
      schema: SCHEMA,
      ...head,
      plan,
      warnings: [...machineWarnings(head.hardware, head.machine), ...poolWarnings(result)],
      targets: judgePools(result),
      ...result,
    };
    showTables(poolTables(report), report.warnings, report.durationMs);
    writeReport(report, values.out, { path: values.report, render: () => renderPools(report) });
    const rates = [...result.amortised, ...result.crowds, ...(result.hygiene ? [result.hygiene] : [])];
    return result.skipped.length === 0 && rates.every(({ successRate }) => successRate === 1) ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});
