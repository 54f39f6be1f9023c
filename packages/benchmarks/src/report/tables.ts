// The run's tables as rows of text: the terminal and the HTML page show the same ones.

import { SCENARIOS } from '../config/knobs.js';
import { ms, percentage } from './format.js';
import type { TargetResult } from './judge.js';
import { type ColdstartReport, failed } from './report.js';
import { largest } from './select.js';

export interface Table {
  title: string;
  head: string[];
  rows: string[][];
  /** Columns that hold words; the others are numbers. */
  textColumns: number[];
}

/** Those that have rows; the targets are the last. */
export const allTables = (report: ColdstartReport): Table[] =>
  [rowTable, phaseTable, floorTable, extraTable, targetTable].map((table) => table(report)).filter(({ rows }) => rows.length > 0);

export const rowTable = ({ results }: ColdstartReport): Table => ({
  title: 'Cold and warm starts (ms)',
  head: [
    'scenario',
    'mode',
    'batch',
    'n',
    'cold p50',
    'p95',
    'p99',
    'MAD',
    'mean',
    'warm p50',
    'p95',
    'amortised',
    'setup',
    'right',
  ],
  rows: results.map((row) => [
    row.scenario,
    row.mode,
    `${row.batchSize}`,
    `${row.coldStart?.count ?? 0}`,
    ...[row.coldStart?.p50, row.coldStart?.p95, row.coldStart?.p99, row.coldStart?.mad, row.coldStart?.mean].map(ms),
    ...[row.warmStart?.p50, row.warmStart?.p95, row.amortised?.p50, row.sidecarSetupMs].map(ms),
    percentage(row.runs.successRate),
  ]),
  textColumns: [0, 1],
});

/** Medians, one column per scenario: phases of the cold start, and below them those of the second snippet. */
function phaseTable({ results }: ColdstartReport): Table {
  const rows = SCENARIOS.flatMap((scenario) => largest(results, scenario, 'sequential') ?? []);
  const lines = (which: 'phases' | 'warmPhases', prefix: string) =>
    [...new Set(rows.flatMap((row) => Object.keys(row[which])))].map((phase) => [
      `${prefix}${phase}`,
      ...rows.map((row) => ms(row[which][phase]?.p50)),
    ]);
  return {
    title: 'Phases, largest sequential batch (p50, ms)',
    head: ['phase', ...rows.map((row) => row.scenario)],
    rows: [...lines('phases', ''), ...lines('warmPhases', 'second snippet: ')],
    textColumns: [0],
  };
}

export const floorTable = ({ floors }: Pick<ColdstartReport, 'floors'>): Table => ({
  title: 'Floors of the same run (ms)',
  head: ['floor', 'what', 'n', 'p50', 'p95', 'p99', 'MAD', 'mean', 'min', 'right'],
  rows: Object.entries(floors).map(([name, { what, statistics, successRate }]) => [
    name,
    what,
    `${statistics?.count ?? 0}`,
    ...[statistics?.p50, statistics?.p95, statistics?.p99, statistics?.mad, statistics?.mean, statistics?.min].map(ms),
    percentage(successRate),
  ]),
  textColumns: [0, 1],
});

function extraTable({ throughput, starts, density, sidecarBinary }: ColdstartReport): Table {
  const rows: string[][] = [];
  if (throughput && !failed(throughput)) {
    const { startsPerSecond: rate, starts, width, rounds, successRate } = throughput;
    const what = `${starts} starts, ${width} at a time, ${rounds} rounds`;
    rows.push(['throughput', what, `${Math.round(rate?.p50 ?? 0)} starts/s`, percentage(successRate)]);
  }
  for (const row of starts) {
    if (failed(row)) continue;
    const what = `${row.what}, ${row.samples.length} in a row`;
    rows.push([`cold: ${row.kind}`, what, `${ms(row.coldMs?.p50)} ms`, percentage(row.successRate)]);
  }
  for (const row of density) {
    if (failed(row)) continue;
    const what = `${row.live} live (page tables ${row.pageTablesKibPerRuntime.toFixed(1)} KiB of it)`;
    rows.push([`density: ${row.kind}`, what, `${row.privateKibPerRuntime.toFixed(1)} KiB each`, percentage(row.successRate)]);
  }
  if (sidecarBinary && !failed(sidecarBinary)) {
    const what = sidecarBinary.stripped ? 'stripped' : 'not stripped';
    rows.push(['sidecar binary', what, `${(sidecarBinary.bytes / 1e6).toFixed(2)} MB`, '']);
  }
  return {
    title: 'Throughput, other starts, density, size',
    head: ['measure', 'how', 'result', 'right'],
    rows,
    textColumns: [0, 1],
  };
}

export const targetTable = ({ targets }: Pick<ColdstartReport, 'targets'>): Table => ({
  title: 'Targets',
  head: ['target', 'bound', 'measured', 'verdict'],
  rows: targets.map((target) => [named(target), boundText(target), measuredText(target), target.verdict]),
  textColumns: [0, 3],
});

const named = ({ id, what }: TargetResult): string => (id === undefined ? what : `${id} ${what}`);

const boundText = ({ atLeast, bound, unit }: TargetResult): string => `${atLeast ? '≥' : '≤'} ${bound} ${unit}`.trimEnd();

function measuredText({ measured, unit }: TargetResult): string {
  if (measured === null) return '–';
  return `${unit === 'starts/s' ? Math.round(measured) : unit === '%' ? measured.toFixed(2) : ms(measured)} ${unit}`.trimEnd();
}
