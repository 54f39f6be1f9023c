// `bench:coldstart [--out FILE.json] [--report FILE.html]`: the cold-start matrix. JSON goes to stdout (or FILE), everything for people to
// stderr. The exit code is 1 when a run was wrong or a row is missing; missed targets are shown, not punished: that is CI's choice.

import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { readFlags } from '../config/flags.js';
import { readKnobs } from '../config/knobs.js';
import { describeHardware } from '../machine/hardware.js';
import { readTicks, sharesBetween } from '../machine/usage.js';
import { seconds, textTable } from '../report/format.js';
import { renderPage } from '../report/page.js';
import { type ColdstartReport, SCHEMA, toJson } from '../report/report.js';
import { allTables } from '../report/tables.js';
import { judgeTargets } from '../report/targets.js';
import { machineWarnings, measurementWarnings } from '../report/warnings.js';
import { now, timerResolution } from '../stats/timer.js';
import { runCommand } from './command.js';
import { measureAll } from './measure.js';
import { toStderr } from './progress.js';

const HELP = `bench:coldstart [--out FILE.json] [--report FILE.html]

Knobs (environment): BENCH_BATCH_SIZES, BENCH_ITERATIONS, BENCH_WARMUP, BENCH_SCENARIOS, BENCH_MAX_CONCURRENCY, BENCH_MAX_LIVE,
BENCH_BUDGET_SECONDS, BENCH_DENSITY, BENCH_FLOOR_SAMPLES; packages/benchmarks/README.md explains them.`;

async function run(): Promise<ColdstartReport> {
  const knobs = readKnobs(process.env);
  const hardware = describeHardware();
  const cores = availableParallelism();
  const resolutionMs = timerResolution();
  const startedAt = new Date().toISOString();
  const [begun, ticks] = [now(), readTicks()];
  const measurements = await measureAll(knobs, cores, toStderr);
  const machine = sharesBetween(ticks, readTicks(), cores);
  return {
    schema: SCHEMA,
    startedAt,
    durationMs: now() - begun,
    knobs,
    hardware,
    timer: { resolutionMs },
    ...(machine && { machine }),
    warnings: [...machineWarnings(hardware, machine), ...measurementWarnings(measurements, resolutionMs)],
    targets: judgeTargets(measurements),
    ...measurements,
  };
}

function show(report: ColdstartReport): void {
  for (const { title, head, rows, textColumns } of allTables(report)) {
    toStderr(`\n${title}\n${textTable(head, rows, textColumns)}`);
  }
  if (report.warnings.length > 0) toStderr(`\nWarnings\n${report.warnings.map((warning) => `- ${warning}`).join('\n')}`);
  toStderr(`\nTook ${seconds(report.durationMs)}.`);
}

await runCommand(HELP, async () => {
  const { values, help } = readFlags(process.argv.slice(2), ['out', 'report'], { min: 0, max: 0 });
  if (help) return 'help';
  const report = await run();
  show(report);
  const json = `${toJson(report)}\n`;
  if (values.out === undefined) process.stdout.write(json);
  else writeFileSync(values.out, json);
  if (values.report !== undefined) writeFileSync(values.report, renderPage(report));
  const complete = report.skipped.length === 0 && report.results.every((row) => row.runs.right === row.runs.total);
  return complete ? 0 : 1;
});
