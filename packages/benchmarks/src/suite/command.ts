// The command line of all benchmarks: help, options, the run, and the three outputs.
//
// The JSON is written to stdout or to a file, the page to a file, and the tables to stderr. The
// exit code is 1 if a run was wrong or a row is missing. Missed targets are shown but do not change
// the exit code. A wrong command line, or an error outside a row, has exit code 2.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allFloors } from '../floors/definitions.js';
import { observe } from '../machine/observe.js';
import type { AnyBenchmark } from './benchmark.js';
import { measureBenchmark } from './measure.js';
import { describeOptions, flagNames, readFlags, readOptions, switchNames } from './options.js';
import { isComplete, outcomesOf, rightShare } from './outcomes.js';
import { progressOnStderr } from './progress.js';
import { makeReport, type Report, renderPage, tablesOf, toJson } from './report.js';
import { percentage, seconds, textTable } from './text.js';
import { isUsageError } from './usage-error.js';

export const HELP = Symbol('help');

/** Runs a command and sets the exit code. A wrong command line prints one line without a stack. */
export async function runCommand(help: string, work: () => Promise<number | typeof HELP> | number | typeof HELP): Promise<void> {
  // A reader such as `head` can close the pipe before the end. The command then ends without a
  // failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
  try {
    const code = await work();
    if (code === HELP) process.stdout.write(`${help}\n`);
    else process.exitCode = code;
  } catch (error) {
    const text = isUsageError(error) ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`${text}\n`);
    process.exitCode = 2;
  }
}

/** Runs `bench:NAME` with its arguments. */
export const runBenchmarkCommand = (benchmark: AnyBenchmark, args: readonly string[]): Promise<void> =>
  runCommand(helpOf(benchmark), async () => {
    const flags = ['out', 'report', ...flagNames(benchmark.options)];
    const switches = [...(benchmark.hasQuickForm ? ['quick'] : []), ...switchNames(benchmark.options)];
    const { values, switches: given, help } = readFlags(args, flags, { min: 0, max: 0 }, switches);
    if (help) return HELP;
    const isQuick = given.has('quick');
    const options = readOptions(benchmark.options, { flags: values, switches: given, env: process.env, isQuick });
    const complete = { ...options, ...(benchmark.hasQuickForm && { quick: isQuick }) };
    const report = await runBenchmark(benchmark, complete);
    const outcomes = outcomesOf(benchmark, report);
    showReport(benchmark, report, rightShare(outcomes));
    const json = `${toJson(report)}\n`;
    if (values.out === undefined) process.stdout.write(json);
    else writeFileSync(values.out, json);
    if (values.report !== undefined) writeFileSync(values.report, renderPage(benchmark, report));
    benchmark.afterRun?.(report, complete, report);
    return isComplete(outcomes, report.skipped) ? 0 : 1;
  });

/** Measures a benchmark on this machine. Returns the report, with the results of the targets. */
export async function runBenchmark(
  benchmark: AnyBenchmark,
  options: Record<string, unknown>,
): Promise<Report<Record<string, unknown>>> {
  const scratch = mkdtempSync(join(benchmark.scratchIn?.(options) ?? tmpdir(), `coldframe-${benchmark.name}-`));
  try {
    const { head, result } = await observe(async (cores) => {
      const environment = { scratch, cores };
      const { setup, close } = await benchmark.open(options, environment);
      try {
        return await measureBenchmark(benchmark, options, setup, { floors: allFloors, progress: progressOnStderr });
      } finally {
        await close?.();
      }
    });
    return makeReport(benchmark, options, head, result, { scratch, cores: head.hardware.cores });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function showReport(benchmark: AnyBenchmark, report: Report<Record<string, unknown>>, right: number | undefined): void {
  const parts = tablesOf(benchmark, report).map(
    ({ title, head, rows, textColumns }) => `${title}\n${textTable(head, rows, textColumns)}`,
  );
  if (report.warnings.length > 0) parts.push(`Warnings\n${report.warnings.map((warning) => `- ${warning}`).join('\n')}`);
  parts.push(`Took ${seconds(report.durationMs)}${right === undefined ? '' : `; right: ${percentage(right)}`}.`);
  for (const part of parts) progressOnStderr.write(`\n${part}`);
}

function helpOf({ name, summary, options, hasQuickForm }: AnyBenchmark): string {
  const flags = Object.values(options).flatMap((option) =>
    option.name.startsWith('--') ? [`[${`${option.name} ${option.placeholder}`.trimEnd()}]`] : [],
  );
  const usage = [`bench:${name} [--out FILE.json] [--report FILE.html]`, ...flags, ...(hasQuickForm ? ['[--quick]'] : [])].join(
    ' ',
  );
  const lines = describeOptions(options, hasQuickForm === true);
  return [usage, '', summary, ...(lines.length > 0 ? ['', ...lines] : [])].join('\n');
}
