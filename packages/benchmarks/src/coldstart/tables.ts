// The tables of the cold-start benchmark.

import { isFailure, resultsIn } from '../suite/run.js';
import { figure, type Table, table, time, times, words } from '../suite/table.js';
import { ms, percentage } from '../suite/text.js';
import type { BinaryRun } from './binary.js';
import type { DensityRun } from './density.js';
import { largest } from './figures.js';
import type { RowResult } from './row.js';
import { SCENARIO_NAMES } from './scenarios.js';
import type { StartsRun } from './starts.js';
import type { ThroughputRun } from './throughput.js';

export const startTable = (results: readonly RowResult[]): Table =>
  table('Cold and warm starts (ms)', results, [
    words('scenario', ({ scenario }) => scenario),
    words('mode', ({ mode }) => mode),
    figure('batch', ({ batchSize }) => batchSize),
    figure('n', ({ coldStart }) => coldStart?.count ?? 0),
    ...times(['cold p50', 'p95', 'p99', 'MAD', 'mean'], ({ coldStart }: RowResult) => coldStart),
    ...times(['warm p50', 'p95'], ({ warmStart }: RowResult) => warmStart),
    time('amortised', ({ amortised }) => amortised?.p50),
    time('setup', ({ sidecarSetupMs }) => sidecarSetupMs),
    figure('right', ({ runs }) => percentage(runs.successRate)),
  ]);

/**
 * Returns a table of medians with a column for each scenario: the phases of the cold start, then
 * the phases of the second snippet.
 */
export function phaseTable(results: readonly RowResult[]): Table {
  const rows = SCENARIO_NAMES.flatMap((scenario) => largest(results, scenario, 'sequential') ?? []);
  const lines = (which: 'phases' | 'warmPhases', prefix: string) =>
    [...new Set(rows.flatMap((row) => Object.keys(row[which])))].map((phase) => ({ which, phase, name: `${prefix}${phase}` }));
  type Line = ReturnType<typeof lines>[number];
  return table(
    'Phases, largest sequential batch (p50, ms)',
    [...lines('phases', ''), ...lines('warmPhases', 'second snippet: ')],
    [
      words('phase', ({ name }) => name),
      ...rows.map((row) => time(row.scenario, ({ which, phase }: Line) => row[which][phase]?.p50)),
    ],
  );
}

/** Returns a table of the results that are not in the matrix, with a line for each result. */
export function otherTable({
  throughput,
  starts,
  density,
  sidecarBinary,
}: BinaryRun & DensityRun & StartsRun & ThroughputRun): Table {
  const lines: { measure: string; how: string; result: string; right: string }[] = [];
  if (throughput && !isFailure(throughput)) {
    const { startsPerSecond: rate, starts: count, width, rounds, successRate } = throughput;
    lines.push({
      measure: 'throughput',
      how: `${count} starts, ${width} at a time, ${rounds} rounds`,
      result: `${Math.round(rate?.p50 ?? 0)} starts/s`,
      right: percentage(successRate),
    });
  }
  for (const { kind, what, samples, coldMs, successRate } of resultsIn(starts)) {
    lines.push({
      measure: `cold: ${kind}`,
      how: `${what}, ${samples.length} in a row`,
      result: `${ms(coldMs?.p50)} ms`,
      right: percentage(successRate),
    });
  }
  for (const { kind, live, pageTablesKibPerRuntime, privateKibPerRuntime, successRate } of resultsIn(density)) {
    lines.push({
      measure: `density: ${kind}`,
      how: `${live} live (page tables ${pageTablesKibPerRuntime.toFixed(1)} KiB of it)`,
      result: `${privateKibPerRuntime.toFixed(1)} KiB each`,
      right: percentage(successRate),
    });
  }
  if (sidecarBinary && !isFailure(sidecarBinary)) {
    lines.push({
      measure: 'sidecar binary',
      how: sidecarBinary.stripped ? 'stripped' : 'not stripped',
      result: `${(sidecarBinary.bytes / 1e6).toFixed(2)} MB`,
      right: '',
    });
  }
  return table('Throughput, other starts, density, size', lines, [
    words('measure', ({ measure }) => measure),
    words('how', ({ how }) => how),
    figure('result', ({ result }) => result),
    figure('right', ({ right }) => right),
  ]);
}
