// Assembles the report of a run, which is the JSON, and renders its page.
//
// The report also contains facts that show how reliable the results are. These are floors, raw
// samples, the clock, the processor time of other processes, and skipped rows. The hardware and the
// rows of the cold-start benchmark have the shape of a published matrix of another system.

import type { Observed } from '../machine/observe.js';
import { renderDocument } from '../page/document.js';
import type { Benchmark, Environment } from './benchmark.js';
import type { Measured } from './run.js';
import { figure, type Table, table, times, words } from './table.js';
import { judgeTargets, type TargetResult } from './targets.js';
import { ms, percentage } from './text.js';
import { machineWarnings, measurementWarnings } from './warnings.js';

export type Report<Run> = Measured<Run> &
  Observed & {
    schema: string;
    options: object;
    warnings: string[];
    targets: TargetResult[];
  };

export const makeReport = <Options extends object, Setup, Run>(
  benchmark: Benchmark<Options, Setup, Run>,
  options: Options,
  head: Observed,
  run: Measured<Run>,
  environment: Environment,
): Report<Run> => ({
  schema: benchmark.schema,
  ...head,
  options,
  ...benchmark.facts?.(run, environment),
  warnings: [...machineWarnings(head.hardware, head.machine), ...measurementWarnings(benchmark, run, head.timer.resolutionMs)],
  targets: judgeTargets(benchmark, run),
  ...run,
});

/**
 * Returns the JSON. Numbers have six significant digits, which are more precise than the noise and
 * keep raw samples readable.
 */
export const toJson = (report: object): string =>
  JSON.stringify(report, (_key, value) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value), 1);

/** Renders the page from the report alone. */
export const renderPage = <Run>(
  benchmark: Pick<Benchmark<never, never, Run>, 'heading' | 'sections' | 'tables'>,
  report: Report<Run>,
): string =>
  renderDocument({
    ...report,
    heading: benchmark.heading,
    charts: benchmark.sections.flatMap((section) => section.charts?.(report) ?? []),
    tables: tablesOf(benchmark, report),
  });

/**
 * Returns the tables of a report that have rows: the tables of the sections and of the benchmark,
 * the floors, and the targets.
 */
export const tablesOf = <Run>(
  { sections, tables }: Pick<Benchmark<never, never, Run>, 'sections' | 'tables'>,
  report: Measured<Run> & { targets: readonly TargetResult[] },
): Table[] =>
  [
    ...sections.flatMap((section) => section.tables?.(report) ?? []),
    ...(tables?.(report) ?? []),
    floorTable(report),
    targetTable(report),
  ].filter(({ rows }) => rows.length > 0);

const floorTable = ({ floors }: Pick<Measured<object>, 'floors'>): Table =>
  table('Floors of the same run (ms)', Object.entries(floors), [
    words('floor', ([name]) => name),
    words('what', ([, { what }]) => what),
    figure('n', ([, { statistics }]) => statistics?.count ?? 0),
    ...times(['p50', 'p95', 'p99', 'MAD', 'mean', 'min'], ([, { statistics }]: FloorEntry) => statistics),
    figure('right', ([, { successRate }]) => percentage(successRate)),
  ]);

type FloorEntry = [name: string, floor: Measured<object>['floors'][string]];

export const targetTable = ({ targets }: { targets: readonly TargetResult[] }): Table =>
  table('Targets', targets, [
    words('target', ({ id, what }) => `${id} ${what}`),
    figure('bound', ({ atLeast, bound, unit }) => `${atLeast ? '≥' : '≤'} ${bound} ${unit}`.trimEnd()),
    figure('measured', measuredText),
    words('verdict', ({ verdict }) => verdict),
  ]);

function measuredText({ measured, unit }: TargetResult): string {
  if (measured === null) return '–';
  return `${unit === 'starts/s' ? Math.round(measured) : unit === '%' ? measured.toFixed(2) : ms(measured)} ${unit}`.trimEnd();
}
