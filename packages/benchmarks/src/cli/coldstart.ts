// `bench:coldstart [--out FILE.json] [--report FILE.html]`: the cold-start matrix. JSON goes to stdout (or FILE), everything for people to
// stderr. The exit code is 1 when a run was wrong or a row is missing; missed targets are shown, not punished: that is CI's choice.

import { readFlags } from '../config/flags.js';
import { readKnobs } from '../config/knobs.js';
import { observe } from '../machine/observe.js';
import { renderPage } from '../report/page.js';
import { type ColdstartReport, SCHEMA } from '../report/report.js';
import { allTables } from '../report/tables.js';
import { judgeTargets } from '../report/targets.js';
import { machineWarnings, measurementWarnings } from '../report/warnings.js';
import { runCommand } from './command.js';
import { measureAll } from './measure.js';
import { showTables, writeReport } from './output.js';
import { toStderr } from './progress.js';

const HELP = `bench:coldstart [--out FILE.json] [--report FILE.html]

Knobs (environment): BENCH_BATCH_SIZES, BENCH_ITERATIONS, BENCH_WARMUP, BENCH_SCENARIOS, BENCH_MAX_CONCURRENCY, BENCH_MAX_LIVE,
BENCH_BUDGET_SECONDS, BENCH_DENSITY, BENCH_FLOOR_SAMPLES; packages/benchmarks/README.md explains them.`;

async function run(): Promise<ColdstartReport> {
  const knobs = readKnobs(process.env);
  const { head, result } = await observe((cores) => measureAll(knobs, cores, toStderr));
  return {
    schema: SCHEMA,
    ...head,
    knobs,
    warnings: [...machineWarnings(head.hardware, head.machine), ...measurementWarnings(result, head.timer.resolutionMs)],
    targets: judgeTargets(result),
    ...result,
  };
}

await runCommand(HELP, async () => {
  const { values, help } = readFlags(process.argv.slice(2), ['out', 'report'], { min: 0, max: 0 });
  if (help) return 'help';
  const report = await run();
  showTables(allTables(report), report.warnings, report.durationMs);
  writeReport(report, values.out, { path: values.report, render: () => renderPage(report) });
  const complete = report.skipped.length === 0 && report.results.every((row) => row.runs.right === row.runs.total);
  return complete ? 0 : 1;
});
